//! Where a series of groups changes its level: circular binary segmentation with simulated p-values.
//!
//! Each step looks for the stretch of groups whose mean differs most from the rest (Olshen, Venkatraman, Lucito and
//! Wigler, "Circular binary segmentation for the analysis of array-based DNA copy number data", 2004), so that both a
//! lasting step and a change that was taken back are found. The p-value is that of the largest such difference in
//! simulated level series with the same numbers of values. The parts are then searched in turn. In the end, each change
//! point must still separate its two neighbours.
//!
//! A single value far from all others is no level: a level has three values or more, and the level of a group of three
//! values or more is their median. Where there are many values, the difference must also be rare among shuffled values,
//! whatever their distribution is.

use std::collections::BTreeMap;

use fastrand::Rng;

use super::median::median;

/// The number of simulated level series: the least, and the most.
const DRAWS: (usize, usize) = (2_000, 10_000);
/// The number of stretches that may be looked at in all simulated series together.
const WORK: usize = 50_000_000;
/// The least number of groups from which differences between groups beyond those of their values can be told.
const TELLING: usize = 6;
/// The least number of values that are shuffled: fewer have too few orders.
const MANY: usize = 24;
/// The least number of values of a level.
const LEAST: u32 = 3;
/// The median of the absolute value of a standard normal variable.
const NORMAL_MEDIAN: f64 = 0.674_489_750_196_081_7;
/// The share of series without differences between groups that are taken to have some.
const MISJUDGED: f64 = 0.01;

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
    nulls: BTreeMap<Shape, Vec<f64>>,
    spreads: BTreeMap<Shape, f64>,
}

/// The numbers of values of the groups, and the degrees of freedom that the groups' values give to the noise.
type Shape = (Vec<u32>, u32);

/// The groups as they are searched: one level a group.
#[derive(Debug)]
struct Units {
    groups: Vec<Vec<f64>>,
    levels: Vec<f64>,
    /// The numbers of values.
    values: Vec<u32>,
    /// The sum of squares within the groups, and its degrees of freedom.
    within: (f64, u32),
    /// The least variance of one value.
    floor: f64,
}

impl Search {
    /// Returns the change points of a series, in order, each with p below `level`. `floor` is the least variance that a
    /// value is known to have. Groups without values must have been left out.
    pub(crate) fn find(&mut self, groups: &[Vec<f64>], floor: f64, level: f64) -> Vec<ChangePoint> {
        let Some(units) = self.units(groups, floor) else { return Vec::new() };
        let mut edges = vec![0, units.levels.len()];
        self.split(&units, (0, units.levels.len()), level, &mut edges);
        edges.sort_unstable();
        edges.dedup();
        self.prune(&units, edges, level)
    }

    /// Weighs the groups by their numbers of values; or alike, if groups differ by more than their values do. Returns
    /// `None` if nothing tells the noise.
    fn units(&mut self, groups: &[Vec<f64>], floor: f64) -> Option<Units> {
        let units = Units::of(groups, floor);
        let has_repeats = units.within.1 >= 2;
        if has_repeats && !self.differ(&units) {
            return Some(units);
        }
        // A group's level is known better than each of its values.
        let most = units.values.iter().copied().max().unwrap_or(1);
        let alone: Vec<Vec<f64>> = units.levels.iter().map(|level| vec![*level]).collect();
        Some(Units::of(&alone, floor / weight(most)))
    }

    /// Returns true if neighbouring groups differ by more than their values explain. The median of the differences
    /// hardly depends on a few changes of level.
    fn differ(&mut self, units: &Units) -> bool {
        let shape = units.shape(0, units.levels.len());
        let limit = self.spreads.entry(shape).or_insert_with_key(spread_limit);
        units.levels.len() >= TELLING && units.spread() > *limit
    }

    fn split(&mut self, units: &Units, (from, to): (usize, usize), level: f64, edges: &mut Vec<usize>) {
        let Some(stretch) = units.most_different(from, to) else { return };
        if self.p(units, (from, to), stretch.between, level) >= level {
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
                .map(|(from, at, to)| ChangePoint {
                    at,
                    means: (units.mean(from, at), units.mean(at, to)),
                    p: match units.are_levels(from, at, to) {
                        true => self.p(units, (from, to), units.between((from, to), (at, to)), level),
                        false => 1.0,
                    },
                })
                .collect();
            let weakest = points.iter().max_by(|a, b| a.p.total_cmp(&b.p));
            match weakest.filter(|point| point.p >= level).map(|point| point.at) {
                Some(at) => edges.retain(|edge| *edge != at),
                None => return points,
            }
        }
    }

    /// Returns the p-value of a sum of squares between a stretch and the rest of a part. Values are shuffled only if that
    /// can matter at a level.
    fn p(&mut self, units: &Units, (from, to): (usize, usize), between: f64, level: f64) -> f64 {
        let statistic = units.statistic((from, to), between);
        let null = self.nulls.entry(units.shape(from, to)).or_insert_with_key(null);
        let p = share_beyond(null, statistic);
        if p < level { p.max(units.shuffled((from, to), statistic)) } else { p }
    }
}

