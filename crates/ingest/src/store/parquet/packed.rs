//! A run in one file, without its samples: a zip of the files that the embedded store has of it.
//!
//! ```text
//! perfpipe-run.json                     the version of this form; always the first entry
//! manifest.json                         the run's own row, and the checksums of the other files
//! seconds.parquet, cpu.parquet, errors.parquet, labels.parquet, rejects.jsonl
//! series.parquet                        only of runs that have other series than the CPU
//! ```
//!
//! Nothing in the zip is compressed, since the tables are. So what is unpacked is never larger than the file.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::aside::TemporaryFolder;
use super::checksum::FileSums;
use super::folder::manifest::{LARGEST, Manifest, mark};
use super::folder::name::folder_name;
use super::folder::{MANIFEST, MARKER, StoreFolder};
use super::{ParquetStore, small};
use crate::error::{Error, ErrorKind, Result};
use crate::run::info::RunInfo;
use crate::run::key::RunKey;
use crate::store::unreadable::damage_message;

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
pub(crate) fn pack(store: &ParquetStore, key: &RunKey, out: impl Write + Seek) -> Result<()> {
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
    _aside: TemporaryFolder,
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
        let aside = TemporaryFolder::new(parent)?;
        let folder = StoreFolder::new(aside.path());
        let listed = aside.path().join(MANIFEST);
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
        mark(&aside.path().join(MARKER))?;
        let store = ParquetStore::open(aside.path())?;
        // What is damaged is to be told of the file, not of what was unpacked.
        let read = store.read(&manifest.info.key);
        read.map_err(|error| naming_file(path, error))?;
        store.rejects(&manifest.info.key, &mut |_| Ok(())).map_err(|error| naming_file(path, error))?;
        Ok(Self { store, info: manifest.info, _aside: aside })
    }

    /// Returns the metadata of the run.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// Returns the temporary store that holds the run, and no other.
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
    let taken = io::copy(&mut entry.take(most.saturating_add(1)), &mut file);
    let taken = taken.map_err(|error| damaged(path, &format!("{name}: {error}")))?;
    match size {
        Some(size) if taken != size => {
            Err(damaged(path, &format!("{name} has {taken} bytes or more, and should have {size}")))
        }
        _ if taken > most => Err(damaged(path, &format!("{name} is too large"))),
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
