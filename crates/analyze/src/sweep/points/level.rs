//! The levels of sweeps: what the repeats of each gave, and how their requests ended.

use std::collections::BTreeMap;

use perfpipe_model::points::{Figures, Point, PointKey, Readings};

use super::scalability::Scalability;
use crate::sweep::knee;
use crate::sweep::knee::REACHED;
use crate::timeline::summary::FAILING;

/// The least load at the knee, as a share of N*: few levels are measured, and none is exactly there.
const NEAR: f64 = 0.9;
/// What a sweep goes by; the other one is the same for all of its levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SweepBy {
    /// Connections or users of the tool.
    Concurrency,
    /// Workers of the system under test.
    Workers,
}

impl SweepBy {
    fn level(self, key: &PointKey) -> Option<u32> {
        match self {
            Self::Concurrency => key.concurrency,
            Self::Workers => key.workers,
        }
    }

    fn other(self, key: &PointKey) -> Option<u32> {
        match self {
            Self::Concurrency => key.workers,
            Self::Workers => key.concurrency,
        }
    }
}

/// Values of repeats. Of an even number, the median is the mean of the middle two.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The least.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
}

impl Spread {
    /// Summarises values; `None` if there are none.
    ///
    /// ```
    /// use perfpipe_analyze::points::Spread;
    ///
    /// assert_eq!(Spread::of(vec![3.0, 1.0, 2.0, 8.0]).map(|spread| spread.median), Some(2.5));
    /// assert_eq!(Spread::of(vec![]), None);
    /// ```
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (least, greatest) = (*values.first()?, *values.last()?);
        let upper = *values.get(values.len() / 2)?;
        let lower = *values.get((values.len() - 1) / 2)?;
        Some(Self { median: f64::midpoint(lower, upper), least, greatest })
    }
}

/// A level of a sweep: the repeats of one framework by one tool.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Level {
    /// The system under test.
    pub framework: String,
    /// The load tool.
    pub tool: String,
    /// Concurrency or workers, whichever the sweep goes by; absent if the points do not report it.
    pub level: Option<u32>,
    /// The other one.
    pub other: Option<u32>,
    /// Repeats with figures.
    pub repeats: u64,
    /// Repeats that were aborted.
    pub aborted: u64,
    /// Successes per second.
    pub throughput: Option<Spread>,
    /// Answers per second as printed, failed ones included: the median.
    pub answers_per_second: Option<f64>,
    /// The greatest number of failures of a repeat, by the upper bound.
    pub failures: Option<u64>,
    /// The greatest share of failures of a repeat, in percent.
    pub failures_percent: Option<f64>,
    /// The greatest number of time-outs of a repeat.
    pub timeouts: Option<u64>,
    /// How the requests of all repeats ended.
    pub outcomes: Option<Outcomes>,
    /// The median of the means, in ms.
    pub mean_ms: Option<f64>,
    /// The medians of percentiles, in ms: the 50th, 90th and 99th.
    pub percentiles_ms: [Option<f64>; 3],
    /// Where the latencies come from: `exact`, `printed`, or `both`.
    pub latency_source: Option<&'static str>,
    /// The median of c/X, in ms, which no mean of a closed loop exceeds.
    pub little_ms: Option<f64>,
    /// Repeats whose printed mean is above c/X by more than rounding can do.
    pub impossible_means: u64,
    /// Repeats whose latencies include those of failed requests.
    pub latencies_of_failures: u64,
    /// Bytes received per second: the median.
    pub bytes_per_second: Option<f64>,
    /// What the server read of itself while the tool ran: of each series the median of the repeats' means, and the greatest
    /// reading of all.
    pub readings: Vec<Readings>,
    /// The throughput as a multiple of that at the fewest workers, times these workers. For sweeps by workers.
    pub speed_up: Option<f64>,
    /// The speed-up by worker, in percent.
    pub efficiency_percent: Option<f64>,
    /// True at the first level that is at or above the [knee](crate::Knee) of its sweep, to within a tenth.
    pub is_knee: bool,
    /// True if the sweep has no lower level than its knee, which may then be below it.
    pub knee_or_below: bool,
    /// The Universal Scalability Law, fitted to all repeats of the sweep; absent if they are too few.
    pub scalability: Option<Scalability>,
}

