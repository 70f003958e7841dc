//! Latencies, and where they come from.

use serde::{Deserialize, Serialize};

use super::exact;

/// Where latencies come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LatencySource {
    /// perfpipe computed them from every request, or from exact counts of each latency.
    Exact,
    /// The tool printed them.
    Printed,
}

impl LatencySource {
    /// The word in exports and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Printed => "printed",
        }
    }
}

/// The latency below which a share of the requests lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Percentile {
    /// The share, in percent.
    #[serde(with = "exact")]
    pub percent: f64,
    /// The latency, in ms.
    #[serde(with = "exact")]
    pub ms: f64,
}

/// Latencies of a point, in ms. What the tool did not report is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Latencies {
    /// Where they come from; absent if there are none.
    pub source: Option<LatencySource>,
    /// The mean.
    #[serde(with = "exact::optional")]
    pub mean_ms: Option<f64>,
    /// The greatest.
    #[serde(with = "exact::optional")]
    pub max_ms: Option<f64>,
    /// Percentiles, ascending.
    pub percentiles: Vec<Percentile>,
}

impl Latencies {
    /// Latencies as the tool printed them.
    pub(crate) fn printed(mean: Option<f64>, max: Option<f64>, percentiles: Vec<(f64, f64)>) -> Self {
        Self::of(LatencySource::Printed, mean, max, percentiles)
    }

    /// Latencies that were computed from every request, in ms: percentiles as (percent, latency).
    ///
    /// ```
    /// use perfpipe_ingest::points::Latencies;
    ///
    /// let latencies = Latencies::exact(Some(5.5), Some(40.0), vec![(99.0, 12.0), (50.0, 5.0)]);
    /// assert_eq!(latencies.percentile(50.0), Some(5.0));
    /// ```
    pub fn exact(mean_ms: Option<f64>, max_ms: Option<f64>, percentiles: Vec<(f64, f64)>) -> Self {
        Self::of(LatencySource::Exact, mean_ms, max_ms, percentiles)
    }

    fn of(source: LatencySource, mean_ms: Option<f64>, max_ms: Option<f64>, pairs: Vec<(f64, f64)>) -> Self {
        let mut percentiles: Vec<Percentile> =
            pairs.into_iter().map(|(percent, ms)| Percentile { percent, ms }).collect();
        percentiles.sort_by(|a, b| a.percent.total_cmp(&b.percent));
        let found = mean_ms.is_some() || max_ms.is_some() || !percentiles.is_empty();
        Self { source: found.then_some(source), mean_ms, max_ms, percentiles }
    }

    /// Latencies computed from counts of each latency, in units of `unit_ms`.
    pub(crate) fn counted(counts: &[(u64, u64)], unit_ms: f64) -> Self {
        let total: u64 = counts.iter().map(|(_, count)| count).sum();
        let sum: f64 = counts.iter().map(|(value, count)| *value as f64 * *count as f64).sum();
        let at = |percent: f64| Some((percent, percentile_of(counts, total, percent)? * unit_ms));
        let mean = (total > 0).then(|| sum / total as f64 * unit_ms);
        let max = counts.iter().rev().find(|(_, count)| *count > 0).map(|(value, _)| *value as f64 * unit_ms);
        let percentiles = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9].into_iter().filter_map(at).collect();
        Self::of(LatencySource::Exact, mean, max, percentiles)
    }

    /// The latency of a percentile, in ms.
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        self.percentiles.iter().find(|found| (found.percent - percent).abs() < 1e-9).map(|found| found.ms)
    }
}

/// `percentile_cont` over ascending pairs of value and count.
fn percentile_of(counts: &[(u64, u64)], total: u64, percent: f64) -> Option<f64> {
    let place = percent / 100.0 * total.checked_sub(1)? as f64;
    let below = place.floor();
    let (low, high) = (value_at(counts, below as u64)?, value_at(counts, place.ceil() as u64)?);
    Some(low as f64 + (high as f64 - low as f64) * (place - below))
}

/// The value at a position (from 0) of the sorted values.
fn value_at(counts: &[(u64, u64)], place: u64) -> Option<u64> {
    let mut before = 0u64;
    for (value, count) in counts {
        before = before.saturating_add(*count);
        if place < before {
            return Some(*value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn percentiles_of_counts_are_those_of_the_values(counts in prop::collection::btree_map(0u64..5000, 1u64..9, 1..40)) {
            let pairs: Vec<(u64, u64)> = counts.into_iter().collect();
            let values: Vec<f64> =
                pairs.iter().flat_map(|(value, count)| vec![*value as f64; *count as usize]).collect();
            let place = 0.9 * (values.len() - 1) as f64;
            let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
            let found = Latencies::counted(&pairs, 1.0);
            prop_assert!((found.percentile(90.0).unwrap() - (low + (high - low) * place.fract())).abs() < 1e-6);
            prop_assert!((found.mean_ms.unwrap() - values.iter().sum::<f64>() / values.len() as f64).abs() < 1e-6);
        }
    }
}
