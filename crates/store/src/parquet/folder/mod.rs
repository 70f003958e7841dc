//! The folder of an embedded store: where runs are, who may write them, and how a new run replaces an earlier one.

pub(crate) mod leftovers;
pub(crate) mod manifest;
pub(super) mod paths;
pub(crate) mod repair;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use self::leftovers::{clear, is_new, sweep, tidy};
use self::manifest::{GENERATION, Manifest, check_mark, mark, sync_dir, temporary, unmarked};
use self::paths::{SET_ASIDE, has_manifest, read_manifest};

use super::checksum::FileSums;
use super::lock::{LockFile, refuse_link};
use crate::RunRef;
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::{LAST_REPEAT, RunKey};
use perfpipe_model::run::replace::Replace;

pub(super) use self::paths::{LOCK, MANIFEST, MARKER, POINTS, StoreFolder};

/// The names that may exist in a store's folder besides the marker.
const OWN: [&str; 6] = [LOCK, "runs", "staging", "parts", SET_ASIDE, POINTS];

impl StoreFolder {
    /// Fails if the folder holds a store of another layout version, or something else.
    pub(super) fn check_layout(&self) -> Result<()> {
        self.check_folder()?;
        match check_mark(&self.path().join(MARKER))? {
            true => Ok(()),
            false => self.check_unmarked(),
        }
    }

    /// Returns true if a store was created here, even if parts of it are lost.
    pub(super) fn is_there(&self) -> bool {
        self.path().join(MARKER).exists() || self.runs().is_dir()
    }

    /// Fails if the path can't become a folder.
    fn check_folder(&self) -> Result<()> {
        let problem = match fs::metadata(self.path()) {
            Ok(found) if !found.is_dir() => "is a file, not a folder",
            Err(_) if self.path().is_symlink() => "is a link to a folder that does not exist",
            _ => return Ok(()),
        };
        Err(Error::refused(
            ErrorKind::NoFolder,
            format!("{} {problem}", self.path().display()),
            "Name another folder, or create that one.",
        ))
    }

