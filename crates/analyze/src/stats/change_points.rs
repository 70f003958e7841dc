//! Where a series of groups changes its level: circular binary segmentation with simulated p-values.
//!
//! Each step looks for the stretch of groups whose mean differs most from the rest (Olshen, Venkatraman, Lucito and
//! Wigler, "Circular binary segmentation for the analysis of array-based DNA copy number data", 2004), so that both a
//! lasting step and a change that was reverted are found. The p-value is that of the largest such difference in
//! simulated level series with as many groups. The parts are then searched in turn. In the end, each change point must
//! still separate its two neighbours. A change of the latest groups is looked for by itself, since it has few places
//! where it can be: it is found from two groups on, at any length of the series. The same is done for the first groups
//! where groups have several values, at a stricter level. A long series is searched in windows, as a change is seen by
//! the groups around it; so one more group costs the same at any length.
//!
//! The groups are the values: what the values of one group have in common, such as the day, is noise of groups. Noise that
//! a group shares with those before it counts as much as it adds to the variance of a mean; what comes back each week of
//! seven groups is subtracted. A group far from all others is no level, and has a limited influence: a level has three
//! groups or more, and a group counts as no farther from its neighbours' median than a few deviations. Steps in one direction that a straight line explains as well are a drift,
//! unless a staircase explains them better than both: steps close to each other are found together or not at all.

use std::collections::BTreeMap;

use fastrand::Rng;

use super::percentile::median;
use super::stretch::{SquaresStretch, Sums};
use super::{mean, student, sum_of_squares};

/// The number of groups that are searched at once.
const WINDOW: usize = 64;
/// The number of simulated level series.
const DRAWS: usize = 2_000;
/// The share of the simulated series by whose statistic those of rarer ones are judged.
const RARE: f64 = 0.02;
/// The least number of groups of a level.
const LEAST: usize = 3;
/// The numbers of the latest groups, or of the first ones, that may be a level.
const SHORT: std::ops::RangeInclusive<usize> = 2..=6;
/// The least number of groups in which a change can be found.
pub(crate) const LEAST_GROUPS: usize = 2 * *SHORT.start();
/// The factor of the level at which further changes are judged around one that is beyond doubt: the series is known not to
/// be level.
const FURTHER: f64 = 4.0;
/// The shares of the mistakes that changes of the latest groups and of the first ones may take.
const OF_LATEST: f64 = 0.5;
const OF_FIRST: f64 = 0.05;
/// Of fewer groups than this, any change is one of the latest.
const FEW: usize = 9;
/// How much each parameter of a course has to explain, in variances (Akaike, "A new look at the statistical model
/// identification", 1974).
const PARAMETER: f64 = 2.0;
/// How much each step of a staircase has to explain, in variances times the logarithm of the number of groups: its level
/// and, as the best of as many places, its place.
const STEP: f64 = 1.5;
/// The largest number of steps of a staircase, and of its groups.
const STEPS: usize = 8;
const LONGEST: usize = 4 * WINDOW;
/// The share of the variance within groups that is noise of their levels at least.
const WITHIN: f64 = 0.9;
/// The number of groups on either side whose median a group is compared with.
const AROUND: usize = 3;
/// The largest distance from those medians, in deviations.
const FARTHEST: f64 = 3.0;
/// The mean of Gumbel's standard distribution, Euler's constant.
const EULER: f64 = 0.577_215_664_901_532_9;
/// The median of the absolute value of a standard normal variable.
const NORMAL_MEDIAN: f64 = 0.674_489_750_196_081_7;
/// The least number of groups that show their distribution, and how they depend on those before them.
const MANY: usize = 24;
/// The number of shuffles of that many groups.
const SHUFFLES: usize = 50;
/// The numbers of groups of a week, one a day, without and with its end.
const WEEKS: [usize; 2] = [5, 7];
/// The F of an analysis of variance from which on the days of a week differ: a tenth to a twentieth of all series without a
/// week reach it, and lose little.
const DAYS_DIFFER: f64 = 2.5;
/// The error of the correlation of neighbours that is allowed for, times the root of the number of groups.
const UNSURE: f64 = 1.5;
/// The largest correlation of neighbours that is assumed.
const CORRELATED: f64 = 0.5;

/// What a series does over its groups.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Course {
    /// The changes of level, in order.
    pub(crate) changes: Vec<ChangePoint>,
    /// The gradual changes, in order.
    pub(crate) slopes: Vec<Slope>,
}

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ChangePoint {
    /// The place of the first group of the new level, at least 1.
    pub(crate) at: usize,
    /// The means of the values before and after it, each up to the next change point.
    pub(crate) means: (f64, f64),
    /// The probability of so large a difference, wherever it is, in a series that is level.
    pub(crate) p: f64,
}

/// A gradual change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slope {
    /// The places of its first and its last group.
    pub(crate) span: (usize, usize),
    /// The levels of a straight line at both.
    pub(crate) ends: (f64, f64),
}

/// A search for change points. It keeps the simulated series, which figures with the same number of groups share.
#[derive(Debug, Default)]
pub(crate) struct Search {
    nulls: BTreeMap<(usize, StretchPlace), Vec<f64>>,
}

/// Where a stretch may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum StretchPlace {
    Anywhere,
    First,
    Latest,
}

/// The groups as they are searched: one level a group.
#[derive(Debug)]
struct SearchedGroups {
    /// The levels, limited in their distance from those around them.
    levels: Vec<f64>,
    /// The levels as they are, of which a change point has the means.
    seen: Vec<f64>,
    /// By how much the variance of each is smaller than that of a single value.
    weights: Vec<f64>,
    /// The least variance of one value.
    floor: f64,
    /// The ratio of the variance of a mean of many groups to that of the same number of independent ones; corrected for what
    /// was subtracted.
    memory: f64,
}

