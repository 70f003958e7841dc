//! Records of a block → a batch of samples, with what was rejected and what failed.

use std::borrow::Cow;
use std::sync::Arc;

use super::blocks::Block;
use super::columns::{Reason, are_samples};
use super::fields::Held;
use super::layout::Layout;
use super::record::{Record, Records};
use super::refused::Refused;
use crate::formats::clock_steps::{Clocks, Times};
use crate::formats::date::DateParser;
use crate::formats::endpoint::Endpoints;
use crate::formats::injector::Injectors;
use crate::formats::time_unit::TimeUnit;
use crate::sample::batch::SampleBatch;
use crate::sample::ends::Ends;
use crate::sample::reserved::OTHER;
use crate::sample::texts::{Texts, clean_text};
use crate::series::cpu::{CpuJoin, CpuSeries};

/// The run's clock, known once the head of the logs was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clock {
    /// t0, epoch ms.
    pub(crate) origin: i64,
    /// timeStamp of the first accepted record; without one, records of any time are accepted.
    pub(crate) head: Option<i64>,
    /// How far from `head` a record may be, in ms.
    pub(crate) max_span_ms: u64,
}

/// What a block holds.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    /// The accepted samples.
    pub(crate) batch: SampleBatch,
    /// Rows of the batch that failed, with the code of their message in `messages`.
    pub(crate) failures: Vec<(u32, u32)>,
    pub(crate) messages: Texts,
    /// Rows of the batch with a text that was cut, some of them several times.
    pub(crate) cut: Vec<u32>,
    pub(crate) rejects: Refused,
    /// Line feeds in the block.
    pub(crate) lines: u64,
    /// timeStamp of the first accepted record, and the smallest and largest of all.
    pub(crate) first_ms: Option<i64>,
    pub(crate) earliest_ms: Option<i64>,
    pub(crate) latest_ms: Option<i64>,
    pub(crate) ends: Ends,
    pub(crate) endpoints: Endpoints,
    /// Line and byte of a header that names other columns than the log's first.
    pub(crate) other_header: Option<(u64, u64)>,
    /// Records whose quoted fields hold lines that read as records.
    pub(crate) swallowed: Vec<Swallowed>,
    pub(crate) clocks: Clocks,
    /// Whether a date in it named no zone.
    pub(crate) zone_assumed: bool,
}

/// A record with a quoted field that holds others, most likely between two stray quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Swallowed {
    /// Line feeds in the block before it.
    pub(crate) line: u64,
    pub(crate) byte: u64,
    /// How many of its lines read as records.
    pub(crate) records: u64,
}

impl Parsed {
    /// How many samples have a text that was cut.
    pub(crate) fn cut_samples(&mut self) -> u64 {
        self.cut.sort_unstable();
        self.cut.dedup();
        self.cut.len() as u64
    }

    fn clear(&mut self) {
        self.batch.clear();
        self.failures.clear();
        self.messages.clear();
        self.cut.clear();
        self.rejects.restart(self.rejects.room());
        self.lines = 0;
        self.first_ms = None;
        self.earliest_ms = None;
        self.latest_ms = None;
        self.ends = Ends::default();
        self.endpoints = Endpoints::default();
        self.other_header = None;
        self.swallowed.clear();
        self.clocks.clear();
        self.zone_assumed = false;
    }

    /// Sets names of the log's own apart from that of what is beyond the numbers that are told apart.
    fn set_names_apart(&mut self) {
        let SampleBatch { label, response_code, injector, .. } = &mut self.batch;
        for names in [label, response_code, injector, &mut self.messages] {
            names.set_apart(OTHER);
        }
    }

    /// Rejects what is left of a record behind the last line end of a block, with its lines before that, if a quote
    /// was opened there.
    #[cold]
    fn refuse_rest(&mut self, lines: &[u8], rest: &[u8]) {
        let reaches_end = |end: usize| lines.get(end..).is_some_and(|behind| behind.trim_ascii().is_empty());
        let begun = self.rejects.pop_if(OPEN_QUOTE, reaches_end);
        let (line, byte) = begun.unwrap_or((self.lines, lines.len() as u64));
        let len = lines.len() - byte as usize + rest.len();
        self.rejects.push((line, byte), len, CUT, None);
    }
}

/// Why a record is a reject whose quote does not close.
const OPEN_QUOTE: &str = "a quote is opened and never closed";

/// Why a record is a reject with which a damaged log ends.
const CUT: &str = "the log is damaged, and can't be read to this record's end";

