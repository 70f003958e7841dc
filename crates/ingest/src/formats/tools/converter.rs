//! Converts a log while it is read.

use std::io;

use super::convert::{Convert, LogToConvert, NextBytes};
use super::format::{Format, TimeBase};
use super::rows::ConvertedRows;
use crate::formats::steps;
use crate::sample::resolution::Resolution;

/// The number of bytes of a log that are read at once.
const PIECE: usize = 256 << 10;

/// The number of bytes of converted records that are enough at once.
const ENOUGH: usize = 1 << 20;

/// A log's bytes as they are converted.
pub(crate) struct Converter {
    convert: Box<dyn Convert>,
    rows: ConvertedRows,
    /// A second converter, which reads the first piece ahead to find the log's first start.
    ahead: Option<(Box<dyn Convert>, ConvertedRows)>,
    /// The number of bytes of the rows that were read.
    delivered: usize,
    /// Bytes of the log, of which the first ones are converted, and the number of these.
    input: Vec<u8>,
    converted: usize,
    /// The number of bytes that a piece needs at least, since fewer were no whole record.
    wanted: usize,
    ended: bool,
}

impl Converter {
    /// Creates a converter of a log, of which `head` is read already, with times in this unit. `begin` is the moment at
    /// which the tool began, in epoch ms, for a log without a clock.
    pub(crate) fn new(format: &Format, resolution: Resolution, begin: Option<i64>, head: Vec<u8>) -> Self {
        let (convert, mut rows) = format.parts(resolution);
        rows.keeps_lines = format.by_workers;
        rows.enough = ENOUGH;
        rows.begin_ms = begin.filter(|_| (format.clock)(&head) == TimeBase::SinceBegin).unwrap_or_default();
        // A format of whole ms has no fractions of them.
        let ahead = (format.finest != Resolution::MILLISECOND).then(|| format.parts(resolution));
        Self { convert, rows, ahead, delivered: 0, input: head, converted: 0, wanted: 0, ended: false }
    }

    /// Reads converted records.
    pub(crate) fn read(&mut self, out: &mut [u8], log: &mut impl LogToConvert) -> io::Result<usize> {
        if let Some((mut convert, mut rows)) = self.ahead.take() {
            while self.input.len() < PIECE && self.fill(log)? > 0 {}
            // Errors there are reported when it is converted.
            let _ = convert.convert(&self.input, NextBytes::Unwanted, &mut rows);
            self.rows.begin_with(&rows);
        }
        while self.delivered == self.rows.bytes.len() && !self.ended {
            self.rows.bytes.clear();
            self.delivered = 0;
            let has_ended = self.input.len() - self.converted <= self.wanted && self.fill(log)? == 0;
            let follows = if has_ended { log.follows() } else { NextBytes::More };
            let input = self.input.get(self.converted..).unwrap_or_default();
            let converted = self.convert.convert(input, follows, &mut self.rows).map_err(io::Error::from)?;
            self.wanted = if converted == 0 { input.len() } else { 0 };
            let is_consumed = converted >= input.len();
            self.converted += converted.min(input.len());
            self.ended = has_ended && (is_consumed || !self.rows.are_enough());
        }
        let given = self.rows.bytes.get(self.delivered..).unwrap_or_default();
        let length = given.len().min(out.len());
        out.iter_mut().zip(given).for_each(|(to, from)| *to = *from);
        self.delivered += length;
        Ok(length)
    }

    /// Reads as much again as there is, and at least a piece. Returns the number of bytes.
    fn fill(&mut self, log: &mut impl LogToConvert) -> io::Result<usize> {
        self.input.drain(..std::mem::take(&mut self.converted));
        steps::count(self.input.len());
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
