//! The facts about one log, as found in its sample.

use serde::Serialize;

use super::columns::MissingColumn;
use perfpipe_model::run::options::time_unit::TimeUnit;

/// How the injectors of a log are distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InjectorsBy {
    /// By the column Hostname.
    Hostname,
    /// By the beginning of threadName: JMeter's prefix, or the match of the given pattern.
    ThreadName,
    /// Not at all: the log counts as one injector.
    Nothing,
}

/// The format of a log's timeStamps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "form")]
pub enum TimeForm {
    /// In seconds since 1970.
    EpochS,
    /// In milliseconds since 1970.
    EpochMs,
    /// In microseconds since 1970.
    EpochUs,
    /// In nanoseconds since 1970.
    EpochNs,
    /// As dates.
    Date {
        /// The pattern of the first date, in the notation of JMeter's `timestamp_format`.
        pattern: String,
        /// True if the date names its zone.
        names_zone: bool,
        /// The zone for dates that do not name one.
        zone: String,
    },
}

impl TimeForm {
    /// The format of numbers in a unit.
    pub(super) fn of_unit(unit: TimeUnit) -> Self {
        match unit {
            TimeUnit::Seconds => Self::EpochS,
            TimeUnit::Milliseconds => Self::EpochMs,
            TimeUnit::Microseconds => Self::EpochUs,
            TimeUnit::Nanoseconds => Self::EpochNs,
        }
    }
}

/// The facts about one log. Counts are those of its sample.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LogInspection {
    /// The file as given; `-` is standard input.
    pub file: String,
    /// The member inside a zip.
    pub member: Option<String>,
    /// The packing: `plain`, `gzip`, `zstd`, `zip, deflate` and the like.
    pub packing: String,
    /// True if it comes from standard input or a named pipe, so that reading consumed the sample.
    pub pipe: bool,
    /// The packed size in bytes, if known.
    pub packed_bytes: Option<u64>,
    /// The unpacked size in bytes: stated, counted or estimated. `None` if unknown.
    pub unpacked_bytes: Option<u64>,
    /// True if `unpacked_bytes` is estimated from the compression ratio of the sample.
    pub unpacked_estimated: bool,
    /// The unpacked size of the sample, in bytes.
    pub sample_bytes: u64,
    /// True if the sample is the whole log.
    pub whole: bool,
    /// The format, if it is that of another tool, or another one than JMeter's CSV. The columns are then those of the
    /// lines of CSV that the log is converted to.
    pub format: Option<String>,
    /// The delimiter.
    pub delimiter: char,
    /// True if the log has a header. Otherwise its columns are the given ones, or JMeter's default ones.
    pub header: bool,
    /// All columns, in order.
    pub columns: Vec<String>,
    /// The columns that perfpipe would read but the log lacks.
    pub missing_columns: Vec<MissingColumn>,
    /// The columns that are not kept.
    pub ignored_columns: Vec<String>,
    /// The number of repeated headers. They are harmless: files were joined.
    pub repeated_headers: u64,
    /// The line, from 1, of the first repeated header.
    pub first_repeated_header: Option<u64>,
    /// The format of timeStamps; `None` if no record was accepted.
    pub time_stamp: Option<TimeForm>,
    /// The timeStamp of the first accepted record, epoch ms.
    pub first_ms: Option<i64>,
    /// The smallest timeStamp that was found, epoch ms.
    pub earliest_ms: Option<i64>,
    /// The largest timeStamp that was found, epoch ms.
    pub latest_ms: Option<i64>,
    /// True if the end of the log was read, so that `latest_ms` is the log's.
    pub end_seen: bool,
    /// The number of records in the sample that would be accepted, including transactions.
    pub accepted: u64,
    /// The number of records in the sample that would be rejected.
    pub rejects: u64,
    /// The number of records in the log: exact if `whole`, otherwise estimated from their mean length in the sample.
    pub records_estimate: Option<u64>,
    /// How its injectors are distinguished.
    pub injectors_by: InjectorsBy,
}

impl LogInspection {
    /// The number of records in the sample.
    pub fn records(&self) -> u64 {
        self.accepted + self.rejects
    }

    /// Completes the figures after the sample was read. `packed` is the number of packed bytes that were read.
    pub(super) fn complete(&mut self, packed: u64) {
        if self.whole {
            self.unpacked_bytes = Some(self.sample_bytes);
            self.records_estimate = Some(self.records());
            return;
        }
        if let (None, Some(all)) = (self.unpacked_bytes, self.packed_bytes) {
            self.unpacked_bytes = scaled(self.sample_bytes, all, packed);
            self.unpacked_estimated = true;
        }
        self.records_estimate =
            self.unpacked_bytes.and_then(|bytes| scaled(self.records(), bytes, self.sample_bytes));
    }
}

/// Returns `count` · `all` / `part`, rounded, but at least `count`. `None` if `part` is 0.
pub(super) fn scaled(count: u64, all: u64, part: u64) -> Option<u64> {
    let scaled = (u128::from(count) * u128::from(all) + u128::from(part) / 2).checked_div(part.into())?;
    Some(u64::try_from(scaled).unwrap_or(u64::MAX).max(count))
}

#[cfg(test)]
mod tests {
    use super::scaled;

    #[test]
    fn estimates_are_in_proportion() {
        assert_eq!(scaled(10, 300, 100), Some(30));
        assert_eq!(scaled(1, 5, 2), Some(3));
        assert_eq!(scaled(10, 50, 100), Some(10), "not less than was seen");
        assert_eq!(scaled(10, 50, 0), None);
        assert_eq!(scaled(u64::MAX, u64::MAX, 1), Some(u64::MAX));
    }
}
