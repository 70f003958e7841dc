//! Pairs of runs: one of each side, measured in turn or at once, so that what slows both down is not in their difference.

use std::borrow::Cow;
use std::collections::BTreeMap;

use perfpipe_model::{RunInfo, RunKey};

use super::difference::{EstimatedDifference, MISSED, OfMean, difference_with};
use super::power::Design;
use super::repeats::{OfRepeats, RepeatMeans};
use super::sides::Side;
use crate::format::counted;
use crate::stats::{mean, student, sum_of_squares};

/// The tag that both runs of a pair have in common.
pub const PAIR_TAG: &str = "pair";
/// The tag in which they differ.
pub const SIDE_TAG: &str = "side";

/// Two runs that overlap by more than this share of the shorter one were not measured in turn.
const IN_TURN: f64 = 0.1;
/// Two runs that overlap by less than this share of the longer one were not measured at once.
const AT_ONCE: f64 = 0.9;
/// The least number of pairs whose differences have a scatter.
const FEWEST: usize = 2;

/// The pairs among the runs of two sides.
///
/// A pair is a run of each side with the same tag [`PAIR_TAG`] and different tags [`SIDE_TAG`], measured in turn or, as a
/// duet, at once.
///
/// ```
/// use perfpipe_analyze::Pairing;
/// use perfpipe_ingest::{RunInfo, RunKey};
///
/// let run = |pair: &str, side: &str, start_s: i64| {
///     let mut run = RunInfo::new(RunKey::new("go", "2048"), start_s * 1000, start_s * 1000 + 59_999);
///     run.options.tags.extend([("pair".into(), pair.into()), ("side".into(), side.into())]);
///     run
/// };
/// let old = [run("1", "old", 0), run("2", "old", 180)];
/// let new = [run("2", "new", 120), run("1", "new", 60), run("3", "new", 240)];
/// let pairing = Pairing::of(&old.each_ref(), &new.each_ref());
/// assert_eq!(pairing.pairs, [(0, 1), (1, 0)]);
/// assert_eq!(pairing.faults[0].to_string(), "the pair 3 has 1 run");
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Pairing {
    /// The places of both runs of each pair among those of their sides, in the order of the first side.
    pub pairs: Vec<(usize, usize)>,
    /// The number of pairs whose runs were measured at once.
    pub duets: usize,
    /// What is no pair, although its runs have the tags.
    pub faults: Vec<PairFault>,
}

/// Why runs with the tags of a pair are none.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PairFault {
    /// The pair has another number of runs than two.
    #[error("the pair {pair} has {}", counted(*runs as u64, "run"))]
    Runs {
        /// The value of the tag.
        pair: String,
        /// The number of its runs.
        runs: usize,
    },
    /// Both runs are of one side.
    #[error("the pair {pair} has two runs of one side")]
    OneSide {
        /// The value of the tag.
        pair: String,
    },
    /// The runs were measured neither in turn nor at once.
    #[error(
        "the runs of the pair {pair} overlap by {percent:.0} %: they were measured neither in turn nor at once"
    )]
    Overlap {
        /// The value of the tag.
        pair: String,
        /// The common time of both runs, in percent of the longer one.
        percent: f64,
    },
    /// A run has no tags of a pair, but runs of its side have.
    #[error("{0} has no tags {PAIR_TAG} and {SIDE_TAG}")]
    Untagged(RunKey),
}

impl Pairing {
    /// Finds the pairs of two sides, neither of which has a run twice.
    pub fn of(a: &[&RunInfo], b: &[&RunInfo]) -> Self {
        let mut tagged: BTreeMap<&str, [Vec<usize>; 2]> = BTreeMap::new();
        let mut untagged = Vec::new();
        for (at_side, runs) in [a, b].into_iter().enumerate() {
            for (at, run) in runs.iter().enumerate() {
                match (pair(run), side(run)) {
                    (Some(pair), Some(_)) => {
                        let own = tagged.entry(pair).or_default().get_mut(at_side);
                        own.into_iter().for_each(|own| own.push(at));
                    }
                    _ => untagged.push(PairFault::Untagged(run.key.clone())),
                }
            }
        }
        let mut found = Self::default();
        for (pair, places) in tagged {
            match &places {
                [of_a, of_b] if of_a.len() == 1 && of_b.len() == 1 => {
                    let places = of_a.iter().zip(of_b).next();
                    let runs = places.and_then(|(at_a, at_b)| a.get(*at_a).zip(b.get(*at_b)));
                    if let (Some((at_a, at_b)), Some((one, other))) = (places, runs) {
                        found.add(pair, (*at_a, *at_b), one, other);
                    }
                }
                [of_a, of_b] => {
                    let runs = of_a.len() + of_b.len();
                    let fault = match runs {
                        2 => PairFault::OneSide { pair: pair.to_owned() },
                        runs => PairFault::Runs { pair: pair.to_owned(), runs },
                    };
                    found.faults.push(fault);
                }
            }
        }
        found.pairs.sort_unstable();
        if !found.pairs.is_empty() {
            found.faults.extend(untagged);
        }
        found
    }

