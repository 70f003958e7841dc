//! How far a test has come.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// How far a test has come, as its logs tell.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Look {
    /// The number of complete seconds: a record that ended a second after them was read of every log that goes on. Once all
    /// logs have ended, it is the number of all seconds.
    pub complete: u32,
    /// The seconds in which requests were counted since the last look, ascending.
    pub changed: BTreeSet<u32>,
    /// The number of times that all seconds were counted again: because a record came that is earlier than all before, or
    /// because a log began anew.
    pub recounts: u64,
    /// The number of requests and transactions so far.
    pub records: u64,
    /// The number of rejected records so far.
    pub rejects: u64,
    /// The number of times that CPU readings came.
    pub cpu_reads: u64,
    /// The time since the last record was read; `None` before the first.
    pub silent: Option<Duration>,
    /// The logs of which nothing was read so far.
    pub unheard: Vec<PathBuf>,
    /// True once all logs have ended.
    pub ended: bool,
}