/// A stretch of groups, and the sum of squares between it and the rest.
struct Stretch {
    from: usize,
    to: usize,
    between: f64,
}

impl Units {
    fn of(groups: &[Vec<f64>], floor: f64) -> Self {
        let values: Vec<u32> = groups.iter().map(|values| values.len() as u32).collect();
        let degrees = values.iter().map(|count| count.saturating_sub(1)).sum();
        let levels = groups.iter().map(|values| median(values.iter().copied()).unwrap_or_default()).collect();
        let within = (groups.iter().map(|values| squares(values)).sum(), degrees);
        Self { groups: groups.to_vec(), levels, values, within, floor }
    }

    /// Returns a level series with noise of variance 1.
    fn simulated((values, degrees): &Shape, rng: &mut Rng) -> Self {
        let levels = values.iter().map(|count| normal(rng) / weight(*count).sqrt()).collect();
        let within = (chi_square(*degrees, rng), *degrees);
        Self { groups: Vec::new(), levels, values: values.clone(), within, floor: 0.0 }
    }

    /// Returns the share of shuffles of a part's values that have at least such a statistic; 0 for few values.
    fn shuffled(&self, (from, to): (usize, usize), statistic: f64) -> f64 {
        let groups = self.groups.get(from..to).unwrap_or_default();
        let mut values: Vec<f64> = groups.concat();
        if values.len() < MANY {
            return 0.0;
        }
        let elsewhere = self.within.0 - groups.iter().map(|values| squares(values)).sum::<f64>();
        let mut rng = Rng::with_seed(3);
        let shuffled = |_| {
            rng.shuffle(&mut values);
            let mut rest = values.iter().copied();
            let groups: Vec<Vec<f64>> =
                groups.iter().map(|values| rest.by_ref().take(values.len()).collect()).collect();
            let mut units = Self::of(&groups, self.floor);
            units.within = (units.within.0 + elsewhere.max(0.0), self.within.1);
            units.largest()
        };
        let mut null: Vec<f64> = (0..DRAWS.0).map(shuffled).collect();
        null.sort_by(f64::total_cmp);
        share_beyond(&null, statistic)
    }

    /// Returns the statistic of the stretch that differs most.
    fn largest(&self) -> f64 {
        let whole = (0, self.levels.len());
        let most = self.most_different(0, whole.1);
        most.map_or(0.0, |stretch| self.statistic(whole, stretch.between))
    }

    fn shape(&self, from: usize, to: usize) -> Shape {
        (self.values.get(from..to).unwrap_or_default().to_vec(), self.within.1)
    }

    /// Returns true if there are enough values on both sides of a change.
    fn are_levels(&self, from: usize, at: usize, to: usize) -> bool {
        let values = |from, to| self.values.get(from..to).unwrap_or_default().iter().sum::<u32>();
        values(from, at) >= LEAST && values(at, to) >= LEAST
    }

    /// Iterates over the levels and weights of a part.
    fn part(&self, (from, to): (usize, usize)) -> impl Iterator<Item = (f64, f64)> {
        let levels = self.levels.get(from..to).unwrap_or_default();
        let values = self.values.get(from..to).unwrap_or_default();
        levels.iter().copied().zip(values.iter().map(|count| weight(*count)))
    }

    fn mean(&self, from: usize, to: usize) -> f64 {
        let (sum, weight) = self
            .part((from, to))
            .fold((0.0, 0.0), |(sum, all), (level, weight)| (sum + level * weight, all + weight));
        sum / weight
    }

    /// Returns the standard deviation of a value as the differences of neighbouring groups show it, as a multiple of
    /// that within the groups.
    fn spread(&self) -> f64 {
        let units: Vec<(f64, f64)> = self.part((0, self.levels.len())).collect();
        let difference = |pair: &[(f64, f64)]| match *pair {
            [(one, weight), (other, beside)] => {
                Some((one - other).abs() / (1.0 / weight + 1.0 / beside).sqrt())
            }
            _ => None,
        };
        let differences: Vec<f64> = units.windows(2).filter_map(difference).collect();
        let variance = (self.within.0 / f64::from(self.within.1.max(1))).max(self.floor);
        median(differences).map_or(0.0, |middle| middle / NORMAL_MEDIAN / variance.sqrt())
    }

    /// Returns the stretch whose mean differs most from that of the rest of a part.
    fn most_different(&self, from: usize, to: usize) -> Option<Stretch> {
        let center = self.mean(from, to);
        let mut sums = vec![Sums::default()];
        for ((level, weight), values) in self.part((from, to)).zip(self.values.iter().skip(from)) {
            let Sums { sum, weight: before, values: counted } = *sums.last()?;
            sums.push(Sums {
                sum: sum + (level - center) * weight,
                weight: before + weight,
                values: counted + values,
            });
        }
        let stretch = most_between(&sums)?;
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
        let degrees = f64::from(self.within.1) + (to - from) as f64 - 2.0;
        if degrees <= 0.0 {
            return 0.0;
        }
        let residual = (total - between).max(0.0) + self.within.0;
        let variance = (residual / degrees).max(self.floor);
        // Equal values differ by nothing; where nothing varies, the least difference is beyond all chance.
        if between <= f64::EPSILON * center * center { 0.0 } else { between / variance }
    }
}

