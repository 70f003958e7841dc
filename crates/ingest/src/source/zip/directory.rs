//! Lists the members of a zip on disk by its directory, and checks that its file contains nothing else but padding; otherwise
//! members would be ignored unnoticed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::header::{END, LOCAL, directory, signature};
use super::member::{MOST_MEMBERS, Member, UNPACK, encrypted, is_litter, misplaced, printable, too_many};
use super::recover::ZipScan;
use crate::source::unpack::checked::Stated;
use crate::source::unpack::codec::Extent;
use crate::source::unpack::metered::read_up_to;
use perfpipe_model::error::ErrorKind;
use perfpipe_model::run::damage::Fault;

/// Lists the members of the zip at `path`, without folders and the metadata files of file managers.
///
/// # Errors
/// If the file can't be read, its directory is damaged or too large, or it contains members that the directory does not
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
    let spans: Vec<Option<MemberSpan>> = (0..archive.len()).map(|index| span(&mut archive, index)).collect();
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
struct MemberSpan {
    /// The bytes of its header and its packed data.
    whole: Range<u64>,
    /// The offset of its packed data.
    data: u64,
}

/// The maximum number of bytes that are read for the directory, which is kept in memory, and the members' headers.
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
fn span(archive: &mut ZipArchive<Directory>, index: usize) -> Option<MemberSpan> {
    let entry = archive.by_index_raw(index).ok()?;
    let data = entry.data_start()?;
    Some(MemberSpan { whole: entry.header_start()..data.checked_add(entry.compressed_size())?, data })
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

/// The size of the shortest local header in bytes.
const SHORTEST_HEADER: u64 = 30;

/// Refuses the file at `path` if it contains another zip before this one, a member that the directory does not list, or
/// anything but padding after the zip. `members` are the places of the listed members; the directory begins at
/// `listed`.
fn refuse_rest(path: &Path, members: Vec<Range<u64>>, listed: u64) -> io::Result<()> {
    for gap in gaps(members, listed) {
        // The file was recognised as a zip by its first bytes, so a gap at its start is one.
        if gap.start == 0 || ZipScan::open(path)?.next_member_before(gap.start, gap.end)?.is_some() {
            return Err(unlisted(&gap).into());
        }
    }
    let mut file = BufReader::new(File::open(path)?);
    file.seek(SeekFrom::Start(listed))?;
    let first = signature(&mut file)?;
    directory(&mut file, first)?;
    let end = file.stream_position()?;
    let all = file.get_ref().metadata()?.len();
    match after_padding(&mut file)? {
        None => Ok(()),
        Some(first) => Err(trailing(first, Some(all.saturating_sub(end))).into()),
    }
}

/// Returns the parts of a file, up to the directory, that belong to no member and may contain one.
fn gaps(mut members: Vec<Range<u64>>, listed: u64) -> Vec<Range<u64>> {
    members.sort_unstable_by_key(|member| member.start);
    members.push(listed..listed);
    let mut at = 0;
    let mut gaps = Vec::new();
    for member in members {
        gaps.push(at..member.start);
        at = at.max(member.end);
    }
    let least = |gap: &Range<u64>| if gap.start == 0 { 1 } else { SHORTEST_HEADER };
    gaps.retain(|gap| gap.end.saturating_sub(gap.start) >= least(gap));
    gaps
}

/// The maximum amount of padding in bytes; tapes pad to whole blocks. Beyond it, the zip's end is not searched for.
const MOST_PADDING: usize = 32 << 10;

/// Returns the first four bytes after the padding, or after the maximum amount of it; `None` if the input ends before.
pub(crate) fn after_padding(input: &mut impl BufRead) -> io::Result<Option<[u8; 4]>> {
    let mut bytes = [0; 4];
    let (first, others) = bytes.split_at_mut(1);
    for _ in 0..=MOST_PADDING {
        if read_up_to(input, first)? == 0 {
            return Ok(None);
        }
        if *first != [0] {
            break;
        }
    }
    read_up_to(input, others)?;
    Ok(Some(bytes))
}

/// The remedy for zips that were joined.
const SEPARATE_FILES: &str = "Give each zip as a file of its own, or read all that is in them (SourceOptions::salvage). Nothing was stored.";

/// Returns the fault of a member that the directory does not list.
fn unlisted(gap: &Range<u64>) -> Fault {
    let bytes = gap.end - gap.start;
    let problem = match gap.start {
        0 => format!("another zip comes before this one ({bytes} bytes): its members would be left out"),
        _ => {
            format!("{bytes} bytes between its members hold a member that the zip's directory does not list")
        }
    };
    Fault { harm: true, ..Fault::new(ErrorKind::JoinedZips, problem, SEPARATE_FILES) }
}

/// Returns the fault of bytes that follow a zip, by the first four of them. `bytes` is their number, if known.
pub(crate) fn trailing(first: [u8; 4], bytes: Option<u64>) -> Fault {
    let bytes = bytes.map(|bytes| format!(" ({bytes} bytes)")).unwrap_or_default();
    match [LOCAL, END].contains(&first) {
        true => {
            let problem = format!("another zip follows this one{bytes}: its members would be left out");
            Fault { harm: true, ..Fault::new(ErrorKind::JoinedZips, problem, SEPARATE_FILES) }
        }
        false => Fault::harm(
            ErrorKind::TrailingData,
            format!("data that is not part of the zip follows its end{bytes}"),
        ),
    }
}