/// Parses blocks; each worker has one.
#[derive(Clone)]
pub(crate) struct Parser {
    pub(crate) dates: DateParser,
    /// The unit of times that are numbers.
    pub(crate) unit: TimeUnit,
    pub(crate) injectors: Injectors,
    pub(crate) cpu: Arc<CpuSeries>,
    pub(crate) join: CpuJoin,
    /// The last epoch second looked up, with its reading.
    pub(crate) last_cpu: (i64, Option<f64>),
    /// Records on their way; nothing between blocks.
    held: Held,
    /// The times of the rows that are taken, epoch ms.
    pub(crate) times: Vec<i64>,
}

impl Parser {
    /// A parser that joins these CPU readings.
    pub(crate) fn new(dates: DateParser, injectors: Injectors, cpu: Arc<CpuSeries>, join: CpuJoin) -> Self {
        // No clock reaches the smallest second, so the first look-up always takes place.
        Self {
            dates,
            unit: TimeUnit::default(),
            injectors,
            cpu,
            join,
            last_cpu: (i64::MIN, None),
            held: Held::default(),
            times: Vec::new(),
        }
    }

    /// The same, of logs whose times are numbers in this unit.
    pub(crate) fn in_unit(self, unit: TimeUnit) -> Self {
        Self { unit, ..self }
    }

    /// Parses a block, in the place of what `out` held, as `parse` does; what is left of a record where a damaged log
    /// ends is a reject, even if it looks whole, since a number in it may have lost digits.
    pub(crate) fn parse_block(
        &mut self,
        block: &Block,
        file: Option<&str>,
        layout: &Layout,
        clock: &Clock,
        out: &mut Parsed,
    ) {
        let (lines, rest) = block.lines();
        self.parse(lines, file, layout, clock, out);
        if !rest.trim_ascii().is_empty() {
            out.refuse_rest(lines, rest);
        }
    }

    /// Parses bytes, in the place of what `out` held; `file` names its log where the run has several.
    pub(crate) fn parse(
        &mut self,
        bytes: &[u8],
        file: Option<&str>,
        layout: &Layout,
        clock: &Clock,
        out: &mut Parsed,
    ) {
        out.clear();
        self.dates.take_assumed();
        self.injectors.start_block(file);
        let mut records = Records::new(bytes, layout.delimiter);
        let mut held = std::mem::take(&mut self.held);
        while let Some(mut record) = records.next() {
            if !record.quoted && record.len() == layout.width {
                held.push(&record);
                if held.is_full() {
                    self.take_held(&mut held, bytes, layout, clock, out);
                }
                continue;
            }
            self.take_held(&mut held, bytes, layout, clock, out);
            if record.quoted && !record.open {
                self.look_within(&record, layout, out);
            }
            if let Err(reason) = self.take_alone(&record, layout, clock, out) {
                let stray = record.open && self.goes_on(record.raw, layout);
                if stray {
                    record.cut_to_first_line();
                }
                self.refuse(&record, layout, reason, out);
                let (start, line) = (record.start, record.line);
                if stray {
                    records.go_back_behind_line(start, line);
                }
            }
        }
        self.take_held(&mut held, bytes, layout, clock, out);
        self.held = held;
        out.zone_assumed = self.dates.take_assumed();
        out.lines = records.lines();
        out.set_names_apart();
    }

    /// Whether a record whose quote is never closed has a whole record in one of its later lines: then the quote
    /// costs its own line only.
    #[cold]
    fn goes_on(&mut self, raw: &[u8], layout: &Layout) -> bool {
        let Some(feed) = memchr::memchr(b'\n', raw) else { return false };
        let mut records = Records::new(raw.get(feed + 1..).unwrap_or_default(), layout.delimiter);
        while let Some(record) = records.next() {
            if record.len() == layout.width
                && !record.open
                && are_samples(record.rows(), layout, &mut self.dates)
            {
                return true;
            }
        }
        false
    }

    /// Takes the records that wait, in their order; if one can't be taken, each by itself.
    fn take_held(&mut self, held: &mut Held, bytes: &[u8], layout: &Layout, clock: &Clock, out: &mut Parsed) {
        let first = out.batch.len();
        if self.take(held.rows(bytes, layout.width), layout, clock, out).is_ok() {
            self.see_times(first, held.lines(), out);
        } else {
            for record in held.records(bytes, layout.width) {
                if let Err(reason) = self.take_alone(&record, layout, clock, out) {
                    self.refuse(&record, layout, reason, out);
                }
            }
        }
        held.clear();
    }

