//! Parses rows of a log into samples, a column at a time.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::layout::Layout;
use super::parsed::{Clock, Parsed};
use super::records::fields::{RecordRow, RecordRows};
use super::records::numbers::NumberReader;
use crate::clock_steps::span_of;
use crate::date::DateParser;
use crate::endpoint::{PATH_ENDS, UrlRest};
use crate::injector::{InjectorName, Injectors};
use crate::number::{parse_bool, parse_whole_decimal, plain_bool};
use crate::tools::fields::SAMPLE_COUNT;
use perfpipe_model::run::options::time_unit::TimeUnit;
use perfpipe_model::sample::batch::{Nullable, SampleBatch, fill};
use perfpipe_model::sample::resolution::Resolution;
use perfpipe_model::sample::shorten::{LABEL_BYTES, MESSAGE_LIMIT, TEXT_BYTES, may_be_cut, shortened};
use perfpipe_model::sample::texts::{Texts, Turns};
use perfpipe_model::series::cpu::{CpuJoin, TimeSeries};

/// The beginning of the responseMessage that JMeter's transaction controllers write.
const TRANSACTION: &[u8] = b"Number of samples in transaction : ";

/// No real response has 1 TiB. The limit is a power of two, and small enough that the sizes in a block can't overflow.
pub const MOST_BYTES: u64 = 1 << 40;

/// The maximum length of the part of a message that is kept, in bytes: a character has at most four.
pub const MESSAGE_BYTES: usize = 4 * MESSAGE_LIMIT;

/// The reason to reject a record, without its details.
#[derive(Debug, Clone, Copy)]
pub enum InvalidRow {
    /// The number of fields differs from the number of columns, or a quote is not closed.
    Shape,
    /// The time is too far from the first record's timeStamp (epoch ms).
    Span(i64),
    /// The field in this column (name and index) is invalid.
    Field(&'static str, usize),
    /// The record represents several samples: their number.
    Several(i64),
    /// The time is none of those that were requested.
    Outside,
}

/// The times of samples.
#[derive(Clone, Copy)]
pub struct SampleTimes<'a> {
    /// The start of each, epoch ms.
    pub starts: &'a [i64],
    /// The earliest and the latest of them.
    pub span: &'a RangeInclusive<i64>,
}

/// A column that a log may lack, and its name.
#[derive(Clone, Copy)]
struct OptionalColumn {
    index: Option<usize>,
    name: &'static str,
}

impl OptionalColumn {
    fn new(index: Option<usize>, name: &'static str) -> Self {
        Self { index, name }
    }
}

/// Parses the columns of rows. Each parser has its own.
#[derive(Clone)]
pub struct ColumnParser {
    /// Parses times that are dates.
    pub dates: DateParser,
    /// The unit of numeric timeStamps.
    pub unit: TimeUnit,
    /// The times of the requested records, epoch ms.
    pub only: RangeInclusive<i64>,
    /// Finds the injector's name in threadName.
    pub injectors: Injectors,
    cpu: Arc<TimeSeries>,
    join: CpuJoin,
    /// The last epoch second that was looked up, with its reading.
    last_cpu: (i64, Option<f64>),
    /// The times of the most recent rows, epoch ms.
    pub(super) times: Vec<i64>,
    /// A buffer for numbers that are converted in parallel.
    room: NumberReader,
}

impl ColumnParser {
    /// Joins the given CPU readings to the samples.
    pub(super) fn new(dates: DateParser, injectors: Injectors, cpu: Arc<TimeSeries>, join: CpuJoin) -> Self {
        // No log reaches the smallest second, so the first sample is always looked up.
        Self {
            dates,
            unit: TimeUnit::default(),
            only: i64::MIN..=i64::MAX,
            injectors,
            cpu,
            join,
            last_cpu: (i64::MIN, None),
            times: Vec::new(),
            room: NumberReader::default(),
        }
    }

    /// Appends rows as samples. Returns the smallest and the largest of their times, epoch ms. If a row is invalid, appends
    /// none and returns the reason.
    pub fn append_rows(
        &mut self,
        rows: RecordRows<'_>,
        layout: &Layout,
        clock: &Clock,
        out: &mut Parsed,
    ) -> Result<RangeInclusive<i64>, InvalidRow> {
        let before = out.batch.len();
        let mut times = std::mem::take(&mut self.times);
        let appended = times_of(rows, layout, self.unit, &mut self.dates, &mut self.room, &mut times)
            .and_then(|span| numbers(rows, layout, &mut self.room, &mut out.batch).map(|()| span))
            .and_then(|span| self.within_requested(span))
            .and_then(|span| within_span(span, clock));
        match &appended {
            Ok(span) => self.append_rest(rows, layout, clock, SampleTimes { starts: &times, span }, out),
            Err(_) => forget_numbers(&mut out.batch, before),
        }
        self.times = times;
        appended
    }

