//! Where a series of groups changes its level: circular binary segmentation with simulated p-values.
//!
//! Each step looks for the stretch of groups whose mean differs most from the rest (Olshen, Venkatraman, Lucito and
//! Wigler, "Circular binary segmentation for the analysis of array-based DNA copy number data", 2004), so that both a
//! lasting step and a change that was taken back are found. The p-value is that of the largest such difference in
//! simulated level series with the same numbers of values. The parts are then searched in turn. In the end, each change
//! point must still separate its two neighbours. A change of the latest groups is looked for by itself, since it has few
//! places where it can be: it is found from two groups on, at any length of the series. Where there are many groups, a
//! difference must also be rare among shuffled groups.
//!
//! The groups are the values: what the values of one group have in common, such as the day, is noise of groups. A group far
//! from all others is no level, and has a limited influence: a level has three groups or more, and a group counts as no
//! farther from its neighbours' median than a few deviations.

use std::collections::BTreeMap;

use fastrand::Rng;

use super::median::median;
use super::stretch::{Stretch, Sums};

/// The number of simulated level series: the least, and the most.
const DRAWS: (usize, usize) = (2_000, 10_000);
/// The number of stretches that may be looked at in all simulated series together.
const WORK: usize = 50_000_000;
/// From this number of groups on, a difference must be rare among shuffled groups too, whatever their distribution is;
/// fewer have too few orders.
const MANY: usize = 24;
/// The largest share of shuffles with such a difference.
const SHUFFLED: f64 = 0.01;
/// The least number of groups of a level.
const LEAST: usize = 3;
/// The numbers of the latest groups that may be a new level.
const YOUNG: std::ops::RangeInclusive<usize> = 2..=6;
/// The least number of groups in which a change can be found.
pub(crate) const LEAST_GROUPS: usize = LEAST + *YOUNG.start();
/// The share of the mistakes that changes of the latest groups may take.
const OF_YOUNG: f64 = 0.5;
/// The number of groups on either side whose median a group is compared with.
const AROUND: usize = 3;
/// The largest distance from those medians, in deviations.
const FARTHEST: f64 = 3.0;
/// The median of the absolute value of a standard normal variable.
const NORMAL_MEDIAN: f64 = 0.674_489_750_196_081_7;

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

/// A search for change points. It keeps the simulated series, which figures of the same groups share.
#[derive(Debug, Default)]
pub(crate) struct Search {
    nulls: BTreeMap<(Vec<u32>, Place), Vec<f64>>,
}

/// Where a stretch may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Anywhere,
    Latest,
}

/// The groups as they are searched: one level a group.
#[derive(Debug)]
struct Units {
    /// The levels, limited in their distance from those around them.
    levels: Vec<f64>,
    /// The levels as they are, of which a change point has the means.
    seen: Vec<f64>,
    /// The numbers of values.
    values: Vec<u32>,
    /// The least variance of one value.
    floor: f64,
}

impl Search {
    /// Returns the change points of a series, in order, each with p below `level`. `floor` is the least variance that a
    /// value is known to have. Groups without values must have been left out.
    pub(crate) fn find(&mut self, groups: &[Vec<f64>], floor: f64, level: f64) -> Vec<ChangePoint> {
        let units = Units::of(groups, floor);
        let whole = units.levels.len();
        let mut edges = vec![0, whole];
        self.split(&units, (0, whole), level * (1.0 - OF_YOUNG), &mut edges);
        edges.sort_unstable();
        edges.dedup();
        let mut points = self.prune(&units, edges, level * (1.0 - OF_YOUNG));
        let from = points.last().map_or(0, |point| point.at);
        let young = self.young(&units, from).filter(|point| point.p < level);
        if let (Some(young), Some(last)) = (young, points.last_mut()) {
            last.means.1 = young.means.0;
        }
        points.extend(young);
        points
    }

    /// Returns the change of the latest groups that differ most from those before them.
    fn young(&mut self, units: &Units, from: usize) -> Option<ChangePoint> {
        let part = (from, units.levels.len());
        let latest = units.most_different(part, Place::Latest)?;
        let p = self.p(units, part, latest.between, Place::Latest) / OF_YOUNG;
        let means = (units.level(from, latest.from), units.level(latest.from, latest.to));
        Some(ChangePoint { at: latest.from, means, p })
    }

