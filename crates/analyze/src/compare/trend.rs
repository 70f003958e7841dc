//! Figures over versions, and where they change their level.

use super::change::Direction;
use super::figure::PartFigure;
use super::measure::{Measure, Part};
use super::measured::Measured;
use crate::stats::change_points::{self, Search};
use crate::stats::{mean, student};
use crate::table::Table;

/// The share of trends of level figures in which any change is reported, over all figures.
const MISTAKES: f64 = 0.01;

/// A version of what was tested: a commit, a release, a day.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Version {
    /// The version's name in output.
    pub name: String,
    /// The start of its first run, in ms since 1970.
    pub start_ms: i64,
    /// Its runs, at least one.
    pub runs: Vec<Measured>,
}

impl Version {
    /// Describes a version, given its name, the start of its first run in ms since 1970, and its runs.
    pub fn new(name: impl Into<String>, start_ms: i64, runs: Vec<Measured>) -> Self {
        Self { name: name.into(), start_ms, runs }
    }
}

/// The figures of one framework over its versions.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Trends {
    /// The framework's name in output.
    pub name: String,
    /// The versions, in order.
    pub versions: Vec<Version>,
    /// Its figures.
    pub figures: Vec<Trend>,
}

/// One figure over the versions.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Trend {
    /// The figure.
    pub measure: Measure,
    /// The value of each version: of several repeats the median; `None` if a run does not have the figure.
    pub values: Vec<Option<f64>>,
    /// The 99 % confidence interval of each value, by the scatter of the repeats of all versions; `None` without
    /// repeats.
    pub intervals: Vec<Option<(f64, f64)>>,
    /// The changes of level, by version.
    pub changes: Vec<LevelChange>,
    /// The gradual changes, by version; no single version made one of them.
    pub drifts: Vec<Drift>,
}

/// A change of a figure's level.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LevelChange {
    /// The place of the first version of the new level.
    pub version: usize,
    /// The mean level before, from the change before on.
    pub before: f64,
    /// The mean level since, up to the next change.
    pub after: f64,
    /// The probability of so large a difference anywhere in the series, if its level did not change.
    pub p: f64,
    /// Whether the change is for the better.
    pub outcome: Direction,
}

impl LevelChange {
    /// Returns the change in percent of the level before; `None` if that is 0.
    pub fn percent(&self) -> Option<f64> {
        percent(self.before, self.after)
    }
}

/// A gradual change of a figure over versions.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Drift {
    /// The places of its first and its last version.
    pub versions: (usize, usize),
    /// The figure at the first version, on the straight line that fits best.
    pub before: f64,
    /// The figure at the last version, on that line.
    pub after: f64,
    /// Whether the change is for the better.
    pub outcome: Direction,
}

impl Drift {
    /// Returns the change in percent of the figure at the first version; `None` if that is 0.
    pub fn percent(&self) -> Option<f64> {
        percent(self.before, self.after)
    }
}

fn percent(before: f64, after: f64) -> Option<f64> {
    (before != 0.0).then(|| (after - before) / before * 100.0)
}

/// Writes a change as people read it, such as "+5.1 % (worse)".
fn amount(measure: &Measure, (before, after): (f64, f64), outcome: Direction) -> String {
    let amount = match percent(before, after) {
        Some(percent) => format!("{percent:+.1} %"),
        None => format!("{:+.2} {}", after - before, measure.unit()),
    };
    format!("{} {amount} ({})", measure.column(), outcome.name())
}

impl Trends {
    /// The least number of versions of which one can be reported to change a level.
    pub const LEAST_VERSIONS: usize = change_points::LEAST_GROUPS;

