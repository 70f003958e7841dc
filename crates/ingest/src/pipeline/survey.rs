//! Looks ahead in the logs of a run for t0, and starts the feed.

use super::plan::{LogFeed, ReadPlan};
use crate::source::LogSource;
use perfpipe_formats::jtl::blocks::{Block, Cutter, LogBytes};
use perfpipe_formats::jtl::layout::Layout;
use perfpipe_formats::jtl::parsed::{Clock, Parsed};
use perfpipe_formats::jtl::parser::Parser;
use perfpipe_formats::tools::rows::form::Form;
use perfpipe_model::error::{Error, ErrorKind, Place, Result};
use perfpipe_model::run::info::TIMES;
use perfpipe_model::run::options::time_unit::TimeUnit;
use perfpipe_model::sample::pool::{Buffers, PooledBuffer};
use perfpipe_store::parallel::{Job, side_by_side};

/// The number of bytes of a log that are searched for a first acceptable record, even if the window is smaller.
const SEARCHED: usize = 32 << 20;

/// The maximum number of bytes to look ahead in one of several files: a quarter of its packed size, but at least 4 MiB.
/// Looking ahead costs time, and so does reading a small file twice.
fn worth_a_look(source: &LogSource) -> usize {
    let quarter = source.packed_size().map_or(u64::MAX, |bytes| bytes / 4);
    usize::try_from(quarter).unwrap_or(usize::MAX).max(4 << 20)
}

/// Several logs of more than this many times the bytes to look ahead are long ones.
const LONG: u64 = 128;

/// The result of looking ahead.
pub(crate) struct Survey {
    parser: Parser,
    parsed: Parsed,
    max_span_ms: u64,
    /// The origin that the user gave, epoch ms: records are judged by their distance from it, not from the first one.
    given: Option<i64>,
    head: Option<i64>,
    earliest: Option<i64>,
    /// What is known from the last block of each log that will be opened again, in any order.
    pub(super) beginnings: Vec<LogBeginning>,
}

impl Survey {
    pub(crate) fn new(parser: Parser, max_span_ms: u64, given: Option<i64>) -> Self {
        let (parsed, beginnings) = (Parsed::default(), Vec::new());
        Self { parser, parsed, max_span_ms, given, head: None, earliest: None, beginnings }
    }

    /// Begins to look ahead in other logs, which are judged by the same first record.
    fn again(&self) -> Self {
        Self { head: self.head, ..Self::new(self.parser.clone(), self.max_span_ms, self.given) }
    }

    /// The time by which records are judged, once it is known.
    fn centre(&self) -> Option<i64> {
        self.given.or(self.head)
    }

    /// Looks ahead in a log: for `window` bytes, and further until there is an acceptable record, since all others are
    /// judged by the first one.
    pub(super) fn look<R: LogBytes>(
        &mut self,
        cutter: &mut Cutter<R>,
        window: usize,
        layout: &Layout,
    ) -> std::io::Result<()> {
        let mut read = 0;
        while self.wants(read, window) {
            let Some(block) = cutter.look_ahead()? else { break };
            read += block.bytes.len();
            if block.oversized.is_none() {
                self.add(block, layout);
            }
        }
        Ok(())
    }

    /// Returns true if more of a log is to be read after `read` bytes.
    fn wants(&self, read: usize, window: usize) -> bool {
        read < window || (self.head.is_none() && read < SEARCHED)
    }

    /// Looks ahead in a log that will be opened again, as [`look`](Self::look) does, and for at least `least` bytes unless
    /// fewer are enough. Returns what is known from the last block.
    fn glance<R: LogBytes>(
        &mut self,
        cutter: &mut Cutter<R>,
        (window, least): (usize, usize),
        layout: &Layout,
    ) -> std::io::Result<Option<LogBeginning>> {
        let (mut glance, mut buffer, mut any) = (BeginningScan::default(), OneBuffer::default(), false);
        while self.wants(glance.bytes, window) || (glance.bytes < least && !glance.is_settled()) {
            let Some(block) = cutter.next(&mut buffer)? else { break };
            glance.bytes += block.bytes.len();
            if block.oversized.is_none() {
                glance.add(self.add(&block, layout));
                any = true;
            }
            buffer = OneBuffer(block.bytes);
        }
        Ok(any.then(|| LogBeginning::of(&self.parsed)).flatten())
    }