impl Search {
    /// Returns the changes of a series, each with p below `level` and at least the share `least` of the level before.
    /// `floor` is the least variance that a value is known to have. Groups without values must have been left out.
    pub(crate) fn find(&mut self, groups: &[Vec<f64>], floor: f64, level: f64, least: f64) -> Course {
        let units = SearchedGroups::of(groups, floor);
        let whole = units.levels.len();
        let starts = (0..whole.saturating_sub(WINDOW / 2).max(1)).step_by(WINDOW / 2);
        // The first values of a history are odd more often than others, unless each is a median.
        let is_repeated = groups.iter().all(|values| values.len() > 1);
        let (of_first, of_latest) = match whole {
            0..FEW => (0.0, 1.0),
            _ => (if is_repeated { OF_FIRST } else { 0.0 }, OF_LATEST),
        };
        let level_of_window = level * (1.0 - of_first - of_latest) / starts.len() as f64;
        let mut edges = vec![0, whole];
        for from in starts {
            self.split(&units, (from, whole.min(from + WINDOW)), level_of_window, &mut edges);
        }
        edges.sort_unstable();
        edges.dedup();
        let mut changes = self.prune(&units, edges, level_of_window, least);
        let mut short = |part, of_all: f64, place| {
            let mut point = self.short(&units, part, place)?;
            point.p /= of_all;
            (point.p < level && point.is_at_least(least)).then_some(point)
        };
        let from = changes.last().map_or(0, |point| point.at);
        if let Some(latest) = short((from, whole), of_latest, StretchPlace::Latest) {
            if let Some(last) = changes.last_mut() {
                last.means.1 = latest.means.0;
            }
            changes.push(latest);
        }
        let to = changes.first().map_or(whole, |point| point.at);
        if of_first > 0.0
            && let Some(first) = short((0, to), of_first, StretchPlace::First)
        {
            if let Some(second) = changes.first_mut() {
                second.means.0 = first.means.1;
            }
            changes.insert(0, first);
        }
        units.course(changes, least)
    }

    /// Returns the change between the first or the latest groups of a part and its other ones, where they differ most.
    fn short(
        &mut self,
        units: &SearchedGroups,
        (from, to): (usize, usize),
        place: StretchPlace,
    ) -> Option<ChangePoint> {
        let part = match place {
            StretchPlace::First => (from, to.min(from + WINDOW)),
            _ => (from.max(to.saturating_sub(WINDOW)), to),
        };
        let stretch = units.most_different(part, place)?;
        let p = self.p(units, part, stretch.between, place);
        let at = if place == StretchPlace::First { stretch.to } else { stretch.from };
        Some(ChangePoint { at, means: (units.level(from, at), units.level(at, to)), p })
    }

    /// Divides a part where stretches differ from the rest, and adds the places to the edges.
    fn split(&mut self, units: &SearchedGroups, part: (usize, usize), level: f64, edges: &mut Vec<usize>) {
        let mut left = vec![(part, level)];
        while let Some(((from, to), limit)) = left.pop() {
            let Some(stretch) = units.most_different((from, to), StretchPlace::Anywhere) else { continue };
            if self.p(units, (from, to), stretch.between, StretchPlace::Anywhere) < limit {
                edges.extend([stretch.from, stretch.to]);
                let inner = [(from, stretch.from), (stretch.from, stretch.to), (stretch.to, to)];
                left.extend(inner.map(|part| (part, level * FURTHER)));
            }
        }
    }

    /// Drops change points, the weakest first, until each separates its neighbours, by a change that is large enough.
    fn prune(
        &mut self,
        units: &SearchedGroups,
        mut edges: Vec<usize>,
        level: f64,
        least: f64,
    ) -> Vec<ChangePoint> {
        let mut known = BTreeMap::new();
        loop {
            let neighbours = parts(&edges).zip(parts(&edges).skip(1));
            let points: Vec<ChangePoint> = neighbours
                .map(|((from, at), (_, to))| {
                    let means = (units.level(from, at), units.level(at, to));
                    let (from, to) = (from.max(at.saturating_sub(WINDOW / 2)), to.min(at + WINDOW / 2));
                    let point = ChangePoint { at, means, p: 1.0 };
                    if at - from < LEAST || to - at < LEAST || !point.is_at_least(least) {
                        return point;
                    }
                    let p = known.entry((from, at, to)).or_insert_with(|| {
                        let between = units.between((from, to), (at, to));
                        self.p(units, (from, to), between, StretchPlace::Anywhere)
                    });
                    ChangePoint { p: *p, ..point }
                })
                .collect();
            let is_level = points.iter().all(|point| point.p >= level);
            let level = if is_level { level } else { level * FURTHER };
            let weakest = points.iter().max_by(|a, b| a.p.total_cmp(&b.p));
            match weakest.filter(|point| point.p >= level).map(|point| point.at) {
                Some(at) => edges.retain(|edge| *edge != at),
                None => return points,
            }
        }
    }

    /// Returns the p-value of a sum of squares between a stretch and the rest of a part: the larger one of those for normal
    /// noise and for noise of the groups' own distribution.
    fn p(
        &mut self,
        units: &SearchedGroups,
        (from, to): (usize, usize),
        between: f64,
        place: StretchPlace,
    ) -> f64 {
        let groups = representative(to - from);
        let null = self.nulls.entry((groups, place)).or_insert_with_key(null);
        let statistic = units.statistic((from, to), between);
        // Beyond what was simulated, the tail is that of one difference, times a number of places.
        let rare = null.len() - (RARE * null.len() as f64) as usize;
        let p = match null.get(rare).filter(|limit| statistic > **limit) {
            None => share_beyond(null, statistic),
            Some(limit) => {
                let beyond = |squared: f64| student::beyond(squared.sqrt(), groups as f64 - 2.0);
                RARE * beyond(statistic) / beyond(*limit).max(f64::MIN_POSITIVE)
            }
        };
        let may_be_rare = to - from >= MANY && p < RARE;
        if may_be_rare { p.max(units.p_shuffled((from, to), statistic, place)) } else { p }
    }
}

