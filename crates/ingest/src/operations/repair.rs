//! Runs that are damaged, put right where that can be done from what is whole; what can't is set aside, never deleted.

use std::sync::Arc;

use super::copy::rewrite;
use super::recount::Recount;
use super::store::Store;
use super::verify::{sums, verify_run};
use crate::counts::stored_run::StoredRun;
use crate::error::{Error, Result};
use crate::pipeline::Progress;
use crate::run::key::RunKey;
use crate::store::ParquetStore;
use crate::store::held::unequal;
use crate::store::repairer::{Repaired, Repairer};

impl Repairer<'_> {
    /// Puts the store itself right: its own file, leftovers of killed writers, runs in the folder of another.
    ///
    /// # Errors
    /// When the store can't be read or written.
    pub fn store(&mut self, store: &Store) -> Result<()> {
        match store {
            Store::Parquet(store) => self.folder(store),
            // A server undoes what was begun and not committed.
            Store::Postgres(..) => Ok(()),
        }
    }

    /// The same of a store in a folder.
    pub(crate) fn folder(&mut self, store: &ParquetStore) -> Result<()> {
        store.repair(self)
    }

    /// Puts a run right where it is damaged. `progress` counts the samples that are read.
    ///
    /// # Errors
    /// When the run is not stored, is being written, or the store can't be read or written.
    pub async fn run(&mut self, store: &Arc<Store>, key: &RunKey, progress: &Progress) -> Result<()> {
        let faults = verify_run(store, key, progress).await?;
        if faults.is_empty() {
            return Ok(());
        }
        let faults = faults.join("; ");
        if let Ok(run) = counted_anew(store, key).await {
            self.step(format!("{key}: counts taken anew from its samples ({faults})"), || Ok(()))?;
            if self.dry_run {
                return Ok(());
            }
            rewrite(store, &run).await?;
            if verify_run(store, key, progress).await?.is_empty() {
                return Ok(());
            }
        }
        self.set_aside(store, key, &faults)
    }

    fn set_aside(&mut self, store: &Store, key: &RunKey, faults: &str) -> Result<()> {
        match store {
            Store::Parquet(store) => store.set_aside(key, faults, self),
            Store::Postgres(..) => {
                self.leave(format!("{key}: {faults} (drop it, and ingest it again)"));
                Ok(())
            }
        }
    }

    /// What came of it all.
    pub fn done(self) -> Repaired {
        self.done
    }
}

/// A run with its counts taken anew from its samples, all else as it is stored.
async fn counted_anew(store: &Store, key: &RunKey) -> Result<StoredRun> {
    let mut run = store.without_counts(key).await?;
    let mut rejects = 0;
    store
        .rejects_of(&run.info, &mut |_| {
            rejects += 1;
            Ok(())
        })
        .await?;
    let mut recount = Recount::anew(&run.info);
    store.samples_of(&run.info.clone(), &mut |batch| recount.add(batch)).await?;
    (run.cells, run.labels) = (recount.cells()?, recount.label_counts());
    match unequal("rejects", rejects, run.info.rejects).into_iter().chain(sums(&run)?).next() {
        None => Ok(run),
        Some(fault) => Err(Error::store(format!("counting the samples of {key} anew"), fault)),
    }
}
