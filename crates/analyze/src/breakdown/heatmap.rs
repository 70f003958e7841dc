//! The heat map of a run: how often each elapsed time occurred, over time.

use perfpipe_model::StoredRun;
use perfpipe_model::run::Resolution;

use super::round_width;
use crate::error::Result;
use crate::stats::histogram::sort_and_add_up;
use crate::timeline::selection::Selection;
use crate::view::View;

/// The largest number of columns; screens show no more. A run of up to half an hour has a column for each second.
const COLUMNS: u32 = 1800;

/// The number of buckets in an octave: a bucket is at most 1/128 of its lower edge wide.
const PARTS: u32 = 128;

/// Times below this many units have a bucket each.
const SINGLE: u32 = 2 * PARTS;

/// The largest number of counts: this many, and some more for each second.
const COUNTS: usize = 120_000;
const COUNTS_A_SECOND: usize = 8;

/// Counts of elapsed times by time and by size, over the samples that averages are taken over.
///
/// A run of up to half an hour has a column for each second, and each time is counted separately, unless that would be too many
/// counts. Otherwise times are counted in buckets numbered from 0: one per unit (1 ms for a log of JMeter) up to 255, then
/// 128 per octave, so that a percentile of the merged counts is at most 0.4 % off.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Heatmap {
    /// The unit of elapsed times, that of the run.
    pub unit: Resolution,
    /// The number of seconds in a column.
    pub width: u32,
    /// True if each time is counted separately. The counts of a column are then by times in the unit, otherwise by bucket.
    pub exact: bool,
    /// One column for each `width` selected seconds, in ascending order, silent ones included.
    pub columns: Vec<HeatColumn>,
}

/// One column of a heat map.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct HeatColumn {
    /// The column's first second.
    pub second: u32,
    /// Elapsed times, in the unit or as buckets, with their number of samples, in ascending order.
    pub counts: Vec<(i32, u64)>,
}

impl Heatmap {
    /// Computes the heat map of a stored run for a view, from the exact counts alone.
    ///
    /// # Errors
    /// The same errors as [`crate::Timeline::new`].
    pub fn new(run: &StoredRun, view: &View) -> Result<Self> {
        let selection = Selection::new(run, view)?;
        let (first, last) = selection.window;
        let seconds = last - first + 1;
        let most = COUNTS + COUNTS_A_SECOND * seconds as usize;
        let width = round_width(seconds.div_ceil(COLUMNS));
        let silent = |second| HeatColumn { second, counts: Vec::new() };
        let columns = (first..=last).step_by(width as usize).map(silent).collect();
        let mut map = Self { unit: run.info.resolution, width, exact: width == 1, columns };
        let mut counts = 0;
        for cell in selection.averaged_cells() {
            let (key, cell) = cell?;
            counts += map.add((key.second - first) / map.width, &cell.elapsed);
            while counts > most {
                counts = map.coarsen();
            }
        }
        Ok(map)
    }

    /// Adds counts of elapsed times to a column, and returns how many more counts it has then.
    fn add(&mut self, at: u32, elapsed: &[(i32, u64)]) -> usize {
        let exact = self.exact;
        let Some(column) = self.columns.get_mut(at as usize) else { return 0 };
        let before = column.counts.len();
        let place = |ms: i32| if exact { ms.max(0) } else { Self::bucket(ms).cast_signed() };
        column.counts.extend(elapsed.iter().map(|(ms, samples)| (place(*ms), *samples)));
        sort_and_add_up(&mut column.counts);
        column.counts.len() - before
    }

    /// Reduces the number of counts, and returns how many are left: the first call puts exact times into buckets, each
    /// later one joins pairs of columns.
    fn coarsen(&mut self) -> usize {
        if self.exact {
            self.exact = false;
            for (place, _) in self.columns.iter_mut().flat_map(|column| &mut column.counts) {
                *place = Self::bucket(*place).cast_signed();
            }
        } else {
            self.width *= 2;
            let joined = |pair: &[HeatColumn]| HeatColumn {
                second: pair.first().map_or(0, |column| column.second),
                counts: pair.iter().flat_map(|column| &column.counts).copied().collect(),
            };
            self.columns = self.columns.chunks(2).map(joined).collect();
        }
        self.columns.iter_mut().for_each(|column| sort_and_add_up(&mut column.counts));
        self.columns.iter().map(|column| column.counts.len()).sum()
    }

    /// Returns the bucket of an elapsed time in the unit; a negative time is counted as 0.
    ///
    /// ```
    /// use perfpipe_analyze::breakdown::Heatmap;
    /// assert_eq!([0, 255, 256, 257, 258].map(Heatmap::bucket), [0, 255, 256, 256, 257]);
    /// ```
    pub fn bucket(elapsed: i32) -> u32 {
        let ms = elapsed.max(0).cast_unsigned();
        if ms < SINGLE {
            return ms;
        }
        // Octaves are counted from 256 units on; the second part is the place within the octave.
        let octave = ms.ilog2() - SINGLE.ilog2();
        SINGLE + octave * PARTS + (ms >> (octave + 1)) % PARTS
    }

    /// Returns the lower edge of a bucket in the unit, which is also the exclusive upper edge of the bucket before.
    ///
    /// ```
    /// use perfpipe_analyze::breakdown::Heatmap;
    /// assert_eq!([0, 255, 256, 257, 384].map(Heatmap::edge), [0, 255, 256, 258, 512]);
    /// ```
    pub fn edge(bucket: u32) -> u64 {
        match bucket.checked_sub(SINGLE) {
            None => bucket.into(),
            Some(beyond) => u64::from(PARTS + beyond % PARTS) << (beyond / PARTS + 1).min(58),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn time_lies_between_the_edges_of_its_bucket(elapsed in any::<i32>(), small in 0..50_000i32) {
            for elapsed in [elapsed, small] {
                let bucket = Heatmap::bucket(elapsed);
                let ms = u64::from(elapsed.max(0).cast_unsigned());
                let (low, high) = (Heatmap::edge(bucket), Heatmap::edge(bucket + 1));
                prop_assert!(low <= ms && ms < high, "{elapsed}: {low} to {high}");
                prop_assert!(high - low == 1 || (high - low) * 128 <= low);
            }
        }
    }

    #[test]
    fn buckets_follow_one_another() {
        for bucket in 0..Heatmap::bucket(i32::MAX) {
            assert!(Heatmap::edge(bucket) < Heatmap::edge(bucket + 1), "{bucket}");
        }
    }

    #[test]
    fn too_many_counts_are_gathered_into_buckets_and_then_into_longer_columns() {
        let column = |second| HeatColumn { second, counts: vec![(1000, 1), (1001, 2), (2000, 3)] };
        let columns = (5..8).map(column).collect();
        let mut map = Heatmap { unit: Resolution::default(), width: 1, exact: true, columns };
        assert_eq!(map.coarsen(), 6);
        let [slow, slower] = [1000, 2000].map(|ms| Heatmap::bucket(ms).cast_signed());
        assert_eq!((map.exact, &map.columns[2].counts[..]), (false, &[(slow, 3), (slower, 3)][..]));
        assert_eq!(map.coarsen(), 4);
        assert_eq!((map.width, map.columns[1].second, map.columns.len()), (2, 7, 2));
        assert_eq!(map.columns[0].counts, [(slow, 6), (slower, 6)]);
    }
}
