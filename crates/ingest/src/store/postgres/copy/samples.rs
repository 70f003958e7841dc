//! Encodes and decodes the rows of a run's samples.

use crate::error::{Error, Result};
use crate::pipeline::sink::BatchEncoder;
use crate::sample::batch::{Nullable, SampleBatch};
use crate::sample::texts::Texts;
use crate::store::held::SampleTotals;

use super::decode::RowFields;
use super::encode::{RowEncoder, Rows};

/// The columns, in the order in which rows are encoded.
pub(crate) const COLUMNS: &str = "t_ms, elapsed, latency, connect, idle_time, all_threads, bytes, sent_bytes, cpu, \
     success, transaction, label, response_code, injector";

/// The number of columns.
const FIELDS: i16 = 14;

/// The number of columns before them where samples have lines: the line and the second.
const LINE_FIELDS: i16 = 2;

/// The place of the line in a row, after the number of fields and its own length.
const LINE: usize = 2 + 4;

/// The maximum size in bytes of a row without its texts.
const FIXED_BYTES: usize = 2 + 16 * 4 + 7 * 4 + 7 * 8;

/// Encodes batches as rows of a binary COPY. Each batch is returned at once, so the table keeps the log's order.
#[derive(Debug)]
pub struct SampleEncoder {
    rows: RowEncoder,
    kept: bool,
    /// True if each row begins with room for the number of its sample, and with its second.
    lines: bool,
}

impl SampleEncoder {
    /// Creates an encoder. If samples are not kept, it returns no rows.
    pub fn new(kept: bool) -> Self {
        Self { rows: RowEncoder::default(), kept, lines: false }
    }

    /// Begins each row with room for the number of its sample, which [`numbered`] fills in, and with its second.
    pub(crate) fn with_lines(mut self, lines: bool) -> Self {
        self.lines = lines;
        self
    }
}

impl BatchEncoder for SampleEncoder {
    type Chunk = Rows;

    fn encode(&mut self, batch: &SampleBatch) -> Result<Option<Rows>> {
        if !self.kept || batch.is_empty() {
            return Ok(None);
        }
        put(&mut self.rows, batch, self.lines)?;
        let mut rows = self.rows.take()?;
        rows.wide = batch.resolution.is_fine();
        rows.counted = SampleTotals::of_batch(batch);
        Ok(Some(rows))
    }
}

/// Encodes a batch.
fn put(rows: &mut RowEncoder, batch: &SampleBatch, lines: bool) -> Result<()> {
    rows.reserve(batch.len() * (FIXED_BYTES + 32));
    let wide = batch.resolution.is_fine();
    let time = |rows: &mut RowEncoder, time: i32| if wide { rows.i64(time.into()) } else { rows.i32(time) };
    let columns = batch.t_ms.iter().zip(&batch.elapsed).zip(&batch.success).zip(&batch.transaction);
    for (row, (((t_ms, elapsed), success), transaction)) in columns.enumerate() {
        let offset = offset(*t_ms)?;
        if lines {
            rows.row(FIELDS + LINE_FIELDS);
            rows.i64(0);
            rows.i32(offset.div_euclid(1000));
        } else {
            rows.row(FIELDS);
        }
        rows.i32(offset);
        time(rows, *elapsed);
        rows.maybe(batch.latency.get(row), time);
        rows.maybe(batch.connect.get(row), time);
        rows.maybe(batch.idle_time.get(row), RowEncoder::i32);
        rows.maybe(batch.all_threads.get(row), RowEncoder::i32);
        rows.maybe(batch.bytes.get(row), RowEncoder::i64);
        rows.maybe(batch.sent_bytes.get(row), RowEncoder::i64);
        rows.maybe(batch.cpu.get(row), RowEncoder::f64);
        rows.bool(*success);
        rows.bool(*transaction);
        rows.maybe(batch.label.get(row), RowEncoder::text);
        rows.maybe(batch.response_code.get(row), RowEncoder::text);
        // A null would add a null bitmap of eight bytes to every row.
        rows.text(batch.injector.get(row).unwrap_or_default());
    }
    Ok(())
}

/// Fills in the numbers of samples, from `first` on, where rows have room for them. Only who takes all rows in the order of
/// the log knows them.
pub(crate) fn numbered(rows: Rows, first: u64) -> Rows {
    rows.patched(|number, row| {
        if let Some(place) = row.get_mut(LINE..LINE + 8) {
            place.copy_from_slice(&(first + number).to_be_bytes());
        }
    })
}

fn offset(t_ms: i64) -> Result<i32> {
    i32::try_from(t_ms).map_err(|_| {
        Error::store(
            "encoding samples for Postgres",
            format!("a sample {t_ms} ms after t0 is beyond the 24 days that a run can span"),
        )
    })
}

/// Decodes a row of the table and appends it to a batch.
pub(crate) fn get(fields: &mut RowFields<'_>, batch: &mut SampleBatch) -> Result<()> {
    batch.t_ms.push(i64::from(fields.i32()?));
    batch.elapsed.push(fields.maybe_time()?.unwrap_or_default());
    get_number(fields.maybe_time(), &mut batch.latency)?;
    get_number(fields.maybe_time(), &mut batch.connect)?;
    get_number(fields.maybe_i32(), &mut batch.idle_time)?;
    get_number(fields.maybe_i32(), &mut batch.all_threads)?;
    get_number(fields.maybe_i64(), &mut batch.bytes)?;
    get_number(fields.maybe_i64(), &mut batch.sent_bytes)?;
    get_number(fields.maybe_f64(), &mut batch.cpu)?;
    batch.success.push(fields.bool()?);
    batch.transaction.push(fields.bool()?);
    get_text(fields.maybe_bytes()?, &mut batch.label);
    get_text(fields.maybe_bytes()?, &mut batch.response_code);
    get_text(fields.maybe_bytes()?.filter(|name| !name.is_empty()), &mut batch.injector);
    Ok(())
}

fn get_text(text: Option<&[u8]>, into: &mut Texts) {
    match text {
        Some(text) => into.push(text),
        None => into.push_null(),
    }
}

fn get_number<T: Copy + Default>(value: Result<Option<T>>, into: &mut Nullable<T>) -> Result<()> {
    into.push(value?);
    Ok(())
}
