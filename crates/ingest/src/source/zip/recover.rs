//! Finds the members of a zip whose directory is lost, by their local headers.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use super::header::{
    DESCRIPTOR, ENTRY, FOLLOWING, LOCAL, LONGEST_DESCRIPTOR, LocalHeader, described, is_likely_entry,
    local_header,
};
use super::member::{MOST_MEMBERS, Member, is_litter, too_many};
use crate::source::unpack::checked::{Expected, Stated};
use crate::source::unpack::codec::Extent;
use crate::source::unpack::metered::read_up_to;

/// The size in bytes of a data descriptor with a signature and 32-bit sizes.
const SHORT_DESCRIPTOR: usize = 16;

/// The number of bytes of the file that are searched at a time.
const PIECE: usize = 1 << 20;

/// Finds the members of the zip at `path`, without folders and metadata files. The last one may be cut short.
///
/// # Errors
/// If the file can't be read or contains too many members.
pub(crate) fn scan(path: &Path) -> io::Result<Vec<Member>> {
    let mut zip = ZipScan::open(path)?;
    let mut members = Vec::new();
    let (mut at, mut met) = (0, 0);
    while let Some((header, data)) = zip.next_member(at)? {
        met += 1;
        if met > MOST_MEMBERS {
            return Err(too_many().into());
        }
        let found = zip.extent(&header, data)?;
        at = found.end;
        if !is_litter(&header.name) {
            members.push(found.member(header, data));
        }
    }
    Ok(members)
}

/// The end of a member's packed data, and how it is known.
struct MemberEnd {
    end: u64,
    extent: Extent,
    expected: Expected,
}

impl MemberEnd {
    fn member(&self, header: LocalHeader, data: u64) -> Member {
        Member {
            name: header.name,
            packed: self.end - data,
            start: Some(data),
            method: header.method,
            encrypted: header.encrypted,
            extent: self.extent,
            expected: self.expected,
        }
    }
}

/// A zip that is searched for its records.
pub(crate) struct ZipScan {
    file: File,
    length: u64,
    /// A piece of the file, and its offset.
    piece: Vec<u8>,
    begins: u64,
}

