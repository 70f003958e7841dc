//! Parts of runs in a bucket.
//!
//! ```text
//! URL/parts/_delta_log/VERSION.json     which generation of which part is current
//! URL/parts/generation=NAME/            the files of a part, of which no table of runs has any
//! URL/manifests/GENERATION.json         the part's own row, and the checksums of its files
//! ```
//!
//! The table `parts` has a row for each part. One commit to it removes all parts of a run. A part that was written again
//! while the others were merged stays: it was not one of those.

use std::collections::BTreeMap;

use super::bucket::change_perhaps_made;
use super::delta::{AddFile, LakeTable};
use super::{Lake, MANIFEST};
use crate::parquet::packed::PartFacts;
use crate::parquet::place::RunPlace;
use crate::parts::{StoredPart, no_parts};
use perfpipe_model::error::{ErrorKind, Result};
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::options::PartNumber;

/// The parts of a run as they were when they were looked at.
pub(crate) struct LakeParts {
    lake: Lake,
    key: RunKey,
    parts: Vec<(PartNumber, AddFile)>,
}

impl Lake {
    /// Returns the key, number and requests of each part of all runs.
    pub(crate) fn list_parts(&self) -> Result<Vec<(RunKey, PartNumber, u64)>> {
        let found = self.parts_of(None)?;
        let names: Vec<String> =
            found.iter().map(|(_, file)| Self::manifest_name(file.generation())).collect();
        let (mut parts, mut next) = (Vec::with_capacity(found.len()), found.iter());
        self.bucket.get_each(&names, MANIFEST, &mut |_, text| {
            let Some((number, file)) = next.next() else { return Ok(()) };
            let info = self.manifest_of(file.generation(), &file.key_or_none(), text.as_deref())?.info;
            let requests = info.requests();
            parts.push((info.key, *number, requests));
            Ok(())
        })?;
        Ok(parts)
    }

    /// Returns the parts of a run, or of all runs.
    fn parts_of(&self, key: Option<&RunKey>) -> Result<Vec<(PartNumber, AddFile)>> {
        self.with(LakeTable::Parts, |parts| {
            let numbered = parts.files().filter_map(|file| Some((file.part()?, file.clone())));
            Ok(numbered.filter(|(_, file)| key.is_none() || file.key().as_ref() == key).collect())
        })
    }
}

impl LakeParts {
    pub(crate) fn of(lake: &Lake, key: &RunKey) -> Result<Self> {
        let parts = lake.parts_of(Some(key))?;
        if parts.is_empty() {
            return Err(no_parts(key));
        }
        Ok(Self { lake: lake.clone(), key: key.clone(), parts })
    }

    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.parts.iter().map(|(number, _)| number.number()).collect()
    }

    /// Reads what is known of the parts, ascending by number.
    pub(crate) fn all(&self) -> Result<Vec<(StoredPart, PartFacts)>> {
        let read = |(_, file): &(PartNumber, AddFile)| {
            let (place, manifest) = self.lake.open_at(file)?;
            let info = manifest.info.clone();
            let facts = PartFacts::new(RunPlace::Bucket(place), manifest);
            Ok((StoredPart { row: facts.row()?, info }, facts))
        };
        let mut parts = self.parts.iter().map(read).collect::<Result<Vec<_>>>()?;
        parts.sort_by_key(|(part, _)| part.row.number.number());
        Ok(parts)
    }

    /// Removes parts in one step, unless they were written again meanwhile.
    pub(crate) fn remove(&self, numbers: &[u32]) -> Result<()> {
        let wanted = self.parts.iter().filter(|(number, _)| numbers.contains(&number.number()));
        let paths: BTreeMap<&str, &str> =
            wanted.map(|(_, file)| (file.path.as_str(), file.generation())).collect();
        let changed = self.lake.change(LakeTable::Parts, |parts| {
            let files = parts.of(&self.key);
            let removed: Vec<AddFile> =
                files.into_iter().filter(|file| paths.contains_key(file.path.as_str())).collect();
            (!removed.is_empty()).then(|| (removed, Vec::new()))
        });
        changed.map_err(|error| match error.kind() {
            ErrorKind::CommitUnknown => change_perhaps_made("the parts may be removed", &error),
            _ => error,
        })?;
        // What can't be removed now, a later sweep removes.
        paths.into_values().for_each(|generation| _ = self.lake.remove(generation));
        Ok(())
    }
}