    /// Finds in each figure of the whole run the versions from which on its level is another.
    ///
    /// A level has at least three versions, the latest one two; so a single version that is slower than all others is not a
    /// change. Of fewer than [`Trends::LEAST_VERSIONS`], none is reported, nor is a change by less than the share `least` of
    /// the level before. In 100 series of versions that do not differ, about one is reported to have any change. The
    /// versions must be in order. The figures are those of the first version's first run, without series of the server
    /// other than its CPU.
    pub fn new(name: impl Into<String>, versions: Vec<Version>, least: f64) -> Self {
        let first = versions.first().and_then(|version| version.runs.first());
        let all = first.into_iter().flat_map(|run| run.measures(Part::Run));
        let measures: Vec<Measure> = all.filter(|measure| measure.series().is_none()).cloned().collect();
        let mut search = Search::default();
        let level = MISTAKES / measures.len().max(1) as f64;
        let figures =
            measures.into_iter().map(|measure| of(&versions, measure, (level, least), &mut search)).collect();
        Self { name: name.into(), versions, figures }
    }

    /// Returns a figure over the versions.
    pub fn figure(&self, measure: &Measure) -> Option<&Trend> {
        self.figures.iter().find(|trend| trend.measure == *measure)
    }

    /// Returns what changes with a version, as in "throughput -5.1 % (worse), p95 +8.0 % (worse)"; empty if nothing does.
    pub fn changes(&self, version: usize) -> String {
        let described = |trend: &Trend| {
            let change = trend.changes.iter().find(|change| change.version == version)?;
            Some(amount(&trend.measure, (change.before, change.after), change.outcome))
        };
        self.figures.iter().filter_map(described).collect::<Vec<_>>().join(", ")
    }

    /// Returns a sentence for each drift, as in "p95 +9.8 % (worse) little by little from 1.1 to 1.30".
    pub fn drifts(&self) -> Vec<String> {
        let name = |at: usize| self.versions.get(at).map_or("", |version| version.name.as_str());
        let sentence = |trend: &Trend, drift: &Drift| {
            let amount = amount(&trend.measure, (drift.before, drift.after), drift.outcome);
            format!("{amount} little by little from {} to {}", name(drift.versions.0), name(drift.versions.1))
        };
        let of = |trend: &Trend| -> Vec<String> {
            trend.drifts.iter().map(|drift| sentence(trend, drift)).collect()
        };
        self.figures.iter().flat_map(of).collect()
    }
}

fn of(versions: &[Version], measure: Measure, (level, least): (f64, f64), search: &mut Search) -> Trend {
    let known: Vec<(usize, Vec<&PartFigure>)> =
        (0..).zip(versions).filter_map(|(at, version)| Some((at, figures(version, &measure)?))).collect();
    let values = |figures: &Vec<&PartFigure>| figures.iter().filter_map(|figure| figure.value).collect();
    let groups: Vec<Vec<f64>> = known.iter().map(|(_, figures)| values(figures)).collect();
    let course = search.find(&groups, least_variance(&known), level, least);
    let change = |point: &change_points::ChangePoint| {
        let (before, after) = point.means;
        let outcome = Direction::of(measure.growth(), after > before);
        Some(LevelChange { version: known.get(point.at)?.0, before, after, p: point.p, outcome })
    };
    let drift = |drift: &change_points::Slope| {
        let (before, after) = drift.ends;
        let outcome = Direction::of(measure.growth(), after > before);
        let versions = (known.get(drift.span.0)?.0, known.get(drift.span.1)?.0);
        Some(Drift { versions, before, after, outcome })
    };
    let spread = change_points::spread(&groups);
    let changes = course.changes.iter().filter_map(change).collect();
    let drifts = course.slopes.iter().filter_map(drift).collect();
    let absent = (vec![None; versions.len()], vec![None; versions.len()]);
    let mut trend = Trend { measure, values: absent.0, intervals: absent.1, changes, drifts };
    for ((at, _), values) in known.iter().zip(&groups) {
        let (level, weight) = change_points::level(values);
        let reach = spread.map(|(sd, degrees)| student::distance(0.01, degrees) * sd / weight.sqrt());
        if let (Some(value), Some(interval)) = (trend.values.get_mut(*at), trend.intervals.get_mut(*at)) {
            *value = Some(level);
            *interval = reach.map(|reach| (level - reach, level + reach));
        }
    }
    trend
}

