//! The requests expected in each second, and those that wait much longer than usual around them: the effect of a server
//! pause on the requests it holds up.

use std::collections::VecDeque;

use perfpipe_model::counts::Cell;
use perfpipe_model::run::Resolution;

use super::facts::Facts;
use super::noise::{dispersion, variance_ratio};
use super::seconds::{RuleSecond, requests, span};
use crate::error::Result;
use crate::stats::histogram::Histogram;
use crate::stats::maybe::MaybeF64;
use crate::stats::percentile::upper_median;
use crate::timeline::selection::Selection;

/// A wait is long if it is at least `.0` times the median around it, and at least `.1` ms.
const LONG: (f64, f64) = (8.0, 100.0);
/// The longest wait in a stall is at least this long, in ms, unless stalls are periodic.
pub(super) const LONGEST: f64 = 1000.0;
/// Many wait if they are at least this share of a second's successes, or this share of its threads.
const MANY: (f64, f64) = (0.3, 0.8);

/// The successes of a second that wait long. There may be a million seconds.
#[derive(Debug)]
pub(super) struct Waits {
    /// The longest of the long waits, in ms; 0 if there is none.
    pub(super) longest: f64,
    /// The longest request of the second and of the one before, in ms.
    pub(super) slowest: f64,
    /// The median of the second, as a multiple of the usual one of the run; 0 without a success.
    pub(super) times: f64,
    /// The number of threads, if it is known and does not follow the requests.
    pub(super) threads: MaybeF64,
    /// The mean number of requests in flight, of all labels, and the load, which is NaN where it is not known. There is one of
    /// each for a million seconds, and neither needs more digits.
    pub(super) in_flight: f32,
    pub(super) load: f32,
    /// Present if so many wait that all threads may have been held up for a part of the second.
    pub(super) many: Option<Box<ManyWaits>>,
}

/// The successes of a second of which many wait long.
#[derive(Debug, Default)]
pub(super) struct ManyWaits {
    pub(super) waiting: f64,
    pub(super) successes: f64,
    /// The share of requests that wait long by chance.
    pub(super) likely: f64,
    /// The sum over the waits of −ln of the share that wait as long, relative to the shortest long wait.
    pub(super) excess: f64,
    /// The longest wait, in ms.
    longest: f64,
    /// A wait is long from this time on, in ms.
    long: f64,
    /// The usual median around the second, in ms.
    usual: f64,
    /// The waits in ms, each with its count.
    waits: Vec<(f64, f64)>,
}

/// Returns the waits of each second of the body, and the distribution of times over the seconds in which few wait.
pub(super) fn of_seconds(facts: &Facts<'_>) -> Result<(Vec<Waits>, UsualTimes)> {
    let rows = facts.body();
    let unit = facts.run.info.resolution;
    let (mut others, mut every) = (Histogram::in_unit(unit), Histogram::in_unit(unit));
    let Some(whole) = span(rows) else {
        return Ok((Vec::new(), UsualTimes::new(&others, &every, facts.scatter())));
    };
    let medians: Vec<f64> = rows.iter().map(|row| row.median).collect();
    let usual = beside(&medians);
    let median = upper_median(&medians).unwrap_or(0.0);
    let selection = Selection::new(facts.run, &facts.view)?;
    let (mut seconds, mut before) = (Vec::with_capacity(rows.len()), 0.0_f64);
    let mut in_flight = InFlight::default();
    for ((second, row), usual) in selection.seconds_of(whole).zip(rows).zip(usual) {
        let (_, cells) = second?;
        let mut waits = ManyWaits { usual, long: (LONG.0 * usual).max(LONG.1), ..ManyWaits::default() };
        waits.successes = row.successes as f64;
        selection.averaged(&cells).for_each(|cell| waits.add(&cell.elapsed, unit));
        let threads = row.load().filter(|load| *load > 0.0);
        let all = threads.map_or(f64::INFINITY, |threads| MANY.1 * threads);
        let is_many = waits.waiting > 0.0 && waits.waiting >= all.min(MANY.0 * waits.successes);
        if !is_many {
            selection.averaged(&cells).for_each(|cell| others.add_counts(&cell.elapsed));
            // A request that fails after a time-out holds its thread as well.
            let counted = cells.iter().filter(|(key, _)| selection.is_counted(key));
            counted.for_each(|(_, cell)| every.add_counts(&cell.elapsed));
        }
        let requests = cells.iter().filter(|(key, _)| !key.transaction).map(|(_, cell)| cell);
        let in_flight = in_flight.next(requests, unit, rows.len() - seconds.len()) as f32;
        let load = threads.map_or(f32::NAN, |threads| threads as f32);
        let (longest, threads) = (waits.longest, threads.filter(|_| !facts.load_follows).into());
        let slowest = row.elapsed_max.max(std::mem::replace(&mut before, row.elapsed_max));
        let times = if median > 0.0 { row.median / median } else { 0.0 };
        let many = is_many.then(|| Box::new(waits));
        seconds.push(Waits { longest, slowest, times, threads, in_flight, load, many });
    }
    let chance = UsualTimes::new(&others, &every, facts.scatter());
    seconds
        .iter_mut()
        .filter_map(|waits: &mut Waits| waits.many.as_mut())
        .for_each(|many| many.weigh(&chance));
    Ok((seconds, chance))
}

