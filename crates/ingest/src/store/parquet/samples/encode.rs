//! Encodes batches as pages of the columns.

use std::borrow::Cow;

use parquet::errors::ParquetError;

use super::super::pages::{
    CodedRows, ColumnPart, DistinctValues, Levels, PageCompression, ValueCodes, WholeNumber, doubles, flags,
    numbers,
};
use super::{Times, failed};
use crate::error::{Error, Result};
use crate::pipeline::sink::BatchEncoder;
use crate::sample::batch::{Nullable, SampleBatch, any};
use crate::sample::resolution::Resolution;
use crate::sample::texts::Texts;
use crate::store::held::SampleTotals;

/// The rows of a batch, encoded.
pub struct SampleColumns {
    /// What the batch adds to each column, in the order of the schema.
    pub(super) parts: Vec<ColumnPart>,
    pub(super) times: Times,
    pub(super) rows: usize,
    counted: SampleTotals,
    /// The smallest and the largest `t_ms`.
    pub(super) span: (i32, i32),
    /// The size in bytes of their distinct texts.
    pub(super) texts: usize,
    /// The maximum size in bytes of the texts of one row.
    pub(super) longest: usize,
}

impl SampleColumns {
    /// The numbers of rows by kind.
    pub(in super::super) fn counted(&self) -> SampleTotals {
        self.counted
    }
}

/// Encodes batches for the file.
pub struct SampleEncoder {
    kept: bool,
    /// True if the samples of runs with other units are in the same table.
    shared: bool,
    /// True if times finer than a ms are written in ms with decimals.
    in_ms: bool,
}

impl SampleEncoder {
    /// Creates an encoder. If samples are not kept, it returns no columns. `shared` is true if the samples of runs with
    /// other units are in the same table.
    pub(in super::super) fn new(kept: bool, shared: bool) -> Self {
        Self { kept, shared, in_ms: false }
    }

    /// Creates an encoder for other programs: times are in ms, with decimals if need be.
    pub(super) fn in_ms() -> Self {
        Self { kept: true, shared: false, in_ms: true }
    }
}

impl BatchEncoder for SampleEncoder {
    type Chunk = SampleColumns;

    fn encode(&mut self, batch: &SampleBatch) -> Result<Option<SampleColumns>> {
        if !self.kept || batch.is_empty() {
            return Ok(None);
        }
        let times = match Times::stored(batch.resolution) {
            Times::Fine if self.in_ms => Times::Decimal,
            _ if self.shared => Times::Shared,
            times => times,
        };
        let t_ms = starts(&batch.t_ms)?;
        let span =
            t_ms.iter().fold((i32::MAX, i32::MIN), |(least, most), ms| (least.min(*ms), most.max(*ms)));
        let parts = parts(batch, &t_ms, times).map_err(failed)?;
        let (texts, longest) = (batch.text_bytes(), longest(batch));
        let counted = SampleTotals::of_batch(batch);
        Ok(Some(SampleColumns { parts, times, rows: batch.len(), counted, span, texts, longest }))
    }
}

/// Returns the starts of requests as they are written.
fn starts(t_ms: &[i64]) -> Result<Vec<i32>> {
    // No early exit, so that the loop has one path.
    let bits = t_ms.iter().fold(0, |bits, ms| bits | *ms);
    if i32::try_from(bits).is_ok_and(|bits| bits >= 0) {
        return Ok(t_ms.iter().map(|ms| *ms as i32).collect());
    }
    let narrow = t_ms.iter().map(|ms| i32::try_from(*ms)).collect::<Result<Vec<i32>, _>>();
    narrow.map_err(|error| Error::store("writing samples", error))
}

/// Returns an upper bound of the size in bytes of the texts of one row.
fn longest(batch: &SampleBatch) -> usize {
    let longest = |texts: &Texts| texts.values().iter().map(str::len).max().unwrap_or_default();
    longest(&batch.label) + longest(&batch.response_code) + longest(&batch.injector)
}

