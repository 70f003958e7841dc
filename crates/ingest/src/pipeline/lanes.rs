//! Divides the logs of a run into lanes, which are read side by side.

use std::sync::Arc;

use crate::formats::jtl::parsed::Clock;
use crate::source::LogSource;

/// The maximum number of lanes of a run: the samples of each are a file of their own in a folder.
const MOST: u128 = 64;

/// Logs next to each other, which one reader reads one after another.
pub(crate) struct Lane {
    pub(super) number: usize,
    /// The logs with their names, if the run has several.
    pub(super) logs: Vec<(LogSource, Option<Arc<str>>)>,
}

/// The lanes of a run, and what was found when looking ahead in their logs.
pub(crate) struct Lanes {
    pub(crate) lanes: Vec<Lane>,
    pub(super) clock: Clock,
    /// True if what the lanes tell is worth being counted together.
    pub(super) together: bool,
    /// True if the workers parse the records as they are in the logs, which takes longer than reading them.
    pub(super) light: bool,
}

/// Divides logs into lanes of at least `least` unpacked bytes, as far as these are known. Returns the number of logs of
/// each lane. A log that can be read only once keeps all in one lane, since another may follow it in the same pipe.
pub(super) fn groups(sources: &[LogSource], least: u64) -> Vec<usize> {
    match sources.iter().all(LogSource::can_restart) {
        true => divided(&sources.iter().map(LogSource::about_unpacked).collect::<Vec<_>>(), least),
        false => vec![sources.len()],
    }
}

/// Divides sizes into groups of at least `least` each, and at most [`MOST`] groups. Returns their lengths.
fn divided(sizes: &[u64], least: u64) -> Vec<usize> {
    // A zip may state any size.
    let total: u128 = sizes.iter().copied().map(u128::from).sum();
    let least = total.div_ceil(MOST).max(u128::from(least)).max(1);
    let (mut groups, mut logs, mut bytes) = (Vec::new(), 0, 0_u128);
    for size in sizes {
        (logs, bytes) = (logs + 1, bytes + u128::from(*size));
        if bytes >= least {
            groups.push(std::mem::take(&mut logs));
            bytes = 0;
        }
    }
    // What is left is too little for a lane.
    match groups.last_mut() {
        Some(last) => *last += logs,
        None => groups.push(logs),
    }
    groups
}

/// The number of blocks of `block_size` bytes in logs of these unpacked sizes. `None` if one of them is not known.
pub(super) fn blocks(sizes: impl IntoIterator<Item = Option<u64>>, block_size: usize) -> Option<u64> {
    let of = |size: u64| size.div_ceil(block_size.max(1) as u64);
    // A zip may state any size.
    sizes.into_iter().try_fold(0_u64, |sum, size| Some(sum.saturating_add(of(size?))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blocks_are_known_if_all_sizes_are() {
        assert_eq!(blocks([Some(1), Some(10), Some(11), Some(0)], 10), Some(4));
        assert_eq!(blocks([Some(u64::MAX), Some(u64::MAX)], 1), Some(u64::MAX));
        assert_eq!((blocks([], 0), blocks([Some(1), None], 10)), (Some(0), None));
    }

    #[test]
    fn small_logs_share_a_lane() {
        assert_eq!(divided(&[], 10), [0]);
        assert_eq!(divided(&[3], 10), [1]);
        assert_eq!(divided(&[3, 3, 3, 3], 10), [4]);
        assert_eq!(divided(&[10, 3, 20, 4, 6, 1, 1], 10), [1, 2, 4]);
        assert_eq!(divided(&[0, 0, 0], 0), [3]);
        assert_eq!(divided(&[1; 3], 0), [1, 1, 1]);
    }

    proptest! {
        #[test]
        fn lanes_hold_all_logs_and_are_few(
            sizes in prop::collection::vec(prop_oneof![0..9u64, Just(u64::MAX)], 0..300), least in 0..40u64,
        ) {
            let groups = divided(&sizes, least);
            prop_assert_eq!(groups.iter().sum::<usize>(), sizes.len());
            prop_assert!(groups.len() as u128 <= MOST);
            prop_assert!(sizes.is_empty() || groups.iter().all(|logs| *logs > 0));
        }
    }
}
