//! The folder of an embedded store: where a run lies, who may write it, and how a new one takes its place.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::store::{Replace, RunInfo, RunKey};

/// The version of the files' layout.
const LAYOUT: u32 = 1;

const MARKER: &str = "perfpipe.json";
const MANIFEST: &str = "manifest.json";
const LOCK: &str = ".lock";

/// How the names of files begin that are renamed once they are whole.
const NEW: &str = ".new-";

/// What the folder says of itself.
#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    layout: u32,
}

/// What a run's folder says of itself: the run's own row and its current generation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) generation: String,
    #[serde(flatten)]
    pub(super) info: RunInfo,
}

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

    fn run(&self, key: &RunKey) -> PathBuf {
        self.path.join("runs").join(folder_name(key))
    }

    pub(super) fn generation(&self, key: &RunKey, generation: &str) -> PathBuf {
        self.run(key).join(generation)
    }

    /// Refuses a folder that holds a store of another layout, or something else.
    pub(super) fn check_layout(&self) -> Result<()> {
        let marker = self.path.join(MARKER);
        let text = match fs::read(&marker) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return self.check_unmarked(),
            Err(error) => return Err(Error::io(&marker, error)),
        };
        match serde_json::from_slice::<Marker>(&text) {
            Ok(Marker { layout: LAYOUT }) => Ok(()),
            Ok(Marker { layout }) => Err(Error::refused(
                format!(
                    "{} is a store of layout {layout}, and this perfpipe writes layout {LAYOUT}",
                    self.path.display()
                ),
                "Use the perfpipe that wrote it, or another folder with --store.",
            )),
            Err(error) => Err(Error::store(format!("reading {}", marker.display()), error)),
        }
    }

    /// A folder without a marker is fine if there is nothing in it, but for a marker that is being written.
    fn check_unmarked(&self) -> Result<()> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io(&self.path, error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| Error::io(&self.path, error))?;
            // Whoever began this store may have marked it by now.
            if !is_new(&entry) && !self.path.join(MARKER).exists() {
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
    pub(super) fn create(&self) -> Result<()> {
        let make = |path: &Path| fs::create_dir_all(path).map_err(|error| Error::io(path, error));
        make(&self.path)?;
        // First of all, so that whatever stops this later, the folder is known for a store.
        let marker = self.path.join(MARKER);
        if !marker.exists() {
            write_json(&marker, &Marker { layout: LAYOUT })?;
        }
        make(&self.path.join("runs"))?;
        make(&self.path.join("staging"))
    }

    /// The manifest of a run; `None` if it is not stored.
    pub(super) fn manifest(&self, key: &RunKey) -> Result<Option<Manifest>> {
        read_manifest(&self.run(key).join(MANIFEST))
    }

    /// All manifests.
    pub(super) fn manifests(&self) -> Result<Vec<Manifest>> {
        let runs = self.path.join("runs");
        let entries = match fs::read_dir(&runs) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io(&runs, error)),
        };
        let mut manifests = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| Error::io(&runs, error))?;
            manifests.extend(read_manifest(&entry.path().join(MANIFEST))?);
        }
        Ok(manifests)
    }

    /// Holds a run's key for as long as the lock lives.
    ///
    /// # Errors
    /// When another writer holds it.
    pub(super) fn lock(&self, key: &RunKey) -> Result<Lock> {
        self.create()?;
        let run = self.run(key);
        fs::create_dir_all(&run).map_err(|error| Error::io(&run, error))?;
        Lock::try_new(&run.join(LOCK))?.ok_or_else(|| {
            Error::refused(
                format!("the run {key} is being written by another perfpipe"),
                "Wait until it is done, or name this run with --framework and --test.",
            )
        })
    }

    /// A new folder for a run that is to be written, and the lock that says its writer lives.
    pub(super) fn stage(&self) -> Result<Staging> {
        self.create()?;
        let _gate = Lock::wait(&self.path.join(LOCK))?;
        let staging = self.path.join("staging");
        sweep(&staging)?;
        let path =
            temporary("run-", 0o777).tempdir_in(&staging).map_err(|error| Error::io(&staging, error))?.keep();
        let alive = Lock::wait(&path.join(LOCK))?;
        Ok(Staging { path, _alive: alive })
    }

    /// Makes a staged run appear in the place of any earlier one of its key.
    ///
    /// The generation is renamed into the run's folder first, where nobody looks; the rename of the manifest
    /// is the moment in which the run appears.
    pub(super) fn publish(
        &self,
        staging: Staging,
        info: &RunInfo,
        lock: Option<Lock>,
        replace: Replace,
    ) -> Result<()> {
        let _lock = match lock {
            Some(lock) => lock,
            None => self.lock(&info.key)?,
        };
        let old = self.manifest(&info.key)?;
        if let Some(old) = &old
            && !replace.allows(&old.info, info)
        {
            return Err(Replace::refusal(&old.info));
        }
        let run = self.run(&info.key);
        let generation = staging.name();
        let path = run.join(&generation);
        sync_dir(&staging.path)?;
        staging.move_to(&path)?;
        sync_dir(&run)?;
        write_json(&run.join(MANIFEST), &Manifest { generation: generation.clone(), info: info.clone() })?;
        remove_leftovers(&run, &generation);
        Ok(())
    }

    /// Takes a run away; false if it was not there.
    pub(super) fn drop_run(&self, key: &RunKey) -> Result<bool> {
        if self.manifest(key)?.is_none() {
            return Ok(false);
        }
        let _lock = self.lock(key)?;
        let run = self.run(key);
        let manifest = run.join(MANIFEST);
        fs::remove_file(&manifest).map_err(|error| Error::io(&manifest, error))?;
        sync_dir(&run)?;
        fs::remove_dir_all(&run).map_err(|error| Error::io(&run, error))?;
        Ok(true)
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
        fs::remove_file(self.path.join(LOCK)).map_err(|error| Error::io(&self.path, error))?;
        fs::rename(&self.path, path).map_err(|error| Error::io(path, error))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // After a commit there is nothing here any more; otherwise the next ingest sweeps what stays.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A file that is locked for as long as this lives; the system frees it when the process ends, however it ends.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file is not enough: a process that is just being started still has it open for a moment.
        let _ = self.0.unlock();
    }
}

