//! Size and checksum of what was unpacked, and the check against what the zip states.

use std::io::{self, BufRead, Read};

use flate2::bufread::MultiGzDecoder;

use super::codec::Unpacker;
use super::fault::{COPY_AGAIN, Fault};
use super::packed::Packed;

/// Bytes counted and summed as they pass.
#[derive(Debug, Clone, Default)]
pub(crate) struct Digest {
    bytes: u64,
    crc: crc32fast::Hasher,
}

impl Digest {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.crc.update(bytes);
    }

    /// How many bytes passed.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// CRC-32 (IEEE) of the bytes that passed.
    pub(crate) fn crc32(&self) -> u32 {
        self.crc.clone().finalize()
    }

    /// Fails where size or checksum are not the stated ones.
    pub(crate) fn check(&self, stated: Stated) -> io::Result<()> {
        if self.bytes != stated.bytes {
            let problem = format!(
                "the zip states {} bytes for it, and {} were unpacked: the file is damaged",
                stated.bytes, self.bytes
            );
            return Err(Fault::new(problem, COPY_AGAIN).into());
        }
        if self.crc32() != stated.crc32 {
            return Err(wrong_checksum());
        }
        Ok(())
    }
}

/// The error for bytes that are not the ones which were packed.
pub(crate) fn wrong_checksum() -> io::Error {
    Fault::damaged("the zip's checksum does not match what was unpacked")
}

/// What a zip states of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stated {
    /// Size in bytes, unpacked.
    pub(crate) bytes: u64,
    /// CRC-32 of the unpacked bytes.
    pub(crate) crc32: u32,
}

/// A reader that knows what passed through it.
pub(crate) trait Digested: Read {
    fn digest(&self) -> &Digest;
}

impl<T: Digested + ?Sized> Digested for &mut T {
    fn digest(&self) -> &Digest {
        (**self).digest()
    }
}

/// Tallies a reader's bytes, and checks them at its end.
pub(crate) struct Checked<R> {
    inner: R,
    stated: Option<Stated>,
    digest: Digest,
}

impl<R> Checked<R> {
    pub(crate) fn new(inner: R, stated: Option<Stated>) -> Self {
        Self { inner, stated, digest: Digest::default() }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        self.digest.add(out.get(..read).unwrap_or_default());
        match self.stated {
            Some(stated) if read == 0 && !out.is_empty() => self.digest.check(stated)?,
            Some(stated) if self.digest.bytes > stated.bytes => self.digest.check(stated)?,
            _ => {}
        }
        Ok(read)
    }
}

impl<R: Read> Digested for Checked<R> {
    fn digest(&self) -> &Digest {
        &self.digest
    }
}

/// An unpacker with an input of its own.
pub(crate) struct Unpacked<R> {
    input: R,
    unpacker: Unpacker,
}

impl<R: BufRead> Unpacked<R> {
    pub(crate) fn new(input: R, unpacker: Unpacker) -> Self {
        Self { input, unpacker }
    }
}

impl<R: BufRead> Read for Unpacked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.unpacker.read(&mut self.input, out)
    }
}

/// A gzip file of any number of members, its flaws told apart from the system's errors.
pub(crate) struct Gunzip(MultiGzDecoder<Packed>);

impl Gunzip {
    pub(crate) fn new(input: Packed) -> Self {
        Self(MultiGzDecoder::new(input))
    }
}

impl Read for Gunzip {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => Fault::cut("its gzip data does not end"),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                Fault::damaged(&format!("its gzip data is not valid ({e})"))
            }
            _ => e,
        })
    }
}
