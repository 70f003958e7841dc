//! A run in one file, without its samples: a zip of the files that the embedded store has of it. Parts of runs in Postgres
//! are stored in this form ([`PartFacts`]).
//!
//! ```text
//! perfpipe-run.json                     the version of this form; always the first entry
//! manifest.json                         the run's own row, and the checksums of the other files
//! seconds.parquet, cpu.parquet, errors.parquet, labels.parquet, rejects.jsonl
//! series.parquet                        only of runs that have other series than the CPU
//! ```
//!
//! Nothing in the zip is compressed, since the tables are. So what is unpacked is never larger than the file.

use std::fs::{self, DirEntry, File};
use std::io;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::checksum::{CheckedFile, FileSums};
use super::folder::manifest::{LARGEST, Manifest, mark};
use super::folder::paths::folder_name;
use super::folder::{LOCK, MANIFEST, MARKER, StoreFolder};
use super::home::StoreHome;
use super::lock::LockFile;
use super::place::RunPlace;
use super::tables::{NAMES, PART, read_document};
use super::{ParquetStore, pass_rejects, read_facts, rejects, small};
use crate::consistency::{self, damage_message};
use perfpipe_model::counts::part::{PartNames, PartRow};
use perfpipe_model::counts::stored_run::StoredRun;
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::rejects::Reject;

/// The entry with the version.
const MARK: &str = "perfpipe-run.json";

/// The version of the form.
const VERSION: u32 = 1;

/// The size in bytes that the version's entry has at most.
const MARK_BYTES: u64 = 1 << 10;

/// The length of the header before the name of a zip's first entry, in bytes.
const HEADER: usize = 30;

#[derive(Serialize, Deserialize)]
struct PackMark {
    version: u32,
}

/// Writes the files of a run, which must be stored without samples, into one file.
pub fn pack(store: &ParquetStore, key: &RunKey, out: impl Write + Seek) -> Result<()> {
    let folder = store.home.folder("packed runs")?;
    let (run, manifest) = folder.find(key)?.ok_or_else(|| Error::missing_run(key))?;
    let files = folder.generation(&run, &manifest.generation);
    let failed = |error: io::Error| Error::store("packing the run", error);
    let version = serde_json::to_vec(&PackMark { version: VERSION }).map_err(|error| failed(error.into()))?;
    let mut zip = ZipWriter::new(out);
    add_file(&mut zip, MARK, version.as_slice()).map_err(failed)?;
    add_file(&mut zip, MANIFEST, open(&run.join(MANIFEST))?).map_err(failed)?;
    for name in small(&manifest) {
        add_file(&mut zip, name, open(&files.join(name))?).map_err(failed)?;
    }
    zip.finish().map(drop).map_err(|error| failed(error.into()))
}

fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|error| Error::io(path, error))
}

fn add_file(zip: &mut ZipWriter<impl Write + Seek>, name: &str, mut from: impl Read) -> io::Result<()> {
    let plain = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    zip.start_file(name, plain)?;
    io::copy(&mut from, zip).map(drop)
}

/// A run that was unpacked from a file. Dropping it removes what was unpacked, not the file.
#[derive(Debug)]
pub struct PackedRun {
    store: ParquetStore,
    info: RunInfo,
    _temporary: TemporaryFolder,
}

impl PackedRun {
    /// Returns true if there is a packed run at this path, as its first bytes show. Does not open pipes.
    pub fn is_at(path: &Path) -> bool {
        if !fs::metadata(path).is_ok_and(|found| found.is_file()) {
            return false;
        }
        let mut head = [0; HEADER + MARK.len()];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
        read.is_ok() && head.starts_with(b"PK\x03\x04") && head.ends_with(MARK.as_bytes())
    }

