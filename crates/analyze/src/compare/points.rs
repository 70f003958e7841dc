//! The points of two keys at a level, compared, and the table of the changes.

use perfpipe_model::points::{Figures, LatencySource, Point};

use super::change::{Direction, Outcome, TONES};
use super::difference::MISSED;
use super::measure::Growth;
use super::repeats::{Power, Repeats};
use crate::compare::difference;
use crate::sweep::points::Spread;
use crate::table::Table;

/// The fewest repeats of a side from whose scatter an interval is computed.
const ENOUGH: usize = 3;

/// The points that are compared with others: the repeats of one key.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PointSide {
    /// The side's name in output.
    pub name: String,
    /// Its points. Those that were aborted have no figures.
    pub points: Vec<Point>,
}

impl PointSide {
    /// Names the repeats of one key.
    pub fn new(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self { name: name.into(), points }
    }

    fn figures(&self) -> impl Iterator<Item = &Figures> {
        self.points.iter().map(|point| &point.figures).filter(|figures| figures.aborted.is_none())
    }

    fn values(&self, measure: PointMeasure) -> Vec<f64> {
        self.figures().filter_map(|figures| measure.of(figures)).collect()
    }

    /// Where its latencies come from; `None` if it has none, or they differ in it.
    fn source(&self) -> Option<LatencySource> {
        let mut sources = self.figures().filter_map(|figures| figures.latencies.source);
        let first = sources.next()?;
        sources.all(|source| source == first).then_some(first)
    }
}

/// A figure of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PointMeasure {
    /// Successes per second.
    Throughput,
    /// Answers per second, failed ones included.
    Answers,
    /// Requests that failed, the greatest number that the output allows.
    Failures,
    /// These in percent of all.
    FailuresPercent,
    /// The mean latency.
    Mean,
    /// The median latency.
    P50,
    /// The 90th percentile.
    P90,
    /// The 99th percentile.
    P99,
    /// c/X.
    Little,
}

impl PointMeasure {
    const ALL: [Self; 9] = [
        Self::Throughput,
        Self::Answers,
        Self::Failures,
        Self::FailuresPercent,
        Self::Mean,
        Self::P50,
        Self::P90,
        Self::P99,
        Self::Little,
    ];

    /// Returns the figures that can decide a comparison, since chance can be judged of them.
    pub fn judged() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|measure| measure.is_rate() || measure.is_latency())
    }

    /// Returns its name, as the columns of exports are called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Answers => "answers_per_second",
            Self::Failures => "failures",
            Self::FailuresPercent => "failures_percent",
            Self::Mean => "mean_ms",
            Self::P50 => "p50_ms",
            Self::P90 => "p90_ms",
            Self::P99 => "p99_ms",
            Self::Little => "little_ms",
        }
    }

    fn of(self, figures: &Figures) -> Option<f64> {
        match self {
            Self::Throughput => figures.throughput(),
            Self::Answers => figures.answers_per_second,
            Self::Failures => figures.failures.map(|failures| failures.greatest as f64),
            Self::FailuresPercent => figures.failures_percent(),
            Self::Mean => figures.latencies.mean_ms,
            Self::P50 => figures.latencies.percentile(50.0),
            Self::P90 => figures.latencies.percentile(90.0),
            Self::P99 => figures.latencies.percentile(99.0),
            Self::Little => figures.little_ms(),
        }
    }

    fn is_rate(self) -> bool {
        matches!(self, Self::Throughput | Self::Answers)
    }

    fn is_latency(self) -> bool {
        matches!(self, Self::Mean | Self::P50 | Self::P90 | Self::P99)
    }

    fn growth(self) -> Growth {
        match self {
            Self::Throughput => Growth::Good,
            Self::Answers => Growth::Neither,
            _ => Growth::Bad,
        }
    }

    /// True if chance is judged: of rates, and of latencies that no tool has rounded. c/X says no more than the answers.
    fn is_judged(self, a: &PointSide, b: &PointSide) -> bool {
        let exact = Some(LatencySource::Exact);
        self.is_rate() || (self.is_latency() && a.source() == exact && b.source() == exact)
    }
}

