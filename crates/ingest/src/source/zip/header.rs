//! The records of a zip in file order: local headers, data descriptors, and the directory at the end.

use std::io::{self, Read};

use super::member::printable;
use crate::source::unpack::checked::Stated;
use perfpipe_model::run::damage::Fault;

/// Signature of a member's local header.
pub(crate) const LOCAL: [u8; 4] = *b"PK\x03\x04";
/// Signature of a directory entry.
pub(crate) const ENTRY: [u8; 4] = *b"PK\x01\x02";
/// Signature of the end of the directory.
pub(crate) const END: [u8; 4] = *b"PK\x05\x06";
/// Signature of the 64-bit end of the directory.
pub(crate) const END_64: [u8; 4] = *b"PK\x06\x06";
/// Signatures of the records that may follow a member.
pub(crate) const FOLLOWING: [[u8; 4]; 4] = [LOCAL, ENTRY, END, END_64];
/// Optional signature of a data descriptor: the checksum and sizes after a member's data.
pub(crate) const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";
/// Signature of the pointer to the 64-bit end of the directory.
const LOCATOR_64: [u8; 4] = *b"PK\x06\x07";

/// Signature of the directory's digital signature.
const SIGNED: [u8; 4] = *b"PK\x05\x05";

/// The value of a size that is stored in the 64-bit extra field instead.
const IN_EXTRA: u64 = u32::MAX as u64;

/// A member's local header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocalHeader {
    /// The name, for messages only.
    pub(crate) name: String,
    /// The compression method's number.
    pub(crate) method: u16,
    /// True if the bytes can't be read without a password.
    pub(crate) encrypted: bool,
    /// True if the checksum and sizes follow the data.
    pub(crate) described_after: bool,
    /// CRC-32 of the unpacked bytes; meaningless if it follows the data.
    pub(crate) crc32: u32,
    /// Packed size in bytes; meaningless if it follows the data.
    pub(crate) packed: u64,
    /// Unpacked size in bytes; meaningless if it follows the data.
    pub(crate) unpacked: u64,
    /// The size of the header in bytes, with its signature.
    pub(crate) length: u64,
}

/// The compression methods in use for members of zips: none, those of PKWARE, bzip2, LZMA, Zstandard, xz.
const METHODS: [u16; 7] = [0, 8, 9, 12, 14, 93, 95];

impl LocalHeader {
    /// Returns true if this is probably a header and not other bytes that begin like one.
    pub(crate) fn is_likely(&self) -> bool {
        METHODS.contains(&self.method) && !self.name.is_empty()
    }
}

/// Returns true if the bytes after a directory entry's signature are probably one.
pub(crate) fn is_likely_entry(input: &mut impl Read) -> bool {
    HeaderFields::read(input, 42).is_ok_and(|mut fixed| {
        fixed.skip(6);
        let method = fixed.u16();
        fixed.skip(16);
        METHODS.contains(&method) && fixed.u16() > 0
    })
}

/// Reads a local header whose signature has been read already.
pub(crate) fn local_header(input: &mut impl Read) -> io::Result<LocalHeader> {
    let mut fixed = HeaderFields::read(input, 26)?;
    fixed.skip(2);
    let (flags, method) = (fixed.u16(), fixed.u16());
    fixed.skip(4);
    let (crc32, packed, unpacked) = (fixed.u32(), fixed.u32(), fixed.u32());
    let (name, extra) = (fixed.u16(), fixed.u16());
    let length = 30 + u64::from(name) + u64::from(extra);
    let name = HeaderFields::read(input, usize::from(name))?.0;
    let extra = HeaderFields::read(input, usize::from(extra))?;
    let (unpacked, packed) = large_sizes(extra, unpacked.into(), packed.into())?;
    Ok(LocalHeader {
        name: printable(&String::from_utf8_lossy(&name)),
        method,
        encrypted: flags & 0b0010_0000_0100_0001 != 0,
        described_after: flags & 0b1000 != 0,
        crc32,
        packed,
        unpacked,
        length,
    })
}

/// Returns the sizes (unpacked, packed), read from the 64-bit extra field if they exceed 32 bits.
fn large_sizes(mut extra: HeaderFields, unpacked: u64, packed: u64) -> io::Result<(u64, u64)> {
    if unpacked != IN_EXTRA && packed != IN_EXTRA {
        return Ok((unpacked, packed));
    }
    while extra.left() >= 4 {
        let (id, length) = (extra.u16(), usize::from(extra.u16()));
        let mut field = extra.split_to(length);
        if id == 1 {
            let mut large = |size| if size == IN_EXTRA { field.u64_if_there() } else { Some(size) };
            if let (Some(unpacked), Some(packed)) = (large(unpacked), large(packed)) {
                return Ok((unpacked, packed));
            }
        }
    }
    Ok((unpacked, packed))
}

