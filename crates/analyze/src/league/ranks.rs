//! The ranks that frameworks may have.

use super::differences::differences;
use crate::table::Interval;

/// Returns the ranks that each framework may have, given the throughputs of its repeats: from one more than the number
/// of frameworks that are faster beyond chance, to the last but those that are slower beyond chance.
///
/// All true ranks are within these intervals whenever all differences are right (Mogstad, Romano, Shaikh and Wilhelm,
/// "Inference for ranks with applications to mobility across neighbourhoods and academic achievement across countries",
/// 2024).
pub(crate) fn ranks(throughputs: &[Vec<f64>]) -> Vec<Interval> {
    let mut ranks = vec![Interval { low: 1, high: throughputs.len() as u64 }; throughputs.len()];
    for difference in differences(throughputs) {
        if let Some(slower) = ranks.get_mut(difference.slower) {
            slower.low += 1;
        }
        if let Some(faster) = ranks.get_mut(difference.faster) {
            faster.high -= 1;
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(throughputs: &[&[f64]]) -> Vec<String> {
        let repeats: Vec<Vec<f64>> = throughputs.iter().map(|repeats| repeats.to_vec()).collect();
        ranks(&repeats).iter().map(Interval::to_string).collect()
    }

    #[test]
    fn frameworks_far_from_each_other_have_one_rank_each() {
        let far: [&[f64]; 3] = [&[99.0, 101.0], &[49.0, 51.0], &[9.9, 10.1]];
        assert_eq!(of(&far), ["1", "2", "3"]);
        assert_eq!(of(&[&[99.0, 101.0]]), ["1"]);
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn ranks_of_a_chain_overlap() {
        // Each is near the next, and far from the one after it.
        let chain: [&[f64]; 3] = [&[99.0, 101.0, 100.0], &[96.5, 98.5, 97.5], &[94.0, 96.0, 95.0]];
        assert_eq!(of(&chain), ["1–2", "1–3", "2–3"]);
    }

    #[test]
    fn equal_throughputs_differ_by_nothing() {
        assert_eq!(of(&[&[5.0, 5.0], &[5.0, 5.0], &[4.0, 4.0]]), ["1–2", "1–2", "3"]);
    }

    #[test]
    fn without_two_repeats_of_any_framework_each_may_have_any_rank() {
        assert_eq!(of(&[&[900.0], &[5.0]]), ["1–2", "1–2"]);
        assert_eq!(of(&[&[900.0], &[5.0], &[4.9, 5.1]]), ["1", "2–3", "2–3"]);
    }

    #[test]
    fn framework_without_a_success_is_slower_than_all_others() {
        assert_eq!(of(&[&[0.0, 0.0, 0.0], &[9.0, 9.1, 9.2], &[9.1, 9.2, 9.0]]), ["3", "1–2", "1–2"]);
    }
}