    fn split(&mut self, units: &Units, (from, to): (usize, usize), level: f64, edges: &mut Vec<usize>) {
        let Some(stretch) = units.most_different((from, to), Place::Anywhere) else { return };
        if self.p(units, (from, to), stretch.between, Place::Anywhere) >= level {
            return;
        }
        let inner = [stretch.from, stretch.to].into_iter().filter(|edge| *edge > from && *edge < to);
        let mut parts: Vec<usize> = std::iter::once(from).chain(inner).chain([to]).collect();
        parts.dedup();
        edges.extend(&parts);
        for part in parts.windows(2) {
            if let [from, to] = *part {
                self.split(units, (from, to), level, edges);
            }
        }
    }

    /// Drops change points, the weakest first, until each separates its neighbours.
    fn prune(&mut self, units: &Units, mut edges: Vec<usize>, level: f64) -> Vec<ChangePoint> {
        loop {
            let points: Vec<ChangePoint> = edges
                .windows(3)
                .filter_map(|edges| if let [from, at, to] = *edges { Some((from, at, to)) } else { None })
                .map(|(from, at, to)| {
                    let between = units.between((from, to), (at, to));
                    let is_level = at - from >= LEAST && to - at >= LEAST;
                    let p = if is_level { self.p(units, (from, to), between, Place::Anywhere) } else { 1.0 };
                    ChangePoint { at, means: (units.level(from, at), units.level(at, to)), p }
                })
                .collect();
            let weakest = points.iter().max_by(|a, b| a.p.total_cmp(&b.p));
            match weakest.filter(|point| point.p >= level).map(|point| point.at) {
                Some(at) => edges.retain(|edge| *edge != at),
                None => return points,
            }
        }
    }

    /// Returns the p-value of a sum of squares between a stretch and the rest of a part.
    fn p(&mut self, units: &Units, (from, to): (usize, usize), between: f64, place: Place) -> f64 {
        let values = units.values.get(from..to).unwrap_or_default().to_vec();
        let null = self.nulls.entry((values, place)).or_insert_with_key(null);
        let statistic = units.statistic((from, to), between);
        let p = share_beyond(null, statistic);
        let has_orders = to - from >= MANY && p < SHUFFLED;
        if has_orders && units.shuffled((from, to), statistic, place) > SHUFFLED { 1.0 } else { p }
    }
}

impl Units {
    fn of(groups: &[Vec<f64>], floor: f64) -> Self {
        let values: Vec<u32> = groups.iter().map(|values| values.len() as u32).collect();
        let levels: Vec<f64> =
            groups.iter().map(|values| median(values.iter().copied()).unwrap_or_default()).collect();
        // What the values of a group scatter by is noise at least.
        let within = spread(groups).map_or(0.0, |(sd, _)| sd * sd);
        let floor = floor.max(within);
        Self { levels: limited(&levels, &values, floor), seen: levels, values, floor }
    }

    /// Returns a level series with noise of variance 1.
    fn simulated(values: &[u32], rng: &mut Rng) -> Self {
        let levels = values.iter().map(|count| normal(rng) / weight(*count).sqrt()).collect();
        Self { levels, seen: Vec::new(), values: values.to_vec(), floor: 0.0 }
    }

    /// Returns the share of shuffles of a part's groups in which a stretch of that kind has at least such a statistic.
    fn shuffled(&self, (from, to): (usize, usize), statistic: f64, place: Place) -> f64 {
        let units = self.levels.get(from..to).unwrap_or_default().iter().copied();
        let mut units: Vec<(f64, u32)> =
            units.zip(self.values.get(from..to).unwrap_or_default().iter().copied()).collect();
        let mut rng = Rng::with_seed(3);
        let mut null: Vec<f64> = (0..DRAWS.0)
            .map(|_| {
                rng.shuffle(&mut units);
                let (levels, values) = units.iter().copied().unzip();
                Self { levels, seen: Vec::new(), values, floor: self.floor }.largest(place)
            })
            .collect();
        null.sort_by(f64::total_cmp);
        share_beyond(&null, statistic)
    }

    /// Returns the statistic of the stretch that differs most.
    fn largest(&self, place: Place) -> f64 {
        let whole = (0, self.levels.len());
        let most = self.most_different(whole, place);
        most.map_or(0.0, |stretch| self.statistic(whole, stretch.between))
    }

    /// Iterates over the levels and weights of a part.
    fn part(&self, (from, to): (usize, usize)) -> impl Iterator<Item = (f64, f64)> {
        let levels = self.levels.get(from..to).unwrap_or_default();
        let values = self.values.get(from..to).unwrap_or_default();
        levels.iter().copied().zip(values.iter().map(|count| weight(*count)))
    }

