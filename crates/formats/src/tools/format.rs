//! A format of logs, and the conversion of a log while it is read.

use std::io;

use super::fields::LogColumn;
use super::rows::ConvertedRows;
use super::rows::form::Form;
use crate::jtl::layout::Layout;
use crate::work_count;
use perfpipe_model::error::{Error, ErrorKind, Place, Result};
use perfpipe_model::run::damage::Fault;
use perfpipe_model::run::options::time_unit::TimeUnit;
use perfpipe_model::sample::resolution::Resolution;

/// What the times of a format are counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeBase {
    /// 1970.
    Epoch,
    /// The begin of the tool, which the log does not report.
    SinceBegin,
}

/// A format of logs that have a record for each request.
pub struct Format {
    /// Its name, after "is".
    pub name: &'static str,
    /// The load tool that writes it, in the names of points; `None` for JMeter.
    pub tool: Option<&'static str>,
    /// The unit of its times, if that is whole.
    pub finest: Resolution,
    /// Says what the times are counted from in a log that begins with these bytes, without leading whitespace.
    pub clock: fn(&[u8]) -> TimeBase,
    /// The columns that it reports of a request.
    pub columns: &'static [LogColumn],
    /// Returns true if a log that begins with these bytes, without leading whitespace, is of this format.
    pub recognises: fn(&[u8]) -> bool,
    /// Returns the note on a log that begins with these bytes, as a sentence without its full stop.
    pub note: fn(&[u8]) -> Option<&'static str>,
    /// True if each line is a complete record, so that the workers can convert it.
    pub by_workers: bool,
    /// Returns a converter for one log.
    pub converter: fn() -> Box<dyn Convert>,
}

impl Format {
    /// Returns false for a log that has no single requests.
    pub fn has_requests(&self) -> bool {
        self.form().has_requests()
    }

    /// Returns the notes on a log that begins with these bytes, given the begin of its tool if it is known, as sentences
    /// without their full stops.
    pub fn notes(&self, head: &[u8], begin: Option<i64>) -> Vec<&'static str> {
        let of_clock = ((self.clock)(head) == TimeBase::SinceBegin && begin.is_none()).then_some(NOTE);
        (self.note)(head).into_iter().chain(of_clock).collect()
    }

    /// Returns what converts a log, and what it is converted to, with times in this unit.
    pub fn parts(&self, resolution: Resolution) -> (Box<dyn Convert>, ConvertedRows) {
        ((self.converter)(), ConvertedRows::new(resolution))
    }

    /// Returns true if a log has a request, or a record that is rejected.
    pub fn has_records(&self, log: &[u8]) -> bool {
        let (mut convert, mut rows) = self.parts(self.finest);
        let converted = convert.convert(log, NextBytes::Nothing, &mut rows);
        converted.is_err() || rows.bytes.iter().any(|byte| *byte != b'\n')
    }

    /// The form that a log of this format becomes. JMeter's own have all columns of its CSV.
    pub fn form(&self) -> Form {
        if self.tool.is_some() { Form::Packed(self.columns) } else { Form::Lines }
    }

    /// Returns the layout of what a log of this format becomes.
    pub fn layout(&self, resolution: Resolution) -> Layout {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name()).collect();
        Layout::of_converted(self.name, &names, self.form(), resolution)
    }
}

/// What follows the bytes that a converter receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextBytes {
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
pub trait LogToConvert {
    /// Reads the log's own bytes.
    fn read_log(&mut self, out: &mut [u8]) -> io::Result<usize>;

    /// Says why nothing more could be read.
    fn follows(&self) -> NextBytes;
}

/// Converts the records of one log.
pub trait Convert: Send {
    /// Converts whole records at the beginning of `input`, until there are enough rows. Returns the number of bytes
    /// that they occupy; what follows them is passed again, with more. Where nothing follows, everything is converted,
    /// unless there are enough rows before.
    ///
    /// # Errors
    /// If nothing after these records can be read.
    fn convert(&mut self, input: &[u8], follows: NextBytes, rows: &mut ConvertedRows)
    -> Result<usize, Fault>;
}

