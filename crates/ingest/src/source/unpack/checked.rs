//! Size and checksum of unpacked data, and their check against what the zip states. With salvage, a text ends at the damage.

use std::io::{self, BufRead, Read};

use super::codec::Unpacker;
use perfpipe_model::error::ErrorKind;
use perfpipe_model::run::damage::{Fault, harm};

/// The size and CRC-32 of the bytes that were added.
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

    /// Returns the number of bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the CRC-32 (IEEE) of the bytes.
    pub(crate) fn crc32(&self) -> u32 {
        self.crc.clone().finalize()
    }

    /// Fails if the size or the checksum differs from the stated one.
    pub(crate) fn check(&self, stated: Stated) -> io::Result<()> {
        if self.bytes != stated.bytes {
            let problem = format!(
                "the zip states {} bytes for it, and {} were unpacked: the file is damaged",
                stated.bytes, self.bytes
            );
            return Err(Fault::harm(ErrorKind::FileDamaged, problem).into());
        }
        if self.crc32() != stated.crc32 {
            return Err(wrong_checksum());
        }
        Ok(())
    }
}

/// Returns the error for unpacked bytes whose checksum is wrong.
pub(crate) fn wrong_checksum() -> io::Error {
    Fault::damaged("the zip's checksum does not match what was unpacked")
}

/// The size and checksum that a zip states for a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stated {
    /// Size in bytes, unpacked.
    pub(crate) bytes: u64,
    /// CRC-32 of the unpacked bytes.
    pub(crate) crc32: u32,
}

/// The size and checksum that unpacked data should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// They are not known.
    Unknown,
    /// The zip states them.
    Stated(Stated),
    /// The zip stated them, but the statement is lost: reading ends with an error.
    Lost,
}

impl From<Stated> for Expected {
    fn from(stated: Stated) -> Self {
        Self::Stated(stated)
    }
}

/// A reader that counts and sums the bytes read through it.
pub(crate) trait Digested: Read {
    fn digest(&self) -> &Digest;

    /// Returns the damage that ended the text early. Only salvaging readers end that way; all others fail.
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

/// Computes the digest of a reader's bytes and checks it at the end.
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
        // More bytes than the zip states is an error. The bytes themselves have been returned by earlier reads.
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

/// An unpacker with its input.
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

/// Ends at damage instead of failing there.
pub(crate) struct Salvaged<R> {
    inner: R,
    cut: Option<Fault>,
}

impl<R> Salvaged<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, cut: None }
    }
}

impl<R: Read> Read for Salvaged<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.cut.is_some() {
            return Ok(0);
        }
        self.inner.read(out).or_else(|error| {
            self.cut = Some(harm(error)?);
            Ok(0)
        })
    }
}

impl<R: Digested> Digested for Salvaged<R> {
    fn digest(&self) -> &Digest {
        self.inner.digest()
    }

    fn cut(&self) -> Option<&Fault> {
        self.cut.as_ref()
    }
}

/// Limits the size of each read. A library's reader that fails loses what it unpacked in the same read.
pub(crate) struct Sips<R>(pub(crate) R);

/// The maximum size of a read in bytes, and so the most that can be lost.
const SIP: usize = 256;

impl<R: Read> Read for Sips<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = out.len().min(SIP);
        self.0.read(out.get_mut(..length).unwrap_or_default())
    }
}
