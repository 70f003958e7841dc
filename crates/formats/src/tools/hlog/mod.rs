//! Interval logs of HdrHistogram: for each interval, and each tag, a histogram of response times. A histogram becomes a
//! row, since the log has no single requests.

mod decode;

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

use self::decode::{DecodedHistogram, decode, per_ms};
use super::fields::LogColumn;
use super::format::{Format, TimeBase};
use super::lines::{ConvertLine, LineByLine};
use super::rejects::{IntervalFlaw, RejectCause};
use super::rows::{ConvertedRows, MS, RequestRow};
use crate::histogram::Histogram;
use perfpipe_model::sample::resolution::Resolution;

/// The log.
pub(super) const FORMAT: Format = Format {
    name: "an interval log of HdrHistogram",
    tool: Some("hdrhistogram"),
    finest: Resolution::MICROSECOND,
    clock,
    columns: &[
        LogColumn::TimeStamp,
        LogColumn::Elapsed,
        LogColumn::Label,
        LogColumn::Success,
        LogColumn::Histogram,
    ],
    recognises,
    note: |_| None,
    by_workers: false,
    converter: || Box::new(LineByLine::new(IntervalLog::default())),
};

/// Returns true for a log of intervals, which may begin with comments of any text.
fn recognises(head: &[u8]) -> bool {
    let marks: [&[u8]; 2] = [b"#[Histogram log format version ", b"\"StartTimestamp\",\"Interval_Length\""];
    let mut lines = head
        .split(|byte| *byte == b'\n')
        .take_while(|line| line.first().is_some_and(|byte| b"#\"".contains(byte)));
    lines.any(|line| marks.iter().any(|mark| line.starts_with(mark)))
}

/// A stamp before this, in ns, is no moment but a time since the log began.
const JANUARY_1970: i64 = 31 * 24 * 3_600 * 1_000_000_000;

/// Returns whether the log's first interval is at an epoch time, given the times above it, or since the begin.
fn clock(head: &[u8]) -> TimeBase {
    let mut stamps = LogStamps::default();
    let mut lines = head.split(|byte| *byte == b'\n');
    let first = lines.find_map(|line| match stamps.read(line) {
        Ok(HlogLine::Interval(interval)) => Some(interval.start_ns),
        _ => None,
    });
    if first.is_some_and(|start_ns| start_ns < JANUARY_1970) { TimeBase::SinceBegin } else { TimeBase::Epoch }
}

/// The longest interval that a log may begin with, in ns. Timers that are due each second are late at times.
const LONGEST_NS: i64 = 1500 * MS;

/// Converts one log.
#[derive(Default)]
struct IntervalLog {
    stamps: LogStamps,
    /// The number of values in a ms, once a histogram shows it.
    per_ms: Option<u32>,
    /// True once an interval of about a second was read. Later ones may be longer, as in a stall.
    is_by_second: bool,
    /// The begin of the latest interval, in ns.
    latest_ns: Option<i64>,
    group: IntervalGroup,
    /// True if the line before was rejected: it may be of the interval that comes next.
    follows_reject: bool,
}

impl ConvertLine for IntervalLog {
    fn line(&mut self, line: &[u8], rows: &mut ConvertedRows) {
        let added = match self.stamps.read(line) {
            Ok(HlogLine::Interval(interval)) => self.interval(interval, rows).map_err(RejectCause::Interval),
            Ok(HlogLine::Other) => Ok(()),
            Err(cause) => Err(cause),
        };
        let Err(cause) = added else { return };
        self.follows_reject = true;
        if !self.group.reject(rows.place, cause, line) {
            self.release(rows);
        }
    }

    fn release(&mut self, rows: &mut ConvertedRows) {
        self.group.leave_out_sums();
        let (start_ns, length_ns) = (self.group.start_ns, self.group.length_ns);
        let here = rows.place;
        for PendingLine { place, what } in std::mem::take(&mut self.group).pending {
            rows.place = place;
            match what {
                LineContent::Reject { cause, record } => rows.reject(cause, None, &record),
                LineContent::Histogram { histogram: Some(histogram), tag }
                    if !histogram.counts.is_empty() =>
                {
                    rows.push(&RequestRow {
                        start_ms: start_ns.div_euclid(MS),
                        beyond_ns: start_ns.rem_euclid(MS),
                        elapsed_ns: length_ns,
                        label: tag.as_deref().unwrap_or_default().as_bytes(),
                        success: true,
                        histogram: Some(&histogram),
                        ..RequestRow::default()
                    });
                }
                LineContent::Histogram { .. } => {}
            }
        }
        rows.place = here;
    }
}

