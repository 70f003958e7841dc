//! A run at equal load, in blocks of seconds with enough requests each: their times and their rate.

use std::collections::BTreeMap;

use super::facts::Facts;
use super::seconds::{RuleSecond, requests, span};
use crate::error::Result;
use crate::stats::percentile::upper_median;
use crate::timeline::selection::Selection;
use crate::view::phases::Span;

/// The approximate number of requests in a block; fewer say little.
const REQUESTS: f64 = 4.0;
/// The least number of successes in a block whose times are compared, where others have many more.
const TIMED: f64 = 16.0;
/// The largest number of blocks.
const MOST: usize = 1000;
/// The least number of seconds in a stretch of equal load outside the hold.
const LEVEL: u32 = 30;
/// How much a load may differ within such a stretch, as a share.
const EQUAL: f64 = 0.02;

/// Consecutive seconds of equal load, as far as the load is known.
#[derive(Clone, Copy)]
pub(super) struct LoadStretch {
    pub(super) span: Span,
    /// True if the load is known to be level; false if it is unknown, or if it follows the requests.
    pub(super) is_level: bool,
}

/// Some seconds of a stretch.
#[derive(Clone, Copy)]
pub(super) struct Block {
    pub(super) span: Span,
    /// The number of successes.
    pub(super) timed: f64,
    /// Requests per second: of a thread if the load is level, otherwise of all threads.
    pub(super) rate: f64,
    /// The mean logarithm of the ratio of its successes' times to the usual time of their label, so that neither a few
    /// slow requests nor a change in the mix of labels has much effect. `None` without a success.
    pub(super) log: Option<f64>,
}

/// Returns the stretches of equal load: the hold and others, or the whole body if the load says nothing.
pub(super) fn stretches(facts: &Facts<'_>) -> Vec<LoadStretch> {
    let rows = facts.body();
    if rows.iter().all(|row| row.load().is_none()) || facts.load_follows {
        return span(rows).map(|span| LoadStretch { span, is_level: false }).into_iter().collect();
    }
    let hold = facts.hold();
    let held = |second: u32| hold.is_some_and(|hold| hold.holds(second));
    let mut levels: Vec<(Span, f64)> = Vec::new();
    for row in rows {
        let Some(load) = row.load().filter(|_| !held(row.second)) else { continue };
        match levels.last_mut() {
            Some((span, level)) if span.last + 1 == row.second && (load - *level).abs() <= EQUAL * *level => {
                span.last = row.second;
            }
            _ => levels.push((Span { first: row.second, last: row.second }, load)),
        }
    }
    let others = levels.into_iter().map(|(span, _)| span).filter(|span| span.seconds() >= LEVEL);
    hold.into_iter().chain(others).map(|span| LoadStretch { span, is_level: true }).collect()
}

/// Divides a stretch into blocks. Seconds that other findings explain are left out.
pub(super) fn blocks(facts: &Facts<'_>, stretch: LoadStretch, without: &[Span]) -> Result<Vec<Block>> {
    let body = facts.body();
    let rows: Vec<(&RuleSecond, f64)> = body
        .iter()
        .filter(|row| stretch.span.holds(row.second))
        .filter(|row| !without.iter().any(|span| span.holds(row.second)))
        .map(|row| (row, row.load().filter(|load| stretch.is_level && *load > 0.0).unwrap_or(1.0)))
        .collect();
    let sent: f64 = rows.iter().map(|(row, _)| requests(row)).sum();
    let enough = if sent > 0.0 { (REQUESTS * rows.len() as f64 / sent).ceil() as usize } else { 1 };
    let size = enough.max(rows.len().div_ceil(MOST)).max(1);
    let chunks: Vec<&[(&RuleSecond, f64)]> = rows.chunks_exact(size).collect();
    let logs = logs(facts, &chunks)?;
    let block = |(chunk, log): (&&[(&RuleSecond, f64)], Option<f64>)| {
        let timed = chunk.iter().map(|(row, _)| row.successes as f64).sum();
        let requests = chunk.iter().map(|(row, _)| requests(row)).sum::<f64>();
        let threads: f64 = chunk.iter().map(|(_, load)| load).sum();
        let span = Span { first: chunk.first()?.0.second, last: chunk.last()?.0.second };
        Some(Block { span, timed, rate: requests / threads, log })
    };
    Ok(chunks.iter().zip(logs).filter_map(block).collect())
}

/// Joins blocks that have few requests with the following ones, since the mean of few times scatters more. Blocks without
/// a success are left out.
pub(super) fn timed(blocks: &[Block]) -> Vec<Block> {
    let counts: Vec<f64> = blocks.iter().map(|block| block.timed).collect();
    let least = (upper_median(&counts).unwrap_or(0.0) / 2.0).min(TIMED);
    let mut joined: Vec<Block> = Vec::with_capacity(blocks.len());
    for block in blocks.iter().filter(|block| block.log.is_some()) {
        match joined.last_mut().filter(|last| last.timed < least) {
            Some(last) => {
                let sum = |block: &Block| block.timed * block.log.unwrap_or(0.0);
                let timed = last.timed + block.timed;
                last.log = Some((sum(last) + sum(block)) / timed);
                (last.timed, last.span.last) = (timed, block.span.last);
            }
            None => joined.push(*block),
        }
    }
    joined
}

/// Returns the mean logarithm of the times of each chunk's successes, relative to the mean of their label.
fn logs(facts: &Facts<'_>, chunks: &[&[(&RuleSecond, f64)]]) -> Result<Vec<Option<f64>>> {
    let selection = Selection::new(facts.run, &facts.view)?;
    let mut of_label: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    let mut of_chunk: Vec<BTreeMap<u32, (f64, f64)>> = Vec::new();
    for chunk in chunks {
        let mut labels: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        let (Some((first, _)), Some((last, _))) = (chunk.first(), chunk.last()) else { continue };
        let inside: Vec<u32> = chunk.iter().map(|(row, _)| row.second).collect();
        for second in selection.seconds_of(Span { first: first.second, last: last.second }) {
            let (second, cells) = second?;
            if inside.binary_search(&second).is_err() {
                continue;
            }
            for (key, cell) in cells.iter().filter(|(key, _)| selection.is_averaged(key)) {
                let own = labels.entry(key.label).or_default();
                for (elapsed, count) in &cell.elapsed {
                    let count = *count as f64;
                    // Times are rounded down to whole ms.
                    *own = (own.0 + count, own.1 + count * (f64::from((*elapsed).max(0)) + 0.5).ln());
                }
            }
        }
        for (label, (count, sum)) in &labels {
            let all = of_label.entry(*label).or_default();
            *all = (all.0 + count, all.1 + sum);
        }
        of_chunk.push(labels);
    }
    let excess = |labels: BTreeMap<u32, (f64, f64)>| {
        let (mut count, mut sum) = (0.0, 0.0);
        for (label, (own, logs)) in &labels {
            let usual = of_label.get(label).map_or(0.0, |(all, sum)| sum / all);
            count += own;
            sum += logs - own * usual;
        }
        (count > 0.0).then(|| sum / count)
    };
    Ok(of_chunk.into_iter().map(excess).collect())
}