/// Returns the forms of a data descriptor, shortest first: with 32-bit or 64-bit sizes, without or with a signature.
pub(crate) fn descriptors(crc32: u32, packed: u64, unpacked: u64) -> [Vec<u8>; 4] {
    let short =
        [crc32.to_le_bytes(), (packed as u32).to_le_bytes(), (unpacked as u32).to_le_bytes()].concat();
    let long = [&crc32.to_le_bytes()[..], &packed.to_le_bytes()[..], &unpacked.to_le_bytes()[..]].concat();
    let signed = |form: &[u8]| [&DESCRIPTOR[..], form].concat();
    [short.clone(), signed(&short), long.clone(), signed(&long)]
}

/// The size of the longest data descriptor in bytes.
pub(crate) const LONGEST_DESCRIPTOR: usize = 24;

/// Parses the data descriptor at the end of `before`, if there is one. Returns what it states of the unpacked data, and
/// the packed size. `packed` returns the packed size for a descriptor of the given length in bytes; a descriptor that
/// states another one is not accepted.
pub(crate) fn described(before: &[u8], packed: impl Fn(usize) -> Option<u64>) -> Option<(Stated, u64)> {
    for (signed, wide) in [(true, true), (true, false), (false, true), (false, false)] {
        let length = 12 + if wide { 8 } else { 0 } + if signed { 4 } else { 0 };
        let Some(at) = before.len().checked_sub(length) else { continue };
        let mut fields = HeaderFields(before.get(at..).unwrap_or_default().to_vec());
        if signed && fields.number() != DESCRIPTOR {
            continue;
        }
        let crc32 = fields.u32();
        let size = |fields: &mut HeaderFields| if wide { fields.u64() } else { fields.u32().into() };
        let (stated, bytes) = (size(&mut fields), size(&mut fields));
        if let Some(packed) = packed(length)
            && stated == if wide { packed } else { packed & IN_EXTRA }
        {
            return Some((Stated { bytes, crc32 }, packed));
        }
    }
    None
}

/// Reads the directory to its end. The signature of its first record has been read already. Returns the number of
/// members that it lists.
pub(crate) fn directory(input: &mut impl Read, first: [u8; 4]) -> io::Result<u64> {
    let mut listed = 0;
    let mut signature = first;
    loop {
        match signature {
            ENTRY => {
                let mut fixed = HeaderFields::read(input, 42)?;
                fixed.skip(24);
                let (name, extra, comment) = (fixed.u16(), fixed.u16(), fixed.u16());
                skip(input, u64::from(name) + u64::from(extra) + u64::from(comment))?;
                listed += 1;
            }
            END_64 => {
                let length = HeaderFields::read(input, 8)?.u64_if_there().unwrap_or_default();
                skip(input, length)?;
            }
            LOCATOR_64 => skip(input, 16)?,
            SIGNED => {
                let length = HeaderFields::read(input, 2)?.u16();
                skip(input, length.into())?;
            }
            END => {
                let mut fixed = HeaderFields::read(input, 18)?;
                fixed.skip(16);
                skip(input, fixed.u16().into())?;
                return Ok(listed);
            }
            _ => return Err(Fault::damaged("the zip's directory is not valid")),
        }
        signature = self::signature(input)?;
    }
}

/// Reads the signature of the next record.
pub(crate) fn signature(input: &mut impl Read) -> io::Result<[u8; 4]> {
    let mut signature = [0; 4];
    read_all(input, &mut signature)?;
    Ok(signature)
}

/// Fills `out`. The end of the input is reported as a zip that was cut short.
fn read_all(input: &mut impl Read, out: &mut [u8]) -> io::Result<()> {
    input.read_exact(out).map_err(|e| match e.kind() {
        io::ErrorKind::UnexpectedEof => Fault::cut("the zip's directory is missing"),
        _ => e,
    })
}

/// Skips `length` bytes; it is an error if there are fewer.
pub(crate) fn skip(input: &mut impl Read, length: u64) -> io::Result<()> {
    let skipped = io::copy(&mut input.take(length), &mut io::sink())?;
    if skipped < length { Err(Fault::cut("the zip's directory is missing")) } else { Ok(()) }
}

/// Reads consecutive little-endian numbers. Beyond the end they are 0.
struct HeaderFields(Vec<u8>);

impl HeaderFields {
    /// Reads `length` bytes of the input. A record's variable part has at most 64 KiB.
    fn read(input: &mut impl Read, length: usize) -> io::Result<Self> {
        let mut bytes = vec![0; length];
        read_all(input, &mut bytes)?;
        Ok(Self(bytes))
    }

    fn left(&self) -> usize {
        self.0.len()
    }

    fn split_to(&mut self, length: usize) -> Self {
        let rest = self.0.split_off(length.min(self.0.len()));
        Self(std::mem::replace(&mut self.0, rest))
    }

    fn skip(&mut self, length: usize) {
        self.split_to(length);
    }

    fn number<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        for (to, from) in bytes.iter_mut().zip(self.split_to(N).0) {
            *to = from;
        }
        bytes
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.number())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.number())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.number())
    }

    fn u64_if_there(&mut self) -> Option<u64> {
        (self.left() >= 8).then(|| self.u64())
    }
}
