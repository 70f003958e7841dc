//! Plans an experiment from stored repeats: the least change that so many repeats or pairs would show, and how many it takes
//! to show a given one.
//!
//! Forecasts are for a test of one figure, as that of a rule or of [`compare_sides`](super::compare_sides) with one figure
//! that decides: a change is shown at the level of 1 %, and in four of five experiments (a power of 80 %).

use super::difference::MISSED;
use super::figure::PartFigure;
use super::measure::{Measure, Part};
use super::measured::Measured;
use super::power::Design;
use crate::error::{Error, Result};
use crate::stats::{mean, student, sum_of_squares};
use crate::table::Table;

/// The share of ranges that miss the truth.
const OUTSIDE: f64 = 0.1;

/// What is planned.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PlanOptions {
    /// The change that is to be shown, as a share: 0.05 is 5 %.
    pub change: f64,
    /// The number of repeats of each side, or of pairs, whose least change is forecast; `None`: as many as there are, and at
    /// least 3.
    pub count: Option<u32>,
    /// The length of each of the planned runs in minutes; `None`: that of the stored ones.
    pub minutes: Option<f64>,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self { change: 0.05, count: None, minutes: None }
    }
}

/// A forecast with its 90 % range: the scatter is known only as well as the stored repeats show it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Forecast<T> {
    /// The forecast if runs scatter as the stored ones did.
    pub value: T,
    /// The least that it may be.
    pub low: T,
    /// The most that it may be.
    pub high: T,
}

impl<T> Forecast<T> {
    fn of(deviations: [f64; 3], forecast: impl Fn(f64) -> T) -> Self {
        let [value, low, high] = deviations.map(forecast);
        Self { value, low, high }
    }
}

/// The forecasts of one figure.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PlannedFigure {
    /// The figure.
    pub measure: Measure,
    /// Its mean over the stored runs.
    pub mean: f64,
    /// The standard deviation of a repeat, or of the difference within a pair, in percent of the mean.
    pub scatter_percent: Forecast<f64>,
    /// The least change that [`Plan::count`] repeats of each side, or pairs, would show, in percent.
    pub least_percent: Forecast<f64>,
    /// The number of repeats of each side, or of pairs, that would show the change that is asked for; `None` if it is above
    /// 1,000.
    pub needed: Forecast<Option<u32>>,
}

/// The forecasts of an experiment.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The name of what was measured in output.
    pub name: String,
    /// What is repeated.
    pub design: Design,
    /// The number of stored repeats or pairs that the scatter is estimated from.
    pub stored: usize,
    /// The number of repeats of each side, or of pairs, whose least change is forecast.
    pub count: u32,
    /// The figures that are above 0 in all runs and scatter.
    pub figures: Vec<PlannedFigure>,
}

/// One figure of a design: its mean, and the scatter of a repeat or pair.
struct ScatteredFigure {
    mean: f64,
    /// The variance of a repeat, or of the difference within a pair, relative to the square of the mean.
    variance: f64,
    degrees: f64,
    /// The part of the variance that is of the seconds within the runs: it shrinks as runs become longer.
    within: f64,
}

impl Plan {
    /// Plans from repeats: runs of each version, of which at least one has two. The scatter is that within the versions, so
    /// that versions may differ.
    ///
    /// # Errors
    /// [`Error::FewRepeats`] if no version has two runs.
    pub fn of_repeats(
        name: impl Into<String>,
        versions: &[Vec<Measured>],
        options: PlanOptions,
    ) -> Result<Self> {
        let name = name.into();
        let several = || versions.iter().filter(|version| version.len() > 1);
        let stored = several().map(Vec::len).sum();
        let first = several().next().and_then(|version| version.first());
        let Some(first) = first else { return Err(Error::FewRepeats { of: name, pairs: false }) };
        let count =
            options.count.unwrap_or_else(|| 3.max(several().map(|v| v.len() as u32).max().unwrap_or(3)));
        let length = minutes(several().flatten());
        let scattered = |measure: &Measure| {
            let versions: Vec<Vec<&PartFigure>> =
                several().filter_map(|runs| figures(runs, measure)).collect();
            of_versions(&versions)
        };
        Ok(Self::new(name, Design::Repeats, (stored, count), options, length, first, scattered))
    }

    /// Plans from pairs of runs, at least two. The difference within a pair is that of the logarithms of a figure, so that
    /// what slows both runs of a pair down does not count.
    ///
    /// # Errors
    /// [`Error::FewRepeats`] if there are fewer than two pairs.
    pub fn of_pairs(
        name: impl Into<String>,
        pairs: &[(Measured, Measured)],
        options: PlanOptions,
    ) -> Result<Self> {
        let name = name.into();
        let first = pairs.first().filter(|_| pairs.len() > 1);
        let Some((first, _)) = first else { return Err(Error::FewRepeats { of: name, pairs: true }) };
        let count = options.count.unwrap_or(3.max(pairs.len() as u32));
        let length = minutes(pairs.iter().flat_map(|(one, other)| [one, other]));
        let scattered = |measure: &Measure| of_pairs(pairs, measure);
        Ok(Self::new(name, Design::Pairs, (pairs.len(), count), options, length, first, scattered))
    }

