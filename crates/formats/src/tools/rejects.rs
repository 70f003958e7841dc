//! Rejects of a converter: lines with the record as it is in the log, its position there, and the reason.

use std::io::Write;

use super::fields::{LogColumn, quoted};
use perfpipe_model::run::reject_reason::RejectReason;

/// Begins the field, and separates its parts. Neither occurs in a name.
const BEGIN: &[u8] = b"\"\x1e";
const END: u8 = 0x1f;

/// The number of parts before the record itself.
const PARTS: usize = 6;

/// What is wrong with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectCause {
    /// It is none of the format's records.
    Unknown,
    /// It has another number of fields than the header.
    Fields {
        /// How many it has.
        found: u64,
        /// How many the header has.
        expected: u64,
    },
    /// The value of this column is no number in its range.
    Number(LogColumn),
    /// The value of this column is no time.
    Time(LogColumn),
    /// The value of this column is no verdict.
    Verdict(LogColumn),
    /// It is longer than a record may be.
    Long,
    /// The log is damaged before its end.
    Cut,
    /// It is of a later run, in a log whose times begin again there.
    SecondRun,
    /// It is an interval that can't be read.
    Interval(IntervalFlaw),
}

/// The cause to reject a record, and the offending value.
pub(super) type RejectedField<'a> = (RejectCause, Option<&'a [u8]>);

/// The columns that a cause may name.
const COLUMNS: [LogColumn; 8] = [
    LogColumn::TimeStamp,
    LogColumn::Elapsed,
    LogColumn::Success,
    LogColumn::AllThreads,
    LogColumn::ResponseCode,
    LogColumn::Latency,
    LogColumn::Connect,
    LogColumn::Bytes,
];

impl RejectCause {
    /// Returns a code and two numbers.
    fn numbers(self) -> [u64; 3] {
        let index = |column| COLUMNS.iter().position(|known| *known == column).unwrap_or_default() as u64;
        match self {
            Self::Unknown => [0, 0, 0],
            Self::Fields { found, expected } => [1, found, expected],
            Self::Number(column) => [2, index(column), 0],
            Self::Time(column) => [3, index(column), 0],
            Self::Verdict(column) => [4, index(column), 0],
            Self::Long => [5, 0, 0],
            Self::Cut => [6, 0, 0],
            Self::SecondRun => [7, 0, 0],
            Self::Interval(flaw) => {
                [8, IntervalFlaw::ALL.iter().position(|known| *known == flaw).unwrap_or_default() as u64, 0]
            }
        }
    }

    fn of([code, a, b]: [u64; 3]) -> Option<Self> {
        let column = || COLUMNS.get(usize::try_from(a).ok()?).copied();
        Some(match code {
            0 => Self::Unknown,
            1 => Self::Fields { found: a, expected: b },
            2 => Self::Number(column()?),
            3 => Self::Time(column()?),
            4 => Self::Verdict(column()?),
            5 => Self::Long,
            6 => Self::Cut,
            7 => Self::SecondRun,
            8 => Self::Interval(*IntervalFlaw::ALL.get(usize::try_from(a).ok()?)?),
            _ => return None,
        })
    }

    /// Returns the reason to reject the record.
    pub fn reason(self) -> RejectReason {
        match self {
            Self::Unknown => RejectReason::UnknownRecord,
            Self::Fields { found, expected } => RejectReason::FieldCount { found, expected },
            Self::Number(column) => RejectReason::NotANumber { column: column.name() },
            Self::Time(column) => RejectReason::NotATime { column: column.name() },
            Self::Verdict(column) => RejectReason::NotABoolean { column: column.name() },
            Self::Long => RejectReason::LongLine,
            Self::Cut => RejectReason::CutShort,
            Self::SecondRun => RejectReason::SecondRun,
            Self::Interval(flaw) => RejectReason::Interval { flaw: flaw.text() },
        }
    }
}

/// A rejected record, which a line encodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedRecord {
    /// Why it is rejected.
    pub cause: RejectCause,
    /// The line of the log, from 1.
    pub line: u64,
    /// The byte of the log, from 0.
    pub byte: u64,
    /// The offending value.
    pub value: Option<Vec<u8>>,
    /// The record as it is in the log.
    pub record: Vec<u8>,
}

impl RejectedRecord {
    /// Encodes it as a line.
    pub(crate) fn write(&self, into: &mut Vec<u8>) {
        let [code, a, b] = self.cause.numbers();
        let mut text = vec![0x1e];
        // Writing to a vector can't fail.
        let _ = write!(text, "{code}\x1f{a}\x1f{b}\x1f{}\x1f{}\x1f", self.line, self.byte);
        if let Some(value) = &self.value {
            text.push(b'=');
            text.extend(value.iter().filter(|byte| **byte != END));
        }
        text.push(END);
        text.extend_from_slice(&self.record);
        quoted(&text, into);
        into.push(b'\n');
    }