    fn add(&mut self, pair: &str, places: (usize, usize), one: &RunInfo, other: &RunInfo) {
        let pair = pair.to_owned();
        if side(one) == side(other) {
            self.faults.push(PairFault::OneSide { pair });
            return;
        }
        match overlap(one, other) {
            (of_shorter, _) if of_shorter <= IN_TURN => self.pairs.push(places),
            (_, of_longer) if of_longer >= AT_ONCE => {
                self.duets += 1;
                self.pairs.push(places);
            }
            (_, of_longer) => {
                self.faults.push(PairFault::Overlap { pair, percent: 100.0 * of_longer });
            }
        }
    }

    /// Returns true if there are enough pairs to compare within them.
    pub fn is_enough(&self) -> bool {
        self.pairs.len() >= FEWEST
    }
}

fn pair(run: &RunInfo) -> Option<&str> {
    run.options.tags.get(PAIR_TAG).map(String::as_str)
}

fn side(run: &RunInfo) -> Option<&str> {
    run.options.tags.get(SIDE_TAG).map(String::as_str)
}

/// Returns the common time of two runs as a share of the shorter one, and of the longer one.
fn overlap(one: &RunInfo, other: &RunInfo) -> (f64, f64) {
    let span = |run: &RunInfo| {
        let length = 1000 * i64::from(run.seconds.max(1));
        (run.t0_ms, run.t0_ms.saturating_add(length), length as f64)
    };
    let ((start, end, length), (other_start, other_end, other_length)) = (span(one), span(other));
    let common = end.min(other_end).saturating_sub(start.max(other_start)).max(0) as f64;
    (common / length.min(other_length), common / length.max(other_length))
}

/// Two sides that are compared: all their runs, or those that are in pairs.
pub(super) struct ComparedSides<'a> {
    pub(super) a: Cow<'a, Side>,
    pub(super) b: Cow<'a, Side>,
    /// True if the runs of both sides are pairs, in one order.
    pub(super) is_paired: bool,
}

impl<'a> ComparedSides<'a> {
    pub(super) fn new(a: &'a Side, b: &'a Side) -> Self {
        let infos = |side: &'a Side| side.runs.iter().map(|run| run.info()).collect::<Vec<_>>();
        let pairing = Pairing::of(&infos(a), &infos(b));
        if !pairing.is_enough() {
            return Self { a: Cow::Borrowed(a), b: Cow::Borrowed(b), is_paired: false };
        }
        let (of_a, of_b): (Vec<usize>, Vec<usize>) = pairing.pairs.into_iter().unzip();
        let only = |side: &Side, places: Vec<usize>| Side {
            name: side.name.clone(),
            runs: places.into_iter().filter_map(|at| side.runs.get(at).cloned()).collect(),
        };
        Self { a: Cow::Owned(only(a, of_a)), b: Cow::Owned(only(b, of_b)), is_paired: true }
    }
}

/// A figure of both runs of each pair.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairedValues {
    count: f64,
    mean_a: f64,
    mean_b: f64,
    /// The sums of squares and of products of the differences from the means.
    squares_a: f64,
    products: f64,
    squares_b: f64,
    /// The variance that the difference within a pair has at least.
    least: f64,
}

