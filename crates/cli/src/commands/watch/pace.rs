//! How often what takes long is done.

use std::time::{Duration, Instant};

/// The rest after some work, as a multiple of the time that it took: it takes a tenth of the time, however long a run is.
const REST: u32 = 9;

/// The least time between two pieces of work: there is nothing new within a second.
const LEAST: Duration = Duration::from_millis(900);

/// When work on the whole run is due again.
#[derive(Debug, Default)]
pub(super) struct Pace {
    rests_until: Option<Instant>,
}

impl Pace {
    /// Returns true if the work is due.
    pub(super) fn is_due(&self) -> bool {
        self.rests_until.is_none_or(|until| Instant::now() >= until)
    }

    /// Takes note of how long the work took.
    pub(super) fn took(&mut self, long: Duration) {
        self.rests_until = Some(Instant::now() + (long * REST).max(LEAST));
    }
}
