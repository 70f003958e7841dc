//! Repairs damaged runs from their intact parts. Runs that can't be repaired are moved out of the way, never deleted.

use futures_util::future::BoxFuture;

use super::copy::rewrite;
use super::recount::Recount;
use super::store::{Store, StoreKind};
use super::verify::sums;
use crate::counts::stored_run::StoredRun;
use crate::error::{Error, Result};
use crate::pipeline::Progress;
use crate::run::key::RunKey;
use crate::store::consistency::unequal;
#[cfg(feature = "parquet")]
use crate::store::parquet::ParquetStore;
use crate::store::{Repaired, Repairer};

impl Repairer<'_> {
    /// Repairs the store itself: its marker, leftovers of killed writers, runs in the wrong folder.
    /// Blocks while it does.
    ///
    /// # Errors
    /// If the store can't be read or written.
    pub fn store(&mut self, store: &Store) -> Result<()> {
        match &store.0 {
            #[cfg(feature = "parquet")]
            StoreKind::Parquet(store) => self.folder(store),
            // A server rolls back what was not committed.
            #[cfg(feature = "postgres")]
            StoreKind::Postgres(..) => Ok(()),
        }
    }

    /// Repairs a store in a folder, as [`store`](Self::store) does.
    #[cfg(feature = "parquet")]
    pub(crate) fn folder(&mut self, store: &ParquetStore) -> Result<()> {
        store.repair(self)
    }

    /// Repairs a run if it is damaged. `progress` counts the samples that are read.
    /// Blocks while it moves a run within a folder.
    ///
    /// # Errors
    /// If the run is not stored, is being written, or the store can't be read or written.
    pub fn run<'a>(
        &'a mut self,
        store: &'a Store,
        key: &'a RunKey,
        progress: &'a Progress,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let faults = store.verify(key, progress).await?;
            if faults.is_empty() {
                return Ok(());
            }
            let faults = faults.join("; ");
            if let Ok(run) = recounted(store, key).await {
                self.change(format!("{key}: counted again from its samples ({faults})"), || Ok(()))?;
                if self.dry_run {
                    return Ok(());
                }
                rewrite(store, &run).await?;
                if store.verify(key, progress).await?.is_empty() {
                    return Ok(());
                }
            }
            self.set_aside(store, key, &faults)
        })
    }

    fn set_aside(&mut self, store: &Store, key: &RunKey, faults: &str) -> Result<()> {
        match &store.0 {
            #[cfg(feature = "parquet")]
            StoreKind::Parquet(store) => store.set_aside(key, faults, self),
            #[cfg(feature = "postgres")]
            StoreKind::Postgres(..) => {
                self.leave(format!("{key}: {faults} (drop it, and ingest it again)"));
                Ok(())
            }
        }
    }

    /// Returns the result of the repair.
    pub fn done(self) -> Repaired {
        self.done
    }
}

/// Returns a run with counts of its samples, and everything else as stored.
async fn recounted(store: &Store, key: &RunKey) -> Result<StoredRun> {
    let mut run = store.without_counts(key).await?;
    let mut rejects = 0;
    store
        .rejects_of(&run.info, &mut |_| {
            rejects += 1;
            Ok(())
        })
        .await?;
    let mut recount = Recount::without_labels(&run.info);
    store.samples_of(&run.info.clone(), &mut |batch| recount.add(batch)).await?;
    (run.cells, run.labels) = (recount.cells()?, recount.label_counts());
    match unequal("rejects", rejects, run.info.rejects).into_iter().chain(sums(&run)?).next() {
        None => Ok(run),
        Some(fault) => Err(Error::store(format!("counting the samples of {key} again"), fault)),
    }
}
