//! A difference between two sides, its outcome, and the table of changes.

use super::measure::{Growth, Measure, Part};
use super::repeats::Power;
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
    /// The 99 % confidence interval of the change in percent of the baseline's value; `None` if it can't be computed, or
    /// the baseline may be 0.
    pub percent_interval: Option<(f64, f64)>,
    /// The confidence interval of the change in percent that all figures which decide have together: it excludes 0 just where
    /// a change is called, and contains the figure's own. Its upper limit is infinite where the runs set none. `None` if the
    /// figure does not decide, or has no interval of its own.
    pub joint_percent: Option<(f64, f64)>,
    /// The p-value, 0 to 1: the probability of so large a difference by chance alone. `None` if it can't be computed.
    pub p: Option<f64>,
    /// The p-value adjusted for all figures that decide (Holm). A value below 0.01 is a change. If nothing changed, any
    /// change at all is reported in at most one of a hundred comparisons. `None` for exploratory figures.
    pub p_adjusted: Option<f64>,
    /// The noise that the difference was compared with.
    pub noise: Noise,
    /// The classification of the difference.
    pub outcome: Outcome,
    /// What the repeats could have shown of this figure; `None` if it does not decide, or the noise is that of the seconds.
    pub power: Option<Power>,
    /// The variance of the difference within pairs as a share of that of unpaired runs; `None` without pairs, or without
    /// scatter.
    pub variance_share: Option<f64>,
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
    /// The scatter of the differences within pairs.
    Pairs,
}

impl Noise {
    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds | Self::SecondsOfRepeats => "seconds",
            Self::Repeats => "repeats",
            Self::Pairs => "pairs",
        }
    }
}

/// The classification of a difference, as seen from the side that is compared with the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// A change is shown.
    Shown(Direction),
    /// These runs differ, by the noise of their seconds. Whether other runs would, single starts do not show.
    TheseRuns(Direction),
    /// No change is shown. That does not mean that there is none.
    NotShown,
    /// Other figures decide.
    Exploratory,
    /// Can't be judged: the runs are too short for the memory of their noise, or a run does not have the figure.
    Unknown,
}

/// The direction of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Direction {
    /// For the better.
    Better,
    /// For the worse.
    Worse,
    /// More of a figure that is neither good nor bad by itself.
    More,
    /// Less of a figure that is neither good nor bad by itself.
    Less,
}

/// The colours of outcomes on a terminal.
pub(super) const TONES: &[(&str, Tone)] = &[
    ("better", Tone::Good),
    ("worse", Tone::Bad),
    ("better (these runs)", Tone::Doubt),
    ("worse (these runs)", Tone::Doubt),
    ("unknown", Tone::Doubt),
];

impl Outcome {
    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shown(direction) => direction.name(),
            Self::TheseRuns(Direction::Better) => "better (these runs)",
            Self::TheseRuns(Direction::Worse) => "worse (these runs)",
            Self::TheseRuns(Direction::More) => "more (these runs)",
            Self::TheseRuns(Direction::Less) => "less (these runs)",
            Self::NotShown => "not shown",
            Self::Exploratory => "exploratory",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the direction of a change that is shown, of these runs at least.
    pub fn direction(self) -> Option<Direction> {
        match self {
            Self::Shown(direction) | Self::TheseRuns(direction) => Some(direction),
            _ => None,
        }
    }
}

impl Direction {
    /// Returns the name used in output: `better`, `worse`, `more` or `less`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::More => "more",
            Self::Less => "less",
        }
    }

    pub(super) fn of(growth: Growth, grows: bool) -> Self {
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

/// Builds a table of changes: `run`, `part`, `measure`, `unit`, `a`, `b`, `change_percent` and its interval
/// (`change_percent_low`, `change_percent_high`), `difference_low`, `difference_high`, `outcome`, `p`, `p_adjusted` and
/// `noise`. For people, the interval of the difference is left out.
pub fn change_table(changes: &[Change]) -> Table {
    Table::of(changes)
        .schema("perfpipe-compare/1")
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
        .column("change_percent_low", |row| row.percent_interval.map(|(low, _)| low))
        .title("99 % from")
        .unit("%", 1)
        .minor()
        .column("change_percent_high", |row| row.percent_interval.map(|(_, high)| high))
        .title("to")
        .unit("%", 1)
        .minor()
        .column("difference_low", |row| row.interval.map(|(low, _)| low))
        .people_see(false)
        .column("difference_high", |row| row.interval.map(|(_, high)| high))
        .people_see(false)
        .column("outcome", |row| Some(row.outcome.name().to_owned()))
        .title("b is")
        .major()
        .tones(TONES)
        .column("p", |row| row.p)
        .probability()
        .minor()
        .column("p_adjusted", |row| row.p_adjusted)
        .title("p of all")
        .probability()
        .minor()
        .column("noise", |row| Some(row.noise.name().to_owned()))
        .title("noise from")
        .minor()
        .done()
}
