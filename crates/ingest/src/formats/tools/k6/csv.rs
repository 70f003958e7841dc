//! k6's CSV. Its columns are named in the header, since some can be disabled.

use super::COLUMNS;
use super::request::{MetricLine, RequestAssembler};
use crate::formats::number::parse_i64;
use crate::formats::tools::csv::LogColumn;
use crate::formats::tools::decimal::{decimal, moment};
use crate::formats::tools::fields::Fields;
use crate::formats::tools::format::{Format, TimeBase};
use crate::formats::tools::lines::{ConvertLine, LineByLine};
use crate::formats::tools::rejects::RejectCause;
use crate::formats::tools::rows::ConvertedRows;
use crate::sample::resolution::Resolution;

/// The log.
pub(in crate::formats::tools) const FORMAT: Format = Format {
    name: "k6's CSV",
    tool: Some("k6"),
    finest: Resolution::MICROSECOND,
    clock: |_| TimeBase::Epoch,
    columns: COLUMNS,
    recognises: |head| head.starts_with(b"metric_name,timestamp,metric_value"),
    note,
    by_workers: false,
    converter: || Box::new(LineByLine::new(CsvMetrics::default())),
};

/// The digits of a present moment in seconds.
const SECONDS: usize = 10;

fn note(head: &[u8]) -> Option<&'static str> {
    let second = head.split(|byte| *byte == b'\n').nth(1)?;
    let stamp = second.split(|byte| *byte == b',').nth(1)?;
    // RFC 3339 has a fraction only if it is not 0.
    let is_whole = stamp.len() == SECONDS || stamp.contains(&b'T') && !stamp.contains(&b'.');
    is_whole.then_some(
        "its stamps are whole seconds, of the ends of requests: starts are known to a second only, and figures by \
         second are those of neighbouring seconds too; K6_CSV_TIME_FORMAT=unix_micro makes k6 write them exactly",
    )
}

#[derive(Debug, Default)]
struct CsvMetrics {
    positions: ColumnPositions,
    fields: Fields,
    requests: RequestAssembler,
}

/// The number of columns, and the indexes of those that are read.
#[derive(Debug, Default)]
struct ColumnPositions {
    columns: usize,
    name: Option<usize>,
    status: Option<usize>,
    error: Option<usize>,
    error_code: Option<usize>,
    url: Option<usize>,
}

impl ColumnPositions {
    fn of(header: &Fields) -> Self {
        let place = |name: &str| (0..header.len()).find(|at| header.get(*at) == name.as_bytes());
        Self {
            columns: header.len(),
            name: place("name"),
            status: place("status"),
            error: place("error"),
            error_code: place("error_code"),
            url: place("url"),
        }
    }
}

/// Returns true for a line that begins with a metric and a moment.
fn begins(line: &[u8]) -> bool {
    let mut fields = line.split(|byte| *byte == b',');
    let metric = fields.next().unwrap_or_default();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let is_moment = |stamp: &[u8]| stamp.len() >= SECONDS && moment_of(stamp).is_some();
    !metric.is_empty() && metric.iter().all(is_name) && fields.next().is_some_and(is_moment)
}

impl ConvertLine for CsvMetrics {
    const BEGINS: Option<fn(&[u8]) -> bool> = Some(begins);

    fn line(&mut self, line: &[u8], rows: &mut ConvertedRows) {
        if line.is_empty() {
            return;
        }
        self.fields.split_csv(line);
        // The first three columns are those by which the format is recognised.
        let [metric, stamp, value] = [0, 1, 2].map(|at| self.fields.get(at));
        if metric == b"metric_name" {
            self.positions = ColumnPositions::of(&self.fields);
            return;
        }
        if self.fields.len() != self.positions.columns {
            let cause = RejectCause::Fields {
                found: self.fields.len() as u64,
                expected: self.positions.columns as u64,
            };
            return rows.reject(cause, None, line);
        }
        let Some(end_ns) = moment_of(stamp) else {
            return rows.reject(RejectCause::Time(LogColumn::TimeStamp), Some(stamp), line);
        };
        let Some(value) = decimal(value, 6) else {
            return rows.reject(RejectCause::Number(LogColumn::Elapsed), Some(value), line);
        };
        let field = |at: Option<usize>| at.map_or(&b""[..], |at| self.fields.get(at));
        let metric = MetricLine {
            name: metric,
            end_ns,
            value,
            label: field(self.positions.name),
            status: field(self.positions.status),
            error: field(self.positions.error),
            error_code: field(self.positions.error_code),
            url: field(self.positions.url),
        };
        self.requests.add(&metric, rows);
    }

    fn end(&mut self, rows: &mut ConvertedRows) {
        self.requests.end(rows);
    }
}

/// Reads a moment in any of k6's formats as ns since 1970.
fn moment_of(text: &[u8]) -> Option<i64> {
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
