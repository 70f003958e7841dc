//! A zip on disk: its members by its directory, and the way to each member's bytes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::checked::{Checked, Digested, Stated, Unpacked};
use super::codec::{Codec, Extent, Unpacker};
use super::fault::{COPY_AGAIN, Fault};
use super::lzma::{lzma, xz};
use super::packed::{Meter, Packed, PackedCount, packed};
use super::stored::Opened;

/// The most members that are looked at: each is opened by reading the directory.
pub(crate) const MOST_MEMBERS: u64 = 1000;

/// Characters of a member's name that are kept at either end; some zips, most of them damaged, name theirs by 64 KiB.
const NAME_END: usize = 100;

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
    let mut archive = ZipArchive::new(File::open(path)?).map_err(directory_fault)?;
    if archive.has_duplicate_names() {
        return Err(Fault::new("two members of the zip have the same name", UNPACK).into());
    }
    if archive.len() as u64 > MOST_MEMBERS {
        return Err(too_many().into());
    }
    // A member whose place can't be known is told of when it is opened.
    if archive.has_overlapping_entries().unwrap_or(false) {
        return Err(Fault::damaged("the zip's directory has members lie over each other, or over itself"));
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

/// The remedy for a zip whose members had better be given one by one.
const UNPACK: &str = "Unpack it and give the files by themselves.";

/// The fault of a zip with more members than are looked at.
pub(crate) fn too_many() -> Fault {
    Fault::new(format!("the zip has more than {MOST_MEMBERS} members"), UNPACK)
}

/// Whether a member is a folder or what a file manager leaves in zips.
pub(crate) fn is_litter(name: &str) -> bool {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    name.starts_with("__MACOSX/") || name.ends_with('/') || last == ".DS_Store" || last == "Thumbs.db"
}

/// A member's name with nothing in it that could garble a message, and not longer than one.
pub(crate) fn printable(name: &str) -> String {
    let mut name: Vec<char> =
        name.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect();
    if let Some(cut) = name.len().checked_sub(NAME_END).filter(|cut| *cut > NAME_END) {
        name.splice(NAME_END..cut, ['…']);
    }
    name.into_iter().collect()
}

/// The fault of a member whose bytes can't be read without a password.
pub(crate) fn encrypted() -> Fault {
    Fault::new("is encrypted", "Unpack it with its password, and give the file itself.")
}

/// The fault of a member packed in a way that is not understood.
pub(crate) fn unsupported(method: &str) -> Fault {
    Fault::new(
        format!("is packed by a method that is not supported (number {method})"),
        "Unpack it, and give the file itself.",
    )
}

/// Opens `member` of the zip at `path`.
pub(crate) fn open_member(path: &Path, member: &Member, progress: PackedCount) -> io::Result<Opened> {
    if member.encrypted {
        return Err(encrypted().into());
    }
    let stated = member.stated;
    let codec = match member.method {
        CompressionMethod::Stored => Codec::Stored,
        CompressionMethod::Deflated => Codec::deflate(),
        CompressionMethod::ZSTD => Codec::zstd()?,
        CompressionMethod::LZMA => {
            let unpacked = lzma(bytes_of(path, member, progress)?.take(member.packed), stated.bytes)?;
            return Ok(Opened::Direct(Box::new(Checked::new(unpacked, Some(stated)))));
        }
        CompressionMethod::XZ => {
            let unpacked = xz(bytes_of(path, member, progress)?.take(member.packed));
            return Ok(Opened::Direct(Box::new(Checked::new(unpacked, Some(stated)))));
        }
        CompressionMethod::DEFLATE64 | CompressionMethod::BZIP2 => {
            let file = Meter::new(File::open(path)?, progress);
            let archive = ZipArchive::new(file).map_err(directory_fault)?;
            return Ok(Opened::Archive(OpenArchive { archive, index: member.index, stated }));
        }
        other => return Err(unsupported(&number_of(other).to_string()).into()),
    };
    let unpacker = Unpacker::new(codec, Extent::Bytes(member.packed));
    let unpacked = Unpacked::new(bytes_of(path, member, progress)?, unpacker);
    Ok(Opened::Direct(Box::new(Checked::new(unpacked, Some(stated)))))
}

/// The file from a member's first packed byte on.
fn bytes_of(path: &Path, member: &Member, progress: PackedCount) -> io::Result<Packed> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(data_start(path, member)?))?;
    Ok(packed(Meter::new(file, progress)))
}

/// The number of a compression method that has no name here.
#[allow(deprecated, reason = "the zip crate gives it in no other way")]
fn number_of(method: CompressionMethod) -> u16 {
    method.to_u16()
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
    let misplaced = || Fault::damaged("it does not begin where the zip's directory says");
    let mut archive = ZipArchive::new(File::open(path)?).map_err(directory_fault)?;
    let entry = archive.by_index_raw(member.index).map_err(|e| match e {
        ZipError::Io(e) if e.raw_os_error().is_some() => e,
        _ => misplaced(),
    })?;
    entry.data_start().ok_or_else(misplaced)
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
        ZipError::InvalidArchive(what) => {
            Fault::damaged(&format!("the zip's directory is not valid ({what})"))
        }
        other => Fault::damaged(&format!("the zip's directory is not valid ({other})")),
    }
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn names_in_messages_are_short_and_garble_nothing() {
        assert_eq!(printable("a/b\x1b[2J.csv"), "a/b\u{fffd}[2J.csv");
        let usual = "é".repeat(200);
        assert_eq!(printable(&usual), usual);
        let long = printable(&format!("{}/run.csv", "\0".repeat(60_000)));
        assert!(long.chars().count() == 201 && long.ends_with("\u{fffd}/run.csv"), "{long}");
    }
}
