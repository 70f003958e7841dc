//! Checks that a zip's file holds nothing but the zip and padding; otherwise members would be ignored unnoticed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use super::header::{END, LOCAL, directory, signature};
use super::recover::Scan;
use crate::error::ErrorKind;
use crate::run::fault::Fault;
use crate::source::unpack::metered::read_up_to;

/// The size of the shortest local header in bytes.
const SHORTEST_HEADER: u64 = 30;

/// Refuses the file at `path` if it holds another zip before this one, a member that the directory does not list, or
/// anything but padding after the zip. `members` are the places of the listed members; the directory begins at
/// `listed`.
pub(crate) fn refuse_rest(path: &Path, members: Vec<Range<u64>>, listed: u64) -> io::Result<()> {
    for gap in gaps(members, listed) {
        // The file was recognised as a zip by its first bytes, so a gap at its start is one.
        if gap.start == 0 || Scan::open(path)?.next_member_before(gap.start, gap.end)?.is_some() {
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
        Some(first) => Err(behind(first, Some(all.saturating_sub(end))).into()),
    }
}

/// Returns the parts of a file, up to the directory, that belong to no member and may hold one.
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
const APART: &str = "Give each zip as a file of its own, or read all that is in them (SourceOptions::salvage). Nothing was stored.";

/// Returns the fault of a member that the directory does not list.
fn unlisted(gap: &Range<u64>) -> Fault {
    let bytes = gap.end - gap.start;
    let problem = match gap.start {
        0 => format!("another zip comes before this one ({bytes} bytes): its members would be left out"),
        _ => {
            format!("{bytes} bytes between its members hold a member that the zip's directory does not list")
        }
    };
    Fault { harm: true, ..Fault::new(ErrorKind::JoinedZips, problem, APART) }
}

/// Returns the fault of bytes that follow a zip, by the first four of them. `bytes` is their number, if known.
pub(crate) fn behind(first: [u8; 4], bytes: Option<u64>) -> Fault {
    let bytes = bytes.map(|bytes| format!(" ({bytes} bytes)")).unwrap_or_default();
    match [LOCAL, END].contains(&first) {
        true => {
            let problem = format!("another zip follows this one{bytes}: its members would be left out");
            Fault { harm: true, ..Fault::new(ErrorKind::JoinedZips, problem, APART) }
        }
        false => Fault::harm(
            ErrorKind::TrailingData,
            format!("data that is not part of the zip follows its end{bytes}"),
        ),
    }
}
