//! The stretches of a run in which its load, or the rate of its requests, is level: the steps of a stepped run.

use std::ops::Range;

use crate::stats::mean;
use crate::stats::percentile::upper_median;
use crate::stats::stretch::Sums;
use crate::timeline::hold::is_level;

/// The least number of seconds of a stretch.
const SHORTEST: usize = 5;
/// The least number of seconds on either side of a step while they are looked for.
const LEAST: usize = 3;
/// A step is one if it explains so many variances of a second, plus the logarithm of the number of seconds times a factor.
/// In noise of one level, the greatest of all steps explains that much once in some hundred runs.
const GAIN: (f64, f64) = (8.0, 4.0);
/// The least noise of a second that is assumed, as a share of the mean.
const LEAST_NOISE: f64 = 0.002;
/// How much the load may drift within a stretch, as a share of it.
const DRIFT: f64 = 0.03;
/// The seconds that are left out after the begin of a stretch and before its end: in them, the load still changes, and
/// requests of the level before are answered.
const EDGES: (usize, usize) = (2, 1);

/// What the seconds of a run are divided into stretches by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stepped {
    /// The load in threads, whose noise is known only from the seconds.
    Load,
    /// Requests by second, whose number comes by chance.
    Requests,
}

impl Stepped {
    /// Returns by how much two stretches differ at least, as a share.
    pub(super) fn least_change(self) -> f64 {
        match self {
            Self::Load => 0.02,
            Self::Requests => 0.05,
        }
    }
}

/// A stretch in which the load is level.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LevelStretch {
    /// The seconds, by their index, transitions included.
    pub(super) seconds: Range<usize>,
    /// The median of the values.
    pub(super) level: f64,
}

impl LevelStretch {
    /// Returns the seconds without the transitions at its ends.
    pub(super) fn settled(&self) -> Range<usize> {
        let (first, end) = (self.seconds.start + EDGES.0, self.seconds.end.saturating_sub(EDGES.1));
        first..end.max(first)
    }
}

/// Finds the level stretches of at least five seconds, in the order of time. Values that are not finite are those of the
/// second before.
///
/// Binary segmentation finds the steps: each stretch is divided where its two parts differ most, as long as that is more
/// than noise. Neighbours that differ by less than [`Stepped::least_change`] are one stretch again, and those that climb
/// or fall are left out.
pub(super) fn level_stretches(values: &[f64], of: Stepped) -> Vec<LevelStretch> {
    let mut values: Vec<f64> = values.to_vec();
    let mut last = 0.0;
    for value in &mut values {
        last = if value.is_finite() { *value } else { last };
        *value = last;
    }
    // The root of a count scatters as much at any rate.
    let series: Vec<f64> = match of {
        Stepped::Load => values.clone(),
        Stepped::Requests => values.iter().map(|count| count.max(0.0).sqrt()).collect(),
    };
    let stretch = |seconds: Range<usize>| {
        let level = upper_median(values.get(seconds.clone())?)?;
        Some(LevelStretch { seconds, level })
    };
    let mut stretches: Vec<LevelStretch> = Vec::new();
    for next in segments(&series).into_iter().filter_map(stretch) {
        let is_same = |last: &LevelStretch| {
            (last.level - next.level).abs() <= of.least_change() * last.level.max(next.level)
        };
        match stretches.last_mut().filter(|last| is_same(last)) {
            Some(last) => {
                if let Some(joined) = stretch(last.seconds.start..next.seconds.end) {
                    *last = joined;
                }
            }
            None => stretches.push(next),
        }
    }
    let held = |stretch: &LevelStretch| {
        let values = values.get(stretch.seconds.clone()).unwrap_or_default();
        stretch.level > 0.0 && values.len() >= SHORTEST && is_level(values, DRIFT)
    };
    stretches.retain(held);
    stretches
}