impl Course {
    /// Sets the level since a change, if that is the latest so far.
    fn end_level_at(&mut self, change: usize, level: f64) {
        if let Some(point) = self.changes.last_mut().filter(|point| point.at == change) {
            point.means.1 = level;
        }
    }
}

impl ChangePoint {
    /// Returns true if the level grows.
    fn grows(&self) -> bool {
        self.means.1 > self.means.0
    }

    /// Returns true if the level changes by at least so large a share of that before.
    fn is_at_least(&self, share: f64) -> bool {
        (self.means.1 - self.means.0).abs() >= share * self.means.0.abs()
    }
}

impl SearchedGroups {
    fn of(groups: &[Vec<f64>], floor: f64) -> Self {
        let weights: Vec<f64> = groups.iter().map(|values| weight(values.len())).collect();
        let seen: Vec<f64> =
            groups.iter().map(|values| median(values.iter().copied()).unwrap_or_default()).collect();
        // What the values of a group scatter by is noise at least, as far as a few values show it.
        let within = spread(groups).map_or(0.0, |(sd, _)| WITHIN * sd * sd);
        let floor = floor.max(within);
        let mut levels = limited(&seen, &weights, floor);
        let of_week = subtract_week(&mut levels);
        let memory = of_week * memory(&levels);
        Self { levels, seen, weights, floor, memory }
    }

    /// Returns a level series with noise of variance 1.
    fn simulated(groups: usize, rng: &mut Rng) -> Self {
        let levels = (0..groups).map(|_| normal(rng)).collect();
        Self { levels, seen: Vec::new(), weights: vec![1.0; groups], floor: 0.0, memory: 1.0 }
    }

    /// Returns the statistic of the stretch that differs most.
    fn largest(&self, place: StretchPlace) -> f64 {
        let whole = (0, self.levels.len());
        let most = self.most_different(whole, place);
        most.map_or(0.0, |stretch| self.statistic(whole, stretch.between))
    }

    /// Returns the p-value of a statistic among those of shuffles of a part's groups, the largest of which follow Gumbel's
    /// distribution (fitted by moments: Gumbel, "Statistics of extremes", 1958).
    fn p_shuffled(&self, part: (usize, usize), statistic: f64, place: StretchPlace) -> f64 {
        let mut groups: Vec<(f64, f64)> = self.part(part).collect();
        let mut rng = Rng::with_seed(3);
        let largest: Vec<f64> = (0..SHUFFLES)
            .map(|_| {
                rng.shuffle(&mut groups);
                let (levels, weights) = groups.iter().copied().unzip();
                Self { levels, seen: Vec::new(), weights, floor: self.floor, memory: self.memory }
                    .largest(place)
            })
            .collect();
        let mean = largest.iter().sum::<f64>() / SHUFFLES as f64;
        let scale =
            (sum_of_squares(&largest) / SHUFFLES as f64).sqrt() * 6.0_f64.sqrt() / std::f64::consts::PI;
        let mode = mean - EULER * scale;
        -(-((mode - statistic) / scale).exp()).exp_m1()
    }

    /// Iterates over the levels and weights of a part.
    fn part(&self, (from, to): (usize, usize)) -> impl Iterator<Item = (f64, f64)> {
        let levels = self.levels.get(from..to).unwrap_or_default();
        let weights = self.weights.get(from..to).unwrap_or_default();
        levels.iter().copied().zip(weights.iter().copied())
    }

    /// Returns the mean of the levels as they are.
    fn level(&self, from: usize, to: usize) -> f64 {
        let weights = self.weights.get(from..to).unwrap_or_default();
        let levels = self.seen.get(from..to).unwrap_or_default().iter().zip(weights);
        let (sum, weight) =
            levels.fold((0.0, 0.0), |(sum, all), (level, weight)| (sum + level * weight, all + weight));
        sum / weight
    }

    fn mean(&self, from: usize, to: usize) -> f64 {
        let (sum, weight) = self
            .part((from, to))
            .fold((0.0, 0.0), |(sum, all), (level, weight)| (sum + level * weight, all + weight));
        sum / weight
    }

    /// Returns the stretch whose mean differs most from that of the rest of a part.
    fn most_different(&self, (from, to): (usize, usize), place: StretchPlace) -> Option<SquaresStretch> {
        let sums = Sums::of(self.part((from, to)), self.mean(from, to));
        let groups = sums.len();
        let stretch = match place {
            // Both the stretch and the rest are levels.
            StretchPlace::Anywhere => sums.most_different(LEAST, |from, to| groups - (to - from) >= LEAST)?,
            StretchPlace::First | StretchPlace::Latest => {
                let short = SHORT.filter(|short| short + SHORT.start() <= groups);
                let ends =
                    |short| if place == StretchPlace::First { (0, short) } else { (groups - short, groups) };
                let stretches = short.map(ends).filter_map(|(from, to)| sums.stretch(from, to));
                stretches.max_by(|a, b| a.between.total_cmp(&b.between))?
            }
        };
        Some(SquaresStretch { from: from + stretch.from, to: from + stretch.to, ..stretch })
    }

    fn between(&self, (from, to): (usize, usize), (a, b): (usize, usize)) -> f64 {
        let center = self.mean(from, to);
        let (sum, inside) = self
            .part((a, b))
            .fold((0.0, 0.0), |(sum, all), (level, weight)| (sum + (level - center) * weight, all + weight));
        let all: f64 = self.part((from, to)).map(|(_, weight)| weight).sum();
        sum * sum * all / (inside * (all - inside))
    }

