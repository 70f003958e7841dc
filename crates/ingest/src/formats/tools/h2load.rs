//! h2load's `--log-file`: the start in µs since 1970, the status, and the time to the end in µs, between tabs.

use super::csv::Column;
use super::format::{Clock, Format};
use super::lines::{ConvertLine, LineByLine};
use super::rows::{MS, Row, Rows};
use super::told::Wrong;
use crate::formats::number::{number_in, parse_i64};
use crate::sample::resolution::Resolution;

/// The log.
pub(super) const FORMAT: Format = Format {
    name: "h2load's log",
    tool: Some("h2load"),
    finest: Resolution::MICROSECOND,
    clock: |_| Clock::Epoch,
    columns: &[
        Column::TimeStamp,
        Column::Elapsed,
        Column::ResponseCode,
        Column::Success,
        Column::FailureMessage,
    ],
    recognises,
    note: |_| None,
    converter: || Box::new(LineByLine::new(H2load)),
};

/// The number of digits of a present moment in µs.
const MICROSECONDS: usize = 16;

fn recognises(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b'\t').collect();
    let is_start = fields.first().is_some_and(|field| field.len() == MICROSECONDS);
    is_start && fields.len() >= 3 && fields.iter().take(3).all(|field| parse_i64(field).is_some())
}

struct H2load;

impl ConvertLine for H2load {
    fn line(&mut self, line: &[u8], rows: &mut Rows) {
        if line.is_empty() {
            return;
        }
        // The fields are too short for `memchr` to be the faster one.
        let mut tabs = line.iter().enumerate().filter(|(_, byte)| **byte == b'\t').map(|(at, _)| at);
        let (Some(first), Some(second)) = (tabs.next(), tabs.next()) else {
            let found = 1 + memchr::memchr_iter(b'\t', line).count() as u64;
            return rows.reject(Wrong::Fields { found, expected: 3 }, None, line);
        };
        // More columns may be added later, says h2load's manual.
        let end = tabs.next().unwrap_or(line.len());
        let field = |from: usize, to: usize| line.get(from..to).unwrap_or_default();
        let Some(start_us) = number_in(line, 0, first) else {
            return rows.reject(Wrong::Time(Column::TimeStamp), Some(field(0, first)), line);
        };
        let Some(elapsed_us) = number_in(line, second + 1, end) else {
            return rows.reject(Wrong::Number(Column::Elapsed), Some(field(second + 1, end)), line);
        };
        let status = field(first + 1, second);
        // A stream that failed has no status: -1.
        let code = parse_i64(status).unwrap_or(-1);
        let success = (200..400).contains(&code);
        rows.push(&Row {
            start_ms: start_us.div_euclid(1000),
            beyond_ns: start_us.rem_euclid(1000) * (MS / 1000),
            elapsed_ns: elapsed_us.saturating_mul(MS / 1000),
            response_code: if code < 0 { b"" } else { status },
            success,
            failure_message: if code < 0 { b"the stream failed" } else { b"" },
            ..Row::default()
        });
    }
}