impl IntervalLog {
    /// Adds the histogram of an interval to the group of that interval.
    fn interval(&mut self, interval: LogInterval, rows: &mut ConvertedRows) -> Result<(), IntervalFlaw> {
        let histogram = self.histogram(&interval, rows)?;
        let lacks = std::mem::take(&mut self.follows_reject);
        if (interval.start_ns, interval.length_ns) != (self.group.start_ns, self.group.length_ns) {
            self.release(rows);
            self.group = IntervalGroup::of(interval.start_ns, interval.length_ns, lacks);
        }
        let added = self.group.add(rows.place, interval.tag, histogram);
        if added.is_err() {
            self.release(rows);
        }
        added
    }

    /// Reads the histogram of an interval; `None` if it has no requests.
    fn histogram(
        &mut self,
        interval: &LogInterval,
        rows: &ConvertedRows,
    ) -> Result<Option<Histogram>, IntervalFlaw> {
        if self.latest_ns.is_some_and(|latest_ns| interval.start_ns < latest_ns) {
            return Err(IntervalFlaw::Backwards);
        }
        if !self.is_by_second && interval.length_ns > LONGEST_NS {
            return Err(IntervalFlaw::LongInterval);
        }
        let DecodedHistogram { digits, counts } = decode(&interval.encoded)?;
        let Some((largest, _)) = counts.last() else { return Ok(None) };
        let unit = per_ms(*largest, interval.max, digits)?;
        if self.per_ms.is_some() && unit.is_some() && self.per_ms != unit {
            return Err(IntervalFlaw::Unit);
        }
        let per_ms = unit.or(self.per_ms).unwrap_or_default();
        let counts = in_unit(&counts, per_ms, rows).ok_or(IntervalFlaw::LongTime)?;
        rows.in_unit(interval.length_ns).ok_or(IntervalFlaw::LongTime)?;
        self.per_ms = unit.or(self.per_ms);
        self.is_by_second = true;
        self.latest_ns = Some(interval.start_ns);
        Ok(Some(Histogram { digits, per_ms, sums: 0, counts }))
    }
}

/// Converts values to times in the unit of the run. Values that are equal in it are counted together.
fn in_unit(counts: &[(u64, u64)], per_ms: u32, rows: &ConvertedRows) -> Option<Vec<(i32, u64)>> {
    let value_ns = MS.checked_div(per_ms.into()).unwrap_or(MS);
    let mut times: Vec<(i32, u64)> = Vec::with_capacity(counts.len());
    for (value, requests) in counts {
        let time = rows.in_unit(i64::try_from(*value).ok()?.checked_mul(value_ns)?)?;
        match times.last_mut().filter(|(last, _)| *last == time) {
            Some((_, all)) => *all = all.saturating_add(*requests),
            None => times.push((time, *requests)),
        }
    }
    Some(times)
}

/// A line that is kept until all of its interval are known.
struct PendingLine {
    /// The line and the byte at which it begins in the log.
    place: (u64, u64),
    what: LineContent,
}

/// The content of a line.
enum LineContent {
    /// A histogram, or `None` if there were no requests.
    Histogram { tag: Option<String>, histogram: Option<Histogram> },
    /// A record that is rejected.
    Reject { cause: RejectCause, record: Vec<u8> },
}

/// The lines of one interval, in their order.
#[derive(Default)]
struct IntervalGroup {
    /// The begin and the length of the interval, in ns.
    start_ns: i64,
    length_ns: i64,
    pending: Vec<PendingLine>,
    /// The number of different times in all of them.
    times: usize,
    /// The number of bytes of tags, and of the records that are rejected.
    texts: usize,
    /// True if one of the histograms may have been rejected.
    lacks: bool,
}

