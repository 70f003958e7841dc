//! The longest level stretch of a load curve: the hold of a run whose load is not held at its peak.

use std::ops::Range;

use super::level::{BANDS, LEAST, LONGER, is_level, longest_level, smoothed, trimmed};
use crate::stats::median::upper_median;

/// The least share of a hold's seconds that must be at its level; the rest are dips and spikes.
const AT_LEVEL: f64 = 0.8;
/// The least share of the run's non-silent seconds that a hold takes.
const SHARE: f64 = 0.2;
/// How much the medians of the first and the last third of a level stretch may differ, as a share of the band's width.
/// On a slope, where any stretch takes up the full width, they differ by two thirds of it.
const DRIFT: f64 = 0.25;

/// A stretch in which the load is level, and its level.
#[derive(Debug, Clone)]
struct LevelStretch {
    seconds: Range<usize>,
    level: f64,
}

/// Finds the stretch in which a load is held, if there is one; see [`crate::Phases`] for the rule. Silent seconds have
/// the load 0.
pub(crate) fn hold(loads: &[f64]) -> Option<Range<usize>> {
    let smooth = smoothed(loads);
    let busy: Vec<f64> = smooth.iter().copied().filter(|load| *load > 0.0).collect();
    let typical = upper_median(&busy)?;
    let least = SHARE * busy.len() as f64;
    let found = BANDS.iter().filter_map(|band| candidate(loads, &smooth, band * typical, least));
    let long = |hold: &Range<usize>| hold.len() as f64 >= least;
    found.filter(long).reduce(|best, next| if next.len() > best.len() { next } else { best })
}

/// Finds the hold among the stretches that are level within a width, if one of them is at least half as long as a hold
/// must be.
fn candidate(loads: &[f64], smooth: &[f64], width: f64, least: f64) -> Option<Range<usize>> {
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
        chosen.first().filter(|chosen| !before.iter().any(|one| climbs(smooth, one, chosen, width)))?;
    let hold = trimmed(loads, widened(smooth, chosen, width))?;
    let stretch = loads.get(hold.clone())?;
    (hold.len() >= LEAST && is_level(stretch, DRIFT * width / chosen.level)).then_some(hold)
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
    // The stretch with its dips and spikes is taken out, so that no part of it becomes a rival.
    let whole = widened(smooth, &found, width);
    let whole = whole.start.max(within.start)..whole.end.min(within.end);
    gather(smooth, within.start..whole.start, width, long, into);
    into.push(found);
    gather(smooth, whole.end..within.end, width, long, into);
}

/// Returns true if the load climbs from one stretch to a later one without coming down between them, in steps or on a
/// slope.
fn climbs(smooth: &[f64], one: &LevelStretch, later: &LevelStretch, width: f64) -> bool {
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
