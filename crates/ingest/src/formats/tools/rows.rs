//! Writes requests as lines of JMeter's CSV.

use super::csv::{Column, quoted};
use super::told::{Told, Wrong};
use crate::formats::histogram::Histogram;
use crate::formats::jtl::blocks::KEPT;
use crate::sample::resolution::Resolution;

/// A request, or a transaction. What its format does not tell is empty or `None`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Row<'a> {
    /// The start, epoch ms.
    pub(crate) start_ms: i64,
    /// How far the start is beyond that, in ns, less than a ms.
    pub(crate) beyond_ns: i64,
    /// The response time, in ns.
    pub(crate) elapsed_ns: i64,
    /// The time to the first byte, in ns.
    pub(crate) latency_ns: Option<i64>,
    /// The time to connect, in ns.
    pub(crate) connect_ns: Option<i64>,
    pub(crate) label: &'a [u8],
    pub(crate) response_code: &'a [u8],
    pub(crate) success: bool,
    pub(crate) failure_message: &'a [u8],
    /// The active users.
    pub(crate) threads: Option<i64>,
    pub(crate) bytes: Option<i64>,
    pub(crate) sent_bytes: Option<i64>,
    pub(crate) url: &'a [u8],
    /// True for what a tool tells of several requests together.
    pub(crate) is_transaction: bool,
    /// The requests of an interval, in a log that tells no single ones. The row is then the interval, and its response
    /// time the length.
    pub(crate) histogram: Option<&'a Histogram>,
}

/// The beginning of the message by which a record is known as a transaction's.
const TRANSACTION: &[u8] = b"Number of samples in transaction : ";

/// The number of ns in a ms.
pub(crate) const MS: i64 = 1_000_000;

/// Lines of JMeter's CSV, and the place in the log from which they come.
#[derive(Debug)]
pub(crate) struct Rows {
    columns: &'static [Column],
    /// The unit in which times are written.
    resolution: Resolution,
    /// What is added to the starts, in ms.
    pub(crate) begin_ms: i64,
    /// How far the log's first start is beyond a whole ms, in ns: by so much all starts are written too early. Thus whole
    /// ms since the first start are whole ms between the exact moments.
    early_ns: i64,
    /// The first start so far: epoch ms, and ns beyond it.
    first: Option<(i64, i64)>,
    /// The lines that nobody has taken yet.
    pub(crate) bytes: Vec<u8>,
    /// The line of the log, from 1, and the byte, from 0, at which the next record begins.
    pub(crate) place: (u64, u64),
    /// The line that is written next, from 1.
    line: u64,
}

impl Rows {
    pub(crate) fn new(columns: &'static [Column], resolution: Resolution) -> Self {
        Self {
            columns,
            resolution,
            begin_ms: 0,
            early_ns: 0,
            first: None,
            bytes: Vec::new(),
            place: (1, 0),
            line: 1,
        }
    }

    /// Takes over how far the first start is beyond a whole ms, as other rows of the same log found it.
    pub(crate) fn begin_with(&mut self, others: &Self) {
        self.early_ns = others.first.map_or(0, |(_, beyond_ns)| beyond_ns);
    }

    /// Writes a request.
    pub(crate) fn push(&mut self, row: &Row<'_>) {
        let start = (row.start_ms, row.beyond_ns);
        self.first = Some(self.first.map_or(start, |first| first.min(start)));
        let start_ms = row.start_ms.saturating_sub(i64::from(row.beyond_ns < self.early_ns));
        for (at, column) in self.columns.iter().enumerate() {
            if at > 0 {
                self.bytes.push(b',');
            }
            match column {
                Column::TimeStamp => self.number(start_ms.saturating_add(self.begin_ms)),
                Column::Elapsed => self.time(Some(row.elapsed_ns)),
                Column::Latency => self.time(row.latency_ns),
                Column::Connect => self.time(row.connect_ns),
                Column::Bytes => self.maybe(row.bytes),
                Column::SentBytes => self.maybe(row.sent_bytes),
                Column::Url => self.text(row.url),
                Column::Label => self.text(row.label),
                Column::ResponseCode => self.text(row.response_code),
                Column::ResponseMessage if row.is_transaction => self.bytes.extend_from_slice(TRANSACTION),
                Column::ResponseMessage => {}
                Column::Success => self.bytes.extend_from_slice(if row.success { b"true" } else { b"false" }),
                Column::FailureMessage => self.text(row.failure_message),
                Column::AllThreads => self.maybe(row.threads),
                Column::Histogram => {
                    row.histogram.into_iter().for_each(|found| found.write(&mut self.bytes));
                }
                // Only formats that tell all fields as JMeter does have the others.
                _ => {}
            }
        }
        self.skip();
    }

    /// Writes a request by the texts of all columns.
    pub(crate) fn fields(&mut self, fields: &[Vec<u8>]) {
        for (at, field) in fields.iter().enumerate() {
            if at > 0 {
                self.bytes.push(b',');
            }
            self.text(field);
        }
        self.skip();
    }

    /// Writes empty lines until the next line has this number, if it is not past it already.
    pub(crate) fn catch_up(&mut self, line: u64) {
        while self.line < line {
            self.skip();
        }
    }

    /// Writes an empty line, for what is in the log and is no request.
    pub(crate) fn skip(&mut self) {
        self.bytes.push(b'\n');
        self.line += 1;
    }

    /// Rejects a record.
    #[cold]
    pub(crate) fn reject(&mut self, wrong: Wrong, value: Option<&[u8]>, record: &[u8]) {
        let (line, byte) = self.place;
        let record = record.get(..KEPT).unwrap_or(record).to_vec();
        let before = self.bytes.len();
        Told { wrong, line, byte, value: value.map(<[u8]>::to_vec), record }.write(&mut self.bytes);
        let written = self.bytes.get(before..).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', written).count() as u64;
    }

    /// Returns a time in ns in the unit of the run, if it is not too long for it.
    pub(crate) fn in_unit(&self, ns: i64) -> Option<i32> {
        i32::try_from(self.resolution.of_ns(ns)).ok()
    }

    /// Writes a time in ns in the unit of the run. One that is too long for it is written as it is, and refused by
    /// whoever reads the line.
    fn time(&mut self, ns: Option<i64>) {
        self.maybe(ns.map(|ns| self.resolution.of_ns(ns)));
    }

    fn maybe(&mut self, number: Option<i64>) {
        number.into_iter().for_each(|number| self.number(number));
    }

    fn number(&mut self, number: i64) {
        self.bytes.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }

    /// Writes a text, in quotes where it needs them.
    fn text(&mut self, text: &[u8]) {
        if !text.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
            self.bytes.extend_from_slice(text);
        } else {
            quoted(text, &mut self.bytes);
            self.line += memchr::memchr_iter(b'\n', text).count() as u64;
        }
    }
}
