//! The reasons for which a record is rejected.

use std::fmt;

/// The number of rejects that are allowed if nobody says otherwise.
pub const USUALLY_ALLOWED: u64 = 1000;

/// The remedy for a log without records of a run.
pub const NO_RECORDS_REMEDY: &str =
    "Check its first lines: they must be those of a log of a load tool, of a run that sent requests.";

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
    /// The record begins further from most of the run's first records, or the given origin, than the allowed span.
    FarTime {
        /// timeStamp of the first one of these records, or the given origin, epoch ms.
        first_ms: i64,
    },
    /// The column contains neither epoch milliseconds nor a date.
    NotATime {
        /// The column.
        column: &'static str,
    },
    /// The column contains no whole number in its range.
    NotANumber {
        /// The column.
        column: &'static str,
    },
    /// The column contains neither true nor false.
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
    /// The record stands for several samples, of whose times it has the sum: JMeter's statistical senders write such.
    /// An error however many rejects are allowed.
    SeveralSamples {
        /// The number of samples.
        samples: u64,
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
            Self::SeveralSamples { .. } => "several-samples",
            Self::SwallowedRecords { .. } => "swallowed-records",
        }
    }

    /// Returns what to do if nearly all records of a log are rejected for this reason. `example` is the reason of one of them,
    /// with its value.
    pub fn remedy(self, example: &str) -> String {
        match self {
            Self::NotATime { .. } if example.contains("E+") || example.contains("e+") => {
                "A spreadsheet has rounded the times, and their digits are lost: take the file that the load tool wrote."
                    .to_owned()
            }
            Self::NotATime { .. } => {
                "Times must be epoch milliseconds, or dates such as 2026-11-20 19:43:08.123: take the file that the load \
                 tool wrote, or have it write such times."
                    .to_owned()
            }
            Self::NotABoolean { column } => format!(
                "{column} must be true or false in every record. If a spreadsheet has translated them, take the file that \
                 the load tool wrote."
            ),
            Self::FieldCount { .. } => {
                "Look at its first lines: the delimiter may be another one than the header's, or the header that of \
                 another log."
                    .to_owned()
            }
            Self::FarTime { .. } => {
                "If these records are the run, set IngestOptions::origin to the time at which it begins.".to_owned()
            }
            _ => NO_RECORDS_REMEDY.to_owned(),
        }
    }

    /// The reason as a clause, followed by the offending value.
    pub fn with_value(self, value: Option<&str>) -> String {
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
                    "its time is further than the allowed span from that of the other records or the given origin, {first_ms}"
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
            Self::SeveralSamples { samples } => {
                write!(f, "it stands for {samples} samples (SampleCount), with the sum of their times")
            }
            Self::SwallowedRecords { records: 1 } => {
                f.write_str("a line between two quotes looks like a record, but is read as text")
            }
            Self::SwallowedRecords { records } => {
                write!(f, "{records} lines between two quotes look like records, but are read as text")
            }
        }
    }
}