    /// Unpacks a run into a temporary folder, and reads it there.
    ///
    /// # Errors
    /// If the file can't be read, is of another version, or is damaged.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_in(path, &std::env::temp_dir())
    }

    /// Unpacks a run into a temporary folder in `parent`.
    pub(super) fn open_in(path: &Path, parent: &Path) -> Result<Self> {
        let mut zip = ZipArchive::new(open(path)?).map_err(|error| damaged(path, &error.to_string()))?;
        check_version(path, &mut zip)?;
        let temporary = TemporaryFolder::new(parent)?;
        let folder = StoreFolder::new(temporary.path());
        let listed = temporary.path().join(MANIFEST);
        unpack_file(path, &mut zip, MANIFEST, &listed, None)?;
        let manifest = Manifest::read(&listed).map_err(|error| naming_file(path, error))?;
        let manifest = manifest.ok_or_else(|| damaged(path, "it has no manifest"))?;
        if manifest.info.samples_stored {
            return Err(damaged(path, "it lacks the samples that it says it has"));
        }
        let run = folder.runs().join(folder_name(&manifest.info.key));
        let files = run.join(&manifest.generation);
        fs::create_dir_all(&files).map_err(|error| Error::io(&files, error))?;
        for name in small(&manifest) {
            unpack_file(
                path,
                &mut zip,
                name,
                &files.join(name),
                Some(manifest.files.get(name).map_or(0, FileSums::bytes)),
            )?;
        }
        let home = run.join(MANIFEST);
        fs::rename(&listed, &home).map_err(|error| Error::io(&home, error))?;
        mark(&temporary.path().join(MARKER))?;
        let store = ParquetStore::open(temporary.path())?;
        // Damage is to be reported of the file, not of what was unpacked.
        let read = store.read(&manifest.info.key);
        read.map_err(|error| naming_file(path, error))?;
        store.rejects(&manifest.info.key, &mut |_| Ok(())).map_err(|error| naming_file(path, error))?;
        Ok(Self { store, info: manifest.info, _temporary: temporary })
    }

    /// Returns the metadata of the run.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// Returns the temporary store that contains the run, and no other.
    pub fn store(&self) -> &ParquetStore {
        &self.store
    }
}

/// Fails if the file is of another version than this perfpipe reads.
fn check_version(path: &Path, zip: &mut ZipArchive<File>) -> Result<()> {
    let mut text = Vec::new();
    let entry = zip.by_name(MARK).map_err(|error| damaged(path, &error.to_string()))?;
    entry.take(MARK_BYTES).read_to_end(&mut text).map_err(|error| damaged(path, &error.to_string()))?;
    let mark: PackMark = serde_json::from_slice(&text).map_err(|error| damaged(path, &error.to_string()))?;
    if mark.version == VERSION {
        return Ok(());
    }
    Err(Error::refused(
        ErrorKind::StoreLayout,
        format!(
            "{} is a run in version {}, and this perfpipe reads version {VERSION}",
            path.display(),
            mark.version
        ),
        "Use the version of perfpipe that wrote it.",
    ))
}

/// Unpacks an entry, which must have this size if it is given.
fn unpack_file(
    path: &Path,
    zip: &mut ZipArchive<File>,
    name: &str,
    to: &Path,
    size: Option<u64>,
) -> Result<()> {
    let entry = zip.by_name(name).map_err(|error| damaged(path, &format!("{name}: {error}")))?;
    if entry.compression() != CompressionMethod::Stored {
        return Err(damaged(path, &format!("{name} is compressed")));
    }
    let mut file = File::create_new(to).map_err(|error| Error::io(to, error))?;
    let most = size.unwrap_or(LARGEST);
    let copied = io::copy(&mut entry.take(most.saturating_add(1)), &mut file);
    let copied = copied.map_err(|error| damaged(path, &format!("{name}: {error}")))?;
    match size {
        Some(size) if copied != size => {
            Err(damaged(path, &format!("{name} has {copied} bytes or more, and should have {size}")))
        }
        _ if copied > most => Err(damaged(path, &format!("{name} is too large"))),
        _ => Ok(()),
    }
}

/// Returns an error of what was unpacked as one of the file, if it means damage.
fn naming_file(path: &Path, error: Error) -> Error {
    match damage_message(error) {
        Ok(problem) => damaged(path, &problem),
        Err(error) => error,
    }
}

fn damaged(path: &Path, problem: &str) -> Error {
    Error::input(
        ErrorKind::PackedRun,
        path,
        format!("the packed run is damaged: {problem}"),
        "Copy or export the file again. Nothing was stored.",
    )
}

/// What the names of such folders begin with.
const PREFIX: &str = "perfpipe-aside-";

/// The age of a folder from which on it is nobody's, although it has no lock yet.
const OLD: Duration = Duration::from_secs(24 * 3600);

/// An empty folder in that for temporary files, which dropping removes. If perfpipe is killed, the next one removes it.
#[derive(Debug)]
pub struct TemporaryFolder {
    /// The folder within that of the lock, so that a store in it has a lock of its own.
    path: PathBuf,
    // Dropped in this order: the lock shows that the folder is in use.
    _folder: TempDir,
    _lock: LockFile,
}