    /// Parses a block. Its records are judged by the origin that was given, or else by the first `usual` one of all blocks.
    pub(crate) fn add(&mut self, block: &Block, layout: &Layout) -> &Parsed {
        if self.head.is_none() {
            self.parse(block, layout, None);
            self.head = usual(&self.parsed, self.max_span_ms);
            let ends = [self.parsed.earliest_ms, self.parsed.latest_ms];
            if ends.into_iter().flatten().any(|end| self.is_far(end)) {
                // Parse again: now the centre is known, and records too far from it are rejected.
                self.parse(block, layout, self.centre());
            }
        } else {
            self.parse(block, layout, self.centre());
        }
        self.earliest = [self.earliest, self.parsed.earliest_ms].into_iter().flatten().min();
        &self.parsed
    }

    fn parse(&mut self, block: &Block, layout: &Layout, centre: Option<i64>) {
        let clock = Clock { origin: 0, head: centre, max_span_ms: self.max_span_ms };
        self.parser.parse_block(block, None, layout, &clock, &mut self.parsed);
    }

    /// The clock. Without any accepted record t0 is `i64::MAX`, so that the first one counts as earlier.
    pub(crate) fn clock(&self, known: Option<i64>) -> Clock {
        let origin = known.or(self.earliest).unwrap_or(i64::MAX);
        Clock { origin, head: self.centre().or(known), max_span_ms: self.max_span_ms }
    }

    /// Returns the given origin and the first record's time if no record that was looked at is near the origin.
    fn contradicted(&self) -> Option<(i64, i64)> {
        self.given.zip(self.head).filter(|_| self.earliest.is_none())
    }

    /// Returns true if a time is too far from the one by which records are judged.
    fn is_far(&self, ms: i64) -> bool {
        self.centre().is_some_and(|centre| centre.abs_diff(ms) > self.max_span_ms)
    }
}

/// The very first record is an odd one if more than this many times as many, and most of all, are near each other elsewhere.
const ODD: usize = 4;

/// Returns the time of the first record that is not an odd one: the very first may have a time of 0, or be the rest of an
/// earlier run.
fn usual(parsed: &Parsed, max_span_ms: u64) -> Option<i64> {
    let first = parsed.first_ms?;
    let ends = [parsed.earliest_ms, parsed.latest_ms];
    if ends.into_iter().flatten().all(|end| end.abs_diff(first) <= max_span_ms) {
        return Some(first);
    }
    let is_near = |centre: i64| move |ms: &&i64| ms.abs_diff(centre) <= max_span_ms;
    let mut times = parsed.batch.t_ms.to_vec();
    let middle = times.len() / 2;
    let (_, median, _) = times.select_nth_unstable(middle);
    let median = *median;
    let near = |centre| times.iter().filter(is_near(centre)).count();
    let elsewhere = near(median);
    let is_odd = near(first).saturating_mul(ODD) < elsewhere && 2 * elsewhere > times.len();
    parsed.batch.t_ms.iter().find(|ms| !is_odd || is_near(median)(ms)).copied()
}

impl ReadPlan {
    /// Looks ahead in the files if there are several logs, by up to `threads` threads. Returns the number of bytes to look
    /// ahead in the others, and what was found.
    pub(super) fn survey(
        &self,
        sources: &mut [LogSource],
        parser: Parser,
        threads: usize,
    ) -> Result<(usize, Survey)> {
        // Inputs that can be read only once come first, since looking ahead in one starts reading it.
        sources.sort_by_key(LogSource::can_restart);
        let window = self.window(sources);
        let mut survey = Survey::new(parser, self.max_span_ms, self.given);
        let several = sources.len() > 1;
        let mut files = sources.iter_mut().filter(|source| several && source.can_restart());
        while survey.head.is_none()
            && let Some(source) = files.next()
        {
            self.peek(source, window, &mut survey)?;
        }
        self.peek_side_by_side(files.collect(), threads, window, &mut survey)?;
        survey.earliest = [survey.earliest, self.earliest].into_iter().flatten().min();
        Ok((window, survey))
    }