    /// Returns the squared t of a sum of squares between a stretch and the rest.
    fn statistic(&self, (from, to): (usize, usize), between: f64) -> f64 {
        let center = self.mean(from, to);
        let total = self.squares((from, to), |_| center);
        let degrees = (to - from) as f64 - 2.0;
        if degrees <= 0.0 {
            return 0.0;
        }
        let variance = ((total - between).max(0.0) / degrees).max(self.floor);
        // Equal values differ by nothing; where nothing varies, the least difference is beyond all chance.
        if between <= f64::EPSILON * center * center { 0.0 } else { between / variance / self.memory }
    }

    /// Returns the weighted sum of the squares of the distances of a part's groups from a curve.
    fn squares(&self, (from, to): (usize, usize), curve: impl Fn(usize) -> f64) -> f64 {
        (from..to)
            .zip(self.part((from, to)))
            .map(|(at, (level, weight))| weight * (level - curve(at)).powi(2))
            .sum()
    }

    /// Replaces changes in one direction by a drift where a straight line explains the groups better, and by more of them
    /// where a staircase explains them better still.
    fn course(&self, changes: Vec<ChangePoint>, least: f64) -> Course {
        let mut course = Course::default();
        let mut rest = changes.as_slice();
        let mut from = 0;
        while let Some(first) = rest.first() {
            let same = rest.iter().take_while(|point| point.grows() == first.grows()).count();
            let (found, after) = rest.split_at(same);
            let to = after.first().map_or(self.levels.len(), |point| point.at);
            let (drift, along_line) = self.line((from, to));
            let steps = if along_line >= self.cost_of_levels((from, to), found) {
                Some(found.to_vec())
            } else {
                self.staircase((from, to), found, along_line)
                    .filter(|steps| steps.iter().all(|point| point.is_at_least(least)))
            };
            // The level before the next changes begins with the last of these, whether it is reported or part of a drift.
            let last = steps.as_deref().unwrap_or(found).last().map_or(to, |point| point.at);
            match steps {
                Some(mut steps) => {
                    if let Some(first) = steps.first_mut() {
                        first.means.0 = self.level(from, first.at);
                        course.end_level_at(from, first.means.0);
                    }
                    course.changes.extend(steps);
                }
                None => course.slopes.push(drift),
            }
            from = last;
            rest = after;
        }
        course
    }

    /// Returns the straight line through a part, and the sum of squares of the distances from it.
    fn line(&self, (from, to): (usize, usize)) -> (Slope, f64) {
        let center = (from + to - 1) as f64 / 2.0;
        let (level, along) = (self.mean(from, to), |at: usize| at as f64 - center);
        let places = (from..to).zip(self.part((from, to)));
        let (products, squares) = places.fold((0.0, 0.0), |(products, squares), (at, (one, weight))| {
            (products + weight * along(at) * (one - level), squares + weight * along(at).powi(2))
        });
        let line = |at: usize| level + products / squares * along(at);
        (Slope { span: (from, to - 1), ends: (line(from), line(to - 1)) }, self.squares((from, to), line))
    }

    /// Returns the sum of squares of the distances of a part's groups from the levels between changes, and what a line
    /// spares of their parameters.
    fn cost_of_levels(&self, (from, to): (usize, usize), changes: &[ChangePoint]) -> f64 {
        let edges = edges(from, changes, to);
        let squares: f64 = parts(&edges)
            .map(|(from, to)| {
                let level = self.mean(from, to);
                self.squares((from, to), |_| level)
            })
            .sum();
        // Each step has a level and a place.
        let spared = PARAMETER * (2 * changes.len() - 1) as f64;
        squares + spared * self.variance((from, to), squares, edges.len())
    }

    /// Returns the noise of a part, of which so many parameters left a sum of squares.
    fn variance(&self, (from, to): (usize, usize), squares: f64, parameters: usize) -> f64 {
        let degrees = (to - from).saturating_sub(parameters).max(1) as f64;
        (squares / degrees).max(self.floor) * self.memory
    }

    /// Returns the steps of the best staircase through a part, in the direction of the changes that were found in it, if it
    /// explains the part better than a straight line does, with its sum of squares.
    fn staircase(
        &self,
        part: (usize, usize),
        found: &[ChangePoint],
        along_line: f64,
    ) -> Option<Vec<ChangePoint>> {
        let (from, to) = part;
        let groups = to - from;
        if groups > LONGEST {
            return None;
        }
        let mean = self.mean(from, to);
        let all = self.squares(part, |_| mean);
        let most = STEPS.min((groups / LEAST).saturating_sub(1));
        let divisions = Sums::of(self.part(part), mean).divisions(most, LEAST);
        let (closest, begins) = divisions.last()?;
        let variance = self.variance(part, all - closest, 2 * begins.len() + 1);
        let of_step = STEP * (groups as f64).ln() * variance;
        // That the part is not level is known from the changes that were found.
        let (first, p) = (found.first()?, found.iter().map(|point| point.p).fold(0.0, f64::max));
        let staircases = divisions.iter().filter_map(|(between, begins)| {
            let steps = self.steps(part, begins, p);
            let is_one_way = steps.iter().all(|point| point.grows() == first.grows());
            let cost = all - between + of_step * steps.len() as f64;
            (is_one_way && !steps.is_empty()).then_some((cost, steps))
        });
        let (cost, steps) = staircases.min_by(|a, b| a.0.total_cmp(&b.0))?;
        (cost < along_line + PARAMETER * variance).then_some(steps)
    }

    /// Returns the changes of a part between levels that begin at some distances from its begin, each with the same p.
    fn steps(&self, (from, to): (usize, usize), begins: &[usize], p: f64) -> Vec<ChangePoint> {
        let inner = begins.iter().map(|begin| from + begin);
        let edges: Vec<usize> = std::iter::once(from).chain(inner).chain([to]).collect();
        let levels = parts(&edges).zip(parts(&edges).skip(1));
        let step =
            |((from, at), (_, to))| ChangePoint { at, means: (self.level(from, at), self.level(at, to)), p };
        levels.map(step).collect()
    }
}

