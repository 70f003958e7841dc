//! Correction for many comparisons at once: the more there are, the more of them exceed any limit by chance.

/// Adjusts p-values (Holm, "A simple sequentially rejective multiple test procedure", 1979). If values below a level
/// are called changes, the share of families with any false call is at most that level.
pub(super) fn adjusted(likelihoods: &[f64]) -> Vec<f64> {
    let mut ascending: Vec<(usize, f64)> = likelihoods.iter().copied().enumerate().collect();
    ascending.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut largest = 0.0;
    let mut adjusted: Vec<(usize, f64)> = (0..)
        .zip(ascending)
        .map(|(before, (place, p))| {
            largest = f64::max(largest, (likelihoods.len() - before) as f64 * p).min(1.0);
            (place, largest)
        })
        .collect();
    adjusted.sort_by_key(|(place, _)| *place);
    adjusted.into_iter().map(|(_, p)| p).collect()
}

#[cfg(test)]
mod tests {
    use super::adjusted;

    #[test]
    fn smallest_counts_for_all_and_the_largest_for_itself() {
        assert_eq!(adjusted(&[0.5, 0.25, 0.0625]), [0.5, 0.5, 0.1875]);
        assert_eq!(adjusted(&[0.9, 0.8]), [1.0, 1.0]);
        assert_eq!(adjusted(&[]), [0.0; 0]);
    }
}