    /// The number of bytes to look ahead in each log, beyond its first block.
    fn window(&self, sources: &[LogSource]) -> usize {
        let logs = sources.len().max(1);
        let unpacked = sources.iter().map(LogSource::about_unpacked).fold(0, u64::saturating_add);
        let is_quickly_read = logs == 1 || unpacked / LONG <= self.look_ahead as u64;
        // The pass itself finds early records and then restarts. That is rare, whereas looking ahead always takes time: a few
        // percent of that of a short pass. But a long one may have read for long before it comes to another log's beginning.
        match self.origin.is_some() || (self.restart_window.is_some() && is_quickly_read) {
            true => 1,
            false => self.look_ahead / logs,
        }
    }

    /// Starts the feed, unless it was started before.
    pub(super) fn start(
        &self,
        survey: &mut Option<Survey>,
        place: &Place,
        feed: &mut impl LogFeed,
    ) -> Result<()> {
        if let Some(survey) = survey.take() {
            feed.start(self.clock(&survey, place)?);
        }
        Ok(())
    }

    /// The clock that was found. `place` is the first log.
    pub(super) fn clock(&self, survey: &Survey, place: &Place) -> Result<Clock> {
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
        if let Some((origin, head)) = survey.contradicted() {
            return Err(Error::input(
                ErrorKind::OriginContradicted,
                place.clone(),
                format!(
                    "its first timeStamp is {head}, which is further from the given origin, {origin}, than the \
                     allowed span"
                ),
                "Correct the origin, or leave it out: if one is needed, an error states it.",
            ));
        }
        Ok(survey.clock(self.origin))
    }

    /// Looks ahead in files by several threads. The first record of the run is known already, so that no file depends on
    /// another.
    fn peek_side_by_side<'a>(
        &'a self,
        files: Vec<&'a mut LogSource>,
        threads: usize,
        window: usize,
        survey: &mut Survey,
    ) -> Result<()> {
        let job = |files: Vec<&'a mut LogSource>| -> Job<'a, Survey> {
            let mut other = survey.again();
            let look = move || {
                files.into_iter().try_for_each(|file| self.peek(file, window, &mut other))?;
                Ok(other)
            };
            ("the beginnings of the logs", Box::new(look))
        };
        for (_, other) in side_by_side(shares(files, threads).into_iter().map(job).collect())? {
            survey.earliest = [survey.earliest, other.earliest].into_iter().flatten().min();
            survey.beginnings.extend(other.beginnings);
        }
        Ok(())
    }

    /// Looks ahead in a file that will be opened again.
    fn peek(&self, source: &mut LogSource, window: usize, survey: &mut Survey) -> Result<()> {
        let window = window.min(worth_a_look(source));
        let mut stream = source.open()?;
        let Some(log) = stream.next_log()? else { return Ok(()) };
        let (layout, mut cutter) = self.open_log(log, self.block_size.min(BLOCK))?;
        let beginning = survey.glance(&mut cutter, (window, self.block_size), &layout);
        survey.beginnings.extend(beginning.map_err(|error| cutter.into_reader().explain(error))?);
        Ok(())
    }
}

/// Divides files into up to `count` lists of neighbours, so that the first error is that of the first file that has one.
fn shares(files: Vec<&mut LogSource>, count: usize) -> Vec<Vec<&mut LogSource>> {
    let each = files.len().div_ceil(count.max(1)).max(1);
    let mut files = files.into_iter();
    let share = || Some(files.by_ref().take(each).collect::<Vec<_>>()).filter(|share| !share.is_empty());
    std::iter::from_fn(share).collect()
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

/// What is known of the beginning of a log from the last block that was read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogBeginning {
    /// True if the records are parsed as they are in the log, and not converted while it is read.
    light: bool,
}

impl LogBeginning {
    /// `None` of a block without requests.
    pub(super) fn of(parsed: &Parsed) -> Option<Self> {
        let has_requests = parsed.histograms.is_empty() && parsed.earliest_ms.is_some();
        has_requests.then_some(Self { light: parsed.form == Form::Own })
    }
}