    /// Fails if a time of this span is outside those that were requested.
    fn within_requested(&self, span: RangeInclusive<i64>) -> Result<RangeInclusive<i64>, InvalidRow> {
        let is_requested = self.only.contains(span.start()) && self.only.contains(span.end());
        if is_requested { Ok(span) } else { Err(InvalidRow::Outside) }
    }

    /// Appends the columns that can't be invalid.
    fn append_rest(
        &mut self,
        rows: RecordRows<'_>,
        layout: &Layout,
        clock: &Clock,
        times: SampleTimes<'_>,
        out: &mut Parsed,
    ) {
        let columns = &layout.columns;
        let first = out.batch.len();
        let cut = &mut out.cut;
        texts(&mut out.batch.label, rows, columns.label, LABEL_BYTES, |row| cut.push((first + row) as u32));
        let response_code = &mut out.batch.response_code;
        texts(response_code, rows, columns.response_code, TEXT_BYTES, |row| cut.push((first + row) as u32));
        self.injectors(rows, layout, out);
        endpoints(rows, layout, out);
        self.append_derived(times, clock, layout.resolution, out);
        let verdicts = out.batch.success.get(first..).unwrap_or_default();
        if verdicts.iter().fold(true, |all, success| all & success) {
            return;
        }
        let mut turns = Turns::default();
        for (number, (row, _)) in rows.iter().zip(verdicts).enumerate().filter(|(_, (_, success))| !**success)
        {
            let code = turns.code(&mut out.messages, failure_message(row, layout));
            out.failures.push(((first + number) as u32, code));
        }
    }

    /// Appends the injectors.
    fn injectors(&mut self, rows: RecordRows<'_>, layout: &Layout, out: &mut Parsed) {
        let columns = &layout.columns;
        let (first, column) = (out.batch.len(), &mut out.batch.injector);
        let mut cut = |row: usize| out.cut.push((first + row) as u32);
        if let Some((code, is_cut)) = self.injector(rows, layout, column) {
            let host = columns.hostname.zip(rows.iter().next());
            out.has_hostname |= host.is_some_and(|(host, first)| !first.field(host).is_empty());
            column.push_run(code, rows.count());
            return (0..rows.count()).filter(|_| is_cut).for_each(cut);
        }
        for (number, row) in rows.iter().enumerate() {
            let host = Some(row.field_of(columns.hostname)).filter(|host| !host.is_empty());
            out.has_hostname |= host.is_some();
            if self.injectors.push(host, row.field_of(columns.thread_name), column) {
                cut(number);
            }
        }
    }

    /// The name of the one injector of all rows; `None` if there may be several.
    fn injector(
        &mut self,
        rows: RecordRows<'_>,
        layout: &Layout,
        column: &mut Texts,
    ) -> Option<InjectorName> {
        let (hostname, first) = (layout.columns.hostname, rows.iter().next()?);
        if let Some(host) = hostname
            && let host = rows.shared_field(host)?
            && !host.is_empty()
        {
            return Some(self.injectors.of_host(host, column));
        }
        // The threads of one injector share a prefix.
        let thread = layout.columns.thread_name?;
        let (name, length) = self.injectors.of_thread_prefix(first.field(thread), column)?;
        rows.share_prefix(thread, length).then_some(name)
    }

    /// Appends what is derived from the times (epoch ms) of samples whose other columns are appended already, and from
    /// their span.
    pub fn append_derived(
        &mut self,
        SampleTimes { starts: times, span }: SampleTimes<'_>,
        clock: &Clock,
        resolution: Resolution,
        out: &mut Parsed,
    ) {
        let Some(first_ms) = times.first() else { return };
        let (earliest, latest) = (*span.start(), *span.end());
        out.first_ms = out.first_ms.or(Some(*first_ms));
        out.earliest_ms = Some(out.earliest_ms.map_or(earliest, |known| known.min(earliest)));
        out.latest_ms = out.latest_ms.max(Some(latest));
        let first = out.batch.len();
        match [earliest, latest].iter().all(|end| end.checked_sub(clock.origin).is_some()) {
            true => out.batch.t_ms.extend(times.iter().map(|ms| ms.wrapping_sub(clock.origin))),
            false => out.batch.t_ms.extend(times.iter().map(|ms| ms.saturating_sub(clock.origin))),
        }
        self.join_cpu(times, span, &mut out.batch.cpu);
        let elapsed = out.batch.elapsed.get(first..).unwrap_or_default();
        let transactions = out.batch.transaction.get(first..).unwrap_or_default();
        out.ends.add(times, elapsed, resolution, transactions);
    }