/// A figure, compared between the points of two sides.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PointChange {
    /// The name of the side that is compared.
    pub name: String,
    /// The figure.
    pub measure: PointMeasure,
    /// The repeats of the baseline.
    pub a: Option<Spread>,
    /// The repeats of the other side.
    pub b: Option<Spread>,
    /// Where the latencies of both come from, if it is one.
    pub sources: [Option<LatencySource>; 2],
    /// The 99 % confidence interval of the difference of the means; `None` with fewer than three repeats of a side, and
    /// for figures that are not judged.
    pub interval: Option<(f64, f64)>,
    /// The 99 % confidence interval of the change of the means in percent.
    pub percent_interval: Option<(f64, f64)>,
    /// The probability of so large a difference by chance alone.
    pub p: Option<f64>,
    /// The same, adjusted for all that decide (Holm).
    pub p_adjusted: Option<f64>,
    /// What became of the figure; unknown with fewer than three repeats of a side, `None` if it is not judged.
    pub outcome: Option<Outcome>,
    /// What the repeats could have shown of a figure that decides.
    pub power: Option<Power>,
}

impl PointChange {
    /// Returns the difference of the medians in percent of the baseline's; `None` if that is 0 or one is absent.
    pub fn percent(&self) -> Option<f64> {
        let (a, b) = (self.a?.median, self.b?.median);
        (a != 0.0).then(|| (b - a) / a * 100.0)
    }
}

/// Compares the points of other sides with those of a baseline.
///
/// Points have no samples, so that only the scatter of repeats shows what chance does: it takes at least three on each
/// side. Comparisons of runs need fewer. `decide` names the figures that decide, of those that can be judged; without any, all decide.
///
/// ```
/// use perfpipe_analyze::points::{PointMeasure, PointSide, compare_points};
/// use perfpipe_ingest::points::{Figures, Point, PointKey};
///
/// let side = |framework: &str, successes| {
///     let mut figures = Figures::default();
///     (figures.duration, figures.successes) = (Some(2.0), Some(successes));
///     PointSide::new(framework, vec![Point::new(PointKey::new("wrk", framework, "/hello"), figures)])
/// };
/// let changes = compare_points(&side("go", 3000), &[side("nio", 4500)], &[]);
/// assert_eq!((changes[0].measure, changes[0].percent()), (PointMeasure::Throughput, Some(50.0)));
/// assert_eq!(changes[0].interval, None);
/// ```
pub fn compare_points(
    baseline: &PointSide,
    others: &[PointSide],
    decide: &[PointMeasure],
) -> Vec<PointChange> {
    let decides = |measure: PointMeasure| decide.is_empty() || decide.contains(&measure);
    let mut order = PointMeasure::ALL;
    order.sort_by_key(|own| decide.iter().position(|measure| measure == own).unwrap_or(usize::MAX));
    let mut found = Vec::new();
    for (other, measure) in others.iter().flat_map(|other| order.iter().map(move |measure| (other, *measure)))
    {
        let (a, b) = (baseline.values(measure), other.values(measure));
        let is_judged = measure.is_judged(baseline, other) && !a.is_empty() && !b.is_empty();
        let of_repeats = of_repeats(&a).zip(of_repeats(&b)).filter(|_| is_judged);
        let of_repeats = of_repeats.and_then(|(a, b)| a.compared(b));
        let known = of_repeats.map(|found| found.difference);
        let change = PointChange {
            name: other.name.clone(),
            measure,
            a: Spread::of(a),
            b: Spread::of(b),
            sources: [baseline, other].map(|side| side.source().filter(|_| measure.is_latency())),
            interval: known.map(|known| known.interval),
            percent_interval: known.and_then(|known| known.percent),
            p: known.map(|known| known.p),
            p_adjusted: None,
            outcome: is_judged.then_some(Outcome::Unknown),
            power: None,
        };
        found.push((change, of_repeats));
    }
    found.retain(|(change, _)| change.a.is_some() || change.b.is_some());
    let deciding = found.iter().filter(|(change, _)| decides(change.measure));
    let likelihoods: Vec<f64> = deciding.filter_map(|(change, _)| change.p).collect();
    let mut family = difference::adjusted(&likelihoods).into_iter();
    let first = MISSED / likelihoods.len().max(1) as f64;
    for (change, of_repeats) in &mut found {
        let Some(of_repeats) = of_repeats else { continue };
        let member = if decides(change.measure) { family.next() } else { None };
        change.p_adjusted = member.map(|member| member.adjusted);
        change.power = member.and_then(|member| of_repeats.power(member.level, first));
        let direction = Direction::of(change.measure.growth(), is_more(change.interval));
        change.outcome = Some(match change.p_adjusted {
            None => Outcome::Exploratory,
            Some(p) if p < MISSED => Outcome::Shown(direction),
            Some(_) => Outcome::NotShown,
        });
    }
    found.into_iter().map(|(change, _)| change).collect()
}