    /// Checks a folder without a marker. It must be empty, except for a marker that is being written.
    fn check_unmarked(&self) -> Result<()> {
        let entries = match fs::read_dir(self.path()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io(self.path(), error)),
        };
        let (mut runs, mut other) = (false, false);
        for entry in entries {
            let entry = entry.map_err(|error| Error::io(self.path(), error))?;
            let name = entry.file_name();
            runs |= name == "runs";
            other |= !is_new(&entry) && !OWN.iter().any(|own| name == *own);
        }
        // Another process that creates this store may have written the marker meanwhile.
        if self.path().join(MARKER).exists() || !(runs || other) {
            return Ok(());
        }
        if other {
            return Err(Error::refused(
                ErrorKind::NotAStore,
                format!("{} is not a perfpipe store, and not empty", self.path().display()),
                "Name another folder.",
            ));
        }
        Err(unmarked(&self.path().join(MARKER), "it is missing"))
    }

    /// Creates the folder and its marker if they are missing.
    pub(super) fn create(&self) -> Result<()> {
        let make = |path: &Path| fs::create_dir_all(path).map_err(|error| Error::io(path, error));
        make(self.path())?;
        // The marker comes first: if this is interrupted later, the folder is still recognised as a store.
        let marker = self.path().join(MARKER);
        if !marker.exists() {
            let _gate = self.gate()?;
            if !marker.exists() {
                mark(&marker)?;
            }
        }
        check_mark(&marker)?;
        [self.runs(), self.staging()].iter().try_for_each(|path| refuse_link(path).and_then(|()| make(path)))
    }

    /// Locks the store briefly, while other locks are taken or released and while leftovers are removed. This prevents
    /// that a lock file is deleted while another process opens it.
    pub(super) fn gate(&self) -> Result<LockFile> {
        LockFile::wait(&self.path().join(LOCK))
    }

    /// Locks a run's key until the lock is dropped.
    ///
    /// # Errors
    /// If another writer holds it.
    pub(super) fn lock(&self, key: &RunKey) -> Result<RunLock> {
        self.try_lock(key)?.ok_or_else(|| {
            Error::refused(
                ErrorKind::RunBusy,
                format!("the run {key} is being written or dropped by another perfpipe"),
                "Wait until it is done, or give this run another framework or test.",
            )
        })
    }

    /// Locks a run's key until the lock is dropped; `None` if another writer holds it.
    fn try_lock(&self, key: &RunKey) -> Result<Option<RunLock>> {
        self.create()?;
        let _gate = self.gate()?;
        let run = self.run(key);
        refuse_link(&run)?;
        fs::create_dir_all(&run).map_err(|error| Error::io(&run, error))?;
        // If there was no room on the disk for the lock file, the empty folder is removed again.
        let lock = LockFile::try_new(&run.join(LOCK)).inspect_err(|_| _ = fs::remove_dir(&run))?;
        // First finish what an earlier, stopped writer left of this run.
        lock.iter().for_each(|_| tidy(self, &run, false));
        Ok(lock.map(|lock| RunLock { folder: self.clone(), run, _lock: lock }))
    }

    /// Locks the lowest repeat of a key that is neither stored nor locked by another writer.
    pub(super) fn lock_next(&self, key: RunKey) -> Result<(RunKey, RunLock)> {
        for repeat in 1..=LAST_REPEAT {
            let key = key.clone().with_repeat(repeat);
            let stored = || has_manifest(&self.run(&key));
            if stored() {
                continue;
            }
            // The former holder of the lock may have stored the run just before releasing it.
            match self.try_lock(&key)? {
                Some(lock) if !stored() => return Ok((key, lock)),
                _ => {}
            }
        }
        Err(Error::store("looking for a free repeat", format!("all repeats of {key} are taken")))
    }

    /// Creates a folder for a run to be written, and the lock that marks its writer as running.
    pub(super) fn stage(&self) -> Result<StagingFolder> {
        self.create()?;
        let _gate = self.gate()?;
        sweep(self);
        let staging = self.staging();
        let made = temporary(GENERATION, 0o777).tempdir_in(&staging);
        let path = made.map_err(|error| Error::io(&staging, error))?.keep();
        let alive = LockFile::wait(&path.join(LOCK))?;
        Ok(StagingFolder { path, kept: false, _alive: alive })
    }

    /// Makes a staged run appear, replacing an earlier one of its key.
    ///
    /// The run appears at the moment when its manifest is renamed into place. Once that is durable, the files of the
    /// earlier run are moved out of the run's folder, and those of the new one in.
    pub(super) fn publish(
        &self,
        mut staging: StagingFolder,
        files: BTreeMap<String, FileSums>,
        info: &RunInfo,
        lock: Option<RunLock>,
        replace: Replace,
    ) -> Result<()> {
        let lock = match lock {
            Some(lock) => lock,
            None => self.lock(&info.key)?,
        };
        self.check_replace(info, replace)?;
        sync_dir(&staging.path)?;
        sync_dir(&self.staging())?;
        let manifest = Manifest { generation: staging.name(), files, info: info.clone() };
        let put = manifest.put(&lock.run.join(MANIFEST));
        if put.is_err() && !may_name(&lock.run, &manifest.generation) {
            return put;
        }
        staging.kept = true;
        let durable = put.and_then(|()| sync_dir(&lock.run)).and_then(|()| sync_dir(&self.runs()));
        durable.map_err(|error| not_durable(&format!("the run {} is in its place", info.key), &error))?;
        // The next writer repeats what fails here. Until then the run is read from where it is.
        tidy(self, &lock.run, true);
        Ok(())
    }

    /// Fails if the new run may not replace the stored one.
    fn check_replace(&self, info: &RunInfo, replace: Replace) -> Result<()> {
        match self.manifest(&info.key) {
            Ok(Some(old)) if !replace.allows(&old.info, info) => Err(Replace::refusal(&old.info, info)),
            // An unreadable run may be replaced by one that is named explicitly.
            Err(Error::Store { .. }) if replace.allows_unread(info) => Ok(()),
            Err(Error::Store { what, .. }) => Err(Replace::refusal_unread(&what)),
            old => old.map(drop),
        }
    }

    /// Removes a run; returns false if it is not stored.
    pub(super) fn drop_run(&self, wanted: RunRef<'_>) -> Result<bool> {
        let key = wanted.key();
        if !has_manifest(&self.run(key)) {
            return Ok(false);
        }
        let lock = self.lock(key)?;
        match self.manifest(key) {
            Ok(Some(stored)) => wanted.check(&stored.info)?,
            // An unreadable run can be dropped too.
            Err(Error::Store { .. }) => {}
            other => return other.map(|_| false),
        }
        let manifest = lock.run.join(MANIFEST);
        fs::remove_file(&manifest).map_err(|error| Error::io(&manifest, error))?;
        sync_dir(&lock.run).map_err(|error| not_durable(&format!("the run {key} was dropped"), &error))?;
        Ok(true)
    }
}

