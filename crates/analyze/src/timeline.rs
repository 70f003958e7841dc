//! The per-second table of a run: one row a second, silent seconds too.

use perfpipe_ingest::RunInfo;

/// One second of a run. Times are in ms; what is absent is `None`, never zero.
///
/// Means, extremes and percentiles are over the second's successes
/// (over all its requests with [`crate::View::include_failures`]).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Second {
    /// `floor((timeStamp - t0) / 1000)`.
    pub second: u32,
    /// Successful requests.
    pub successes: u64,
    /// Failed requests.
    pub failures: u64,
    /// Active threads over all injectors: the sum over injectors of the mean `allThreads`, failures included.
    pub load: Option<f64>,
    /// Mean elapsed.
    pub elapsed_mean: Option<f64>,
    /// Smallest elapsed.
    pub elapsed_min: Option<i32>,
    /// Largest elapsed.
    pub elapsed_max: Option<i32>,
    /// Mean latency.
    pub latency_mean: Option<f64>,
    /// Smallest latency.
    pub latency_min: Option<i32>,
    /// Largest latency.
    pub latency_max: Option<i32>,
    /// Elapsed by percentile, in the order of [`Timeline::percentiles`].
    pub percentiles: Vec<Option<f64>>,
    /// CPU utilisation, in the export's percent.
    pub cpu: Option<f64>,
}

/// The per-second table of a run, with the run's own row.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The run's own row.
    pub info: RunInfo,
    /// The percentiles computed, in percent.
    pub percentiles: Vec<f64>,
    /// A row for every second looked at, ascending, silent ones too.
    pub seconds: Vec<Second>,
    /// What holds for all of them together.
    pub summary: Summary,
}

/// One run in figures.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// How many seconds were looked at.
    pub seconds: u32,
    /// Successful requests.
    pub successes: u64,
    /// Failed requests.
    pub failures: u64,
    /// Successes ÷ seconds, silent seconds counted.
    pub throughput: f64,
    /// Successes ÷ seconds that had a success, as the original averaged.
    pub throughput_active: Option<f64>,
    /// Mean elapsed.
    pub elapsed_mean: Option<f64>,
    /// Smallest elapsed.
    pub elapsed_min: Option<i32>,
    /// Largest elapsed.
    pub elapsed_max: Option<i32>,
    /// Mean latency.
    pub latency_mean: Option<f64>,
    /// Elapsed at 50 %.
    pub p50: Option<f64>,
    /// Elapsed at 95 %.
    pub p95: Option<f64>,
    /// Elapsed at 99 %.
    pub p99: Option<f64>,
    /// Elapsed by percentile, in the order of [`Timeline::percentiles`].
    pub percentiles: Vec<Option<f64>>,
    /// Mean of the seconds' CPU, over the seconds that have one.
    pub cpu_mean: Option<f64>,
    /// Largest CPU of a second.
    pub cpu_max: Option<f64>,
    /// Share of the seconds that have a CPU reading, 0 to 1.
    pub cpu_coverage: f64,
    /// Largest load of a second.
    pub load_max: Option<f64>,
    /// Sum of the bytes received, over the same samples as the mean.
    pub bytes: i64,
    /// Sum of the bytes sent, over the same samples as the mean.
    pub sent_bytes: i64,
}

impl Summary {
    /// All requests: successes and failures.
    pub fn requests(&self) -> u64 {
        self.successes + self.failures
    }

    /// Failures as a share of all requests, 0 to 1; `None` when there were none at all.
    pub fn failure_share(&self) -> Option<f64> {
        (self.requests() > 0).then(|| self.failures as f64 / self.requests() as f64)
    }
}
