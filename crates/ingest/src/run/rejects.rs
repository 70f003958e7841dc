//! Rejected records, whole, with their place and reason; beyond a few MiB they wait in a temporary file.

use std::io::{BufRead, BufReader, Write};

use serde::{Deserialize, Serialize};

use super::spool::Spool;
use crate::error::{Error, Result};

/// One record that was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    /// The log file's name.
    pub file: String,
    /// The member inside a zip.
    pub member: Option<String>,
    /// Line, from 1, on which the record begins.
    pub line: u64,
    /// Byte, from 0, at which the record begins in the unpacked log.
    pub byte: u64,
    /// Which reason it was not accepted for: [`RejectReason::code`](crate::RejectReason::code). `None` in a run that was
    /// stored before reasons had codes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Why it was not accepted, as a clause.
    pub reason: String,
    /// The record as it stands in the log, without its line end; U+FFFD where it is not UTF-8.
    pub record: String,
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
    /// Appends one.
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

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All of them, from the first.
    ///
    /// # Errors
    /// When the temporary file can't be read.
    pub fn iter(&mut self) -> Result<impl Iterator<Item = Result<Reject>> + '_> {
        Ok(read_lines(BufReader::new(self.spool.reader()?), "reading the rejected records back".to_owned()))
    }

    /// Writes all of them, one JSON object a line, as they are kept.
    pub(crate) fn write_lines(&mut self, out: &mut impl Write) -> Result<std::io::Result<u64>> {
        Ok(std::io::copy(self.spool.reader()?, out))
    }
}

/// Reads rejects, one JSON object a line; nothing follows an error. `what` is being done, for messages.
pub(crate) fn read_lines(mut lines: impl BufRead, what: String) -> impl Iterator<Item = Result<Reject>> {
    // Whole lines, since serde_json takes a reader byte by byte.
    let (mut line, mut failed) = (Vec::new(), false);
    std::iter::from_fn(move || {
        line.clear();
        if failed {
            return None;
        }
        let read = match lines.read_until(b'\n', &mut line) {
            Ok(0) => return None,
            Ok(_) => serde_json::from_slice(&line).map_err(|error| Error::store(what.as_str(), error)),
            Err(error) => Err(Error::store(what.as_str(), error)),
        };
        failed = read.is_err();
        Some(read)
    })
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
