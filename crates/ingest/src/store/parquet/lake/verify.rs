//! Verifies the tables of a store in a bucket, as opposed to the runs: what their logs say, and what no log says.

use std::collections::BTreeMap;

use super::delta::LakeTable;
use super::{Lake, MANIFEST};
use crate::error::Result;
use crate::run::key::RunKey;
use crate::store::StoreCheck;
use crate::store::parquet::folder::manifest::Manifest;
use crate::store::unreadable::damage_message;

/// The number of runs that are named in a list of them.
const NAMED: usize = 5;

impl Lake {
    /// Reads the logs of all tables.
    ///
    /// # Errors
    /// If they can't be read for a reason other than damage.
    pub(in crate::store::parquet) fn verify(&self) -> Result<StoreCheck> {
        let mut check = StoreCheck::default();
        check.notes.extend(self.bucket.foreign()?);
        let mut runs: BTreeMap<String, RunKey> = BTreeMap::new();
        for table in
            [LakeTable::Runs].into_iter().chain(LakeTable::all().filter(|table| *table != LakeTable::Runs))
        {
            let read = self.with(table, |snapshot| {
                if [LakeTable::Runs, LakeTable::Parts].contains(&table) {
                    check
                        .faults
                        .extend(snapshot.doubled().iter().map(|key| self.doubled(table, key).to_string()));
                }
                for file in snapshot.files() {
                    let (generation, key) = (file.generation().to_owned(), file.key_or_none());
                    if table == LakeTable::Runs {
                        runs.insert(generation, key);
                    } else if let Some(of) = runs.get(&generation).filter(|of| **of != key) {
                        let table = self.bucket.shown(table.name());
                        check.faults.push(format!("{} has a file of {of} as one of {key}", table.display()));
                    }
                }
                Ok(())
            });
            if let Err(error) = read {
                check.faults.push(damage_message(error)?);
            }
        }
        if check.faults.is_empty() {
            check.notes.extend(self.never_shown()?);
        }
        Ok(check)
    }

    /// Says which runs were written, and were never in the table of runs or of parts.
    fn never_shown(&self) -> Result<Option<String>> {
        let mut never = self.unshown()?;
        for table in [LakeTable::Runs, LakeTable::Parts] {
            self.with(table, |shown| {
                shown.gone().into_keys().for_each(|gone| _ = never.remove(gone));
                Ok(())
            })?;
        }
        let names: Vec<String> = never.keys().map(|generation| Self::manifest_name(generation)).collect();
        let mut found = Vec::new();
        self.bucket.get_each(names.get(..NAMED).unwrap_or(&names), MANIFEST, &mut |name, text| {
            let manifest = text.and_then(|text| Manifest::of(&self.bucket.shown(name), &text).ok());
            found.push(manifest.map_or_else(
                || name.to_owned(),
                |manifest| format!("{} of {}", manifest.info.key, manifest.info.ingested_at),
            ));
            Ok(())
        })?;
        let more = names.len().saturating_sub(found.len());
        found.extend((more > 0).then(|| format!("{more} more")));
        Ok((!found.is_empty()).then(|| {
            format!(
                "runs that were written and are in no table: {}. Their ingest is in progress or was stopped, or the \
                 newest entries of the log of the table runs are lost.",
                found.join(", ")
            )
        }))
    }
}
