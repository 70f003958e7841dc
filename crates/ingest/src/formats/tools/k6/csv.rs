//! k6's CSV. Its columns are named in the header, since k6 can be told to leave some out.

use super::COLUMNS;
use super::request::{Metric, Requests};
use crate::formats::number::parse_i64;
use crate::formats::tools::csv::{Column, split};
use crate::formats::tools::decimal::{decimal, moment};
use crate::formats::tools::format::{Clock, Format};
use crate::formats::tools::lines::{ConvertLine, LineByLine};
use crate::formats::tools::rows::Rows;
use crate::formats::tools::told::Wrong;
use crate::sample::resolution::Resolution;

/// The log.
pub(in crate::formats::tools) const FORMAT: Format = Format {
    name: "k6's CSV",
    finest: Resolution::MICROSECOND,
    clock: Clock::Epoch,
    columns: COLUMNS,
    recognises: |head| head.starts_with(b"metric_name,timestamp,metric_value,"),
    note,
    converter: || Box::new(LineByLine::new(Csv::default())),
};

/// The digits of a present moment in seconds.
const SECONDS: usize = 10;

fn note(head: &[u8]) -> Option<&'static str> {
    let second = head.split(|byte| *byte == b'\n').nth(1)?;
    let stamp = second.split(|byte| *byte == b',').nth(1)?;
    (stamp.len() == SECONDS).then_some(
        "its stamps are whole seconds, of the ends of requests: starts are known to a second only, and figures by \
         second are those of neighbouring seconds too; K6_CSV_TIME_FORMAT=unix_micro makes k6 write them exactly",
    )
}

#[derive(Debug, Default)]
struct Csv {
    /// The names of the columns.
    names: Vec<Vec<u8>>,
    fields: Vec<Vec<u8>>,
    requests: Requests,
}

impl ConvertLine for Csv {
    fn line(&mut self, line: &[u8], rows: &mut Rows) {
        if line.is_empty() {
            return;
        }
        if line.starts_with(b"metric_name,") {
            return split(line, &mut self.names);
        }
        split(line, &mut self.fields);
        if self.fields.len() != self.names.len() {
            let wrong = Wrong::Fields { found: self.fields.len() as u64, expected: self.names.len() as u64 };
            return rows.reject(wrong, None, line);
        }
        let place = |name: &str| self.names.iter().position(|own| own == name.as_bytes());
        let field =
            |name: &str| place(name).and_then(|at| self.fields.get(at)).map_or(&b""[..], Vec::as_slice);
        let Some(end_ns) = stamp(field("timestamp")) else {
            return rows.reject(Wrong::Time(Column::TimeStamp), Some(field("timestamp")), line);
        };
        let Some(value) = decimal(field("metric_value"), 6) else {
            return rows.reject(Wrong::Number(Column::Elapsed), Some(field("metric_value")), line);
        };
        let metric = Metric {
            name: field("metric_name"),
            end_ns,
            value,
            label: field("name"),
            status: field("status"),
            error: field("error"),
            error_code: field("error_code"),
            url: field("url"),
        };
        self.requests.take(&metric, rows);
    }

    fn end(&mut self, rows: &mut Rows) {
        self.requests.end(rows);
    }
}

/// Reads a moment in any of k6's formats as ns since 1970.
fn stamp(text: &[u8]) -> Option<i64> {
    let Some(number) = parse_i64(text) else { return moment(std::str::from_utf8(text).ok()?) };
    // Present moments have 10 digits in seconds, 13 in ms, 16 in µs and 19 in ns.
    let unit = match text.len() {
        ..=11 => 1_000_000_000,
        12..=14 => 1_000_000,
        15..=17 => 1000,
        _ => 1,
    };
    number.checked_mul(unit)
}