/// True if the middle of an interval is above 0.
fn is_more(interval: Option<(f64, f64)>) -> bool {
    interval.is_some_and(|(low, high)| low + high > 0.0)
}

/// The repeats of a side, if there are enough of them.
fn of_repeats(values: &[f64]) -> Option<Repeats> {
    Repeats::of(values, 0.0).filter(|_| values.len() >= ENOUGH)
}

/// Makes the table of compared points: medians of the repeats with the least and the greatest.
pub fn point_change_table(changes: &[PointChange]) -> Table {
    let a = |of: fn(Spread) -> f64| move |row: &PointChange| row.a.map(of);
    let b = |of: fn(Spread) -> f64| move |row: &PointChange| row.b.map(of);
    let [a_is, b_is] = [0, 1].map(|at| {
        move |row: &PointChange| {
            row.sources.get(at).copied().flatten().map(LatencySource::name).map(str::to_owned)
        }
    });
    Table::of(changes)
        .schema("perfpipe-compare-points/1")
        .column("point", |row| Some(row.name.clone()))
        .column("measure", |row| Some(row.measure.name().to_owned()))
        .major()
        .column("unit", |row| Some(unit(row.measure).to_owned()).filter(|unit| !unit.is_empty()))
        .column("a", a(|spread| spread.median))
        .unit("", 2)
        .major()
        .column("a_least", a(|spread| spread.least))
        .title("least")
        .unit("", 2)
        .minor()
        .column("a_greatest", a(|spread| spread.greatest))
        .title("greatest")
        .unit("", 2)
        .minor()
        .column("b", b(|spread| spread.median))
        .unit("", 2)
        .major()
        .column("b_least", b(|spread| spread.least))
        .title("least")
        .unit("", 2)
        .minor()
        .column("b_greatest", b(|spread| spread.greatest))
        .title("greatest")
        .unit("", 2)
        .minor()
        .column("change_percent", PointChange::percent)
        .title("change")
        .unit("%", 1)
        .major()
        .column("change_percent_low", |row| row.percent_interval.map(|(low, _)| low))
        .title("99 % from")
        .unit("%", 1)
        .people_see(changes.iter().any(|row| row.percent_interval.is_some()))
        .column("change_percent_high", |row| row.percent_interval.map(|(_, high)| high))
        .title("to")
        .unit("%", 1)
        .people_see(changes.iter().any(|row| row.percent_interval.is_some()))
        .column("difference_low", |row| row.interval.map(|(low, _)| low))
        .people_see(false)
        .column("difference_high", |row| row.interval.map(|(_, high)| high))
        .people_see(false)
        .column("outcome", |row| row.outcome.map(|outcome| outcome.name().to_owned()))
        .title("b is")
        .tones(TONES)
        .major()
        .column("p", |row| row.p)
        .people_see(false)
        .column("p_adjusted", |row| row.p_adjusted)
        .title("p of all")
        .people_see(false)
        .column("a_latency_source", a_is)
        .title("a's latency is")
        .minor()
        .column("b_latency_source", b_is)
        .title("b's latency is")
        .minor()
        .done()
}

