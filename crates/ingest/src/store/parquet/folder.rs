//! The folder of an embedded store: where a run lies, who may write it, and how a new one takes its place.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::lock::Lock;
use super::manifest::{Manifest, NEW, check_mark, mark, sync_dir, temporary};
use super::sums::Sums;
use crate::error::{Error, Result};
use crate::store::{LAST_REPEAT, Replace, RunInfo, RunKey};

const MARKER: &str = "perfpipe.json";
const MANIFEST: &str = "manifest.json";
const LOCK: &str = ".lock";

/// How the names of generations and of staged runs begin.
const GENERATION: &str = "run-";

/// What stands before a repeat's number in its folder's name.
const REPEAT: char = '+';

/// The most bytes of a folder's name, but for the repeat.
const NAME: usize = 139;

/// The folder of a store.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn runs(&self) -> PathBuf {
        self.path.join("runs")
    }

    fn staging(&self) -> PathBuf {
        self.path.join("staging")
    }

    fn run(&self, key: &RunKey) -> PathBuf {
        self.runs().join(folder_name(key))
    }

    pub(super) fn generation(&self, key: &RunKey, generation: &str) -> PathBuf {
        self.run(key).join(generation)
    }

    /// Refuses a folder that holds a store of another layout, or something else.
    pub(super) fn check_layout(&self) -> Result<()> {
        self.check_folder()?;
        match check_mark(&self.path.join(MARKER))? {
            true => Ok(()),
            false => self.check_unmarked(),
        }
    }

    /// Refuses a path that can't become a folder.
    fn check_folder(&self) -> Result<()> {
        let problem = match fs::metadata(&self.path) {
            Ok(found) if !found.is_dir() => "is a file, not a folder",
            Err(_) if self.path.is_symlink() => "is a link to a folder that is not there",
            _ => return Ok(()),
        };
        Err(Error::refused(
            format!("{} {problem}", self.path.display()),
            "Name another folder with --store, or make that one.",
        ))
    }

    /// A folder without a marker is fine if there is nothing in it, but for a marker that is being written.
    fn check_unmarked(&self) -> Result<()> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io(&self.path, error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| Error::io(&self.path, error))?;
            let ours = is_new(&entry) || entry.file_name() == LOCK;
            // Whoever began this store may have marked it by now.
            if !ours && !self.path.join(MARKER).exists() {
                return Err(Error::refused(
                    format!("{} is not a perfpipe store, and not empty", self.path.display()),
                    "Name another folder with --store.",
                ));
            }
        }
        Ok(())
    }

    /// Makes the folder and marks it, where that was not done before. The marker comes first, so that whoever
    /// looks meanwhile, or after a kill, sees a store.
    fn create(&self) -> Result<()> {
        let make = |path: &Path| fs::create_dir_all(path).map_err(|error| Error::io(path, error));
        make(&self.path)?;
        // First of all, so that whatever stops this later, the folder is known for a store.
        let marker = self.path.join(MARKER);
        if !marker.exists() {
            let _gate = self.gate()?;
            if !marker.exists() {
                mark(&marker)?;
            }
        }
        make(&self.runs())?;
        make(&self.staging())
    }

    /// Held for moments only: while locks are taken or given back, and while leftovers are removed, so that no
    /// lock's file goes from under the one who is just opening it.
    fn gate(&self) -> Result<Lock> {
        Lock::wait(&self.path.join(LOCK))
    }

    /// The manifest of a run; `None` if it is not stored.
    pub(super) fn manifest(&self, key: &RunKey) -> Result<Option<Manifest>> {
        Manifest::read(&self.run(key).join(MANIFEST))
    }

    /// All manifests.
    pub(super) fn manifests(&self) -> Result<Vec<Manifest>> {
        let mut manifests = Vec::new();
        for run in self.run_folders()? {
            manifests.extend(Manifest::read(&run.join(MANIFEST))?);
        }
        Ok(manifests)
    }

    /// The folders of runs, whether there is a manifest in them or not.
    fn run_folders(&self) -> Result<Vec<PathBuf>> {
        let runs = self.runs();
        let failed = |error| Error::io(&runs, error);
        match fs::read_dir(&runs) {
            Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path()).map_err(failed)).collect(),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(failed(error)),
        }
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
        let run = self.run(key);
        let _gate = self.gate()?;
        fs::create_dir_all(&run).map_err(|error| Error::io(&run, error))?;
        // An empty folder, where there was no room for the lock, goes again.
        let lock = Lock::try_new(&run.join(LOCK)).inspect_err(|_| _ = fs::remove_dir(&run))?;
        Ok(lock.map(|lock| RunLock { folder: self.clone(), run, _lock: lock }))
    }

    /// Holds the lowest repeat of a key that is neither stored nor held by another.
    pub(super) fn lock_next(&self, key: RunKey) -> Result<(RunKey, RunLock)> {
        for repeat in 1..=LAST_REPEAT {
            let key = key.clone().with_repeat(repeat);
            let stored = || self.run(&key).join(MANIFEST).exists();
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

    /// The repeats that are stored of a key's framework and test, ascending.
    pub(super) fn repeats(&self, key: &RunKey) -> Result<Vec<u32>> {
        let first = folder_name(&key.clone().with_repeat(1));
        let repeat_of = |name: &str| match name.strip_prefix(first.as_str())? {
            "" => Some(1),
            rest => rest.strip_prefix(REPEAT)?.parse().ok(),
        };
        let mut repeats = Vec::new();
        for run in self.run_folders()? {
            let name = run.file_name().unwrap_or_default().to_string_lossy();
            repeats.extend(repeat_of(&name).filter(|_| run.join(MANIFEST).exists()));
        }
        repeats.sort_unstable();
        Ok(repeats)
    }

    /// A new folder for a run that is to be written, and the lock that says its writer lives.
    pub(super) fn stage(&self) -> Result<Staging> {
        self.create()?;
        let _gate = self.gate()?;
        self.sweep();
        let staging = self.staging();
        let made = temporary(GENERATION, 0o777).tempdir_in(&staging);
        let path = made.map_err(|error| Error::io(&staging, error))?.keep();
        let alive = Lock::wait(&path.join(LOCK))?;
        Ok(Staging { path, _alive: alive })
    }

    /// Removes what killed writers left, wherever nobody holds the lock. Whoever calls holds the gate.
    fn sweep(&self) {
        for staged in entries(&self.staging()).filter(is_generation) {
            // One that vanished meanwhile was its writer's to remove.
            if let Ok(Some(_dead)) = Lock::try_new(&staged.path().join(LOCK)) {
                let _ = fs::remove_dir_all(staged.path());
            }
        }
        for run in entries(&self.runs()) {
            let lock = run.path().join(LOCK);
            if !lock.exists() {
                // Not a run's, unless it was to become one: then it is empty.
                let _ = fs::remove_dir(run.path());
            } else if let Ok(Some(_free)) = Lock::try_new(&lock) {
                clear(&run.path());
            }
        }
        // Markers are written by whoever holds the gate: these are nobody's.
        for marker in entries(&self.path).filter(is_new) {
            let _ = fs::remove_file(marker.path());
        }
    }

    /// Makes a staged run appear in the place of any earlier one of its key.
    ///
    /// The generation is renamed into the run's folder first, where nobody looks; the rename of the manifest
    /// is the moment in which the run appears.
    pub(super) fn publish(
        &self,
        staging: Staging,
        files: BTreeMap<String, Sums>,
        info: &RunInfo,
        lock: Option<RunLock>,
        replace: Replace,
    ) -> Result<()> {
        let lock = match lock {
            Some(lock) => lock,
            None => self.lock(&info.key)?,
        };
        match self.manifest(&info.key) {
            Ok(Some(old)) if !replace.allows(&old.info, info) => {
                return Err(Replace::refusal(&old.info, info));
            }
            // A run that can't be read any more gives way to whoever names it.
            Err(Error::Store { .. }) if replace.allows_unread(info) => {}
            Err(Error::Store { what, .. }) => return Err(Replace::refusal_unread(&what)),
            old => _ = old?,
        }
        let generation = staging.name();
        sync_dir(&staging.path)?;
        staging.move_to(&lock.run.join(&generation))?;
        sync_dir(&lock.run)?;
        let manifest = Manifest { generation, files, info: info.clone() };
        let written = manifest.write(&lock.run.join(MANIFEST));
        // Of the old generation and the new one, that which the manifest does not name by now.
        tidy(&lock.run);
        written
    }

    /// Takes a run away; false if it was not there.
    pub(super) fn drop_run(&self, key: &RunKey) -> Result<bool> {
        let manifest = self.run(key).join(MANIFEST);
        if !manifest.exists() {
            return Ok(false);
        }
        let lock = self.lock(key)?;
        match fs::remove_file(&manifest) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(Error::io(&manifest, error)),
        }
        sync_dir(&lock.run)?;
        Ok(true)
    }
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
        if !self.run.join(MANIFEST).exists()
            && let Ok(_gate) = self.folder.gate()
        {
            clear(&self.run);
        }
    }
}

