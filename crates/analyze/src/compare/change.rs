//! A difference between two sides, its outcome, and the table of changes.

use super::measure::{Growth, Measure, Part};
use crate::table::{Table, Tone};

/// One figure, compared between two sides.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// The name of the side that is compared with the baseline.
    pub run: String,
    /// The part of the run that the figure is over.
    pub part: Part,
    /// The figure, which knows its unit.
    pub measure: Measure,
    /// The baseline's value; the mean for several repeats.
    pub a: Option<f64>,
    /// The other side's value; the mean for several repeats.
    pub b: Option<f64>,
    /// The 99 % confidence interval of the difference b − a; `None` if it can't be computed.
    pub interval: Option<(f64, f64)>,
    /// The p-value, 0 to 1: the probability of so large a difference by chance alone. `None` if it can't be computed.
    pub p: Option<f64>,
    /// The p-value adjusted for all figures compared at once (Holm). A value below 0.01 is a change. If nothing
    /// changed, any change at all is reported in at most one of a hundred comparisons.
    pub p_adjusted: Option<f64>,
    /// The noise that the difference was compared with.
    pub noise: Noise,
    /// The classification of the difference.
    pub outcome: Outcome,
}

/// The source of the noise that a difference is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Noise {
    /// The scatter of the seconds within the runs. It does not contain differences between starts of a server.
    Seconds,
    /// The scatter of the seconds within repeats, which scatter less among themselves.
    SecondsOfRepeats,
    /// The scatter of the repeats.
    Repeats,
}

impl Noise {
    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds | Self::SecondsOfRepeats => "seconds",
            Self::Repeats => "repeats",
        }
    }
}

/// The classification of a difference, as seen from the side that is compared with the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// Within noise: the interval of the difference contains zero.
    Noise,
    /// Beyond noise, for the better.
    Better,
    /// Beyond noise, for the worse.
    Worse,
    /// Beyond noise: more of a figure that is neither good nor bad by itself.
    More,
    /// Beyond noise: less of a figure that is neither good nor bad by itself.
    Less,
    /// Can't be decided: the runs are too short for the memory of their noise, or a run does not have the figure, and
    /// then there is no interval; or the interval does not contain zero, but that may be chance among so many figures;
    /// or the figure of the hold, a part of the run, has changed.
    Unknown,
}

impl Outcome {
    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Noise => "noise",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::More => "more",
            Self::Less => "less",
            Self::Unknown => "unknown",
        }
    }

    /// Classifies a difference that is not beyond noise, by its own interval.
    pub(super) fn not_shown((low, high): (f64, f64)) -> Self {
        if low <= 0.0 && high >= 0.0 { Self::Noise } else { Self::Unknown }
    }

    /// Classifies a difference that is beyond noise.
    pub(super) fn beyond_noise(growth: Growth, grows: bool) -> Self {
        match (growth, grows) {
            (Growth::Good, true) | (Growth::Bad, false) => Self::Better,
            (Growth::Good, false) | (Growth::Bad, true) => Self::Worse,
            (Growth::Neither, true) => Self::More,
            (Growth::Neither, false) => Self::Less,
        }
    }
}

impl Change {
    /// Returns the change in percent of the baseline's value; `None` if that is 0 or a value is absent.
    pub fn percent(&self) -> Option<f64> {
        let (a, b) = (self.a?, self.b?);
        (a != 0.0).then(|| (b - a) / a * 100.0)
    }
}

/// Builds a table of changes: `run`, `part`, `measure`, `unit`, `a`, `b`, `change_percent`, `difference_low`,
/// `difference_high`, `outcome`, `p`, `p_adjusted` and `noise`.
pub fn change_table(changes: &[Change]) -> Table {
    Table::of(changes)
        .column("run", |row| Some(row.run.clone()))
        .column("part", |row| Some(row.part.name().to_owned()))
        .minor()
        .column("measure", |row| Some(row.measure.column()))
        .words(&[("failures_percent", "failures")])
        .major()
        .column("unit", |row| Some(row.measure.unit().to_owned()))
        .minor()
        .column("a", |row| row.a)
        .unit("", 2)
        .column("b", |row| row.b)
        .unit("", 2)
        .column("change_percent", Change::percent)
        .title("change")
        .unit("%", 1)
        .major()
        .column("difference_low", |row| row.interval.map(|(low, _)| low))
        .title("99 % from")
        .unit("", 2)
        .minor()
        .column("difference_high", |row| row.interval.map(|(_, high)| high))
        .title("to")
        .unit("", 2)
        .minor()
        .column("outcome", |row| Some(row.outcome.name().to_owned()))
        .title("b is")
        .major()
        .tones(&[("better", Tone::Good), ("worse", Tone::Bad), ("unknown", Tone::Doubt)])
        .column("p", |row| row.p)
        .unit("", 4)
        .minor()
        .column("p_adjusted", |row| row.p_adjusted)
        .title("p of all")
        .unit("", 4)
        .minor()
        .column("noise", |row| Some(row.noise.name().to_owned()))
        .title("noise from")
        .minor()
        .done()
}
