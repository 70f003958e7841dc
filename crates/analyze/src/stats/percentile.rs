//! Percentiles as PostgreSQL's `percentile_cont` defines them, several in one sweep over exact counts; medians; and merging
//! of the sorted counts of several cells.

use std::ops::RangeInclusive;

use perfpipe_model::run::Resolution;

use crate::error::{Error, Result};

/// Percentiles to compute, in ascending order, each with its index in the answers.
#[derive(Debug, Clone)]
pub(crate) struct Percentiles {
    ascending: Vec<Wanted>,
    /// The number of answers, including those to invalid percentiles.
    answers: usize,
}

#[derive(Debug, Clone, Copy)]
struct Wanted {
    /// The percentile as a fraction, from 0 to 1.
    fraction: f64,
    /// The index in the answers.
    place: usize,
}

/// The position of a percentile among sorted values: `fraction` of the way from the value at `rank` to the next.
#[derive(Debug, Clone, Copy)]
struct Position {
    rank: u64,
    fraction: f64,
}

impl Wanted {
    fn position(self, n: u64) -> Position {
        let last = n.saturating_sub(1);
        let position = self.fraction * last as f64;
        // Cut off, which is as rounding down, since it is never below zero.
        let rank = position as u64;
        Position { rank: rank.min(last), fraction: position - rank as f64 }
    }
}

impl Percentiles {
    /// Creates the sweep for percentiles in percent. The answer for one that is not from 0 to 100 is always `None`.
    pub(crate) fn new(percents: &[f64]) -> Self {
        let mut ascending: Vec<Wanted> = percents
            .iter()
            .enumerate()
            .filter(|(_, percent)| is_percentile(**percent))
            .map(|(place, percent)| Wanted { fraction: fraction(*percent), place })
            .collect();
        ascending.sort_by(|a, b| a.fraction.total_cmp(&b.fraction));
        Self { ascending, answers: percents.len() }
    }

    /// The position of a percentile, by its index in ascending order, among `n` values.
    fn position(&self, at: usize, n: u64) -> Option<Position> {
        self.ascending.get(at).map(|wanted| wanted.position(n))
    }

    /// Returns the percentiles, in ms, of `n` values in a unit, given as (value, count) in ascending order; a value may
    /// occur several times.
    pub(crate) fn of(
        &self,
        n: u64,
        counts: impl IntoIterator<Item = (i32, u64)>,
        unit: Resolution,
    ) -> Vec<Option<f64>> {
        let mut sweep = self.sweep(n);
        counts.into_iter().for_each(|(value, samples)| sweep.add(value, samples));
        sweep.finish(unit)
    }

    /// Begins a sweep over `n` values.
    pub(crate) fn sweep(&self, n: u64) -> Sweep<'_> {
        let answers = vec![None; self.answers];
        let mut sweep =
            Sweep { percentiles: self, n, reached: 0, value: 0, answered: 0, located: 0, next: 0, answers };
        sweep.next = sweep.awaited();
        sweep
    }
}

/// A sweep over values in ascending order, on which the percentiles are found one after the other.
pub(crate) struct Sweep<'a> {
    percentiles: &'a Percentiles,
    n: u64,
    /// The number of values so far.
    reached: u64,
    /// The last value at a wanted rank.
    value: i32,
    /// The number of percentiles that have their answer.
    answered: usize,
    /// The number of percentiles whose position was reached. Those without an answer lie between `value` and the next one.
    located: usize,
    /// The rank of the next percentile: values before it need not be looked at. Zero if the very next value is wanted.
    next: u64,
    answers: Vec<Option<f64>>,
}

