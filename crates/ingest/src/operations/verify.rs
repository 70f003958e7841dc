//! Verifies a stored run: its metadata, its counts and its samples are read and compared with each other.

use futures_util::future::BoxFuture;

use super::recount::Recount;
use super::same_counts::differ;
#[cfg(feature = "parquet")]
use super::store::blocking;
use super::store::{Kind, Store};
use crate::counts::stored_run::StoredRun;
use crate::error::{Error, Result};
use crate::pipeline::Progress;
use crate::run::key::RunKey;
use crate::sample::batch::SampleBatch;
use crate::sample::ends::Ends;
use crate::series::cpu::CpuJoin;
use crate::store::StoreCheck;
use crate::store::consistency::{self, SampleTotals, damage_message, unequal};

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
                Kind::Parquet(store) => blocking(store, |store| store.check_store()).await,
                #[cfg(feature = "postgres")]
                Kind::Postgres(..) => Ok(StoreCheck::default()),
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
        Kind::Parquet(store) => {
            let key = key.clone();
            blocking(store, move |store| store.check_files(&key)).await
        }
        #[cfg(feature = "postgres")]
        Kind::Postgres(..) => Ok(Vec::new()),
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
        .rejects_of(&run.info, &mut |_| {
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
        let told = format!("its own row says {seconds} seconds");
        faults.push(format!("it has counts of second {}, but {told}", last.second));
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
        .samples_of(info, &mut |batch| {
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
