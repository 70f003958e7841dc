//! Repairs a store in a folder: its marker, interrupted moves, and runs in the wrong folder. Runs that can't be
//! repaired are moved to a separate folder, never deleted.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::leftovers::{entries, is_earlier, is_generation, is_new, is_own, sweep};
use super::manifest::{check_mark, mark, sync_dir};
use super::paths::{LOCK, MARKER, SET_ASIDE, StoreFolder, folder_name, read_manifest};
use crate::Repairer;
use crate::parquet::lock::{LockFile, open_unlinked, refuse_link};
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::key::RunKey;

impl StoreFolder {
    /// Repairs the store itself, as opposed to the contents of its runs.
    pub(crate) fn repair(&self, repairer: &mut Repairer<'_>) -> Result<()> {
        if !self.path().is_dir() {
            return Ok(());
        }
        self.repair_marker(repairer)?;
        let unread: Vec<(PathBuf, Error)> = self
            .manifests(None, drop)?
            .into_iter()
            .filter_map(|(run, found)| Some((run, found.err()?)))
            .collect();
        for (run, error) in &unread {
            self.repair_run(run, error, repairer)?;
        }
        // Without the gate, another process would find the locks taken that are tried below.
        if let Err(error) = self.gate() {
            repairer.leave(format!("leftovers of killed writers, which can't be searched for: {error}"));
            return Ok(());
        }
        if unread.is_empty() { self.repair_leftovers(repairer) } else { self.keep_staged(repairer) }
    }

    fn repair_marker(&self, repairer: &mut Repairer<'_>) -> Result<()> {
        let marker = self.path().join(MARKER);
        let problem = match check_mark(&marker) {
            Ok(true) => return Ok(()),
            Ok(false) => "it is missing".to_owned(),
            Err(Error::Store { source, .. }) => source.to_string(),
            Err(error) => return Err(error),
        };
        repairer.step(format!("{} is written again: {problem}", marker.display()), || {
            let _gate = self.gate()?;
            mark(&marker)
        })
    }

    /// Repairs a folder whose manifest can't be read or belongs to another run.
    fn repair_run(&self, run: &Path, error: &Error, repairer: &mut Repairer<'_>) -> Result<()> {
        let manifest = match read_manifest(run) {
            Ok(Some(manifest)) => manifest,
            Ok(None) => return Ok(()),
            Err(Error::Store { .. }) => return self.move_aside(run, &error.to_string(), repairer),
            Err(_) => {
                repairer.leave(error.to_string());
                return Ok(());
            }
        };
        let home = self.runs().join(folder_name(&manifest.info.key));
        let whole = self.generation(run, &manifest.generation).is_dir();
        if !whole || home.symlink_metadata().is_ok() || self.find(&manifest.info.key)?.is_some() {
            return self.move_aside(run, &error.to_string(), repairer);
        }
        let what = format!("{} is moved to {}: {error}", run.display(), home.display());
        repairer.change(what, || self.with_free(run, || rename(run, &home)))
    }

    /// Moves a folder to where no reader looks.
    fn move_aside(&self, run: &Path, why: &str, repairer: &mut Repairer<'_>) -> Result<()> {
        let target = self.free_aside(run);
        let what = format!("{} is set aside as {}: {why}", run.display(), target.display());
        repairer.change(what, || {
            self.with_free(run, || {
                self.make_aside()?;
                self.gather(run)?;
                rename(run, &target)
            })
        })
    }

    /// Moves a file of the store itself to where no reader looks.
    pub(crate) fn file_aside(&self, file: &Path, why: &str, repairer: &mut Repairer<'_>) -> Result<()> {
        let target = self.free_aside(file);
        let what = format!("{} is set aside as {}: {why}", file.display(), target.display());
        repairer.change(what, || {
            let _gate = self.gate()?;
            self.make_aside()?;
            rename(file, &target)
        })
    }

    /// Makes the folder for what is set aside.
    fn make_aside(&self) -> Result<()> {
        let folder = self.path().join(SET_ASIDE);
        refuse_link(&folder)?;
        fs::create_dir_all(&folder).map_err(|error| Error::io(&folder, error))
    }

    /// Moves the files that a run's manifest names into its folder, unless they belong to another run. Once the folder
    /// is set aside, their owner could not be found any more.
    fn gather(&self, run: &Path) -> Result<()> {
        let Ok(Some(manifest)) = read_manifest(run) else { return Ok(()) };
        let files = self.generation(run, &manifest.generation);
        let home = self.find(&manifest.info.key).ok().flatten();
        let of_another =
            home.is_some_and(|(home, found)| home != run && found.generation == manifest.generation);
        if of_another || files.parent() == Some(run) || !files.is_dir() {
            return Ok(());
        }
        rename(&files, &run.join(&manifest.generation))
    }