    /// Returns the mean of the levels as they are.
    fn level(&self, from: usize, to: usize) -> f64 {
        let values = self.values.get(from..to).unwrap_or_default().iter().map(|count| weight(*count));
        let levels = self.seen.get(from..to).unwrap_or_default().iter().zip(values);
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
    fn most_different(&self, (from, to): (usize, usize), place: Place) -> Option<Stretch> {
        let sums = Sums::of(self.part((from, to)), self.mean(from, to));
        let groups = sums.len();
        let stretch = match place {
            // Both the stretch and the rest are levels.
            Place::Anywhere => sums.most_different(LEAST, |from, to| groups - (to - from) >= LEAST)?,
            Place::Latest => {
                let young = YOUNG.filter(|young| young + LEAST <= groups);
                let stretches = young.filter_map(|young| sums.stretch(groups - young, groups));
                stretches.max_by(|a, b| a.between.total_cmp(&b.between))?
            }
        };
        Some(Stretch { from: from + stretch.from, to: from + stretch.to, ..stretch })
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
        let total: f64 = self.part((from, to)).map(|(level, weight)| weight * (level - center).powi(2)).sum();
        let degrees = (to - from) as f64 - 2.0;
        if degrees <= 0.0 {
            return 0.0;
        }
        let variance = ((total - between).max(0.0) / degrees).max(self.floor);
        // Equal values differ by nothing; where nothing varies, the least difference is beyond all chance.
        if between <= f64::EPSILON * center * center { 0.0 } else { between / variance }
    }
}

/// Limits the distance of each level from the median of those around it, on which a lasting change has little effect.
fn limited(levels: &[f64], values: &[u32], floor: f64) -> Vec<f64> {
    let weights: Vec<f64> = values.iter().map(|count| weight(*count)).collect();
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
        // Of the first group and the last, the one beside it stands for the missing side.
        let before = side(at.saturating_sub(AROUND), at).or(side(at + 1, at + 2));
        let after = side(at + 1, at + 1 + AROUND).or(side(at.saturating_sub(1), at));
        let Some((one, other)) = before.zip(after) else { return *level };
        let reach = FARTHEST * deviation / weight.sqrt();
        level.clamp(one.min(other) - reach, one.max(other) + reach)
    };
    levels.iter().zip(&weights).enumerate().map(limit).collect()
}

/// Returns the level of a group's values, and its weight: by how much its variance is smaller than that of one value.
pub(crate) fn level(values: &[f64]) -> (f64, f64) {
    (median(values.iter().copied()).unwrap_or_default(), weight(values.len() as u32))
}

/// Returns the standard deviation of a value within the groups, and its degrees of freedom; `None` if no group has two
/// values.
pub(crate) fn spread(groups: &[Vec<f64>]) -> Option<(f64, f64)> {
    let degrees: usize = groups.iter().map(|values| values.len().saturating_sub(1)).sum();
    let squares: f64 = groups.iter().map(|values| squares(values)).sum();
    (degrees > 0).then(|| ((squares / degrees as f64).sqrt(), degrees as f64))
}

/// Returns the weight of a group: by how much the variance of its level is smaller than that of a single value. It is
/// the efficiency of the median of normal values, times their number.
fn weight(values: u32) -> f64 {
    let efficiency = match values {
        0..=2 => 1.0,
        3 => 0.743,
        4 => 0.838,
        5 => 0.697,
        6 => 0.776,
        _ => 0.65,
    };
    efficiency * f64::from(values)
}

fn draws(groups: usize) -> usize {
    (WORK / (groups * groups / 2).max(1)).clamp(DRAWS.0, DRAWS.1)
}

/// Returns the largest statistic of each of many simulated level series, in ascending order.
fn null((values, place): &(Vec<u32>, Place)) -> Vec<f64> {
    let mut rng = Rng::with_seed(1);
    let draws = match place {
        Place::Anywhere => draws(values.len()),
        // A series of any length takes as many steps; small p-values need many series.
        Place::Latest => DRAWS.1,
    };
    let largest = |_| Units::simulated(values, &mut rng).largest(*place);
    let mut null: Vec<f64> = (0..draws).map(largest).collect();
    null.sort_by(f64::total_cmp);
    null
}

/// Returns the p-value of a statistic: the share of the ascending values that reach it, itself counted among them.
fn share_beyond(null: &[f64], statistic: f64) -> f64 {
    let beyond = null.len() - null.partition_point(|one| *one < statistic);
    (beyond + 1) as f64 / (null.len() + 1) as f64
}