impl Level {
    /// Returns true if more than 1 % of the requests of a repeat failed.
    pub fn is_failing(&self) -> bool {
        self.failures_percent.is_some_and(|percent| percent > FAILING)
    }
}

/// The points of one sweep: framework, tool and what is the same for all of its levels.
type SweepKey = (String, String, Option<u32>);

/// Summarises the points of one test into levels, sorted by framework, tool and level.
pub fn levels(points: &[Point], by: SweepBy) -> Vec<Level> {
    let mut sweeps: BTreeMap<SweepKey, BTreeMap<Option<u32>, Vec<&Point>>> = BTreeMap::new();
    for point in points {
        let key = (point.key.framework.clone(), point.key.tool.clone(), by.other(&point.key));
        sweeps.entry(key).or_default().entry(by.level(&point.key)).or_default().push(point);
    }
    let mut all = Vec::new();
    for (key, sweep) in sweeps {
        let scalability = Scalability::fit(&throughputs(&sweep));
        let mut levels: Vec<Level> =
            sweep.into_iter().map(|(level, points)| one(&key, level, &points)).collect();
        levels.iter_mut().for_each(|level| level.scalability = scalability);
        mark_knee(&mut levels);
        if by == SweepBy::Workers {
            scale(&mut levels);
        }
        all.extend(levels);
    }
    all
}

/// Returns the throughput of each repeat that was not aborted, with its level.
fn throughputs(sweep: &BTreeMap<Option<u32>, Vec<&Point>>) -> Vec<(f64, f64)> {
    let of = |(level, points): (&Option<u32>, &Vec<&Point>)| {
        let figures = points.iter().map(|point| &point.figures);
        let whole = figures.filter(|figures| figures.aborted.is_none()).filter_map(Figures::throughput);
        level.map(|level| whole.map(|throughput| (f64::from(level), throughput)).collect::<Vec<_>>())
    };
    sweep.iter().filter_map(of).flatten().collect()
}

fn one((framework, tool, other): &SweepKey, level: Option<u32>, points: &[&Point]) -> Level {
    let whole: Vec<&Figures> =
        points.iter().map(|point| &point.figures).filter(|figures| figures.aborted.is_none()).collect();
    let values = |value: &dyn Fn(&Figures) -> Option<f64>| {
        Spread::of(whole.iter().filter_map(|figures| value(figures)).collect())
    };
    let median = |value: &dyn Fn(&Figures) -> Option<f64>| values(value).map(|spread| spread.median);
    let sources: Vec<&str> =
        whole.iter().filter_map(|figures| figures.latencies.source).map(|source| source.name()).collect();
    let source = sources
        .first()
        .map(|first| if sources.iter().all(|source| source == first) { *first } else { "both" });
    Level {
        framework: framework.clone(),
        tool: tool.clone(),
        level,
        other: *other,
        repeats: whole.len() as u64,
        aborted: (points.len() - whole.len()) as u64,
        throughput: values(&Figures::throughput),
        answers_per_second: median(&|figures| figures.answers_per_second),
        failures: whole.iter().filter_map(|figures| figures.failures).map(|failures| failures.greatest).max(),
        failures_percent: values(&Figures::failures_percent).map(|spread| spread.greatest),
        timeouts: whole.iter().filter_map(|figures| figures.timeouts).max(),
        outcomes: Outcomes::of(&whole),
        mean_ms: median(&|figures| figures.latencies.mean_ms),
        percentiles_ms: [50.0, 90.0, 99.0]
            .map(|percent| median(&|figures| figures.latencies.percentile(percent))),
        latency_source: source,
        little_ms: median(&Figures::little_ms),
        impossible_means: whole.iter().filter(|figures| is_impossible(figures)).count() as u64,
        latencies_of_failures: whole.iter().filter(|figures| has_failures(figures)).count() as u64,
        bytes_per_second: median(&|figures| figures.bytes_per_second),
        readings: readings(&whole),
        speed_up: None,
        efficiency_percent: None,
        is_knee: false,
        knee_or_below: false,
        scalability: None,
    }
}

