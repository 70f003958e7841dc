//! Decodes packed requests into a batch of samples.

use super::ConvertedRows;
use super::form::TRANSACTION;
use super::frame::{FrameContent, FrameHeader, LineFrame, PackedFrame, PackedRequest};
use crate::clock_steps::{RecordTimes, span_of};
use crate::histogram::{self, Histogram};
use crate::jtl::column_parser::{ColumnParser, MESSAGE_BYTES, MOST_BYTES, SampleTimes};
use crate::jtl::layout::Layout;
use crate::jtl::parsed::{Clock, Parsed};
use crate::tools::fields::LogColumn;
use crate::tools::h2load;
use crate::tools::rejects::RejectedRecord;
use perfpipe_model::run::reject_reason::RejectReason;
use perfpipe_model::sample::batch::SampleBatch;
use perfpipe_model::sample::shorten::{LABEL_BYTES, TEXT_BYTES, shortened};
use perfpipe_model::sample::texts::{Texts, clean_text};

/// The number of requests whose times are appended at once.
const BATCH: usize = 64;

/// The columns that the format of a log reports.
struct PresentColumns {
    label: bool,
    response_code: bool,
    bytes: bool,
    sent_bytes: bool,
    threads: bool,
    latency: bool,
    connect: bool,
    url: bool,
    histogram: bool,
}

impl PresentColumns {
    fn of(columns: &[LogColumn]) -> Self {
        let present = |column| columns.contains(&column);
        Self {
            label: present(LogColumn::Label),
            response_code: present(LogColumn::ResponseCode),
            bytes: present(LogColumn::Bytes),
            sent_bytes: present(LogColumn::SentBytes),
            threads: present(LogColumn::AllThreads),
            latency: present(LogColumn::Latency),
            connect: present(LogColumn::Connect),
            url: present(LogColumn::Url),
            histogram: present(LogColumn::Histogram),
        }
    }
}

/// The numbers of a request that have to be within a range.
struct CheckedNumbers {
    elapsed: i32,
    threads: Option<i32>,
    latency: Option<i32>,
    connect: Option<i32>,
}

/// Why a request is rejected, and the offending number.
type InvalidNumber = (RejectReason, Option<i64>);

/// The reason to reject an interval whose histogram can't be read.
const NO_HISTOGRAM: InvalidNumber = (RejectReason::NotANumber { column: histogram::COLUMN }, None);

impl CheckedNumbers {
    #[inline(always)]
    fn of(request: &PackedRequest<'_>, clock: &Clock) -> Result<Self, InvalidNumber> {
        let elapsed = time(Some(request.elapsed), LogColumn::Elapsed)?.unwrap_or_default();
        size(request.bytes, LogColumn::Bytes)?;
        size(request.sent_bytes, LogColumn::SentBytes)?;
        let numbers = Self {
            elapsed,
            threads: fitting(request.threads, LogColumn::AllThreads)?,
            latency: time(request.latency, LogColumn::Latency)?,
            connect: time(request.connect, LogColumn::Connect)?,
        };
        match clock.head {
            Some(first_ms) if request.start_ms.abs_diff(first_ms) > clock.max_span_ms => {
                Err((RejectReason::FarTime { first_ms }, None))
            }
            _ => Ok(numbers),
        }
    }
}

#[inline]
fn fitting(number: Option<i64>, column: LogColumn) -> Result<Option<i32>, InvalidNumber> {
    number.map(|number| i32::try_from(number).map_err(|_| not_a_number(number, column))).transpose()
}

/// A time, which must not be below 0.
#[inline]
fn time(number: Option<i64>, column: LogColumn) -> Result<Option<i32>, InvalidNumber> {
    match fitting(number, column)? {
        Some(time @ ..0) => Err(not_a_number(time.into(), column)),
        time => Ok(time),
    }
}

#[inline]
fn size(number: Option<i64>, column: LogColumn) -> Result<(), InvalidNumber> {
    match number {
        Some(size) if size.unsigned_abs() >= MOST_BYTES => Err(not_a_number(size, column)),
        _ => Ok(()),
    }
}

#[cold]
fn not_a_number(number: i64, column: LogColumn) -> InvalidNumber {
    (RejectReason::NotANumber { column: column.name() }, Some(number))
}

/// Decodes the requests of a block.
struct RequestDecoder<'a> {
    columns: &'a mut ColumnParser,
    present: PresentColumns,
    layout: &'a Layout,
    clock: &'a Clock,
    out: &'a mut Parsed,
    /// The starts of those whose times are not appended yet, epoch ms.
    starts: Vec<i64>,
    /// The number of lines in the block before each.
    lines: Vec<u64>,
}