/// Returns a figure of all runs of a version, if all have it.
fn figures<'a>(version: &'a Version, measure: &Measure) -> Option<Vec<&'a PartFigure>> {
    let figure = |run| Measured::figure(run, Part::Run, measure).filter(|figure| figure.value.is_some());
    let figures: Option<Vec<&PartFigure>> = version.runs.iter().map(figure).collect();
    figures.filter(|figures| !figures.is_empty())
}

/// Returns the variance that a run's figure has by the noise of its own seconds, as the mean of all runs.
fn least_variance(known: &[(usize, Vec<&PartFigure>)]) -> f64 {
    let variances: Vec<f64> = known
        .iter()
        .flat_map(|(_, figures)| figures)
        .map(|figure| figure.error(figure.noise(PartFigure::memory(&[figure]))).powi(2))
        .filter(|variance| variance.is_finite())
        .collect();
    mean(&variances)
}

/// Builds a table with a row for each version: `framework`, `version`, `start_ms`, `runs`, and of each figure its value,
/// its interval (`_low`, `_high`) and, where its level changes, `_change_percent`, `_p` and `_outcome`; over the versions of a
/// drift, `_drift_percent` is the whole of it. For people, `changes` names the figures that change, and the rest is left out.
///
/// The figures are those of the first framework.
pub fn trend_table(all: &[Trends]) -> Table {
    let rows: Vec<(&Trends, usize)> =
        all.iter().flat_map(|trends| (0..trends.versions.len()).map(move |at| (trends, at))).collect();
    let mut table = Table::of(&rows)
        .schema("perfpipe-trend/1")
        .column("framework", |row| Some(row.0.name.clone()))
        .people_see(all.len() > 1)
        .column("version", |row| version(row).map(|version| version.name.clone()))
        .major()
        .column("start_ms", |row| version(row).map(|version| version.start_ms))
        .title("started (UTC)")
        .instant()
        .minor()
        .column("runs", |row| version(row).map(|version| version.runs.len() as u64))
        .minor();
    for trend in all.first().into_iter().flat_map(|trends| &trends.figures) {
        let measure = &trend.measure;
        let value = |row: &(&Trends, usize)| row.0.figure(measure)?.values.get(row.1).copied().flatten();
        let interval =
            |row: &(&Trends, usize)| row.0.figure(measure)?.intervals.get(row.1).copied().flatten();
        let change = |row: &(&Trends, usize)| {
            row.0.figure(measure)?.changes.iter().find(|change| change.version == row.1).copied()
        };
        let drift = |row: &(&Trends, usize)| {
            let drifts = &row.0.figure(measure)?.drifts;
            drifts.iter().find(|drift| (drift.versions.0..=drift.versions.1).contains(&row.1)).copied()
        };
        let (column, unit) = (measure.column(), measure.unit());
        let name = |end: &str| format!("{column}{end}");
        table = table
            .column(name(""), value)
            .unit(unit, 2)
            .column(name("_low"), |row| interval(row).map(|(low, _)| low))
            .unit(unit, 2)
            .people_see(false)
            .column(name("_high"), |row| interval(row).map(|(_, high)| high))
            .unit(unit, 2)
            .people_see(false)
            .column(name("_change_percent"), |row| change(row)?.percent())
            .people_see(false)
            .column(name("_p"), |row| change(row).map(|change| change.p))
            .people_see(false)
            .column(name("_outcome"), |row| change(row).map(|change| change.outcome.name().to_owned()))
            .people_see(false)
            .column(name("_drift_percent"), |row| drift(row)?.percent())
            .people_see(false);
    }
    table.column("changes", |row| Some(row.0.changes(row.1)).filter(|text| !text.is_empty())).major().done()
}

fn version<'a>((trends, at): &(&'a Trends, usize)) -> Option<&'a Version> {
    trends.versions.get(*at)
}
