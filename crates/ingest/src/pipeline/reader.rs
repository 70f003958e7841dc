//! Reads the logs of a run one after another, having looked ahead in all of them for t0.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Place, Result};
use crate::formats::jtl::blocks::{Block, Cutter, LogBytes};
use crate::formats::jtl::layout::{Layout, LayoutOptions};
use crate::formats::jtl::parsed::{Clock, Parsed};
use crate::formats::jtl::parser::Parser;
use crate::formats::time_unit::TimeUnit;
use crate::run::damage::Damage;
use crate::run::info::SourceFile;
use crate::sample::pool::Buffers;
use crate::source::head::{read_head, text};
use crate::source::names::LogNames;
use crate::source::{LogReader, LogSource};

/// Bytes of a log that are looked at, however small the window, for a first record that can be taken.
const SEARCHED: usize = 32 << 20;

/// Records of a block, about, where they are short.
const RECORDS: usize = 8 << 10;

/// Bytes of a block of the shortest records.
const LEAST: usize = 64 << 10;

/// How much of one file of several to look at ahead: looking costs time, which a second reading of a small file costs
/// too.
fn worth_a_look(source: &LogSource) -> usize {
    let quarter = source.packed_size().map_or(u64::MAX, |bytes| bytes / 4);
    usize::try_from(quarter).unwrap_or(usize::MAX).max(4 << 20)
}

/// The years from 1 to 9999 in epoch ms, short of their last days: what calendars and databases can show.
const TIMES: std::ops::Range<i64> = -62_135_596_800_000..253_400_000_000_000;

/// Where the blocks of the logs go. Each call but `start` and `buffers` says whether to go on.
pub(crate) trait LogFeed {
    /// Where empty buffers come from.
    type Buffers: Buffers;

    /// The clock is known; blocks come after this.
    fn start(&mut self, clock: Clock);

    /// Empty buffers.
    fn buffers(&mut self) -> &mut Self::Buffers;

    /// A log begins.
    fn begin_log(&mut self, place: Place) -> bool;

    /// A block of the log that began last; `file` names the log, where the run has several.
    fn block(&mut self, block: Block, layout: &Arc<Layout>, file: Option<&Arc<str>>) -> bool;

    /// The log was read to its clean end.
    fn end_log(&mut self, source: SourceFile) -> bool;

    /// Something is damaged: the log that ended last, if it is `of_log`.
    fn damage(&mut self, damage: Damage, of_log: bool) -> bool;

    /// What was noticed on the way, as sentences for the user.
    fn notes(&mut self, notes: Vec<String>) -> bool;
}

/// What is to be read, and how.
pub(crate) struct ReadPlan {
    /// The logs. They are held while they are read, and can be read again after that, if they are files.
    pub(crate) sources: Arc<Mutex<Vec<LogSource>>>,
    pub(crate) layout: LayoutOptions,
    /// t0, where it is known already.
    pub(crate) origin: Option<i64>,
    /// The unit of times that are numbers, where it was told.
    pub(crate) time_unit: Option<TimeUnit>,
    pub(crate) max_span_ms: u64,
    pub(crate) block_size: usize,
    pub(crate) look_ahead: usize,
    /// Of how many bytes no more than those are read, where t0 turns out to be wrong in them: then the pass can begin anew
    /// at little cost. `None` where it can't.
    pub(crate) begin_anew_within: Option<u64>,
    /// Bytes that are read of each log, at most, unpacked; where there is more, the log does not end for the feed.
    pub(crate) limit: Option<u64>,
}

/// What looking ahead found.
struct Survey {
    parser: Parser,
    parsed: Parsed,
    max_span_ms: u64,
    head: Option<i64>,
    earliest: Option<i64>,
}

impl Survey {
    fn new(parser: Parser, max_span_ms: u64) -> Self {
        Self { parser, parsed: Parsed::default(), max_span_ms, head: None, earliest: None }
    }

    /// Reads the beginning of a log ahead: a window of it, and more until there is a record that can be
    /// taken, since by the first one all others are judged.
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

