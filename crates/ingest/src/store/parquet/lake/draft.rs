//! A run that is being written into a bucket.

use std::collections::BTreeMap;

use super::delta::unique_id;
use super::row::write_row;
use super::slot::Slot;
use super::{Generation, Lake, busy};
use crate::error::{Error, Result};
use crate::run::info::RunInfo;
use crate::run::key::{LAST_REPEAT, RunKey};
use crate::run::options::part::PartNumber;
use crate::run::replace::Replace;
use crate::store::parquet::checksum::Sums;
use crate::store::parquet::folder::manifest::{GENERATION, Manifest};

/// A run that is being written. Dropping it removes its files, unless the table of runs may name them.
#[derive(Debug)]
pub(in crate::store::parquet) struct LakeDraft {
    lake: Lake,
    generation: Generation,
    /// The number of the part, if it is no whole run.
    part: Option<PartNumber>,
    /// The run's key, once it is known, and the generation that it had then.
    seen: Option<(RunKey, Option<String>)>,
    kept: bool,
}

impl LakeDraft {
    pub(in crate::store::parquet) fn begin(lake: &Lake, key: Option<&RunKey>) -> Result<Self> {
        Self::begin_as(lake, key, None)
    }

    /// Begins a part of a run.
    pub(in crate::store::parquet) fn of_part(
        lake: &Lake,
        key: Option<&RunKey>,
        number: PartNumber,
    ) -> Result<Self> {
        Self::begin_as(lake, key, Some(number))
    }

    fn begin_as(lake: &Lake, key: Option<&RunKey>, part: Option<PartNumber>) -> Result<Self> {
        lake.create()?;
        lake.sweep()?;
        let name = format!("{GENERATION}{}", unique_id().replace('-', ""));
        let current = |key: &RunKey| lake.current(&Slot { key: key.clone(), part });
        let seen = key.map(|key| Ok::<_, Error>((key.clone(), current(key)?))).transpose()?;
        let generation = Generation::new(lake.bucket.clone(), &name, part.is_some());
        Ok(Self { lake: lake.clone(), generation, part, seen, kept: false })
    }

    /// Returns where the files of the run are written.
    pub(in crate::store::parquet) fn generation(&self) -> &Generation {
        &self.generation
    }

    /// Claims the lowest repeat of a key that is not stored. If another writer stores it first, this one is refused at
    /// its end.
    pub(in crate::store::parquet) fn claim_next(&mut self, key: RunKey) -> Result<RunKey> {
        let taken = self.lake.repeats(&key)?;
        let free = (1..=LAST_REPEAT).find(|repeat| taken.binary_search(repeat).is_err());
        let full = || Error::store("looking for a free repeat", format!("all repeats of {key} are taken"));
        let key = key.clone().with_repeat(free.ok_or_else(full)?);
        self.seen = Some((key.clone(), None));
        Ok(key)
    }

    /// Makes the run appear, replacing an earlier one of its key.
    pub(in crate::store::parquet) fn publish(
        mut self,
        files: BTreeMap<String, Sums>,
        info: &RunInfo,
        replace: Replace,
    ) -> Result<()> {
        let slot = Slot { key: info.key.clone(), part: self.part };
        let seen = match self.seen.take() {
            Some((claimed, seen)) if claimed == slot.key => seen,
            _ => self.lake.current(&slot)?,
        };
        self.check_replace(&slot, info, replace)?;
        let path = slot.row(self.generation.name());
        let row = write_row(self.generation.create_at(format!("{}/{path}", slot.table().name())), info)?;
        let manifest = Manifest { generation: self.generation.name().to_owned(), files, info: info.clone() };
        let name = Lake::manifest_name(&manifest.generation);
        let text = manifest.sealed(&self.lake.bucket.shown(&name))?;
        let put = self.lake.bucket.put(&name, text.into());
        put.map_err(|error| Error::io(&*self.lake.bucket.shown(&name), error))?;
        // From here on tables may name the files, and other programs may read them: a sweep removes those that no table
        // names once they are old.
        self.kept = true;
        let mine = || Ok(Some(manifest.clone()));
        let facts = slot.facts().try_for_each(|table| self.lake.put(table, &slot.key, &mine));
        let row = slot.add(&manifest.generation, &path, row.bytes());
        let shown = facts.and_then(|()| self.lake.show(&slot, seen.as_deref(), vec![row]));
        let settled = self.lake.settle(&slot);
        match shown {
            Ok(true) => settled,
            Ok(false) => Err(busy(&slot)),
            // The answer may have been lost, and not the commit.
            Err(_)
                if self.lake.current(&slot).is_ok_and(|now| now.as_ref() == Some(&manifest.generation)) =>
            {
                settled
            }
            Err(error) => Err(error),
        }
    }

    /// Fails if the new run may not replace the stored one.
    fn check_replace(&self, slot: &Slot, info: &RunInfo, replace: Replace) -> Result<()> {
        match self.lake.find_in(slot) {
            Ok(Some((_, old))) if !replace.allows(&old.info, info) => Err(Replace::refusal(&old.info, info)),
            // An unreadable run may be replaced by one that is named explicitly.
            Err(Error::Store { .. }) if replace.allows_unread(info) => Ok(()),
            Err(Error::Store { what, .. }) => Err(Replace::refusal_unread(&what)),
            old => old.map(drop),
        }
    }
}

impl Drop for LakeDraft {
    fn drop(&mut self) {
        if !self.kept {
            // What can't be removed now is no part of any table.
            let _ = self.generation.clear();
            let _ = self.lake.bucket.delete(&[Lake::manifest_name(self.generation.name())]);
        }
    }
}
