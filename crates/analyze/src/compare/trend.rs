//! Figures over versions, and where they change their level.

use super::change::Direction;
use super::difference::MISSED;
use super::figure::PartFigure;
use super::measure::{Measure, Part};
use super::measured::Measured;
use crate::stats::change_points::{self, Search};
use crate::stats::percentile::median;
use crate::stats::{mean, student};
use crate::table::Table;

/// The fewest degrees of freedom of the scatter of versions that a band is drawn of.
const LEAST_DEGREES: f64 = 3.0;

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

/// A level of a figure: versions of which none is known to differ from the others.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct TrendLevel {
    /// The places of its first and its last version.
    pub versions: (usize, usize),
    /// The mean level.
    pub mean: f64,
    /// The range that 99 % of its versions are expected in, by the scatter of all versions about their levels; `None` if there are
    /// too few.
    pub band: Option<(f64, f64)>,
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

impl Trend {
    /// Returns the levels of the figure between its changes, in order. Versions of a drift are at none.
    pub fn levels(&self) -> Vec<TrendLevel> {
        let starts = self.changes.iter().map(|change| change.version);
        let ends = starts.clone().chain([self.values.len()]);
        let means = self.changes.first().map(|first| first.before).into_iter();
        let means = means.chain(self.changes.iter().map(|change| change.after));
        let mut levels: Vec<TrendLevel> = std::iter::once(0)
            .chain(starts)
            .zip(ends)
            .filter(|(start, end)| {
                start < end && !self.drifts.iter().any(|drift| drift.meets(*start, end - 1))
            })
            .filter_map(|(start, end)| TrendLevel::of(self.known(start, end), (start, end - 1)))
            .collect();
        if levels.len() == self.changes.len() + 1 {
            levels.iter_mut().zip(means).for_each(|(level, mean)| level.mean = mean);
        }
        let residuals = |level: &TrendLevel| -> Vec<f64> {
            let values = self.known(level.versions.0, level.versions.1 + 1);
            values.map(|value| value - level.mean).collect()
        };
        let all: Vec<f64> = levels.iter().flat_map(residuals).collect();
        let degrees = all.len().saturating_sub(levels.len()) as f64;
        if degrees >= LEAST_DEGREES {
            let deviation = (all.iter().map(|away| away * away).sum::<f64>() / degrees).sqrt();
            let reach = student::distance(MISSED, degrees) * deviation;
            levels.iter_mut().for_each(|level| level.band = Some((level.mean - reach, level.mean + reach)));
        }
        levels
    }

    /// Returns the values from a version to before another one.
    fn known(&self, start: usize, end: usize) -> impl Iterator<Item = f64> {
        self.values.iter().take(end).skip(start).filter_map(|value| *value)
    }
}

impl TrendLevel {
    fn of(values: impl Iterator<Item = f64>, versions: (usize, usize)) -> Option<Self> {
        let values: Vec<f64> = values.collect();
        (!values.is_empty()).then(|| Self { versions, mean: mean(&values), band: None })
    }
}

