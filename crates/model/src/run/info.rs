//! The metadata of a run, and the files it was made from.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::damage::Damage;
use super::key::RunKey;
use super::options::intervals::Intervals;
use super::options::{RunOptions, tag_fault};
use crate::sample::resolution::Resolution;

/// The kind of a source file.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum SourceKind {
    /// A log.
    #[default]
    Log,
    /// A CPU export.
    Cpu,
    /// Another series of the server.
    Series,
    /// A kind that only another version of perfpipe knows, by its name.
    Other(String),
}

impl SourceKind {
    /// Its name, which is stored and never changes.
    pub fn name(&self) -> &str {
        match self {
            Self::Log => "log",
            Self::Cpu => "cpu",
            Self::Series => "series",
            Self::Other(name) => name,
        }
    }
}

impl From<String> for SourceKind {
    fn from(name: String) -> Self {
        match name.as_str() {
            "log" => Self::Log,
            "cpu" => Self::Cpu,
            "series" => Self::Series,
            _ => Self::Other(name),
        }
    }
}

impl From<SourceKind> for String {
    fn from(kind: SourceKind) -> Self {
        kind.name().to_owned()
    }
}

impl fmt::Display for SourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One input file (or zip member) that a run was made from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// The file's name, without folders (`-` is standard input).
    pub file: String,
    /// The member inside a zip.
    pub member: Option<String>,
    /// The kind of the file.
    pub kind: SourceKind,
    /// Size in bytes, unpacked.
    pub bytes: u64,
    /// CRC-32 (IEEE) of the unpacked bytes.
    pub crc32: u32,
    /// The load tool that wrote it, for logs of others than JMeter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

impl SourceFile {
    /// Describes a file that is in no zip.
    pub fn new(file: impl Into<String>, kind: SourceKind, bytes: u64, crc32: u32) -> Self {
        Self { file: file.into(), kind, bytes, crc32, ..Self::default() }
    }
}

/// The load tools whose logs have answered requests only.
const ANSWERS_ONLY: [&str; 2] = ["hey", "oha"];

/// The load tool of logs that do not name one.
const JMETER: &str = "jmeter";

/// The metadata of a run: what was read, with which options, and the totals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Framework, test and repeat.
    #[serde(flatten)]
    pub key: RunKey,
    /// t0, epoch ms: the smallest timeStamp of all accepted records, or the origin that was given.
    pub t0_ms: i64,
    /// The largest timeStamp of all accepted records, epoch ms.
    pub last_ms: i64,
    /// The largest timeStamp + elapsed of all requests, failures included, epoch ms. `None` without requests, and for a
    /// run that an earlier version stored without samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_end_ms: Option<i64>,
    /// The largest timeStamp + elapsed of all transaction controllers' own records, epoch ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions_end_ms: Option<i64>,
    /// The unit of the run's times, 1 ms for JMeter's.
    #[serde(default, skip_serializing_if = "is_whole_ms")]
    pub resolution: Resolution,
    /// The number of seconds from the first to the last, silent ones included: `(last_ms - t0_ms) / 1000 + 1`.
    pub seconds: u32,
    /// The number of successful requests.
    pub successes: u64,
    /// The number of failed requests.
    pub failures: u64,
    /// The number of transaction controllers' own records.
    pub transactions: u64,
    /// The number of records that were not accepted. Records = successes + failures + transactions + rejects.
    pub rejects: u64,
    /// True if the samples themselves are stored, not only their counts.
    pub samples_stored: bool,
    /// True if the framework or the test was inferred, not given.
    pub inferred: bool,
    /// The files the run was made from.
    pub sources: Vec<SourceFile>,
    /// The shift of the CPU clock used at ingest, in seconds.
    pub cpu_offset: i64,
    /// The CPU look-back used at ingest, in seconds.
    pub cpu_lookback: u32,
    /// The other options used.
    pub options: RunOptions,
    /// The version of perfpipe that wrote the run.
    pub tool_version: String,
    /// The time of the ingest, RFC 3339, UTC.
    pub ingested_at: String,
    /// The damaged files that were read as far as possible; empty if the run is whole.
    #[serde(default)]
    pub damage: Vec<Damage>,
}

/// The maximum span of a run in ms: 12 days before and after its first accepted record, or its origin.
pub const LONGEST_SPAN_MS: u64 = 12 * 24 * 3_600_000;