/// Returns what a batch adds to each column, in the order of the schema.
fn parts(batch: &SampleBatch, t_ms: &[i32], times: Times) -> Result<Vec<ColumnPart>, ParquetError> {
    let rows = batch.len();
    let time = |values: &[i32], levels| time(values, levels, batch.resolution, times);
    let (latency, latency_levels) = present(&batch.latency);
    let (connect, connect_levels) = present(&batch.connect);
    let mut parts = vec![
        numbers(t_ms, Levels::required(rows), PageCompression::Tried)?,
        texts(&batch.label),
        time(&batch.elapsed, Levels::required(rows))?,
        texts(&batch.response_code),
        flags(&batch.success)?,
        nullable(&batch.bytes)?,
        nullable(&batch.sent_bytes)?,
        nullable(&batch.all_threads)?,
        time(&latency, latency_levels)?,
        nullable(&batch.idle_time)?,
        time(&connect, connect_levels)?,
        cpu(&batch.cpu)?,
        texts(&batch.injector),
        flags(&batch.transaction)?,
    ];
    if times == Times::Shared {
        parts.push(unit(batch.resolution, rows)?);
    }
    Ok(parts)
}

/// Returns the values that are present, and which rows have them.
fn present<T: Copy + Default>(column: &Nullable<T>) -> (Cow<'_, [T]>, Levels) {
    let values = column.values();
    match column.valid() {
        None => (Cow::Borrowed(values), Levels::same(true, values.len())),
        Some(valid) if !any(valid) => (Cow::Borrowed(&[]), Levels::same(false, values.len())),
        Some(valid) => (Cow::Owned(only(values, valid)), Levels::some(valid)),
    }
}

/// Returns the values whose rows are valid.
fn only<T: Copy>(values: &[T], valid: &[bool]) -> Vec<T> {
    values.iter().zip(valid).filter(|(_, valid)| **valid).map(|(value, _)| *value).collect()
}

fn nullable<T: WholeNumber>(column: &Nullable<T>) -> Result<ColumnPart, ParquetError> {
    let (values, levels) = present(column);
    numbers(&values, levels, PageCompression::Tried)
}

/// Returns times of requests in a unit as they are written.
fn time(values: &[i32], levels: Levels, unit: Resolution, times: Times) -> Result<ColumnPart, ParquetError> {
    match times {
        Times::Ms => numbers(values, levels, PageCompression::Tried),
        Times::Fine | Times::Shared => {
            let wide: Vec<i64> = values.iter().copied().map(i64::from).collect();
            numbers(&wide, levels, PageCompression::Tried)
        }
        Times::Decimal => doubles(values.iter().map(|time| unit.ms((*time).into())), levels),
    }
}

/// Returns the column of the unit of `rows` rows.
fn unit(unit: Resolution, rows: usize) -> Result<ColumnPart, ParquetError> {
    numbers(&vec![unit.microseconds() as i32; rows], Levels::required(rows), PageCompression::Tried)
}

fn cpu(column: &Nullable<f64>) -> Result<ColumnPart, ParquetError> {
    let (values, levels) = present(column);
    doubles(values.iter().copied(), levels)
}

fn texts(column: &Texts) -> ColumnPart {
    let codes = column.codes();
    let (levels, codes) = match ValueCodes::new(codes) {
        ValueCodes::Same(Texts::NULL, rows) => (Levels::same(false, rows), ValueCodes::Each(Vec::new())),
        ValueCodes::Each(_) if codes.contains(&Texts::NULL) => {
            let valid: Vec<bool> = codes.iter().map(|code| *code != Texts::NULL).collect();
            (Levels::some(&valid), ValueCodes::new(&only(codes, &valid)))
        }
        all => (Levels::same(true, codes.len()), all),
    };
    ColumnPart::Coded(CodedRows { levels, codes, values: DistinctValues::Texts(column.values().clone()) })
}