impl TemporaryFolder {
    /// Makes a folder in `parent`, and removes those of others that were killed.
    pub fn new(parent: &Path) -> Result<Self> {
        sweep(parent);
        let made = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent);
        let folder = made.map_err(|error| Error::io(parent, error))?;
        let lock = LockFile::wait(&folder.path().join(LOCK))?;
        let path = folder.path().join("store");
        fs::create_dir(&path).map_err(|error| Error::io(&path, error))?;
        Ok(Self { path, _folder: folder, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Removes the folders that this user's perfpipe left when it was killed. What can't be removed is left to the next one.
fn sweep(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let named = |entry: &DirEntry| entry.file_name().to_string_lossy().starts_with(PREFIX);
    for entry in entries.filter(named).filter(is_own_folder) {
        let (path, lock) = (entry.path(), entry.path().join(LOCK));
        let is_locked = lock.symlink_metadata().is_ok();
        // A folder that was just made has no lock for a moment.
        let free = if is_locked { LockFile::try_new(&lock).ok().flatten() } else { None };
        if free.is_some() || (!is_locked && is_old(&entry)) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

fn is_old(entry: &DirEntry) -> bool {
    let age = entry.metadata().and_then(|found| found.modified()).ok().and_then(|made| made.elapsed().ok());
    age.is_some_and(|age| age > OLD)
}

/// Returns true for a folder of this user, which is no link.
fn is_own_folder(entry: &DirEntry) -> bool {
    entry.metadata().is_ok_and(|found| found.is_dir() && is_own(&found))
}

#[cfg(unix)]
fn is_own(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    // A file of one's own has the user's number: the system's call for it would be unsafe.
    let own = tempfile::tempfile().and_then(|file| file.metadata());
    own.is_ok_and(|own| own.uid() == found.uid())
}

#[cfg(not(unix))]
fn is_own(_: &fs::Metadata) -> bool {
    true
}

/// What is stored of a part other than its samples: the files of a run and two more.
#[derive(Debug, Clone)]
pub struct PartFacts {
    pub(super) place: RunPlace,
    pub(super) manifest: Manifest,
    /// Removes the files when it is dropped, if they were unpacked to be read.
    _unpacked: Option<Arc<PackedRun>>,
}

impl PartFacts {
    pub(super) fn new(place: RunPlace, manifest: Manifest) -> Self {
        Self { place, manifest, _unpacked: None }
    }

    /// Unpacks the files of a part that was packed into one file.
    pub(crate) fn unpacked(part: PackedRun) -> Result<Self> {
        let found = StoreHome::find(&part.store().home, &part.info().key)?;
        let (place, manifest) = found.ok_or_else(|| Error::missing_run(&part.info().key))?;
        Ok(Self { place, manifest, _unpacked: Some(Arc::new(part)) })
    }

    fn file(&self, name: &str) -> Result<CheckedFile> {
        self.place.open(name, self.manifest.files.get(name).cloned().unwrap_or_default())
    }

    fn document<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        read_document(&self.file(name)?)
    }

    /// Reads the number of the part.
    pub(crate) fn row(&self) -> Result<PartRow> {
        self.document(PART)
    }

    /// Reads the names in the counts of the part.
    pub fn names(&self) -> Result<PartNames> {
        self.document(NAMES)
    }

    /// Reads the part without its samples.
    pub fn run(&self) -> Result<StoredRun> {
        let read = read_facts(&self.manifest, &|name| self.file(name))?;
        consistency::check_run(Some(read))?.ok_or_else(|| Error::missing_run(&self.manifest.info.key))
    }

    /// Passes the rejected records of the part to `each`, in the order of the log.
    pub fn rejects(&self, each: &mut dyn FnMut(Reject) -> Result<()>) -> Result<()> {
        pass_rejects(rejects(&self.manifest, &|name| self.file(name))?, &self.manifest.info, each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_killed_are_removed_and_those_in_use_are_not() {
        let parent = tempfile::tempdir().unwrap();
        let alive = TemporaryFolder::new(parent.path()).unwrap();
        let [dead, new, other] = ["perfpipe-aside-dead", "perfpipe-aside-new", "other"].map(|name| {
            let path = parent.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        });
        [&dead, &other].iter().for_each(|folder| fs::write(folder.join(LOCK), "").unwrap());
        fs::create_dir(dead.join("store")).unwrap();
        let next = TemporaryFolder::new(parent.path()).unwrap();
        assert!(alive.path().exists() && next.path().exists() && new.exists() && other.exists());
        assert!(!dead.exists());
        drop((alive, next));
        let left = fs::read_dir(parent.path()).unwrap().count();
        assert_eq!(left, 2);
    }
}