/// Returns true if the manifest in a run's folder names a generation or can't be read.
fn may_name(run: &Path, generation: &str) -> bool {
    match read_manifest(run) {
        Ok(found) => found.is_some_and(|found| found.generation == generation),
        Err(_) => true,
    }
}

/// Returns the error for a change that a power failure may undo.
pub(crate) fn not_durable(done: &str, error: &Error) -> Error {
    Error::refused(
        ErrorKind::NotDurable,
        format!("{done}, but a power failure may still undo it, so the earlier files are kept: {error}"),
        "Find out from the system's log what is wrong with the disk, then verify the run.",
    )
}

/// The lock of a run's key. When it is dropped, the run's folder is removed if it holds no run.
#[derive(Debug)]
pub(super) struct RunLock {
    folder: StoreFolder,
    run: PathBuf,
    _lock: LockFile,
}

impl Drop for RunLock {
    fn drop(&mut self) {
        if !has_manifest(&self.run)
            && let Ok(_gate) = self.folder.gate()
        {
            clear(&self.folder, &self.run);
        }
    }
}

/// The folder of a run that is being written. Dropping it removes the folder, unless a manifest names it.
#[derive(Debug)]
pub(super) struct StagingFolder {
    pub(super) path: PathBuf,
    /// True if a manifest may name it, so that it holds the run.
    kept: bool,
    _alive: LockFile,
}

impl StagingFolder {
    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl Drop for StagingFolder {
    fn drop(&mut self) {
        if !self.kept {
            // The next ingest removes what can't be removed now.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_repeat_is_the_lowest_that_is_neither_stored_nor_held() {
        let dir = tempfile::tempdir().unwrap();
        let folder = StoreFolder::new(dir.path());
        let next = || folder.lock_next(RunKey::new("a", "b")).unwrap();
        let (first, _held) = next();
        let (second, lock) = next();
        assert_eq!((first.repeat, second.repeat), (1, 2));
        drop(lock);
        fs::write(folder.run(&second).join(MANIFEST), "{}").unwrap_err();
        fs::create_dir(folder.run(&second)).unwrap();
        fs::write(folder.run(&second).join(MANIFEST), "{}").unwrap();
        fs::create_dir(folder.run(&RunKey::new("a", "b+2"))).unwrap();
        assert_eq!(next().0.repeat, 3);
        // The repeat whose manifest can't be read.
        assert_eq!(folder.repeats(&RunKey::new("a", "b")).unwrap(), [2]);
    }

    #[test]
    fn folder_of_something_else_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let folder = StoreFolder::new(dir.path());
        folder.check_layout().unwrap();
        fs::write(dir.path().join("thesis.txt"), "x").unwrap();
        assert_eq!(folder.check_layout().unwrap_err().kind(), perfpipe_model::error::ErrorKind::NotAStore);
        fs::write(dir.path().join(MARKER), "{\"layout\": 99}").unwrap();
        assert!(folder.check_layout().unwrap_err().to_string().contains("layout 99"));
    }

    #[test]
    fn store_that_is_being_made_is_a_store() {
        let dir = tempfile::tempdir().unwrap();
        let folder = StoreFolder::new(dir.path());
        fs::write(dir.path().join(".new-1"), "{").unwrap();
        folder.check_layout().unwrap();
        let _lock = folder.lock(&RunKey::new("a", "b")).unwrap();
        folder.check_layout().unwrap();
        // The check of a process that looked for the marker before it was written.
        folder.check_unmarked().unwrap();
    }

    #[test]
    fn staging_of_a_dead_writer_is_swept_and_that_of_a_living_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let folder = StoreFolder::new(dir.path());
        let alive = folder.stage().unwrap();
        let dead = folder.stage().unwrap().path.clone();
        fs::create_dir(&dead).unwrap();
        let next = folder.stage().unwrap();
        assert!(alive.path.exists() && next.path.exists() && !dead.exists());
    }
}