impl Sweep<'_> {
    /// Adds the next value, in ascending order, with its number of samples.
    #[inline(always)]
    pub(crate) fn add(&mut self, value: i32, samples: u64) {
        let reached = self.reached.saturating_add(samples);
        if reached > self.next && samples > 0 {
            self.look_at(value, reached);
        }
        self.reached = reached;
    }

    /// Adds the next values, which have so many samples in total, if none of them need be looked at. Otherwise returns
    /// false.
    #[inline(always)]
    pub(crate) fn pass_over(&mut self, samples: u64) -> bool {
        let reached = self.reached.saturating_add(samples);
        if reached <= self.next {
            self.reached = reached;
        }
        reached <= self.next
    }

    /// Looks at a value that is, or lies above, the one at a wanted rank. `reached` values are not greater.
    #[cold]
    fn look_at(&mut self, value: i32, reached: u64) {
        self.answer(value);
        self.value = value;
        while let Some(position) = self.position(self.located).filter(|position| position.rank < reached) {
            self.located += 1;
            if position.rank + 1 < reached {
                self.answer(value);
            }
        }
        self.next = self.awaited();
    }

    /// Answers those percentiles whose position was reached, given the value above them.
    fn answer(&mut self, above: i32) {
        for at in self.answered..self.located {
            let place = self.percentiles.ascending.get(at).map(|wanted| wanted.place);
            let answer = place.and_then(|place| self.answers.get_mut(place));
            if let (Some(answer), Some(position)) = (answer, self.percentiles.position(at, self.n)) {
                *answer = Some(interpolate(self.value, above, position.fraction));
            }
        }
        self.answered = self.located;
    }

    fn position(&self, at: usize) -> Option<Position> {
        self.percentiles.position(at, self.n)
    }

    fn awaited(&self) -> u64 {
        match self.answered < self.located {
            true => 0,
            false => self.position(self.located).map_or(u64::MAX, |position| position.rank),
        }
    }

    /// Returns the percentiles, in ms, of values in this unit.
    pub(crate) fn finish(mut self, unit: Resolution) -> Vec<Option<f64>> {
        self.answer(self.value);
        self.answers.into_iter().map(|answer| answer.map(|value| unit.ms(value))).collect()
    }
}

/// Returns true if a number is a percentile, in percent.
fn is_percentile(percent: f64) -> bool {
    (0.0..=100.0).contains(&percent)
}

/// Checks percentiles, in percent, and removes duplicates.
///
/// # Errors
/// [`Error::Percentile`] if one is not from 0 to 100.
pub(crate) fn checked(percents: &[f64]) -> Result<Vec<f64>> {
    let mut checked: Vec<f64> = Vec::with_capacity(percents.len());
    for percent in percents {
        if !is_percentile(*percent) {
            return Err(Error::Percentile { percentile: *percent });
        }
        if !checked.contains(percent) {
            checked.push(*percent);
        }
    }
    Ok(checked)
}

/// Returns the column name of a percentile: `p` and the percentile in its shortest form, as in `p99.9`.
pub(crate) fn column_name(percent: f64) -> String {
    // Adding zero removes the sign of a negative zero.
    format!("p{}", percent + 0.0)
}

/// Converts percent to the nearest fraction: 99.9 becomes exactly the number that SQL reads from `0.999`, which 99.9 /
/// 100 is not.
pub(crate) fn fraction(percent: f64) -> f64 {
    format!("{percent}e-2").parse().unwrap_or(percent / 100.0)
}

/// Interpolates between two neighbours, in PostgreSQL's order of operations, so that the last bit agrees too.
fn interpolate(low: i32, high: i32, fraction: f64) -> f64 {
    f64::from(low) + fraction * (f64::from(high) - f64::from(low))
}

/// Returns the median, for an even number of values the mean of the middle two; `None` for no values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get((sorted.len() - 1) / 2)?;
    Some(if sorted.len() % 2 == 1 { upper } else { lower + (upper - lower) / 2.0 })
}

