//! Repairs a store in a bucket: tables that a stopped writer left with another generation than the table of runs has, and
//! the files that belong to nothing. What is no longer in any table is removed once it is old.

use std::collections::{BTreeMap, BTreeSet};

use super::delta::{Add, Table, generation_of, now_ms};
use super::slot::Slot;
use super::{Lake, MANIFESTS, files_in};
use crate::error::{Error, Result};
use crate::run::key::RunKey;
use crate::store::parquet::folder::manifest::{GENERATION, Manifest};
use crate::store::repairer::Repairer;

/// The objects of a generation, and when the last of them was written, epoch ms.
#[derive(Default)]
struct Leftover {
    names: Vec<String>,
    since: i64,
}

impl Lake {
    /// Repairs the tables, as opposed to the contents of runs.
    pub(in crate::store::parquet) fn repair(&self, repairer: &mut Repairer<'_>) -> Result<()> {
        if !self.is_there()? {
            return Ok(());
        }
        self.repair_tables(repairer)?;
        self.repair_leftovers(repairer)
    }

    /// Sees to it that the tables have of each run what the table of runs has.
    fn repair_tables(&self, repairer: &mut Repairer<'_>) -> Result<()> {
        // The tables are read before the manifests: a run that a writer shows in between is settled by that writer, too.
        let mut shown: BTreeMap<RunKey, BTreeMap<Table, BTreeSet<String>>> = BTreeMap::new();
        for table in Table::FACTS {
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
        unlike.extend(gone.map(|(key, of)| (key, of.into_keys().map(Table::name).collect())));
        for (key, tables) in unlike {
            let what = format!(
                "{key}: tables get what the table of runs has, as a stopped writer left them: {}",
                tables.join(", ")
            );
            repairer.step(what, || self.settle(&Slot::run(&key)))?;
        }
        Ok(())
    }

    /// Removes the objects of generations that no table has, unless a writer or a reader may be at them.
    fn repair_leftovers(&self, repairer: &mut Repairer<'_>) -> Result<()> {
        let before = now_ms() - i64::try_from(repairer.kept.as_millis()).unwrap_or(i64::MAX);
        let left: Vec<Leftover> =
            self.leftovers()?.into_values().filter(|left| left.since < before).collect();
        if left.is_empty() {
            return Ok(());
        }
        let objects: usize = left.iter().map(|left| left.names.len()).sum();
        let what =
            format!("{objects} objects of {} replaced, dropped or interrupted runs are removed", left.len());
        repairer.step(what, || {
            // The manifest, which names the others, goes last.
            left.iter().try_for_each(|left| self.bucket.delete(&left.names))
        })
    }

    /// Returns what is in the bucket of each generation that no table has.
    fn leftovers(&self) -> Result<BTreeMap<String, Leftover>> {
        let mut found: BTreeMap<String, Leftover> = BTreeMap::new();
        let folders = Table::with_generations().map(Table::name).chain([MANIFESTS]);
        for folder in folders {
            for (name, meta) in self.bucket.list(folder)? {
                let Some(generation) = generation_in(&name) else { continue };
                let left = found.entry(generation.to_owned()).or_default();
                left.since = left.since.max(meta.last_modified.timestamp_millis());
                left.names.push(name);
            }
        }
        // The tables are read after the objects: what came meanwhile is in them.
        for table in Table::with_generations() {
            self.with(table, |snapshot| {
                for (generation, since) in snapshot.gone() {
                    found.entry(generation.to_owned()).and_modify(|left| left.since = left.since.max(since));
                }
                snapshot.files().map(Add::generation).for_each(|current| _ = found.remove(current));
                Ok(())
            })?;
        }
        Ok(found)
    }
}

/// Returns the tables that have of a run other files than its manifest names.
fn unlike_tables(manifest: &Manifest, found: &BTreeMap<Table, BTreeSet<String>>) -> Vec<&'static str> {
    let is_unlike = |table: &Table| {
        let wanted: BTreeSet<String> = files_in(*table, manifest).into_iter().map(|file| file.path).collect();
        wanted != found.get(table).cloned().unwrap_or_default()
    };
    Table::FACTS.into_iter().filter(is_unlike).map(Table::name).collect()
}

/// Returns the generation that an object is of.
fn generation_in(name: &str) -> Option<&str> {
    let manifest =
        name.strip_prefix(MANIFESTS).and_then(|name| name.strip_prefix('/')?.strip_suffix(".json"));
    manifest.or(Some(generation_of(name))).filter(|generation| generation.starts_with(GENERATION))
}
