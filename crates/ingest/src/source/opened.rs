//! A text that was opened, to be read by blocks.

use super::unpack::checked::Digested;
use super::unpack::salvage::Salvaged;

/// A text in a regular file, opened: it is unpacked straight into the caller's buffer.
pub(crate) struct Opened(Box<dyn Digested + Send>);

impl Opened {
    /// A reader, which ends where it can't be read on if that is to `salvage` what there is.
    pub(crate) fn new(reader: impl Digested + Send + 'static, salvage: bool) -> Self {
        Self(match salvage {
            true => Box::new(Salvaged::new(reader)),
            false => Box::new(reader),
        })
    }

    /// The reader of its bytes.
    pub(crate) fn reader(&mut self) -> &mut dyn Digested {
        self.0.as_mut()
    }
}

impl From<Box<dyn Digested + Send>> for Opened {
    fn from(reader: Box<dyn Digested + Send>) -> Self {
        Self(reader)
    }
}
