//! The percentile curve of elapsed times, with points close enough to draw.

use super::histogram::Histogram;

/// The number of points for each nine: from 90 % to 99 %, from there to 99.9 %, and so on.
const POINTS: u32 = 20;

/// The number of nines at the end of the curve.
const NINES: u32 = 4;

/// Common percentiles that are not at the nines.
const NAMED: [f64; 4] = [25.0, 50.0, 75.0, 95.0];

/// Returns elapsed times from 0 % to 99.99 %, each as (percent, ms), in ascending order: at equal steps of log
/// 1 / (1 − p), as in HdrHistogram's plots, and at the usual percentiles. Empty if nothing was counted.
pub(crate) fn percentile_curve(elapsed: &Histogram) -> Vec<(f64, f64)> {
    let percents = percents();
    let times = elapsed.percentiles(&percents);
    percents.into_iter().zip(times).filter_map(|(percent, ms)| Some((percent, ms?))).collect()
}

/// Returns the percentiles of the curve, in ascending order.
fn percents() -> Vec<f64> {
    let step = |step: u32| 100.0 - 100.0 * 10f64.powf(-f64::from(step) / f64::from(POINTS));
    // Four decimals, so that a nine is exactly as people write it.
    let tidy = |percent: f64| (percent * 1e4).round() / 1e4;
    let steps = (0..=NINES * POINTS).map(step).map(tidy);
    let mut percents: Vec<f64> = steps.chain(NAMED).collect();
    percents.sort_by(f64::total_cmp);
    percents.dedup();
    percents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nines_are_on_the_curve_and_it_never_falls() {
        let percents = percents();
        for nine in [0.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99] {
            assert!(percents.contains(&nine), "{nine}: {percents:?}");
        }
        assert!(percents.is_sorted());
        let elapsed: Histogram = [3, 900, 12, 12, 70_000].into_iter().collect();
        let curve = percentile_curve(&elapsed);
        assert!(curve.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{curve:?}");
        assert_eq!(percentile_curve(&Histogram::new()), []);
        let even = percentile_curve(&(0..=10_000).collect());
        assert!(even.contains(&(50.0, 5000.0)) && even.contains(&(99.9, 9990.0)));
        assert_eq!(even.last(), Some(&(99.99, 9999.0)));
    }
}