/// The years 1 to 9999 in epoch ms, without their last days: the range that calendars and databases support.
pub const TIMES: std::ops::Range<i64> = -62_135_596_800_000..253_400_000_000_000;

/// The maximum number of tags, and of options of other versions, of a run.
const MOST_OPTIONS: usize = 1000;

/// The largest shift of the clock of CPU readings in seconds, in either direction: all years that a calendar has.
pub const LARGEST_CPU_OFFSET: i64 = 320_000_000_000;

/// The maximum length of the name of a version, in bytes.
const LONGEST_VERSION: usize = 64;

/// The end of January 1970, in epoch ms.
const JANUARY_1970: i64 = 31 * 24 * 3_600_000;

impl RunInfo {
    /// Creates the metadata of a run from `t0_ms` to `last_ms` (epoch ms, both inclusive). All else is zero or empty.
    pub fn new(key: RunKey, t0_ms: i64, last_ms: i64) -> Self {
        let seconds = last_ms.saturating_sub(t0_ms).div_euclid(1000).saturating_add(1);
        Self {
            key,
            t0_ms,
            last_ms,
            last_end_ms: None,
            transactions_end_ms: None,
            resolution: Resolution::default(),
            seconds: u32::try_from(seconds.max(0)).unwrap_or(u32::MAX),
            successes: 0,
            failures: 0,
            transactions: 0,
            rejects: 0,
            samples_stored: false,
            inferred: false,
            sources: Vec::new(),
            cpu_offset: 0,
            cpu_lookback: 0,
            options: RunOptions::default(),
            tool_version: String::new(),
            ingested_at: String::new(),
            damage: Vec::new(),
        }
    }

    /// Returns true if it is known when the run was. The logs of some tools have times only since the tool began: its run
    /// is in January 1970, when nobody tested a server.
    ///
    /// ```
    /// # extern crate perfpipe_model as perfpipe_ingest;
    /// use perfpipe_ingest::{RunInfo, RunKey};
    ///
    /// assert!(RunInfo::new(RunKey::new("go", "2048"), 1_795_203_738_000, 1_795_203_738_500).has_clock());
    /// assert!(!RunInfo::new(RunKey::new("go", "hey"), 12, 500).has_clock());
    /// ```
    pub fn has_clock(&self) -> bool {
        !(0..JANUARY_1970).contains(&self.t0_ms)
    }

    /// Returns false if a log had no single requests, only histograms of them, so that there can be no samples.
    pub fn had_requests(&self) -> bool {
        self.options.intervals.is_none()
    }

    /// Returns what the figures of the run lack because of the load tool that wrote its logs, in few words each.
    ///
    /// ```
    /// # extern crate perfpipe_model as perfpipe_ingest;
    /// use perfpipe_ingest::run::{SourceFile, SourceKind};
    /// use perfpipe_ingest::{RunInfo, RunKey};
    ///
    /// let mut info = RunInfo::new(RunKey::new("go", "hello"), 12, 500);
    /// assert!(info.caveats().is_empty());
    /// let mut log = SourceFile::new("hey.csv", SourceKind::Log, 7, 9);
    /// log.tool = Some("hey".to_owned());
    /// info.sources.push(log);
    /// assert_eq!(info.caveats(), ["requests without an answer are missing"]);
    /// ```
    pub fn caveats(&self) -> Vec<String> {
        let mut caveats: Vec<String> = self.options.intervals.iter().flat_map(Intervals::caveats).collect();
        let mut logs = self.sources.iter().filter(|source| source.kind == SourceKind::Log);
        if logs.any(|log| log.tool.as_deref().is_some_and(|tool| ANSWERS_ONLY.contains(&tool))) {
            caveats.push("requests without an answer are missing".to_owned());
        }
        caveats
    }

    /// Returns true if the run was made from damaged files that could be read only in part.
    pub fn is_partial(&self) -> bool {
        !self.damage.is_empty()
    }

    /// Returns what no run can have, as a clause; `None` if this may be the metadata of a run. Whatever comes from outside,
    /// be it a stored row, a packed run or another program's, is only used if there is no fault, and nothing with a fault
    /// is stored: so no size or loop that depends on these numbers is without a bound.
    pub fn fault(&self) -> Option<String> {
        let tags = || self.options.tags.iter().find_map(|(key, value)| tag_fault(key, value));
        let fault = self.key.fault().or_else(|| self.time_fault()).or_else(|| self.count_fault());
        fault.or_else(|| self.origin_fault()).or_else(tags)
    }

