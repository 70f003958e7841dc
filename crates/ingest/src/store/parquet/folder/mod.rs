//! The folder of an embedded store: where a run lies, who may write it, and how a new one takes its place.

pub(crate) mod leftovers;
pub(crate) mod manifest;
pub(crate) mod name;
mod paths;
pub(crate) mod repair;

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use self::leftovers::{clear, is_new, settle, sweep};
use self::manifest::{GENERATION, Manifest, check_mark, mark, sync_dir, temporary, unmarked};
use self::paths::{LOCK, MANIFEST, MARKER, SET_ASIDE, has_manifest, read_manifest};

use super::checksum::Sums;
use super::lock::{Lock, refuse_link};
use crate::error::{Error, Result};
use crate::run::info::RunInfo;
use crate::run::key::{LAST_REPEAT, RunKey};
use crate::run::replace::Replace;

pub(super) use self::paths::Folder;

/// What there may be in a store's folder beside the marker.
const OWN: [&str; 4] = [LOCK, "runs", "staging", SET_ASIDE];

impl Folder {
    /// Refuses a folder that holds a store of another layout, or something else.
    pub(super) fn check_layout(&self) -> Result<()> {
        self.check_folder()?;
        match check_mark(&self.path().join(MARKER))? {
            true => Ok(()),
            false => self.check_unmarked(),
        }
    }

    /// Whether a store was made here, of which some may be lost.
    pub(super) fn is_there(&self) -> bool {
        self.path().join(MARKER).exists() || self.runs().is_dir()
    }

    /// Refuses a path that can't become a folder.
    fn check_folder(&self) -> Result<()> {
        let problem = match fs::metadata(self.path()) {
            Ok(found) if !found.is_dir() => "is a file, not a folder",
            Err(_) if self.path().is_symlink() => "is a link to a folder that is not there",
            _ => return Ok(()),
        };
        Err(Error::refused(
            format!("{} {problem}", self.path().display()),
            "Name another folder with --store, or make that one.",
        ))
    }

    /// A folder without a marker is fine if there is nothing in it, but for a marker that is being written.
    fn check_unmarked(&self) -> Result<()> {
        let entries = match fs::read_dir(self.path()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io(self.path(), error)),
        };
        let (mut runs, mut other) = (false, false);
        for entry in entries {
            let entry = entry.map_err(|error| Error::io(self.path(), error))?;
            let name = entry.file_name();
            runs |= name == "runs";
            other |= !is_new(&entry) && !OWN.iter().any(|own| name == *own);
        }
        // Whoever began this store may have marked it by now.
        if self.path().join(MARKER).exists() || !(runs || other) {
            return Ok(());
        }
        if other {
            return Err(Error::refused(
                format!("{} is not a perfpipe store, and not empty", self.path().display()),
                "Name another folder with --store.",
            ));
        }
        Err(unmarked(&self.path().join(MARKER), "it is missing"))
    }

    /// Makes the folder and marks it, where that was not done before. The marker comes first, so that whoever
    /// looks meanwhile, or after a kill, sees a store.
    fn create(&self) -> Result<()> {
        let make = |path: &Path| fs::create_dir_all(path).map_err(|error| Error::io(path, error));
        make(self.path())?;
        // First of all, so that whatever stops this later, the folder is known for a store.
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

    /// Held for moments only: while locks are taken or given back, and while leftovers are removed, so that no
    /// lock's file goes from under the one who is just opening it.
    pub(super) fn gate(&self) -> Result<Lock> {
        Lock::wait(&self.path().join(LOCK))
    }

    /// Holds a run's key for as long as the lock lives.
    ///
    /// # Errors
    /// When another writer holds it.
    pub(super) fn lock(&self, key: &RunKey) -> Result<RunLock> {
        self.try_lock(key)?.ok_or_else(|| {
            Error::refused(
                format!("the run {key} is being written or dropped by another perfpipe"),
                "Wait until it is done, or name this run with --framework and --test.",
            )
        })
    }

    /// Holds a run's key for as long as the lock lives; `None` if another does.
    fn try_lock(&self, key: &RunKey) -> Result<Option<RunLock>> {
        self.create()?;
        let _gate = self.gate()?;
        let run = self.run(key);
        refuse_link(&run)?;
        fs::create_dir_all(&run).map_err(|error| Error::io(&run, error))?;
        // An empty folder, where there was no room for the lock, goes again.
        let lock = Lock::try_new(&run.join(LOCK)).inspect_err(|_| _ = fs::remove_dir(&run))?;
        // What its last writer was stopped in is finished before anything else is done with the run.
        lock.iter().for_each(|_| settle(self, &run));
        Ok(lock.map(|lock| RunLock { folder: self.clone(), run, _lock: lock }))
    }

    /// Holds the lowest repeat of a key that is neither stored nor held by another.
    pub(super) fn lock_next(&self, key: RunKey) -> Result<(RunKey, RunLock)> {
        for repeat in 1..=LAST_REPEAT {
            let key = key.clone().with_repeat(repeat);
            let stored = || has_manifest(&self.run(&key));
            if stored() {
                continue;
            }
            // Whoever held it may have stored it before it was free.
            match self.try_lock(&key)? {
                Some(lock) if !stored() => return Ok((key, lock)),
                _ => {}
            }
        }
        Err(Error::store("looking for a free repeat", format!("all repeats of {key} are taken")))
    }

    /// A new folder for a run that is to be written, and the lock that says its writer lives.
    pub(super) fn stage(&self) -> Result<Staging> {
        self.create()?;
        let _gate = self.gate()?;
        sweep(self);
        let staging = self.staging();
        let made = temporary(GENERATION, 0o777).tempdir_in(&staging);
        let path = made.map_err(|error| Error::io(&staging, error))?.keep();
        let alive = Lock::wait(&path.join(LOCK))?;
        Ok(Staging { path, kept: false, _alive: alive })
    }

    /// Makes a staged run appear in the place of any earlier one of its key.
    ///
    /// The rename of the manifest is the moment in which the run appears. Only once that is durable, the files of the
    /// earlier run are moved out of the run's folder, and those of the new one in.
    pub(super) fn publish(
        &self,
        mut staging: Staging,
        files: BTreeMap<String, Sums>,
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
        // What fails of this is done by the next writer; until then the run is read where it is.
        settle(self, &lock.run);
        Ok(())
    }

    /// Refuses to put a run where there is one that may not be replaced.
    fn check_replace(&self, info: &RunInfo, replace: Replace) -> Result<()> {
        match self.manifest(&info.key) {
            Ok(Some(old)) if !replace.allows(&old.info, info) => Err(Replace::refusal(&old.info, info)),
            // A run that can't be read any more gives way to whoever names it.
            Err(Error::Store { .. }) if replace.allows_unread(info) => Ok(()),
            Err(Error::Store { what, .. }) => Err(Replace::refusal_unread(&what)),
            old => old.map(drop),
        }
    }

    /// Takes a run away; false if it was not there.
    pub(super) fn drop_run(&self, key: &RunKey) -> Result<bool> {
        if !has_manifest(&self.run(key)) {
            return Ok(false);
        }
        let lock = self.lock(key)?;
        match self.manifest(key) {
            // One that can't be read any more can be taken away.
            Ok(Some(_)) | Err(Error::Store { .. }) => {}
            other => return other.map(|_| false),
        }
        let manifest = lock.run.join(MANIFEST);
        fs::remove_file(&manifest).map_err(|error| Error::io(&manifest, error))?;
        sync_dir(&lock.run).map_err(|error| not_durable(&format!("the run {key} was dropped"), &error))?;
        Ok(true)
    }
}

