//! The small files that describe a store and its runs. Each is replaced atomically.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{self, DeserializeSeed, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::parquet::checksum::{FileSums, damaged};
use crate::parquet::lock::{open_unlinked, read_whole, unopened};
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::info::RunInfo;

/// The version of the layout of a store's folders.
const FOLDERS: u32 = 3;

/// The version of the layout of a run's files. Read as well are those of version 3, whose counts by second are packed
/// otherwise, and of 4, whose times may be narrower and have no column with their unit.
const FILES: u32 = 5;

/// The maximum size of a store's marker in bytes.
const MARKER: u64 = 1 << 10;

/// The maximum size of a manifest in bytes. It has some hundred bytes for each source, and some for each MiB of samples.
pub(crate) const LARGEST: u64 = 16 << 20;

/// Prefix of the names of generations and staged runs.
pub(crate) const GENERATION: &str = "run-";

/// Prefix of the names of temporary files, which are renamed when complete.
pub(crate) const NEW: &str = ".new-";

/// The layout version of a file.
#[derive(Debug, Serialize, Deserialize)]
struct StoreMarker {
    layout: u32,
}

impl StoreMarker {
    /// Fails if the file has another layout version.
    fn check(&self, path: &Path, newest: u32) -> Result<()> {
        let layout = self.layout;
        if (FOLDERS..=newest).contains(&layout) {
            return Ok(());
        }
        let known = if newest > FOLDERS {
            format!("layouts {FOLDERS} to {newest}")
        } else {
            format!("layout {newest}")
        };
        Err(Error::refused(
            ErrorKind::StoreLayout,
            format!("{} has layout {layout}, and this version of perfpipe knows {known}", path.display()),
            "Use the version of perfpipe that wrote it, or another folder.",
        ))
    }
}

/// Marks a folder as a store of this layout version.
pub(crate) fn mark(path: &Path) -> Result<()> {
    write_json(path, &StoreMarker { layout: FOLDERS })?;
    sync_dir(path.parent().unwrap_or(Path::new(".")))
}

/// Fails if the store has another layout version. Returns false if there is no marker.
pub(crate) fn check_mark(path: &Path) -> Result<bool> {
    let Some(text) = read_whole(path, MARKER)? else { return Ok(false) };
    let marker: StoreMarker =
        serde_json::from_slice(&text).map_err(|error| unmarked(path, &error.to_string()))?;
    marker.check(path, FOLDERS)?;
    Ok(true)
}

/// Returns the error for a damaged marker of the store.
pub(crate) fn unmarked(path: &Path, problem: &str) -> Error {
    Error::failed(
        ErrorKind::MarkerDamaged,
        format!("reading {}", path.display()),
        format!("{problem} (the store's own file is damaged)"),
        "Repair the store, which writes the file again. The runs can be read meanwhile.",
    )
}

/// The manifest of a run: its metadata, its current generation, and the checksums of its files.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Manifest {
    pub(crate) generation: String,
    pub(crate) files: BTreeMap<String, FileSums>,
    #[serde(flatten)]
    pub(crate) info: RunInfo,
}

/// The fields of a manifest other than those of the run's own row.
#[derive(Default)]
struct ManifestFields {
    generation: Option<String>,
    files: Option<BTreeMap<String, FileSums>>,
}

impl<'de> Deserialize<'de> for Manifest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(ManifestVisitor)
    }
}

/// Reads a manifest in one pass. Serde's own way to read a struct in another's row copies all values of both first.
struct ManifestVisitor;

impl<'de> Visitor<'de> for ManifestVisitor {
    type Value = Manifest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a run")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<Manifest, A::Error> {
        let mut own = ManifestFields::default();
        let info = RunInfo::deserialize(MapAccessDeserializer::new(OtherFields { map, own: &mut own }))?;
        let generation = own.generation.ok_or_else(|| de::Error::missing_field("generation"))?;
        let files = own.files.ok_or_else(|| de::Error::missing_field("files"))?;
        Ok(Manifest { generation, files, info })
    }
}