/// The sums of the first so many groups of a part.
#[derive(Debug, Default, Clone, Copy)]
struct Sums {
    /// Of levels, from the part's mean, times weights.
    sum: f64,
    weight: f64,
    values: u32,
}

/// Returns the stretch with the largest sum of squares between it and the rest, both of enough values.
fn most_between(sums: &[Sums]) -> Option<Stretch> {
    let all = sums.last()?;
    let mut most: Option<Stretch> = None;
    for (from, before) in sums.iter().enumerate() {
        for (to, until) in sums.iter().enumerate().skip(from + 1) {
            let values = until.values - before.values;
            if values < LEAST || all.values - values < LEAST {
                continue;
            }
            let (sum, inside) = (until.sum - before.sum, until.weight - before.weight);
            let between = sum * sum * all.weight / (inside * (all.weight - inside));
            if most.as_ref().is_none_or(|most| between > most.between) {
                most = Some(Stretch { from, to, between });
            }
        }
    }
    most
}

/// Returns the level of a group's values, and its weight: by how much its variance is smaller than that of one value.
pub(crate) fn level(values: &[f64]) -> (f64, f64) {
    (median(values.iter().copied()).unwrap_or_default(), weight(values.len() as u32))
}

/// Returns the standard deviation of a value within the groups, and its degrees of freedom; `None` if no group has two
/// values.
pub(crate) fn spread(groups: &[Vec<f64>]) -> Option<(f64, f64)> {
    let Units { within: (squares, degrees), .. } = Units::of(groups, 0.0);
    (degrees > 0).then(|| ((squares / f64::from(degrees)).sqrt(), f64::from(degrees)))
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
fn null(shape: &Shape) -> Vec<f64> {
    let mut rng = Rng::with_seed(1);
    let draws = draws(shape.0.len());
    let mut null: Vec<f64> = (0..draws).map(|_| Units::simulated(shape, &mut rng).largest()).collect();
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

/// Returns the limit of [`Units::spread`] that few series exceed whose groups differ only by their values.
fn spread_limit(shape: &Shape) -> f64 {
    let mut rng = Rng::with_seed(2);
    let mut spreads: Vec<f64> = (0..DRAWS.0).map(|_| Units::simulated(shape, &mut rng).spread()).collect();
    spreads.sort_by(f64::total_cmp);
    let at = ((1.0 - MISJUDGED) * DRAWS.0 as f64) as usize;
    spreads.get(at).copied().unwrap_or(f64::INFINITY)
}

/// A number of the standard normal distribution (Box and Muller, "A note on the generation of random normal deviates",
/// 1958).
fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

/// A number of the chi-square distribution (Wilson and Hilferty, "The distribution of chi-square", 1931).
fn chi_square(degrees: u32, rng: &mut Rng) -> f64 {
    if degrees < 30 {
        return (0..degrees).map(|_| normal(rng).powi(2)).sum();
    }
    let (degrees, ninth) = (f64::from(degrees), 2.0 / (9.0 * f64::from(degrees)));
    degrees * (1.0 - ninth + normal(rng) * ninth.sqrt()).powi(3)
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
        ("t3", |rng| normal(rng) / (chi_square(3, rng) / 3.0).sqrt() / 3.0_f64.sqrt()),
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
            let at = rng.usize(1..30);
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
            assert!(marked <= 10, "{repeats} repeats, {between} between: {marked} of 200");
        }
    }

    /// Prints the rates of mistakes for each noise: the table of docs/statistics.md. Versions that differ by noise of
    /// their own are printed only: where it is skewed, a version far off is a change that was taken back.
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
            assert!(marked[0].max(marked[1]) <= 10, "{name}: {marked:?} of 200");
        }
    }

    #[test]
    fn a_change_that_was_taken_back_is_two() {
        let levels: Vec<f64> = (0..30).map(|version| if version == 14 { 95.0 } else { 100.0 }).collect();
        let groups = series(&mut Rng::with_seed(3), &levels, 3, 0.01);
        assert_eq!(places(&groups), [14, 15]);
    }

    #[test]
    fn few_versions_are_judged_by_their_repeats() {
        let groups = |levels: &[f64], repeats| series(&mut Rng::with_seed(5), levels, repeats, 0.01);
        assert_eq!(places(&groups(&[100.0, 80.0], 3)), [1]);
        assert_eq!(places(&groups(&[100.0, 100.0], 3)), [0_usize; 0]);
        // Single runs of three versions tell no noise.
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