/// Returns true if the records of all logs are parsed as they are.
pub(crate) fn are_light(beginnings: &[LogBeginning]) -> bool {
    !beginnings.is_empty() && beginnings.iter().all(|beginning| beginning.light)
}

/// The size of the blocks in which a beginning is looked at, in bytes. They are small, since for most beginnings one of
/// them is enough.
const BLOCK: usize = 256 << 10;

/// A record is written when its response has come. So one that began before those that were seen took as long as these
/// span; with this many times the longest response, there is most likely none.
const SPAN_TIMES: i64 = 4;

/// The number of samples that are enough in any case: few logs have more users, who all begin at once.
const ENOUGH: usize = 4 << 10;

/// What was looked at of one log.
#[derive(Default)]
struct BeginningScan {
    /// The number of its bytes.
    bytes: usize,
    samples: usize,
    /// The earliest and latest time, in epoch ms.
    span: Option<(i64, i64)>,
    /// The longest response, in ms.
    longest: i64,
}

impl BeginningScan {
    /// Adds a block of the log.
    fn add(&mut self, parsed: &Parsed) {
        let Some(span) = parsed.earliest_ms.zip(parsed.latest_ms) else { return };
        self.span = Some(self.span.map_or(span, |seen| (seen.0.min(span.0), seen.1.max(span.1))));
        let batch = &parsed.batch;
        self.samples += batch.t_ms.len();
        let longest = batch.elapsed.iter().copied().max().unwrap_or_default();
        self.longest = self.longest.max(batch.resolution.whole_ms(longest));
    }

    /// Returns true if no record is likely to follow that began before all that were seen, or if these are many.
    fn is_settled(&self) -> bool {
        let spanned = self.span.map(|(earliest, latest)| latest.saturating_sub(earliest));
        self.samples >= ENOUGH
            || spanned.is_some_and(|spanned| spanned > self.longest.saturating_mul(SPAN_TIMES))
    }
}

/// A single buffer, which is empty again once the block in it was looked at.
#[derive(Default)]
struct OneBuffer(PooledBuffer);

impl Buffers for OneBuffer {
    fn take(&mut self) -> Option<PooledBuffer> {
        Some(std::mem::take(&mut self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_light_if_all_of_them_are() {
        let mut parsed = Parsed::default();
        assert!(LogBeginning::of(&parsed).is_none(), "no time was accepted");
        parsed.earliest_ms = Some(0);
        let light = LogBeginning::of(&parsed).unwrap();
        let other = LogBeginning { light: false };
        assert!(are_light(&[light]) && !are_light(&[light, other]) && !are_light(&[]));
    }

    /// A block with samples of these times and lengths, in ms.
    fn parsed(samples: &[(i64, i32)]) -> Parsed {
        let mut parsed = Parsed::default();
        for &(t_ms, elapsed) in samples {
            parsed.batch.t_ms.push(t_ms);
            parsed.batch.elapsed.push(elapsed);
        }
        let times = || samples.iter().map(|(t_ms, _)| *t_ms);
        (parsed.earliest_ms, parsed.latest_ms) = (times().min(), times().max());
        parsed
    }

    #[test]
    fn beginning_is_settled_once_it_spans_several_of_its_longest_response() {
        let mut glance = BeginningScan::default();
        glance.add(&parsed(&[]));
        assert!(!glance.is_settled());
        glance.add(&parsed(&[(1000, 300), (1900, 10)]));
        assert!(!glance.is_settled());
        glance.add(&parsed(&[(2200, 5)]));
        assert!(!glance.is_settled(), "exactly four times");
        glance.add(&parsed(&[(2201, 301)]));
        assert!(!glance.is_settled(), "a longer one has come");
        glance.add(&parsed(&[(995, 1), (2200, 5)]));
        assert!(glance.is_settled());
    }

    #[test]
    fn many_samples_are_enough() {
        let mut glance = BeginningScan::default();
        glance.add(&parsed(&[(1000, 300); ENOUGH - 1]));
        assert!(!glance.is_settled());
        glance.add(&parsed(&[(1000, 300)]));
        assert!(glance.is_settled());
    }
}
