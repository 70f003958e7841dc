//! One log as its sample shows it.

use serde::Serialize;

use super::columns::MissingColumn;
use crate::formats::time_unit::TimeUnit;

/// How a log tells its injectors apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InjectorsBy {
    /// By the column Hostname.
    Hostname,
    /// By the head of threadName: JMeter's prefix, or what `--injector-pattern` finds.
    ThreadName,
    /// Not at all: the log counts as one injector.
    Nothing,
}

/// How a log writes its times.
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
        /// The pattern of the first one, in the letters of JMeter's `timestamp_format`.
        pattern: String,
        /// Whether it names its zone.
        names_zone: bool,
        /// The zone in which dates that name none are read.
        zone: String,
    },
}

impl TimeForm {
    /// Numbers of a unit.
    pub(super) fn of_unit(unit: TimeUnit) -> Self {
        match unit {
            TimeUnit::Seconds => Self::EpochS,
            TimeUnit::Milliseconds => Self::EpochMs,
            TimeUnit::Microseconds => Self::EpochUs,
            TimeUnit::Nanoseconds => Self::EpochNs,
        }
    }
}

/// One log as its sample shows it: counts are the sample's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LogInspection {
    /// The file as it was given; `-` is standard input.
    pub file: String,
    /// The member inside a zip.
    pub member: Option<String>,
    /// How it is packed: `plain`, `gzip`, `zstd`, `zip, deflate` and the like.
    pub packing: String,
    /// Whether it comes from standard input or a named pipe: what was read of it is gone.
    pub pipe: bool,
    /// Size in bytes, packed, where it is known.
    pub packed_bytes: Option<u64>,
    /// Size in bytes, unpacked: as stated or counted, else estimated. `None` where nothing tells.
    pub unpacked_bytes: Option<u64>,
    /// Whether `unpacked_bytes` is an estimate, by how well the sample is packed.
    pub unpacked_estimated: bool,
    /// Bytes of the sample, unpacked.
    pub sample_bytes: u64,
    /// Whether the sample is all of the log.
    pub whole: bool,
    /// The delimiter.
    pub delimiter: char,
    /// Whether the log has a header; without one it has the columns told, else JMeter's default ones.
    pub header: bool,
    /// All columns, in their order.
    pub columns: Vec<String>,
    /// Columns that perfpipe would read, and the log lacks.
    pub missing_columns: Vec<MissingColumn>,
    /// Columns that are not kept.
    pub ignored_columns: Vec<String>,
    /// How often the header comes again, which is nothing bad: files were joined.
    pub repeated_headers: u64,
    /// The line, from 1, of the first of these.
    pub first_repeated_header: Option<u64>,
    /// How times are written; `None` where no record was accepted.
    pub time_stamp: Option<TimeForm>,
    /// timeStamp of the first accepted record, epoch ms.
    pub first_ms: Option<i64>,
    /// The smallest timeStamp that was seen, epoch ms.
    pub earliest_ms: Option<i64>,
    /// The largest timeStamp that was seen, epoch ms.
    pub latest_ms: Option<i64>,
    /// Whether the end of the log was seen, so that `latest_ms` is the log's.
    pub end_seen: bool,
    /// Records of the sample that would be accepted, transactions among them.
    pub accepted: u64,
    /// Records of the sample that would be rejected.
    pub rejects: u64,
    /// Records of the log: exact if `whole`, else estimated from the mean length of the sample's.
    pub records_estimate: Option<u64>,
    /// How its injectors are told apart.
    pub injectors_by: InjectorsBy,
}

impl LogInspection {
    /// Records of the sample.
    pub fn records(&self) -> u64 {
        self.accepted + self.rejects
    }

    /// Settles what the sample as a whole tells: `packed` bytes were read of the log.
    pub(super) fn settle(&mut self, packed: u64) {
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

/// `count` times `all` / `part`, rounded, and not less than `count`; `None` where the part is nothing.
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