/// Decodes a block of packed requests of a format that reports the columns `reported`. The batch in `out` must be empty,
/// and the injectors of `columns` at the start of the block.
pub fn decode(
    columns: &mut ColumnParser,
    reported: &[LogColumn],
    block: &[u8],
    layout: &Layout,
    clock: &Clock,
    out: &mut Parsed,
) {
    let (starts, lines) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
    let mut decoder =
        RequestDecoder { columns, present: PresentColumns::of(reported), layout, clock, out, starts, lines };
    let (mut rest, mut at) = (block, 0);
    while let Some(header) = FrameHeader::read(rest) {
        let line = decoder.out.lines + u64::from(header.skipped);
        decoder.out.lines = line + 1;
        decoder.out.at_byte = Some(header.byte);
        let place = FramePosition { line, at, length: header.length };
        match header.bare() {
            Some(request) => decoder.decode_request(&request, place),
            None => decoder.decode_content(header.content(), place),
        }
        at += header.length as u64;
        rest = rest.get(header.length..).unwrap_or_default();
    }
    decoder.append_times();
    decoder.fill();
}

/// The position of a frame: its line and byte in the block, and its number of bytes.
#[derive(Clone, Copy)]
struct FramePosition {
    line: u64,
    at: u64,
    length: usize,
}

