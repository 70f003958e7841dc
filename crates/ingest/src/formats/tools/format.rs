//! What a format of logs is.

use super::convert::{Convert, NextBytes};
use super::csv::LogColumn;
use super::rows::ConvertedRows;
use super::rows::form::Form;
use super::since_begin::begin::NOTE;
use crate::formats::jtl::layout::Layout;
use crate::sample::resolution::Resolution;

/// What the times of a format are counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeBase {
    /// 1970.
    Epoch,
    /// The begin of the tool, which the log does not report.
    SinceBegin,
}

/// A format of logs that have a record for each request.
pub(crate) struct Format {
    /// Its name, after "is".
    pub(crate) name: &'static str,
    /// The load tool that writes it, in the names of points; `None` for JMeter.
    pub(crate) tool: Option<&'static str>,
    /// The unit of its times, if that is whole.
    pub(crate) finest: Resolution,
    /// Says what the times are counted from in a log that begins with these bytes, without leading whitespace.
    pub(crate) clock: fn(&[u8]) -> TimeBase,
    /// The columns that it reports of a request.
    pub(crate) columns: &'static [LogColumn],
    /// Returns true if a log that begins with these bytes, without leading whitespace, is of this format.
    pub(crate) recognises: fn(&[u8]) -> bool,
    /// Returns the note on a log that begins with these bytes, as a sentence without its full stop.
    pub(crate) note: fn(&[u8]) -> Option<&'static str>,
    /// True if each line is a complete record, so that the workers can convert it.
    pub(crate) by_workers: bool,
    /// Returns a converter for one log.
    pub(crate) converter: fn() -> Box<dyn Convert>,
}

impl Format {
    /// Returns false for a log that has no single requests.
    pub(crate) fn has_requests(&self) -> bool {
        self.form().has_requests()
    }

    /// Returns the notes on a log that begins with these bytes, given the begin of its tool if it is known, as sentences
    /// without their full stops.
    pub(crate) fn notes(&self, head: &[u8], begin: Option<i64>) -> Vec<&'static str> {
        let of_clock = ((self.clock)(head) == TimeBase::SinceBegin && begin.is_none()).then_some(NOTE);
        (self.note)(head).into_iter().chain(of_clock).collect()
    }

    /// Returns what converts a log, and what it is converted to, with times in this unit.
    pub(crate) fn parts(&self, resolution: Resolution) -> (Box<dyn Convert>, ConvertedRows) {
        ((self.converter)(), ConvertedRows::new(resolution))
    }

    /// Returns true if a log has a request, or a record that is rejected.
    pub(crate) fn has_records(&self, log: &[u8]) -> bool {
        let (mut convert, mut rows) = self.parts(self.finest);
        let converted = convert.convert(log, NextBytes::Nothing, &mut rows);
        converted.is_err() || rows.bytes.iter().any(|byte| *byte != b'\n')
    }

    /// The form that a log of this format becomes. JMeter's own have all columns of its CSV.
    pub(crate) fn form(&self) -> Form {
        if self.tool.is_some() { Form::Packed(self.columns) } else { Form::Lines }
    }

    /// Returns the layout of what a log of this format becomes.
    pub(crate) fn layout(&self, resolution: Resolution) -> Layout {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name()).collect();
        Layout::of_converted(self.name, &names, self.form(), resolution)
    }
}
