//! One thing that stands out in a run.

use std::fmt;

use crate::view::phases::Span;

/// What kind of thing a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Throughput is flat while the load climbs.
    Saturation,
    /// The CPU has time to spare where throughput is flat.
    IdleCpu,
    /// The threads are not the rate times the time of the requests.
    LittlesLaw,
    /// Seconds with no requests, or with few.
    Stall,
    /// Failures in bursts, or all the time.
    Failures,
    /// The 99th percentile grows while the median does not.
    SlowTail,
    /// Requests are slow at first, then level.
    WarmUp,
    /// Times, or the rate, change to another level at equal load.
    Shift,
    /// Times, or the rate, change little by little at equal load.
    Drift,
    /// An injector that sends less or more than the others, or at another time.
    Injector,
    /// An injector whose clock differs from the others'.
    ClockSkew,
    /// CPU readings that do not cover the run.
    CpuCoverage,
    /// Nothing amiss, but good to know.
    Note,
}

impl Kind {
    /// The kind's name in tables, as in `idle-cpu`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Saturation => "saturation",
            Self::IdleCpu => "idle-cpu",
            Self::LittlesLaw => "littles-law",
            Self::Stall => "stall",
            Self::Failures => "failures",
            Self::SlowTail => "slow-tail",
            Self::Injector => "injector",
            Self::WarmUp => "warm-up",
            Self::Shift => "shift",
            Self::Drift => "drift",
            Self::ClockSkew => "clock-skew",
            Self::CpuCoverage => "cpu-coverage",
            Self::Note => "note",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One thing that stands out.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What kind of thing it is.
    pub kind: Kind,
    /// The seconds from the first to the last that it is seen in.
    pub span: Span,
    /// What it is, as a sentence without its full stop.
    pub what: String,
    /// The figures that show it.
    pub evidence: String,
}

impl Finding {
    /// Whether nothing is amiss: it is told, but does not stand out.
    pub fn is_note(&self) -> bool {
        self.kind == Kind::Note
    }
}
