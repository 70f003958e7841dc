//! A finding of a diagnosis, its kind and its figures.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::format::{figure, percent};
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
    /// Seconds without requests, or with few, since the requests waited.
    Stall,
    /// Seconds with few requests, of which none waited: the threads or the load generator paused, or its clock was set.
    Pause,
    /// Failures in bursts, or at a steady share.
    Failures,
    /// The 99th percentile grows, while the median does not.
    SlowTail,
    /// Requests are slow at first, then level.
    WarmUp,
    /// Requests come faster than they are answered, so that they wait ever longer.
    Queue,
    /// Requests are slower for a while at equal load, then as before.
    Slowdown,
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
            Self::Pause => "pause",
            Self::Queue => "queue",
            Self::Slowdown => "slowdown",
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
    /// The figures that support the finding, as a sentence without its full stop.
    pub evidence: String,
    /// All figures of the two sentences, in the order in which they name them.
    pub figures: Vec<Figure>,
    /// The injector that the finding is about, if it is about one.
    pub injector: Option<String>,
}

/// A figure of a finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Figure {
    /// The name, which no other figure of the finding has, as in `throughput_before`.
    pub name: &'static str,
    /// The value, with all its digits.
    #[serde(serialize_with = "shortest")]
    pub value: f64,
    /// The unit, as in `ms`, `1/s`, `%`, or what is counted, as in `threads`.
    pub unit: &'static str,
}

/// Writes a whole number without decimals, as tables do.
fn shortest<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    let whole = *value as i64;
    if whole as f64 == *value { to.serialize_i64(whole) } else { to.serialize_f64(*value) }
}

/// The figures of a finding, each noted as a sentence names it: so no sentence has a figure that is no value.
#[derive(Debug, Default)]
pub(in crate::diagnose) struct FindingFigures(Vec<Figure>);

impl FindingFigures {
    /// Notes a figure. Returns it with few digits.
    pub(in crate::diagnose) fn few(&mut self, name: &'static str, value: f64, unit: &'static str) -> String {
        self.note(name, value, unit);
        figure(value)
    }

    /// Notes a figure that a sentence names in words.
    pub(in crate::diagnose) fn note(&mut self, name: &'static str, value: f64, unit: &'static str) {
        self.0.push(Figure { name, value, unit });
    }

    /// Notes a share, 0 to 1. Returns it in percent.
    pub(in crate::diagnose) fn share(&mut self, name: &'static str, share: f64) -> String {
        self.note(name, 100.0 * share, "%");
        percent(share)
    }

    /// Notes a whole number. Returns all its digits.
    pub(in crate::diagnose) fn whole(
        &mut self,
        name: &'static str,
        value: i64,
        unit: &'static str,
    ) -> String {
        self.note(name, value as f64, unit);
        value.to_string()
    }

    /// Adds figures that a part of a sentence named.
    pub(in crate::diagnose) fn extend(&mut self, part: Self) {
        self.0.extend(part.0);
    }

    /// Returns the figures.
    pub(in crate::diagnose) fn done(self) -> Vec<Figure> {
        self.0
    }
}

impl Finding {
    /// Returns what the finding costs, by which findings of one kind are ordered by harm: the requests that failed, else the
    /// seconds it lasts.
    pub fn cost(&self) -> f64 {
        let failures = self.figures.iter().find(|figure| figure.name == "failures");
        failures.map_or_else(|| f64::from(self.span.seconds()), |figure| figure.value)
    }

    /// Returns true if the finding is a remark: nothing is amiss.
    pub fn is_note(&self) -> bool {
        self.kind == FindingKind::Note
    }
}
