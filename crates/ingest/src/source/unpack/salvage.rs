//! Reads a text out of damaged data: it ends at the damage, with the reason.

use std::io::{self, Read};

use super::checked::{Digest, Digested};
use crate::run::fault::{Fault, harm};

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
