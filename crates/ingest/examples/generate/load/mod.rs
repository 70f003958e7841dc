//! A load test that never was: its requests, simulated thread by thread, and the log JMeter would have written.

mod cpu;
mod label;
mod log;
mod outcome;
mod random;
mod record;
mod simulation;
mod wheel;

use std::ops::Range;

pub(crate) use cpu::write_cpu;
pub(crate) use simulation::write_log;

/// What to simulate. All times are in ms, those without a date from the start of the run.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// The earliest timeStamp, epoch ms.
    pub(crate) start_ms: i64,
    /// How many records to write.
    pub(crate) records: u64,
    /// When the last request may start.
    pub(crate) duration: i64,
    /// Requests a second, once all threads are up.
    pub(crate) rate: f64,
    /// Threads of all injectors together.
    pub(crate) threads: u32,
    /// How long the threads take to come up.
    pub(crate) ramp: i64,
    /// In how many steps they come up; 0 is one after another.
    pub(crate) steps: u32,
    /// The share of requests that fail, 0 to 1.
    pub(crate) failures: f64,
    /// When every connection is refused.
    pub(crate) outage: Option<Range<i64>>,
    /// How many labels there are.
    pub(crate) labels: u32,
    /// The share of labels that need quotes or are not ASCII, 0 to 1.
    pub(crate) quoted: f64,
    /// How many injectors send; several of them report over a network.
    pub(crate) injectors: u32,
    /// Whether a transaction controller stands around the requests.
    pub(crate) transactions: bool,
    /// Where the pseudo-random numbers begin.
    pub(crate) seed: u64,
    /// The path of the URL, without its slash.
    pub(crate) test: String,
    /// Host and port of the URL.
    pub(crate) server: String,
    /// How long the very first request takes, where it is an unusual one.
    pub(crate) late_first: Option<i64>,
    /// Whether the log begins with the names of its columns.
    pub(crate) header: bool,
    /// What stands between two fields.
    pub(crate) delimiter: u8,
}

/// What was written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) successes: u64,
    pub(crate) failures: u64,
    pub(crate) transactions: u64,
    /// The smallest and the largest timeStamp, epoch ms.
    pub(crate) span_ms: Option<(i64, i64)>,
    /// Requests by second from the epoch second in which the run starts: (successes, failures).
    pub(crate) seconds: Vec<(u64, u64)>,
}

impl Tally {
    /// All records.
    pub(crate) fn records(&self) -> u64 {
        self.successes + self.failures + self.transactions
    }
}