/// The most lines of an interval, the most different times in them, and the most bytes of tags and of
/// rejected ones.
const MOST: usize = 10_000;
const MOST_TIMES: usize = 1_000_000;
const MOST_TEXT: usize = 8 << 20;

/// The requests by response time.
type TimeCounts = BTreeMap<i32, u64>;

impl IntervalGroup {
    /// Begins a group. `lacks` is true if one of its histograms may have been rejected before.
    fn of(start_ns: i64, length_ns: i64, lacks: bool) -> Self {
        Self { start_ns, length_ns, lacks, ..Self::default() }
    }

    /// Adds a histogram.
    fn add(
        &mut self,
        place: (u64, u64),
        tag: Option<String>,
        histogram: Option<Histogram>,
    ) -> Result<(), IntervalFlaw> {
        let times = self.times + histogram.as_ref().map_or(0, |histogram| histogram.counts.len());
        let texts = self.texts + tag.as_ref().map_or(0, String::len);
        if self.pending.len() >= MOST || times > MOST_TIMES || texts > MOST_TEXT {
            return Err(IntervalFlaw::Crowded);
        }
        (self.times, self.texts) = (times, texts);
        self.pending.push(PendingLine { place, what: LineContent::Histogram { tag, histogram } });
        Ok(())
    }

    /// Adds a line that is rejected. Returns false if there are too many to keep.
    fn reject(&mut self, place: (u64, u64), cause: RejectCause, record: &[u8]) -> bool {
        self.lacks = true;
        self.texts += record.len();
        self.pending
            .push(PendingLine { place, what: LineContent::Reject { cause, record: record.to_vec() } });
        self.pending.len() < MOST && self.texts < MOST_TEXT
    }

    /// Leaves out the histograms without a tag if they are the sum of those with tags, since their requests would be
    /// counted twice. The first of those with tags has their number.
    ///
    /// Where one with a tag may have been rejected, the sum keeps the requests that none of the others has.
    fn leave_out_sums(&mut self) {
        let (Some(sum), Some(parts)) = (self.counts(false), self.counts(true)) else { return };
        if sum == parts {
            return self.leave_out();
        }
        if let Some(rest) = difference(&sum, &parts).filter(|_| self.lacks) {
            let mut rest = Some(rest.into_iter().collect());
            for histogram in self.histograms(false) {
                histogram.counts = rest.take().unwrap_or_default();
            }
        }
    }

    fn leave_out(&mut self) {
        let mut sums = 0;
        for pending in &mut self.pending {
            if let LineContent::Histogram { tag: None, histogram } = &mut pending.what {
                sums += u32::from(histogram.take().is_some());
            }
        }
        if let Some(first) = self.histograms(true).next() {
            first.sums = sums;
        }
    }

    /// All histograms with, or without, a tag.
    fn histograms(&mut self, with_tag: bool) -> impl Iterator<Item = &mut Histogram> {
        self.pending.iter_mut().filter_map(move |pending| match &mut pending.what {
            LineContent::Histogram { tag, histogram } if tag.is_some() == with_tag => histogram.as_mut(),
            _ => None,
        })
    }

    /// The requests by response time of all histograms with, or without, a tag; `None` if there are none.
    fn counts(&mut self, with_tag: bool) -> Option<TimeCounts> {
        let mut all = TimeCounts::new();
        for (time, requests) in self.histograms(with_tag).flat_map(|one| &one.counts) {
            let entry = all.entry(*time).or_default();
            *entry = entry.saturating_add(*requests);
        }
        (!all.is_empty()).then_some(all)
    }
}

/// Returns the rest of a sum without its parts; `None` if one of the parts has more.
fn difference(sum: &TimeCounts, parts: &TimeCounts) -> Option<TimeCounts> {
    let mut rest = sum.clone();
    for (time, requests) in parts {
        let left = rest.get_mut(time)?;
        *left = left.checked_sub(*requests)?;
    }
    rest.retain(|_, requests| *requests > 0);
    Some(rest)
}

/// A line.
enum HlogLine {
    /// A comment, a header, or nothing.
    Other,
    /// An interval.
    Interval(LogInterval),
}

