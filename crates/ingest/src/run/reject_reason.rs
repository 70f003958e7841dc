//! The reasons for which a record is rejected.

use std::fmt;

/// The reason for which a record was rejected: a kind with a stable code, and the details.
///
/// The offending value is not part of it (see [`Error::Rejects`](crate::Error::Rejects)), so that equal reasons compare
/// equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RejectReason {
    /// The number of fields differs from the number of columns.
    FieldCount {
        /// The number of fields in the record.
        found: u64,
        /// The number of columns in the log.
        expected: u64,
    },
    /// A quote is opened in the record and not closed before the end of the log.
    OpenQuote,
    /// A quote is opened in the record and not closed within the maximum length of a record.
    LongQuote,
    /// The line is longer than the maximum length of a record.
    LongLine,
    /// The log is damaged before the record's end.
    CutShort,
    /// The record begins further from the run's first record, or the given origin, than the allowed span.
    FarTime {
        /// timeStamp of the run's first record, or the given origin, epoch ms.
        first_ms: i64,
    },
    /// The column holds neither epoch milliseconds nor a date.
    NotATime {
        /// The column.
        column: &'static str,
    },
    /// The column holds no whole number in its range.
    NotANumber {
        /// The column.
        column: &'static str,
    },
    /// The column holds neither true nor false.
    NotABoolean {
        /// The column.
        column: &'static str,
    },
    /// The record is none of those that the format of another load tool has.
    UnknownRecord,
    /// The record is of a second run in the log, whose times begin again at 0.
    SecondRun,
    /// The record is an interval whose histogram can't be read, or not counted by second.
    Interval {
        /// What is wrong with it, as a clause.
        flaw: &'static str,
    },
    /// Lines between two quotes of the record look like records. An error only if no rejects are allowed.
    SwallowedRecords {
        /// The number of such lines.
        records: u64,
    },
}

impl RejectReason {
    /// The stable name of the kind, which is stored beside the sentence.
    pub fn code(self) -> &'static str {
        match self {
            Self::FieldCount { .. } => "field-count",
            Self::OpenQuote => "open-quote",
            Self::LongQuote => "long-quote",
            Self::LongLine => "long-line",
            Self::CutShort => "cut-short",
            Self::FarTime { .. } => "far-time",
            Self::NotATime { .. } => "not-a-time",
            Self::NotANumber { .. } => "not-a-number",
            Self::NotABoolean { .. } => "not-a-boolean",
            Self::UnknownRecord => "unknown-record",
            Self::SecondRun => "second-run",
            Self::Interval { .. } => "interval",
            Self::SwallowedRecords { .. } => "swallowed-records",
        }
    }

    /// The reason as a clause, followed by the offending value.
    pub(crate) fn with_value(self, value: Option<&str>) -> String {
        value.map_or_else(|| self.to_string(), |value| format!("{self}: `{value}`"))
    }
}

impl fmt::Display for RejectReason {
    /// Writes the reason as a clause, without the offending value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FieldCount { found, expected } => write!(f, "{found} fields instead of {expected}"),
            Self::OpenQuote => f.write_str("a quote is opened and never closed"),
            Self::LongQuote => f.write_str("a quote is opened that is not closed within 4 MiB"),
            Self::LongLine => f.write_str("the line is longer than 4 MiB (its beginning is kept)"),
            Self::CutShort => f.write_str("the log is damaged before the end of this record"),
            Self::FarTime { first_ms } => {
                write!(
                    f,
                    "its time is further from the first record or the given origin, {first_ms}, than the allowed span"
                )
            }
            Self::NotATime { column } => write!(f, "{column} is not epoch milliseconds or a date"),
            Self::NotANumber { column } => write!(f, "{column} is not a whole number in range"),
            Self::NotABoolean { column } => write!(f, "{column} is not true or false"),
            Self::UnknownRecord => f.write_str("it is none of the records that such a log has"),
            Self::SecondRun => f.write_str(
                "a second run begins in the log, with times from 0 again: put each into a file of its own",
            ),
            Self::Interval { flaw } => f.write_str(flaw),
            Self::SwallowedRecords { records: 1 } => {
                f.write_str("a line between two quotes looks like a record, but is read as text")
            }
            Self::SwallowedRecords { records } => {
                write!(f, "{records} lines between two quotes look like records, but are read as text")
            }
        }
    }
}
