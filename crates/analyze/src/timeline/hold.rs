//! The rules that find the hold of a run: a level part of its load curve, at the peak or below it.

use std::collections::VecDeque;
use std::ops::Range;

use crate::stats::percentile::upper_median;

/// How far below its peak a load may be and still be held, as shares of the peak; all are tried.
const BANDS: [f64; 5] = [0.01, 0.02, 0.05, 0.1, 0.2];
/// The least share of a hold's seconds that must be within the band.
const WITHIN: f64 = 0.9;
/// The least number of seconds in a hold.
pub(crate) const LEAST: usize = 5;
/// How much longer the hold must be than the load stays at any other level: a factor, applied after adding this many
/// seconds to the other, since whole seconds and the median can make that many of a climb look level.
pub(super) const LONGER: (f64, usize) = (1.5, 2);
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
pub(super) fn hold_at_peak(loads: &[f64]) -> Option<Range<usize>> {
    let smooth = smoothed(loads);
    let peak = peak(&smooth);
    let mut best: Option<Range<usize>> = None;
    for band in BANDS {
        let found = candidate_at_peak(loads, &smooth, peak, band);
        if found.as_ref().map_or(0, Range::len) > best.as_ref().map_or(0, Range::len) {
            best = found;
        }
    }
    best
}

/// Returns true if a load that is never held climbs all the way, with small losses only.
pub(super) fn climbs(loads: &[f64]) -> bool {
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
fn smoothed(loads: &[f64]) -> Vec<f64> {
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
fn candidate_at_peak(loads: &[f64], smooth: &[f64], peak: f64, band: f64) -> Option<Range<usize>> {
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
fn trimmed(loads: &[f64], wide: Range<usize>) -> Option<Range<usize>> {
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
fn longest_level(loads: &[f64], width: f64) -> Range<usize> {
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

/// The least share of a hold's seconds that must be at its level; the rest are dips and spikes.
const AT_LEVEL: f64 = 0.8;
/// The least share of the run's non-silent seconds that a hold takes.
const SHARE: f64 = 0.2;
/// How much the medians of the first and the last third of a level stretch may differ, as a share of the band's width.
/// On a slope, where any stretch takes up the full width, they differ by two thirds of it.
const SLOPE: f64 = 0.25;

/// A stretch in which the load is level, and its level.
#[derive(Debug, Clone)]
struct LevelStretch {
    seconds: Range<usize>,
    level: f64,
}

/// Finds the stretch in which a load is held, if there is one; see [`crate::Phases`] for the rule. Silent seconds have
/// the load 0.
pub(super) fn hold_below_peak(loads: &[f64]) -> Option<Range<usize>> {
    let smooth = smoothed(loads);
    let busy: Vec<f64> = smooth.iter().copied().filter(|load| *load > 0.0).collect();
    let typical = upper_median(&busy)?;
    let least = SHARE * busy.len() as f64;
    let found = BANDS.iter().filter_map(|band| candidate_below_peak(loads, &smooth, band * typical, least));
    let long = |hold: &Range<usize>| hold.len() as f64 >= least;
    found.filter(long).reduce(|best, next| if next.len() > best.len() { next } else { best })
}

/// Finds the hold among the stretches that are level within a width, if one of them is at least half as long as a hold
/// must be.
fn candidate_below_peak(loads: &[f64], smooth: &[f64], width: f64, least: f64) -> Option<Range<usize>> {
    let enough = |stretch: &LevelStretch| stretch.seconds.len() as f64 >= (least / 2.0).max(LEAST as f64);
    let longest = longest_of(smooth, 0..smooth.len(), width).filter(enough)?;
    let mut rivals = Vec::new();
    let as_long = |stretch: &LevelStretch| {
        (longest.seconds.len() as f64) < LONGER.0 * (stretch.seconds.len() + LONGER.1) as f64
    };
    gather(smooth, 0..smooth.len(), width, &as_long, &mut rivals);
    // The first of the highest.
    let highest = rivals.iter().map(|stretch| stretch.level).fold(0.0, f64::max);
    let (before, chosen) = rivals.split_at(rivals.iter().position(|one| one.level >= highest - width)?);
    let chosen =
        chosen.first().filter(|chosen| !before.iter().any(|one| climbs_to(smooth, one, chosen, width)))?;
    let hold = trimmed(loads, widened(smooth, chosen, width))?;
    let stretch = loads.get(hold.clone())?;
    (hold.len() >= LEAST && is_level(stretch, SLOPE * width / chosen.level)).then_some(hold)
}

/// Returns the longest level stretch within some seconds, the first of equally long ones. Silence does not count.
fn longest_of(smooth: &[f64], within: Range<usize>, width: f64) -> Option<LevelStretch> {
    let mut start = within.start;
    let mut best: Option<Range<usize>> = None;
    for part in smooth.get(within)?.split(|load| *load <= 0.0) {
        let found = longest_level(part, width);
        if found.len() > best.as_ref().map_or(0, Range::len) {
            best = Some(start + found.start..start + found.end);
        }
        start += part.len() + 1;
    }
    let seconds = best?;
    let level = upper_median(smooth.get(seconds.clone())?)?;
    Some(LevelStretch { seconds, level })
}

/// Collects the level stretches within some seconds that are long enough, in the order of time.
fn gather(
    smooth: &[f64],
    within: Range<usize>,
    width: f64,
    long: &impl Fn(&LevelStretch) -> bool,
    into: &mut Vec<LevelStretch>,
) {
    let Some(found) = longest_of(smooth, within.clone(), width).filter(|found| long(found)) else { return };
    // The stretch with its dips and spikes is removed, so that no part of it becomes a rival.
    let whole = widened(smooth, &found, width);
    let whole = whole.start.max(within.start)..whole.end.min(within.end);
    gather(smooth, within.start..whole.start, width, long, into);
    into.push(found);
    gather(smooth, whole.end..within.end, width, long, into);
}

/// Returns true if the load climbs from one stretch to a later one without coming down between them, in steps or on a
/// slope.
fn climbs_to(smooth: &[f64], one: &LevelStretch, later: &LevelStretch, width: f64) -> bool {
    let between = smooth.get(one.seconds.end..later.seconds.start).unwrap_or_default();
    later.level > one.level + width && between.iter().all(|load| *load >= one.level - width)
}

/// Extends a level stretch by the seconds at the same level before and after it, across dips and spikes that are no
/// longer than the level seconds on either side of them.
fn widened(smooth: &[f64], stretch: &LevelStretch, width: f64) -> Range<usize> {
    let at_level: Vec<bool> = smooth.iter().map(|load| (load - stretch.level).abs() <= width).collect();
    let Range { start, end } = stretch.seconds;
    let after: Vec<bool> = at_level.get(end..).unwrap_or_default().to_vec();
    let end = end + further(&after, end - start);
    let before: Vec<bool> = at_level.get(..start).unwrap_or_default().iter().rev().copied().collect();
    start - further(&before, end - start)..end
}

/// Returns by how many seconds a stretch of some length extends into the following seconds, of which `at_level` says
/// which are at its level.
fn further(at_level: &[bool], length: usize) -> usize {
    let (mut taken, mut level, mut at) = (0, length, 0);
    for row in at_level.chunk_by(|one, next| one == next) {
        at += row.len();
        if row.first() == Some(&true) {
            let gap = at - row.len() - taken;
            let share = (level + row.len()) as f64 / (length + at) as f64;
            if gap > level.min(row.len()) || share < AT_LEVEL {
                break;
            }
            (taken, level) = (at, level + row.len());
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