/// An interval, whose histogram is not read yet.
struct LogInterval {
    tag: Option<String>,
    /// Its begin, in epoch ns, or since the begin of the log if that has no clock.
    start_ns: i64,
    length_ns: i64,
    /// The largest value, as logged.
    max: f64,
    /// The histogram, in base64.
    encoded: String,
}

/// The times that the lines above define for the stamps below.
#[derive(Default)]
struct LogStamps {
    start: Option<i64>,
    base: Option<i64>,
    is_unknown: bool,
}

/// The versions of the log that are known.
const VERSIONS: [&[u8]; 2] = [b"1.2", b"1.3"];

/// Stamps that are as far as this before the log's StartTime are meant as times since then, as HdrHistogram's own reader
/// has it.
const YEAR_NS: i64 = 365 * 24 * 3_600 * 1_000_000_000;

impl LogStamps {
    /// Reads a line without its line end.
    fn read(&mut self, line: &[u8]) -> Result<HlogLine, RejectCause> {
        if let Some(version) = line.strip_prefix(b"#[Histogram log format version ") {
            let version = version.split(|byte| *byte == b']').next().unwrap_or_default();
            self.is_unknown = !VERSIONS.iter().any(|known| known.starts_with(version) && *known == version);
            return Ok(HlogLine::Other);
        }
        let text = [line, b"\n"].concat();
        match IntervalLogIterator::new(&text).next() {
            Some(Ok(LogEntry::StartTime(time))) => self.start = Some(ns(time)?),
            Some(Ok(LogEntry::BaseTime(time))) => self.base = Some(ns(time)?),
            Some(Ok(LogEntry::Interval(_))) if self.is_unknown => {
                return Err(RejectCause::Interval(IntervalFlaw::Version));
            }
            Some(Ok(LogEntry::Interval(found))) if found.encoded_histogram().contains(',') => {
                return Err(cause_of(line));
            }
            Some(Ok(LogEntry::Interval(found))) => {
                return Ok(HlogLine::Interval(LogInterval {
                    tag: found.tag().map(|tag| tag.as_str().to_owned()),
                    start_ns: self.moment(ns(found.start_timestamp())?)?,
                    length_ns: ns(found.duration())?,
                    max: found.max(),
                    encoded: found.encoded_histogram().to_owned(),
                }));
            }
            None if is_stamp(line) => return Err(RejectCause::Time(LogColumn::TimeStamp)),
            None => {}
            Some(Err(_)) if line.trim_ascii().is_empty() => {}
            Some(Err(_)) => return Err(cause_of(line)),
        }
        Ok(HlogLine::Other)
    }

    /// Returns the moment of a stamp.
    fn moment(&mut self, stamp: i64) -> Result<i64, RejectCause> {
        let start = *self.start.get_or_insert(stamp);
        let is_relative = stamp < start.saturating_sub(YEAR_NS);
        let base = *self.base.get_or_insert(if is_relative { start } else { 0 });
        stamp.checked_add(base).ok_or(RejectCause::Time(LogColumn::TimeStamp))
    }
}

/// Returns true for a comment that defines what the stamps count from.
fn is_stamp(line: &[u8]) -> bool {
    line.starts_with(b"#[StartTime:") || line.starts_with(b"#[BaseTime:")
}

fn ns(time: Duration) -> Result<i64, RejectCause> {
    i64::try_from(time.as_nanos()).map_err(|_| RejectCause::Time(LogColumn::TimeStamp))
}

/// Says what is wrong with a line that is none of a log's.
fn cause_of(line: &[u8]) -> RejectCause {
    let tag = if line.starts_with(b"Tag=") { 1 } else { 0 };
    let fields = || line.split(|byte| *byte == b',').skip(tag);
    let is_time = |field: &[u8]| !field.is_empty() && field.iter().all(|byte| b"0123456789.".contains(byte));
    match fields().count() {
        4 if fields().take(2).all(is_time) => RejectCause::Unknown,
        4 => RejectCause::Time(LogColumn::TimeStamp),
        found => RejectCause::Fields { found: found as u64, expected: 4 },
    }
}
