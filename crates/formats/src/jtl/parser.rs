//! Parses the records of a block into a batch of samples, rejects and failures.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::blocks::Block;
use super::column_parser::{ColumnParser, InvalidRow, are_samples};
use super::layout::{Layout, is_separator_line};
use super::parsed::{Clock, Parsed, Swallowed};
use super::records::plain::PlainRecords;
use super::records::quoted::QuotedRecords;
use super::records::record::{Record, Records};
use crate::clock_steps::RecordTimes;
use crate::date::DateParser;
use crate::injector::Injectors;
use crate::tools::fields::LogColumn;
use crate::tools::rejects::RejectedRecord;
use crate::tools::rows::decode::{SHOWN, decode};
use crate::tools::rows::form::Form;
use perfpipe_model::run::options::time_unit::TimeUnit;
use perfpipe_model::run::reject_reason::RejectReason;
use perfpipe_model::sample::resolution::Resolution;
use perfpipe_model::sample::texts::clean_text;
use perfpipe_model::series::cpu::{CpuJoin, TimeSeries};

/// Parses blocks. Each worker has its own.
#[derive(Clone)]
pub struct Parser {
    /// Parses the fields of records with the right number of fields.
    pub columns: ColumnParser,
    /// Buffers of records that are parsed in batches.
    plain: PlainRecords,
    quoted: QuotedRecords,
}

impl Parser {
    /// Creates a parser that joins the given CPU readings.
    pub fn new(dates: DateParser, injectors: Injectors, cpu: Arc<TimeSeries>, join: CpuJoin) -> Self {
        Self {
            columns: ColumnParser::new(dates, injectors, cpu, join),
            plain: PlainRecords::default(),
            quoted: QuotedRecords::default(),
        }
    }

    /// Sets the unit of numeric timeStamps.
    pub fn in_unit(mut self, unit: TimeUnit) -> Self {
        self.columns.unit = unit;
        self
    }

    /// Skips the records of all other times (epoch ms), and counts them.
    pub fn only(mut self, times: Option<RangeInclusive<i64>>) -> Self {
        self.columns.only = times.unwrap_or(i64::MIN..=i64::MAX);
        self
    }

    /// Parses a block into `out`, replacing its content. The incomplete record at the end of a damaged log is a reject
    /// even if it looks whole, since a number in it may have lost digits. See `parse`.
    pub fn parse_block(
        &mut self,
        block: &Block,
        file: Option<&str>,
        layout: &Layout,
        clock: &Clock,
        out: &mut Parsed,
    ) {
        if let Form::Packed(columns) = layout.form {
            return self.parse_packed(&block.bytes, columns, file, layout, clock, out);
        }
        let (lines, rest) = block.lines();
        self.parse(lines, file, layout, clock, out);
        if !rest.trim_ascii().is_empty() {
            out.reject_rest(lines, rest);
        }
    }

    /// Parses bytes into `out`, replacing its content. `file` names the log if the run has several.
    pub fn parse(
        &mut self,
        bytes: &[u8],
        file: Option<&str>,
        layout: &Layout,
        clock: &Clock,
        out: &mut Parsed,
    ) {
        self.start_block(file, out);
        let mut records = Records::new(bytes, layout.delimiter);
        let (mut plain, mut quoted) = (std::mem::take(&mut self.plain), std::mem::take(&mut self.quoted));
        // Quoted records often follow each other.
        let mut has_quotes = false;
        loop {
            if !has_quotes {
                plain.read(&mut records, layout.width);
                self.parse_plain(&plain, bytes, layout, clock, out);
                if plain.is_full() {
                    continue;
                }
            }
            // A log without quotes needs no room for those.
            if records.are_read() {
                break;
            }
            // Where quotes are not closed, this would search far in vain.
            if !records.had_open_quote() {
                let position = records.position();
                quoted.read(&mut records, layout.width);
                has_quotes = quoted.has_quotes();
                if quoted.len() > 0 {
                    self.parse_quoted(&quoted, bytes, position, layout, clock, out);
                    continue;
                }
            }
            has_quotes = false;
            let Some(mut record) = records.next_record() else { break };
            if record.quoted && !record.open {
                self.find_swallowed((record.start, record.line, record.raw), layout, out);
            }
            if let Err(reason) = self.parse_single(&record, layout, clock, out) {
                let stray = record.open && self.has_later_record(record.raw, layout);
                if stray {
                    record.cut_to_first_line();
                }
                self.handle_invalid(&record, layout, reason, out);
                let (start, line) = (record.start, record.line);
                if stray {
                    records.go_back_after_line(start, line);
                }
            }
        }
        (self.plain, self.quoted) = (plain, quoted);
        out.zone_assumed = self.columns.dates.take_assumed();
        out.lines = records.lines();
        end_block(layout, out);
    }