/// Summarises the readings of repeats, by series.
fn readings(repeats: &[&Figures]) -> Vec<Readings> {
    let mut series: BTreeMap<(&str, &str), (Vec<f64>, f64)> = BTreeMap::new();
    for of in repeats.iter().flat_map(|figures| &figures.readings) {
        let (means, greatest) = series.entry((&of.name, &of.unit)).or_insert((Vec::new(), of.greatest));
        means.push(of.mean);
        *greatest = greatest.max(of.greatest);
    }
    let one = |((name, unit), (means, greatest)): ((&str, &str), (Vec<f64>, f64))| {
        let mut all = Readings::of(name, unit, &[greatest])?;
        all.mean = Spread::of(means)?.median;
        Some(all)
    };
    series.into_iter().filter_map(one).collect()
}

/// True if a note of the ingest, which knows how the tool rounds, says that the printed mean is above c/X.
fn is_impossible(figures: &Figures) -> bool {
    figures.notes.iter().any(|note| note.contains("is above c/X"))
}

/// True if a note says that the latencies are also of failed requests.
fn has_failures(figures: &Figures) -> bool {
    figures.notes.iter().any(|note| note.starts_with("the latencies include those of"))
}

/// Marks the level at the knee of the sweep, by the rule of [`crate::Sweep`].
fn mark_knee(levels: &mut [Level]) {
    let point = |(step, level): (usize, &Level)| {
        let spread = level.throughput?;
        // Half of the range estimates the deviation of a few repeats.
        let error = (spread.greatest - spread.least) / 2.0 / (level.repeats.max(1) as f64).sqrt();
        Some(knee::Point { load: f64::from(level.level?), throughput: spread.median, error, step })
    };
    let points: Vec<knee::Point> = levels.iter().enumerate().filter_map(point).collect();
    let Some(found) = knee::find(&points) else { return };
    let near = |level: &&mut Level| {
        let reaches = level.throughput.is_some_and(|spread| spread.median >= REACHED * found.throughput);
        reaches && level.level.is_some_and(|load| f64::from(load) >= NEAR * found.load)
    };
    if let Some(level) = levels.iter_mut().find(near) {
        level.is_knee = true;
        level.knee_or_below = found.begins_beyond;
    }
}

/// Computes speed-up and efficiency, from the level of the fewest workers.
fn scale(levels: &mut [Level]) {
    let first = levels.iter().find_map(|level| Some((level.level?, level.throughput?.median)));
    let Some((fewest, least)) = first.filter(|(_, least)| *least > 0.0) else { return };
    for level in levels {
        let (Some(workers), Some(throughput)) =
            (level.level.filter(|workers| *workers > 0), level.throughput)
        else {
            continue;
        };
        let speed_up = throughput.median / least * f64::from(fewest);
        level.speed_up = Some(speed_up);
        level.efficiency_percent = Some(speed_up / f64::from(workers) * 100.0);
    }
}

/// How the requests of a level ended, over all of its repeats that report it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcomes {
    /// Requests that succeeded.
    pub successes: u64,
    /// Requests that failed, time-outs included; the greatest number that the outputs allow.
    pub failures: u64,
    /// Time-outs among the failures.
    pub timeouts: u64,
}

impl Outcomes {
    /// Adds the outcomes of repeats; `None` if no repeat reports both successes and failures.
    pub(super) fn of(repeats: &[&Figures]) -> Option<Self> {
        let of_one = |figures: &&Figures| {
            let failures = figures.failures?.greatest;
            let timeouts = figures.timeouts.unwrap_or(0).min(failures);
            Some(Self { successes: figures.successes?, failures, timeouts })
        };
        repeats.iter().filter_map(of_one).reduce(|all, one| Self {
            successes: all.successes.saturating_add(one.successes),
            failures: all.failures.saturating_add(one.failures),
            timeouts: all.timeouts.saturating_add(one.timeouts),
        })
    }