impl RequestDecoder<'_> {
    /// Decodes a frame that has parts after its header.
    fn decode_content(&mut self, content: Option<FrameContent<'_>>, place: FramePosition) {
        match content {
            Some(FrameContent::Request(request)) => self.decode_request(&request, place),
            Some(FrameContent::Reject(reject)) => self.append_reject(reject, place),
            Some(FrameContent::Lines(lines)) => self.decode_lines(&lines, place),
            // Nothing else writes frames.
            None => {}
        }
    }

    /// Decodes the lines of a frame. The position of each is that of the frame up to its end.
    fn decode_lines(&mut self, frame: &LineFrame<'_>, place: FramePosition) {
        let mut rows = ConvertedRows::new(self.layout.resolution);
        rows.early_ns = frame.early_ns;
        let (lines, mut begin, mut number) = (frame.lines, 0, place.line);
        while begin < lines.len() {
            let rest = lines.get(begin..).unwrap_or_default();
            self.out.at_byte = Some(frame.byte.saturating_add(begin as u64));
            let to = |length: usize| FramePosition {
                line: number,
                at: place.at,
                length: LineFrame::AT + begin + length,
            };
            let length = match h2load::usual(rest) {
                Some((answer, length)) => {
                    self.decode_request(&rows.request(&answer.row()), to(length));
                    length
                }
                None => {
                    let line = memchr::memchr(b'\n', rest).and_then(|end| rest.get(..end)).unwrap_or(rest);
                    let own = line.strip_suffix(b"\r").unwrap_or(line);
                    self.odd_line(own, &mut rows, to(own.len()));
                    line.len()
                }
            };
            begin += length + 1;
            number += 1;
        }
        self.out.lines = number.max(place.line + 1);
    }

    #[cold]
    fn odd_line(&mut self, line: &[u8], rows: &mut ConvertedRows, place: FramePosition) {
        h2load::any_line(line, rows);
        self.decode_content(PackedFrame::read(&rows.bytes).map(|frame| frame.content), place);
        rows.bytes.clear();
    }

    /// Appends a request, or rejects it. Inlined, so that what a request does not have costs nothing.
    #[inline(always)]
    fn decode_request(&mut self, request: &PackedRequest<'_>, place: FramePosition) {
        if !self.columns.only.contains(&request.start_ms) {
            self.out.outside += 1;
            return;
        }
        match CheckedNumbers::of(request, self.clock) {
            Ok(numbers) if self.histogram(request) => self.append_request(request, &numbers, place.line),
            Ok(_) => self.reject_request(NO_HISTOGRAM, place),
            Err(invalid) => self.reject_request(invalid, place),
        }
    }

    /// Appends the histogram of an interval, if the format has one. Returns false if it can't be read.
    #[inline]
    fn histogram(&mut self, request: &PackedRequest<'_>) -> bool {
        if !self.present.histogram {
            return true;
        }
        let histogram = Histogram::read(request.histogram);
        let is_read = histogram.is_some();
        self.out.histograms.extend(histogram);
        is_read
    }

    #[inline(always)]
    fn append_request(&mut self, request: &PackedRequest<'_>, numbers: &CheckedNumbers, line: u64) {
        let (batch, present) = (&mut self.out.batch, &self.present);
        let row = batch.elapsed.len() as u32;
        self.starts.push(request.start_ms);
        self.lines.push(line);
        batch.elapsed.push(numbers.elapsed);
        batch.success.push(request.success);
        batch.transaction.push(request.is_transaction);
        let mut is_cut = false;
        if present.label {
            is_cut |= push(&mut batch.label, request.label, LABEL_BYTES);
        }
        if present.response_code {
            is_cut |= push(&mut batch.response_code, request.response_code, TEXT_BYTES);
        }
        if present.bytes {
            batch.bytes.push(request.bytes);
        }
        if present.sent_bytes {
            batch.sent_bytes.push(request.sent_bytes);
        }
        if present.threads {
            batch.all_threads.push(numbers.threads);
        }
        if present.latency {
            batch.latency.push(numbers.latency);
        }
        if present.connect {
            batch.connect.push(numbers.connect);
        }
        if present.url && !request.is_transaction {
            self.out.endpoints.add(request.url);
        }
        if is_cut {
            self.out.cut.push(row);
        }
        if !request.success {
            let code = self.out.messages.code(message(request));
            self.out.failures.push((row, code));
        }
        if self.starts.len() == BATCH {
            self.append_times();
        }
    }

    /// Appends what is derived from the times of the last requests.
    fn append_times(&mut self) {
        let Some(span) = span_of(&self.starts) else { return };
        let first = self.out.batch.t_ms.len();
        let times = SampleTimes { starts: &self.starts, span: &span };
        self.columns.append_derived(times, self.clock, self.layout.resolution, self.out);
        let injector = &mut self.out.batch.injector;
        if self.columns.injectors.push_nameless(self.starts.len(), injector) {
            self.out.cut.extend((first..self.out.batch.t_ms.len()).map(|row| row as u32));
        }
        let times = RecordTimes {
            starts: &self.starts,
            span: &span,
            elapsed: self.out.batch.elapsed.get(first..).unwrap_or_default(),
            unit: self.layout.resolution,
            injectors: self.out.batch.injector.codes().get(first..).unwrap_or_default(),
            lines: &self.lines,
        };
        self.out.clocks.add(&times, self.columns.injectors.nameless());
        self.starts.clear();
        self.lines.clear();
    }

    /// Fills the columns that the format does not report.
    fn fill(&mut self) {
        let present = &self.present;
        // No `..`: a column that is not filled would have no rows. Those with `_` are in every format, or derived.
        let SampleBatch {
            resolution: _,
            t_ms: _,
            label,
            elapsed,
            response_code,
            success: _,
            bytes,
            sent_bytes,
            all_threads,
            latency,
            idle_time,
            connect,
            cpu: _,
            injector: _,
            transaction: _,
        } = &mut self.out.batch;
        let rows = elapsed.len();
        if !present.label {
            label.push_nulls(rows);
        }
        if !present.response_code {
            response_code.push_nulls(rows);
        }
        if !present.bytes {
            bytes.push_run(None, rows);
        }
        if !present.sent_bytes {
            sent_bytes.push_run(None, rows);
        }
        if !present.threads {
            all_threads.push_run(None, rows);
        }
        if !present.latency {
            latency.push_run(None, rows);
        }
        if !present.connect {
            connect.push_run(None, rows);
        }
        idle_time.push_run(None, rows);
    }

    /// Rejects a request.
    #[cold]
    fn reject_request(&mut self, (reason, number): InvalidNumber, place: FramePosition) {
        let value = number.map(|number| number.to_string());
        self.out.rejects.push((place.line, place.at), place.length, reason, value);
    }

    /// Adds a reject of the converter.
    #[cold]
    fn append_reject(&mut self, reject: &[u8], place: FramePosition) {
        if let Some(reject) = RejectedRecord::read(reject) {
            let value = reject.value.map(|value| clean_text(&value).chars().take(SHOWN).collect());
            self.out.rejects.push((place.line, place.at), place.length, reject.cause.reason(), value);
        }
    }
}

/// The number of characters of an offending value that are reported.
pub const SHOWN: usize = 60;

/// Appends a text. Returns true if it is longer than `limit`, in bytes, and was shortened.
#[inline]
fn push(into: &mut Texts, text: &[u8], limit: usize) -> bool {
    match shortened(text, limit) {
        None => into.push(text),
        Some(short) => {
            into.push(short.as_bytes());
            return true;
        }
    }
    false
}

/// Returns the message of a failure, cut to the bytes that the kept characters can occupy.
fn message<'a>(request: &PackedRequest<'a>) -> &'a [u8] {
    let message = match request.failure_message {
        b"" if request.is_transaction => TRANSACTION,
        message => message,
    };
    message.get(..MESSAGE_BYTES).unwrap_or(message)
}
