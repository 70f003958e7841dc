//! What changed from one run to another, and what to make of it.

use super::measured::Growth;
use crate::table::Table;

/// One figure of two sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The side that is looked at, by its name.
    pub run: String,
    /// Which seconds: "run", or "hold" where all runs have one, and other seconds too.
    pub part: &'static str,
    /// The figure, by the name that it has in the summary: "throughput", "p95".
    pub measure: String,
    /// Its unit.
    pub unit: &'static str,
    /// The baseline's value; of several repeats the mean of theirs.
    pub a: Option<f64>,
    /// The other side's value.
    pub b: Option<f64>,
    /// Between which values the difference, b − a, lies: in 99 of 100 such comparisons it does. `None` where that can't be
    /// told.
    pub interval: Option<(f64, f64)>,
    /// How likely chance alone makes so large a difference where there is none, 0 to 1; `None` where that can't be told.
    pub p: Option<f64>,
    /// The same among all figures that were compared at once (Holm): what is below 0.01 is called a change, and where
    /// nothing changed, that happens to any figure at all in one of a hundred comparisons.
    pub p_adjusted: Option<f64>,
    /// Whose noise the difference was held against.
    pub noise: Noise,
    /// What to make of it.
    pub outcome: Outcome,
}

/// What is taken for chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// The scatter of the seconds within the runs. What differs from one start of a server to the next is not in it.
    Seconds,
    /// The scatter of the repeats.
    Repeats,
}

impl Noise {
    /// Its name in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Repeats => "repeats",
        }
    }
}

/// What a change is, seen from the side that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is nothing that chance would not do.
    Noise,
    /// It goes beyond that, for the better.
    Better,
    /// It goes beyond that, for the worse.
    Worse,
    /// It goes beyond that, to more of what is neither good nor bad by itself.
    More,
    /// It goes beyond that, to less of it.
    Less,
    /// There is no telling: the runs are too short for how long a second acts on the next, or one of them has no such
    /// figure.
    Unknown,
}

impl Outcome {
    /// Its name in output.
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

    /// What a change is that goes beyond noise.
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
    /// The change in percent of the first side's value; `None` where that is 0 or one is absent.
    pub fn percent(&self) -> Option<f64> {
        let (a, b) = (self.a?, self.b?);
        (a != 0.0).then(|| (b - a) / a * 100.0)
    }
}

/// Changes as a table: `run`, `part`, `measure`, `unit`, `a`, `b`, `change_percent`, `difference_low`,
/// `difference_high`, `outcome`, `p`, `p_adjusted` and `noise`.
pub fn change_table(changes: &[Change]) -> Table {
    Table::of(changes)
        .column("run", |row| Some(row.run.clone()))
        .column("part", |row| Some(row.part.to_owned()))
        .column("measure", |row| Some(row.measure.clone()))
        .column("unit", |row| Some(row.unit.to_owned()))
        .column("a", |row| row.a)
        .unit("", 2)
        .column("b", |row| row.b)
        .unit("", 2)
        .column("change_percent", Change::percent)
        .title("change")
        .unit("%", 1)
        .column("difference_low", |row| row.interval.map(|(low, _)| low))
        .title("99 % from")
        .unit("", 2)
        .column("difference_high", |row| row.interval.map(|(_, high)| high))
        .title("to")
        .unit("", 2)
        .column("outcome", |row| Some(row.outcome.name().to_owned()))
        .title("b is")
        .column("p", |row| row.p)
        .unit("", 4)
        .column("p_adjusted", |row| row.p_adjusted)
        .title("p of all")
        .unit("", 4)
        .column("noise", |row| Some(row.noise.name().to_owned()))
        .title("by")
        .done()
}