/// Returns the places of changes between two ends.
fn edges(from: usize, changes: &[ChangePoint], to: usize) -> Vec<usize> {
    std::iter::once(from).chain(changes.iter().map(|point| point.at)).chain([to]).collect()
}

/// Iterates over the parts between edges.
fn parts(edges: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    edges.iter().copied().zip(edges.iter().copied().skip(1))
}

/// Returns by how much the variance of a mean of many groups is larger than that of as many independent ones, if
/// neighbours are as similar as in a first-order autoregression: those and the ones at a lag of two then differ by squares in the
/// ratio 1 : 1 + correlation.
fn memory(levels: &[f64]) -> f64 {
    if levels.len() < MANY {
        return 1.0;
    }
    // Around their mean, as what changes little by little is no noise.
    let scatter = |lag: usize| {
        let pairs = levels.iter().zip(levels.iter().skip(lag));
        let differences: Vec<f64> = pairs.map(|(one, next)| next - one).collect();
        sum_of_squares(&differences) / differences.len() as f64
    };
    let unsure = UNSURE / (levels.len() as f64).sqrt();
    let correlation = scatter(2) / scatter(1).max(f64::MIN_POSITIVE) - 1.0 - unsure;
    let correlation = correlation.clamp(0.0, CORRELATED);
    (1.0 + correlation) / (1.0 - correlation)
}

/// Subtracts what comes back each week, if the days of the week differ; returns the factor that corrects the variance of
/// what is left, which is the smaller for the days' means, and known the less.
fn subtract_week(levels: &mut [f64]) -> f64 {
    if levels.len() < MANY {
        return 1.0;
    }
    let weeks = WEEKS.map(|days| Week::of(levels, days));
    let clearest = weeks.into_iter().max_by(|a, b| a.differ.total_cmp(&b.differ));
    let Some(Week { means, .. }) = clearest.filter(|week| week.differ > DAYS_DIFFER) else { return 1.0 };
    let center = mean(&means);
    for (level, day) in levels.iter_mut().zip(means.iter().cycle()) {
        *level -= day - center;
    }
    // A sum of squares that is divided by its degrees less two is right in the mean of its inverse.
    levels.len() as f64 / (levels.len() - means.len() - 2) as f64
}

/// A week's course.
struct Week {
    /// The mean distance of each day from the median of the week around it.
    means: Vec<f64>,
    /// The F of an analysis of variance between the days.
    differ: f64,
}

impl Week {
    fn of(levels: &[f64], days: usize) -> Self {
        // The median of a week is that of its level, and follows a change of level.
        let around = |at: usize| {
            let from = at.saturating_sub(days / 2).min(levels.len() - days);
            let week = levels.get(from..from + days).unwrap_or_default();
            median(week.iter().copied()).unwrap_or_default()
        };
        let distances: Vec<f64> = levels.iter().enumerate().map(|(at, level)| level - around(at)).collect();
        let of_day = |day| distances.iter().skip(day).step_by(days).copied().collect::<Vec<f64>>();
        let of_days: Vec<Vec<f64>> = (0..days).map(of_day).collect();
        let within: f64 = of_days.iter().map(|day| sum_of_squares(day)).sum();
        let between = (sum_of_squares(&distances) - within) / (days - 1) as f64;
        let degrees = (levels.len() - days) as f64;
        let differ = if within > 0.0 { between * degrees / within } else { 0.0 };
        Self { means: of_days.iter().map(|day| mean(day)).collect(), differ }
    }
}

/// Limits the distance of each level from the median of those around it, on which a lasting change has little effect.
fn limited(levels: &[f64], weights: &[f64], floor: f64) -> Vec<f64> {
    let differences = levels.windows(2).zip(weights.windows(2)).filter_map(|pair| match pair {
        ([one, next], [weight, beside]) => Some((next - one).abs() / (1.0 / weight + 1.0 / beside).sqrt()),
        _ => None,
    });
    // The median of differences hardly depends on a few changes of level.
    let seen = median(differences.collect::<Vec<f64>>()).unwrap_or(0.0) / NORMAL_MEDIAN;
    let deviation = seen.max(floor.sqrt());
    if deviation == 0.0 {
        return levels.to_vec();
    }
    let side = |from: usize, to: usize| {
        median(levels.get(from..to.min(levels.len())).unwrap_or_default().iter().copied())
    };
    let limit = |(at, (level, weight)): (usize, (&f64, &f64))| {
        // Of the first group and the last, the one next to it replaces the missing side.
        let before = side(at.saturating_sub(AROUND), at).or(side(at + 1, at + 2));
        let after = side(at + 1, at + 1 + AROUND).or(side(at.saturating_sub(1), at));
        let Some((one, other)) = before.zip(after) else { return *level };
        let reach = FARTHEST * deviation / weight.sqrt();
        level.clamp(one.min(other) - reach, one.max(other) + reach)
    };
    levels.iter().zip(weights).enumerate().map(limit).collect()
}

/// Returns the level of a group's values, and its weight: by how much its variance is smaller than that of one value.
pub(crate) fn level(values: &[f64]) -> (f64, f64) {
    (median(values.iter().copied()).unwrap_or_default(), weight(values.len()))
}

/// Returns the standard deviation of a value within the groups, and its degrees of freedom; `None` if no group has two
/// values.
pub(crate) fn spread(groups: &[Vec<f64>]) -> Option<(f64, f64)> {
    let degrees: usize = groups.iter().map(|values| values.len().saturating_sub(1)).sum();
    let squares: f64 = groups.iter().map(|values| sum_of_squares(values)).sum();
    (degrees > 0).then(|| ((squares / degrees as f64).sqrt(), degrees as f64))
}

