//! Opens a member of a zip for reading.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use bzip2::bufread::BzDecoder;
use deflate64::Deflate64Decoder;

use super::member::{Member, encrypted, misplaced, unsupported};
use crate::run::fault::Fault;
use crate::source::opened::Opened;
use crate::source::unpack::checked::{Checked, Expected, Unpacked};
use crate::source::unpack::codec::{Codec, Unpacker};
use crate::source::unpack::lzma::{lzma, xz};
use crate::source::unpack::metered::{Meter, PackedCount, packed};
use crate::source::unpack::salvage::Sips;

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