    /// Decodes a line, without its line end, if it encodes a reject.
    pub fn read(line: &[u8]) -> Option<Self> {
        let text = line.strip_prefix(BEGIN)?.strip_suffix(b"\"")?;
        let text = unquoted(text);
        let mut parts = text.splitn(PARTS + 1, |byte| *byte == END);
        let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse::<u64>().ok();
        let cause = RejectCause::of([number()?, number()?, number()?])?;
        let (line, byte) = (number()?, number()?);
        let value = parts.next()?.strip_prefix(b"=").map(<[u8]>::to_vec);
        Some(Self { cause, line, byte, value, record: parts.next()?.to_vec() })
    }
}

/// Returns a text with one quote for each two.
fn unquoted(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        plain.push(byte);
        if byte == b'"' {
            bytes.next_if_eq(&b'"');
        }
    }
    plain
}

/// What is wrong with an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalFlaw {
    /// The log's version is unknown.
    Version,
    /// The histogram is no base64.
    Base64,
    /// The histogram is of an encoding that is not read.
    Encoding,
    /// The histogram is cut, or its parts contradict each other.
    Damaged,
    /// The histogram is of decimals, or shifted.
    Decimals,
    /// The histogram has more in it than any real one.
    Large,
    /// A time does not fit the unit of the run.
    LongTime,
    /// The unit of the values is not known.
    NoUnit,
    /// The unit of the values is none, or another than above.
    Unit,
    /// The interval begins before another above it.
    Backwards,
    /// The interval is far longer than a second.
    LongInterval,
    /// There are too many histograms of the same interval.
    Crowded,
}

impl IntervalFlaw {
    /// All of them.
    const ALL: [Self; 12] = [
        Self::Version,
        Self::Base64,
        Self::Encoding,
        Self::Damaged,
        Self::Decimals,
        Self::Large,
        Self::LongTime,
        Self::NoUnit,
        Self::Unit,
        Self::Backwards,
        Self::LongInterval,
        Self::Crowded,
    ];

    /// The reason to reject the interval, as a clause.
    pub fn text(self) -> &'static str {
        match self {
            Self::Version => "the log is of another version than 1.2 and 1.3",
            Self::Base64 => "its histogram is not whole base64",
            Self::Encoding => "its histogram is not encoded as V2, the only encoding that is read",
            Self::Damaged => "its histogram is damaged or cut short",
            Self::Decimals => "its histogram is one of decimal or shifted values, which are not read",
            Self::Large => {
                "its histogram holds more than any measured one: over 100,000 different times, over 10^12 requests of one, or room for over a million"
            }
            Self::LongTime => {
                "a response time, or the interval itself, is too long to be counted in the unit of the run"
            }
            Self::NoUnit => {
                "Interval_Max is the histogram's largest value itself, so that the unit is not known: write the log with Interval_Max in ms (a maxValueUnitRatio of 1000 for µs, 1000000 for ns)"
            }
            Self::Unit => {
                "Interval_Max is not the largest value of the histogram in ms, or not in the unit of the intervals above"
            }
            Self::Backwards => "it begins before the interval above it",
            Self::LongInterval => {
                "it is longer than 1.5 s, and requests are counted by second: log an interval each second, or make the percentiles a point of a sweep (HistogramLogProcessor -i run.hlog -o run writes run.hgrm)"
            }
            Self::Crowded => "there are too many histograms of the same interval",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cause() -> impl Strategy<Value = RejectCause> {
        prop_oneof![
            Just(RejectCause::Unknown),
            any::<(u64, u64)>().prop_map(|(found, expected)| RejectCause::Fields { found, expected }),
            prop::sample::select(&COLUMNS[..]).prop_map(RejectCause::Number),
            prop::sample::select(&COLUMNS[..]).prop_map(RejectCause::Time),
            Just(RejectCause::Cut),
            Just(RejectCause::SecondRun),
            prop::sample::select(&IntervalFlaw::ALL[..]).prop_map(RejectCause::Interval),
        ]
    }

    proptest! {
        #[test]
        fn whatever_is_told_is_read_again(
            cause in cause(), line: u64, byte: u64, value in prop::option::of("[a-z\",]{0,6}"),
            record in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let reject = RejectedRecord { cause, line, byte, value: value.map(String::into_bytes), record };
            let mut written = Vec::new();
            reject.write(&mut written);
            prop_assert_eq!(written.pop(), Some(b'\n'));
            prop_assert_eq!(RejectedRecord::read(&written), Some(reject));
        }
    }
}
