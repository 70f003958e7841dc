//! Ranks of frameworks whose repeats differ: those that can't be told apart share one.

/// The least and the greatest throughput of a framework's repeats; the same of a single one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) min: f64,
    pub(crate) max: f64,
}

/// The ranks of frameworks that come best first, by a median that is in their range.
///
/// A framework shares the rank of the first one of the group before it if their ranges overlap, ends included; else it
/// begins a group, and its rank is its place (1, 1, 3: the standard competition ranking). It is compared with the
/// first of the group alone: against any of the group, a chain of which each overlaps the next would share one rank
/// from the fastest to the slowest, which are far apart.
pub(crate) fn ranks(best_first: impl IntoIterator<Item = Range>) -> Vec<u64> {
    let mut first: Option<(u64, Range)> = None;
    let rank = |(place, range): (u64, Range)| match first {
        // Its median is not above the first one's, so its range does not begin above that one's end.
        Some((rank, best)) if range.max >= best.min => rank,
        _ => first.insert((place, range)).0,
    };
    (1..).zip(best_first).map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::{Range, ranks};

    fn of(ranges: &[(f64, f64)]) -> Vec<u64> {
        ranks(ranges.iter().map(|&(min, max)| Range { min, max }))
    }

    #[test]
    fn single_runs_share_a_rank_only_where_they_are_equal() {
        assert_eq!(of(&[(9.0, 9.0), (8.999, 8.999), (8.999, 8.999), (1.0, 1.0)]), [1, 2, 2, 4]);
    }

    #[test]
    fn a_chain_is_not_one_group() {
        assert_eq!(
            of(&[(90.0, 110.0), (85.0, 95.0), (80.0, 88.0), (75.0, 84.0), (60.0, 79.0)]),
            [1, 1, 3, 3, 5]
        );
    }

    #[test]
    fn ends_that_touch_overlap() {
        assert_eq!(of(&[(90.0, 110.0), (70.0, 90.0), (69.0, 70.0)]), [1, 1, 3]);
    }
}