    /// Decodes packed requests of a format with these columns into `out`, replacing its content.
    fn parse_packed(
        &mut self,
        bytes: &[u8],
        columns: &[LogColumn],
        file: Option<&str>,
        layout: &Layout,
        clock: &Clock,
        out: &mut Parsed,
    ) {
        self.start_block(file, out);
        decode(&mut self.columns, columns, bytes, layout, clock, out);
        end_block(layout, out);
    }

    fn start_block(&mut self, file: Option<&str>, out: &mut Parsed) {
        out.clear();
        self.columns.dates.take_assumed();
        self.columns.injectors.start_block(file);
    }

    /// Returns true if a record with an unclosed quote has a whole record on a later line. Then only the first line is
    /// rejected.
    #[cold]
    fn has_later_record(&mut self, raw: &[u8], layout: &Layout) -> bool {
        let Some(feed) = memchr::memchr(b'\n', raw) else { return false };
        let later = raw.get(feed + 1..).unwrap_or_default();
        let mut records = Records::after_open_quote(later, layout.delimiter);
        while let Some(record) = records.next_record() {
            if record.width() == layout.width
                && !record.open
                && are_samples(record.rows(), layout, &mut self.columns.dates)
            {
                return true;
            }
        }
        false
    }

    /// Parses a batch of records. If one of them is invalid, parses each of them separately.
    fn parse_plain(
        &mut self,
        plain: &PlainRecords,
        bytes: &[u8],
        layout: &Layout,
        clock: &Clock,
        out: &mut Parsed,
    ) {
        if plain.len() == 0 {
            return;
        }
        let first = out.batch.len();
        if let Ok(span) = self.columns.append_rows(plain.rows(bytes), layout, clock, out) {
            return self.check_times(first, plain.lines(), &span, layout.resolution, out);
        }
        for record in plain.records(bytes) {
            if let Err(reason) = self.parse_single(&record, layout, clock, out) {
                self.handle_invalid(&record, layout, reason, out);
            }
        }
    }

    /// Parses a batch of records with quotes. If one of them is invalid, reads them again from their position in the
    /// block, and parses each of them separately.
    fn parse_quoted(
        &mut self,
        quoted: &QuotedRecords,
        block: &[u8],
        position: (usize, u64),
        layout: &Layout,
        clock: &Clock,
        out: &mut Parsed,
    ) {
        quoted.folded(block).for_each(|record| self.find_swallowed(record, layout, out));
        let first = out.batch.len();
        if let Ok(span) = self.columns.append_rows(quoted.rows(), layout, clock, out) {
            return self.check_times(first, quoted.lines(), &span, layout.resolution, out);
        }
        let mut records = Records::new(block, layout.delimiter);
        records.continue_at(position);
        for _ in 0..quoted.len() {
            let Some(record) = records.next_record() else { break };
            if let Err(reason) = self.parse_single(&record, layout, clock, out) {
                self.handle_invalid(&record, layout, reason, out);
            }
        }
    }