/// The number of bytes of a log that are read at once.
const PIECE: usize = 256 << 10;

/// The number of bytes of converted records that are enough at once.
const ENOUGH: usize = 1 << 20;

/// A log's bytes as they are converted.
pub struct Converter {
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
    pub fn new(format: &Format, resolution: Resolution, begin: Option<i64>, head: Vec<u8>) -> Self {
        let (convert, mut rows) = format.parts(resolution);
        rows.keeps_lines = format.by_workers;
        rows.enough = ENOUGH;
        rows.begin_ms = begin.filter(|_| (format.clock)(&head) == TimeBase::SinceBegin).unwrap_or_default();
        // A format of whole ms has no fractions of them.
        let ahead = (format.finest != Resolution::MILLISECOND).then(|| format.parts(resolution));
        Self { convert, rows, ahead, delivered: 0, input: head, converted: 0, wanted: 0, ended: false }
    }

    /// Reads converted records.
    pub fn read(&mut self, out: &mut [u8], log: &mut impl LogToConvert) -> io::Result<usize> {
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
        work_count::count(self.input.len());
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

/// The note on a log without a clock if the begin of its tool was not given.
const NOTE: &str = "it has no clock, only times since the tool began: they are stored as times since \
                               1970-01-01 00:00 UTC";

/// The remedy where that moment is needed.
const REMEDY: &str = "Give the time at which the tool started as the origin, in milliseconds since 1970 \
                      (IngestOptions::origin), or ingest the log alone.";

/// Checks the logs of a run, each with whether it has a clock. Returns true if one has none.
///
/// # Errors
/// If a log without a clock is combined with something that has one, a log or the CPU readings at `cpu`, and `origin` is
/// not the begin of its tool in epoch ms.
pub fn check_clocks<'a>(
    logs: impl Iterator<Item = (&'a Place, bool)> + Clone,
    cpu: Option<&Place>,
    origin: Option<i64>,
) -> Result<bool> {
    let Some((without, _)) = logs.clone().find(|(_, has_clock)| !has_clock) else { return Ok(false) };
    let with = logs.clone().find(|(_, has_clock)| *has_clock).map(|(place, _)| place).or(cpu);
    match (with, origin.map(|origin| (origin, TimeUnit::of(origin)))) {
        (Some(with), None) => Err(no_clock(format!(
            "{without} has no clock, only times since its tool began, so {with} can't be matched with it"
        ))),
        (_, Some((origin, Some(unit)))) => {
            Err(no_clock(format!("the origin, {origin}, is a time of this century only in {}", unit.name())))
        }
        _ => Ok(true),
    }
}

/// The error for what needs the moment at which a tool began.
fn no_clock(problem: impl Into<String>) -> Error {
    Error::usage(ErrorKind::NoClock, problem, REMEDY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_has_a_clock_needs_the_moment_of_the_begin() {
        let (hey, jtl, cpu) = (Place::file("hey.csv"), Place::file("run.jtl"), Place::file("cpu.csv"));
        let run = |logs: &[(&Place, bool)], cpu, origin| check_clocks(logs.iter().copied(), cpu, origin);
        let begin = Some(1_795_347_884_603);
        assert!(!run(&[(&jtl, true)], Some(&cpu), begin).unwrap());
        assert!(run(&[(&hey, false), (&hey, false)], None, None).unwrap());
        assert!(run(&[(&jtl, true), (&hey, false)], Some(&cpu), begin).unwrap());
        for (logs, cpu, origin, named) in [
            (&[(&hey, false)][..], Some(&cpu), None, "cpu.csv"),
            (&[(&jtl, true), (&hey, false)][..], None, None, "run.jtl"),
            (&[(&hey, false)][..], None, Some(1_795_347_884), "seconds"),
        ] {
            let error = run(logs, cpu, origin).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NoClock);
            assert!(error.to_string().contains(named), "{error}");
        }
    }
}
