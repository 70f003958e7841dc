//! Reads the logs of a run, one after another or side by side.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError};

use super::plan::{LEAST, Lane, Lanes, LogFeed, ReadPlan, blocks, groups};
use super::survey::{Survey, are_light};
use crate::source::log::LogNames;
use crate::source::{LogReader, LogSource};
use perfpipe_formats::jtl::blocks::{Block, Cutter};
use perfpipe_formats::jtl::layout::Layout;
use perfpipe_formats::jtl::parser::Parser;
use perfpipe_formats::tools::rows::form::Form;
use perfpipe_model::error::{Error, ErrorKind, Place, Result};
use perfpipe_model::run::damage::Damage;
use perfpipe_model::run::info::SourceFile;

impl ReadPlan {
    /// Reads all logs into the feed. Returns early, without error, when the feed asks to stop.
    ///
    /// # Errors
    /// When a file can't be read or is not what it was recognised as.
    pub(crate) fn run(&self, parser: Parser, packed: Arc<AtomicU64>, feed: &mut impl LogFeed) -> Result<()> {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let (window, survey) = self.survey(&mut sources, parser, 1)?;
        let mut survey = Some(survey);
        if let [first, _, ..] = sources.as_slice()
            && first.can_restart()
        {
            self.start(&mut survey, first.place(), feed)?;
        }
        let mut names = LogNames::new(&sources, self.injector.as_deref());
        for source in sources.iter_mut() {
            let mut name = |place: &Place| names.next(place);
            if !self.read(source, &mut name, window, &packed, &mut survey, feed)? {
                break;
            }
        }
        Ok(())
    }

    /// Divides the logs into lanes for up to `readers` readers, of which each reads at least `least` bytes. Returns the
    /// number of logs of each lane.
    pub(crate) fn groups(&self, readers: usize, least: usize) -> Vec<usize> {
        let sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        match readers {
            0 | 1 => vec![sources.len()],
            _ => groups(&sources, least as u64),
        }
    }

    /// Returns the number of workers that may have something to do, up to `most`: as many as there are blocks of the least
    /// size, if the sizes of the logs are known.
    pub(crate) fn workers(&self, most: usize) -> usize {
        let sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let blocks = blocks(sources.iter().map(LogSource::unpacked_size), self.block_size.min(LEAST));
        blocks.and_then(|blocks| usize::try_from(blocks).ok()).map_or(most, |blocks| most.min(blocks))
    }

    /// Looks ahead in the files, which are then read side by side. Returns the lanes.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub(crate) fn lanes(&self, parser: Parser, groups: Vec<usize>, threads: usize) -> Result<Lanes> {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, survey) = self.survey(&mut sources, parser, threads)?;
        let place = sources.first().map(|first| first.place().clone()).unwrap_or_default();
        let mut names = LogNames::new(&sources, self.injector.as_deref());
        let mut files =
            sources.iter().filter_map(|source| Some((source.again()?, names.next(source.place()))));
        let lane = |(number, logs)| Lane { number, logs: files.by_ref().take(logs).collect() };
        Ok(Lanes {
            lanes: groups.into_iter().enumerate().map(lane).collect(),
            clock: self.clock(&survey, &place)?,
            light: are_light(&survey.beginnings),
        })
    }

    /// Reads the logs of a lane into the feed. Returns false when the feed asks to stop.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub(crate) fn read_lane(
        &self,
        lane: Lane,
        packed: &Arc<AtomicU64>,
        feed: &mut impl LogFeed,
    ) -> Result<bool> {
        for (mut source, name) in lane.logs {
            let mut name = |_: &Place| name.clone();
            if !self.read(&mut source, &mut name, 0, packed, &mut None, feed)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads all logs of a source, which are named by `name`. Returns false when the feed asks to stop.
    fn read(
        &self,
        source: &mut LogSource,
        name: &mut dyn FnMut(&Place) -> Option<Arc<str>>,
        window: usize,
        packed: &Arc<AtomicU64>,
        survey: &mut Option<Survey>,
        feed: &mut impl LogFeed,
    ) -> Result<bool> {
        let mut stream = source.open_counted(Arc::clone(packed))?;
        loop {
            let Some(log) = stream.next_log()? else { break };
            let place = log.place().clone();
            let file = name(&place);
            let (layout, mut cutter) = self.open_log(log, self.block_size)?;
            if self.samples && !layout.form.has_requests() {
                return Err(late(place));
            }
            let layout = Arc::new(layout);
            if let Some(survey) = survey.as_mut()
                && let Err(error) = survey.look(&mut cutter, window, &layout)
            {
                return Err(cutter.into_reader().explain(error));
            }
            self.start(survey, &place, feed)?;
            if !feed.begin_log(place.clone()) {
                return Ok(false);
            }
            if !feed.notes(layout.notes.iter().map(|note| format!("{place}: {note}")).collect()) {
                return Ok(false);
            }
            let file = file.as_ref();
            let Some(log) = hand_out(cutter, self.limit, &layout, file, feed)? else { return Ok(false) };
            // The next log in a pipe can't be reached without reading the rest of this one.
            let Some(end) = ended(log)? else { break };
            if !feed.end_log(end) || !report(stream.take_damage(), Some(&place), feed) {
                return Ok(false);
            }
        }
        Ok(report(stream.take_damage(), None, feed) && feed.notes(stream.take_notes()))
    }
}

/// The error for a log without requests that comes from a pipe after one with requests, whose samples are being stored.
fn late(place: Place) -> Error {
    let problem = "it has no single requests, and comes from a pipe behind a log that has";
    let remedy = "Give the logs as files, or ingest them without samples (IngestOptions::keep_samples).";
    Error::input(ErrorKind::ReadOnce, place, problem, remedy)
}

/// Passes damage to the feed. `log` is the log that ended last. Returns false when the feed asks to stop.
fn report(damage: Vec<Damage>, log: Option<&Place>, feed: &mut impl LogFeed) -> bool {
    damage.into_iter().all(|damage| {
        let of_log = log.is_some_and(|log| damage.is_of(log));
        feed.damage(damage, of_log)
    })
}

/// Finishes a log that was read to its end. `None` if reading stopped at the limit.
fn ended(log: LogReader<'_>) -> Result<Option<SourceFile>> {
    if log.has_more() { Ok(None) } else { log.finish().map(Some) }
}

/// The end of a block in the unpacked log, in bytes.
fn ends_at(block: &Block) -> u64 {
    block.first_byte + block.bytes.len() as u64
}

/// Passes the blocks of a log to the feed. Returns the log, read to its end, or `None` when the feed asks to stop.
///
/// A block that ends at `limit` may end within a record and is left out.
fn hand_out<'a>(
    mut cutter: Cutter<LogReader<'a>>,
    limit: Option<u64>,
    layout: &Arc<Layout>,
    file: Option<&Arc<str>>,
    feed: &mut impl LogFeed,
) -> Result<Option<LogReader<'a>>> {
    loop {
        match cutter.next(feed.buffers()) {
            // A converter leaves out the record that ends at the limit.
            Ok(Some(block))
                if block.cut
                    && layout.form == Form::Own
                    && limit.is_some_and(|limit| ends_at(&block) >= limit) => {}
            Ok(Some(block)) => {
                if !feed.block(block, layout, file) {
                    return Ok(None);
                }
            }
            Ok(None) => return Ok(cutter.has_ended().then(|| cutter.into_reader())),
            Err(error) => return Err(cutter.into_reader().explain(error)),
        }
    }
}
