//! Encodes and decodes the rows of the counts by second.

use hashbrown::HashMap;

use crate::counts::pack::unpack_sums;
use crate::counts::table::CellTableBuilder;
use crate::counts::{Cell, CellKey, InjectorLoad, Spread};
use crate::error::{Error, Result};
use crate::store::held::SampleTotals;

use super::decode::{RowFields, whole};
use super::encode::RowEncoder;
use super::pages::{as_page, each_cell};
use super::tally::Tally;
use crate::store::postgres::schema::version::RowsOf;

/// The columns after the one that identifies the run, in the order in which rows are encoded.
pub(crate) const COLUMNS: &str = "second, label, success, transaction, samples, elapsed, counts, latency_n, \
     latency_sum, latency_min, latency_max, connect_sum, bytes_sum, sent_bytes_sum, before_boundary, \
     injectors, injector_samples, injector_threads, packed";

/// The number of columns, with the one that identifies the run.
const FIELDS: i16 = 20;

/// The columns that are read back. Without arrays, the server sends them several times as fast.
pub(crate) const PACKED: &str = "second, label, success, transaction, samples, packed";

/// The names that cells refer to by index.
#[derive(Clone, Copy)]
pub(crate) struct CellNames<'a> {
    pub(crate) labels: &'a [String],
    pub(crate) injectors: &'a [String],
}

/// Encodes one cell of a run, with the page that ends with it.
pub(crate) fn put(
    rows: &mut RowEncoder,
    run: &RowsOf,
    names: CellNames<'_>,
    (key, cell, page): (CellKey, &Cell, &[u8]),
) -> Result<()> {
    rows.row(FIELDS);
    run.put(rows);
    rows.i32(whole(key.second)?);
    rows.any_text(named(names.labels, key.label)?);
    rows.bool(key.success);
    rows.bool(key.transaction);
    rows.i64(whole(cell.samples())?);
    put_elapsed(rows, &cell.elapsed)?;
    put_latency(rows, &cell.latency)?;
    rows.i64(cell.connect);
    rows.i64(cell.bytes);
    rows.i64(cell.sent_bytes);
    rows.i64(whole(cell.before_boundary)?);
    put_injectors(rows, names.injectors, &cell.injectors)?;
    rows.bytes(page);
    Ok(())
}

fn put_elapsed(rows: &mut RowEncoder, elapsed: &[(i32, u64)]) -> Result<()> {
    let counts = elapsed.iter().map(|(_, count)| whole(*count)).collect::<Result<Vec<i32>>>()?;
    rows.i32_array(elapsed.iter().map(|(elapsed, _)| *elapsed));
    rows.i32_array(counts.into_iter());
    Ok(())
}

fn put_latency(rows: &mut RowEncoder, latency: &Spread) -> Result<()> {
    let some = latency.n > 0;
    rows.i64(whole(latency.n)?);
    rows.i64(latency.sum);
    rows.maybe(some.then_some(latency.min), RowEncoder::i32);
    rows.maybe(some.then_some(latency.max), RowEncoder::i32);
    Ok(())
}

fn put_injectors(rows: &mut RowEncoder, names: &[String], loads: &[InjectorLoad]) -> Result<()> {
    let found = loads.iter().map(|load| named(names, load.injector)).collect::<Result<Vec<&str>>>()?;
    let samples = loads.iter().map(|load| whole(load.samples)).collect::<Result<Vec<i64>>>()?;
    rows.text_array(found.into_iter());
    rows.i64_array(samples.into_iter());
    rows.i64_array(loads.iter().map(|load| load.threads));
    Ok(())
}

fn named(names: &[String], index: u32) -> Result<&str> {
    names.get(index as usize).map(String::as_str).ok_or_else(|| {
        Error::store("storing the counts by second", format!("name {index} is not in its list"))
    })
}

/// Decodes cells and converts labels to indexes.
pub(crate) struct CellReader<'a> {
    labels: HashMap<&'a str, u32>,
    injectors: usize,
}

impl<'a> CellReader<'a> {
    /// Creates a reader for a run with these names.
    pub(crate) fn new(names: CellNames<'a>) -> Self {
        let labels = names.labels.iter().map(String::as_str).zip(0..).collect();
        Self { labels, injectors: names.injectors.len() }
    }

    /// Decodes a row of the columns [`PACKED`], and adds its cell, or the cells of its page, which are tallied.
    pub(crate) fn get(
        &self,
        fields: &mut RowFields<'_>,
        cells: &mut CellTableBuilder,
        counted: &mut SampleTotals,
        tally: &mut Tally,
    ) -> Result<()> {
        let key = CellKey {
            second: whole(fields.i32()?)?,
            label: self.label(fields.text()?)?,
            success: fields.bool()?,
            transaction: fields.bool()?,
        };
        let samples: u64 = whole(fields.i64()?)?;
        let packed = fields.bytes()?;
        let mut add = |key, packed: &[u8]| {
            let samples = self.add(key, packed, cells)?;
            samples.iter().for_each(|samples| counted.add(key.success, key.transaction, *samples));
            Ok(samples)
        };
        let read = match as_page(packed) {
            Some(page) => {
                each_cell(page, |key, packed| Ok(add(key, packed)?.map(|samples| tally.add(key, samples))))?
            }
            None => add(key, packed)?.filter(|found| *found == samples).map(drop),
        };
        read.ok_or_else(|| damaged(format!("the counts of second {} are damaged", key.second)))
    }

    /// Adds a packed cell. Returns the number of its samples; `None` if it is damaged.
    fn add(&self, key: CellKey, packed: &[u8], cells: &mut CellTableBuilder) -> Result<Option<u64>> {
        if key.label as usize >= self.labels.len() {
            return Ok(None);
        }
        let listed = |load: &InjectorLoad| (load.injector as usize) < self.injectors;
        let sums = |packed: &[u8]| unpack_sums(packed).filter(|cell| cell.injectors.iter().all(listed));
        cells.push(key, packed, sums)
    }

    fn label(&self, name: &str) -> Result<u32> {
        let missing = || damaged(format!("the run's row does not list the label {name:?}"));
        self.labels.get(name).copied().ok_or_else(missing)
    }
}

fn damaged(problem: String) -> Error {
    Error::store("reading the counts by second", format!("{problem} (ingest the run again)"))
}
