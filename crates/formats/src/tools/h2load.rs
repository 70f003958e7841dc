//! h2load's `--log-file`: the start in µs since 1970, the status, and the time to the end in µs, between tabs.

use super::fields::LogColumn;
use super::format::{Format, TimeBase};
use super::lines::{ConvertLine, LineByLine};
use super::rejects::RejectCause;
use super::rows::{ConvertedRows, MS, RequestRow};
use crate::number::{Digits, number_in, parse_i64};
use perfpipe_model::sample::resolution::Resolution;

/// The log.
pub(super) const FORMAT: Format = Format {
    name: "h2load's log",
    tool: Some("h2load"),
    finest: Resolution::MICROSECOND,
    clock: |_| TimeBase::Epoch,
    columns: &[
        LogColumn::TimeStamp,
        LogColumn::Elapsed,
        LogColumn::ResponseCode,
        LogColumn::Success,
        LogColumn::FailureMessage,
    ],
    recognises,
    note: |_| None,
    by_workers: true,
    converter: || Box::new(LineByLine::new(H2loadLog)),
};

/// The number of digits of a present moment in µs.
const MICROSECONDS: usize = 16;

fn recognises(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let fields = || line.split(|byte| *byte == b'\t').take(3);
    let is_start = fields().next().is_some_and(|field| field.len() == MICROSECONDS);
    is_start && fields().filter(|field| parse_i64(field).is_some()).count() == 3
}

struct H2loadLog;

impl ConvertLine for H2loadLog {
    fn line(&mut self, line: &[u8], rows: &mut ConvertedRows) {
        any_line(line, rows);
    }
}

/// The values of a line.
pub(super) struct H2loadAnswer<'a> {
    start_us: i64,
    elapsed_us: i64,
    status: &'a [u8],
    /// The status as a number; below 0 for a stream that failed, and so has none.
    code: i64,
}

impl H2loadAnswer<'_> {
    #[inline(always)]
    pub(super) fn row(&self) -> RequestRow<'_> {
        let failed = self.code < 0;
        RequestRow {
            start_ms: self.start_us.div_euclid(1000),
            beyond_ns: self.start_us.rem_euclid(1000) * (MS / 1000),
            elapsed_ns: self.elapsed_us.saturating_mul(MS / 1000),
            response_code: if failed { b"" } else { self.status },
            success: (200..400).contains(&self.code),
            failure_message: if failed { b"the stream failed" } else { b"" },
            ..RequestRow::default()
        }
    }
}

/// The place of the status in a line, and that of the time after it, where the start has as many digits as usual.
const STATUS: usize = MICROSECONDS + 1;
const ELAPSED: usize = STATUS + 4;

/// Reads the line at the beginning of a text, if it has three fields, of which the first two are as long as usual and the
/// last one is shorter than eight digits. Returns it with the number of bytes before its line end. `None` for any other line.
#[inline(always)]
pub(super) fn usual(text: &[u8]) -> Option<(H2loadAnswer<'_>, usize)> {
    let (line, _) = text.split_first_chunk::<{ ELAPSED + 8 }>()?;
    let eight = |from: usize| line.get(from..)?.first_chunk::<8>().copied();
    let (elapsed, length) = Digits::leading(eight(ELAPSED)?)?;
    let end = ELAPSED + length;
    let tabs = (line.get(STATUS - 1)?, line.get(ELAPSED - 1)?, line.get(end)?);
    if tabs != (&b'\t', &b'\t', &b'\n') {
        return None;
    }
    let number = |from| Digits::eight(eight(from)?).number();
    let status = line.get(STATUS..ELAPSED - 1)?;
    let code = number_in(line, STATUS, ELAPSED - 1)?;
    let start_us = number(0)? * 100_000_000 + number(8)?;
    Some((H2loadAnswer { start_us, elapsed_us: elapsed.number()?, status, code }, end))
}

/// Converts a line of any form.
pub(super) fn any_line(line: &[u8], rows: &mut ConvertedRows) {
    if line.is_empty() {
        return;
    }
    let mut tabs = memchr::memchr_iter(b'\t', line);
    let (Some(first), Some(second)) = (tabs.next(), tabs.next()) else {
        let found = 1 + memchr::memchr_iter(b'\t', line).count() as u64;
        return rows.reject(RejectCause::Fields { found, expected: 3 }, None, line);
    };
    // More columns may be added later, says h2load's manual.
    let end = tabs.next().unwrap_or(line.len());
    let field = |from: usize, to: usize| line.get(from..to).unwrap_or_default();
    let Some(start_us) = number_in(line, 0, first) else {
        return rows.reject(RejectCause::Time(LogColumn::TimeStamp), Some(field(0, first)), line);
    };
    let Some(elapsed_us) = number_in(line, second + 1, end) else {
        return rows.reject(RejectCause::Number(LogColumn::Elapsed), Some(field(second + 1, end)), line);
    };
    let status = field(first + 1, second);
    let code = parse_i64(status).unwrap_or(-1);
    rows.push(&H2loadAnswer { start_us, elapsed_us, status, code }.row());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn usual_lines_are_read_like_any_other(
            line in "(17[0-9]{14}|-7[0-9]{14}|[0-9]{1,20})\t([2-5][0-9]{2}|-1|-12|20x|)\t(-?[0-9]{1,12}|[0-9]x|)(\t1|\r)?",
            next in "(|[0-9]{16}\t200\t[0-9]{5}\n)",
        ) {
            let mut rows = ConvertedRows::new(Resolution::MICROSECOND);
            let text = format!("{line}\n{next}");
            if let Some((answer, length)) = usual(text.as_bytes()) {
                rows.push(&answer.row());
                let mut expected = ConvertedRows::new(Resolution::MICROSECOND);
                any_line(line.as_bytes(), &mut expected);
                prop_assert_eq!((rows.bytes, length), (expected.bytes, line.len()));
            }
        }
    }

    #[test]
    fn lines_of_the_tool_are_usual() {
        for line in ["1795347889514196\t200\t8154\n1795347889", "1795347955068711\t503\t1234567\n1"] {
            assert!(usual(line.as_bytes()).is_some(), "{line}");
        }
    }
}
