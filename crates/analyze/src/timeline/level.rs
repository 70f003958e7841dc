//! Level parts of a load curve: the rule that finds a run's hold.

use crate::stats::median::upper_median;
use std::collections::VecDeque;
use std::ops::Range;

/// How far below its peak a load may be and still be held, as shares of the peak; all are tried.
pub(crate) const BANDS: [f64; 5] = [0.01, 0.02, 0.05, 0.1, 0.2];
/// The least share of a hold's seconds that must be within the band.
const WITHIN: f64 = 0.9;
/// The least number of seconds in a hold.
pub(crate) const LEAST: usize = 5;
/// How much longer the hold must be than the load stays at any other level: a factor, applied after adding this many
/// seconds to the other, since whole seconds and the median can make that many of a climb look level.
pub(crate) const LONGER: (f64, usize) = (1.5, 2);
/// How much the medians of the first and the last third of a hold may differ, as a share of the level.
const DRIFT: f64 = 0.03;
/// How much those medians may differ, in standard errors of their difference.
const ERRORS: f64 = 4.0;
/// A second is at the hold's level if it is within this share of it, or within the scatter.
const NEAR: f64 = 0.01;
/// The scatter is this many times the median distance from the level.
const SCATTER: f64 = 3.0;
/// The number of seconds on either side in a moving median.
const RADIUS: usize = 2;
/// The number of parts of a run whose medians show whether it climbs.
const PARTS: usize = 10;
/// The least gain of a climb, as a share of the peak, and the largest share of its gain that it may lose on the way.
const CLIMB: (f64, f64) = (0.2, 0.2);

/// Finds the stretch in which a load is held, if there is one; see [`crate::Phases`] for the rule.
pub(crate) fn hold(loads: &[f64]) -> Option<Range<usize>> {
    let smooth = smoothed(loads);
    let peak = peak(&smooth);
    let mut best: Option<Range<usize>> = None;
    for band in BANDS {
        let found = candidate(loads, &smooth, peak, band);
        if found.as_ref().map_or(0, Range::len) > best.as_ref().map_or(0, Range::len) {
            best = found;
        }
    }
    best
}

/// Returns true if a load that is never held climbs all the way, with small losses only.
pub(crate) fn climbs(loads: &[f64]) -> bool {
    if loads.len() < PARTS {
        return false;
    }
    let part = |at: usize| loads.get(loads.len() * at / PARTS..loads.len() * (at + 1) / PARTS);
    let medians: Vec<f64> = (0..PARTS).filter_map(part).filter_map(upper_median).collect();
    let changes = medians.iter().zip(medians.iter().skip(1)).map(|(one, next)| next - one);
    let (gain, loss) = changes
        .fold((0.0, 0.0), |(gain, loss), change: f64| (gain + change.max(0.0), loss + (-change).max(0.0)));
    gain > CLIMB.0 * peak(&smoothed(loads)) && loss <= CLIMB.1 * gain
}

/// Smooths loads by a moving median, which removes outliers and keeps edges in place.
pub(crate) fn smoothed(loads: &[f64]) -> Vec<f64> {
    let around = |at: usize| {
        let radius = RADIUS.min(at).min(loads.len() - 1 - at);
        loads.get(at - radius..=at + radius).and_then(upper_median).unwrap_or_default()
    };
    (0..loads.len()).map(around).collect()
}

/// Returns the largest smoothed load, without the first and the last seconds, which have too few neighbours.
fn peak(smooth: &[f64]) -> f64 {
    let inner = smooth.get(RADIUS..smooth.len().saturating_sub(RADIUS)).filter(|inner| !inner.is_empty());
    inner.unwrap_or(smooth).iter().copied().fold(0.0, f64::max)
}

/// Returns the hold, if the load is held within a band below its peak.
fn candidate(loads: &[f64], smooth: &[f64], peak: f64, band: f64) -> Option<Range<usize>> {
    let within = |load: &f64| *load >= (1.0 - band) * peak;
    let wide = smooth.iter().position(within)?..smooth.iter().rposition(within)? + 1;
    let many = smooth.get(wide.clone())?.iter().filter(|load| within(load)).count();
    if (many as f64) < WITHIN * wide.len() as f64 {
        return None;
    }
    let hold = trimmed(loads, wide)?;
    let other = longest_level(smooth.get(..hold.start)?, band * peak)
        .len()
        .max(longest_level(smooth.get(hold.end..)?, band * peak).len());
    let longer = other == 0 || hold.len() as f64 >= LONGER.0 * (other + LONGER.1) as f64;
    (hold.len() >= LEAST && longer && is_level(loads.get(hold.clone())?, DRIFT)).then_some(hold)
}

