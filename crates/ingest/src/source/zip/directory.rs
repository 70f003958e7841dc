//! A zip on disk: its members by its directory, and the way to each member's bytes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use bzip2::bufread::BzDecoder;
use deflate64::Deflate64Decoder;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::padding::refuse_rest;
use crate::run::fault::Fault;
use crate::source::file::Opened;
use crate::source::unpack::checked::{Checked, Expected, Stated, Unpacked};
use crate::source::unpack::codec::{Codec, Extent, Unpacker};
use crate::source::unpack::lzma::{lzma, xz};
use crate::source::unpack::metered::{Meter, PackedCount, packed};
use crate::source::unpack::salvage::Sips;

/// The most members that are looked at.
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
    /// The byte of the file at which they begin; `None` where that is not as the directory says.
    pub(crate) start: Option<u64>,
    /// The compression method's number.
    pub(crate) method: u16,
    /// Whether its bytes can't be read without a password.
    pub(crate) encrypted: bool,
    /// Where the packed data ends.
    pub(crate) extent: Extent,
    /// What is known of the unpacked data.
    pub(crate) expected: Expected,
}

/// The members of the zip at `path` but for folders and the litter of file managers.
pub(crate) fn members(path: &Path) -> io::Result<Vec<Member>> {
    let file = Directory { file: File::open(path)?, left: LARGEST_DIRECTORY };
    let mut archive = ZipArchive::new(file).map_err(directory_fault)?;
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
    let spans: Vec<Option<Span>> = (0..archive.len()).map(|index| span(&mut archive, index)).collect();
    // Where a member is not where it should be, so is all that is not known to be one.
    if let Some(known) = spans.iter().map(|span| Some(span.as_ref()?.whole.clone())).collect() {
        refuse_rest(path, known, archive.central_directory_start())?;
    }
    let mut members = Vec::new();
    for (index, span) in spans.into_iter().enumerate() {
        let entry = archive.by_index_data(index).map_err(directory_fault)?;
        let name = printable(&entry.name().map_err(directory_fault)?);
        if entry.is_dir() || is_litter(&name) {
            continue;
        }
        members.push(Member {
            name,
            packed: entry.compressed_size(),
            start: span.map(|span| span.data),
            method: number_of(entry.compression()),
            encrypted: entry.encrypted(),
            extent: Extent::Bytes(entry.compressed_size()),
            expected: Stated { bytes: entry.size(), crc32: entry.crc32() }.into(),
        });
    }
    Ok(members)
}

/// Where a member is.
struct Span {
    /// Its header and its packed bytes.
    whole: Range<u64>,
    /// Where its packed bytes begin.
    data: u64,
}

/// Bytes of a zip that are read for its directory, which is held in memory, and for the headers of its members.
const LARGEST_DIRECTORY: usize = 128 << 20;

/// A zip of which no more is read than a directory may have.
struct Directory {
    file: File,
    left: usize,
}

impl Read for Directory {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(out)?;
        self.left = self.left.checked_sub(read).ok_or_else(|| {
            let most = LARGEST_DIRECTORY >> 20;
            Fault::new(format!("the zip's directory is larger than {most} MiB"), UNPACK)
        })?;
        Ok(read)
    }
}

impl Seek for Directory {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Where a member is, by the directory and by its own header; `None` where these do not agree.
fn span(archive: &mut ZipArchive<Directory>, index: usize) -> Option<Span> {
    let entry = archive.by_index_raw(index).ok()?;
    let data = entry.data_start()?;
    Some(Span { whole: entry.header_start()..data.checked_add(entry.compressed_size())?, data })
}

/// The same, but an error where one of them does not begin where the directory says.
pub(crate) fn placed_members(path: &Path) -> io::Result<Vec<Member>> {
    let members = members(path)?;
    match members.iter().any(|member| !member.encrypted && member.start.is_none()) {
        true => Err(misplaced()),
        false => Ok(members),
    }
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
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(member.start.ok_or_else(misplaced)?))?;
    // What stands behind it is not known to be of the zip.
    let packed = packed(Meter::new(file, progress).take(member.packed));
    let codec = match member.method {
        0 => Codec::Stored,
        8 => Codec::deflate(),
        93 => Codec::zstd()?,
        9 => return Ok(foreign(Library(Deflate64Decoder::with_buffer(packed)), member, salvage)),
        12 => return Ok(foreign(Library(BzDecoder::new(packed)), member, salvage)),
        14 => {
            // Without a size, the data says itself where it ends.
            let unpacked =
                if let Expected::Stated(stated) = member.expected { stated.bytes } else { u64::MAX };
            return Ok(foreign(lzma(packed, unpacked)?, member, salvage));
        }
        95 => return Ok(foreign(xz(packed), member, salvage)),
        other => return Err(unsupported(&other.to_string()).into()),
    };
    let text = Unpacked::new(packed, Unpacker::new(codec, member.extent));
    Ok(Opened::new(Checked::new(text, member.expected), salvage))
}

/// A member that a library unpacks.
fn foreign(text: impl Read + Send + 'static, member: &Member, salvage: bool) -> Opened {
    match salvage {
        true => Opened::new(Checked::new(Sips(text), member.expected), true),
        false => Opened::new(Checked::new(text, member.expected), false),
    }
}

/// The fault of a member that is not where the directory says.
fn misplaced() -> io::Error {
    Fault::damaged("it does not begin where the zip's directory says")
}

/// The number of a compression method that has no name here.
#[allow(deprecated, reason = "the zip crate gives it in no other way")]
fn number_of(method: CompressionMethod) -> u16 {
    method.to_u16()
}

/// A reader of a library, its errors told as flaws.
struct Library<R>(R);

impl<R: Read> Read for Library<R> {
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
        ZipError::Io(e) if e.raw_os_error().is_some() || e.get_ref().is_some_and(|e| e.is::<Fault>()) => e,
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
