//! The counts of one second.

use serde::{Deserialize, Serialize};

/// The requests of a second, in a summary that has counts by second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(i64, u64, u64)", into = "(i64, u64, u64)")]
#[non_exhaustive]
pub struct PointSecond {
    /// The second since 1970.
    pub clock: i64,
    /// Requests, the failed ones included.
    pub requests: u64,
    /// Requests that failed.
    pub failures: u64,
}

impl PointSecond {
    /// The requests of this second, and how many of them failed.
    ///
    /// ```
    /// use perfpipe_ingest::points::PointSecond;
    ///
    /// assert_eq!(PointSecond::new(1_795_348_056, 24, 2).successes(), 22);
    /// ```
    pub fn new(clock: i64, requests: u64, failures: u64) -> Self {
        Self { clock, requests, failures }
    }

    /// Requests that succeeded.
    pub fn successes(self) -> u64 {
        self.requests.saturating_sub(self.failures)
    }
}

impl From<(i64, u64, u64)> for PointSecond {
    fn from((clock, requests, failures): (i64, u64, u64)) -> Self {
        Self { clock, requests, failures }
    }
}

impl From<PointSecond> for (i64, u64, u64) {
    fn from(second: PointSecond) -> Self {
        (second.clock, second.requests, second.failures)
    }
}
