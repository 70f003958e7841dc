//! A zip on disk: its members by its directory, and the way to each member's bytes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::checked::{Checked, Digested, Stated, Unpacked};
use super::codec::{Codec, Extent, Unpacker};
use super::fault::{COPY_AGAIN, Fault};
use super::packed::{Meter, PackedCount, packed};
use super::stored::Opened;

/// A member that may hold a log or a CPU export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    /// Its name, for messages only: it is never used as a path.
    pub(crate) name: String,
    /// Size in bytes, packed.
    pub(crate) packed: u64,
    index: usize,
    method: CompressionMethod,
    encrypted: bool,
    stated: Stated,
}

/// The members of the zip at `path` but for folders and the litter of file managers.
pub(crate) fn members(path: &Path) -> io::Result<Vec<Member>> {
    let archive = ZipArchive::new(File::open(path)?).map_err(directory_fault)?;
    if archive.has_duplicate_names() {
        let remedy = "Unpack it and give the files by themselves.";
        return Err(Fault::new("two members of the zip have the same name", remedy).into());
    }
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_data(index).map_err(directory_fault)?;
        let name = printable(&entry.name().map_err(directory_fault)?);
        if entry.is_dir() || is_litter(&name) {
            continue;
        }
        members.push(Member {
            name,
            packed: entry.compressed_size(),
            index,
            method: entry.compression(),
            encrypted: entry.encrypted(),
            stated: Stated { bytes: entry.size(), crc32: entry.crc32() },
        });
    }
    Ok(members)
}

/// Whether a member is a folder or what a file manager leaves in zips.
pub(crate) fn is_litter(name: &str) -> bool {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    name.starts_with("__MACOSX/") || name.ends_with('/') || last == ".DS_Store" || last == "Thumbs.db"
}

/// A member's name with nothing in it that could garble a message.
pub(crate) fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// The fault of a member whose bytes can't be read without a password.
pub(crate) fn encrypted() -> Fault {
    Fault::new("is encrypted", "Unpack it with its password, and give the file itself.")
}

/// The fault of a member packed in a way that is not understood.
pub(crate) fn unsupported(method: &str) -> Fault {
    Fault::new(
        format!("is packed by a method that is not supported ({method})"),
        "Unpack it, and give the file itself.",
    )
}

/// Opens `member` of the zip at `path`.
pub(crate) fn open_member(path: &Path, member: &Member, progress: PackedCount) -> io::Result<Opened> {
    if member.encrypted {
        return Err(encrypted().into());
    }
    let codec = match member.method {
        CompressionMethod::Stored => Codec::Stored,
        CompressionMethod::Deflated => Codec::deflate(),
        CompressionMethod::Zstd => Codec::zstd()?,
        CompressionMethod::Deflate64
        | CompressionMethod::Bzip2
        | CompressionMethod::Lzma
        | CompressionMethod::Xz => {
            let file = Meter::new(File::open(path)?, progress);
            let archive = ZipArchive::new(file).map_err(directory_fault)?;
            return Ok(Opened::Archive(OpenArchive { archive, index: member.index, stated: member.stated }));
        }
        other => return Err(unsupported(&other.to_string()).into()),
    };
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(data_start(path, member)?))?;
    let unpacker = Unpacker::new(codec, Extent::Bytes(member.packed));
    let unpacked = Unpacked::new(packed(Meter::new(file, progress)), unpacker);
    Ok(Opened::Direct(Box::new(Checked::new(unpacked, Some(member.stated)))))
}

/// A member that the zip crate unpacks, as it is packed by one of the rare methods.
pub(crate) struct OpenArchive {
    archive: ZipArchive<Meter<File>>,
    index: usize,
    stated: Stated,
}

impl OpenArchive {
    /// The reader of the member's bytes, from its start.
    pub(crate) fn reader(&mut self) -> io::Result<Box<dyn Digested + '_>> {
        let member = self.archive.by_index(self.index).map_err(directory_fault)?;
        Ok(Box::new(Checked::new(Foreign(member), Some(self.stated))))
    }
}

/// Where a member's packed bytes begin, by its local header.
fn data_start(path: &Path, member: &Member) -> io::Result<u64> {
    let mut archive = ZipArchive::new(File::open(path)?).map_err(directory_fault)?;
    let entry = archive.by_index_raw(member.index).map_err(directory_fault)?;
    entry.data_start().ok_or_else(|| Fault::damaged("a member's place is not known"))
}

/// A reader of the zip crate, its errors told as flaws.
struct Foreign<R>(R);

impl<R: Read> Read for Foreign<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out).map_err(|e| match e.raw_os_error() {
            Some(_) => e,
            None => Fault::damaged(&format!("its packed data is not valid ({e})")),
        })
    }
}

/// The zip crate's error in this crate's words.
fn directory_fault(error: ZipError) -> io::Error {
    match error {
        ZipError::Io(e) if e.raw_os_error().is_some() => e,
        ZipError::InvalidArchive(what)
            if what == "Could not find EOCD" || what.starts_with("Unexpected end") =>
        {
            Fault::new("the zip's directory is missing: the file was cut short", COPY_AGAIN).into()
        }
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => encrypted().into(),
        other => Fault::damaged(&format!("the zip's directory is not valid ({other})")),
    }
}
