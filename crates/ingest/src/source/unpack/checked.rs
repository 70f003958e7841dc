//! Size and checksum of what was unpacked, and the check against what the zip states.

use std::io::{self, BufRead, Read};

use super::codec::Unpacker;
use crate::run::fault::Fault;

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
            return Err(Fault::harm(problem).into());
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

/// What is known beforehand of what is unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Nothing.
    Unknown,
    /// What the zip states.
    Stated(Stated),
    /// The zip's statement is lost.
    Lost,
}

impl From<Stated> for Expected {
    fn from(stated: Stated) -> Self {
        Self::Stated(stated)
    }
}

/// A reader that knows what passed through it.
pub(crate) trait Digested: Read {
    fn digest(&self) -> &Digest;

    /// Why there is no more to be read, where the end is not that of the text. Only readers that salvage end so; all
    /// others fail.
    fn cut(&self) -> Option<&Fault> {
        None
    }
}

impl<T: Digested + ?Sized> Digested for &mut T {
    fn digest(&self) -> &Digest {
        (**self).digest()
    }

    fn cut(&self) -> Option<&Fault> {
        (**self).cut()
    }
}

impl<T: Digested + ?Sized> Digested for Box<T> {
    fn digest(&self) -> &Digest {
        (**self).digest()
    }

    fn cut(&self) -> Option<&Fault> {
        (**self).cut()
    }
}

/// Tallies a reader's bytes, and checks them at its end.
pub(crate) struct Checked<R> {
    inner: R,
    expected: Expected,
    digest: Digest,
}

impl<R> Checked<R> {
    pub(crate) fn new(inner: R, expected: impl Into<Expected>) -> Self {
        Self { inner, expected: expected.into(), digest: Digest::default() }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        // More than the zip states is too much, and what there is of it has been handed out.
        if let Expected::Stated(stated) = self.expected
            && self.digest.bytes > stated.bytes
        {
            self.digest.check(stated)?;
        }
        let read = self.inner.read(out)?;
        self.digest.add(out.get(..read).unwrap_or_default());
        match self.expected {
            Expected::Stated(stated) if read == 0 && !out.is_empty() => self.digest.check(stated)?,
            Expected::Lost if read == 0 && !out.is_empty() => {
                return Err(Fault::cut("its checksum is missing"));
            }
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
