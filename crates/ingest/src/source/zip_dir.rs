//! A zip on disk: its members by its directory, and the way to each member's bytes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::checked::{Checked, Digested, Expected, Stated, Unpacked};
use super::codec::{Codec, Extent, Unpacker};
use super::fault::Fault;
use super::lzma::{lzma, xz};
use super::packed::{Meter, Packed, PackedCount, packed};
use super::salvaged::{Salvaged, Sips};
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
    /// Packed bytes that are there.
    pub(crate) packed: u64,
    /// Where they are.
    pub(crate) at: At,
    /// The compression method's number.
    pub(crate) method: u16,
    /// Whether its bytes can't be read without a password.
    pub(crate) encrypted: bool,
    /// Where the packed data ends.
    pub(crate) extent: Extent,
    /// What is known of the unpacked data.
    pub(crate) expected: Expected,
}

/// How a member's packed bytes are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    /// By the directory's entry of this number.
    Entry(usize),
    /// At this byte of the file.
    Byte(u64),
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
            at: At::Entry(index),
            method: number_of(entry.compression()),
            encrypted: entry.encrypted(),
            extent: Extent::Bytes(entry.compressed_size()),
            expected: Stated { bytes: entry.size(), crc32: entry.crc32() }.into(),
        });
    }
    Ok(members)
}

/// The same, but an error where one of them does not begin where the directory says.
pub(crate) fn placed_members(path: &Path) -> io::Result<Vec<Member>> {
    let members = members(path)?;
    for member in members.iter().filter(|member| !member.encrypted) {
        data_start(path, member)?;
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

/// The name of a compression method.
pub(crate) fn method_name(method: u16) -> String {
    let name = match method {
        0 => "stored",
        8 => "deflate",
        9 => "deflate64",
        12 => "bzip2",
        14 => "LZMA",
        93 => "zstd",
        95 => "xz",
        other => return format!("method {other}"),
    };
    name.to_owned()
}

/// Opens `member` of the zip at `path`; to `salvage` what can be read of it, its reader ends where it can't be read on.
pub(crate) fn open_member(
    path: &Path,
    member: &Member,
    progress: PackedCount,
    salvage: bool,
) -> io::Result<Opened> {
    if member.encrypted {
        return Err(encrypted().into());
    }
    let codec = match (member.method, member.at) {
        (0, _) => Codec::Stored,
        (8, _) => Codec::deflate(),
        (93, _) => Codec::zstd()?,
        (14, _) => {
            // Without a size, the data says itself where it ends.
            let unpacked =
                if let Expected::Stated(stated) = member.expected { stated.bytes } else { u64::MAX };
            let text = lzma(bytes_of(path, member, progress)?.take(member.packed), unpacked)?;
            return Ok(foreign(text, member.expected, salvage));
        }
        (95, _) => {
            let text = xz(bytes_of(path, member, progress)?.take(member.packed));
            return Ok(foreign(text, member.expected, salvage));
        }
        (9 | 12, At::Entry(index)) => {
            let file = Meter::new(File::open(path)?, progress);
            let archive = ZipArchive::new(file).map_err(directory_fault)?;
            return Ok(Opened::Archive(OpenArchive { archive, index, expected: member.expected, salvage }));
        }
        (9 | 12, At::Byte(_)) => return Err(without_directory(member.method).into()),
        (other, _) => return Err(unsupported(&other.to_string()).into()),
    };
    let unpacker = Unpacker::new(codec, member.extent);
    let text = Unpacked::new(bytes_of(path, member, progress)?, unpacker);
    Ok(Opened::direct(Checked::new(text, member.expected), salvage))
}

/// A member that a library unpacks.
fn foreign(text: impl Read + Send + 'static, expected: Expected, salvage: bool) -> Opened {
    match salvage {
        true => Opened::direct(Checked::new(Sips(text), expected), true),
        false => Opened::direct(Checked::new(text, expected), false),
    }
}

/// The fault of a member that is found, but unpacked only by way of the directory.
fn without_directory(method: u16) -> Fault {
    let problem =
        format!("is packed by a method (number {method}) that can't be read without the zip's directory");
    Fault::new(problem, "Repair the zip (zip -FF), or pack the log anew if it is still there.")
}

/// The file from a member's first packed byte on.
fn bytes_of(path: &Path, member: &Member, progress: PackedCount) -> io::Result<Packed> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(data_start(path, member)?))?;
    let file = Meter::new(file, progress);
    Ok(match member.at {
        At::Entry(_) => packed(file),
        // What stands behind it is not known to be of the zip.
        At::Byte(_) => packed(file.take(member.packed)),
    })
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
    expected: Expected,
    salvage: bool,
}

impl OpenArchive {
    /// The reader of the member's bytes, from its start.
    pub(crate) fn reader(&mut self) -> io::Result<Box<dyn Digested + '_>> {
        let member = self.archive.by_index(self.index).map_err(directory_fault)?;
        Ok(match self.salvage {
            true => Box::new(Salvaged::new(Checked::new(Sips(Foreign(member)), self.expected))),
            false => Box::new(Checked::new(Foreign(member), self.expected)),
        })
    }
}

/// Where a member's packed bytes begin: by its local header, if it was found by the directory.
fn data_start(path: &Path, member: &Member) -> io::Result<u64> {
    let index = match member.at {
        At::Entry(index) => index,
        At::Byte(start) => return Ok(start),
    };
    let misplaced = || Fault::damaged("it does not begin where the zip's directory says");
    let mut archive = ZipArchive::new(File::open(path)?).map_err(directory_fault)?;
    let entry = archive.by_index_raw(index).map_err(|e| match e {
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
            Fault::harm("the zip's directory is missing: the file was cut short").into()
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