/// The requests in flight, from second to second. A request is taken to begin in the middle of its second.
#[derive(Default)]
struct InFlight {
    /// Those of the last second, of requests that began before it.
    before: f64,
    /// How many more or fewer they are in each second to come.
    changes: VecDeque<f64>,
}

impl InFlight {
    /// Returns the mean number in the next second, in which these begin. `left` seconds are left with it.
    fn next<'c>(&mut self, requests: impl Iterator<Item = &'c Cell>, unit: Resolution, left: usize) -> f64 {
        self.before += self.changes.pop_front().unwrap_or(0.0);
        let mut own = 0.0;
        for (elapsed, count) in requests.flat_map(|cell| &cell.elapsed) {
            let (seconds, count) = (unit.ms((*elapsed).into()) / 1000.0, *count as f64);
            own += count * seconds.min(0.5);
            let beyond = seconds - 0.5;
            if beyond > 0.0 {
                let (whole, share) = (beyond as usize, beyond.fract());
                self.change(0, count, left);
                self.change(whole, count * (share - 1.0), left);
                self.change(whole + 1, -count * share, left);
            }
        }
        self.before + own
    }

    /// Changes the number from a second to come on, the next one being 0. Those beyond the last are not looked at.
    fn change(&mut self, from: usize, by: f64, left: usize) {
        if from + 1 < left {
            self.changes.resize(self.changes.len().max(from + 1), 0.0);
            if let Some(change) = self.changes.get_mut(from) {
                *change += by;
            }
        }
    }
}

impl ManyWaits {
    fn add(&mut self, elapsed: &[(i32, u64)], unit: Resolution) {
        for (elapsed, count) in elapsed {
            let (elapsed, count) = (unit.ms((*elapsed).into()), *count as f64);
            if elapsed >= self.long {
                self.waiting += count;
                self.longest = self.longest.max(elapsed);
                self.waits.push((elapsed, count));
            }
        }
    }

    fn weigh(&mut self, chance: &UsualTimes) {
        let usual = self.usual.max(chance.least);
        let rare = |elapsed: f64| chance.rare(elapsed, usual);
        let long = rare(self.long);
        self.likely = (-long).exp();
        self.excess = self.waits.iter().map(|(elapsed, count)| count * (rare(*elapsed) - long)).sum();
        self.waits = Vec::new();
    }
}

/// The distribution of times of requests that nothing holds up.
pub(super) struct UsualTimes {
    /// Times of successes in ms in ascending order, each with −ln of the share that take as long or longer.
    seen: Vec<(f64, f64)>,
    /// Times of all requests in ms in ascending order, each with −ln of the share of the total time spent in those that take
    /// as long or longer.
    spent: Vec<(f64, f64)>,
    /// The standard deviation of the logarithm of times.
    scatter: f64,
    /// The median of all times, in ms.
    median: f64,
    /// One unit of the run's times, in ms.
    least: f64,
}