/// Returns the sum of the squares of the distances from the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// A number of the standard normal distribution (Box and Muller, "A note on the generation of random normal deviates",
/// 1958).
fn normal(rng: &mut Rng) -> f64 {
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

    /// Groups of `repeats` values, whose noise has the deviation `sd`, at the levels that are told.
    fn noisy(rng: &mut Rng, levels: &[f64], repeats: usize, (sd, noise): (f64, Noise)) -> Vec<Vec<f64>> {
        let value = |rng: &mut Rng, level: f64| level * (1.0 + sd * noise(rng));
        levels.iter().map(|level| (0..repeats).map(|_| value(rng, *level)).collect()).collect()
    }

    fn series(rng: &mut Rng, levels: &[f64], repeats: usize, sd: f64) -> Vec<Vec<f64>> {
        noisy(rng, levels, repeats, (sd, normal))
    }

    fn places(groups: &[Vec<f64>]) -> Vec<usize> {
        Search::default().find(groups, 0.0, 0.01).iter().map(|point| point.at).collect()
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
            let points = search.find(&noisy(&mut rng, &levels, 3, (0.01, noise)), 0.0, STRICT);
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
            marked += usize::from(!search.find(&groups, 0.0, 0.01).is_empty());
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
            search.find(&groups, 0.0, STRICT).iter().any(|point| point.at.abs_diff(runs - latest) <= 1)
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
                let points = search.find(&outlying(seed, lasting), 0.0, STRICT);
                points.iter().any(|point| at == 0 || point.at.abs_diff(at) <= 1)
            };
            (0..200).filter(marked).count()
        };
        assert!(marks(1.0, 0) <= 2);
        let found = marks(1.05, 15);
        assert!(found >= 170, "{found} of 200");
    }

    /// Prints the rates of mistakes for each noise, and how young levels are found: the tables of docs/statistics.md.
    #[test]
    #[ignore = "takes minutes"]
    fn rates_for_each_noise() {
        println!(
            "| noise | the step's version | another version | level | level, single runs | level, versions differ |"
        );
        for (name, noise) in NOISES {
            let (found, others) = steps(noise);
            let marked =
                [(3, 0.0), (1, 0.0), (3, 0.02)].map(|(repeats, between)| level(noise, repeats, between));
            let percent = [found, others, marked[0], marked[1], marked[2]].map(|count| count as f64 / 2.0);
            println!("| {name} | {} % |", percent.map(|share| share.to_string()).join(" % | "));
            assert!(found >= 190 && others <= 10, "{name}: found {found}, others {others} of 200");
            assert!(marked.iter().all(|marked| *marked <= 10), "{name}: {marked:?} of 200");
        }
        println!("\n| runs | +5 % since two | since three | +100 % since two | since three |");
        for runs in [12, 16, 20, 24, 30, 40, 60, 100, 300] {
            let found = [(2, 1.05), (3, 1.05), (2, 2.0), (3, 2.0)];
            let found = found.map(|(latest, times)| (young(runs, latest, times) as f64 / 2.0).to_string());
            println!("| {runs} | {} |", found.join(" | "));
        }
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
        for seed in 0..200 {
            let mut rng = Rng::with_seed(seed);
            let levels: Vec<f64> = (0..5).map(|_| 100.0 * (1.0 + 0.02 * normal(&mut rng))).collect();
            marked += usize::from(!places(&series(&mut rng, &levels, 3, 0.005)).is_empty());
        }
        assert!(marked <= 4, "{marked} of 200");
        let groups = |levels: &[f64], repeats| series(&mut Rng::with_seed(5), levels, repeats, 0.01);
        assert_eq!(places(&groups(&[100.0, 100.0, 100.0, 100.0, 70.0, 70.0], 3)), [4]);
        // Two versions do not show the noise between versions, and single runs of three do not either.
        assert_eq!(places(&groups(&[100.0, 80.0], 3)), [0_usize; 0]);
        assert_eq!(places(&groups(&[100.0, 100.0, 50.0], 1)), [0_usize; 0]);
        assert_eq!(places(&[]), [0_usize; 0]);
        assert_eq!(places(&[vec![1.0]]), [0_usize; 0]);
    }

    #[test]
    fn values_without_noise_change_where_they_differ() {
        let groups: Vec<Vec<f64>> =
            (0..10).map(|version| vec![if version < 6 { 0.0 } else { 1.0 }; 2]).collect();
        assert_eq!(places(&groups), [6]);
        assert_eq!(places(&vec![vec![5.0; 3]; 10]), [0_usize; 0]);
        // A noise that is known from elsewhere explains the difference.
        assert!(Search::default().find(&groups, 4.0, 0.01).is_empty());
    }
}
