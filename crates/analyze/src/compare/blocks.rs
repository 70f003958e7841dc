//! A run's seconds in blocks, which can be drawn anew.

use perfpipe_ingest::StoredRun;

use crate::error::Result;
use crate::histogram::{Histogram, sort_and_add_up};
use crate::phases::Span;
use crate::selection::Selection;
use crate::timeline::Timeline;
use crate::view::View;

/// Seconds of a block, at most, in a run of ordinary length: what one second does to the next is gone by then.
const LONGEST: u32 = 10;
/// Seconds of a block, at least.
const SHORTEST: u32 = 3;
/// Blocks that a short run is cut into, if they are not shorter than that.
const WANTED: u32 = 20;
/// Blocks of a long run, at most.
const MOST: u32 = 400;
/// Counts of a block that wait, at most, before those of one value become one.
const WAITING: usize = 64 << 10;
/// Blocks from which something can be said of chance.
pub(super) const ENOUGH: usize = 8;

/// What is drawn together: some seconds that follow one another, in one phase.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    seconds: u32,
    successes: u64,
    failures: u64,
    cpu_sum: f64,
    cpu_seconds: u32,
    elapsed: Vec<(i32, u64)>,
}

/// Blocks of one phase, which are drawn only from among themselves, so that the course of the load stays.
pub(super) type Stratum = Vec<Block>;

/// Cuts the seconds of a timeline that a span holds.
pub(super) fn cut(run: &StoredRun, view: &View, timeline: &Timeline, span: Span) -> Result<Vec<Stratum>> {
    let selection = Selection::new(run, view)?;
    let (from, to) = selection.window;
    let Some(whole) = span.shared(Span { first: from, last: to }) else { return Ok(Vec::new()) };
    let phases: Vec<Span> = timeline.phases.all().filter_map(|(_, span)| span.shared(whole)).collect();
    let phases = if phases.is_empty() { vec![whole] } else { phases };
    let length = length(whole.seconds());
    let strata = phases.into_iter().map(|phase| {
        let starts = (phase.first..=phase.last).step_by(length as usize);
        let ends = |first: u32| first.saturating_add(length - 1).min(phase.last);
        starts.map(|first| block(&selection, timeline, Span { first, last: ends(first) })).collect()
    });
    strata.collect()
}

/// Seconds of a block where there are so many in all.
fn length(seconds: u32) -> u32 {
    (seconds / WANTED).clamp(SHORTEST, LONGEST).max(seconds.div_ceil(MOST))
}

fn block(selection: &Selection<'_>, timeline: &Timeline, span: Span) -> Result<Block> {
    let mut block = Block::default();
    for second in selection.seconds_of(span) {
        let (_, cells) = second?;
        selection.averaged(&cells).for_each(|cell| block.elapsed.extend_from_slice(&cell.elapsed));
        if block.elapsed.len() > WAITING {
            sort_and_add_up(&mut block.elapsed);
        }
    }
    sort_and_add_up(&mut block.elapsed);
    for second in timeline.seconds.iter().filter(|second| span.holds(second.second)) {
        block.seconds += 1;
        block.successes += second.successes;
        block.failures += second.failures;
        if let Some(cpu) = second.cpu {
            block.cpu_sum += cpu;
            block.cpu_seconds += 1;
        }
    }
    Ok(block)
}

/// The figures of some blocks together, in the order of [`super::measures`].
pub(super) fn figures<'a>(
    blocks: impl IntoIterator<Item = &'a Block>,
    percentiles: &[f64],
) -> Vec<Option<f64>> {
    let mut all = Block::default();
    let mut elapsed = Histogram::new();
    for block in blocks {
        all.seconds += block.seconds;
        all.successes += block.successes;
        all.failures += block.failures;
        all.cpu_sum += block.cpu_sum;
        all.cpu_seconds += block.cpu_seconds;
        elapsed.add_counts(&block.elapsed);
    }
    let throughput = (all.seconds > 0).then(|| all.successes as f64 / f64::from(all.seconds));
    let requests = all.successes + all.failures;
    let failures = (requests > 0).then(|| all.failures as f64 / requests as f64 * 100.0);
    let cpu = (all.cpu_seconds > 0).then(|| all.cpu_sum / f64::from(all.cpu_seconds));
    [throughput, failures, cpu, elapsed.mean()].into_iter().chain(elapsed.percentiles(percentiles)).collect()
}
