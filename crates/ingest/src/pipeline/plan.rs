//! What is read of the logs of a run, how a log is opened, and how logs are divided into lanes that are read side by side.

use std::sync::{Arc, Mutex};

use crate::source::head::{read_head, text};
use crate::source::{LogReader, LogSource};
use perfpipe_formats::jtl::blocks::{Block, Cutter};
use perfpipe_formats::jtl::layout::{Layout, LayoutOptions};
use perfpipe_formats::jtl::parsed::Clock;
use perfpipe_formats::tools::recognise;
use perfpipe_formats::tools::rows::form::Form;
use perfpipe_model::error::{Place, Result};
use perfpipe_model::run::damage::Damage;
use perfpipe_model::run::info::SourceFile;
use perfpipe_model::run::options::time_unit::TimeUnit;
use perfpipe_model::sample::pool::Buffers;

/// The approximate number of records in a block, if they are short.
const RECORDS: usize = 8 << 10;

/// The size of a block of converted records, in bytes: these are short.
const CONVERTED: usize = 64 * RECORDS;

/// The minimum size of a block, in bytes.
pub(super) const LEAST: usize = 64 << 10;

/// Receives the blocks of the logs. Methods that return `bool` return false to stop the reader.
pub(crate) trait LogFeed {
    /// The source of empty buffers.
    type Buffers: Buffers;

    /// Called once the clock is known, before the first block.
    fn start(&mut self, clock: Clock);

    /// The source of empty buffers.
    fn buffers(&mut self) -> &mut Self::Buffers;

    /// Called at the start of a log.
    fn begin_log(&mut self, place: Place) -> bool;

    /// Called for each block of the current log. `file` names the log if the run has several.
    fn block(&mut self, block: Block, layout: &Arc<Layout>, file: Option<&Arc<str>>) -> bool;

    /// Called when the log was read to its end without damage.
    fn end_log(&mut self, source: SourceFile) -> bool;

    /// Called for each damage. With `of_log` it is in the log that ended last.
    fn damage(&mut self, damage: Damage, of_log: bool) -> bool;

    /// Called with notes for the user, as sentences.
    fn notes(&mut self, notes: Vec<String>) -> bool;
}

/// The logs to read, and how to read them.
pub(crate) struct ReadPlan {
    /// The logs. The lock is held while they are read. Afterwards files can be read again.
    pub(crate) sources: Arc<Mutex<Vec<LogSource>>>,
    pub(crate) layout: LayoutOptions,
    /// t0 in epoch ms, if known.
    pub(crate) origin: Option<i64>,
    /// The smallest timeStamp that an earlier pass has found, epoch ms, if there was one. Others may be smaller.
    pub(crate) earliest: Option<i64>,
    /// t0 in epoch ms, if the user gave it.
    pub(crate) given: Option<i64>,
    /// The name of the injector of all logs, if the user gave it.
    pub(crate) injector: Option<String>,
    /// The moment at which the tools of logs without a clock began, in epoch ms, if known.
    pub(crate) begin: Option<i64>,
    /// True if the logs are those of a part of a run.
    pub(crate) part: bool,
    /// True if the samples are wanted, and not only their counts.
    pub(crate) samples: bool,
    /// The unit of numeric timeStamps, if given.
    pub(crate) time_unit: Option<TimeUnit>,
    pub(crate) max_span_ms: u64,
    pub(crate) block_size: usize,
    pub(crate) look_ahead: usize,
    /// Where a record before t0 ends the pass early. `None` if the pass can't restart, or should read to the end.
    pub(crate) restart_window: Option<RestartWindow>,
    /// The maximum number of unpacked bytes to read of each log. A log that is longer does not end for the feed.
    pub(crate) limit: Option<u64>,
}

/// The beginnings of logs, where a record before t0 ends the pass: a restart is cheap there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RestartWindow {
    /// The number of bytes of each log.
    pub(crate) bytes: u64,
    /// True if the pass ends at once, and not when all of them were read and t0 is likely known.
    pub(crate) at_once: bool,
}

impl RestartWindow {
    /// The window of so many logs, over which `bytes` are spread. Other logs may begin earlier still than the one that
    /// ends the pass, so the next pass looks ahead in all of them.
    pub(crate) fn of(logs: usize, bytes: usize) -> Self {
        Self { bytes: (bytes / logs.max(1)) as u64, at_once: logs > 1 }
    }
}

impl ReadPlan {
    /// Opens a log that is read in blocks of about `block_size` bytes.
    pub(super) fn open_log<'a>(
        &self,
        log: LogReader<'a>,
        block_size: usize,
    ) -> Result<(Layout, Cutter<LogReader<'a>>)> {
        open_log(log.limited(self.limit), &self.layout, self.begin, block_size)
    }
}

