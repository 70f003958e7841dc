//! Medians by two rules for an even number of values: the mean of the middle two, or the upper one.

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
