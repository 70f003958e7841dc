//! Takes packed requests into a batch of samples.

use super::Rows;
use super::form::TRANSACTION;
use super::frame::{Content, Frame, Header, Lines, Request};
use crate::formats::clock_steps::{Times, span_of};
use crate::formats::histogram::{self, Histogram};
use crate::formats::jtl::columns::{Columns, MESSAGE_BYTES, MOST_BYTES};
use crate::formats::jtl::layout::Layout;
use crate::formats::jtl::parsed::{Clock, Parsed};
use crate::formats::tools::csv::Column;
use crate::formats::tools::h2load;
use crate::formats::tools::told::Told;
use crate::run::reject_reason::RejectReason;
use crate::sample::long_text::{LABEL_BYTES, TEXT_BYTES, shortened};
use crate::sample::texts::{Texts, clean_text};

/// The number of requests whose times are worked on together.
const TOGETHER: usize = 64;

/// What the format of a log tells of a request.
struct Tells {
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

impl Tells {
    fn of(columns: &[Column]) -> Self {
        let tells = |column| columns.contains(&column);
        Self {
            label: tells(Column::Label),
            response_code: tells(Column::ResponseCode),
            bytes: tells(Column::Bytes),
            sent_bytes: tells(Column::SentBytes),
            threads: tells(Column::AllThreads),
            latency: tells(Column::Latency),
            connect: tells(Column::Connect),
            url: tells(Column::Url),
            histogram: tells(Column::Histogram),
        }
    }
}

/// The numbers of a request that have to be within a range.
struct Numbers {
    elapsed: i32,
    threads: Option<i32>,
    latency: Option<i32>,
    connect: Option<i32>,
}

/// Why a request is rejected, and the offending number.
type Refused = (RejectReason, Option<i64>);

/// The reason to reject an interval whose histogram can't be read.
const NO_HISTOGRAM: Refused = (RejectReason::NotANumber { column: histogram::COLUMN }, None);

impl Numbers {
    #[inline(always)]
    fn of(request: &Request<'_>, clock: &Clock) -> Result<Self, Refused> {
        let elapsed = time(Some(request.elapsed), Column::Elapsed)?.unwrap_or_default();
        size(request.bytes, Column::Bytes)?;
        size(request.sent_bytes, Column::SentBytes)?;
        let numbers = Self {
            elapsed,
            threads: fitting(request.threads, Column::AllThreads)?,
            latency: time(request.latency, Column::Latency)?,
            connect: time(request.connect, Column::Connect)?,
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
fn fitting(number: Option<i64>, column: Column) -> Result<Option<i32>, Refused> {
    number.map(|number| i32::try_from(number).map_err(|_| not_a_number(number, column))).transpose()
}

/// A time, which must not be below 0.
#[inline]
fn time(number: Option<i64>, column: Column) -> Result<Option<i32>, Refused> {
    match fitting(number, column)? {
        Some(time @ ..0) => Err(not_a_number(time.into(), column)),
        time => Ok(time),
    }
}

#[inline]
fn size(number: Option<i64>, column: Column) -> Result<(), Refused> {
    match number {
        Some(size) if size.unsigned_abs() >= MOST_BYTES => Err(not_a_number(size, column)),
        _ => Ok(()),
    }
}

#[cold]
fn not_a_number(number: i64, column: Column) -> Refused {
    (RejectReason::NotANumber { column: column.name() }, Some(number))
}

/// The requests of a block while they are taken.
struct Taker<'a> {
    columns: &'a mut Columns,
    tells: Tells,
    layout: &'a Layout,
    clock: &'a Clock,
    out: &'a mut Parsed,
    /// The starts of those whose times are not worked on yet, epoch ms.
    starts: Vec<i64>,
    /// The number of lines in the block before each.
    lines: Vec<u64>,
}

/// Takes a block of packed requests of a format that tells `told`. The batch in `out` must be empty, and the injectors of
/// `columns` at the start of the block.
pub(crate) fn take(
    columns: &mut Columns,
    told: &[Column],
    block: &[u8],
    layout: &Layout,
    clock: &Clock,
    out: &mut Parsed,
) {
    let (starts, lines) = (Vec::with_capacity(TOGETHER), Vec::with_capacity(TOGETHER));
    let mut taker = Taker { columns, tells: Tells::of(told), layout, clock, out, starts, lines };
    let (mut rest, mut at) = (block, 0);
    while let Some(header) = Header::read(rest) {
        let line = taker.out.lines + u64::from(header.skipped);
        taker.out.lines = line + 1;
        taker.out.at_byte = Some(header.byte);
        let place = Place { line, at, length: header.length };
        match header.bare() {
            Some(request) => taker.take(&request, place),
            None => taker.parts(header.content(), place),
        }
        at += header.length as u64;
        rest = rest.get(header.length..).unwrap_or_default();
    }
    taker.work_on_times();
    taker.fill();
}

/// Where a frame is: on which line and at which byte of the block, and its number of bytes.
#[derive(Clone, Copy)]
struct Place {
    line: u64,
    at: u64,
    length: usize,
}

impl Taker<'_> {
    /// Takes a frame that has parts behind its header.
    fn parts(&mut self, content: Option<Content<'_>>, place: Place) {
        match content {
            Some(Content::Request(request)) => self.take(&request, place),
            Some(Content::Reject(told)) => self.reject(told, place),
            Some(Content::Lines(lines)) => self.lines(&lines, place),
            // Nothing else writes frames.
            None => {}
        }
    }

    /// Takes the lines of a frame. The place of each is the frame to its end.
    fn lines(&mut self, frame: &Lines<'_>, place: Place) {
        let mut rows = Rows::new(self.layout.resolution);
        rows.early_ns = frame.early_ns;
        let (lines, mut begin, mut number) = (frame.lines, 0, place.line);
        while begin < lines.len() {
            let rest = lines.get(begin..).unwrap_or_default();
            self.out.at_byte = Some(frame.byte.saturating_add(begin as u64));
            let to = |length: usize| Place { line: number, at: place.at, length: Lines::AT + begin + length };
            let length = match h2load::usual(rest) {
                Some((answer, length)) => {
                    self.take(&rows.request(&answer.row()), to(length));
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
    fn odd_line(&mut self, line: &[u8], rows: &mut Rows, place: Place) {
        h2load::any_line(line, rows);
        self.parts(Frame::read(&rows.bytes).map(|frame| frame.content), place);
        rows.bytes.clear();
    }

    /// Takes a request, or rejects it. Inlined, so that what a request does not have costs nothing.
    #[inline(always)]
    fn take(&mut self, request: &Request<'_>, place: Place) {
        if !self.columns.only.contains(&request.start_ms) {
            self.out.outside += 1;
            return;
        }
        match Numbers::of(request, self.clock) {
            Ok(numbers) if self.histogram(request) => self.request(request, &numbers, place.line),
            Ok(_) => self.refuse(NO_HISTOGRAM, place),
            Err(refused) => self.refuse(refused, place),
        }
    }

    /// Takes the histogram of an interval, if the format tells one. Returns false if it can't be read.
    #[inline]
    fn histogram(&mut self, request: &Request<'_>) -> bool {
        if !self.tells.histogram {
            return true;
        }
        let histogram = Histogram::read(request.histogram);
        let is_read = histogram.is_some();
        self.out.histograms.extend(histogram);
        is_read
    }

    #[inline(always)]
    fn request(&mut self, request: &Request<'_>, numbers: &Numbers, line: u64) {
        let (batch, tells) = (&mut self.out.batch, &self.tells);
        let row = batch.elapsed.len() as u32;
        self.starts.push(request.start_ms);
        self.lines.push(line);
        batch.elapsed.push(numbers.elapsed);
        batch.success.push(request.success);
        batch.transaction.push(request.is_transaction);
        let mut is_cut = false;
        if tells.label {
            is_cut |= push(&mut batch.label, request.label, LABEL_BYTES);
        }
        if tells.response_code {
            is_cut |= push(&mut batch.response_code, request.response_code, TEXT_BYTES);
        }
        if tells.bytes {
            batch.bytes.push(request.bytes);
        }
        if tells.sent_bytes {
            batch.sent_bytes.push(request.sent_bytes);
        }
        if tells.threads {
            batch.all_threads.push(numbers.threads);
        }
        if tells.latency {
            batch.latency.push(numbers.latency);
        }
        if tells.connect {
            batch.connect.push(numbers.connect);
        }
        if tells.url && !request.is_transaction {
            self.out.endpoints.add(request.url);
        }
        if is_cut {
            self.out.cut.push(row);
        }
        if !request.success {
            let code = self.out.messages.code(message(request));
            self.out.failures.push((row, code));
        }
        if self.starts.len() == TOGETHER {
            self.work_on_times();
        }
    }

    /// Works on the times of the last requests.
    fn work_on_times(&mut self) {
        let Some(span) = span_of(&self.starts) else { return };
        let first = self.out.batch.t_ms.len();
        self.columns.follow((&self.starts, &span), self.clock, self.layout.resolution, self.out);
        let injector = &mut self.out.batch.injector;
        if self.columns.injectors.push_nameless(self.starts.len(), injector) {
            self.out.cut.extend((first..self.out.batch.t_ms.len()).map(|row| row as u32));
        }
        let times = Times {
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

    /// Fills the columns that the format does not tell.
    fn fill(&mut self) {
        let (batch, tells) = (&mut self.out.batch, &self.tells);
        let rows = batch.elapsed.len();
        if !tells.label {
            batch.label.push_nulls(rows);
        }
        if !tells.response_code {
            batch.response_code.push_nulls(rows);
        }
        if !tells.bytes {
            batch.bytes.push_run(None, rows);
        }
        if !tells.sent_bytes {
            batch.sent_bytes.push_run(None, rows);
        }
        if !tells.threads {
            batch.all_threads.push_run(None, rows);
        }
        if !tells.latency {
            batch.latency.push_run(None, rows);
        }
        if !tells.connect {
            batch.connect.push_run(None, rows);
        }
        batch.idle_time.push_run(None, rows);
    }

    /// Rejects a request.
    #[cold]
    fn refuse(&mut self, (reason, number): Refused, place: Place) {
        let value = number.map(|number| number.to_string());
        self.out.rejects.push((place.line, place.at), place.length, reason, value);
    }

    /// Takes a reject of the converter.
    #[cold]
    fn reject(&mut self, told: &[u8], place: Place) {
        if let Some(told) = Told::read(told) {
            let value = told.value.map(|value| clean_text(&value).chars().take(SHOWN).collect());
            self.out.rejects.push((place.line, place.at), place.length, told.wrong.reason(), value);
        }
    }
}

/// The number of characters of an offending value that are told.
pub(crate) const SHOWN: usize = 60;

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

/// Returns the message of a failure, cut to the bytes that the kept characters can take.
fn message<'a>(request: &Request<'a>) -> &'a [u8] {
    let message = match request.failure_message {
        b"" if request.is_transaction => TRANSACTION,
        message => message,
    };
    message.get(..MESSAGE_BYTES).unwrap_or(message)
}