/// Returns the weight of a group: by how much the variance of its level is smaller than that of a single value. It is
/// the efficiency of the median of normal values, times their number.
fn weight(values: usize) -> f64 {
    let efficiency = match values {
        0..=2 => 1.0,
        3 => 0.743,
        4 => 0.838,
        5 => 0.697,
        6 => 0.776,
        _ => 0.65,
    };
    efficiency * values as f64
}

/// Returns the number of groups, at most so many, whose simulated series are used for theirs: all small ones, and of the
/// others some eight an octave. With fewer groups, differences are larger by chance.
fn representative(groups: usize) -> usize {
    let step = (groups.next_power_of_two() / 16).max(1);
    groups / step * step
}

/// Returns the largest statistic of each of many simulated level series, in ascending order.
fn null((groups, place): &(usize, StretchPlace)) -> Vec<f64> {
    let mut rng = Rng::with_seed(1);
    let mut null: Vec<f64> =
        (0..DRAWS).map(|_| SearchedGroups::simulated(*groups, &mut rng).largest(*place)).collect();
    null.sort_by(f64::total_cmp);
    null
}

/// Returns the p-value of a statistic: the share of the ascending values that reach it, itself counted among them.
fn share_beyond(null: &[f64], statistic: f64) -> f64 {
    let beyond = null.len() - null.partition_point(|one| *one < statistic);
    (beyond + 1) as f64 / (null.len() + 1) as f64
}

