//! A run's own row, and the files it was made from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::damage::Damage;
use super::key::RunKey;

/// One input file (or zip member) that a run was made from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// The file's name, without folders (`-` is standard input).
    pub file: String,
    /// The member inside a zip.
    pub member: Option<String>,
    /// `log` or `cpu`.
    pub kind: String,
    /// Size in bytes, unpacked.
    pub bytes: u64,
    /// CRC-32 (IEEE) of the unpacked bytes.
    pub crc32: u32,
}

/// A run's own row: what was read, how, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Framework, test and repeat.
    #[serde(flatten)]
    pub key: RunKey,
    /// The smallest timeStamp of all accepted records, epoch ms.
    pub t0_ms: i64,
    /// The largest timeStamp of all accepted records, epoch ms.
    pub last_ms: i64,
    /// The largest timeStamp + elapsed of all requests, failures included, epoch ms; `None` without requests, and of a
    /// run that was stored before this was, without samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_end_ms: Option<i64>,
    /// The same of transaction controllers' own records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions_end_ms: Option<i64>,
    /// Seconds from the first to the last, silent ones counted: `(last_ms - t0_ms) / 1000 + 1`.
    pub seconds: u32,
    /// Successful requests.
    pub successes: u64,
    /// Failed requests.
    pub failures: u64,
    /// Transaction controllers' own records.
    pub transactions: u64,
    /// Records that were not accepted; records = successes + failures + transactions + rejects.
    pub rejects: u64,
    /// Whether the samples themselves are stored, not only their counts.
    pub samples_stored: bool,
    /// Whether framework or test were inferred, not told.
    pub inferred: bool,
    /// The files the run was made from.
    pub sources: Vec<SourceFile>,
    /// The CPU clock's shift used at ingest, seconds.
    pub cpu_offset: i64,
    /// The CPU look-back used at ingest, seconds.
    pub cpu_lookback: u32,
    /// The other options used, by flag name.
    pub options: BTreeMap<String, String>,
    /// The version of perfpipe that wrote the run.
    pub tool_version: String,
    /// When it was ingested, RFC 3339, UTC.
    pub ingested_at: String,
    /// What of its files was damaged and read as far as it could be; nothing, if the run is whole.
    #[serde(default)]
    pub damage: Vec<Damage>,
}

impl RunInfo {
    /// The row of a run from `t0_ms` to `last_ms` (epoch ms, both inclusive) of which nothing else is known.
    pub fn new(key: RunKey, t0_ms: i64, last_ms: i64) -> Self {
        let seconds = last_ms.saturating_sub(t0_ms).div_euclid(1000).saturating_add(1);
        Self {
            key,
            t0_ms,
            last_ms,
            last_end_ms: None,
            transactions_end_ms: None,
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
            options: BTreeMap::new(),
            tool_version: String::new(),
            ingested_at: String::new(),
            damage: Vec::new(),
        }
    }

    /// Whether the run was made from damaged files, of which a part could be read.
    pub fn is_partial(&self) -> bool {
        !self.damage.is_empty()
    }

    /// Whether this is a stored row, but for ends that were not stored with it and came from its samples.
    pub(crate) fn is_row_of(&self, stored: &Self) -> bool {
        let Self { last_end_ms, transactions_end_ms, .. } = *self;
        match stored.last_end_ms.or(stored.transactions_end_ms) {
            Some(_) => self == stored,
            None => *self == Self { last_end_ms, transactions_end_ms, ..stored.clone() },
        }
    }

    /// All requests: successes and failures.
    pub fn requests(&self) -> u64 {
        self.successes.saturating_add(self.failures)
    }

    /// All records of the log: requests, transactions and rejects.
    pub fn records(&self) -> u64 {
        self.requests().saturating_add(self.transactions).saturating_add(self.rejects)
    }
}
