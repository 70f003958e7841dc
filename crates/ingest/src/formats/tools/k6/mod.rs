//! k6's `--out csv` and `--out json`: a line for each metric of a request.

mod csv;
mod json;
mod request;

pub(super) use self::csv::FORMAT as CSV;
pub(super) use self::json::FORMAT as JSON;

use super::csv::LogColumn;

/// The columns that k6 reports.
const COLUMNS: &[LogColumn] = &[
    LogColumn::TimeStamp,
    LogColumn::Elapsed,
    LogColumn::Label,
    LogColumn::ResponseCode,
    LogColumn::Success,
    LogColumn::FailureMessage,
    LogColumn::AllThreads,
    LogColumn::Latency,
    LogColumn::Connect,
    LogColumn::Url,
];
