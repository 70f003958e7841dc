//! Why a record was not accepted.

use std::fmt;

/// Why a record was not accepted: a kind with a code that never changes, and the facts beside it.
///
/// The value at fault stands apart from it (as in [`Error::Rejects`](crate::Error::Rejects)), so that equal reasons are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RejectReason {
    /// It has another number of fields than the log has columns.
    FieldCount {
        /// Its fields.
        found: u64,
        /// The log's columns.
        expected: u64,
    },
    /// A quote is opened in it that is not closed up to the end of the log.
    OpenQuote,
    /// A quote is opened in it that is not closed within the longest record that is taken.
    LongQuote,
    /// Its line is longer than the longest record that is taken.
    LongLine,
    /// The log is damaged before the record ends.
    CutShort,
    /// It begins further from the first record of the run than the span that is allowed.
    FarTime {
        /// timeStamp of the run's first record, epoch ms.
        first_ms: i64,
    },
    /// This column holds neither epoch milliseconds nor a date.
    NotATime {
        /// The column.
        column: &'static str,
    },
    /// This column holds no whole number of its range.
    NotANumber {
        /// The column.
        column: &'static str,
    },
    /// This column holds neither true nor false.
    NotABoolean {
        /// The column.
        column: &'static str,
    },
    /// Lines between two of its quotes read as records: an error only where no reject is allowed.
    SwallowedRecords {
        /// How many.
        records: u64,
    },
}

impl RejectReason {
    /// The kind's name, which is stored beside the sentence and never changes.
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
            Self::SwallowedRecords { .. } => "swallowed-records",
        }
    }

    /// The reason as a clause, with the value at fault.
    pub(crate) fn with_value(self, value: Option<&str>) -> String {
        value.map_or_else(|| self.to_string(), |value| format!("{self}: `{value}`"))
    }
}

impl fmt::Display for RejectReason {
    /// The reason as a clause, without the value at fault.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FieldCount { found, expected } => write!(f, "{found} fields in the place of {expected}"),
            Self::OpenQuote => f.write_str("a quote is opened and never closed"),
            Self::LongQuote => f.write_str("a quote is opened that is not closed within 4 MiB"),
            Self::LongLine => f.write_str("the line is longer than 4 MiB (its beginning is kept)"),
            Self::CutShort => f.write_str("the log is damaged, and can't be read to this record's end"),
            Self::FarTime { first_ms } => {
                write!(
                    f,
                    "its time is further from that of the first record, {first_ms}, than the span allowed"
                )
            }
            Self::NotATime { column } => write!(f, "{column} is not epoch milliseconds or a date"),
            Self::NotANumber { column } => write!(f, "{column} is not a whole number in range"),
            Self::NotABoolean { column } => write!(f, "{column} is not true or false"),
            Self::SwallowedRecords { records: 1 } => {
                f.write_str("a line between two quotes reads as a record, and is taken for text")
            }
            Self::SwallowedRecords { records } => {
                write!(f, "{records} lines between two quotes read as records, and are taken for text")
            }
        }
    }
}
