//! A run that is being written into a bucket.

use std::collections::BTreeMap;

use super::bucket::{change_made, change_not_made, change_perhaps_made};
use super::delta::{AddFile, unique_id};
use super::generation::{RunSlot, object_of};
use super::tables::write_row;
use super::{Lake, RunGeneration, busy};
use crate::parquet::checksum::{FileSums, file_notes};
use crate::parquet::folder::manifest::{GENERATION, Manifest};
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::{LAST_REPEAT, RunKey};
use perfpipe_model::run::options::PartNumber;
use perfpipe_model::run::replace::Replace;

/// A run that is being written. Dropping it removes its files, unless the table of runs may name them.
#[derive(Debug)]
pub(crate) struct LakeDraft {
    lake: Lake,
    generation: RunGeneration,
    /// The number of the part, if it is no whole run.
    part: Option<PartNumber>,
    /// The run's key, once it is known, and the generation that it had then.
    seen: Option<(RunKey, Option<String>)>,
    kept: bool,
}

impl LakeDraft {
    pub(crate) fn begin(lake: &Lake, key: Option<&RunKey>) -> Result<Self> {
        Self::begin_as(lake, key, None)
    }

    /// Begins a part of a run.
    pub(crate) fn of_part(lake: &Lake, key: Option<&RunKey>, number: PartNumber) -> Result<Self> {
        Self::begin_as(lake, key, Some(number))
    }

    fn begin_as(lake: &Lake, key: Option<&RunKey>, part: Option<PartNumber>) -> Result<Self> {
        lake.create()?;
        // What can't be removed now does not keep a run from being stored.
        let _ = lake.sweep();
        let name = format!("{GENERATION}{}", unique_id().replace('-', ""));
        let current = |key: &RunKey| lake.current(&RunSlot { key: key.clone(), part });
        let seen = key.map(|key| Ok::<_, Error>((key.clone(), current(key)?))).transpose()?;
        let generation = RunGeneration::new(lake.bucket.clone(), &name, part.is_some());
        Ok(Self { lake: lake.clone(), generation, part, seen, kept: false })
    }

    /// Returns where the files of the run are written.
    pub(crate) fn generation(&self) -> &RunGeneration {
        &self.generation
    }

    /// Claims the lowest repeat of a key that is not stored. If another writer stores it first, this one is refused at
    /// its end.
    pub(crate) fn claim_next(&mut self, key: RunKey) -> Result<RunKey> {
        let taken = self.lake.repeats(&key)?;
        let free = (1..=LAST_REPEAT).find(|repeat| taken.binary_search(repeat).is_err());
        let full = || Error::store("looking for a free repeat", format!("all repeats of {key} are taken"));
        let key = key.clone().with_repeat(free.ok_or_else(full)?);
        self.seen = Some((key.clone(), None));
        Ok(key)
    }

    /// Makes the run appear, replacing an earlier one of its key.
    pub(crate) fn publish(
        mut self,
        files: BTreeMap<String, FileSums>,
        info: &RunInfo,
        replace: Replace,
    ) -> Result<()> {
        let slot = RunSlot { key: info.key.clone(), part: self.part };
        let seen = match self.seen.take() {
            Some((claimed, seen)) if claimed == slot.key => seen,
            _ => self.lake.current(&slot)?,
        };
        self.check_replace(&slot, info, replace)?;
        let path = slot.row(self.generation.name());
        let row =
            self.generation.create_at(format!("{}/{path}", slot.table().name())).noted(file_notes(info));
        let row = write_row(row, info)?;
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
        let shown = match facts.map_err(change_not_made) {
            Ok(()) => self.show(&slot, seen.as_deref(), row, &manifest),
            Err(error) => Err(error),
        };
        let settled = self.lake.settle(&slot);
        shown?;
        settled.map_err(|error| change_made(&format!("{slot} is stored"), &error))
    }

