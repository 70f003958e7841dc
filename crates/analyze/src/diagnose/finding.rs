//! A finding of a diagnosis, and its kind.

use std::fmt;

use crate::view::phases::Span;

/// The kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// Throughput is flat while the load climbs.
    Saturation,
    /// The CPU has time to spare where throughput is flat.
    IdleCpu,
    /// The number of threads is not the rate times the time of the requests.
    LittlesLaw,
    /// Seconds without requests, or with few.
    Stall,
    /// Failures in bursts, or at a steady share.
    Failures,
    /// The 99th percentile grows, while the median does not.
    SlowTail,
    /// Requests are slow at first, then level.
    WarmUp,
    /// Times, or the rate, step to another level at equal load.
    Shift,
    /// Times, or the rate, change gradually at equal load.
    Drift,
    /// An injector sends less or more than the others, or at another time.
    Injector,
    /// An injector's clock differs from the others'.
    ClockSkew,
    /// The CPU readings do not cover the run.
    CpuCoverage,
    /// A remark: nothing is amiss.
    Note,
}

impl FindingKind {
    /// Returns the kind's name in tables, as in `idle-cpu`.
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

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A finding: something in a run that stands out.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of the finding.
    pub kind: FindingKind,
    /// The first and the last second of what was found.
    pub span: Span,
    /// The description, as a sentence without its full stop.
    pub what: String,
    /// The figures that support the finding.
    pub evidence: String,
}

impl Finding {
    /// Returns true if the finding is a remark: nothing is amiss.
    pub fn is_note(&self) -> bool {
        self.kind == FindingKind::Note
    }
}
