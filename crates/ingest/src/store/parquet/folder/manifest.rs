//! The small files that say what a store and a run are, each written whole or not at all.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::{Error, Result};
use crate::run::info::RunInfo;
use crate::store::parquet::checksum::{Sums, damaged};
use crate::store::parquet::lock::refuse_link;

/// The version of the files' layout.
const LAYOUT: u32 = 3;

/// How the names of generations and of staged runs begin.
pub(crate) const GENERATION: &str = "run-";

/// How the names of files begin that are renamed once they are whole.
pub(crate) const NEW: &str = ".new-";

/// What says which layout a file is of.
#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    layout: u32,
}

impl Marker {
    /// Refuses what another version wrote.
    fn check(&self, path: &Path) -> Result<()> {
        match self.layout {
            LAYOUT => Ok(()),
            layout => Err(Error::refused(
                format!("{} is of layout {layout}, and this perfpipe knows layout {LAYOUT}", path.display()),
                "Use the perfpipe that wrote it, or another folder with --store.",
            )),
        }
    }
}

/// Marks a folder as a store of this layout.
pub(crate) fn mark(path: &Path) -> Result<()> {
    write_json(path, &Marker { layout: LAYOUT })?;
    sync_dir(path.parent().unwrap_or(Path::new(".")))
}

/// Refuses a store of another layout; false if there is no mark.
pub(crate) fn check_mark(path: &Path) -> Result<bool> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Error::io(path, error)),
    };
    let marker: Marker = serde_json::from_slice(&text).map_err(|error| unmarked(path, &error.to_string()))?;
    marker.check(path)?;
    Ok(true)
}

/// The error that the store's own file is not what it should be.
pub(crate) fn unmarked(path: &Path, problem: &str) -> Error {
    Error::failed(
        format!("reading {}", path.display()),
        format!("{problem} (the store's own file is damaged)"),
        "Run `perfpipe repair`, which makes it anew; the runs can be read meanwhile.",
    )
}

/// What a run's folder says of itself: the run's own row, its current generation, and what its files must be.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) generation: String,
    pub(crate) files: BTreeMap<String, Sums>,
    #[serde(flatten)]
    pub(crate) info: RunInfo,
}

/// A manifest as it is written, so that not a digit of it changes unseen.
#[derive(Serialize, Deserialize)]
struct Sealed {
    layout: u32,
    /// CRC-32 (IEEE) of the run's text.
    crc32: u32,
    run: Box<RawValue>,
}

impl Manifest {
    /// Reads a manifest; `None` where there is none.
    ///
    /// # Errors
    /// `Refused` when it is of another layout or a link, `Store` when it is damaged.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>> {
        refuse_link(path)?;
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(Error::io(path, error)),
        };
        parse::<Marker>(path, &text)?.check(path)?;
        let sealed: Sealed = parse(path, &text)?;
        if crc32fast::hash(sealed.run.get().as_bytes()) != sealed.crc32 {
            return Err(unreadable(path, "its checksum does not match"));
        }
        let manifest: Self = parse(path, sealed.run.get().as_bytes())?;
        match is_generation(&manifest.generation) {
            true => Ok(Some(manifest)),
            false => Err(unreadable(path, "it names no folder that perfpipe makes")),
        }
    }

    /// Puts the manifest in its place, in that of an earlier one if there is one. That is durable once the folder is
    /// synced.
    pub(crate) fn put(&self, path: &Path) -> Result<()> {
        let failed = |error| Error::store(format!("writing {}", path.display()), error);
        let text = serde_json::to_string_pretty(self).map_err(failed)?;
        let crc32 = crc32fast::hash(text.as_bytes());
        let run = RawValue::from_string(text).map_err(failed)?;
        write_json(path, &Sealed { layout: LAYOUT, crc32, run })
    }
}

/// Whether a name is one that is given to the files of a run: what leads to another folder is not.
fn is_generation(name: &str) -> bool {
    let random = name.strip_prefix(GENERATION);
    random.is_some_and(|random| !random.is_empty() && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn parse<'a, T: Deserialize<'a>>(path: &Path, text: &'a [u8]) -> Result<T> {
    serde_json::from_slice(text).map_err(|error| unreadable(path, &error.to_string()))
}

fn unreadable(path: &Path, problem: &str) -> Error {
    Error::store(format!("reading {}", path.display()), damaged(problem))
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
    write().map_err(|error| Error::io(path, error))
}

/// Names for temporary files that end up as readable as any other: private ones would lock colleagues out.
pub(crate) fn temporary(prefix: &str, mode: u32) -> tempfile::Builder<'_, '_> {
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
pub(crate) fn sync_dir(path: &Path) -> Result<()> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|error| Error::io(path, error))
}
