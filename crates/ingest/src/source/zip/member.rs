//! A member of a zip, how it is opened for reading, and the messages about it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use bzip2::bufread::BzDecoder;
use deflate64::Deflate64Decoder;

use crate::source::opened::Opened;
use crate::source::unpack::checked::{Checked, Expected, Sips, Unpacked};
use crate::source::unpack::codec::{Codec, Extent, Unpacker, lzma, xz};
use crate::source::unpack::metered::{Meter, PackedCount, packed};
use perfpipe_model::error::ErrorKind;
use perfpipe_model::run::damage::Fault;

/// The maximum number of members of a zip.
pub(crate) const MOST_MEMBERS: u64 = 1000;

/// The number of characters that are kept at each end of a member's name. Damaged zips may have names of 64 KiB.
const NAME_END: usize = 100;

/// A member that may contain a log or a CPU export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    /// The name, for messages only: it is never used as a path.
    pub(crate) name: String,
    /// The number of its packed bytes in the file.
    pub(crate) packed: u64,
    /// The offset of its packed bytes in the file; `None` if the member is not where the directory says.
    pub(crate) start: Option<u64>,
    /// The compression method's number.
    pub(crate) method: u16,
    /// True if the bytes can't be read without a password.
    pub(crate) encrypted: bool,
    /// The end of the packed data.
    pub(crate) extent: Extent,
    /// The size and checksum that the unpacked data should have.
    pub(crate) expected: Expected,
}

/// The remedy for a zip that perfpipe can't read as a whole.
pub(crate) const UNPACK: &str = "Unpack it and give the files by themselves.";

/// Returns the fault of a zip with too many members.
pub(crate) fn too_many() -> Fault {
    Fault::new(ErrorKind::ZipTooLarge, format!("the zip has more than {MOST_MEMBERS} members"), UNPACK)
}

/// Returns true if a member is a folder or a metadata file of a file manager.
pub(crate) fn is_litter(name: &str) -> bool {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    name.starts_with("__MACOSX/") || name.ends_with('/') || last == ".DS_Store" || last == "Thumbs.db"
}

/// Returns a member's name for messages: without control characters, and shortened.
pub(crate) fn printable(name: &str) -> String {
    let mut name: Vec<char> =
        name.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect();
    if let Some(cut) = name.len().checked_sub(NAME_END).filter(|cut| *cut > NAME_END) {
        name.splice(NAME_END..cut, ['…']);
    }
    name.into_iter().collect()
}

/// Returns the fault of a member whose bytes can't be read without a password.
pub(crate) fn encrypted() -> Fault {
    Fault::new(ErrorKind::Encrypted, "is encrypted", "Unpack it with its password, and give the file itself.")
}

/// Returns the fault of a member that is packed by an unsupported method.
pub(crate) fn unsupported(method: &str) -> Fault {
    Fault::new(
        ErrorKind::UnsupportedMethod,
        format!("is packed by a method that is not supported (number {method})"),
        "Unpack it, and give the file itself.",
    )
}

/// Returns the name of a compression method.
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

/// Returns the fault of a member that is not where the directory says.
pub(crate) fn misplaced() -> io::Error {
    Fault::damaged("it does not begin where the zip's directory says")
}

/// Opens `member` of the zip at `path`. With `salvage`, its reader ends at damage instead of failing there.
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
    // The bytes after the member's packed size are not known to belong to it.
    let packed = packed(Meter::new(file, progress).take(member.packed));
    let codec = match member.method {
        0 => Codec::Stored,
        8 => Codec::deflate(),
        93 => Codec::zstd()?,
        9 => return Ok(foreign(Library(Deflate64Decoder::with_buffer(packed)), member, salvage)),
        12 => return Ok(foreign(Library(BzDecoder::new(packed)), member, salvage)),
        14 => {
            // Without a stated size, the data marks its own end.
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

/// Wraps a member that a library unpacks.
fn foreign(text: impl Read + Send + 'static, member: &Member, salvage: bool) -> Opened {
    match salvage {
        true => Opened::new(Checked::new(Sips(text), member.expected), true),
        false => Opened::new(Checked::new(text, member.expected), false),
    }
}

/// Converts a library's errors into faults.
struct Library<R>(R);

impl<R: Read> Read for Library<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out).map_err(|e| match e.raw_os_error() {
            Some(_) => e,
            None => Fault::damaged(&format!("its packed data is not valid ({e})")),
        })
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