impl PairedValues {
    /// Describes pairs, given the variance that the difference within one has at least; `None` for fewer than two.
    pub(super) fn new(pairs: &[(f64, f64)], least: f64) -> Option<Self> {
        let (of_a, of_b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let (mean_a, mean_b) = (mean(&of_a), mean(&of_b));
        let products = pairs.iter().map(|(a, b)| (a - mean_a) * (b - mean_b)).sum();
        let (squares_a, squares_b) = (sum_of_squares(&of_a), sum_of_squares(&of_b));
        let count = pairs.len() as f64;
        (pairs.len() >= FEWEST).then_some(Self {
            count,
            mean_a,
            mean_b,
            squares_a,
            products,
            squares_b,
            least,
        })
    }

    /// Returns the variance of b − times · a within a pair, and true if that is the least there is.
    fn variance(&self, times: f64) -> (f64, bool) {
        let squares = self.squares_b - 2.0 * times * self.products + times * times * self.squares_a;
        let variance = squares / (self.count - 1.0);
        (variance.max(self.least), variance < self.least)
    }

    /// Returns both means, with all noise of b − times · a on the side of b.
    pub(super) fn means(&self, times: f64) -> RepeatMeans {
        let (variance, by_least) = self.variance(times);
        let degrees = self.count - 1.0;
        let a = OfMean { mean: self.mean_a, error: 0.0, degrees };
        let b = OfMean { mean: self.mean_b, error: (variance / self.count).sqrt(), degrees };
        RepeatMeans { a, b, degrees, by_least, variance }
    }

    /// Compares by Student's t test of the differences within pairs.
    pub(super) fn compared(&self) -> Option<OfRepeats> {
        let means = self.means(1.0);
        let difference = difference_with(&means.a, &means.b, means.degrees)?;
        let difference = EstimatedDifference { percent: self.percent(MISSED), ..difference };
        Some(OfRepeats::new(Design::Pairs, difference, means))
    }

    /// Returns the interval of the change in percent that a share `level` of intervals misses: the ratios r at which that of b − r · a contains zero
    /// (Fieller, "Some problems in interval estimation", 1954, for pairs). `None` if the mean of a may be 0.
    pub(super) fn percent(&self, level: f64) -> Option<(f64, f64)> {
        let (variance, by_least) = self.variance(1.0);
        let reach = student::distance(level, self.count - 1.0).powi(2) / self.count;
        let of = |squares: f64| reach * squares / (self.count - 1.0);
        if self.mean_a <= 0.0 || self.mean_b < 0.0 {
            return None;
        }
        let (middle, away) = if by_least {
            (self.mean_b / self.mean_a, (reach * variance).sqrt() / self.mean_a)
        } else {
            let square = Some(self.mean_a.powi(2) - of(self.squares_a)).filter(|square| *square > 0.0)?;
            let product = self.mean_a * self.mean_b - of(self.products);
            let rest = self.mean_b.powi(2) - of(self.squares_b);
            (product / square, (product.powi(2) - square * rest).max(0.0).sqrt() / square)
        };
        Some((((middle - away).max(0.0) - 1.0) * 100.0, (middle + away - 1.0) * 100.0))
    }

    /// Returns the variance of the difference within pairs as a share of that of the difference of unpaired runs; `None`
    /// without scatter.
    pub(super) fn variance_share(&self) -> Option<f64> {
        let unpaired = (self.squares_a + self.squares_b) / (self.count - 1.0);
        let (paired, _) = self.variance(1.0);
        (unpaired > 0.0).then(|| paired / unpaired)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::change_points::normal;

    fn run(pair: &str, side: &str, start_s: i64, seconds: i64) -> RunInfo {
        let start = 1000 * start_s;
        let mut run = RunInfo::new(RunKey::new("go", "t"), start, start + 1000 * seconds - 1);
        let tags = [(PAIR_TAG, pair), (SIDE_TAG, side)];
        run.options
            .tags
            .extend(tags.into_iter().filter(|tag| !tag.1.is_empty()).map(|(a, b)| (a.into(), b.into())));
        run
    }

    fn pairing(a: &[RunInfo], b: &[RunInfo]) -> Pairing {
        Pairing::of(&a.iter().collect::<Vec<_>>(), &b.iter().collect::<Vec<_>>())
    }

    #[test]
    fn pairs_are_in_turn_or_at_once_and_nothing_between() {
        let of = |start, seconds| pairing(&[run("1", "a", 0, 100)], &[run("1", "b", start, seconds)]);
        for (start, seconds, duets) in [(100, 100, 0), (95, 100, 0), (-200, 20, 0), (0, 100, 1), (5, 95, 1)] {
            let found = of(start, seconds);
            assert_eq!((found.pairs.len(), found.duets), (1, duets), "{start} {seconds}");
        }
        // A third in common; and a short run within a long one.
        for (start, seconds, percent) in [(67, 100, 33.0), (10, 50, 50.0)] {
            let found = of(start, seconds);
            assert_eq!(found.faults, [PairFault::Overlap { pair: "1".into(), percent }]);
            assert!(found.pairs.is_empty());
        }
    }

    #[test]
    fn what_is_no_pair_is_named() {
        let a = [run("1", "a", 0, 10), run("2", "a", 20, 10), run("3", "a", 40, 10), run("4", "a", 60, 10)];
        let b = [
            run("1", "b", 10, 10),
            run("2", "a", 30, 10),
            run("", "b", 0, 1),
            run("4", "b", 70, 10),
            run("4", "b", 80, 10),
        ];
        let found = pairing(&a, &b);
        assert_eq!(found.pairs, [(0, 0)]);
        assert!(!found.is_enough());
        let said: Vec<String> = found.faults.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "the pair 2 has two runs of one side",
                "the pair 3 has 1 run",
                "the pair 4 has 3 runs",
                "go_t has no tags pair and side"
            ]
        );
        // Without any pair, runs without tags are the rule.
        assert_eq!(pairing(&[run("", "", 0, 1)], &[run("", "", 0, 1)]), Pairing::default());
    }

