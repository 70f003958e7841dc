//! Reads the logs of a run one after another, after searching their beginnings for t0.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, ErrorKind, Place, Result};
use crate::formats::jtl::blocks::{Block, Cutter, LogBytes};
use crate::formats::jtl::layout::{Layout, LayoutOptions};
use crate::formats::jtl::parsed::{Clock, Parsed};
use crate::formats::jtl::parser::Parser;
use crate::formats::tools::recognise;
use crate::formats::tools::rows::form::Form;
use crate::run::damage::Damage;
use crate::run::info::SourceFile;
use crate::run::options::time_unit::TimeUnit;
use crate::sample::pool::Buffers;
use crate::source::head::{read_head, text};
use crate::source::names::LogNames;
use crate::source::{LogReader, LogSource};

/// The number of bytes of a log that are searched for a first acceptable record, even if the window is smaller.
const SEARCHED: usize = 32 << 20;

/// The approximate number of records in a block, if they are short.
const RECORDS: usize = 8 << 10;

/// The size of a block of converted records, in bytes: these are short.
const CONVERTED: usize = 64 * RECORDS;

/// The minimum size of a block, in bytes.
const LEAST: usize = 64 << 10;

/// The maximum number of bytes to look ahead in one of several files: a quarter of its packed size, but at least 4 MiB.
/// Looking ahead costs time, and so does reading a small file twice.
fn worth_a_look(source: &LogSource) -> usize {
    let quarter = source.packed_size().map_or(u64::MAX, |bytes| bytes / 4);
    usize::try_from(quarter).unwrap_or(usize::MAX).max(4 << 20)
}

/// The years 1 to 9999 in epoch ms, without their last days: the range that calendars and databases support.
const TIMES: std::ops::Range<i64> = -62_135_596_800_000..253_400_000_000_000;

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
    /// The moment at which the tools of logs without a clock began, in epoch ms, if known.
    pub(crate) begin: Option<i64>,
    /// True if the samples are wanted, and not only their counts.
    pub(crate) samples: bool,
    /// The unit of numeric timeStamps, if given.
    pub(crate) time_unit: Option<TimeUnit>,
    pub(crate) max_span_ms: u64,
    pub(crate) block_size: usize,
    pub(crate) look_ahead: usize,
    /// If a record before t0 is found within this many bytes, the pass stops after them, since a restart is cheap
    /// there. `None` if the pass can't restart.
    pub(crate) restart_window: Option<u64>,
    /// The maximum number of unpacked bytes to read of each log. A log that is longer does not end for the feed.
    pub(crate) limit: Option<u64>,
}

/// The result of looking ahead.
pub(crate) struct Survey {
    parser: Parser,
    parsed: Parsed,
    max_span_ms: u64,
    head: Option<i64>,
    earliest: Option<i64>,
}

impl Survey {
    pub(crate) fn new(parser: Parser, max_span_ms: u64) -> Self {
        Self { parser, parsed: Parsed::default(), max_span_ms, head: None, earliest: None }
    }

    /// Looks ahead in a log: for `window` bytes, and further until there is an acceptable record, since all others are
    /// judged by the first one.
    fn look<R: LogBytes>(
        &mut self,
        cutter: &mut Cutter<R>,
        window: usize,
        layout: &Layout,
    ) -> std::io::Result<()> {
        let mut held = 0;
        while held < window || (self.head.is_none() && held < SEARCHED) {
            let Some(block) = cutter.look_ahead()? else { break };
            held += block.bytes.len();
            if block.oversized.is_none() {
                self.add(block, layout);
            }
        }
        Ok(())
    }

    /// Parses a block. Its records are judged by the first one of all blocks.
    pub(crate) fn add(&mut self, block: &Block, layout: &Layout) -> &Parsed {
        self.parse(block, layout);
        if self.head.is_none() {
            self.head = self.parsed.first_ms;
            let ends = [self.parsed.earliest_ms, self.parsed.latest_ms];
            if ends.into_iter().flatten().any(|end| self.is_far(end)) {
                // Parse again: now the head is known, and records too far from it are rejected.
                self.parse(block, layout);
            }
        }
        self.earliest = [self.earliest, self.parsed.earliest_ms].into_iter().flatten().min();
        &self.parsed
    }

    fn parse(&mut self, block: &Block, layout: &Layout) {
        let clock = Clock { origin: 0, head: self.head, max_span_ms: self.max_span_ms };
        self.parser.parse_block(block, None, layout, &clock, &mut self.parsed);
    }

    /// The clock. Without any accepted record t0 is `i64::MAX`, so that the first one counts as earlier.
    fn clock(&self, known: Option<i64>) -> Clock {
        let origin = known.or(self.earliest).unwrap_or(i64::MAX);
        Clock { origin, head: self.head.or(known), max_span_ms: self.max_span_ms }
    }

    /// Returns the first record's time if the `known` t0 is too far from it to be the smallest timeStamp.
    fn contradicts(&self, known: Option<i64>) -> Option<i64> {
        known.filter(|known| self.is_far(*known)).and(self.head)
    }

    /// Returns true if a time is too far from that of the first record.
    fn is_far(&self, ms: i64) -> bool {
        self.head.is_some_and(|head| head.abs_diff(ms) > self.max_span_ms)
    }
}

