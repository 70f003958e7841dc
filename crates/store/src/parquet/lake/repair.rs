//! Repairs, verifies and sweeps a store in a bucket.
//!
//! A repair finds tables that a stopped writer left with another generation than the table of runs has, and the files that
//! belong to nothing. What is no longer in any table is removed once it is old; what has no name that perfpipe gives, or is
//! not what its name says, stays.
//!
//! A verification of the tables, as opposed to the runs, compares what their logs say with what is there.
//!
//! A sweep removes the files of generations that nobody can be reading any more. A generation is removed only if the name of
//! its manifest, what is in it, and its age agree on that: copies beside a manifest, and whatever else is not perfpipe's,
//! stay.

use std::collections::{BTreeMap, BTreeSet};

use super::delta::{AddFile, KEPT, LakeTable, now_ms, row_of};
use super::generation::{RunSlot, object_of};
use super::{Lake, MANIFEST, MANIFESTS, files_in, generation_of_manifest, is_file_of_run};
use crate::consistency::damage_message;
use crate::parquet::folder::manifest::{Manifest, is_generation};
use crate::parquet::tables::{PART, RUN};
use crate::{Repairer, StoreCheck};
use perfpipe_model::error::{Error, Result};
use perfpipe_model::run::key::RunKey;

/// The objects of a generation, and when the last of them was written, epoch ms.
#[derive(Default)]
struct Leftover {
    names: Vec<String>,
    since: i64,
}

impl Lake {
    /// Repairs the tables, as opposed to the contents of runs.
    pub(crate) fn repair(&self, repairer: &mut Repairer<'_>) -> Result<()> {
        repairer.check_kept()?;
        if !self.is_there()? {
            return Ok(());
        }
        self.bucket.foreign()?.into_iter().for_each(|what| repairer.pass_over(what));
        self.repair_tables(repairer)?;
        self.repair_leftovers(repairer)
    }

    /// Sees to it that the tables have of each run what the table of runs has.
    fn repair_tables(&self, repairer: &mut Repairer<'_>) -> Result<()> {
        // The tables are read before the manifests: a run that a writer shows in between is settled by that writer, too.
        let mut shown: BTreeMap<RunKey, BTreeMap<LakeTable, BTreeSet<String>>> = BTreeMap::new();
        for table in LakeTable::FACTS {
            self.with(table, |snapshot| {
                for file in snapshot.files() {
                    let of_run = shown.entry(file.key_or_none()).or_default();
                    of_run.entry(table).or_default().insert(file.path.clone());
                }
                Ok(())
            })?;
        }
        let mut unlike: BTreeMap<RunKey, Vec<&str>> = BTreeMap::new();
        for manifest in self.manifests(None, |manifest| manifest)? {
            match manifest {
                Ok(manifest) => {
                    let found = shown.remove(&manifest.info.key).unwrap_or_default();
                    let names = unlike_tables(&manifest, &found);
                    unlike.extend((!names.is_empty()).then_some((manifest.info.key, names)));
                }
                Err(error @ Error::Store { .. }) => {
                    repairer.leave(format!("{error} (drop the run, and ingest it again)"));
                }
                Err(error) => return Err(error),
            }
        }
        let stored: BTreeSet<RunKey> = self.keys()?.into_iter().collect();
        let gone = shown.into_iter().filter(|(key, _)| !stored.contains(key));
        unlike.extend(gone.map(|(key, of)| (key, of.into_keys().map(LakeTable::name).collect())));
        for (key, tables) in unlike {
            let what = format!(
                "{key}: tables get what the table of runs has, as a stopped writer left them: {}",
                tables.join(", ")
            );
            repairer.step(what, || self.settle(&RunSlot::run(&key)))?;
        }
        Ok(())
    }

    /// Removes the objects of generations that no table has, unless a writer or a reader may be at them.
    fn repair_leftovers(&self, repairer: &mut Repairer<'_>) -> Result<()> {
        let mut left = self.leftovers()?;
        // The times are those of the bucket's clock. To ask for it, something must be written.
        let now = if left.is_empty() || repairer.dry_run { now_ms() } else { self.bucket.now_ms()? };
        let before = now.saturating_sub(i64::try_from(repairer.kept.as_millis()).unwrap_or(i64::MAX));
        left.retain(|_, left| left.since < before);
        for (generation, why) in self.unlike_manifests(&left)? {
            left.remove(&generation);
            repairer.pass_over(why);
        }
        if left.is_empty() {
            return Ok(());
        }
        let objects: usize = left.values().map(|left| left.names.len()).sum();
        let what =
            format!("{objects} objects of {} replaced, dropped or interrupted runs are removed", left.len());
        repairer.step(what, || left.iter().try_for_each(|(generation, left)| self.clear(generation, left)))
    }

