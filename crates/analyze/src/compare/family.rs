//! Correction for many comparisons at once: the more there are, the more of them exceed any limit by chance.

use super::difference::MISSED;

/// A p-value of a family.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Member {
    /// The p-value, adjusted for the family.
    pub(super) adjusted: f64,
    /// The p-value must be below this for its figure to be called changed.
    pub(super) level: f64,
}

/// Adjusts p-values (Holm, "A simple sequentially rejective multiple test procedure", 1979). If values below a level
/// are called changes, the share of families with any false call is at most that level.
pub(super) fn adjusted(likelihoods: &[f64]) -> Vec<Member> {
    let mut ascending: Vec<(usize, f64)> = likelihoods.iter().copied().enumerate().collect();
    ascending.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut largest = 0.0;
    let mut adjusted: Vec<(usize, Member)> = (0..)
        .zip(ascending)
        .map(|(before, (place, p))| {
            let left = (likelihoods.len() - before) as f64;
            largest = f64::max(largest, left * p).min(1.0);
            (place, Member { adjusted: largest, level: MISSED / left })
        })
        .collect();
    adjusted.sort_by_key(|(place, _)| *place);
    adjusted.into_iter().map(|(_, member)| member).collect()
}

#[cfg(test)]
mod tests {
    use super::adjusted;

    #[test]
    fn smallest_counts_for_all_and_the_largest_for_itself() {
        let values = |of: &[f64]| -> Vec<f64> { adjusted(of).iter().map(|member| member.adjusted).collect() };
        assert_eq!(values(&[0.5, 0.25, 0.0625]), [0.5, 0.5, 0.1875]);
        assert_eq!(values(&[0.9, 0.8]), [1.0, 1.0]);
        assert_eq!(values(&[]), [0.0; 0]);
        let levels: Vec<f64> = adjusted(&[0.5, 0.25]).iter().map(|member| member.level).collect();
        assert_eq!(levels, [0.01, 0.005]);
    }
}