    /// Checks the times of the samples from row `first` on, which are on these lines and of this span, for clock steps.
    #[inline]
    fn check_times(
        &mut self,
        first: usize,
        lines: &[u64],
        span: &RangeInclusive<i64>,
        unit: Resolution,
        out: &mut Parsed,
    ) {
        let times = RecordTimes {
            starts: &self.columns.times,
            span,
            elapsed: out.batch.elapsed.get(first..).unwrap_or_default(),
            unit,
            injectors: out.batch.injector.codes().get(first..).unwrap_or_default(),
            lines,
        };
        out.clocks.add(&times, self.columns.injectors.nameless());
    }

    /// Looks for records in the lines of a quoted field. The last line may contain the closing quote. The record is given
    /// by its position, the line feeds before it and its bytes.
    fn find_swallowed(&mut self, (start, line, raw): (usize, u64, &[u8]), layout: &Layout, out: &mut Parsed) {
        let first = memchr::memchr(b'\n', raw).map_or(raw.len(), |feed| feed + 1);
        let others = raw.get(first..).unwrap_or_default();
        // A line with too few delimiters is no record, with its quotes or without. Mostly that is so of all of them at once.
        let is_wide = |lines: &[u8]| memchr::memchr_iter(layout.delimiter, lines).count() + 1 >= layout.width;
        if !is_wide(others) {
            return;
        }
        let lines = others.split(|byte| *byte == b'\n').filter(|line| is_wide(line));
        let records = lines.filter(|line| self.reads_as_record(line, layout)).count() as u64;
        if records > 0 {
            out.swallowed.push(Swallowed { line, byte: start as u64, records });
        }
    }

    /// Returns true if a line is a record, either as it is or without its quotes.
    #[cold]
    fn reads_as_record(&mut self, line: &[u8], layout: &Layout) -> bool {
        let mut is_record = |line: &[u8]| {
            let mut records = Records::new(line, layout.delimiter);
            let alone = records.next_record().filter(|alone| alone.width() == layout.width && !alone.open);
            alone.is_some_and(|alone| are_samples(alone.rows(), layout, &mut self.columns.dates))
        };
        let unquoted = || line.iter().copied().filter(|byte| *byte != b'"').collect::<Vec<_>>();
        is_record(line) || (line.contains(&b'"') && is_record(&unquoted()))
    }

    /// Parses one record, or returns the reason to reject it.
    fn parse_single(
        &mut self,
        record: &Record<'_>,
        layout: &Layout,
        clock: &Clock,
        out: &mut Parsed,
    ) -> Result<(), InvalidRow> {
        if record.width() != layout.width || record.open {
            return Err(InvalidRow::Shape);
        }
        let first = out.batch.len();
        let span = self.columns.append_rows(record.rows(), layout, clock, out)?;
        self.check_times(first, &[record.line], &span, layout.resolution, out);
        Ok(())
    }

    /// Handles a record that could not be parsed: it is blank, a repeated header, or a reject.
    #[cold]
    fn handle_invalid(&self, record: &Record<'_>, layout: &Layout, reason: InvalidRow, out: &mut Parsed) {
        if record.is_blank() || is_separator_line(record.raw) {
            return;
        }
        if layout.is_header(record.raw) || layout.is_same_header(record.raw) {
            out.clocks.join();
            return;
        }
        let (line, byte) = (record.line, record.start as u64);
        if layout.form == Form::Lines
            && let Some(reject) = RejectedRecord::read(record.raw)
        {
            let value = reject.value.as_deref().map(shown);
            out.rejects.push((line, byte), record.raw.len(), reject.cause.reason(), value);
            return;
        }
        if layout.is_other_header(record.raw) {
            out.other_header.get_or_insert((line, byte));
            return;
        }
        match reason.details(record, layout) {
            Some((reason, value)) => out.rejects.push((line, byte), record.raw.len(), reason, value),
            None => out.outside += 1,
        }
    }
}

fn end_block(layout: &Layout, out: &mut Parsed) {
    out.form = layout.form;
    out.batch.resolution = layout.resolution;
    out.rename_reserved();
}