impl UsualTimes {
    fn new(times: &Histogram, all: &Histogram, scatter: f64) -> Self {
        // One more request might have taken longer than all.
        let (number, spent) =
            (times.samples() as f64 + 1.0, all.unit().ms(all.sum() as f64).max(all.unit().ms(1.0)));
        let (mut left, mut time) = (number, spent);
        let rare = |(value, count): (i32, u64)| {
            let seen = (times.ms(value), (number / left).ln());
            left -= count as f64;
            seen
        };
        let held = |(value, count): (i32, u64)| {
            let seen = (all.ms(value), (spent / time.max(all.unit().ms(1.0))).ln());
            time -= all.ms(value) * count as f64;
            seen
        };
        Self {
            seen: times.counts().map(rare).collect(),
            spent: all.counts().map(held).collect(),
            scatter,
            median: times.percentile(50.0).unwrap_or(0.0).max(times.unit().ms(1.0)),
            least: times.unit().ms(1.0),
        }
    }

    /// Returns −ln of the share of requests that take as long: the observed one, or that of a lognormal distribution
    /// around a median, whichever share is greater.
    fn rare(&self, elapsed: f64, median: f64) -> f64 {
        let model = beyond((elapsed / median).ln() / self.scatter);
        from(&self.seen, elapsed).map_or(model, |rare| rare.min(model))
    }

    /// Returns −ln of the share of the total time that is spent in requests which take as long: the observed one or the
    /// model's. For a lognormal distribution, that is the share beyond a point that is one squared deviation lower.
    pub(super) fn held(&self, elapsed: f64) -> f64 {
        let model = beyond((elapsed / self.median).ln() / self.scatter - self.scatter);
        from(&self.spent, elapsed).map_or(model, |held| held.min(model))
    }
}

/// Returns the value of the least time that is as long; `None` if all are shorter.
fn from(times: &[(f64, f64)], elapsed: f64) -> Option<f64> {
    times.get(times.partition_point(|(value, _)| *value < elapsed)).map(|(_, rare)| *rare)
}

/// Returns −ln of the probability that a normal variable is this many deviations above its mean (Birnbaum 1942).
fn beyond(deviations: f64) -> f64 {
    let above = deviations.max(0.0);
    let tail = (above + (above * above + 4.0).sqrt()) / 2.0;
    (above * above / 2.0 + (tail * std::f64::consts::TAU.sqrt()).ln()).max(0.0)
}

/// A second has few requests if they are at most this share of those expected.
const FEW: f64 = 0.5;
/// The number of seconds on either side from which the expected requests are computed.
const AROUND: usize = 30;
/// Below this median of requests per second, the median is too coarse: it is a whole number, and 0 below 0.7 per
/// second.
const RARE: f64 = 4.0;
/// Where requests are rare, the expected requests are computed from seconds with this many requests on either side.
const ENOUGH: f64 = 40.0;

/// A second: its number, its requests, and its expected requests.
#[derive(Clone, Copy)]
pub(super) struct ExpectedSecond {
    pub(super) second: u32,
    pub(super) count: f64,
    pub(super) expected: f64,
}

impl ExpectedSecond {
    pub(super) fn is_few(&self) -> bool {
        self.expected > 0.0 && self.count <= FEW * self.expected
    }
}

/// Returns the seconds with their expected requests, and the dispersion of the requests (1 for Poisson counts).
pub(super) fn expected_seconds(facts: &Facts<'_>) -> (Vec<ExpectedSecond>, f64) {
    let rows = facts.body();
    let known = |row: &RuleSecond| row.load().filter(|load| *load > 0.0 && !facts.load_follows);
    let loads: Vec<f64> = rows.iter().map(|row| known(row).unwrap_or(1.0)).collect();
    let counts: Vec<f64> = rows.iter().map(requests).collect();
    let rare = upper_median(&counts).is_none_or(|usual| usual < RARE);
    let is_known = rows.iter().any(|row| row.load().is_some());
    let rates = match (rare, is_known) {
        (true, _) => means(&counts, &loads),
        (false, true) => medians(&counts, &loads),
        (false, false) => least(&counts),
    };
    let row = |((row, load), rate): ((&RuleSecond, f64), f64)| ExpectedSecond {
        second: row.second,
        count: requests(row),
        expected: rate * load,
    };
    let rows: Vec<ExpectedSecond> = rows.iter().zip(loads).zip(rates).map(row).collect();
    let dispersion = if rare { variance_ratio(&counts).max(1.0) } else { dispersion(&usual(&rows)) };
    (rows, dispersion)
}

