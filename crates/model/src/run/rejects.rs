//! Rejected records with their place and reason, kept in memory up to a few MiB, then in a temporary file.

use std::io::{self, BufRead, BufReader, Read, Seek, Write};

use serde::{Deserialize, Serialize};
use tempfile::SpooledTempFile;

use crate::error::{Error, Result};

/// One record that was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    /// The log file's name.
    pub file: String,
    /// The member inside a zip.
    pub member: Option<String>,
    /// The line, from 1, on which the record begins.
    pub line: u64,
    /// The offset, from 0, of the record's first byte in the unpacked log.
    pub byte: u64,
    /// The [code](crate::run::RejectReason::code) of the reason. `None` in a run that was stored before reasons had
    /// codes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The reason, as a clause.
    pub reason: String,
    /// The record as logged, without its line end. Invalid UTF-8 is replaced by U+FFFD.
    pub record: String,
}

impl Reject {
    /// Creates a reject of a log that is in no zip. It has no code.
    pub fn new(
        file: impl Into<String>,
        line: u64,
        byte: u64,
        reason: impl Into<String>,
        record: impl Into<String>,
    ) -> Self {
        Self {
            file: file.into(),
            member: None,
            line,
            byte,
            code: None,
            reason: reason.into(),
            record: record.into(),
        }
    }
}

/// Rejects in the order of the log.
pub struct RejectSpool {
    spool: Spool,
    len: u64,
}

impl Default for RejectSpool {
    fn default() -> Self {
        Self { spool: Spool::new("rejected records"), len: 0 }
    }
}

impl RejectSpool {
    /// Appends a reject.
    ///
    /// # Errors
    /// When the temporary file can't be written.
    pub fn push(&mut self, reject: &Reject) -> Result<()> {
        let mut line =
            serde_json::to_vec(reject).map_err(|e| Error::store("keeping a rejected record", e))?;
        line.push(b'\n');
        self.spool.push(&line)?;
        self.len += 1;
        Ok(())
    }

    /// The number of rejects.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns true if there are no rejects.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Iterates over all rejects, from the first.
    ///
    /// # Errors
    /// When the temporary file can't be read.
    pub fn iter(&mut self) -> Result<impl Iterator<Item = Result<Reject>> + '_> {
        Ok(read_lines(BufReader::new(self.spool.reader()?), "reading the rejected records back".to_owned()))
    }

    /// Writes all rejects to `out`, one JSON object a line, and returns the number of bytes. The outer error is that of
    /// the temporary file, the inner one that of `out`.
    pub fn write_lines(&mut self, out: &mut impl Write) -> Result<std::io::Result<u64>> {
        Ok(std::io::copy(self.spool.reader()?, out))
    }
}

/// The maximum length of a line in bytes. A record has 4 MiB at most, and each of its bytes may take six.
const LINE: u64 = 32 << 20;

/// The error for a longer line.
const TOO_LONG: &str =
    "a rejected record is longer than any can be (the file is damaged: ingest the run again)";

/// Reads rejects, one JSON object a line, and stops after the first error. `what` describes the step in error messages.
pub fn read_lines(mut lines: impl BufRead, what: String) -> impl Iterator<Item = Result<Reject>> {
    // Reads whole lines first, since serde_json reads from a reader byte by byte.
    let (mut line, mut failed) = (Vec::new(), false);
    std::iter::from_fn(move || {
        line.clear();
        if failed {
            return None;
        }
        let read = match lines.by_ref().take(LINE).read_until(b'\n', &mut line) {
            Ok(0) => return None,
            Ok(_) if line.len() as u64 == LINE => Err(Error::store(what.as_str(), TOO_LONG)),
            Ok(_) => serde_json::from_slice(&line).map_err(|error| Error::store(what.as_str(), error)),
            Err(error) => Err(Error::store(what.as_str(), error)),
        };
        failed = read.is_err();
        Some(read)
    })
}

/// The number of bytes kept in memory before they move to the temporary file.
const IN_MEMORY: usize = 4 << 20;

/// The number of bytes gathered before a write. One system call for each line would take most of the time.
const GATHERED: usize = 64 << 10;

/// Bytes that are written once and then read back.
pub struct Spool {
    file: SpooledTempFile,
    /// The bytes that follow those of the file.
    gathered: Vec<u8>,
    /// Description of the bytes, for error messages.
    what: &'static str,
}

impl Spool {
    /// Creates an empty spool. `what` describes its content in error messages.
    pub fn new(what: &'static str) -> Self {
        Self { file: SpooledTempFile::new(IN_MEMORY), gathered: Vec::new(), what }
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// When the temporary file can't be written.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() < GATHERED { Ok(()) } else { self.write_gathered() }
    }

    fn write_gathered(&mut self) -> Result<()> {
        self.file.write_all(&self.gathered).map_err(|error| self.failed(error))?;
        self.gathered.clear();
        Ok(())
    }

    /// Returns a reader of all bytes, from the first.
    ///
    /// # Errors
    /// When the temporary file can't be read.
    pub fn reader(&mut self) -> Result<&mut (impl Read + use<>)> {
        self.write_gathered()?;
        self.file.rewind().map_err(|error| self.failed(error))?;
        Ok(&mut self.file)
    }

    /// Returns a reader of all bytes, from the first, that outlives the spool.
    ///
    /// # Errors
    /// When the temporary file can't be read.
    pub fn into_reader(mut self) -> Result<impl Read + Send + use<>> {
        self.write_gathered()?;
        self.file.rewind().map_err(|error| self.failed(error))?;
        Ok(self.file)
    }

    fn failed(&self, error: io::Error) -> Error {
        let folder = std::env::temp_dir();
        Error::store(format!("keeping {} in {} (TMPDIR names it)", self.what, folder.display()), error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_come_back_in_order_from_memory_and_from_disk() {
        let mut spool = RejectSpool::default();
        let reject = |line| Reject {
            file: "a.csv".into(),
            member: None,
            line,
            byte: 7,
            code: Some("field-count".into()),
            reason: "5 fields".into(),
            record: "x\n\"y".repeat(300_000),
        };
        for line in 1..=5 {
            spool.push(&reject(line)).unwrap();
        }
        let back: Vec<Reject> = spool.iter().unwrap().collect::<Result<_>>().unwrap();
        assert_eq!(back, (1..=5).map(reject).collect::<Vec<_>>());
    }
}
