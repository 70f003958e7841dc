//! k6's `--out csv` and `--out json`: a line for each metric of a request.

mod csv;
mod json;
mod request;

pub(super) use self::csv::FORMAT as CSV;
pub(super) use self::json::FORMAT as JSON;

use super::csv::Column;

/// What k6 tells of a request.
const COLUMNS: &[Column] = &[
    Column::TimeStamp,
    Column::Elapsed,
    Column::Label,
    Column::ResponseCode,
    Column::Success,
    Column::FailureMessage,
    Column::AllThreads,
    Column::Latency,
    Column::Connect,
    Column::Url,
];