impl ReadPlan {
    /// Reads all logs into the feed. Returns early, without error, when the feed asks to stop.
    ///
    /// # Errors
    /// When a file can't be read or is not what it was recognised as.
    pub(crate) fn run(&self, parser: Parser, packed: Arc<AtomicU64>, feed: &mut impl LogFeed) -> Result<()> {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        // Inputs that can be read only once come first, since looking ahead in one starts reading it.
        sources.sort_by_key(LogSource::can_restart);
        let window = self.window(sources.len());
        let mut survey = Survey::new(parser, self.max_span_ms);
        let several = sources.len() > 1;
        for source in sources.iter_mut().filter(|source| several && source.can_restart()) {
            self.peek(source, window.min(worth_a_look(source)), &mut survey)?;
        }
        let mut survey = Some(survey);
        if let Some(first) = sources.first().filter(|first| several && first.can_restart()) {
            self.start(&mut survey, first.place(), feed)?;
        }
        let mut names = LogNames::new(&sources);
        for source in sources.iter_mut() {
            if !self.read(source, &mut names, window, &packed, &mut survey, feed)? {
                break;
            }
        }
        Ok(())
    }

    /// The number of bytes to look ahead in each of `logs` logs, beyond its first block.
    fn window(&self, logs: usize) -> usize {
        // The pass itself finds early records of a single log and then restarts. That is rare, whereas looking ahead
        // always takes time.
        match self.origin.is_some() || (logs == 1 && self.restart_window.is_some()) {
            true => 1,
            false => self.look_ahead / logs.max(1),
        }
    }

    fn start(&self, survey: &mut Option<Survey>, place: &Place, feed: &mut impl LogFeed) -> Result<()> {
        let Some(survey) = survey.take() else { return Ok(()) };
        if let Some(unit) = survey.head.filter(|_| self.time_unit.is_none()).and_then(TimeUnit::of) {
            return Err(in_other_unit(place, survey.head.unwrap_or_default(), unit));
        }
        if let Some(head) = survey.head.filter(|head| !TIMES.contains(head)) {
            return Err(Error::input(
                ErrorKind::TimeRange,
                place.clone(),
                format!(
                    "its first timeStamp is {head}, which is not a plausible time in milliseconds since \
                         1970"
                ),
                "Give the log's timeStamps in milliseconds, as JMeter writes them by default, or as dates; \
                 or set their unit (SourceOptions::time_unit).",
            ));
        }
        if let (Some(origin), Some(head)) = (self.origin, survey.contradicts(self.origin)) {
            return Err(Error::input(
                ErrorKind::OriginContradicted,
                place.clone(),
                format!("its first timeStamp is {head}, so the given origin, {origin}, is not the smallest"),
                "Leave the origin out: if one is needed, an error states it.",
            ));
        }
        feed.start(survey.clock(self.origin));
        Ok(())
    }

    /// Looks ahead in a file that will be opened again.
    fn peek(&self, source: &mut LogSource, window: usize, survey: &mut Survey) -> Result<()> {
        let mut stream = source.open()?;
        let Some(log) = stream.next_log()? else { return Ok(()) };
        let (layout, mut cutter) = self.open_log(log)?;
        survey.look(&mut cutter, window, &layout).map_err(|error| cutter.into_reader().explain(error))
    }

    /// Reads all logs of a source. Returns false when the feed asks to stop.
    fn read(
        &self,
        source: &mut LogSource,
        names: &mut LogNames,
        window: usize,
        packed: &Arc<AtomicU64>,
        survey: &mut Option<Survey>,
        feed: &mut impl LogFeed,
    ) -> Result<bool> {
        let mut stream = source.open_counted(Arc::clone(packed))?;
        loop {
            let Some(log) = stream.next_log()? else { break };
            let place = log.place().clone();
            let file = names.next(&log);
            let (layout, mut cutter) = self.open_log(log)?;
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

    fn open_log<'a>(&self, log: LogReader<'a>) -> Result<(Layout, Cutter<LogReader<'a>>)> {
        open_log(log.limited(self.limit), &self.layout, self.begin, self.block_size)
    }
}

/// The error for a log without requests that comes from a pipe behind one with requests, whose samples are being stored.
fn late(place: Place) -> Error {
    let problem = "it has no single requests, and comes from a pipe behind a log that has";
    let remedy = "Give the logs as files, or ingest them without samples (IngestOptions::keep_samples).";
    Error::input(ErrorKind::ReadOnce, place, problem, remedy)
}

/// The error for a first time that is outside this century in milliseconds but inside it in another unit.
fn in_other_unit(place: &Place, head: i64, unit: TimeUnit) -> Error {
    let day = |ms: Option<i64>| {
        let time = ms.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
        time.map_or_else(|| "no time at all".to_owned(), |time| time.strftime("of %Y-%m-%d").to_string())
    };
    let (in_unit, in_ms) = (day(unit.to_ms(head)), day(Some(head)));
    let problem =
        format!("its first timeStamp, {head}, is {in_unit} in {}, and {in_ms} in milliseconds", unit.name());
    Error::TimeUnit { place: Box::new(place.clone()), problem, unit: unit.to_string() }
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
        log.convert(format, resolution, begin, head);
        let layout = Layout { notes, ..format.layout(resolution) };
        let block_size = block_size.min(CONVERTED);
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