/// Shortens a stretch by the seconds at its ends that are not at its level.
pub(crate) fn trimmed(loads: &[f64], wide: Range<usize>) -> Option<Range<usize>> {
    let stretch = loads.get(wide.clone())?;
    let level = upper_median(stretch)?;
    let distances: Vec<f64> = stretch.iter().map(|load| (load - level).abs()).collect();
    let scatter = (SCATTER * upper_median(&distances)?).max(NEAR * level);
    let at_level = |load: &f64| (load - level).abs() <= scatter;
    let (first, last) = (stretch.iter().position(at_level)?, stretch.iter().rposition(at_level)?);
    Some(wide.start + first..wide.start + last + 1)
}

/// Returns true if the medians of the first and the last third of a stretch are equal, to a share of them or within the
/// noise from second to second.
pub(crate) fn is_level(stretch: &[f64], drift: f64) -> bool {
    let third = stretch.len().div_ceil(3);
    let first = stretch.get(..third).and_then(upper_median);
    let last = stretch.get(stretch.len() - third..).and_then(upper_median);
    let changes: Vec<f64> = stretch.iter().zip(stretch.iter().skip(1)).map(|(a, b)| (b - a).abs()).collect();
    let (Some(first), Some(last), Some(change)) = (first, last, upper_median(&changes)) else { return false };
    // For normal noise, a change has √2 times the deviation of a value, and its median is 0.6745 of the standard
    // deviation; a median of n values deviates by √(π/2n).
    let deviation = change / (2f64.sqrt() * 0.6745);
    let error = deviation * (std::f64::consts::PI / third as f64).sqrt();
    (last - first).abs() <= (drift.min(DRIFT) * first.max(last)).max(ERRORS * error)
}

/// Returns the longest stretch whose greatest and least load differ by at most `width`, the first of equally long ones.
pub(crate) fn longest_level(loads: &[f64], width: f64) -> Range<usize> {
    // Slightly more, to allow for rounding of sums.
    let width = width * (1.0 + 1e-9);
    let (mut longest, mut start) = (0..0, 0);
    let mut greatest: VecDeque<(usize, f64)> = VecDeque::new();
    let mut least: VecDeque<(usize, f64)> = VecDeque::new();
    for (at, load) in loads.iter().copied().enumerate() {
        while greatest.back().is_some_and(|(_, other)| *other <= load) {
            greatest.pop_back();
        }
        while least.back().is_some_and(|(_, other)| *other >= load) {
            least.pop_back();
        }
        greatest.push_back((at, load));
        least.push_back((at, load));
        while let (Some((high_at, high)), Some((low_at, low))) = (greatest.front(), least.front()) {
            if high - low <= width {
                break;
            }
            start = 1 + (*high_at).min(*low_at);
            // In ascending order, so that each second is dropped once.
            for kept in [&mut greatest, &mut least] {
                while kept.front().is_some_and(|(at, _)| *at < start) {
                    kept.pop_front();
                }
            }
        }
        if at + 1 - start > longest.len() {
            longest = start..at + 1;
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Follows the definition: looks at every stretch.
    fn longest_by_trying(loads: &[f64], width: f64) -> usize {
        let spread = |stretch: &[f64]| {
            let of = |pick: fn(f64, f64) -> f64| stretch.iter().copied().reduce(pick).unwrap();
            of(f64::max) - of(f64::min)
        };
        (1..=loads.len())
            .rev()
            .find(|length| loads.windows(*length).any(|stretch| spread(stretch) <= width))
            .unwrap_or(0)
    }

    proptest! {
        #[test]
        fn longest_level_stretch_is_that_of_all_stretches(
            loads in prop::collection::vec((0..12u32).prop_map(f64::from), 0..60),
            width in 0..6u32,
        ) {
            prop_assert_eq!(longest_level(&loads, width.into()).len(), longest_by_trying(&loads, width.into()));
        }
    }

    #[test]
    fn odd_seconds_are_smoothed_and_edges_stay() {
        let loads = [1.0, 1.0, 1.0, 9.0, 1.0, 1.0, 5.0, 5.0, 5.0, 0.0, 0.0, 5.0, 5.0, 5.0];
        let smooth = [1.0, 1.0, 1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0];
        assert_eq!(smoothed(&loads)[..3], smooth[..3]);
        assert_eq!(smoothed(&loads)[7..], smooth[7..]);
    }
}
