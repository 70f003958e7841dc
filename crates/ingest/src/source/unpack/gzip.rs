//! Unpacks gzip files with any number of members. Bytes unpacked before a flaw are returned before the error.

use std::io::{self, BufRead, Read};

use super::checked::Digest;
use super::codec::{Codec, Extent, Unpacker};
use perfpipe_model::run::damage::{Fault, PackedRead, with_packed};

/// Flags of a header: it has a checksum, extra fields, a name, a comment; and the reserved bits.
const HEADER_CRC: u8 = 0b0000_0010;
const EXTRA: u8 = 0b0000_0100;
const NAME: u8 = 0b0000_1000;
const COMMENT: u8 = 0b0001_0000;
const RESERVED: u8 = 0b1110_0000;

/// Unpacks a gzip file.
pub(crate) struct Gunzip<R> {
    input: CountedReader<R>,
    /// The current member; `None` between two members.
    member: Option<(Unpacker, Digest)>,
    /// True if a member has been read, so that the file may end.
    begun: bool,
}

impl<R: BufRead> Gunzip<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input: CountedReader { input, bytes: 0 }, member: None, begun: false }
    }

    fn unpack(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !out.is_empty() {
            let Some((unpacker, digest)) = &mut self.member else {
                if self.begun && self.input.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                header(&mut self.input)?;
                self.begun = true;
                self.member = Some((Unpacker::new(Codec::deflate(), Extent::Own), Digest::default()));
                continue;
            };
            let read = unpacker.read(&mut self.input, out)?;
            digest.add(out.get(..read).unwrap_or_default());
            if read > 0 {
                return Ok(read);
            }
            check(&mut self.input, digest)?;
            self.member = None;
        }
        Ok(0)
    }
}

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.unpack(out).map_err(|error| with_packed(error, PackedRead { read: self.input.bytes, of: None }))
    }
}

/// Reads a member's header (RFC 1952, section 2.3).
fn header(input: &mut impl BufRead) -> io::Result<()> {
    let mut sum = crc32fast::Hasher::new();
    let mut fixed = [0; 10];
    take(input, &mut fixed, &mut sum)?;
    let [0x1f, 0x8b, 8, flags, ..] = fixed else { return Err(invalid()) };
    if flags & RESERVED != 0 {
        return Err(invalid());
    }
    if flags & EXTRA != 0 {
        let mut length = [0; 2];
        take(input, &mut length, &mut sum)?;
        for _ in 0..u16::from_le_bytes(length) {
            take(input, &mut [0], &mut sum)?;
        }
    }
    for text in [NAME, COMMENT] {
        let mut byte = [u8::from(flags & text != 0)];
        while byte != [0] {
            take(input, &mut byte, &mut sum)?;
        }
    }
    if flags & HEADER_CRC != 0 {
        let mut stated = [0; 2];
        take(input, &mut stated, &mut crc32fast::Hasher::new())?;
        if u32::from(u16::from_le_bytes(stated)) != sum.finalize() & 0xffff {
            return Err(invalid());
        }
    }
    Ok(())
}

fn invalid() -> io::Error {
    Fault::damaged("its gzip data is not valid (invalid gzip header)")
}

/// Checks a member against the checksum and the size that follow it.
fn check(input: &mut impl BufRead, digest: &Digest) -> io::Result<()> {
    let mut stated = [0; 8];
    take(input, &mut stated, &mut crc32fast::Hasher::new())?;
    let is = [digest.crc32().to_le_bytes(), (digest.bytes() as u32).to_le_bytes()].concat();
    if stated[..] != is {
        return Err(Fault::damaged(
            "its gzip data is not valid (corrupt gzip stream does not have a matching checksum)",
        ));
    }
    Ok(())
}

/// Fills `out` and adds the bytes to a checksum.
fn take(input: &mut impl BufRead, out: &mut [u8], sum: &mut crc32fast::Hasher) -> io::Result<()> {
    input.read_exact(out).map_err(|e| match e.kind() {
        io::ErrorKind::UnexpectedEof => Fault::cut("its gzip data does not end"),
        _ => e,
    })?;
    sum.update(out);
    Ok(())
}

/// Counts the bytes read from an input.
struct CountedReader<R> {
    input: R,
    bytes: u64,
}

impl<R: BufRead> Read for CountedReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for CountedReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.bytes += amount as u64;
        self.input.consume(amount);
    }
}