    /// Returns the generations whose manifest is of another one, or can't be read, with the reason to leave them.
    fn unlike_manifests(&self, left: &BTreeMap<String, Leftover>) -> Result<Vec<(String, String)>> {
        let name = |generation: &String| Self::manifest_name(generation);
        let with_one = left.iter().filter(|(generation, left)| left.names.contains(&name(generation)));
        let names: Vec<String> = with_one.map(|(generation, _)| name(generation)).collect();
        let mut unlike = Vec::new();
        self.bucket.get_each(&names, MANIFEST, &mut |name, text| {
            let path = self.bucket.shown(name);
            let generation = generation_of_manifest(name).unwrap_or_default();
            let fault = match text.map(|text| Manifest::of(&path, &text)) {
                Some(Ok(found)) if found.generation != generation => {
                    Some(format!("{} is the manifest of {}", path.display(), found.generation))
                }
                Some(Err(error)) => Some(error.to_string()),
                _ => None,
            };
            let why = |fault| {
                format!("{fault} (no table has this run: remove its files yourself, if nobody needs it)")
            };
            unlike.extend(fault.map(|fault| (generation.to_owned(), why(fault))));
            Ok(())
        })?;
        Ok(unlike)
    }

    /// Removes what is left of a generation, unless its writer has come to its end meanwhile: then it has a manifest.
    fn clear(&self, generation: &str, left: &Leftover) -> Result<()> {
        let manifest = Self::manifest_name(generation);
        if !left.names.contains(&manifest) && self.bucket.sizes(&[manifest])? != [None] {
            return Ok(());
        }
        // The manifest, which names the others, goes last.
        self.bucket.delete(&left.names)
    }

    /// Returns what is in the bucket of each generation that no table has.
    fn leftovers(&self) -> Result<BTreeMap<String, Leftover>> {
        let mut found: BTreeMap<String, Leftover> = BTreeMap::new();
        let folders = LakeTable::with_generations().map(LakeTable::name).chain([MANIFESTS]);
        for folder in folders {
            for object in self.bucket.list(folder)? {
                let Some(generation) = generation_in(&object.name) else { continue };
                let left = found.entry(generation.to_owned()).or_default();
                left.since = left.since.max(object.since_ms);
                left.names.push(object.name);
            }
        }
        // The tables are read after the objects: what came meanwhile is in them.
        for table in LakeTable::with_generations() {
            self.with(table, |snapshot| {
                for (generation, since) in snapshot.gone() {
                    let since = since.unwrap_or_default();
                    found.entry(generation.to_owned()).and_modify(|left| left.since = left.since.max(since));
                }
                snapshot.files().map(AddFile::generation).for_each(|current| _ = found.remove(current));
                Ok(())
            })?;
        }
        Ok(found)
    }
}

/// Returns the tables that have of a run other files than its manifest names.
fn unlike_tables(manifest: &Manifest, found: &BTreeMap<LakeTable, BTreeSet<String>>) -> Vec<&'static str> {
    let is_unlike = |table: &LakeTable| {
        let wanted: BTreeSet<String> = files_in(*table, manifest).into_iter().map(|file| file.path).collect();
        wanted != found.get(table).cloned().unwrap_or_default()
    };
    LakeTable::FACTS.into_iter().filter(is_unlike).map(LakeTable::name).collect()
}

/// Returns the generation that an object is of, if it has a name that perfpipe gives.
fn generation_in(name: &str) -> Option<&str> {
    if let Some(generation) = generation_of_manifest(name) {
        return Some(generation);
    }
    let mut parts = name.split('/');
    let (table, file) = (parts.next()?, parts.next_back()?);
    let generation = parts.next_back()?.strip_prefix("generation=").filter(|name| is_generation(name))?;
    let keys = parts.map(|part| Some(part.split_once('=')?.0)).collect::<Option<Vec<&str>>>()?;
    let is_own = match table == LakeTable::Runs.name() {
        true => keys == ["framework", "test", "repeat"] && file == RUN,
        false => keys.is_empty() && is_file_of_run(file),
    };
    is_own.then_some(generation)
}

/// The number of runs that are named in a list of them.
const NAMED: usize = 5;

impl Lake {
    /// Reads the logs of all tables.
    ///
    /// # Errors
    /// If they can't be read for a reason other than damage.
    pub(crate) fn verify(&self) -> Result<StoreCheck> {
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
    fn unshown(&self) -> Result<BTreeMap<String, i64>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_perfpipe_gives_are_of_a_generation() {
        for (name, generation) in [
            ("manifests/run-1a.json", Some("run-1a")),
            ("samples/generation=run-1a/samples_2.parquet", Some("run-1a")),
            ("parts/generation=run-1a/part.json", Some("run-1a")),
            ("runs/framework=a/test=b/repeat=1/generation=run-1a/run.parquet", Some("run-1a")),
            ("manifests/run-1a.bak.json", None),
            ("manifests/run-1a (1).json", None),
            ("manifests/old/run-1a.json", None),
            ("manifests/generation=run-1a/run-1a.json", None),
            ("samples/generation=run-1a/notes.txt", None),
            ("samples/generation=run-1a/more/samples.parquet", None),
            ("samples/mine/generation=run-1a/samples.parquet", None),
            ("samples/generation=run-1a-copy/samples.parquet", None),
            ("samples/samples.parquet", None),
            ("runs/generation=run-1a/run.parquet", None),
        ] {
            assert_eq!(generation_in(name), generation, "{name}");
        }
    }
}
