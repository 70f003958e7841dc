//! Ranks of frameworks, where some can't be told apart.

/// Ranks frameworks that are sorted best first. `is_faster` returns true if one framework is faster than another, both
/// given by index.
///
/// A rank begins at a place where each framework above it is faster than each one from it on, and is the number of that
/// place (1, 1, 3: the standard competition ranking). Two frameworks that can't be told apart therefore always share a
/// rank, together with all between them; so does a chain in which each can't be told from the next.
pub(crate) fn ranks(count: usize, is_faster: impl Fn(usize, usize) -> bool) -> Vec<u64> {
    // For each framework, how many from the first on are faster without a gap.
    let reach = (0..count).map(|own| (0..own).take_while(|above| is_faster(*above, own)).count());
    let mut begins: Vec<bool> = Vec::with_capacity(count);
    let mut least = usize::MAX;
    for (place, reach) in reach.collect::<Vec<_>>().into_iter().enumerate().rev() {
        least = least.min(reach);
        begins.push(least >= place);
    }
    let mut rank = 1;
    (1..)
        .zip(begins.into_iter().rev())
        .map(|(place, begins)| {
            rank = if begins { place } else { rank };
            rank
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::ranks;
    use proptest::prelude::*;

    #[test]
    fn single_figures_share_a_rank_only_where_they_are_equal() {
        let figures = [9.0, 8.999, 8.999, 1.0];
        assert_eq!(ranks(4, |one, other| figures[one] > figures[other]), [1, 2, 2, 4]);
        assert_eq!(ranks(0, |_, _| true), Vec::<u64>::new());
    }

    #[test]
    fn chain_shares_a_rank_and_a_gap_ends_it() {
        // Neighbours among the first three can't be told apart, nor can the last two; the first three are faster than
        // those.
        let told = |one: usize, other: usize| other >= 3 && one < 3 || other - one > 1;
        assert_eq!(ranks(5, told), [1, 1, 1, 4, 4]);
    }

    proptest! {
        /// Follows the definition: looks at every pair for every place.
        #[test]
        fn rank_begins_where_all_above_are_told_from_all_below(
            count in 0..9usize, told in prop::collection::vec(prop::bool::weighted(0.8), 81),
        ) {
            let faster = |one: usize, other: usize| told[one * 9 + other];
            let mut expected = Vec::new();
            for place in 0..count {
                let begins = (0..place).all(|above| (place..count).all(|below| faster(above, below)));
                expected.push(if begins { place as u64 + 1 } else { *expected.last().unwrap() });
            }
            prop_assert_eq!(ranks(count, faster), expected);
        }
    }
}
