//! Removes the files of generations that nobody can be reading any more.

use std::collections::{BTreeMap, BTreeSet};

use super::delta::{KEPT, Table, now_ms, row_of};
use super::place::object_of;
use super::{Lake, MANIFESTS};
use crate::error::Result;
use crate::store::parquet::folder::manifest::Manifest;
use crate::store::parquet::tables::{PART, RUN};

impl Lake {
    /// Removes what replaced, dropped and interrupted runs have left, once it is old. Where there are many runs, that is
    /// done only as often as checkpoints are due, since all manifests are listed for it.
    pub(super) fn sweep(&self) -> Result<()> {
        if !self.with(Table::Runs, |runs| Ok(!runs.has_checkpoint() || runs.is_long()))? {
            return Ok(());
        }
        let listed = self.bucket.list(MANIFESTS)?;
        let (mut current, mut gone) = (BTreeSet::new(), BTreeMap::new());
        for table in [Table::Runs, Table::Parts] {
            self.with(table, |shown| {
                current.extend(shown.files().map(|file| file.generation().to_owned()));
                gone.extend(shown.gone().into_iter().map(|(name, since)| (name.to_owned(), since)));
                Ok(())
            })?;
        }
        let before = now_ms() - KEPT;
        for (name, meta) in listed {
            let generation = name.rsplit('/').next().and_then(|name| name.strip_suffix(".json"));
            let Some(generation) = generation.filter(|generation| !current.contains(*generation)) else {
                continue;
            };
            // That of a writer that was stopped before its commit was never gone.
            let since = gone.get(generation).copied().unwrap_or(meta.last_modified.timestamp_millis());
            if since < before {
                self.remove(&name)?;
            }
        }
        Ok(())
    }

    /// Removes the files of a generation, and at last its manifest, which names them.
    pub(super) fn remove(&self, manifest: &str) -> Result<()> {
        if let Some(text) = self.bucket.get(manifest)?
            && let Ok(found) = Manifest::of(&self.bucket.shown(manifest), &text)
        {
            let is_part = found.files.contains_key(PART);
            let file = |name: &String| object_of(&found.generation, is_part, name);
            let mut names: Vec<String> = found.files.keys().map(file).collect();
            names.push(match is_part {
                true => object_of(&found.generation, true, RUN),
                false => {
                    let row = row_of(&found.info.key, &found.generation, RUN);
                    format!("{}/{row}", Table::Runs.name())
                }
            });
            self.bucket.delete(&names)?;
        }
        self.bucket.delete(&[manifest.to_owned()])
    }
}
