//! A run's samples: the columns of their table, and how a batch becomes its rows and comes back from them.

use crate::batch::{Nullable, SampleBatch, Texts};
use crate::error::{Error, Result};
use crate::store::BatchEncoder;

use super::fields::Fields;
use super::rows::{CHUNK, RowEncoder, Rows};

/// The columns, in the order in which the rows are encoded.
pub(super) const COLUMNS: &str = "t_ms, label, elapsed, response_code, success, bytes, sent_bytes, all_threads, \
     latency, idle_time, connect, cpu, injector, transaction";

/// How many they are.
const FIELDS: i16 = 14;

/// The most bytes of a row without its texts.
const FIXED_BYTES: usize = 2 + 14 * 4 + 9 * 4 + 3 * 8;

/// Encodes batches as rows of a binary COPY, handed out in chunks of about 1 MiB.
#[derive(Debug)]
pub struct SampleEncoder {
    rows: RowEncoder,
    kept: bool,
}

impl SampleEncoder {
    /// An encoder; where samples are not kept it hands out nothing.
    pub fn new(kept: bool) -> Self {
        Self { rows: RowEncoder::default(), kept }
    }
}

impl BatchEncoder for SampleEncoder {
    type Chunk = Rows;

    fn encode(&mut self, batch: &SampleBatch) -> Result<Option<Rows>> {
        if !self.kept {
            return Ok(None);
        }
        put(&mut self.rows, batch)?;
        if self.rows.len() < CHUNK { Ok(None) } else { self.rows.take().map(Some) }
    }

    fn finish(&mut self) -> Result<Option<Rows>> {
        if self.rows.len() == 0 { Ok(None) } else { self.rows.take().map(Some) }
    }
}

/// Encodes a batch.
fn put(rows: &mut RowEncoder, batch: &SampleBatch) -> Result<()> {
    rows.reserve(batch.len() * (FIXED_BYTES + 32));
    let columns = batch.t_ms.iter().zip(&batch.elapsed).zip(&batch.success).zip(&batch.transaction);
    for (row, (((t_ms, elapsed), success), transaction)) in columns.enumerate() {
        rows.row(FIELDS);
        rows.i32(offset(*t_ms)?);
        put_text(rows, &batch.label, row);
        rows.i32(*elapsed);
        put_text(rows, &batch.response_code, row);
        rows.bool(*success);
        rows.maybe(batch.bytes.get(row), RowEncoder::i64);
        rows.maybe(batch.sent_bytes.get(row), RowEncoder::i64);
        rows.maybe(batch.all_threads.get(row), RowEncoder::i32);
        rows.maybe(batch.latency.get(row), RowEncoder::i32);
        rows.maybe(batch.idle_time.get(row), RowEncoder::i32);
        rows.maybe(batch.connect.get(row), RowEncoder::i32);
        rows.maybe(batch.cpu.get(row), RowEncoder::f64);
        put_text(rows, &batch.injector, row);
        rows.bool(*transaction);
    }
    Ok(())
}

#[inline]
fn put_text(rows: &mut RowEncoder, texts: &Texts, row: usize) {
    rows.maybe(texts.get(row), RowEncoder::text);
}

fn offset(t_ms: i64) -> Result<i32> {
    i32::try_from(t_ms).map_err(|_| {
        Error::store(
            "encoding samples for Postgres",
            format!("a sample {t_ms} ms after t0 is beyond the 24 days that a run can span"),
        )
    })
}

/// Appends a row as it comes from the table to a batch.
pub(super) fn get(fields: &mut Fields<'_>, batch: &mut SampleBatch) -> Result<()> {
    batch.t_ms.push(i64::from(fields.i32()?));
    get_text(fields, &mut batch.label)?;
    batch.elapsed.push(fields.i32()?);
    get_text(fields, &mut batch.response_code)?;
    batch.success.push(fields.bool()?);
    get_number(fields.maybe_i64(), &mut batch.bytes)?;
    get_number(fields.maybe_i64(), &mut batch.sent_bytes)?;
    get_number(fields.maybe_i32(), &mut batch.all_threads)?;
    get_number(fields.maybe_i32(), &mut batch.latency)?;
    get_number(fields.maybe_i32(), &mut batch.idle_time)?;
    get_number(fields.maybe_i32(), &mut batch.connect)?;
    get_number(fields.maybe_f64(), &mut batch.cpu)?;
    get_text(fields, &mut batch.injector)?;
    batch.transaction.push(fields.bool()?);
    Ok(())
}

fn get_text(fields: &mut Fields<'_>, into: &mut Texts) -> Result<()> {
    match fields.maybe_bytes()? {
        Some(text) => into.push(text),
        None => into.push_null(),
    }
    Ok(())
}

fn get_number<T: Copy + Default>(value: Result<Option<T>>, into: &mut Nullable<T>) -> Result<()> {
    into.push(value?);
    Ok(())
}