fn unit(measure: PointMeasure) -> &'static str {
    match measure {
        PointMeasure::Throughput | PointMeasure::Answers => "1/s",
        PointMeasure::Failures => "",
        PointMeasure::FailuresPercent => "%",
        _ => "ms",
    }
}

#[cfg(test)]
mod tests {
    use perfpipe_model::points::{Bounds, Latencies, PointKey};

    use super::*;

    fn side(name: &str, successes: &[u64]) -> PointSide {
        let point = |(repeat, successes): (u32, &u64)| {
            let mut figures = Figures::default();
            (figures.duration, figures.successes) = (Some(1.0), Some(*successes));
            figures.failures = Some(Bounds::between(0, u64::from(repeat)));
            figures.latencies = Latencies::exact(Some(*successes as f64), None, vec![(50.0, 7.0)]);
            Point::new(PointKey::new("wrk", name, "t").with_repeat(repeat), figures)
        };
        PointSide::new(name, (1..).zip(successes).map(point).collect())
    }

    fn found(changes: &[PointChange], measure: PointMeasure) -> &PointChange {
        changes.iter().find(|change| change.measure == measure).unwrap()
    }

    #[test]
    fn medians_are_compared_and_three_repeats_give_an_interval_of_the_means() {
        let (a, b) = (side("a", &[100, 110, 90]), side("b", &[200, 220, 240]));
        let changes = compare_points(&a, &[b], &[]);
        let throughput = found(&changes, PointMeasure::Throughput);
        assert_eq!((throughput.a.unwrap().least, throughput.b.unwrap().greatest), (90.0, 240.0));
        assert_eq!(
            (throughput.percent(), throughput.outcome),
            (Some(120.0), Some(Outcome::Shown(Direction::Better)))
        );
        // Of 100 ± 5.77 and 220 ± 11.55: an error of 12.91, Student's distance at 4 degrees of freedom 4.604.
        let (low, high) = throughput.interval.unwrap();
        assert!((low + high - 240.0).abs() < 1e-6 && (high - 120.0 - 59.4).abs() < 0.1, "{low} {high}");
        let (low, high) = throughput.percent_interval.unwrap();
        assert!(low > 40.0 && low < 120.0 && high > 120.0, "{low} {high}");
        assert!(found(&changes, PointMeasure::Mean).outcome.is_some());
        let failures = found(&changes, PointMeasure::Failures);
        assert_eq!((failures.interval, failures.outcome, failures.a.unwrap().greatest), (None, None, 3.0));
    }

    #[test]
    fn what_differs_far_beyond_its_scatter_is_a_change() {
        let (a, b) = (side("a", &[1000, 1001, 1002, 999]), side("b", &[2000, 2001, 2002, 1999]));
        let changes = compare_points(&a, &[b], &[]);
        assert_eq!(
            found(&changes, PointMeasure::Throughput).outcome,
            Some(Outcome::Shown(Direction::Better))
        );
        assert_eq!(found(&changes, PointMeasure::Mean).outcome, Some(Outcome::Shown(Direction::Worse)));
    }

    #[test]
    fn two_repeats_and_aborted_ones_decide_nothing() {
        let mut b = side("b", &[2000, 2001, 2002]);
        b.points[1].figures.aborted = Some("gave up".into());
        let changes = compare_points(&side("a", &[1000, 1001, 1002]), &[b], &[]);
        let throughput = found(&changes, PointMeasure::Throughput);
        assert_eq!((throughput.interval, throughput.outcome), (None, Some(Outcome::Unknown)));
        assert_eq!(throughput.b.unwrap().median, 2001.0);
    }
}