    /// Returns what is wrong with how, when and by what the run was ingested.
    fn origin_fault(&self) -> Option<String> {
        let Self { cpu_offset, tool_version, ingested_at, .. } = self;
        if cpu_offset.unsigned_abs() > LARGEST_CPU_OFFSET.unsigned_abs() {
            return Some(format!(
                "its CPU readings are shifted by {cpu_offset} s, and may be by {LARGEST_CPU_OFFSET} s at most"
            ));
        }
        if tool_version.len() > LONGEST_VERSION || tool_version.contains(char::is_control) {
            return Some(format!(
                "the name of the version that stored it is not one line of at most {LONGEST_VERSION} bytes"
            ));
        }
        // Neither is known of a run that a program made of its own samples.
        let is_time = ingested_at.is_empty() || ingested_at.parse::<jiff::Timestamp>().is_ok();
        (!is_time).then(|| "the time of its ingest is not a time as of RFC 3339".to_owned())
    }

    fn time_fault(&self) -> Option<String> {
        let Self { t0_ms, last_ms, seconds, .. } = *self;
        let span = LONGEST_SPAN_MS as i64;
        let times = TIMES.start - span..=TIMES.end + span;
        if !times.contains(&t0_ms) || !times.contains(&last_ms) {
            return Some(format!(
                "it is from {t0_ms} to {last_ms} ms, which is not within the years 1 to 9999"
            ));
        }
        if last_ms < t0_ms {
            return Some(format!("its last record is of {last_ms} ms, before its beginning at {t0_ms} ms"));
        }
        if last_ms - t0_ms > 2 * span {
            return Some(format!("it is from {t0_ms} to {last_ms} ms, and a run has at most 24 days"));
        }
        if i64::from(seconds) != (last_ms - t0_ms) / 1000 + 1 {
            return Some(format!("it has {seconds} seconds, and is from {t0_ms} to {last_ms} ms"));
        }
        // A response time is a number of 32 bits.
        let ends = t0_ms - (1 << 31)..=last_ms + (1 << 31);
        let is_far = |end: &i64| !ends.contains(end);
        let far = self.last_end_ms.into_iter().chain(self.transactions_end_ms).find(is_far);
        far.map(|end| format!("its last record is of {last_ms} ms, and its last end at {end} ms"))
    }

    fn count_fault(&self) -> Option<String> {
        let counts = [self.successes, self.failures, self.transactions, self.rejects];
        let sum = counts.iter().try_fold(0_u64, |sum, count| sum.checked_add(*count));
        if sum.is_none_or(|sum| i64::try_from(sum).is_err()) {
            return Some("it has more records than can be counted".to_owned());
        }
        let options = self.options.tags.len().saturating_add(self.options.other.len());
        (options > MOST_OPTIONS)
            .then(|| format!("it has {options} tags and options, and may have {MOST_OPTIONS}"))
    }

    /// Returns true if this equals the `stored` metadata. Ends that `stored` lacks are ignored, since they were
    /// computed from the samples.
    pub fn is_row_of(&self, stored: &Self) -> bool {
        let Self { last_end_ms, transactions_end_ms, .. } = *self;
        match stored.last_end_ms.or(stored.transactions_end_ms) {
            Some(_) => self == stored,
            None => *self == Self { last_end_ms, transactions_end_ms, ..stored.clone() },
        }
    }

    /// Returns the load tool that wrote the logs: `jmeter`, `k6`; of several, their names with a `+` between.
    pub fn tool(&self) -> String {
        let logs = self.sources.iter().filter(|source| source.kind == SourceKind::Log);
        let tools: BTreeSet<&str> = logs.map(|log| log.tool.as_deref().unwrap_or(JMETER)).collect();
        if tools.is_empty() { JMETER.to_owned() } else { Vec::from_iter(tools).join("+") }
    }

    /// The number of requests: successes and failures.
    pub fn requests(&self) -> u64 {
        self.successes.saturating_add(self.failures)
    }