    /// Looks at the times of the samples that were taken last, from this row on, for steps of their clocks.
    #[inline]
    fn see_times(&mut self, first: usize, lines: &[u64], out: &mut Parsed) {
        let times = Times {
            starts: &self.times,
            elapsed: out.batch.elapsed.get(first..).unwrap_or_default(),
            injectors: out.batch.injector.codes().get(first..).unwrap_or_default(),
            lines,
        };
        out.clocks.see(&times, self.injectors.nameless());
    }

    /// Looks for records in the lines of a quoted field, the last of which may have the quote that ends it.
    fn look_within(&mut self, record: &Record<'_>, layout: &Layout, out: &mut Parsed) {
        let lines = record.raw.split(|byte| *byte == b'\n').skip(1);
        let records = lines.filter(|line| self.reads_as_record(line, layout)).count() as u64;
        if records > 0 {
            out.swallowed.push(Swallowed { line: record.line, byte: record.start as u64, records });
        }
    }

    /// Whether a line is a record, as it is or without its quotes.
    #[cold]
    fn reads_as_record(&mut self, line: &[u8], layout: &Layout) -> bool {
        let mut is_record = |line: &[u8]| {
            let mut records = Records::new(line, layout.delimiter);
            let alone = records.next().filter(|alone| alone.len() == layout.width && !alone.open);
            alone.is_some_and(|alone| are_samples(alone.rows(), layout, &mut self.dates))
        };
        let unquoted = || line.iter().copied().filter(|byte| *byte != b'"').collect::<Vec<_>>();
        is_record(line) || (line.contains(&b'"') && is_record(&unquoted()))
    }

    /// Takes one record, or says why not.
    fn take_alone(
        &mut self,
        record: &Record<'_>,
        layout: &Layout,
        clock: &Clock,
        out: &mut Parsed,
    ) -> Result<(), Reason> {
        if record.len() != layout.width || record.open {
            return Err(Reason::Shape);
        }
        let first = out.batch.len();
        self.take(record.rows(), layout, clock, out)?;
        self.see_times(first, &[record.line], out);
        Ok(())
    }

    /// Decides what a record is that was not taken: nothing, a header once more, or a reject.
    #[cold]
    fn refuse(&self, record: &Record<'_>, layout: &Layout, reason: Reason, out: &mut Parsed) {
        if record.is_blank() {
            return;
        }
        if layout.is_header(record.raw) || layout.is_same_header(record.raw) {
            out.clocks.join();
            return;
        }
        let (line, byte) = (record.line, record.start as u64);
        if layout.is_other_header(record.raw) {
            out.other_header.get_or_insert((line, byte));
            return;
        }
        let (reason, value) = reason.sentence(record, layout);
        out.rejects.push((line, byte), record.raw.len(), &reason, value);
    }
}