    /// Runs `then` while the folder is locked against writers.
    fn with_free(&self, folder: &Path, then: impl FnOnce() -> Result<()>) -> Result<()> {
        let _gate = self.gate()?;
        let lock = LockFile::try_new(&folder.join(LOCK))?;
        let _free = lock.ok_or_else(|| {
            Error::refused(
                ErrorKind::FolderBusy,
                format!("{} is being written or dropped by another perfpipe", folder.display()),
                "Wait until it is done.",
            )
        })?;
        then()
    }

    /// Returns an unused name in the folder for runs that are set aside.
    fn free_aside(&self, run: &Path) -> PathBuf {
        let name = run.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let folder = self.path().join(SET_ASIDE);
        let numbered = (2_u32..).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered).map(|name| folder.join(name));
        names.find(|path| path.symlink_metadata().is_err()).unwrap_or(folder)
    }

    /// Finishes or removes what stopped writers left.
    fn repair_leftovers(&self, repairer: &mut Repairer<'_>) -> Result<()> {
        let left = self.leftovers()?;
        if left.is_empty() {
            return Ok(());
        }
        repairer.step(
            format!("leftovers of killed writers are removed, or moved to their run: {}", left.join(", ")),
            || {
                let _gate = self.gate()?;
                sweep(self);
                Ok(())
            },
        )
    }

    /// Sets aside the staged runs of stopped writers, since a manifest that can't be read may have named them.
    fn keep_staged(&self, repairer: &mut Repairer<'_>) -> Result<()> {
        let named: Vec<String> = self
            .manifests(None, |manifest| manifest.generation)?
            .into_iter()
            .filter_map(|(_, found)| found.ok())
            .collect();
        for path in self.dead()? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !named.contains(&name) {
                self.move_aside(&path, "a manifest that can't be read may have named it", repairer)?;
            }
        }
        Ok(())
    }

    /// Returns the staged runs whose writer is gone, without creating any file.
    fn dead(&self) -> Result<Vec<PathBuf>> {
        let _gate = self.gate()?;
        refuse_link(&self.staging())?;
        let staged = entries(&self.staging()).filter(is_generation).map(|entry| entry.path());
        Ok(staged.filter(|path| is_own(path) && is_free(&path.join(LOCK))).collect())
    }

    /// Returns what a sweep would remove or move.
    fn leftovers(&self) -> Result<Vec<String>> {
        let mut left = self.dead()?;
        let _gate = self.gate()?;
        // The files of the store itself are written only by the holder of the gate.
        left.extend(entries(self.path()).filter(is_new).map(|entry| entry.path()));
        for run in self.run_folders()? {
            let Ok(Some(manifest)) = read_manifest(&run) else { continue };
            if is_free(&run.join(LOCK)) {
                let earlier = entries(&run).filter(|entry| is_earlier(entry, Some(&manifest.generation)));
                left.extend(earlier.map(|entry| entry.path()).filter(|path| is_own(path)));
            }
        }
        Ok(left.iter().map(|path| path.display().to_string()).collect())
    }

    /// Moves a run's folder to where no reader looks.
    pub(crate) fn set_aside(&self, key: &RunKey, why: &str, repairer: &mut Repairer<'_>) -> Result<()> {
        match self.find(key)? {
            Some((run, _)) => self.move_aside(&run, &format!("{key}: {why}"), repairer),
            None => Ok(()),
        }
    }
}

/// Returns true if nobody holds a lock, without creating its file. The caller holds the gate, since other processes find
/// the lock taken while it is tried.
fn is_free(lock: &Path) -> bool {
    match open_unlinked(lock) {
        Ok(file) => file.try_lock().is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|error| Error::io(to, error))?;
    [from, to].iter().filter_map(|path| path.parent()).try_for_each(sync_dir)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RepairOutcome, RepairStep, Repaired};

    #[test]
    fn leftovers_are_not_searched_without_the_gate() {
        let dir = tempfile::tempdir().unwrap();
        let folder = StoreFolder::new(dir.path());
        let leftover = folder.stage().unwrap().path.clone();
        fs::create_dir(&leftover).unwrap();
        fs::remove_file(dir.path().join(LOCK)).unwrap();
        // A folder can't be opened as a lock file.
        fs::create_dir(dir.path().join(LOCK)).unwrap();
        for dry_run in [true, false] {
            let mut said = Vec::new();
            let mut say = |step: RepairStep| said.push(step);
            let mut repairer = Repairer::new(dry_run, &mut say);
            folder.repair(&mut repairer).unwrap();
            assert_eq!(repairer.done, Repaired { left: 1, ..Repaired::default() }, "dry run: {dry_run}");
            let is_left = |step: &RepairStep| step.outcome == RepairOutcome::Left && step.what.contains(LOCK);
            assert!(said.iter().all(is_left), "{said:?}");
            assert!(leftover.exists());
        }
    }
}
