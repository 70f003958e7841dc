//! Converts rows of numbers below a header.

use crate::formats::number::parse_i64;
use crate::formats::tools::csv::LogColumn;
use crate::formats::tools::decimal::decimal;
use crate::formats::tools::lines::ConvertLine;
use crate::formats::tools::rejects::RejectCause;
use crate::formats::tools::rows::{ConvertedRows, MS, RequestRow};

/// The reason to reject a row, and the offending value.
pub(super) type RejectedField<'a> = (RejectCause, Option<&'a [u8]>);

/// Reads the fields of a row.
pub(super) type ReadRow<const N: usize> =
    for<'a> fn([&'a [u8]; N]) -> Result<RequestRow<'a>, RejectedField<'a>>;

/// The rows of one log, each with `N` fields.
pub(super) struct Answers<const N: usize> {
    header: &'static [u8],
    read: ReadRow<N>,
    /// The number of headers so far. Rows below a second one are of another run, whose times begin again at 0.
    headers: usize,
}

/// Returns true if a log begins with this header.
pub(super) fn begins(head: &[u8], header: &[u8]) -> bool {
    let rest = head.strip_prefix(header);
    rest.is_some_and(|rest| rest.trim_ascii_start().len() < rest.len() || rest.is_empty())
}

impl<const N: usize> Answers<N> {
    pub(super) fn new(header: &'static [u8], read: ReadRow<N>) -> Self {
        Self { header, read, headers: 0 }
    }
}

impl<const N: usize> ConvertLine for Answers<N> {
    fn line(&mut self, line: &[u8], rows: &mut ConvertedRows) {
        let is_header = line == self.header;
        self.headers += usize::from(is_header);
        if line.is_empty() || (is_header && self.headers == 1) {
            return;
        }
        if self.headers > 1 {
            return rows.reject(RejectCause::SecondRun, None, line);
        }
        match split(line).and_then(self.read) {
            Ok(row) => rows.push(&row),
            Err((cause, value)) => rows.reject(cause, value, line),
        }
    }
}

/// Splits a row at its commas.
fn split<const N: usize>(line: &[u8]) -> Result<[&[u8]; N], RejectedField<'_>> {
    let mut fields = [&b""[..]; N];
    let mut found = 0;
    for field in line.split(|byte| *byte == b',') {
        if let Some(place) = fields.get_mut(found) {
            *place = field;
        }
        found += 1;
    }
    if found == N {
        return Ok(fields);
    }
    Err((RejectCause::Fields { found: found as u64, expected: N as u64 }, None))
}

/// Reads the time since the begin, in seconds, as whole ms.
pub(super) fn start_ms(text: &[u8]) -> Result<i64, RejectedField<'_>> {
    let ns = decimal(text, NANOSECONDS).filter(|ns| *ns >= 0);
    ns.map(|ns| ns.div_euclid(MS)).ok_or((RejectCause::Time(LogColumn::TimeStamp), Some(text)))
}

/// The decimals of seconds that are nanoseconds.
const NANOSECONDS: usize = 9;

/// Reads a time in seconds as ns, for this column.
pub(super) fn ns(text: &[u8], column: LogColumn) -> Result<i64, RejectedField<'_>> {
    decimal(text, NANOSECONDS).filter(|ns| *ns >= 0).ok_or((RejectCause::Number(column), Some(text)))
}

/// Reads a whole number for this column.
pub(super) fn whole(text: &[u8], column: LogColumn) -> Result<i64, RejectedField<'_>> {
    parse_i64(text).filter(|number| *number >= 0).ok_or((RejectCause::Number(column), Some(text)))
}

/// Returns true for the status of an answer that is no error.
pub(super) fn is_success(status: i64) -> bool {
    (200..400).contains(&status)
}