    /// Appends the CPU reading of each sample, of which all are within `span`.
    fn join_cpu(&mut self, times: &[i64], span: &RangeInclusive<i64>, into: &mut Nullable<f64>) {
        let second = |ms: &i64| ms.div_euclid(1000);
        if second(span.start()) == second(span.end()) {
            return into.push_run(self.cpu_at(second(span.start())), times.len());
        }
        for times in times.chunk_by(|a, b| second(a) == second(b)) {
            into.push_run(self.cpu_at(times.first().map(second).unwrap_or_default()), times.len());
        }
    }

    /// The CPU reading of an epoch second.
    fn cpu_at(&mut self, epoch_second: i64) -> Option<f64> {
        if self.last_cpu.0 != epoch_second {
            self.last_cpu = (epoch_second, self.cpu.at(epoch_second, self.join));
        }
        self.last_cpu.1
    }
}

/// Returns true if all rows are valid samples, at any time.
pub fn are_samples(rows: RecordRows<'_>, layout: &Layout, dates: &mut DateParser) -> bool {
    let (mut room, mut times, mut batch) = (NumberReader::default(), Vec::new(), SampleBatch::default());
    times_of(rows, layout, TimeUnit::default(), dates, &mut room, &mut times)
        .and_then(|_| numbers(rows, layout, &mut room, &mut batch))
        .is_ok()
}

/// Parses the timeStamps of the rows, in epoch ms. They replace the content of `times`. Returns the smallest and the largest.
fn times_of(
    rows: RecordRows<'_>,
    layout: &Layout,
    unit: TimeUnit,
    dates: &mut DateParser,
    room: &mut NumberReader,
    times: &mut Vec<i64>,
) -> Result<RangeInclusive<i64>, InvalidRow> {
    let time = layout.columns.time_stamp;
    if unit == TimeUnit::Milliseconds
        && let Some(span) = room.read_long(rows, time, times)
    {
        return Ok(span);
    }
    let read = |row: RecordRow<'_>| match row.number(time) {
        Some(number) => unit.to_ms(number),
        None => dates.parse(row.field(time)).or_else(|| unit.to_ms(parse_whole_decimal(row.field(time))?)),
    };
    times.clear();
    let filled = fill(times, rows.iter().map(read));
    filled.and_then(|()| span_of(times)).ok_or(InvalidRow::Field("timeStamp", time))
}

/// Parses all numbers of the rows, except their times.
fn numbers(
    rows: RecordRows<'_>,
    layout: &Layout,
    room: &mut NumberReader,
    batch: &mut SampleBatch,
) -> Result<(), InvalidRow> {
    let columns = &layout.columns;
    let bad = |name: &'static str, column| move || InvalidRow::Field(name, column);
    for (name, other) in &columns.other_numbers {
        let greatest = match room.read(rows, *other) {
            Some((_, Some(same))) => Some(same as i64),
            Some((each, None)) => each.iter().max().map(|most| *most as i64),
            None => rows.iter().try_fold(0, |most: i64, row| match fitting(row, *other) {
                None if !row.field(*other).is_empty() => None,
                number => Some(most.max(number.unwrap_or_default())),
            }),
        };
        let greatest = greatest.ok_or_else(bad(name, *other))?;
        if *name == SAMPLE_COUNT && greatest > 1 {
            return Err(InvalidRow::Several(greatest));
        }
    }
    match room.read(rows, columns.elapsed) {
        Some((each, _)) => fill(&mut batch.elapsed, each.iter().map(fitted)),
        None => {
            fill(&mut batch.elapsed, rows.iter().map(|row| fitting(row, columns.elapsed).filter(is_time)))
        }
    }
    .ok_or_else(bad("elapsed", columns.elapsed))?;
    verdicts(rows, columns.success, &mut batch.success).ok_or_else(bad("success", columns.success))?;
    size(rows, OptionalColumn::new(columns.bytes, "bytes"), room, &mut batch.bytes)?;
    size(rows, OptionalColumn::new(columns.sent_bytes, "sentBytes"), room, &mut batch.sent_bytes)?;
    whole(rows, OptionalColumn::new(columns.all_threads, "allThreads"), room, &mut batch.all_threads)?;
    whole_time(rows, OptionalColumn::new(columns.latency, "Latency"), room, &mut batch.latency)?;
    // JMeter computes it as a difference of rounded times, which may be -1.
    whole(rows, OptionalColumn::new(columns.idle_time, "IdleTime"), room, &mut batch.idle_time)?;
    whole_time(rows, OptionalColumn::new(columns.connect, "Connect"), room, &mut batch.connect)
}