fn usual(rows: &[ExpectedSecond]) -> Vec<(f64, f64)> {
    rows.iter().filter(|row| !row.is_few()).map(|row| (row.count, row.expected)).collect()
}

/// Returns the expected requests per thread of each second where requests are rare: the mean around it or the overall
/// mean, whichever is less. A calm stretch of a run that is busier elsewhere is thus not a silent one.
fn means(counts: &[f64], loads: &[f64]) -> Vec<f64> {
    let sums = |values: &[f64]| -> Vec<f64> {
        let add = |sum: &mut f64, value: &f64| {
            *sum += value;
            Some(*sum)
        };
        std::iter::once(0.0).chain(values.iter().scan(0.0, add)).collect()
    };
    let (counted, loaded) = (sums(counts), sums(loads));
    let mean = |from: usize, to: usize| {
        let of = |sums: &[f64]| Some(sums.get(to)? - sums.get(from)?);
        of(&counted)
            .zip(of(&loaded))
            .filter(|(_, load)| *load > 0.0)
            .map_or(0.0, |(count, load)| count / load)
    };
    let length = counts.len();
    let overall = mean(0, length);
    let near = |at: usize| {
        let here = counted.get(at).copied().unwrap_or(0.0);
        let from = counted.partition_point(|sum| *sum < here - ENOUGH);
        let to = counted.partition_point(|sum| *sum < here + ENOUGH);
        mean(from, to.min(length))
    };
    (0..length).map(|at| near(at).min(overall)).collect()
}

/// Returns the expected requests per thread of each second: the median around it. It is computed repeatedly, without
/// the seconds that have few requests by the round before, so that long stalls do not hide themselves.
fn medians(counts: &[f64], loads: &[f64]) -> Vec<f64> {
    let each: Vec<f64> = counts.iter().zip(loads).map(|(count, load)| count / load).collect();
    let mut expected = around(&each, |_| true);
    for _ in 0..2 {
        let usual =
            |at: usize| each.get(at).zip(expected.get(at)).is_some_and(|(own, rate)| own > &(FEW * rate));
        expected = around(&each, usual);
    }
    expected
}

/// Returns the expected requests of each second where the log does not have the number of threads, so that threads may
/// begin or end at any time: the median before it or the median after it, whichever is less.
fn least(counts: &[f64]) -> Vec<f64> {
    let of =
        |from: usize, to: usize| upper_median(counts.get(from..to.min(counts.len())).unwrap_or_default());
    let sides = |at: usize| (of(at.saturating_sub(AROUND), at), of(at + 1, at + 1 + AROUND));
    let less = |(before, after): (Option<f64>, Option<f64>)| before.unwrap_or(0.0).min(after.unwrap_or(0.0));
    (0..counts.len()).map(sides).map(less).collect()
}

/// Returns the median of the usual, non-zero values around each value, or that of the whole series where there are
/// none, as in the middle of a long silence.
fn around(values: &[f64], usual: impl Fn(usize) -> bool) -> Vec<f64> {
    let of = |from: usize, to: usize| {
        let near = (from..to.min(values.len())).filter(|at| usual(*at));
        let near: Vec<f64> = near.filter_map(|at| values.get(at).copied()).collect();
        upper_median(&near).filter(|value| *value > 0.0)
    };
    let overall = of(0, values.len()).unwrap_or_default();
    (0..values.len()).map(|at| of(at.saturating_sub(AROUND), at + AROUND + 1).unwrap_or(overall)).collect()
}

/// Returns the usual level beside each value: that of the values before it or after it, whichever is greater. Where the
/// level changes, each value is like those on one side. The level is the 40th percentile, below the median, since half
/// of the values may be out of the ordinary. Values that are not positive are ignored.
pub(super) fn beside(values: &[f64]) -> Vec<f64> {
    let of = |from: usize, to: usize| {
        let near = values.get(from..to.min(values.len())).unwrap_or_default().iter();
        let mut near: Vec<f64> = near.copied().filter(|value| *value > 0.0).collect();
        near.sort_by(f64::total_cmp);
        near.get(near.len() * 2 / 5).copied().unwrap_or(0.0)
    };
    (0..values.len()).map(|at| of(at.saturating_sub(AROUND), at).max(of(at + 1, at + 1 + AROUND))).collect()
}