    /// Returns the shares of successes, of failures without time-outs, and of time-outs: 0 to 1, in total 1. `None` if
    /// there were no requests.
    ///
    /// ```
    /// use perfpipe_analyze::points::{SweepBy, levels};
    /// use perfpipe_ingest::points::{Bounds, Figures, Point, PointKey};
    ///
    /// let mut figures = Figures::default();
    /// (figures.successes, figures.failures) = (Some(90), Some(Bounds::exactly(10)));
    /// figures.timeouts = Some(4);
    /// let level = levels(&[Point::new(PointKey::new("wrk", "go", "/"), figures)], SweepBy::Concurrency).remove(0);
    /// assert_eq!(level.outcomes.and_then(|outcomes| outcomes.shares()), Some([0.9, 0.06, 0.04]));
    /// ```
    pub fn shares(&self) -> Option<[f64; 3]> {
        let all = self.successes.saturating_add(self.failures);
        let others = self.failures.saturating_sub(self.timeouts);
        (all > 0).then(|| [self.successes, others, self.timeouts].map(|count| count as f64 / all as f64))
    }
}

#[cfg(test)]
mod tests {
    use perfpipe_ingest::points::{PointNames, named_points, sections};

    use super::*;
    use crate::sweep::points::level_table;
    use crate::table::Terminal;