/// A run's folder while it is being written; dropped, it leaves nothing.
#[derive(Debug)]
pub(super) struct Staging {
    pub(super) path: PathBuf,
    _alive: Lock,
}

impl Staging {
    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn move_to(&self, path: &Path) -> Result<()> {
        fs::rename(&self.path, path).map_err(|error| Error::io(path, error))?;
        // Not before: without it, the folder would be a dead writer's.
        let lock = path.join(LOCK);
        fs::remove_file(&lock).map_err(|error| Error::io(&lock, error))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // After a commit there is nothing here any more; otherwise the next ingest sweeps what stays.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// What is in a folder; nothing, where it can't be read.
fn entries(folder: &Path) -> impl Iterator<Item = fs::DirEntry> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

/// Removes from a run's folder what its manifest does not name: other generations, and manifests that were never
/// put in place; without a manifest, all of perfpipe's own. What can't be removed is left to the next ingest.
/// Whoever calls holds the run's lock.
fn tidy(run: &Path) {
    let current = match Manifest::read(&run.join(MANIFEST)) {
        Ok(manifest) => manifest.map(|manifest| manifest.generation),
        // What it names is not known.
        Err(_) => return,
    };
    for entry in entries(run) {
        if is_new(&entry) {
            let _ = fs::remove_file(entry.path());
        } else if is_generation(&entry) && Some(entry.file_name()) != current.as_ref().map(Into::into) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Tidies a run's folder, and removes it if nothing is left. Whoever calls holds the gate too.
fn clear(run: &Path) {
    tidy(run);
    if entries(run).all(|entry| entry.file_name() == LOCK) {
        let _ = fs::remove_file(run.join(LOCK));
        let _ = fs::remove_dir(run);
    }
}

/// Whether a file is one of those that are written beside their place first.
fn is_new(entry: &fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with(NEW)
}

/// Whether a folder is one that a run is, or was to be, in.
fn is_generation(entry: &fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with(GENERATION)
}

/// A folder's name for a key: what is safe in every file system stays, the rest is percent-encoded.
pub(super) fn folder_name(key: &RunKey) -> String {
    let mut name = String::new();
    for part in [&key.framework, &key.test] {
        // Encoding `%` and the joint's own `+` keeps different keys apart.
        if !name.is_empty() {
            name.push('+');
        }
        for byte in part.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => name.push(byte as char),
                b'.' if !name.is_empty() => name.push('.'),
                _ => name.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    if name.len() > NAME {
        let hash = crc32fast::hash(name.as_bytes());
        let longer = crc32fast::hash(name.chars().rev().collect::<String>().as_bytes());
        name.truncate(120);
        name.push_str(&format!("~{hash:08x}{longer:08x}"));
    }
    if key.repeat != 1 {
        name.push_str(&format!("{REPEAT}{}", key.repeat));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(framework: &str, test: &str) -> String {
        folder_name(&RunKey::new(framework, test))
    }

    #[test]
    fn folder_names_are_safe_and_differ() {
        assert_eq!(name("perfectnio", "2048"), "perfectnio+2048");
        assert_eq!(name("127.0.0.1:9000", "2048"), "127.0.0.1%3A9000+2048");
        assert_eq!(name("../a", "b/c"), "%2E.%2Fa+b%2Fc");
        assert_ne!(name("a_b", "c"), name("a", "b_c"));
        assert!(name(&"é".repeat(500), "x").len() < 150);
    }

    #[test]
    fn each_repeat_has_a_folder_of_its_own() {
        let name = |framework: &str, repeat| folder_name(&RunKey::new(framework, "2048").with_repeat(repeat));
        assert_eq!(name("go", 2), "go+2048+2");
        assert_eq!(folder_name(&RunKey::new("go", "2048+2")), "go+2048%2B2");
        let long = "x".repeat(500);
        assert_ne!(name(&long, 1), name(&long, 2));
        assert!(name(&long, LAST_REPEAT).len() <= 150 && name(&"x".repeat(134), LAST_REPEAT).len() <= 150);
    }

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
