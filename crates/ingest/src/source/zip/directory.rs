//! Lists the members of a zip on disk by its directory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::member::{MOST_MEMBERS, Member, UNPACK, encrypted, is_litter, misplaced, printable, too_many};
use super::padding::refuse_rest;
use crate::error::ErrorKind;
use crate::run::fault::Fault;
use crate::source::unpack::checked::Stated;
use crate::source::unpack::codec::Extent;

/// Lists the members of the zip at `path`, without folders and the metadata files of file managers.
///
/// # Errors
/// If the file can't be read, its directory is damaged or too large, or it holds members that the directory does not
/// list.
pub(crate) fn members(path: &Path) -> io::Result<Vec<Member>> {
    let file = Directory { file: File::open(path)?, left: LARGEST_DIRECTORY };
    let mut archive = ZipArchive::new(file).map_err(directory_fault)?;
    if archive.has_duplicate_names() {
        return Err(Fault::new(
            ErrorKind::DuplicateMember,
            "two members of the zip have the same name",
            UNPACK,
        )
        .into());
    }
    if archive.len() as u64 > MOST_MEMBERS {
        return Err(too_many().into());
    }
    // A member whose place is unknown is reported when it is opened.
    if archive.has_overlapping_entries().unwrap_or(false) {
        return Err(Fault::damaged("members of the zip overlap each other, or the zip's directory"));
    }
    let spans: Vec<Option<Span>> = (0..archive.len()).map(|index| span(&mut archive, index)).collect();
    // If one member is misplaced, the gaps between the others may belong to it, so they are not checked.
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

/// The place of a member in the file.
struct Span {
    /// The bytes of its header and its packed data.
    whole: Range<u64>,
    /// The offset of its packed data.
    data: u64,
}

/// The maximum number of bytes that are read for the directory, which is held in memory, and the members' headers.
const LARGEST_DIRECTORY: usize = 128 << 20;

/// Limits how much of a zip is read for its directory.
struct Directory {
    file: File,
    left: usize,
}

impl Read for Directory {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(out)?;
        self.left = self.left.checked_sub(read).ok_or_else(|| {
            let most = LARGEST_DIRECTORY >> 20;
            Fault::new(
                ErrorKind::ZipTooLarge,
                format!("the zip's directory is larger than {most} MiB"),
                UNPACK,
            )
        })?;
        Ok(read)
    }
}

impl Seek for Directory {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Returns the place of a member by the directory and its local header; `None` if these disagree.
fn span(archive: &mut ZipArchive<Directory>, index: usize) -> Option<Span> {
    let entry = archive.by_index_raw(index).ok()?;
    let data = entry.data_start()?;
    Some(Span { whole: entry.header_start()..data.checked_add(entry.compressed_size())?, data })
}

/// Lists the members as [`members`] does, but fails if one of them does not begin where the directory says.
pub(crate) fn placed_members(path: &Path) -> io::Result<Vec<Member>> {
    let members = members(path)?;
    match members.iter().any(|member| !member.encrypted && member.start.is_none()) {
        true => Err(misplaced()),
        false => Ok(members),
    }
}

/// Returns the number of a compression method that has no name here.
#[allow(deprecated, reason = "the zip crate gives it in no other way")]
fn number_of(method: CompressionMethod) -> u16 {
    method.to_u16()
}

/// Converts the zip crate's error into this crate's wording.
fn directory_fault(error: ZipError) -> io::Error {
    match error {
        ZipError::Io(e) if e.raw_os_error().is_some() || e.get_ref().is_some_and(|e| e.is::<Fault>()) => e,
        ZipError::InvalidArchive(what)
            if what == "Could not find EOCD" || what.starts_with("Unexpected end") =>
        {
            Fault::harm(ErrorKind::FileCut, "the zip's directory is missing: the file was cut short").into()
        }
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => encrypted().into(),
        ZipError::InvalidArchive(what) => {
            Fault::damaged(&format!("the zip's directory is not valid ({what})"))
        }
        other => Fault::damaged(&format!("the zip's directory is not valid ({other})")),
    }
}
