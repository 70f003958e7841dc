//! The heat map of a run: how often each elapsed time occurred, over time.

use perfpipe_ingest::StoredRun;

use crate::error::Result;
use crate::timeline::selection::Selection;
use crate::view::View;

/// The largest number of columns; screens show no more.
const COLUMNS: u32 = 1500;

/// The number of buckets in an octave: a bucket is at most an eighth of its lower edge wide.
const PARTS: u32 = 8;

/// Times below this many ms have a bucket each.
const SINGLE: u32 = 2 * PARTS;

/// Counts of elapsed times by time and by size, over the samples that averages are taken over.
///
/// Buckets of size are numbered from 0: one per ms up to 15 ms, then eight per octave.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Heatmap {
    /// The number of seconds in a column: 1 for up to 1,500 seconds.
    pub width: u32,
    /// One column for each `width` selected seconds, in ascending order, silent ones included.
    pub columns: Vec<HeatColumn>,
}

/// One column of a heat map.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct HeatColumn {
    /// The column's first second.
    pub second: u32,
    /// Non-empty buckets with their number of samples, in ascending order.
    pub counts: Vec<(u32, u64)>,
}

impl Heatmap {
    /// Computes the heat map of a stored run for a view, from the exact counts alone.
    ///
    /// # Errors
    /// The same errors as [`crate::Timeline::new`].
    pub fn new(run: &StoredRun, view: &View) -> Result<Self> {
        let selection = Selection::new(run, view)?;
        let (first, last) = selection.window;
        let width = (last - first + 1).div_ceil(COLUMNS);
        let silent = |second| HeatColumn { second, counts: Vec::new() };
        let mut columns: Vec<HeatColumn> = (first..=last).step_by(width as usize).map(silent).collect();
        for cell in selection.averaged_cells() {
            let (key, cell) = cell?;
            if let Some(column) = columns.get_mut(((key.second - first) / width) as usize) {
                column.add(&cell.elapsed);
            }
        }
        Ok(Self { width, columns })
    }

    /// Returns the bucket of an elapsed time in ms; a negative time is counted as 0.
    ///
    /// ```
    /// use perfpipe_analyze::breakdown::Heatmap;
    /// assert_eq!([0, 15, 16, 17, 18].map(Heatmap::bucket), [0, 15, 16, 16, 17]);
    /// ```
    pub fn bucket(elapsed: i32) -> u32 {
        let ms = elapsed.max(0).cast_unsigned();
        if ms < SINGLE {
            return ms;
        }
        // Octaves are counted from 16 ms on; the second part is the eighth within the octave.
        let octave = ms.ilog2() - SINGLE.ilog2();
        SINGLE + octave * PARTS + (ms >> (octave + 1)) % PARTS
    }

    /// Returns the lower edge of a bucket in ms, which is also the exclusive upper edge of the bucket before.
    ///
    /// ```
    /// use perfpipe_analyze::breakdown::Heatmap;
    /// assert_eq!([0, 15, 16, 17, 24].map(Heatmap::edge), [0, 15, 16, 18, 32]);
    /// ```
    pub fn edge(bucket: u32) -> u64 {
        match bucket.checked_sub(SINGLE) {
            None => bucket.into(),
            Some(beyond) => u64::from(PARTS + beyond % PARTS) << (beyond / PARTS + 1).min(58),
        }
    }
}

impl HeatColumn {
    /// Adds counts of elapsed times in ms.
    fn add(&mut self, elapsed: &[(i32, u64)]) {
        self.counts.extend(elapsed.iter().map(|(ms, samples)| (Heatmap::bucket(*ms), *samples)));
        self.add_up();
    }

    /// Sorts the buckets and merges counts of the same bucket.
    fn add_up(&mut self) {
        self.counts.sort_unstable_by_key(|(bucket, _)| *bucket);
        self.counts.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(later.1);
            }
            same
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn time_lies_between_the_edges_of_its_bucket(elapsed in any::<i32>(), small in 0..5000i32) {
            for elapsed in [elapsed, small] {
                let bucket = Heatmap::bucket(elapsed);
                let ms = u64::from(elapsed.max(0).cast_unsigned());
                let (low, high) = (Heatmap::edge(bucket), Heatmap::edge(bucket + 1));
                prop_assert!(low <= ms && ms < high, "{elapsed}: {low} to {high}");
                prop_assert!(high - low == 1 || (high - low) * 8 <= low);
            }
        }
    }

    #[test]
    fn buckets_follow_one_another() {
        for bucket in 0..Heatmap::bucket(i32::MAX) {
            assert!(Heatmap::edge(bucket) < Heatmap::edge(bucket + 1), "{bucket}");
        }
    }
}