/// Returns the median, for an even number of values the upper of the middle two, so that it is always one of the
/// values.
pub(crate) fn upper_median(values: &[f64]) -> Option<f64> {
    let middle = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let mut values = values.to_vec();
    Some(*values.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// Counters are used if the range of the values is at most this many times their number.
const SPARSE: usize = 16;

/// Buffers for merging, reused from one second to the next.
#[derive(Default)]
pub(crate) struct Merger {
    counters: Vec<u64>,
    merged: Vec<(i32, u64)>,
}

impl Merger {
    /// Merges lists of (value, count), each in ascending order. The result is in ascending order too, but may contain a
    /// value several times. A single list is not copied.
    pub(crate) fn merge<'s>(&'s mut self, lists: &[&'s [(i32, u64)]]) -> &'s [(i32, u64)] {
        if let [only] = lists {
            return only;
        }
        self.merged.clear();
        let least = lists.iter().filter_map(|list| list.first()).map(|(value, _)| *value).min();
        let largest = lists.iter().filter_map(|list| list.last()).map(|(value, _)| *value).max();
        let (Some(least), Some(largest)) = (least, largest) else { return &[] };
        let width = usize::try_from(i64::from(largest) - i64::from(least)).unwrap_or(usize::MAX);
        let values: usize = lists.iter().map(|list| list.len()).sum();
        if width <= values.saturating_mul(SPARSE) {
            self.count(lists, least..=largest, width + 1);
        } else {
            self.sort(lists);
        }
        &self.merged
    }

    /// Merges with a counter for each possible value: the fast way if the values are close to each other.
    fn count(&mut self, lists: &[&[(i32, u64)]], range: RangeInclusive<i32>, width: usize) {
        self.counters.clear();
        self.counters.resize(width, 0);
        for (value, samples) in lists.iter().copied().flatten() {
            let at = usize::try_from(i64::from(*value) - i64::from(*range.start())).ok();
            if let Some(counter) = at.and_then(|at| self.counters.get_mut(at)) {
                *counter = counter.saturating_add(*samples);
            }
        }
        let counted = range.zip(&self.counters).filter(|(_, samples)| **samples > 0);
        self.merged.extend(counted.map(|(value, samples)| (value, *samples)));
    }

    /// Merges by sorting: the stable sort finds the ascending stretches and merges them.
    fn sort(&mut self, lists: &[&[(i32, u64)]]) {
        self.merged.extend(lists.iter().copied().flatten());
        self.merged.sort_by_key(|(value, _)| *value);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const MS: Resolution = Resolution::MILLISECOND;

    /// The definition, applied to the values themselves.
    fn by_sorting(values: &[i32], percent: f64) -> Option<f64> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let position = fraction(percent) * (sorted.len().checked_sub(1)? as f64);
        let (low, high) = (position.floor(), position.ceil());
        Some(interpolate(sorted[low as usize], sorted[high as usize], position - low))
    }

    /// The definition in integers, for a percentile in thousandths of a percent: the answer as a numerator over
    /// 100,000.
    fn by_exact_arithmetic(values: &[i32], thousandths: u32) -> Option<i128> {
        const WHOLE: i128 = 100_000;
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let position = i128::from(thousandths) * (sorted.len().checked_sub(1)? as i128);
        let (rank, rest) = ((position / WHOLE) as usize, position % WHOLE);
        let low = i128::from(sorted[rank]);
        let high = i128::from(*sorted.get(rank + 1).unwrap_or(&sorted[rank]));
        Some(low * WHOLE + rest * (high - low))
    }

    fn counted(values: &[i32]) -> Vec<(i32, u64)> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        sorted.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u64)).collect()
    }

    #[test]
    fn fraction_is_the_number_that_sql_reads() {
        assert_ne!(99.9 / 100.0, 0.999);
        for (percent, wanted) in [(99.9, 0.999), (0.1, 0.001), (100.0, 1.0), (0.0, 0.0), (33.3, 0.333)] {
            assert_eq!(fraction(percent), wanted);
        }
    }

    #[test]
    fn names_are_short() {
        let names: Vec<String> = [50.0, 99.9, 0.0, -0.0, 99.99].map(column_name).into();
        assert_eq!(names, ["p50", "p99.9", "p0", "p0", "p99.99"]);
    }

    #[test]
    fn percentile_out_of_range_is_refused() {
        for bad in [-0.1, 100.1, f64::NAN, f64::INFINITY] {
            assert!(matches!(checked(&[50.0, bad]), Err(Error::Percentile { .. })));
            assert_eq!(Percentiles::new(&[bad, 50.0]).of(1, [(7, 1)], MS), [None, Some(7.0)]);
        }
        assert_eq!(checked(&[95.0, 50.0, 95.0]).unwrap(), [95.0, 50.0]);
    }

    proptest! {
        #[test]
        fn one_sweep_equals_sorting_all_values(
            values in prop::collection::vec(prop_oneof![-3..20i32, any::<i32>()], 0..300),
            percents in prop::collection::vec(prop_oneof![0.0..=100.0, Just(0.0), Just(50.0), Just(100.0)], 0..8),
        ) {
            let expected: Vec<Option<f64>> = percents.iter().map(|p| by_sorting(&values, *p)).collect();
            let sweep = Percentiles::new(&percents);
            prop_assert_eq!(&sweep.of(values.len() as u64, counted(&values), MS), &expected);
            // A value may occur several times, as in concatenated and sorted lists.
            let mut singly: Vec<(i32, u64)> = values.iter().map(|value| (*value, 1)).collect();
            singly.sort_unstable();
            prop_assert_eq!(&sweep.of(values.len() as u64, singly, MS), &expected);
        }

        #[test]
        fn positions_agree_with_exact_arithmetic(
            values in prop::collection::vec(0..100_000i32, 1..300),
            thousandths in 0..=100_000u32,
        ) {
            let percent: f64 = format!("{thousandths}e-3").parse().unwrap();
            let exact = by_exact_arithmetic(&values, thousandths).unwrap() as f64 / 100_000.0;
            let found = Percentiles::new(&[percent]).of(values.len() as u64, counted(&values), MS)[0].unwrap();
            prop_assert!((found - exact).abs() <= 1e-9 * exact.abs().max(1.0), "{found} for {exact}");
        }
    }

    #[test]
    fn median_of_an_even_number_is_the_mean_of_the_middle_two() {
        assert_eq!(median([]), None);
        assert_eq!(median([3.0]), Some(3.0));
        assert_eq!(median([9.0, 1.0]), Some(5.0));
        assert_eq!(median([9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([9.0, 4.0, 1.0, 2.0]), Some(3.0));
    }

    #[test]
    fn upper_median_is_one_of_the_values() {
        assert_eq!(upper_median(&[3.0, 1.0, 2.0, 9.0]), Some(3.0));
        assert_eq!(upper_median(&[]), None);
    }

    fn totals<'a>(counts: impl IntoIterator<Item = &'a (i32, u64)>) -> BTreeMap<i32, u64> {
        let mut totals = BTreeMap::new();
        for (value, samples) in counts {
            *totals.entry(*value).or_default() += samples;
        }
        totals
    }

    fn lists() -> impl Strategy<Value = Vec<BTreeMap<i32, u64>>> {
        let value = prop_oneof![-20..200i32, 0..9000i32, any::<i32>(), Just(i32::MIN), Just(i32::MAX)];
        prop::collection::vec(prop::collection::btree_map(value, 1..9u64, 0..20), 0..5)
    }

    proptest! {
        #[test]
        fn merged_values_are_complete_and_in_order(rounds in prop::collection::vec(lists(), 1..4)) {
            let mut merger = Merger::default();
            for lists in rounds {
                let lists: Vec<Vec<(i32, u64)>> = lists.into_iter().map(|list| list.into_iter().collect()).collect();
                let parts: Vec<&[(i32, u64)]> = lists.iter().map(Vec::as_slice).collect();
                let merged = merger.merge(&parts);
                prop_assert!(merged.is_sorted_by_key(|(value, _)| *value));
                prop_assert_eq!(totals(merged), totals(lists.iter().flatten()));
            }
        }
    }

    #[test]
    fn values_close_together_come_once_each() {
        let mut merger = Merger::default();
        let close = merger.merge(&[&[(5, 1), (7, 2)], &[(7, 3), (9, 1)]]);
        assert_eq!(close, [(5, 1), (7, 5), (9, 1)]);
        assert_eq!(merger.merge(&[&[(0, 1)], &[(0, 1), (1000, 1)]]), [(0, 1), (0, 1), (1000, 1)]);
    }
}
