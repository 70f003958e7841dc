//! A text that was opened for reading.

use std::io;

use super::unpack::checked::{Digested, Salvaged};

/// An open text in a regular file. Reads unpack straight into the caller's buffer.
pub(crate) struct Opened(Box<dyn Digested + Send>);

impl Opened {
    /// Wraps a reader. With `salvage`, it ends at the first damaged byte instead of failing there.
    pub(crate) fn new(reader: impl Digested + Send + 'static, salvage: bool) -> Self {
        Self(match salvage {
            true => Box::new(Salvaged::new(reader)),
            false => Box::new(reader),
        })
    }

    /// Returns the reader of the text.
    pub(crate) fn reader(&mut self) -> &mut dyn Digested {
        self.0.as_mut()
    }
}

impl io::Read for Opened {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl From<Box<dyn Digested + Send>> for Opened {
    fn from(reader: Box<dyn Digested + Send>) -> Self {
        Self(reader)
    }
}