    fn new(
        name: String,
        design: Design,
        (stored, count): (usize, u32),
        options: PlanOptions,
        length: f64,
        first: &Measured,
        scattered: impl Fn(&Measure) -> Option<ScatteredFigure>,
    ) -> Self {
        // Shorter runs have more of the noise of their seconds, longer ones less; that between runs stays.
        let stretch = options.minutes.map_or(1.0, |minutes| length / minutes);
        let planned = |measure: &Measure| {
            let ScatteredFigure { mean, variance, degrees, within } = scattered(measure)?;
            let at = |variance: f64| ((variance - within).max(0.0) + within * stretch).sqrt();
            let end = |share| at((variance * degrees / student::chi_square(share, degrees)).max(within));
            let scatter = [at(variance.max(within)), end(1.0 - OUTSIDE / 2.0), end(OUTSIDE / 2.0)];
            let count = f64::from(count);
            Some(PlannedFigure {
                measure: measure.clone(),
                mean,
                scatter_percent: Forecast::of(scatter, |deviation| 100.0 * deviation),
                least_percent: Forecast::of(scatter, |deviation| {
                    100.0 * design.least(deviation, count, MISSED)
                }),
                needed: Forecast::of(scatter, |deviation| design.needed(deviation, options.change, MISSED)),
            })
        };
        let figures = first.measures(Part::Run).filter_map(planned).collect();
        Self { name, design, stored, count, figures }
    }
}

/// Returns a figure of all runs, if all have it.
fn figures<'a>(runs: &'a [Measured], measure: &Measure) -> Option<Vec<&'a PartFigure>> {
    runs.iter().map(|run| run.figure(Part::Run, measure).filter(|figure| figure.value.is_some())).collect()
}

/// Returns the mean length of runs in minutes.
fn minutes<'a>(runs: impl Iterator<Item = &'a Measured>) -> f64 {
    let (mut count, mut seconds) = (0.0, 0.0);
    for run in runs {
        (count, seconds) = (count + 1.0, seconds + f64::from(run.seconds));
    }
    seconds / 60.0 / f64::max(count, 1.0)
}

/// Returns the variance of a run's figure by the noise of its own seconds; `None` if they don't show it.
fn own_variance(figure: &PartFigure) -> Option<f64> {
    let variance = figure.error(figure.noise(PartFigure::memory(&[figure]))).powi(2);
    Some(variance).filter(|variance| variance.is_finite())
}

/// Returns the scatter of a figure within versions; `None` if it is not above 0 everywhere, or does not scatter at all.
fn of_versions(versions: &[Vec<&PartFigure>]) -> Option<ScatteredFigure> {
    let (mut relative, mut degrees, mut all, mut own) = (0.0, 0.0, Vec::new(), Vec::new());
    for version in versions {
        let values: Vec<f64> = version.iter().filter_map(|figure| figure.value).collect();
        let level = mean(&values);
        if level <= 0.0 {
            return None;
        }
        relative += sum_of_squares(&values) / level.powi(2);
        degrees += values.len() as f64 - 1.0;
        own.extend(version.iter().filter_map(|figure| own_variance(figure)).map(|own| own / level.powi(2)));
        all.extend(values);
    }
    let (variance, within) = (relative / degrees, mean(&own));
    (degrees > 0.0 && variance.max(within) > 0.0).then(|| ScatteredFigure {
        mean: mean(&all),
        variance,
        degrees,
        within,
    })
}

/// Returns the scatter of the difference within pairs, which is at least that of rounding; `None` if a figure is not above 0
/// everywhere, or does not scatter at all.
fn of_pairs(pairs: &[(Measured, Measured)], measure: &Measure) -> Option<ScatteredFigure> {
    let of = |run: &Measured| {
        let figure = run.figure(Part::Run, measure)?;
        let value = figure.value.filter(|value| *value > 0.0)?;
        let own = own_variance(figure).map(|own| own / value.powi(2));
        Some((value, own, (figure.least_error() / value).powi(2)))
    };
    let both: Vec<_> = pairs.iter().map(|(one, other)| of(one).zip(of(other))).collect::<Option<_>>()?;
    let differences: Vec<f64> = both.iter().map(|(one, other)| (other.0 / one.0).ln()).collect();
    let rounding = mean(&both.iter().map(|(one, other)| one.2 + other.2).collect::<Vec<_>>());
    let own: Vec<f64> = both.iter().filter_map(|(one, other)| Some(one.1? + other.1?)).collect();
    let degrees = differences.len() as f64 - 1.0;
    let variance = (sum_of_squares(&differences) / degrees).max(rounding);
    (variance > 0.0).then(|| ScatteredFigure {
        mean: mean(&both.iter().flat_map(|(one, other)| [one.0, other.0]).collect::<Vec<_>>()),
        variance,
        degrees,
        // Noise that both runs of a pair share is in the seconds of each, and not in their difference: so its part within the
        // runs is at most the whole.
        within: mean(&own).min(variance),
    })
}