    /// Makes the run appear by its row, unless its files are not all there: another program, or a repair that was forced,
    /// may have removed what no table had yet. Then the earlier run appears again.
    fn show(&self, slot: &RunSlot, seen: Option<&str>, row: AddFile, manifest: &Manifest) -> Result<()> {
        let own = Some(&*manifest.generation);
        let shown = match self.lake.show(slot, seen, vec![row.clone()]) {
            // The answer may have been lost, and not the commit.
            Err(error) if error.kind() == ErrorKind::CommitUnknown => match self.lake.current(slot) {
                Ok(now) if now.as_deref() == own => None,
                Ok(_) => return Err(change_not_made(error)),
                Err(_) => return Err(change_perhaps_made(&format!("{slot} may be stored"), &error)),
            },
            shown => Some(shown?.ok_or_else(|| busy(slot))?),
        };
        let missing = self.missing(slot, &row, manifest);
        let missing = missing.map_err(|error| change_made(&format!("{slot} is stored"), &error))?;
        let Some(missing) = missing else { return Ok(()) };
        let undone = shown.map(|earlier| self.lake.show(slot, own, earlier));
        match undone {
            Some(Ok(Some(_))) => Err(Error::refused(
                ErrorKind::FilesRemoved,
                format!(
                    "{missing} was removed while {slot} was being written, as by a repair that was forced"
                ),
                "Nothing was changed. Run the command again, and let nobody repair the store meanwhile.",
            )),
            _ => Err(change_made(
                &format!("{slot} is stored, and {missing} was removed meanwhile"),
                &busy(slot),
            )),
        }
    }

    /// Returns the name of a file that the run should have and has not, if there is one.
    fn missing(&self, slot: &RunSlot, row: &AddFile, manifest: &Manifest) -> Result<Option<String>> {
        let object = |name: &String| object_of(&manifest.generation, self.part.is_some(), name);
        let mut names: Vec<String> = manifest.files.keys().map(object).collect();
        names.push(format!("{}/{}", slot.table().name(), slot.row(&manifest.generation)));
        names.push(Lake::manifest_name(&manifest.generation));
        let sizes = manifest.files.values().map(FileSums::bytes).chain([row.size]).map(Some);
        // Of the manifest it is enough that it is there.
        let expected = sizes.chain([None]);
        let found = self.lake.bucket.sizes(&names)?;
        let is_missing = |(found, expected): (&Option<u64>, Option<u64>)| match expected {
            Some(_) => *found != expected,
            None => found.is_none(),
        };
        let at = found.iter().zip(expected).position(is_missing);
        Ok(at.and_then(|at| names.get(at)).map(|name| self.lake.bucket.shown(name).display().to_string()))
    }

    /// Fails if the new run may not replace the stored one.
    fn check_replace(&self, slot: &RunSlot, info: &RunInfo, replace: Replace) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::Path;

    use super::*;

    /// Writes a run of one file. `meanwhile` is done before it is published.
    fn write(lake: &Lake, key: &RunKey, meanwhile: impl Fn(&Path)) -> Result<()> {
        let draft = LakeDraft::begin(lake, Some(key))?;
        let mut out = draft.generation().create("seconds.parquet");
        out.write_all(b"x").unwrap();
        let sums = out.finish()?;
        let folder = lake.bucket.url().strip_prefix("file://").unwrap();
        meanwhile(&Path::new(folder).join(format!("seconds/generation={}", draft.generation().name())));
        let files = BTreeMap::from([("seconds.parquet".to_owned(), sums)]);
        draft.publish(files, &RunInfo::new(key.clone(), 0, 0), Replace::Any)
    }

    #[test]
    fn run_whose_files_were_removed_meanwhile_does_not_appear() {
        let folder = tempfile::tempdir().unwrap();
        let lake = Lake::open(&format!("file://{}", folder.path().display()), &[]).unwrap();
        let key = RunKey::new("go", "a");
        let remove = |folder: &Path| std::fs::remove_dir_all(folder).unwrap();
        let refused = write(&lake, &key, remove).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::FilesRemoved);
        assert!(refused.to_string().contains("seconds.parquet"), "{refused}");
        assert_eq!(lake.keys().unwrap(), []);
        write(&lake, &key, |_| ()).unwrap();
        let current = lake.current(&RunSlot::run(&key)).unwrap();
        let cut = |folder: &Path| std::fs::write(folder.join("seconds.parquet"), "").unwrap();
        assert_eq!(write(&lake, &key, cut).unwrap_err().kind(), ErrorKind::FilesRemoved);
        assert_eq!(lake.current(&RunSlot::run(&key)).unwrap(), current);
        let check = lake.verify().unwrap();
        assert_eq!(check.faults, [""; 0]);
        assert_eq!(lake.find(&key).unwrap().unwrap().0.name(), current.unwrap());
    }
}
