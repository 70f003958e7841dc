//! Repairs damaged runs from their intact parts. Runs that can't be repaired are moved out of the way, never deleted.

use futures_util::future::BoxFuture;

use super::copy::rewrite;
use super::recount::Recount;
use super::store::{Store, StoreKind};
use super::verify::sums;
use crate::pipeline::Progress;
use perfpipe_model::counts::stored_run::StoredRun;
use perfpipe_model::error::{Error, Result};
use perfpipe_model::run::key::RunKey;
use perfpipe_store::Repairer;
use perfpipe_store::consistency::unequal;

impl Store {
    /// Repairs the store itself: its marker, leftovers of killed writers, runs in the wrong folder.
    /// Blocks while it does.
    ///
    /// # Errors
    /// If the store can't be read or written.
    pub fn repair_store(&self, repairer: &mut Repairer<'_>) -> Result<()> {
        repairer.set_run(None);
        match &self.0 {
            #[cfg(feature = "parquet")]
            StoreKind::Parquet(store) => store.repair(repairer),
            // A server rolls back what was not committed.
            #[cfg(feature = "postgres")]
            StoreKind::Postgres(..) => Ok(()),
        }
    }

    /// Repairs a run if it is damaged. `progress` counts the samples that are read.
    /// Blocks while it moves a run within a folder.
    ///
    /// # Errors
    /// If the run is not stored, is being written, or the store can't be read or written.
    pub fn repair_run<'a>(
        &'a self,
        key: &'a RunKey,
        repairer: &'a mut Repairer<'_>,
        progress: &'a Progress,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            repairer.set_run(Some(key));
            let faults = self.verify(key, progress).await?;
            if faults.is_empty() {
                return Ok(());
            }
            let faults = faults.join("; ");
            if let Ok(run) = recounted(self, key).await {
                repairer.change(format!("{key}: counted again from its samples ({faults})"), || Ok(()))?;
                if repairer.dry_run {
                    return Ok(());
                }
                rewrite(self, &run).await?;
                if self.verify(key, progress).await?.is_empty() {
                    return Ok(());
                }
            }
            self.set_run_aside(key, &faults, repairer)
        })
    }

    fn set_run_aside(&self, key: &RunKey, faults: &str, repairer: &mut Repairer<'_>) -> Result<()> {
        match &self.0 {
            #[cfg(feature = "parquet")]
            StoreKind::Parquet(store) => store.set_aside(key, faults, repairer),
            #[cfg(feature = "postgres")]
            StoreKind::Postgres(..) => {
                repairer.leave(format!("{key}: {faults} (drop it, and ingest it again)"));
                Ok(())
            }
        }
    }
}

/// Returns a run with counts of its samples, and everything else as stored.
async fn recounted(store: &Store, key: &RunKey) -> Result<StoredRun> {
    let mut run = store.without_counts(key).await?;
    let mut rejects = 0;
    store
        .rejects(&run.info, &mut |_| {
            rejects += 1;
            Ok(())
        })
        .await?;
    let mut recount = Recount::without_labels(&run.info);
    store.samples(&run.info.clone(), &mut |batch| recount.add(batch)).await?;
    (run.cells, run.labels) = (recount.cells()?, recount.label_counts());
    match unequal("rejects", rejects, run.info.rejects).into_iter().chain(sums(&run)?).next() {
        None => Ok(run),
        Some(fault) => Err(Error::store(format!("counting the samples of {key} again"), fault)),
    }
}
