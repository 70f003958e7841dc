//! How the requests of a level ended.

use perfpipe_ingest::points::Figures;

/// How the requests of a level ended, over all of its repeats that report it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcomes {
    /// Requests that succeeded.
    pub successes: u64,
    /// Requests that failed, time-outs included; the greatest number that the outputs allow.
    pub failures: u64,
    /// Time-outs among the failures.
    pub timeouts: u64,
}

impl Outcomes {
    /// Adds the outcomes of repeats; `None` if no repeat reports both successes and failures.
    pub(super) fn of(repeats: &[&Figures]) -> Option<Self> {
        let of_one = |figures: &&Figures| {
            let failures = figures.failures?.greatest;
            let timeouts = figures.timeouts.unwrap_or(0).min(failures);
            Some(Self { successes: figures.successes?, failures, timeouts })
        };
        repeats.iter().filter_map(of_one).reduce(|all, one| Self {
            successes: all.successes.saturating_add(one.successes),
            failures: all.failures.saturating_add(one.failures),
            timeouts: all.timeouts.saturating_add(one.timeouts),
        })
    }

    /// Returns the shares of successes, of failures without time-outs, and of time-outs: 0 to 1, together 1. `None` if
    /// there were no requests.
    ///
    /// ```
    /// use perfpipe_analyze::points::{SweepBy, levels};
    /// use perfpipe_ingest::points::{Bounds, Figures, Point, PointKey};
    ///
    /// let mut figures = Figures::default();
    /// (figures.successes, figures.failures) = (Some(90), Some(Bounds::exactly(10)));
    /// figures.timeouts = Some(4);
    /// let level = levels(&[Point::new(PointKey::new("wrk", "go", "/"), figures)], SweepBy::Concurrency).remove(0);
    /// assert_eq!(level.outcomes.and_then(|outcomes| outcomes.shares()), Some([0.9, 0.06, 0.04]));
    /// ```
    pub fn shares(&self) -> Option<[f64; 3]> {
        let all = self.successes.saturating_add(self.failures);
        let others = self.failures.saturating_sub(self.timeouts);
        (all > 0).then(|| [self.successes, others, self.timeouts].map(|count| count as f64 / all as f64))
    }
}