    /// The number of records in the log: requests, transactions and rejects.
    pub fn records(&self) -> u64 {
        self.requests().saturating_add(self.transactions).saturating_add(self.rejects)
    }
}

/// Returns true for the unit that is not stored: runs had no other one at first.
fn is_whole_ms(resolution: &Resolution) -> bool {
    !resolution.is_fine()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_no_run_can_have_are_refused() {
        let run = || {
            let mut info = RunInfo::new(RunKey::new("go", "2048"), 1_795_203_738_609, 1_795_203_816_638);
            info.last_end_ms = Some(1_795_203_816_700);
            info
        };
        assert_eq!((run().fault(), run().seconds), (None, 79));
        let refused = |change: fn(&mut RunInfo), expected: &str| {
            let mut info = run();
            change(&mut info);
            let fault = info.fault().unwrap_or_else(|| panic!("{expected} is not reported"));
            assert!(fault.contains(expected), "{fault}");
        };
        refused(|run| run.seconds = u32::MAX, "it has 4294967295 seconds");
        refused(|run| run.seconds = 0, "it has 0 seconds");
        refused(|run| run.t0_ms = i64::MIN, "the years 1 to 9999");
        refused(|run| run.last_ms = i64::MAX, "the years 1 to 9999");
        refused(|run| run.last_ms = run.t0_ms - 1, "before its beginning");
        refused(|run| run.last_ms += 24 * 86_400_000, "at most 24 days");
        refused(|run| run.last_end_ms = Some(i64::MAX), "its last end");
        refused(|run| run.transactions_end_ms = Some(i64::MIN), "its last end");
        refused(|run| run.successes = u64::MAX, "more records");
        refused(|run| (run.rejects, run.failures) = (1 << 62, 1 << 62), "more records");
        refused(|run| run.key.repeat = 0, "the repeat is 0");
        refused(|run| run.key.repeat = u32::MAX, "the repeat is 4294967295");
        refused(|run| run.key.framework = " ".into(), "the name of the framework is empty");
        refused(
            |run| run.key.test = "a\0b".into(),
            "the name of the test has a NUL, which PostgreSQL can't store",
        );
        refused(|run| run.key.test = "x".repeat((64 << 10) + 1), "has 65537 bytes");
        refused(|run| run.cpu_offset = i64::MIN, "shifted by -9223372036854775808 s");
        refused(|run| run.cpu_offset = LARGEST_CPU_OFFSET + 1, "shifted by");
        refused(|run| run.tool_version = "1\u{1b}[2J".into(), "version");
        refused(|run| run.tool_version = "9".repeat(65), "version");
        refused(|run| run.ingested_at = "yesterday".into(), "time of its ingest");
        refused(|run| _ = run.options.tags.insert("a b".into(), "x".into()), "tag");
        refused(|run| _ = run.options.tags.insert("a".into(), "x\u{1b}".into()), "tag");
    }

    #[test]
    fn a_row_that_is_stored_comes_back_byte_for_byte() {
        let text = concat!(
            r#"{"framework":"go","test":"2048","repeat":1,"t0_ms":1795203738609,"last_ms":1795203816638,"#,
            r#""last_end_ms":1795203816700,"seconds":79,"successes":5,"failures":1,"transactions":0,"rejects":2,"#,
            r#""samples_stored":true,"inferred":false,"sources":[{"file":"go.csv","member":null,"kind":"log","#,
            r#""bytes":7,"crc32":9}],"cpu_offset":-2,"cpu_lookback":3,"options":{"cores":"4","#,
            r#""cpu-scale":"fraction","newer":"x","time-zone":"Europe/Berlin"},"tool_version":"0.1.0","#,
            r#""ingested_at":"2026-11-20T21:48:00Z","damage":[]}"#
        );
        let info: RunInfo = serde_json::from_str(text).unwrap();
        assert_eq!(info.options.time_zone.as_deref(), Some("Europe/Berlin"));
        assert_eq!(serde_json::to_string(&info).unwrap(), text);
        assert_eq!(info.resolution, Resolution::MILLISECOND);
        let fine = text.replace(r#","seconds":79"#, r#","resolution":10,"seconds":79"#);
        let info: RunInfo = serde_json::from_str(&fine).unwrap();
        assert_eq!((info.resolution.microseconds(), serde_json::to_string(&info).unwrap()), (10, fine));
    }
}