impl Lock {
    fn file(path: &Path) -> Result<File> {
        File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .map_err(|error| Error::io(path, error))
    }

    fn wait(path: &Path) -> Result<Self> {
        let file = Self::file(path)?;
        file.lock().map_err(|error| Error::io(path, error))?;
        Ok(Self(file))
    }

    fn try_new(path: &Path) -> Result<Option<Self>> {
        let file = Self::file(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(Error::io(path, error)),
        }
    }
}

/// Removes what killed writers left: staged runs whose lock nobody holds.
fn sweep(staging: &Path) -> Result<()> {
    let entries = fs::read_dir(staging).map_err(|error| Error::io(staging, error))?;
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with("run-") {
            // One that vanished meanwhile was its writer's to remove.
            if let Ok(Some(_dead)) = Lock::try_new(&path.join(LOCK)) {
                let _ = fs::remove_dir_all(&path);
            }
        }
    }
    Ok(())
}

/// Removes from a run's folder what its manifest does not name: other generations, and manifests that were
/// never put in place. What can't be removed is left to the next commit.
fn remove_leftovers(run: &Path, current: &str) {
    let Ok(entries) = fs::read_dir(run) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("run-") && name != current {
            let _ = fs::remove_dir_all(entry.path());
        } else if is_new(&entry) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a file is one of those that are written beside their place first.
fn is_new(entry: &fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with(NEW)
}

fn read_manifest(path: &Path) -> Result<Option<Manifest>> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(Error::io(path, error)),
    };
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(|error| Error::store(format!("reading {}", path.display()), error))
}

/// Writes a file whole or not at all: beside it first, synced, then renamed.
fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let text = serde_json::to_vec_pretty(value)
        .map_err(|error| Error::store(format!("writing {}", path.display()), error))?;
    let write = || -> std::io::Result<()> {
        let mut file = temporary(NEW, 0o666).tempfile_in(folder)?;
        file.write_all(&text)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|error| Error::io(path, error))?;
    sync_dir(folder)
}

/// Names for temporary files that end up as readable as any other: private ones would lock colleagues out.
fn temporary(prefix: &str, mode: u32) -> tempfile::Builder<'_, '_> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = mode;
    builder
}

/// Makes renames in a folder durable.
fn sync_dir(path: &Path) -> Result<()> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|error| Error::io(path, error))
}

/// A folder's name for a key: what is safe in every file system stays, the rest is percent-encoded.
fn folder_name(key: &RunKey) -> String {
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
    if name.len() > 150 {
        let hash = crc32fast::hash(name.as_bytes());
        let longer = crc32fast::hash(name.chars().rev().collect::<String>().as_bytes());
        name.truncate(120);
        name.push_str(&format!("~{hash:08x}{longer:08x}"));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(framework: &str, test: &str) -> String {
        folder_name(&RunKey { framework: framework.into(), test: test.into() })
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