impl InvalidRow {
    /// Returns the reason with its details, and the offending value; `None` for a record that is left out, and no reject.
    fn details(self, record: &Record<'_>, layout: &Layout) -> Option<(RejectReason, Option<String>)> {
        let (column, index) = match self {
            Self::Outside => return None,
            Self::Shape if record.open => return Some((RejectReason::OpenQuote, None)),
            Self::Shape => {
                let (found, expected) = (record.width() as u64, layout.width as u64);
                return Some((RejectReason::FieldCount { found, expected }, None));
            }
            Self::Span(first_ms) => return Some((RejectReason::FarTime { first_ms }, None)),
            Self::Several(samples) => {
                return Some((RejectReason::SeveralSamples { samples: samples.unsigned_abs() }, None));
            }
            Self::Field(column, index) => (column, index),
        };
        let reason = match column {
            "success" => RejectReason::NotABoolean { column },
            "timeStamp" => RejectReason::NotATime { column },
            _ => RejectReason::NotANumber { column },
        };
        Some((reason, Some(shown(record.field(index)))))
    }
}

/// Returns an offending value as it is reported.
fn shown(value: &[u8]) -> String {
    clean_text(value).chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::super::layout::LayoutOptions;
    use super::*;
    use perfpipe_model::error::Place;
    use perfpipe_model::error::Result;

    const HEADER: &str = crate::jtl::layout::DEFAULT_COLUMNS;

    fn parse(log: &str) -> Result<Parsed> {
        let layout = Layout::detect(log.as_bytes(), &LayoutOptions::default(), &Place::file("log.csv"))?;
        let cpu = Arc::new(TimeSeries::new(vec![(1795203855, 12.5)]));
        let mut parser = Parser::new(
            DateParser::new(perfpipe_model::run::time_zone::TimeZone::default()),
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
    fn record_becomes_a_sample() {
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
    fn invalid_record_is_rejected_with_its_place_and_reason() {
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
        let found = rejects.iter().map(|r| (r.line, r.reason, r.value.as_deref()));
        assert_eq!(
            found.collect::<Vec<_>>(),
            [
                (4, RejectReason::NotATime { column: "timeStamp" }, Some("noon")),
                (5, RejectReason::NotANumber { column: "elapsed" }, Some("4.5")),
                (6, RejectReason::NotABoolean { column: "success" }, Some("yes")),
                (7, RejectReason::NotANumber { column: "Latency" }, Some("4x")),
                (8, RejectReason::FieldCount { found: 2, expected: 17 }, None),
                (9, RejectReason::FarTime { first_ms: 1795203855000 }, None),
            ]
        );
        assert_eq!(rejects[4].record, b"1,2");
    }

    #[test]
    fn stray_quote_costs_its_own_line_and_a_cut_record_is_one_reject() {
        let good = record("1795203855304", "44", "true", "40");
        let counted = |log: &str| {
            let parsed = parse(log).unwrap();
            let rejects = parsed.rejects.iter(log.as_bytes());
            let rejects = rejects.map(|reject| (reject.line, reject.record.to_vec()));
            (parsed.batch.len(), parsed.lines, rejects.collect::<Vec<_>>())
        };
        let stray = format!("{HEADER}\n{good}1795203855304,\"44,Get\r\n{good}{good}");
        assert_eq!(counted(&stray), (3, 5, vec![(2, b"1795203855304,\"44,Get".to_vec())]));
        let cut = format!("{HEADER}\n{good}1795203855304,44,\"Get,\nthen wait");
        assert_eq!(counted(&cut), (1, 3, vec![(2, b"1795203855304,44,\"Get,\nthen wait".to_vec())]));
    }

    #[test]
    fn transaction_is_marked_and_a_failure_keeps_its_message() {
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
    fn header_of_other_columns_is_told() {
        let parsed = parse(&format!("{HEADER}\ntimeStamp,success,elapsed\n")).unwrap();
        assert_eq!(parsed.other_header, Some((1, HEADER.len() as u64 + 1)));
    }
}