/// Whether the manifest in a run's folder names a generation, as far as can be told.
fn may_name(run: &Path, generation: &str) -> bool {
    match read_manifest(run) {
        Ok(found) => found.is_some_and(|found| found.generation == generation),
        Err(_) => true,
    }
}

/// The error that what was done may be undone by a power failure.
fn not_durable(done: &str, error: &Error) -> Error {
    Error::refused(
        format!(
            "{done}, but it is not sure that this survives a power failure, and what was there before is kept until it \
             is: {error}"
        ),
        "See what is wrong with the disk (the system's log says so), then look at the run with `perfpipe verify`.",
    )
}

/// The right to write a run; given back, it leaves no folder where there is no run.
#[derive(Debug)]
pub(super) struct RunLock {
    folder: Folder,
    run: PathBuf,
    _lock: Lock,
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

/// A run's folder while it is being written; dropped, it leaves nothing, unless a manifest names it.
#[derive(Debug)]
pub(super) struct Staging {
    pub(super) path: PathBuf,
    /// Whether a manifest may name it: then it is the run.
    kept: bool,
    _alive: Lock,
}

impl Staging {
    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.kept {
            // What stays is swept by the next ingest.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_repeat_is_the_lowest_that_is_neither_stored_nor_held() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(dir.path());
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
        // One that can't be read.
        assert_eq!(folder.repeats(&RunKey::new("a", "b")).unwrap(), [2]);
    }

    #[test]
    fn a_folder_of_something_else_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(dir.path());
        folder.check_layout().unwrap();
        fs::write(dir.path().join("thesis.txt"), "x").unwrap();
        assert!(folder.check_layout().unwrap_err().to_string().contains("not a perfpipe store"));
        fs::write(dir.path().join(MARKER), "{\"layout\": 99}").unwrap();
        assert!(folder.check_layout().unwrap_err().to_string().contains("layout 99"));
    }

    #[test]
    fn a_store_that_is_being_made_is_a_store() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(dir.path());
        fs::write(dir.path().join(".new-1"), "{").unwrap();
        folder.check_layout().unwrap();
        let _lock = folder.lock(&RunKey::new("a", "b")).unwrap();
        folder.check_layout().unwrap();
        // As seen by one who looked for the marker before it was there.
        folder.check_unmarked().unwrap();
    }

    #[test]
    fn what_a_dead_writer_left_is_swept_and_a_living_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(dir.path());
        let alive = folder.stage().unwrap();
        let dead = folder.stage().unwrap().path.clone();
        fs::create_dir(&dead).unwrap();
        let next = folder.stage().unwrap();
        assert!(alive.path.exists() && next.path.exists() && !dead.exists());
    }
}
