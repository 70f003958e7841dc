//! How many of how many, with the chance that is in such a count.

use std::fmt;

/// So many of all.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Share {
    pub(crate) count: u64,
    pub(crate) all: u64,
}

impl Share {
    /// One, that is counted or not.
    pub(crate) fn of(counts: bool) -> Self {
        Self { count: u64::from(counts), all: 1 }
    }

    pub(crate) fn add(&mut self, counts: bool) {
        self.merge(Self::of(counts));
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.all += other.all;
    }

    pub(crate) fn merged(mut self, other: Self) -> Self {
        self.merge(other);
        self
    }

    pub(crate) fn ratio(self) -> f64 {
        if self.all == 0 { 0.0 } else { self.count as f64 / self.all as f64 }
    }

    /// The upper end of its two-sided 95 % interval (Wilson, "Probable inference", 1927).
    pub(crate) fn upper(self) -> f64 {
        let (n, z) = (self.all.max(1) as f64, 1.96);
        let p = self.ratio();
        let spread = (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        (p + z * z / (2.0 * n) + z * spread) / (1.0 + z * z / n)
    }
}

/// The deviations by which a share of fresh seeds may miss its promise. Fixed ones may not.
pub(crate) const CHANCE: f64 = 3.0;

/// Returns the largest number of so many that a promised share allows, with what chance may add in so many deviations.
pub(crate) fn at_most(share: f64, all: u64, deviations: f64) -> f64 {
    let all = all as f64;
    share * all + deviations * (share * (1.0 - share) * all).sqrt()
}

/// Returns the least number of so many that a promised share allows, likewise.
pub(crate) fn at_least(share: f64, all: u64, deviations: f64) -> f64 {
    all as f64 - at_most(1.0 - share, all, deviations)
}

impl fmt::Display for Share {
    /// As in `0.93 % (≤ 1.24)`: the share, and the upper end of its interval.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} % (≤ {:.2})", self.ratio() * 100.0, self.upper() * 100.0)
    }
}