impl ZipScan {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Self { file, length, piece: Vec::new(), begins: 0 })
    }

    /// Returns the next member at or after offset `from`, and the offset of its data.
    fn next_member(&mut self, from: u64) -> io::Result<Option<(LocalHeader, u64)>> {
        self.next_member_before(from, u64::MAX)
    }

    /// Returns the next member as `next_member` does, if its header begins before offset `end`.
    pub(crate) fn next_member_before(
        &mut self,
        mut from: u64,
        end: u64,
    ) -> io::Result<Option<(LocalHeader, u64)>> {
        while let Some((at, signature)) = self.next_signature(from)?.filter(|(at, _)| *at < end) {
            if signature == LOCAL
                && let Some(header) = self.header(at)?
            {
                let data = at + header.length;
                return Ok(Some((header, data)));
            }
            from = at + 1;
        }
        Ok(None)
    }

    /// Finds the end of a member's data, which begins at offset `data`.
    fn extent(&mut self, header: &LocalHeader, data: u64) -> io::Result<MemberEnd> {
        let stated = Stated { bytes: header.unpacked, crc32: header.crc32 };
        let sized = (!header.described_after).then_some(header.packed);
        if let Some(packed) = sized
            && let Some(end) = data.checked_add(packed)
            && self.record_follows(end)?
        {
            return Ok(MemberEnd { end, extent: Extent::Bytes(packed), expected: stated.into() });
        }
        let mut from = data;
        while let Some((at, signature)) = self.next_signature(from)? {
            if sized.is_none() && signature == DESCRIPTOR {
                // The descriptor may be followed by damaged bytes instead of a record.
                for length in [LONGEST_DESCRIPTOR, SHORT_DESCRIPTOR] {
                    if let Some(found) = self.described(data..at + length as u64)?
                        && found.end == at
                    {
                        return Ok(found);
                    }
                }
            }
            if sized.is_none()
                && let Some(found) = self.described(data..at)?
            {
                return Ok(MemberEnd { end: at, ..found });
            }
            if self.is_record(at, signature)? {
                return Ok(unconfirmed(header, data..at));
            }
            from = at + 1;
        }
        match self.described(data..self.length)? {
            Some(found) if sized.is_none() => Ok(MemberEnd { end: self.length, ..found }),
            _ => Ok(unconfirmed(header, data..self.length)),
        }
    }

    /// Returns the end of a member by the data descriptor at the end of `bytes`, if there is one.
    fn described(&mut self, bytes: Range<u64>) -> io::Result<Option<MemberEnd>> {
        let all = bytes.end - bytes.start;
        let length = LONGEST_DESCRIPTOR.min(usize::try_from(all).unwrap_or(usize::MAX));
        let before = self.bytes(bytes.end - length as u64, length)?;
        let found = described(&before, |length| all.checked_sub(length as u64));
        Ok(found.map(|(stated, packed)| MemberEnd {
            end: bytes.start + packed,
            extent: Extent::Bytes(packed),
            expected: stated.into(),
        }))
    }

    /// Returns true if the file ends at offset `at` or a record that may follow a member begins there.
    fn record_follows(&mut self, at: u64) -> io::Result<bool> {
        let signature = if at <= self.length { self.bytes(at, 4)? } else { return Ok(false) };
        Ok(signature.is_empty() || FOLLOWING.iter().any(|following| *following == signature[..]))
    }

    /// Returns true if a signature begins a local header or a directory entry, and is not part of a member's data.
    fn is_record(&mut self, at: u64, signature: [u8; 4]) -> io::Result<bool> {
        match signature {
            LOCAL => Ok(self.header(at)?.is_some()),
            ENTRY => Ok(is_likely_entry(&mut &self.bytes(at + 4, 42)?[..])),
            _ => Ok(false),
        }
    }

    /// Reads the complete local header at offset `at`, if there is one.
    fn header(&mut self, at: u64) -> io::Result<Option<LocalHeader>> {
        self.file.seek(SeekFrom::Start(at + 4))?;
        let header = local_header(&mut BufReader::with_capacity(256, &self.file));
        Ok(header.ok().filter(LocalHeader::is_likely))
    }

    /// Reads up to `length` bytes from offset `at`.
    fn bytes(&mut self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        self.file.seek(SeekFrom::Start(at))?;
        let mut bytes = Vec::with_capacity(length);
        (&self.file).take(length as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Finds the next signature, at or after offset `from`, of a data descriptor or of a record that may follow a
    /// member.
    fn next_signature(&mut self, mut from: u64) -> io::Result<Option<(u64, [u8; 4])>> {
        loop {
            let skipped = self.load(from)?;
            let piece = self.piece.get(skipped..).unwrap_or_default();
            let found = memchr::memmem::find_iter(piece, b"PK").find_map(|at| {
                let signature = *piece.get(at..)?.first_chunk()?;
                let known = signature == DESCRIPTOR || FOLLOWING.contains(&signature);
                known.then_some((from + at as u64, signature))
            });
            if found.is_some() || piece.len() < 4 {
                return Ok(found);
            }
            // A signature may lie across the end of the piece.
            from += piece.len() as u64 - 3;
        }
    }

    /// Loads the piece that contains offset `from`. Returns the index of `from` in it.
    fn load(&mut self, from: u64) -> io::Result<usize> {
        let held = from.checked_sub(self.begins).and_then(|skipped| usize::try_from(skipped).ok());
        if let Some(skipped) = held
            && skipped + 4 <= self.piece.len()
        {
            return Ok(skipped);
        }
        self.file.seek(SeekFrom::Start(from))?;
        self.piece.resize(PIECE, 0);
        let read = read_up_to(&mut self.file, &mut self.piece)?;
        self.piece.truncate(read);
        self.begins = from;
        Ok(0)
    }
}

/// Describes a member whose end no record confirms.
fn unconfirmed(header: &LocalHeader, bytes: Range<u64>) -> MemberEnd {
    let (end, there) = (bytes.end, bytes.end - bytes.start);
    let stated = Stated { bytes: header.unpacked, crc32: header.crc32 };
    let expected = if header.described_after { Expected::Lost } else { stated.into() };
    let extent = match header.method {
        _ if !header.described_after && header.packed > there => Extent::Bytes(header.packed),
        // These formats mark their own end.
        8 | 93 => Extent::Own,
        _ if header.described_after => Extent::Bytes(there),
        _ => Extent::Bytes(header.packed),
    };
    MemberEnd { end, extent, expected }
}