/// Returns true if a time is not below 0, as a clock that steps back makes it.
fn is_time(time: &i32) -> bool {
    *time >= 0
}

/// Appends the column of successes. `None` if a field is no boolean.
fn verdicts(rows: RecordRows<'_>, column: usize, into: &mut Vec<bool>) -> Option<()> {
    if let Some(verdict) = rows.shared_field(column) {
        into.resize(into.len() + rows.count(), parse_bool(verdict)?);
        return Some(());
    }
    if fill(into, rows.fields(column).map(plain_bool)).is_some() {
        return Some(());
    }
    fill(into, rows.fields(column).map(parse_bool))
}

/// Appends a column of sizes, which must be below [`MOST_BYTES`].
fn size(
    rows: RecordRows<'_>,
    column: OptionalColumn,
    room: &mut NumberReader,
    into: &mut Nullable<i64>,
) -> Result<(), InvalidRow> {
    let before = into.values().len();
    whole(rows, column, room, into)?;
    let sizes = into.values().get(before..).unwrap_or_default();
    let bits = sizes.iter().fold(0, |bits, size| bits | size.unsigned_abs());
    match column.index.filter(|_| bits >= MOST_BYTES) {
        Some(index) => Err(InvalidRow::Field(column.name, index)),
        None => Ok(()),
    }
}

/// Appends a column of times, which must not be below 0.
fn whole_time(
    rows: RecordRows<'_>,
    column: OptionalColumn,
    room: &mut NumberReader,
    into: &mut Nullable<i32>,
) -> Result<(), InvalidRow> {
    let before = into.values().len();
    whole(rows, column, room, into)?;
    let times = into.values().get(before..).unwrap_or_default();
    match column.index.filter(|_| times.iter().fold(0, |bits, time| bits | time) < 0) {
        Some(index) => Err(InvalidRow::Field(column.name, index)),
        None => Ok(()),
    }
}

/// Appends a column of numbers. They may be absent or empty, but not invalid.
fn whole<T: Copy + Default + TryFrom<i64>>(
    rows: RecordRows<'_>,
    column: OptionalColumn,
    room: &mut NumberReader,
    into: &mut Nullable<T>,
) -> Result<(), InvalidRow> {
    let OptionalColumn { index: Some(column), name } = column else {
        into.push_run(None, rows.count());
        return Ok(());
    };
    let filled = match room.read(rows, column) {
        // Requests, and often responses, have the same size throughout a test.
        Some((_, Some(same))) => {
            into.push_run(fitted(&same), rows.count());
            Some(())
        }
        Some((each, None)) => into.fill(each.iter().map(fitted)),
        None => into.fill(rows.iter().map(|row| fitting(row, column))),
    };
    match filled {
        Some(()) => Ok(()),
        None => some_absent(rows, column, name, into),
    }
}

/// Appends a column in which at least one number is absent or invalid.
#[cold]
fn some_absent<T: Copy + Default + TryFrom<i64>>(
    rows: RecordRows<'_>,
    column: usize,
    name: &'static str,
    into: &mut Nullable<T>,
) -> Result<(), InvalidRow> {
    for row in rows.iter() {
        match fitting(row, column) {
            None if !row.field(column).is_empty() => return Err(InvalidRow::Field(name, column)),
            number => into.push(number),
        }
    }
    Ok(())
}

/// The whole number in a field, if it fits the type.
#[inline(always)]
fn fitting<T: TryFrom<i64>>(row: RecordRow<'_>, column: usize) -> Option<T> {
    let number = row.number(column).or_else(|| parse_whole_decimal(row.field(column)));
    number.and_then(|number| T::try_from(number).ok())
}

/// A number of up to 8 digits, which fits any type of a column.
#[inline(always)]
fn fitted<T: TryFrom<i64>>(number: &u64) -> Option<T> {
    T::try_from(*number as i64).ok()
}

/// Fails if one of the times is too far from the run's first.
fn within_span(span: RangeInclusive<i64>, clock: &Clock) -> Result<RangeInclusive<i64>, InvalidRow> {
    let is_far = |head: i64| span.start().abs_diff(head).max(span.end().abs_diff(head)) > clock.max_span_ms;
    match clock.head {
        Some(head) if is_far(head) => Err(InvalidRow::Span(head)),
        _ => Ok(span),
    }
}