    #[test]
    fn differences_within_pairs_are_tested_by_students_t() {
        let pairs = [(100.0, 104.0), (150.0, 155.0), (80.0, 83.0), (120.0, 124.0)];
        let values = PairedValues::new(&pairs, 0.0).unwrap();
        let found = values.compared().unwrap().difference;
        let differences: Vec<f64> = pairs.iter().map(|(a, b)| b - a).collect();
        let error = (sum_of_squares(&differences) / 3.0 / 4.0).sqrt();
        assert!((found.p - student::beyond(4.0 / error, 3.0)).abs() < 1e-9, "{found:?}");
        let reach = error * student::distance(MISSED, 3.0);
        assert!((found.interval.0 - 4.0 + reach).abs() < 1e-9, "{found:?}");
        // At each end of the interval of the change, b − r·a is just at the limit of chance.
        for percent in <[f64; 2]>::from(found.percent.unwrap()) {
            let ratio = 1.0 + percent / 100.0;
            let rest: Vec<f64> = pairs.iter().map(|(a, b)| b - ratio * a).collect();
            let distance = mean(&rest).abs() / (sum_of_squares(&rest) / 3.0 / 4.0).sqrt();
            assert!((distance / student::distance(MISSED, 3.0) - 1.0).abs() < 1e-9, "{percent}");
        }
        assert!(values.variance_share().unwrap() < 0.001);
    }

    #[test]
    fn equal_differences_scatter_by_the_least() {
        let values = PairedValues::new(&[(100.0, 101.0), (90.0, 91.0)], 0.5).unwrap().compared().unwrap();
        let (found, reach) = (values.difference, (0.5_f64 / 2.0).sqrt() * student::distance(MISSED, 1.0));
        assert!(values.by_least && (found.interval.1 - 1.0 - reach).abs() < 1e-9, "{found:?}");
        let (low, high) = found.percent.unwrap();
        assert!(low < 0.0 && high > 0.0 && (low + high) / 2.0 < 1.06, "{found:?}");
        assert!(PairedValues::new(&[(1.0, 2.0)], 0.5).is_none());
        assert!(
            PairedValues::new(&[(0.0, 0.0), (0.0, 0.0)], 0.0)
                .unwrap()
                .compared()
                .unwrap()
                .difference
                .percent
                .is_none()
        );
    }

    #[test]
    fn interval_contains_no_change_just_where_none_is_shown() {
        let mut chance = fastrand::Rng::with_seed(3);
        for at in 0..600 {
            let by = 1.0 + f64::from(at % 60) / 1000.0;
            let mut pair = || {
                let shared = 100.0 * (1.0 + 0.3 * normal(&mut chance)).abs().max(0.1);
                (
                    shared * (1.0 + 0.01 * normal(&mut chance)),
                    by * shared * (1.0 + 0.01 * normal(&mut chance)),
                )
            };
            let pairs: Vec<(f64, f64)> = (0..7).map(|_| pair()).collect();
            let found = PairedValues::new(&pairs, 0.0).unwrap().compared().unwrap().difference;
            let Some((low, high)) = found.percent else { continue };
            assert_eq!(low > 0.0 || high < 0.0, found.p < MISSED, "{found:?}");
        }
    }
}
