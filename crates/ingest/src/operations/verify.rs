//! Verifies a stored run: its metadata, its counts and its samples are read and compared with each other.

use futures_util::future::BoxFuture;

use super::recount::Recount;
#[cfg(feature = "parquet")]
use super::store::blocking;
use super::store::{Store, StoreKind};
use crate::pipeline::Progress;
use perfpipe_model::counts::stored_run::StoredRun;
use perfpipe_model::counts::table::CellTable;
use perfpipe_model::counts::{Cell, CellKey};
use perfpipe_model::error::{Error, Result};
use perfpipe_model::run::key::RunKey;
use perfpipe_model::sample::batch::SampleBatch;
use perfpipe_model::sample::ends::Ends;
use perfpipe_model::series::cpu::CpuJoin;
use perfpipe_store::StoreCheck;
use perfpipe_store::consistency::{self, SampleTotals, damage_message, unequal};

/// The number of attempts if the run is replaced while it is read.
const ATTEMPTS: usize = 5;

impl Store {
    /// Reads what the store itself says of its runs: in a bucket, the logs of all tables.
    ///
    /// # Errors
    /// If that can't be read for a reason other than damage.
    pub fn verify_store(&self) -> BoxFuture<'_, Result<StoreCheck>> {
        Box::pin(async move {
            match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(store) => blocking(store, |store| store.check_store()).await,
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(..) => Ok(StoreCheck::default()),
            }
        })
    }

    /// Reads everything that is stored of a run and returns its faults; none if it is intact. `progress` counts the samples
    /// that are read.
    ///
    /// # Errors
    /// If the run is not stored, or can't be read for a reason other than damage: missing rights, or a failing disk or
    /// server.
    pub fn verify<'a>(
        &'a self,
        key: &'a RunKey,
        progress: &'a Progress,
    ) -> BoxFuture<'a, Result<Vec<String>>> {
        Box::pin(async move {
            let mut attempt = 1;
            loop {
                match verify_once(self, key, progress).await {
                    Err(Error::Replaced { .. }) if attempt < ATTEMPTS => attempt += 1,
                    done => return done,
                }
            }
        })
    }
}

async fn verify_once(store: &Store, key: &RunKey, progress: &Progress) -> Result<Vec<String>> {
    let checked = match &store.0 {
        #[cfg(feature = "parquet")]
        StoreKind::Parquet(store) => {
            let key = key.clone();
            blocking(store, move |store| store.check_files(&key)).await
        }
        #[cfg(feature = "postgres")]
        StoreKind::Postgres(..) => Ok(Vec::new()),
    };
    let mut faults = match checked {
        Ok(faults) if faults.is_empty() => faults,
        Ok(faults) => return Ok(faults),
        Err(error) => return damage_message(error).map(|fault| vec![fault]),
    };
    let run = match store.read(key).await {
        Ok(run) => run,
        Err(error) => return damage_message(error).map(|fault| vec![fault]),
    };
    faults.extend(sums(&run)?);
    let mut rejects = 0;
    let read = store
        .rejects(&run.info, &mut |_| {
            rejects += 1;
            Ok(())
        })
        .await;
    match read {
        Ok(()) => faults.extend(unequal("rejects", rejects, run.info.rejects)),
        Err(error) => faults.push(damage_message(error)?),
    }
    if run.info.samples_stored {
        faults.extend(samples(store, &run, progress).await?);
    }
    Ok(faults)
}

/// Returns the contradictions between the counts of a run and its totals.
///
/// # Errors
/// If the counts can't be read.
pub(crate) fn sums(run: &StoredRun) -> Result<Vec<String>> {
    let mut faults = consistency::run_faults(run, SampleTotals::of(&run.cells)?);
    let seconds = run.info.seconds;
    let last = run.cells.between(seconds, u32::MAX).last().transpose()?;
    if let Some((last, _)) = last {
        let stated = format!("its own row says {seconds} seconds");
        faults.push(format!("it has counts of second {}, but {stated}", last.second));
    }
    Ok(faults)
}

/// Returns the contradictions between the samples of a run and its counts.
async fn samples(store: &Store, run: &StoredRun, progress: &Progress) -> Result<Vec<String>> {
    let info = &run.info;
    let join = CpuJoin::of(info);
    let (mut recount, mut found, mut unjoined) = (Recount::with_stored_labels(run), 0, 0_u64);
    let mut ends = Ends::default();
    let read = store
        .samples(info, &mut |batch| {
            found += batch.len() as u64;
            unjoined += joined_otherwise(&batch, run, join);
            ends.add_batch(&batch, info.t0_ms);
            progress.add_samples(batch.len() as u64);
            recount.add(batch)
        })
        .await;
    if let Err(error) = read {
        return damage_message(error).map(|fault| vec![fault]);
    }
    let mut faults: Vec<String> =
        unequal("samples", found, info.requests().saturating_add(info.transactions)).into_iter().collect();
    if ends != (Ends { requests: info.last_end_ms, transactions: info.transactions_end_ms }) {
        faults.push("its last end differs from that of its samples".to_owned());
    }
    if unjoined > 0 {
        faults.push(format!(
            "{unjoined} of its samples have another CPU reading than the one stored for their second"
        ));
    }
    faults.extend(
        differ(&run.cells, &recount.cells()?)?
            .map(|second| format!("its counts by second differ from its samples, from second {second} on")),
    );
    Ok(faults)
}

