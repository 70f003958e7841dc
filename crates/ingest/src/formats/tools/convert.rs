//! What converts the records of a log, and what it reads them from.

use std::io;

use super::rows::Rows;
use crate::run::fault::Fault;

/// What follows the bytes that a converter is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follows {
    /// More bytes.
    More,
    /// Nothing: the log ends here.
    Nothing,
    /// Nothing that can be read: the log is damaged here.
    Damage,
    /// More bytes, which nobody wants.
    Unwanted,
}

/// A log that is converted.
pub(crate) trait LogToConvert {
    /// Reads the log's own bytes.
    fn read_log(&mut self, out: &mut [u8]) -> io::Result<usize>;

    /// Says why nothing more could be read.
    fn follows(&self) -> Follows;
}

/// Converts the records of one log.
pub(crate) trait Convert: Send {
    /// Converts whole records at the beginning of `input`, until there are enough rows. Returns the number of bytes that
    /// they take; what is behind them is given again, with more. Where nothing follows, everything is taken, unless there
    /// are enough rows before.
    ///
    /// # Errors
    /// If nothing behind these records can be read.
    fn convert(&mut self, input: &[u8], follows: Follows, rows: &mut Rows) -> Result<usize, Fault>;
}