/// Builds a table with a row for each figure of each plan: `framework`, `figure`, `design`, `stored`, `mean`,
/// `scatter_percent`, `count`, `least_percent`, `needed`, and the 90 % range of the last three (`_low`, `_high`). A number
/// above 1,000 is absent.
pub fn plan_table(plans: &[Plan]) -> Table {
    let rows: Vec<(&Plan, &PlannedFigure)> =
        plans.iter().flat_map(|plan| plan.figures.iter().map(move |figure| (plan, figure))).collect();
    Table::of(&rows)
        .schema("perfpipe-plan/1")
        .column("framework", |row| Some(row.0.name.clone()))
        .people_see(plans.len() > 1)
        .column("figure", |row| Some(row.1.measure.column()))
        .column("design", |row| Some(row.0.design.name().to_owned()))
        .people_see(false)
        .column("stored", |row| Some(row.0.stored as u64))
        .minor()
        .column("mean", |row| Some(row.1.mean))
        .unit("", 2)
        .minor()
        .column("scatter_percent", |row| Some(row.1.scatter_percent.value))
        .title("scatter")
        .unit("%", 2)
        .column("scatter_percent_low", |row| Some(row.1.scatter_percent.low))
        .people_see(false)
        .column("scatter_percent_high", |row| Some(row.1.scatter_percent.high))
        .people_see(false)
        .column("count", |row| Some(u64::from(row.0.count)))
        .minor()
        .column("least_percent", |row| Some(row.1.least_percent.value))
        .title("least change")
        .unit("%", 1)
        .column("least_percent_low", |row| Some(row.1.least_percent.low))
        .title("from")
        .unit("%", 1)
        .minor()
        .column("least_percent_high", |row| Some(row.1.least_percent.high))
        .title("to")
        .unit("%", 1)
        .minor()
        .column("needed", |row| row.1.needed.value.map(u64::from))
        .column("needed_low", |row| row.1.needed.low.map(u64::from))
        .title("from")
        .minor()
        .column("needed_high", |row| row.1.needed.high.map(u64::from))
        .title("to")
        .minor()
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::change_points::normal;

    #[test]
    fn range_of_the_scatter_has_the_truth_in_nine_of_ten_plans() {
        let mut chance = fastrand::Rng::with_seed(12);
        for count in [2_usize, 3, 5, 12] {
            let degrees = count as f64 - 1.0;
            let is_in = |_: &i32| {
                let values: Vec<f64> = (0..count).map(|_| normal(&mut chance)).collect();
                let variance = sum_of_squares(&values) / degrees;
                let end = |share| variance * degrees / student::chi_square(share, degrees);
                (end(1.0 - OUTSIDE / 2.0)..=end(OUTSIDE / 2.0)).contains(&1.0)
            };
            let inside = (0..4000).filter(is_in).count();
            assert!((3540..=3660).contains(&inside), "{inside} of 4,000 with {count}");
        }
    }

    #[test]
    fn versions_may_differ_and_a_figure_without_scatter_is_left_out() {
        assert!(of_versions(&[]).is_none());
        let groups = [[1.0, 1.1], [10.0, 11.0]];
        let figure = |value: &f64| PartFigure {
            value: Some(*value),
            kind: super::super::figure::FigureKind::Greatest,
            scatters: Vec::new(),
            values: 0,
        };
        let all: Vec<Vec<PartFigure>> =
            groups.iter().map(|values| values.iter().map(figure).collect()).collect();
        let refs: Vec<Vec<&PartFigure>> = all.iter().map(|values| values.iter().collect()).collect();
        let found = of_versions(&refs).unwrap();
        let expected = 2.0 * (0.05_f64 / 1.05).powi(2);
        assert!((found.variance - expected).abs() < 1e-12 && found.degrees == 2.0, "{}", found.variance);
        // Runs that are copies of each other don't show how much runs scatter.
        for same in [0.0, 7.0] {
            let same = [figure(&same), figure(&same)];
            assert!(of_versions(&[same.iter().collect()]).is_none());
        }
    }
}