    fn add(&mut self, block: &Block, layout: &Layout) {
        self.parse(block, layout);
        if self.head.is_none() {
            self.head = self.parsed.first_ms;
            let ends = [self.parsed.earliest_ms, self.parsed.latest_ms];
            if ends.into_iter().flatten().any(|end| self.is_far(end)) {
                // Once more, now that records too far from the head can be told.
                self.parse(block, layout);
            }
        }
        self.earliest = [self.earliest, self.parsed.earliest_ms].into_iter().flatten().min();
    }

    fn parse(&mut self, block: &Block, layout: &Layout) {
        let clock = Clock { origin: 0, head: self.head, max_span_ms: self.max_span_ms };
        self.parser.parse_block(block, None, layout, &clock, &mut self.parsed);
    }

    /// The clock; t0 is beyond all time while no record was accepted, so that the first one is earlier.
    fn clock(&self, known: Option<i64>) -> Clock {
        let origin = known.or(self.earliest).unwrap_or(i64::MAX);
        Clock { origin, head: self.head.or(known), max_span_ms: self.max_span_ms }
    }

    /// The first record, where a told t0 is so far from it that it can't be the smallest timeStamp.
    fn contradicts(&self, known: Option<i64>) -> Option<i64> {
        known.filter(|known| self.is_far(*known)).and(self.head)
    }

    /// Whether a time is too far from the first record's.
    fn is_far(&self, ms: i64) -> bool {
        self.head.is_some_and(|head| head.abs_diff(ms) > self.max_span_ms)
    }
}

impl ReadPlan {
    /// Reads everything into the feed; returns early, without error, when the feed says so.
    ///
    /// # Errors
    /// When a file can't be read or is not what it was taken for.
    pub(crate) fn run(&self, parser: Parser, packed: Arc<AtomicU64>, feed: &mut impl LogFeed) -> Result<()> {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        // What can be read only once is read first, since looking ahead in it is reading it.
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

    /// How much of each of so many logs to look at ahead, beyond its first block.
    fn window(&self, logs: usize) -> usize {
        // What comes early in a single log is found by the pass itself, which begins anew then: that is rare, and looking
        // costs time always.
        match self.origin.is_some() || (logs == 1 && self.begin_anew_within.is_some()) {
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
                place.clone(),
                format!("its first record is of {head}, which is no time in milliseconds since 1970"),
                "Give the log's timeStamps in milliseconds, as JMeter writes them by default, or as dates; or say \
                 their unit by --time-unit.",
            ));
        }
        if let (Some(origin), Some(head)) = (self.origin, survey.contradicts(self.origin)) {
            return Err(Error::input(
                place.clone(),
                format!("its first record is of {head}, so --origin {origin} is not its smallest timeStamp"),
                "Leave --origin out: perfpipe says which one is needed, if one is.",
            ));
        }
        feed.start(survey.clock(self.origin));
        Ok(())
    }

    /// Looks at the beginning of a file that will be opened again.
    fn peek(&self, source: &mut LogSource, window: usize, survey: &mut Survey) -> Result<()> {
        let mut stream = source.open(Arc::default())?;
        let Some(log) = stream.next_log()? else { return Ok(()) };
        let (layout, mut cutter) = self.open_log(log)?;
        survey.look(&mut cutter, window, &layout).map_err(|error| cutter.into_reader().explain(error))
    }

    /// Reads all logs of a source; false when the feed wants no more.
    fn read(
        &self,
        source: &mut LogSource,
        names: &mut LogNames,
        window: usize,
        packed: &Arc<AtomicU64>,
        survey: &mut Option<Survey>,
        feed: &mut impl LogFeed,
    ) -> Result<bool> {
        let mut stream = source.open(Arc::clone(packed))?;
        loop {
            let Some(log) = stream.next_log()? else { break };
            let place = log.place().clone();
            let file = names.next(&log);
            let (layout, mut cutter) = self.open_log(log)?;
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
            let file = file.as_ref();
            let Some(log) = hand_out(cutter, self.limit, &layout, file, feed)? else { return Ok(false) };
            // What follows in a pipe can't be had without reading the rest of this log.
            let Some(end) = ended(log)? else { break };
            if !feed.end_log(end) || !report(stream.take_damage(), Some(&place), feed) {
                return Ok(false);
            }
        }
        Ok(report(stream.take_damage(), None, feed) && feed.notes(stream.take_notes()))
    }

    fn open_log<'a>(&self, log: LogReader<'a>) -> Result<(Layout, Cutter<LogReader<'a>>)> {
        open_log(log.limited(self.limit), &self.layout, self.block_size)
    }
}

