//! The league of a sweep's points at one concurrency.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use perfpipe_model::points::Point;

use super::ranks::ranks;
use crate::sweep::points::{Level, Spread, SweepBy, levels};
use crate::table::{Interval, Table};

/// A framework in the league at one concurrency.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LevelStanding {
    /// The ranks that it may have among those with the same tool and number of workers, from 1; `None` if it is not
    /// ranked.
    pub rank: Option<Interval>,
    /// The figures of its repeats.
    pub level: Level,
}

/// Ranks frameworks by the median of their successes per second at a concurrency, those of each tool and each number of
/// workers among themselves: tools measure the same server differently.
///
/// Frameworks of which a repeat had more than 1 % failures, or that have no throughput, are not ranked, and come last.
/// In at least 95 % of leagues, all true ranks are within their intervals; without repeats, each may have any rank.
///
/// ```
/// use perfpipe_analyze::points::level_league;
/// use perfpipe_ingest::points::{Figures, Point, PointKey};
///
/// let point = |framework: &str, successes| {
///     let mut figures = Figures::default();
///     (figures.duration, figures.successes) = (Some(2.0), Some(successes));
///     Point::new(PointKey::new("wrk", framework, "/hello").with_concurrency(32), figures)
/// };
/// let league = level_league(&[point("go", 3000), point("nio", 4000)], 32);
/// assert_eq!(league[0].level.framework, "nio");
/// assert_eq!(league[0].rank.map(|rank| rank.to_string()).as_deref(), Some("1–2"));
/// ```
pub fn level_league(points: &[Point], concurrency: u32) -> Vec<LevelStanding> {
    let there: Vec<Point> =
        points.iter().filter(|point| point.key.concurrency == Some(concurrency)).cloned().collect();
    let mut groups: BTreeMap<(String, Option<u32>), Vec<Level>> = BTreeMap::new();
    for level in levels(&there, SweepBy::Concurrency) {
        groups.entry((level.tool.clone(), level.other)).or_default().push(level);
    }
    groups.into_values().flat_map(|group| ranked(group, &there)).collect()
}

/// Ranks what one tool measured.
fn ranked(mut group: Vec<Level>, points: &[Point]) -> Vec<LevelStanding> {
    group.sort_by(best_first);
    let good: Vec<&Level> = group.iter().filter(|level| median_if_ranked(level).is_some()).collect();
    let repeats = |level: &&Level| {
        let is_of = |point: &&Point| {
            (&point.key.framework, &point.key.tool, point.key.workers)
                == (&level.framework, &level.tool, level.other)
                && point.figures.aborted.is_none()
        };
        points.iter().filter(is_of).filter_map(|point| point.figures.throughput()).collect()
    };
    let mut ranks = ranks(&good.iter().map(repeats).collect::<Vec<Vec<f64>>>()).into_iter();
    // Those that are ranked come first.
    group.iter().map(|level| LevelStanding { rank: ranks.next(), level: level.clone() }).collect()
}

/// The median throughput of a framework that is ranked.
fn median_if_ranked(level: &Level) -> Option<f64> {
    level.throughput.map(|spread| spread.median).filter(|_| !level.is_failing())
}

fn best_first(one: &Level, other: &Level) -> Ordering {
    let place = |level: &Level| (median_if_ranked(level), level.throughput.map(|spread| spread.median));
    let (one_at, other_at) = (place(one), place(other));
    other_at.partial_cmp(&one_at).unwrap_or(Ordering::Equal).then_with(|| one.framework.cmp(&other.framework))
}

/// Makes the table of a league at one concurrency.
pub fn level_league_table(league: &[LevelStanding]) -> Table {
    let throughput = |of: fn(Spread) -> f64| move |row: &LevelStanding| row.level.throughput.map(of);
    let [p50, p90, p99] =
        [0, 1, 2].map(|at| move |row: &LevelStanding| row.level.percentiles_ms.get(at).copied().flatten());
    Table::of(league)
        .schema("perfpipe-level-league/1")
        .column("rank_low", |row| row.rank)
        .title("rank")
        .column("rank_high", |row| Some(row.rank?.high))
        .people_see(false)
        .column("framework", |row| Some(row.level.framework.clone()))
        .column("tool", |row| Some(row.level.tool.clone()))
        .column("workers", |row| row.level.other.map(u64::from))
        .people_see(league.iter().any(|row| row.level.other.is_some()))
        .column("concurrency", |row| row.level.level.map(u64::from))
        .column("repeats", |row| Some(row.level.repeats))
        .column("throughput", throughput(|spread| spread.median))
        .unit("1/s", 1)
        .column("throughput_least", throughput(|spread| spread.least))
        .title("least")
        .unit("1/s", 1)
        .column("throughput_greatest", throughput(|spread| spread.greatest))
        .title("greatest")
        .unit("1/s", 1)
        .column("failures_percent_max", |row| row.level.failures_percent)
        .title("failures, max")
        .unit("%", 1)
        .column("p50_ms", p50)
        .title("p50")
        .unit("ms", 2)
        .column("p90_ms", p90)
        .title("p90")
        .unit("ms", 2)
        .column("p99_ms", p99)
        .title("p99")
        .unit("ms", 2)
        .column("latency_source", |row| row.level.latency_source.map(str::to_owned))
        .title("latency is")
        .column("little_ms", |row| row.level.little_ms)
        .title("c/X")
        .unit("ms", 2)
        .column("aborted", |row| Some(row.level.aborted))
        .people_see(league.iter().any(|row| row.level.aborted > 0))
        .done()
}

#[cfg(test)]
mod tests {
    use perfpipe_model::points::{Bounds, Figures, PointKey};

    use super::*;

    fn point(framework: &str, tool: &str, repeat: u32, successes: u64, failures: u64) -> Point {
        let mut figures = Figures::default();
        (figures.duration, figures.successes) = (Some(1.0), Some(successes));
        figures.failures = Some(Bounds::exactly(failures));
        Point::new(PointKey::new(tool, framework, "t").with_concurrency(32).with_repeat(repeat), figures)
    }

    /// The frameworks with their ranks, in the order of the rows.
    fn rows(points: &[Point]) -> Vec<String> {
        let rank = |row: &LevelStanding| row.rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string());
        level_league(points, 32).iter().map(|row| format!("{} {}", rank(row), row.level.framework)).collect()
    }

    #[test]
    fn fastest_comes_first_and_those_that_fail_are_out() {
        let points = [
            point("slow", "wrk", 1, 100, 0),
            point("fast", "wrk", 1, 900, 9),
            point("shedding", "wrk", 1, 5000, 60),
            point("elsewhere", "ab", 1, 10, 0),
        ];
        assert_eq!(rows(&points), ["1 elsewhere", "1–2 fast", "1–2 slow", "- shedding"]);
        assert_eq!(level_league(&points, 33), []);
    }

    #[test]
    fn ranks_are_known_where_repeats_are_far_from_each_other() {
        let of = |framework: &str, values: [u64; 3]| -> Vec<Point> {
            (1..).zip(values).map(|(repeat, value)| point(framework, "wrk", repeat, value, 0)).collect()
        };
        let near = [of("a", [1000, 1040, 960]), of("b", [1010, 950, 1050])].concat();
        assert_eq!(rows(&near), ["1–2 b", "1–2 a"]);
        let far = [of("a", [1000, 1010, 990]), of("b", [2010, 1990, 2000])].concat();
        assert_eq!(rows(&far), ["1 b", "2 a"]);
    }
}