/// The fields of a map other than those of `own`, which are removed on the way.
struct OtherFields<'a, A> {
    map: A,
    own: &'a mut ManifestFields,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for OtherFields<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> std::result::Result<Option<K::Value>, A::Error> {
        loop {
            match self.map.next_key::<&str>()? {
                Some("generation") => self.own.generation = Some(self.map.next_value()?),
                Some("files") => self.own.files = Some(self.map.next_value()?),
                Some(other) => return seed.deserialize(BorrowedStrDeserializer::new(other)).map(Some),
                None => return Ok(None),
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> std::result::Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// A manifest as it is written, with a checksum that reveals any change.
#[derive(Serialize, Deserialize)]
struct SealedManifest<'a> {
    layout: u32,
    /// CRC-32 (IEEE) of the run's text.
    crc32: u32,
    #[serde(borrow)]
    run: &'a RawValue,
}

impl<'a> SealedManifest<'a> {
    fn of(run: &'a RawValue) -> Self {
        Self { layout: FILES, crc32: crc32fast::hash(run.get().as_bytes()), run }
    }
}

impl Manifest {
    /// Reads a manifest; `None` if there is none.
    ///
    /// # Errors
    /// `Refused` if it has another layout version or is a link, `Store` if it is damaged.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>> {
        Self::read_by(path, &mut Vec::new())
    }

    /// Reads a manifest into `text`, whose room is used again, and then as [`Manifest::read`] does.
    pub(crate) fn read_by(path: &Path, text: &mut Vec<u8>) -> Result<Option<Self>> {
        text.clear();
        match open_unlinked(path).and_then(|file| file.take(LARGEST + 1).read_to_end(text)) {
            Ok(_) => Self::of(path, text).map(Some),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(unopened(path, error)),
        }
    }

    /// Reads the text of a manifest, which error messages call `path`.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub(crate) fn of(path: &Path, text: &[u8]) -> Result<Self> {
        if text.len() as u64 > LARGEST {
            return Err(unreadable(path, "it is larger than any that perfpipe writes"));
        }
        let sealed = match parse::<SealedManifest<'_>>(path, text) {
            Ok(sealed) => sealed,
            // The manifest of another layout may have another form.
            Err(error) => {
                parse::<StoreMarker>(path, text)?.check(path, FILES)?;
                return Err(error);
            }
        };
        StoreMarker { layout: sealed.layout }.check(path, FILES)?;
        if crc32fast::hash(sealed.run.get().as_bytes()) != sealed.crc32 {
            return Err(unreadable(path, "its checksum does not match"));
        }
        let manifest: Self =
            serde_json::from_str(sealed.run.get()).map_err(|error| unreadable(path, &error.to_string()))?;
        if !is_generation(&manifest.generation) {
            return Err(unreadable(path, "it names a folder that perfpipe does not make"));
        }
        match manifest.info.fault() {
            None => Ok(manifest),
            Some(fault) => Err(unreadable(path, &fault)),
        }
    }

    /// Returns the size of the run's files in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.values().map(FileSums::bytes).fold(0, u64::saturating_add)
    }

    /// Writes the manifest, replacing an earlier one atomically. It is durable once the folder is synced.
    pub(crate) fn put(&self, path: &Path) -> Result<()> {
        replace(path, &self.sealed(path)?)
    }

    /// Returns the text of the manifest. It has no blanks, since those of a thousand runs are read for a list.
    pub(crate) fn sealed(&self, path: &Path) -> Result<Vec<u8>> {
        type Cause = Box<dyn std::error::Error + Send + Sync>;
        let failed = |error: Cause| Error::store(format!("writing {}", path.display()), error);
        let text = || serde_json::to_vec(&SealedManifest::of(&serde_json::value::to_raw_value(self)?));
        let text = text().map_err(|error| failed(error.into()))?;
        if text.len() as u64 > LARGEST {
            return Err(failed(
                format!("the run's own row has {} bytes, and may have {LARGEST}", text.len()).into(),
            ));
        }
        Ok(text)
    }
}

/// Returns true if a name is one that perfpipe gives to generations. Paths that lead elsewhere are not.
pub(crate) fn is_generation(name: &str) -> bool {
    let random = name.strip_prefix(GENERATION);
    random.is_some_and(|random| !random.is_empty() && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn parse<'a, T: Deserialize<'a>>(path: &Path, text: &'a [u8]) -> Result<T> {
    serde_json::from_slice(text).map_err(|error| unreadable(path, &error.to_string()))
}

fn unreadable(path: &Path, problem: &str) -> Error {
    Error::store(format!("reading {}", path.display()), damaged(problem))
}

/// Writes a value as JSON, atomically.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let failed = |error| Error::store(format!("writing {}", path.display()), error);
    replace(path, &serde_json::to_vec_pretty(value).map_err(failed)?)
}

/// Writes a file atomically: to a temporary file, which is synced and then renamed.
fn replace(path: &Path, text: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        let mut file = temporary(NEW, 0o666).tempfile_in(folder)?;
        file.write_all(text)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|error| Error::io(path, error))
}

/// Returns a builder of temporary files with these permissions. By default they would be private, which would lock out
/// other users of the store.
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
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // What is put in its place by somebody else is not waited for.
        options.custom_flags(libc::O_DIRECTORY | libc::O_NONBLOCK);
    }
    options.open(path).and_then(|folder| folder.sync_all()).map_err(|error| Error::io(path, error))
}