impl Drift {
    /// Returns true if it has a version from `first` to `last`.
    fn meets(&self, first: usize, last: usize) -> bool {
        self.versions.0 <= last && first <= self.versions.1
    }
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

/// Returns the variance that a run's figure has by the noise of its own seconds, as the median of all runs: the few whose noise
/// their seconds don't show are assumed to be far noisier than they are.
fn least_variance(known: &[(usize, Vec<&PartFigure>)]) -> f64 {
    let variances = known
        .iter()
        .flat_map(|(_, figures)| figures)
        .map(|figure| figure.error(figure.least_noise(PartFigure::memory(&[figure]))).powi(2))
        .filter(|variance| variance.is_finite());
    median(variances).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use perfpipe_model::counts::{Cell, CellKey, CellTable};
    use perfpipe_model::{RunInfo, RunKey, StoredRun};

    use super::*;
    use crate::compare::{Outcome, Side, compare_sides};
    use crate::view::View;

    fn trend(values: &[f64], changes: Vec<LevelChange>, drifts: Vec<Drift>) -> Trend {
        let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
        let intervals = vec![None; values.len()];
        Trend { measure: Measure::Throughput, values, intervals, changes, drifts }
    }

    #[test]
    fn levels_lie_between_changes_with_one_scatter() {
        let change =
            LevelChange { version: 4, before: 10.0, after: 20.0, p: 0.0, outcome: Direction::Better };
        let found = trend(&[9.0, 11.0, 9.0, 11.0, 19.0, 21.0, 19.0, 21.0], vec![change], vec![]).levels();
        let shown: Vec<_> = found.iter().map(|level| (level.versions, level.mean)).collect();
        assert_eq!(shown, [((0, 3), 10.0), ((4, 7), 20.0)]);
        // Squares of 8 with 6 degrees of freedom, whose distance is 3.707.
        let reach = 3.707 * (8.0_f64 / 6.0).sqrt();
        let (low, high) = found[1].band.unwrap();
        assert!((low - 20.0 + reach).abs() < 0.01 && (high - 20.0 - reach).abs() < 0.01, "{found:?}");
    }

    /// A run of 48 s with about 30 requests in each of them, whose times wander: what slows a second down slows the next.
    fn wandering(chance: &mut fastrand::Rng, elapsed: f64) -> Measured {
        let key = |second| CellKey { second, label: 0, success: true, transaction: false };
        let mut slow = 0.0;
        let cells = (0..48).map(|second| {
            slow = 0.7 * slow + 0.1 * (chance.f64() - 0.5);
            let mut counts = std::collections::BTreeMap::<i32, u64>::new();
            for _ in 0..chance.u64(25..=35) {
                let value = elapsed * (1.0 + slow) * (0.5 + chance.f64());
                *counts.entry(value as i32).or_default() += 1;
            }
            (key(second), Cell { elapsed: counts.into_iter().collect(), ..Cell::default() })
        });
        let info = RunInfo::new(RunKey::new("go", "t"), 0, 47_999);
        let run = StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], cells));
        Measured::new(&run, &View::default()).unwrap()
    }

    #[test]
    fn runs_whose_noise_is_not_known_hide_no_change() {
        let mut chance = fastrand::Rng::with_seed(3);
        for round in 0..10 {
            let version = |at: i64, chance: &mut fastrand::Rng| {
                let elapsed = if at < 16 { 60.0 } else { 68.0 };
                Version::new(at.to_string(), at, vec![wandering(chance, elapsed)])
            };
            let versions = (0..24).map(|at| version(at, &mut chance)).collect();
            let trends = Trends::new("go", versions, 0.0);
            for measure in [Measure::Percentile(50.0), Measure::Percentile(95.0), Measure::ElapsedMean] {
                let found: Vec<usize> =
                    trends.figure(&measure).unwrap().changes.iter().map(|change| change.version).collect();
                assert!(matches!(found.as_slice(), [15..=17]), "round {round}: {measure} {found:?}");
            }
        }
    }

    #[test]
    fn repeats_whose_seconds_wander_are_compared_by_their_own_scatter() {
        let mut chance = fastrand::Rng::with_seed(8);
        let mut called = |elapsed: f64, rounds: usize| {
            let mut side = |elapsed| Side::of((0..5).map(|_| wandering(&mut chance, elapsed)).collect());
            let mut round = || {
                let changes = compare_sides(&side(60.0), &[side(elapsed)], &[]);
                changes.iter().any(|change| matches!(change.outcome, Outcome::Shown(Direction::Worse)))
            };
            (0..rounds).filter(|_| round()).count()
        };
        assert!(called(68.0, 20) >= 19);
        assert!(called(60.0, 100) <= 4);
    }

    #[test]
    fn few_versions_have_no_band_and_drifts_no_level() {
        let found = trend(&[9.0, 11.0, 10.0], vec![], vec![]).levels();
        assert_eq!(found, [TrendLevel { versions: (0, 2), mean: 10.0, band: None }]);
        let drift = Drift { versions: (1, 5), before: 1.0, after: 5.0, outcome: Direction::Better };
        assert!(trend(&[1.0, 1.0, 2.0, 3.0, 4.0, 5.0], vec![], vec![drift]).levels().is_empty());
        assert!(trend(&[], vec![], vec![]).levels().is_empty());
    }
}