/// Counts the samples of a batch that are joined to another CPU reading than they should be.
fn joined_otherwise(batch: &SampleBatch, run: &StoredRun, join: CpuJoin) -> u64 {
    let reading = |t_ms: i64| run.cpu.at(run.info.t0_ms.saturating_add(t_ms).div_euclid(1000), join);
    let same = |(row, t_ms): &(usize, &i64)| {
        batch.cpu.get(*row).map(f64::to_bits) == reading(**t_ms).map(f64::to_bits)
    };
    batch.t_ms.iter().enumerate().filter(|row| !same(row)).count() as u64
}

/// A cell with the names of its label and injectors.
#[derive(Debug, PartialEq)]
struct NamedCell<'a> {
    key: (&'a str, bool, bool),
    /// The counts without the injectors.
    cell: Cell,
    /// The name, samples and threads of each injector.
    loads: Vec<(&'a str, u64, i64)>,
}

/// Returns the first second in which the cells of two tables differ by name; `None` if they are equal.
///
/// # Errors
/// If a table can't be read.
pub(crate) fn differ(one: &CellTable, other: &CellTable) -> Result<Option<u32>> {
    let (mut one, mut other) = (by_second(one), by_second(other));
    loop {
        match (one.next().transpose()?, other.next().transpose()?) {
            (None, None) => return Ok(None),
            (one, other) if one == other => {}
            (Some((one, _)), Some((other, _))) => return Ok(Some(one.min(other))),
            (Some((second, _)), None) | (None, Some((second, _))) => return Ok(Some(second)),
        }
    }
}

/// Returns the named cells of each second.
fn by_second(table: &CellTable) -> impl Iterator<Item = Result<(u32, Vec<NamedCell<'_>>)>> {
    let mut cells = table.iter().peekable();
    std::iter::from_fn(move || {
        let (first, cell) = match cells.next()? {
            Ok(first) => first,
            Err(error) => return Some(Err(error)),
        };
        let mut named = vec![NamedCell::new(table, first, cell)];
        let is_same =
            |cell: &Result<(CellKey, Cell)>| cell.as_ref().is_ok_and(|(key, _)| key.second == first.second);
        while let Some(Ok((key, cell))) = cells.next_if(is_same) {
            named.push(NamedCell::new(table, key, cell));
        }
        named.sort_by_key(|named| named.key);
        Some(Ok((first.second, named)))
    })
}

impl<'a> NamedCell<'a> {
    fn new(table: &'a CellTable, key: CellKey, mut cell: Cell) -> Self {
        let name = |names: &'a [String], index: u32| names.get(index as usize).map_or("", String::as_str);
        let loads = std::mem::take(&mut cell.injectors);
        let load = |load: perfpipe_model::counts::InjectorLoad| {
            (name(&table.injectors, load.injector), load.samples, load.threads)
        };
        let mut loads: Vec<_> = loads.into_iter().map(load).collect();
        loads.sort_unstable();
        Self { key: (name(&table.labels, key.label), key.success, key.transaction), cell, loads }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfpipe_model::counts::InjectorLoad;

    fn table(labels: [&str; 2], injectors: [&str; 3], swapped: bool, threads: i64) -> CellTable {
        let at = |index: u32| if swapped { 1 - index } else { index };
        let cell = |label: u32| {
            let load = InjectorLoad { injector: at(label) + 1, samples: 2, threads };
            let key = CellKey { second: 3, label: at(label), success: true, transaction: false };
            (key, Cell { elapsed: vec![(label as i32, 1)], injectors: vec![load], ..Cell::default() })
        };
        CellTable::new(
            labels.map(String::from).to_vec(),
            injectors.map(String::from).to_vec(),
            [cell(0), cell(1)],
        )
    }

    #[test]
    fn order_of_names_and_names_without_a_cell_make_no_difference() {
        let one = table(["a", "b"], ["", "x", "y"], false, 5);
        assert_eq!(differ(&one, &table(["b", "a"], ["unused", "y", "x"], true, 5)).unwrap(), None);
        assert_eq!(
            differ(&one, &table(["b", "a"], ["", "x", "y"], true, 5)).unwrap(),
            Some(3),
            "other injectors"
        );
        assert_eq!(
            differ(&one, &table(["a", "c"], ["", "x", "y"], false, 5)).unwrap(),
            Some(3),
            "another label"
        );
        assert_eq!(
            differ(&one, &table(["a", "b"], ["", "x", "y"], false, 6)).unwrap(),
            Some(3),
            "another load"
        );
        assert_eq!(differ(&one, &CellTable::default()).unwrap(), Some(3));
    }
}
