//! Simulates the requests of a load test, thread by thread, and writes the log that JMeter would have written.

mod cpu;
mod label;
mod log;
mod outcome;
mod random;
mod record;
mod shape;
mod simulation;
mod wheel;

use std::ops::Range;

pub(crate) use cpu::write_cpu;
pub(crate) use shape::Shape;
pub(crate) use simulation::write_log;

/// The parameters of a simulation. All times are in ms, relative to the start of the run unless they are dates.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// The earliest timeStamp, epoch ms.
    pub(crate) start_ms: i64,
    /// The number of records.
    pub(crate) records: u64,
    /// The latest start of a request.
    pub(crate) duration: i64,
    /// Requests per second, once all threads are started.
    pub(crate) rate: f64,
    /// The number of threads of all injectors.
    pub(crate) threads: u32,
    /// The time in which the threads start.
    pub(crate) ramp: i64,
    /// The number of steps in which they start; 0 starts them one after another.
    pub(crate) steps: u32,
    /// The fraction of requests that fail, from 0 to 1.
    pub(crate) failures: f64,
    /// The time in which every connection is refused.
    pub(crate) outage: Option<Range<i64>>,
    /// The number of labels.
    pub(crate) labels: u32,
    /// The fraction of labels that need quotes or are not ASCII, from 0 to 1.
    pub(crate) quoted: f64,
    /// What differs from JMeter's usual log.
    pub(crate) shape: Shape,
    /// The number of injectors. Several of them report over a network.
    pub(crate) injectors: u32,
    /// True if the requests are grouped by a transaction controller.
    pub(crate) transactions: bool,
    /// The seed of the pseudo-random numbers.
    pub(crate) seed: u64,
    /// The path of the URL, without its slash.
    pub(crate) test: String,
    /// Host and port of the URL.
    pub(crate) server: String,
    /// The elapsed time of the first request, if it is unusual.
    pub(crate) late_first: Option<i64>,
    /// True if the log has a header.
    pub(crate) header: bool,
    /// The delimiter between fields.
    pub(crate) delimiter: u8,
}

impl Plan {
    /// Returns true if injectors report their records in batches.
    fn is_in_batches(&self) -> bool {
        self.injectors > 1 && !self.shape.alternates()
    }
}

/// The content of a written log.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) successes: u64,
    pub(crate) failures: u64,
    pub(crate) transactions: u64,
    /// The smallest and the largest timeStamp, in epoch ms.
    pub(crate) span_ms: Option<(i64, i64)>,
    /// Requests (successes, failures) of each second, from the epoch second in which the run starts.
    pub(crate) seconds: Vec<(u64, u64)>,
}

impl Tally {
    /// Returns the number of all records.
    pub(crate) fn records(&self) -> u64 {
        self.successes + self.failures + self.transactions
    }
}