    /// The points of fixtures.
    fn points(files: &[String], names: &PointNames) -> Vec<Point> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/other/");
        let read = |name: &String| {
            let text = std::fs::read(format!("{folder}{name}")).unwrap();
            (name.rsplit('/').next().unwrap().to_owned(), sections(&text).sections)
        };
        named_points(&files.iter().map(read).collect::<Vec<_>>(), names).unwrap()
    }

    fn near(value: Option<f64>, printed: f64, digits: i32) -> bool {
        value.is_some_and(|value| (value - printed).abs() <= 0.5001 * 10f64.powi(-digits))
    }

    #[test]
    fn sweep_of_ab_tells_successes_from_answers() {
        let levels_of = [1, 2, 4, 8, 16, 32, 64, 128];
        let files: Vec<String> = levels_of.iter().map(|c| format!("ab/jempower/{c}.8101")).collect();
        let sweep = levels(&points(&files, &PointNames::default()), SweepBy::Concurrency);
        assert_eq!(sweep.iter().map(|level| level.level.unwrap()).collect::<Vec<_>>(), levels_of);
        let printed = [230.94, 413.65, 828.56, 908.72, 953.67, 992.10, 16567.06, 10242.02];
        let successes = [230.9, 413.7, 828.6, 908.8, 953.7, 992.1, 809.1, 770.3];
        for (level, (printed, successes)) in sweep.iter().zip(printed.into_iter().zip(successes)) {
            assert_eq!(level.answers_per_second, Some(printed));
            assert!(
                near(level.throughput.map(|spread| spread.median), successes, 1),
                "{:?}",
                level.throughput
            );
        }
        assert_eq!(
            sweep.iter().map(|level| level.failures.unwrap()).collect::<Vec<_>>()[5..],
            [0, 3805, 3829]
        );
        // Of 4,000 each, the repeats shed 3,805, 3,769 and 3,772.
        let shed = Outcomes { successes: 654, failures: 11_346, timeouts: 0 };
        assert_eq!(sweep[6].outcomes, Some(shed));
        assert!(sweep.iter().all(|level| level.impossible_means == 0), "ab rounds to whole ms");
    }

    #[test]
    fn knees_are_where_the_servers_are_full() {
        for (framework, knee) in [("alpha", 8), ("beta", 4)] {
            let files: Vec<String> = [1, 2, 4, 8, 16, 32, 64, 128]
                .iter()
                .flat_map(|c| (1..=3).map(move |repeat| format!("wrk/sweep/{framework}_c{c}_r{repeat}.txt")))
                .collect();
            let sweep = levels(&points(&files, &PointNames::default()), SweepBy::Concurrency);
            let found: Vec<u32> =
                sweep.iter().filter(|level| level.is_knee).filter_map(|level| level.level).collect();
            assert_eq!(found, [knee], "{framework}");
            assert!(sweep.iter().all(|level| level.repeats == 3 && level.latency_source == Some("printed")));
        }
    }

    #[test]
    fn knee_at_the_least_level_may_be_below_it() {
        let of = |least: u32| {
            let files: Vec<String> = [4, 8, 16, 32, 64, 128]
                .iter()
                .filter(|c| **c >= least)
                .map(|c| format!("wrk/sweep/alpha_c{c}_r1.txt"))
                .collect();
            let sweep = levels(&points(&files, &PointNames::default()), SweepBy::Concurrency);
            let knee = sweep.iter().find(|level| level.is_knee).unwrap();
            (
                knee.level.unwrap(),
                knee.knee_or_below,
                level_table(&sweep, SweepBy::Concurrency).shown(Terminal::default()),
            )
        };
        let (knee, or_below, table) = of(4);
        assert!((knee, or_below) == (8, false) && !table.contains("or below"), "{knee} {table}");
        let (knee, or_below, table) = of(16);
        assert!((knee, or_below) == (16, true) && table.contains("or below"), "{knee} {table}");
    }

    #[test]
    fn linear_sweeps_have_no_knee_and_bounded_ones_have_it_where_the_bounds_meet() {
        let mut chance = fastrand::Rng::with_seed(1);
        let mut knees = |loads: &[u32], throughput: &dyn Fn(f64) -> f64, scatter: f64| {
            let mut level = |load: &u32| {
                let mut repeat = || throughput(f64::from(*load)) * (1.0 + scatter * (chance.f64() - 0.5));
                let spread = Spread::of((0..3).map(|_| repeat()).collect());
                let key = ("f".to_owned(), "wrk".to_owned(), None);
                Level { throughput: spread, repeats: 3, ..one(&key, Some(*load), &[]) }
            };
            let mut levels: Vec<Level> = loads.iter().map(&mut level).collect();
            mark_knee(&mut levels);
            levels.iter().filter(|level| level.is_knee).filter_map(|level| level.level).collect::<Vec<_>>()
        };
        let tens: Vec<u32> = (1..=10).map(|ten| ten * 10).collect();
        let ones: Vec<u32> = (1..=32).collect();
        for loads in [&tens[..], &ones[..16], &ones, &[50, 55, 60]] {
            for _ in 0..200 {
                assert_eq!(knees(loads, &|load| 100.0 * load, 0.1), [0; 0], "{loads:?}");
            }
        }
        let twos = [1, 2, 4, 8, 16, 32, 64, 128];
        for _ in 0..200 {
            assert_eq!(knees(&twos, &|load| (50.0 * load).min(1000.0), 0.05), [32]);
            assert_eq!(knees(&ones, &|load| (50.0 * load).min(1000.0), 0.0), [18]);
        }
    }

    #[test]
    fn workers_give_speed_up_and_efficiency() {
        let files: Vec<String> = [1, 2, 4]
            .iter()
            .flat_map(|workers| {
                (1..=3).map(move |repeat| format!("wrk/workers/result_w{workers}_{repeat}.log"))
            })
            .collect();
        let names = PointNames {
            framework: Some("tiny".into()),
            pattern: Some("result_w{workers}_{repeat}.log")
                .and_then(|text| perfpipe_ingest::points::NamePattern::new(text).ok()),
            ..PointNames::default()
        };
        let all = points(&files, &names);
        let json: Vec<Point> = all.into_iter().filter(|point| point.key.test == "/json").collect();
        let sweep = levels(&json, SweepBy::Workers);
        let wrk: Vec<&Level> = sweep.iter().filter(|level| level.tool == "wrk").collect();
        assert_eq!((sweep.len(), wrk.len()), (6, 3), "the tools are never mixed");
        assert!(near(wrk[1].speed_up, 2.055, 3) && near(wrk[2].speed_up, 4.173, 3));
        assert!(near(wrk[2].efficiency_percent, 104.3, 1), "{:?}", wrk[2].efficiency_percent);
    }

    #[test]
    fn aborted_points_are_counted_apart() {
        let files = ["ab/drop-abort.txt", "ab/http500.txt"].map(str::to_owned);
        let names = PointNames {
            framework: Some("f".into()),
            test: Some("t".into()),
            concurrency: Some(16),
            ..PointNames::default()
        };
        let sweep = levels(&points(&files, &names), SweepBy::Concurrency);
        let aborted: u64 = sweep.iter().map(|level| level.aborted).sum();
        assert_eq!((aborted, sweep.iter().map(|level| level.repeats).sum::<u64>()), (1, 1));
    }
}