/// Divides a series where its level changes.
fn segments(series: &[f64]) -> Vec<Range<usize>> {
    let differences: Vec<f64> =
        series.iter().zip(series.iter().skip(1)).map(|(one, next)| (next - one).abs()).collect();
    // Of normal noise, a difference has √2 times the deviation of a value, and its median is 0.6745 of that.
    let scatter = upper_median(&differences).unwrap_or_default() / (2f64.sqrt() * 0.6745);
    let noise = scatter.max(LEAST_NOISE * mean(series).abs()).max(f64::MIN_POSITIVE);
    let gain = GAIN.0 + GAIN.1 * (series.len().max(1) as f64).ln();
    let (mut found, mut open) = (Vec::new(), Vec::new());
    open.push(0..series.len());
    while let Some(range) = open.pop() {
        let values = series.get(range.clone()).unwrap_or_default();
        let sums = Sums::of(values.iter().map(|value| (*value, 1.0)), mean(values));
        let places = LEAST..=values.len().saturating_sub(LEAST);
        let steps = places.filter_map(|at| sums.stretch(at, values.len()));
        let step = steps.max_by(|one, other| one.between.total_cmp(&other.between));
        match step.filter(|step| step.from < values.len() && step.between > gain * noise * noise) {
            // The later part is looked at last, so that segments come in the order of time.
            Some(step) => {
                let at = range.start + step.from;
                open.extend([at..range.end, range.start..at]);
            }
            None if !range.is_empty() => found.push(range),
            None => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(values: &[f64], of: Stepped) -> Vec<(usize, usize, i64)> {
        let stretches = level_stretches(values, of);
        stretches.iter().map(|one| (one.seconds.start, one.seconds.end, one.level.round() as i64)).collect()
    }

    fn repeated(parts: &[(f64, usize)]) -> Vec<f64> {
        parts.iter().flat_map(|(value, seconds)| std::iter::repeat_n(*value, *seconds)).collect()
    }

    #[test]
    fn steps_of_a_plan_of_threads_are_found_without_the_climbs_between_them() {
        let climb = |from: f64, to: f64, seconds: usize| {
            (0..seconds).map(move |at| from + (to - from) * (at as f64 + 0.5) / seconds as f64)
        };
        let mut loads = repeated(&[(10.0, 60)]);
        loads.extend(climb(10.0, 20.0, 8));
        loads.extend(repeated(&[(20.0, 60), (23.5, 1), (30.0, 60), (40.0, 12), (50.0, 45), (f64::NAN, 5)]));
        let levels: Vec<i64> = spans(&loads, Stepped::Load).iter().map(|(.., level)| *level).collect();
        for level in [10, 20, 30, 40, 50] {
            assert_eq!(levels.iter().filter(|found| **found == level).count(), 1, "{levels:?}");
        }
        let long = level_stretches(&loads, Stepped::Load);
        let of = |level: f64| long.iter().find(|one| one.level == level).unwrap().seconds.len();
        assert!((59..=62).contains(&of(20.0)) && (59..=62).contains(&of(30.0)), "{long:?}");
        assert!((49..=51).contains(&of(50.0)), "the last load is kept where it is not known: {long:?}");
    }

    #[test]
    fn climb_is_no_level_and_one_level_is_one() {
        let climb: Vec<f64> = (0..240).map(|at| 37.5 * f64::from(at)).collect();
        let long = level_stretches(&climb, Stepped::Load);
        assert!(long.iter().all(|one| one.seconds.len() < 20), "{long:?}");
        assert_eq!(spans(&repeated(&[(9000.0, 180)]), Stepped::Load), [(0, 180, 9000)]);
        assert_eq!(spans(&[], Stepped::Load), []);
        assert_eq!(spans(&repeated(&[(0.0, 90)]), Stepped::Requests), []);
        assert_eq!(spans(&[f64::NAN; 40], Stepped::Requests), []);
    }

    #[test]
    fn rates_that_come_by_chance_have_their_steps() {
        let mut chance = fastrand::Rng::with_seed(7);
        let mut poisson = |mean: f64| {
            let (mut left, mut count) = (1.0, -1.0);
            while left > (-mean).exp() {
                (left, count) = (left * chance.f64(), count + 1.0);
            }
            count
        };
        let mut wrong = 0;
        for _ in 0..50 {
            let counts: Vec<f64> =
                [40.0, 60.0, 80.0, 100.0].iter().flat_map(|rate| vec![*rate; 60]).map(&mut poisson).collect();
            let found = level_stretches(&counts, Stepped::Requests);
            let ends: Vec<usize> = found.iter().map(|one| one.seconds.end).collect();
            // A step of 2.8 deviations is placed within 3 seconds in about 98 of 100 cases, and within 10 in nearly all.
            let near =
                ends.len() == 4 && ends.iter().zip([60, 120, 180, 240]).all(|(a, b)| a.abs_diff(b) <= 10);
            wrong += usize::from(!near);
            let level: Vec<f64> = vec![50.0; 300].into_iter().map(&mut poisson).collect();
            wrong += usize::from(level_stretches(&level, Stepped::Requests).len() != 1);
        }
        assert!(wrong <= 2, "{wrong} of 100");
    }
}
