//! Removes the files of generations that nobody can be reading any more.
//!
//! A generation is removed only if the name of its manifest, what is in it, and its age agree on that: copies beside a
//! manifest, and whatever else is not perfpipe's, stay.

use std::collections::{BTreeMap, BTreeSet};

use super::delta::{AddFile, KEPT, LakeTable, now_ms, row_of};
use super::place::object_of;
use super::{Lake, MANIFEST, MANIFESTS, generation_of_manifest, is_file_of_run};
use crate::error::Result;
use crate::store::parquet::folder::manifest::Manifest;
use crate::store::parquet::tables::{PART, RUN};

impl Lake {
    /// Removes what replaced, dropped and interrupted runs have left, once it is old. Where there are many runs, that is
    /// done only as often as checkpoints are due, since all manifests are listed for it. What can't be removed now is
    /// removed later.
    pub(super) fn sweep(&self) -> Result<()> {
        if !self.with(LakeTable::Runs, |runs| Ok(!runs.has_checkpoint() || runs.is_long()))? {
            return Ok(());
        }
        let mut left = self.unshown()?;
        left.retain(|_, since| *since < now_ms() - KEPT);
        if left.is_empty() {
            return Ok(());
        }
        // This machine's clock may be wrong, and that of the bucket wrote the times.
        let Ok(now) = self.bucket.now_ms() else { return Ok(()) };
        for (generation, _) in left.into_iter().filter(|(_, since)| *since < now - KEPT) {
            let _ = self.remove(&generation);
        }
        Ok(())
    }

    /// Returns the generations with a manifest that no table has, each with the time since which that is so, epoch ms.
    pub(super) fn unshown(&self) -> Result<BTreeMap<String, i64>> {
        let listed = self.bucket.list(MANIFESTS)?;
        let named = listed.iter().filter_map(|found| Some((generation_of_manifest(&found.name)?, found)));
        let mut left: BTreeMap<String, i64> =
            named.map(|(name, found)| (name.to_owned(), found.since_ms)).collect();
        // The tables are read after the manifests: what came meanwhile is in them.
        for table in [LakeTable::Runs, LakeTable::Parts] {
            self.with(table, |shown| {
                let current: BTreeSet<&str> = shown.files().map(AddFile::generation).collect();
                left.retain(|generation, _| !current.contains(generation.as_str()));
                for (generation, since) in shown.gone() {
                    // That of a writer that was stopped before its commit was never gone.
                    left.entry(generation.to_owned())
                        .and_modify(|left| *left = since.map_or(*left, |since| since.max(*left)));
                }
                Ok(())
            })?;
        }
        Ok(left)
    }

    /// Removes the files of a generation, and at last its manifest, which names them. Does nothing if the manifest is of
    /// another generation, or can't be read.
    pub(super) fn remove(&self, generation: &str) -> Result<()> {
        let manifest = Self::manifest_name(generation);
        let Some(text) = self.bucket.get(&manifest, MANIFEST.most)? else { return Ok(()) };
        let Ok(found) = Manifest::of(&self.bucket.shown(&manifest), &text) else { return Ok(()) };
        if found.generation != generation {
            return Ok(());
        }
        let is_part = found.files.contains_key(PART);
        let own = found.files.keys().filter(|name| is_file_of_run(name));
        let mut names: Vec<String> = own.map(|name| object_of(generation, is_part, name)).collect();
        names.push(match is_part {
            true => object_of(generation, true, RUN),
            false => format!("{}/{}", LakeTable::Runs.name(), row_of(&found.info.key, generation, RUN)),
        });
        self.bucket.delete(&names)?;
        self.bucket.delete(&[manifest])
    }
}
