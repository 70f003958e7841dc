//! The converter of a log's records, and its input.

use std::io;

use super::rows::ConvertedRows;
use crate::run::fault::Fault;

/// What follows the bytes that a converter receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextBytes {
    /// More bytes.
    More,
    /// Nothing: the log ends here.
    Nothing,
    /// Nothing that can be read: the log is damaged here.
    Damage,
    /// More bytes, which are not needed.
    Unwanted,
}

/// A log that is converted.
pub(crate) trait LogToConvert {
    /// Reads the log's own bytes.
    fn read_log(&mut self, out: &mut [u8]) -> io::Result<usize>;

    /// Says why nothing more could be read.
    fn follows(&self) -> NextBytes;
}

/// Converts the records of one log.
pub(crate) trait Convert: Send {
    /// Converts whole records at the beginning of `input`, until there are enough rows. Returns the number of bytes
    /// that they occupy; what follows them is passed again, with more. Where nothing follows, everything is converted,
    /// unless there are enough rows before.
    ///
    /// # Errors
    /// If nothing after these records can be read.
    fn convert(&mut self, input: &[u8], follows: NextBytes, rows: &mut ConvertedRows)
    -> Result<usize, Fault>;
}