/// The error for a first time that is none of this century in milliseconds, and is one in another unit.
fn in_other_unit(place: &Place, head: i64, unit: TimeUnit) -> Error {
    let day = |ms: Option<i64>| {
        let time = ms.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
        time.map_or_else(|| "no time at all".to_owned(), |time| time.strftime("of %Y-%m-%d").to_string())
    };
    let (in_unit, in_ms) = (day(unit.to_ms(head)), day(Some(head)));
    Error::input(
        place.clone(),
        format!("its first timeStamp, {head}, is {in_unit} in {}, and {in_ms} in milliseconds", unit.name()),
        format!(
            "Say which it is: --time-unit {unit}, or --time-unit {} for milliseconds.",
            TimeUnit::Milliseconds
        ),
    )
}

/// Reads a log's first bytes and finds out its layout.
pub(crate) fn open_log<'a>(
    mut log: LogReader<'a>,
    options: &LayoutOptions,
    block_size: usize,
) -> Result<(Layout, Cutter<LogReader<'a>>)> {
    let mut head = match read_head(&mut log) {
        Ok(head) => head,
        Err(error) => return Err(log.explain(error)),
    };
    let block_size = block_size.min(block_of(&head));
    let mark = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let head = head.split_off(mark);
    // Blank lines before the first record count as lines, but tell nothing of the layout.
    let layout = Layout::detect(text(&head), options, log.place())?;
    let cutter = Cutter::new(log, head, mark as u64, layout.delimiter, block_size);
    Ok((layout, cutter))
}

/// Bytes that a block of as many records as usual takes, by a log's first bytes: where records are short, what is made of a
/// block takes more than the block itself.
fn block_of(head: &[u8]) -> usize {
    let lines = memchr::memchr_iter(b'\n', head).count().max(1);
    (head.len() / lines).saturating_mul(RECORDS).max(LEAST)
}

/// Tells the feed what is damaged; `log` ended last. False when the feed wants no more.
fn report(damage: Vec<Damage>, log: Option<&Place>, feed: &mut impl LogFeed) -> bool {
    damage.into_iter().all(|damage| {
        let of_log = log.is_some_and(|log| damage.is_of(log));
        feed.damage(damage, of_log)
    })
}

/// What a log was that was read to its end; `None` where no more of it was wanted.
fn ended(log: LogReader<'_>) -> Result<Option<SourceFile>> {
    if log.has_more() { Ok(None) } else { log.finish().map(Some) }
}

/// Where a block ends in the unpacked log.
fn ends_at(block: &Block) -> u64 {
    block.first_byte + block.bytes.len() as u64
}

/// Hands a log's blocks to the feed; returns the log, read to its end, or `None` when the feed wants no more.
///
/// The block that ends where no more bytes are read may end within a record, and is left out.
fn hand_out<'a>(
    mut cutter: Cutter<LogReader<'a>>,
    limit: Option<u64>,
    layout: &Arc<Layout>,
    file: Option<&Arc<str>>,
    feed: &mut impl LogFeed,
) -> Result<Option<LogReader<'a>>> {
    loop {
        match cutter.next(feed.buffers()) {
            Ok(Some(block)) if block.cut && limit.is_some_and(|limit| ends_at(&block) >= limit) => {}
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