/// Reads the first bytes of a log and detects its layout. `begin` is the moment at which its tool began, in epoch ms, if
/// the log has no clock.
pub(crate) fn open_log<'a>(
    mut log: LogReader<'a>,
    options: &LayoutOptions,
    begin: Option<i64>,
    block_size: usize,
) -> Result<(Layout, Cutter<LogReader<'a>>)> {
    let mut head = match read_head(&mut log) {
        Ok(head) => head,
        Err(error) => return Err(log.explain(error)),
    };
    let mark = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let head = head.split_off(mark);
    if let Some(format) = recognise(text(&head)) {
        let resolution = options.unit(format.finest, format.name, log.place())?;
        let notes = format.notes(text(&head), begin);
        // Requests of few columns: with more of them in a block, the counts of a second are combined from fewer parts.
        let block_size = block_size.min(if format.by_workers { 2 * block_of(&head) } else { CONVERTED });
        log.convert(format, resolution, begin, head);
        let layout = Layout { notes, ..format.layout(resolution) };
        let cutter = match layout.form {
            Form::Packed(_) => Cutter::of_packed(log, block_size),
            _ => Cutter::new(log, Vec::new(), 0, layout.delimiter, block_size),
        };
        return Ok((layout, cutter));
    }
    // Blank lines before the first record count as lines, but say nothing about the layout.
    let layout = Layout::detect(text(&head), options, log.place())?;
    let block_size = block_size.min(block_of(&head));
    let cutter = Cutter::new(log, head, mark as u64, layout.delimiter, block_size);
    Ok((layout, cutter))
}

/// The size of a block with the usual number of records, in bytes, estimated from a log's first bytes. A block of short
/// records must be small, since its results take more memory than the block itself.
fn block_of(head: &[u8]) -> usize {
    let lines = memchr::memchr_iter(b'\n', head).count().max(1);
    (head.len() / lines).saturating_mul(RECORDS).max(LEAST)
}

/// The maximum number of lanes of a run: the samples of each are a file of their own in a folder.
const MOST: u128 = 64;

/// Logs next to each other, which one reader reads one after another.
pub(crate) struct Lane {
    pub(super) number: usize,
    /// The logs with their names, if the run has several.
    pub(super) logs: Vec<(LogSource, Option<Arc<str>>)>,
}

/// The lanes of a run, and what was found when looking ahead in their logs.
pub(crate) struct Lanes {
    pub(crate) lanes: Vec<Lane>,
    pub(super) clock: Clock,
    /// True if the workers parse the records as they are in the logs, which takes longer than reading them.
    pub(super) light: bool,
}

/// Divides logs into lanes of at least `least` unpacked bytes, as far as these are known. Returns the number of logs of
/// each lane. A log that can be read only once keeps all in one lane, since another may follow it in the same pipe.
pub(super) fn groups(sources: &[LogSource], least: u64) -> Vec<usize> {
    match sources.iter().all(LogSource::can_restart) {
        true => divided(&sources.iter().map(LogSource::about_unpacked).collect::<Vec<_>>(), least),
        false => vec![sources.len()],
    }
}

/// Divides sizes into groups of at least `least` each, and at most [`MOST`] groups. Returns their lengths.
fn divided(sizes: &[u64], least: u64) -> Vec<usize> {
    // A zip may state any size.
    let total: u128 = sizes.iter().copied().map(u128::from).sum();
    let least = total.div_ceil(MOST).max(u128::from(least)).max(1);
    let (mut groups, mut logs, mut bytes) = (Vec::new(), 0, 0_u128);
    for size in sizes {
        (logs, bytes) = (logs + 1, bytes + u128::from(*size));
        if bytes >= least {
            groups.push(std::mem::take(&mut logs));
            bytes = 0;
        }
    }
    // What is left is too little for a lane.
    match groups.last_mut() {
        Some(last) => *last += logs,
        None => groups.push(logs),
    }
    groups
}

/// The number of blocks of `block_size` bytes in logs of these unpacked sizes. `None` if one of them is not known.
pub(super) fn blocks(sizes: impl IntoIterator<Item = Option<u64>>, block_size: usize) -> Option<u64> {
    let of = |size: u64| size.div_ceil(block_size.max(1) as u64);
    // A zip may state any size.
    sizes.into_iter().try_fold(0_u64, |sum, size| Some(sum.saturating_add(of(size?))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn blocks_are_known_if_all_sizes_are() {
        assert_eq!(blocks([Some(1), Some(10), Some(11), Some(0)], 10), Some(4));
        assert_eq!(blocks([Some(u64::MAX), Some(u64::MAX)], 1), Some(u64::MAX));
        assert_eq!((blocks([], 0), blocks([Some(1), None], 10)), (Some(0), None));
    }

    #[test]
    fn small_logs_share_a_lane() {
        assert_eq!(divided(&[], 10), [0]);
        assert_eq!(divided(&[3], 10), [1]);
        assert_eq!(divided(&[3, 3, 3, 3], 10), [4]);
        assert_eq!(divided(&[10, 3, 20, 4, 6, 1, 1], 10), [1, 2, 4]);
        assert_eq!(divided(&[0, 0, 0], 0), [3]);
        assert_eq!(divided(&[1; 3], 0), [1, 1, 1]);
    }

    proptest! {
        #[test]
        fn lanes_hold_all_logs_and_are_few(
            sizes in prop::collection::vec(prop_oneof![0..9u64, Just(u64::MAX)], 0..300), least in 0..40u64,
        ) {
            let groups = divided(&sizes, least);
            prop_assert_eq!(groups.iter().sum::<usize>(), sizes.len());
            prop_assert!(groups.len() as u128 <= MOST);
            prop_assert!(sizes.is_empty() || groups.iter().all(|logs| *logs > 0));
        }
    }
}