impl Reason {
    /// The reason as a sentence, and the value at fault.
    fn sentence(self, record: &Record<'_>, layout: &Layout) -> (Cow<'static, str>, Option<String>) {
        match self {
            Self::Shape if record.open => (OPEN_QUOTE.into(), None),
            Self::Shape => (format!("{} fields in the place of {}", record.len(), layout.width).into(), None),
            Self::Span(head) => {
                let far = "its time is further than --max-span from that of the first record";
                (format!("{far}, {head}").into(), None)
            }
            Self::Field(name, index) => {
                let text: String = clean_text(record.field(index)).chars().take(60).collect();
                let wanted = match name {
                    "success" => "true or false",
                    "timeStamp" => "epoch milliseconds or a date",
                    _ => "a whole number in range",
                };
                (format!("{name} is not {wanted}").into(), Some(text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::LayoutOptions;
    use super::*;
    use crate::Place;
    use crate::error::Result;

    const HEADER: &str = crate::formats::jtl::layout::DEFAULT_COLUMNS;

    fn parse(log: &str) -> Result<Parsed> {
        let layout = Layout::detect(log.as_bytes(), &LayoutOptions::default(), &Place::file("log.csv"))?;
        let cpu = Arc::new(CpuSeries::new(vec![(1795203855, 12.5)]));
        let mut parser = Parser::new(
            DateParser::new(crate::formats::date::TimeZone::default()),
            Injectors::default(),
            cpu,
            CpuJoin { offset: 0, lookback: 0 },
        );
        let clock = Clock { origin: 1795203855000, head: Some(1795203855000), max_span_ms: 10_000 };
        let mut parsed = Parsed::default();
        parser.parse(log.as_bytes(), None, &layout, &clock, &mut parsed);
        Ok(parsed)
    }

    fn record(time: &str, elapsed: &str, success: &str, latency: &str) -> String {
        format!("{time},{elapsed},Get,200,OK,T 1-1,text,{success},,118,132,2,2,http://a:1/x,{latency},0,14\n")
    }

    #[test]
    fn a_record_becomes_a_sample() {
        let parsed = parse(&format!("{HEADER}\n{}", record("1795203855304", "44", "true", "40"))).unwrap();
        let batch = &parsed.batch;
        assert_eq!((batch.t_ms[0], batch.elapsed[0], batch.success[0]), (304, 44, true));
        assert_eq!((batch.label.get(0), batch.response_code.get(0)), (Some("Get"), Some("200")));
        assert_eq!((batch.bytes.get(0), batch.sent_bytes.get(0)), (Some(118), Some(132)));
        assert_eq!((batch.all_threads.get(0), batch.latency.get(0)), (Some(2), Some(40)));
        assert_eq!((batch.cpu.get(0), batch.injector.get(0)), (Some(12.5), None));
        assert_eq!(parsed.lines, 2);
    }

    #[test]
    fn what_is_not_a_record_of_the_log_is_rejected_with_its_place_and_reason() {
        let log = format!(
            "{HEADER}\n{}\n{HEADER}\n{}{}{}{}1,2\n{}",
            record("1795203855304", "44", "true", ""),
            record("noon", "44", "true", "40"),
            record("1795203855304", "4.5", "true", "40"),
            record("1795203855304", "44", "yes", "40"),
            record("1795203855304", "44", "TRUE", "4x"),
            record("1795203899999", "44", "FALSE", "40"),
        );
        let parsed = parse(&log).unwrap();
        assert_eq!(parsed.batch.len(), 1);
        let rejects: Vec<_> = parsed.rejects.iter(log.as_bytes()).collect();
        let told: Vec<(u64, &str)> = rejects.iter().map(|r| (r.line, r.reason.as_str())).collect();
        assert_eq!(
            told,
            [
                (4, "timeStamp is not epoch milliseconds or a date: `noon`"),
                (5, "elapsed is not a whole number in range: `4.5`"),
                (6, "success is not true or false: `yes`"),
                (7, "Latency is not a whole number in range: `4x`"),
                (8, "2 fields in the place of 17"),
                (9, "its time is further than --max-span from that of the first record, 1795203855000"),
            ]
        );
        assert_eq!(rejects[4].record, b"1,2");
    }

    #[test]
    fn a_stray_quote_costs_its_own_line_and_a_cut_record_is_one_reject() {
        let good = record("1795203855304", "44", "true", "40");
        let told = |log: &str| {
            let parsed = parse(log).unwrap();
            let rejects = parsed.rejects.iter(log.as_bytes());
            let rejects = rejects.map(|reject| (reject.line, reject.record.to_vec()));
            (parsed.batch.len(), parsed.lines, rejects.collect::<Vec<_>>())
        };
        let stray = format!("{HEADER}\n{good}1795203855304,\"44,Get\r\n{good}{good}");
        assert_eq!(told(&stray), (3, 5, vec![(2, b"1795203855304,\"44,Get".to_vec())]));
        let cut = format!("{HEADER}\n{good}1795203855304,44,\"Get,\nthen wait");
        assert_eq!(told(&cut), (1, 3, vec![(2, b"1795203855304,44,\"Get,\nthen wait".to_vec())]));
    }

    #[test]
    fn a_transaction_is_marked_and_a_failure_keeps_its_message() {
        let message = "Number of samples in transaction : 3, number of failing samples : 1";
        let log = format!(
            "{HEADER}\n1795203855304,44,Page,,\"{message}\",T 1-1,,false,,1,2,2,2,null,40,0,14\n\
             1795203855304,44,Get,500,Oops,T 1-1,text,false,,1,2,2,2,http://a:1/x,40,0,14\n"
        );
        let parsed = parse(&log).unwrap();
        assert_eq!(parsed.batch.transaction, [true, false]);
        let messages: Vec<_> = parsed.failures.iter().map(|(_, code)| parsed.messages.value(*code)).collect();
        assert_eq!(messages, [Some(message), Some("Oops")]);
    }

    #[test]
    fn a_header_of_other_columns_is_told() {
        let parsed = parse(&format!("{HEADER}\ntimeStamp,success,elapsed\n")).unwrap();
        assert_eq!(parsed.other_header, Some((1, HEADER.len() as u64 + 1)));
    }
}