/// Removes the numbers of the rows from `from` on.
fn forget_numbers(batch: &mut SampleBatch, from: usize) {
    // No `..`: a column that kept them would have other rows than the rest. Those with `_` are appended after the numbers.
    let SampleBatch {
        resolution: _,
        t_ms: _,
        label: _,
        elapsed,
        response_code: _,
        success,
        bytes,
        sent_bytes,
        all_threads,
        latency,
        idle_time,
        connect,
        cpu: _,
        injector: _,
        transaction: _,
    } = batch;
    elapsed.truncate(from);
    success.truncate(from);
    bytes.truncate(from);
    sent_bytes.truncate(from);
    all_threads.truncate(from);
    latency.truncate(from);
    idle_time.truncate(from);
    connect.truncate(from);
}

/// Appends a column of texts, absent if the log has no such column. Calls `cut` with the row of each text that exceeded
/// `limit`, in bytes, and was shortened.
fn texts(
    into: &mut Texts,
    rows: RecordRows<'_>,
    column: Option<usize>,
    limit: usize,
    mut cut: impl FnMut(usize),
) {
    let Some(column) = column else { return into.push_nulls(rows.count()) };
    if let Some(text) = rows.shared_field(column).filter(|text| shortened(text, limit).is_none()) {
        let code = into.code(text);
        return into.push_run(code, rows.count());
    }
    if rows.fields(column).all(|text| !may_be_cut(text, limit)) {
        return into.extend(rows.beginnings(column));
    }
    for (number, text) in rows.fields(column).enumerate() {
        match shortened(text, limit) {
            None => into.push(text),
            Some(short) => {
                into.push(short.as_bytes());
                cut(number);
            }
        }
    }
}

/// Appends which rows are those of transaction controllers, and adds the URLs of the others.
fn endpoints(rows: RecordRows<'_>, layout: &Layout, out: &mut Parsed) {
    let (columns, transactions) = (&layout.columns, &mut out.batch.transaction);
    let first = transactions.len();
    match columns.data_type.and_then(|column| rows.shared_field(column)) {
        Some(same) if !same.is_empty() => transactions.resize(first + rows.count(), false),
        _ => {
            transactions.extend(rows.iter().map(|row| is_transaction(row, layout)));
            out.may_be_transactions |= may_be_transactions(rows, layout);
        }
    }
    let Some(url) = columns.url else { return };
    let add_nothing = |(begin, follows): (&[u8], UrlRest)| match follows {
        UrlRest::Anything => rows.begin_with(url, begin),
        UrlRest::Query => rows.begin_before(url, begin, PATH_ENDS),
    };
    if out.endpoints.known().is_some_and(add_nothing) {
        return;
    }
    let transactions = transactions.get(first..).unwrap_or_default();
    match rows.shared_field(url) {
        Some(same) if transactions.contains(&false) => out.endpoints.add(same),
        Some(_) => {}
        None => {
            let requests = rows.iter().zip(transactions).filter(|(_, transaction)| !**transaction);
            requests.for_each(|(row, _)| out.endpoints.add(row.field(url)));
        }
    }
}

/// Returns true for a transaction controller's own record: empty dataType, URL `null`, and its message.
#[inline]
fn is_transaction(row: RecordRow<'_>, layout: &Layout) -> bool {
    let columns = &layout.columns;
    columns.data_type.is_none_or(|i| row.field(i).is_empty())
        && columns.response_message.is_some_and(|i| row.field(i).starts_with(TRANSACTION))
        && columns.url.is_none_or(|i| matches!(row.field(i), b"null" | b""))
}

/// Returns true if some records look like those of transaction controllers, whose messages the log does not have.
fn may_be_transactions(rows: RecordRows<'_>, layout: &Layout) -> bool {
    let columns = &layout.columns;
    let (None, Some(kind), Some(url)) = (columns.response_message, columns.data_type, columns.url) else {
        return false;
    };
    rows.iter().any(|row| row.field(kind).is_empty() && row.field(url) == b"null")
}

/// The failureMessage, otherwise the responseMessage, cut to the bytes that the kept characters can occupy.
fn failure_message<'a>(row: RecordRow<'a>, layout: &Layout) -> &'a [u8] {
    let columns = &layout.columns;
    let text = |column: Option<usize>| column.map(|i| row.field(i)).filter(|text| !text.is_empty());
    let message =
        text(columns.failure_message).or_else(|| text(columns.response_message)).unwrap_or_default();
    message.get(..MESSAGE_BYTES).unwrap_or(message)
}