/// A number of the standard normal distribution (Box and Muller, "A note on the generation of random normal deviates",
/// 1958).
pub(crate) fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The level at which a single of eight figures is judged.
    const STRICT: f64 = 0.01 / 8.0;

    /// Draws a value of mean 0 and deviation 1.
    type Noise = fn(&mut Rng) -> f64;

    /// Noises: without and with heavy tails, skewed, and with one value in twenty far off.
    const NOISES: [(&str, Noise); 4] = [
        ("normal", normal),
        ("t3", |rng| {
            let squares: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
            normal(rng) / squares.sqrt()
        }),
        ("lognormal", |rng| {
            (normal(rng).exp() - 0.5_f64.exp()) / ((1.0_f64.exp() - 1.0) * 1.0_f64.exp()).sqrt()
        }),
        ("outliers", |rng| normal(rng) * if rng.u32(0..20) == 0 { 5.0 } else { 1.0 } / 1.48),
    ];

    /// Groups of `repeats` values, whose noise has the deviation `sd`, at the given levels.
    fn noisy(rng: &mut Rng, levels: &[f64], repeats: usize, (sd, noise): (f64, Noise)) -> Vec<Vec<f64>> {
        let value = |rng: &mut Rng, level: f64| level * (1.0 + sd * noise(rng));
        levels.iter().map(|level| (0..repeats).map(|_| value(rng, *level)).collect()).collect()
    }

    fn series(rng: &mut Rng, levels: &[f64], repeats: usize, sd: f64) -> Vec<Vec<f64>> {
        noisy(rng, levels, repeats, (sd, normal))
    }

    fn places(groups: &[Vec<f64>]) -> Vec<usize> {
        Search::default().find(groups, 0.0, 0.01, 0.0).changes.iter().map(|point| point.at).collect()
    }

    /// Searches 200 trends of 30 versions with three repeats whose deviation is 1 %, and a step of 5 % anywhere. Returns
    /// the number in which its version is marked, and that in which another is.
    fn steps(noise: Noise) -> (usize, usize) {
        let mut search = Search::default();
        let (mut found, mut others) = (0, 0);
        for seed in 0..200 {
            let mut rng = Rng::with_seed(seed);
            let at = rng.usize(LEAST..29);
            let levels: Vec<f64> = (0..30).map(|version| if version < at { 100.0 } else { 95.0 }).collect();
            let groups = noisy(&mut rng, &levels, 3, (0.01, noise));
            let points = search.find(&groups, 0.0, STRICT, 0.0).changes;
            found += usize::from(points.iter().any(|point| point.at == at));
            others += usize::from(points.iter().any(|point| point.at != at));
        }
        (found, others)
    }

    /// Returns the number of 200 level series of 30 versions in which any is marked. Versions differ by noise, too, with
    /// the deviation `between`.
    fn level(noise: Noise, repeats: usize, between: f64) -> usize {
        let mut search = Search::default();
        let mut marked = 0;
        for seed in 0..200 {
            let mut rng = Rng::with_seed(seed);
            let levels: Vec<f64> = (0..30).map(|_| 100.0 * (1.0 + between * noise(&mut rng))).collect();
            let groups = noisy(&mut rng, &levels, repeats, (0.01, noise));
            marked += usize::from(search.find(&groups, 0.0, 0.01, 0.0) != Course::default());
        }
        marked
    }

    #[test]
    fn a_step_is_found_at_its_place_and_only_there() {
        let (found, others) = steps(normal);
        assert!(found >= 190 && others <= 10, "found {found}, others {others} of 200");
    }

    #[test]
    fn level_series_have_no_change() {
        for (repeats, between) in [(3, 0.0), (1, 0.0), (3, 0.02)] {
            let marked = level(normal, repeats, between);
            assert!(marked <= 6, "{repeats} repeats, {between} between: {marked} of 200");
        }
    }

    /// Searches 200 trends of single runs with a deviation of 1 %, whose latest have another level. Returns the number in
    /// which that is marked at its place.
    fn young(runs: usize, latest: usize, times: f64) -> usize {
        let mut search = Search::default();
        let is_found = |seed: &u64| {
            let level = |run: usize| if run < runs - latest { 100.0 } else { 100.0 * times };
            let levels: Vec<f64> = (0..runs).map(level).collect();
            let groups = series(&mut Rng::with_seed(*seed), &levels, 1, 0.01);
            search
                .find(&groups, 0.0, STRICT, 0.0)
                .changes
                .iter()
                .any(|point| point.at.abs_diff(runs - latest) <= 1)
        };
        (0..200).filter(is_found).count()
    }

    #[test]
    fn a_level_is_found_when_it_is_young_at_any_length_of_history() {
        for (runs, latest, times) in [
            (12, 3, 2.0),
            (14, 3, 1.05),
            (20, 2, 1.05),
            (24, 3, 11.0),
            (30, 3, 1.05),
            (60, 2, 2.0),
            (80, 3, 1.05),
        ] {
            let found = young(runs, latest, times);
            assert!(found >= 180, "{runs} runs, the latest {latest} times {times}: {found} of 200");
        }
    }

    #[test]
    fn outliers_are_no_level_and_hide_none() {
        let mut search = Search::default();
        let outlying = |seed: &u64, lasting: f64| {
            let level = |run: usize| match run {
                4 | 9 => 130.0,
                15.. => 100.0 * lasting,
                _ => 100.0,
            };
            let levels: Vec<f64> = (0..30).map(level).collect();
            series(&mut Rng::with_seed(*seed), &levels, 1, 0.01)
        };
        let mut marks = |lasting: f64, at: usize| {
            let marked = |seed: &u64| {
                let points = search.find(&outlying(seed, lasting), 0.0, STRICT, 0.0).changes;
                points.iter().any(|point| at == 0 || point.at.abs_diff(at) <= 1)
            };
            (0..200).filter(marked).count()
        };
        assert!(marks(1.0, 0) <= 2);
        let found = marks(1.05, 15);
        assert!(found >= 170, "{found} of 200");
    }

    #[test]
    fn noise_of_any_distribution_is_level() {
        for (name, noise) in NOISES {
            let (found, others) = steps(noise);
            let marked =
                [(3, 0.0), (1, 0.0), (3, 0.02)].map(|(repeats, between)| level(noise, repeats, between));
            assert!(found >= 190 && others <= 10, "{name}: found {found}, others {others} of 200");
            assert!(marked.iter().all(|marked| *marked <= 10), "{name}: {marked:?} of 200");
        }
    }

    #[test]
    fn a_drift_names_no_version() {
        let mut search = Search::default();
        let named = |seed: &u64| {
            let levels: Vec<f64> = (0..30).map(|version| 100.0 + f64::from(version) / 2.9).collect();
            let course = search.find(&series(&mut Rng::with_seed(*seed), &levels, 1, 0.01), 0.0, STRICT, 0.0);
            let ends = course.slopes.first().map_or(0.0, |drift| drift.ends.1 - drift.ends.0);
            course.changes.is_empty() && (8.0..12.0).contains(&ends)
        };
        let named = (0..200).filter(named).count();
        assert!(named >= 180, "{named} of 200");
    }

    #[test]
    fn steps_of_a_staircase_are_found_together() {
        let mut search = Search::default();
        let (mut found, mut named) = (0, 0);
        for seed in 0..200 {
            let mut rng = Rng::with_seed(seed);
            let mut draw = |level: fn(f64) -> f64| -> Vec<usize> {
                let levels: Vec<f64> = (0..50).map(|run| level(f64::from(run))).collect();
                let groups = series(&mut rng, &levels, 1, 0.04);
                search.find(&groups, 0.0, 0.01, 0.0).changes.iter().map(|point| point.at).collect()
            };
            let steps = draw(|run| 100.0 + 10.0 * (run / 12.5).floor());
            let near = [13, 25, 38].iter().filter(|at| steps.iter().any(|step| step.abs_diff(**at) <= 1));
            found += near.count();
            named += usize::from(!draw(|run| 95.0 + 0.8 * run).is_empty());
        }
        assert!(found >= 410 && named <= 40, "{found} of 600 found, {named} of 200 drifts named");
    }

    #[test]
    fn changes_are_in_order_and_share_the_levels_between_them() {
        let mut search = Search::default();
        let mut shared = 0;
        for seed in 0..400 {
            let mut rng = Rng::with_seed(seed);
            // Up and down again, in small steps.
            let level = |run: i32| 100.0 + 8.0 * f64::from((run / 11).min((99 - run) / 11));
            let levels: Vec<f64> = (0..100).map(level).collect();
            let course = search.find(&series(&mut rng, &levels, 1, 0.04), 0.0, 0.01, 0.0);
            for (one, next) in course.changes.iter().zip(course.changes.iter().skip(1)) {
                assert!(one.at + LEAST <= next.at, "{seed}: {course:?}");
                let is_drift = |slope: &Slope| slope.span.0 <= next.at && slope.span.1 >= one.at;
                if !course.slopes.iter().any(is_drift) {
                    assert!((one.means.1 - next.means.0).abs() < 1e-9, "{seed}: {course:?}");
                    shared += 1;
                }
            }
        }
        assert!(shared > 400, "{shared}");
    }

    #[test]
    fn days_of_the_week_hide_no_step_and_are_none() {
        let mut search = Search::default();
        let (mut found, mut others) = (0, 0);
        for seed in 0..200 {
            let mut rng = Rng::with_seed(seed);
            let at = rng.usize(6..24);
            for course in [
                |day: usize| if day < 5 { 0.0 } else { 2.0 },
                |day| 2.0 * (std::f64::consts::TAU * day as f64 / 7.0).sin(),
            ] {
                let level = |run: usize| course(run % 7) + if run < at { 100.0 } else { 105.0 };
                let levels: Vec<f64> = (0..30).map(level).collect();
                let points = search.find(&series(&mut rng, &levels, 1, 0.01), 0.0, 0.01, 0.0).changes;
                found += usize::from(points.iter().any(|point| point.at.abs_diff(at) <= 1));
                others += usize::from(points.iter().any(|point| point.at.abs_diff(at) > 1));
            }
        }
        assert!(found >= 380 && others <= 12, "{found} of 400 found, {others} others");
    }

    #[test]
    fn week_without_noise_is_no_change_and_hides_none() {
        for (runs, at) in [(24, 24), (28, 15), (35, 20), (100, 50), (100, 100)] {
            let level = |run: usize| if run % 7 < 5 { 20.0 } else { 22.0 } + if run < at { 0.0 } else { 9.0 };
            let groups: Vec<Vec<f64>> = (0..runs).map(|run| vec![level(run)]).collect();
            let changes = if at < runs { vec![at] } else { Vec::new() };
            assert_eq!(places(&groups), changes, "{runs} runs");
        }
    }

    #[test]
    fn a_drift_without_noise_is_a_drift() {
        for versions in [16, 24, 30, 100] {
            let groups: Vec<Vec<f64>> =
                (0..versions).map(|version| vec![70.0 + f64::from(version)]).collect();
            let course = Search::default().find(&groups, 0.0, STRICT, 0.0);
            assert!(course.changes.is_empty() && course.slopes.len() == 1, "{versions}: {course:?}");
        }
    }

    #[test]
    fn changes_below_the_least_size_are_left_out() {
        let levels: Vec<f64> = (0..40).map(|run| [100.0, 101.0, 106.0][(run / 10).min(2)]).collect();
        let groups = series(&mut Rng::with_seed(1), &levels, 1, 0.001);
        let at = |least: f64| -> Vec<usize> {
            let course = Search::default().find(&groups, 0.0, STRICT, least);
            course.changes.iter().map(|point| point.at).collect()
        };
        assert_eq!(at(0.0), [10, 20]);
        assert_eq!(at(0.02), [20]);
        assert_eq!(at(0.1), [0_usize; 0]);
    }

    #[test]
    fn many_versions_are_searched_in_windows() {
        let levels: Vec<f64> =
            (0..2_000).map(|run| if (700..1_500).contains(&run) { 103.0 } else { 100.0 }).collect();
        assert_eq!(places(&series(&mut Rng::with_seed(7), &levels, 1, 0.01)), [700, 1_500]);
    }

    /// Writes the marks of each series of a file next to the file. A series is a line, whose groups are separated by semicolons
    /// and have values separated by commas.
    #[test]
    #[ignore = "serves .ci/otava"]
    fn series_of_a_file_are_marked() {
        let path = std::env::var("PERFPIPE_TRIAL_SERIES").expect("the file of series");
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let mut search = Search::default();
        let marks = text.lines().map(|line| {
            let values =
                |group: &str| group.split(',').map(|value| value.parse().expect("a number")).collect();
            let course = search.find(&line.split(';').map(values).collect::<Vec<_>>(), 0.0, 0.01, 0.0);
            let changes = course.changes.iter().map(|point| point.at.to_string());
            let drifts = course.slopes.iter().map(|drift| format!("drift {}", drift.span.0));
            changes.chain(drifts).collect::<Vec<_>>().join(",") + "\n"
        });
        std::fs::write(format!("{path}.marks"), marks.collect::<String>()).expect("a writable file");
    }

    #[test]
    fn a_change_that_was_taken_back_is_two() {
        let levels: Vec<f64> =
            (0..30).map(|version| if (14..17).contains(&version) { 95.0 } else { 100.0 }).collect();
        let groups = series(&mut Rng::with_seed(3), &levels, 3, 0.01);
        assert_eq!(places(&groups), [14, 17]);
    }

    #[test]
    fn few_versions_are_judged_by_each_other_and_not_by_their_repeats() {
        let mut marked = 0;
        for seed in 0..2_000 {
            let mut rng = Rng::with_seed(seed);
            let levels: Vec<f64> = (0..5).map(|_| 100.0 * (1.0 + 0.02 * normal(&mut rng))).collect();
            marked += usize::from(!places(&series(&mut rng, &levels, 3, 0.005)).is_empty());
        }
        assert!(marked <= 30, "{marked} of 2000");
        let groups = |levels: &[f64], repeats| series(&mut Rng::with_seed(5), levels, repeats, 0.01);
        assert_eq!(places(&groups(&[100.0, 100.0, 100.0, 100.0, 70.0, 70.0], 3)), [4]);
        // Two or three versions do not show the noise between versions.
        assert_eq!(places(&groups(&[100.0, 80.0], 3)), [0_usize; 0]);
        assert_eq!(places(&groups(&[100.0, 100.0, 50.0], 3)), [0_usize; 0]);
        assert_eq!(places(&[]), [0_usize; 0]);
        assert_eq!(places(&[vec![1.0]]), [0_usize; 0]);
    }

    #[test]
    fn percentiles_in_whole_units_are_level() {
        let mut search = Search::default();
        for versions in [4, 5, 6, 8, 12] {
            let is_marked = |seed: &u64| {
                let mut rng = Rng::with_seed(*seed);
                let mut group = || (0..3).map(|_| (26.5 + 0.4 * normal(&mut rng)).round()).collect();
                let groups: Vec<Vec<f64>> = (0..versions).map(|_| group()).collect();
                // What rounding to whole units adds to the variance.
                search.find(&groups, 1.0 / 12.0, 0.01, 0.0) != Course::default()
            };
            let marked = (0..1000).filter(is_marked).count();
            assert!(marked <= 15, "{versions} versions: {marked} of 1000");
        }
    }

    #[test]
    fn values_without_noise_change_where_they_differ() {
        let groups: Vec<Vec<f64>> =
            (0..10).map(|version| vec![if version < 6 { 0.0 } else { 1.0 }; 2]).collect();
        assert_eq!(places(&groups), [6]);
        assert_eq!(places(&vec![vec![5.0; 3]; 10]), [0_usize; 0]);
        // A noise that is known from elsewhere explains the difference.
        assert_eq!(Search::default().find(&groups, 4.0, 0.01, 0.0), Course::default());
    }
}
