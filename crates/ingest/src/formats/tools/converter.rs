//! Converts a log while it is read.

use std::io;

use super::convert::{Convert, Follows, LogToConvert};
use super::format::{Clock, Format};
use super::rows::Rows;
use crate::sample::resolution::Resolution;

/// The number of bytes of a log that are read at once.
const PIECE: usize = 256 << 10;

/// A log's bytes as they are converted.
pub(crate) struct Converter {
    convert: Box<dyn Convert>,
    rows: Rows,
    /// What looks at the first piece before it is converted.
    ahead: Option<(Box<dyn Convert>, Rows)>,
    /// The number of bytes of the rows that were taken.
    taken: usize,
    /// The bytes of the log that are not converted yet.
    input: Vec<u8>,
    /// The number of bytes that a piece needs at least, since fewer held no whole record.
    wanted: usize,
    ended: bool,
}

impl Converter {
    /// Creates a converter of a log, of which `head` is read already, with times in this unit. `begin` is the moment at
    /// which the tool began, in epoch ms, for a log without a clock.
    pub(crate) fn new(format: &Format, resolution: Resolution, begin: Option<i64>, head: Vec<u8>) -> Self {
        let (convert, mut rows) = format.parts(resolution);
        rows.keeps_lines = format.by_workers;
        rows.begin_ms = begin.filter(|_| (format.clock)(&head) == Clock::SinceBegin).unwrap_or_default();
        // A format that tells whole ms has nothing beyond them.
        let ahead = (format.finest != Resolution::MILLISECOND).then(|| format.parts(resolution));
        Self { convert, rows, ahead, taken: 0, input: head, wanted: 0, ended: false }
    }

    /// Gives lines.
    pub(crate) fn read(&mut self, out: &mut [u8], log: &mut impl LogToConvert) -> io::Result<usize> {
        if let Some((mut convert, mut rows)) = self.ahead.take() {
            while self.input.len() < PIECE && self.fill(log)? > 0 {}
            // What is wrong there is told when it is converted.
            let _ = convert.convert(&self.input, Follows::Unwanted, &mut rows);
            self.rows.begin_with(&rows);
        }
        while self.taken == self.rows.bytes.len() && !self.ended {
            self.rows.bytes.clear();
            self.taken = 0;
            let ended = self.input.len() <= self.wanted && self.fill(log)? == 0;
            let follows = if ended { log.follows() } else { Follows::More };
            let converted =
                self.convert.convert(&self.input, follows, &mut self.rows).map_err(io::Error::from)?;
            self.wanted = if converted == 0 { self.input.len() } else { 0 };
            self.input.drain(..converted.min(self.input.len()));
            self.ended = ended;
        }
        let given = self.rows.bytes.get(self.taken..).unwrap_or_default();
        let length = given.len().min(out.len());
        out.iter_mut().zip(given).for_each(|(to, from)| *to = *from);
        self.taken += length;
        Ok(length)
    }

    /// Reads as much again as there is, and at least a piece. Returns the number of bytes.
    fn fill(&mut self, log: &mut impl LogToConvert) -> io::Result<usize> {
        let before = self.input.len();
        self.input.resize(before + before.max(PIECE), 0);
        let mut filled = before;
        let mut result = Ok(());
        while let Some(room) = self.input.get_mut(filled..).filter(|room| !room.is_empty()) {
            match log.read_log(room) {
                Ok(0) => break,
                Ok(length) => filled += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        self.input.truncate(filled);
        result.map(|()| filled - before)
    }
}
