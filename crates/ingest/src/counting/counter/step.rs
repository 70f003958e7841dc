//! Counts the blocks of a step, those of the same time jointly.

use super::{Counter, failures, named};
use crate::counting::block::BlockTally;
use crate::counting::block::KnownNames;
use perfpipe_formats::jtl::parsed::{Clock, Parsed};
use perfpipe_model::sample::batch::SampleBatch;
use perfpipe_model::sample::texts::Texts;

/// Blocks with a longer time between them than this are counted each by itself, in ms. Seconds stay open
/// as long at most, so cells of a step are seldom too late.
const NEAR_MS: i64 = 60_000;

/// The maximum number of injectors of a block that is counted jointly with others.
const INJECTORS: usize = 64;

/// Counts steps. Each worker has one and reuses its memory.
#[derive(Default)]
pub(crate) struct StepCounter {
    counter: Counter,
    /// The samples of several blocks.
    batch: SampleBatch,
    failures: failures::OfBlocks,
}

/// The earliest and latest time of a block, in epoch ms.
pub(crate) type BlockSpan = (i64, i64);

impl StepCounter {
    /// Counts the blocks of a step, and sets their tallies. Returns the cells and failures of those that were counted
    /// jointly, if any were: all their names but those of injectors are among `known`.
    pub(crate) fn count(
        &mut self,
        blocks: &mut [(&mut Parsed, &mut BlockTally)],
        known: &KnownNames,
        clock: &Clock,
    ) -> Option<BlockTally> {
        let spans: Vec<Option<BlockSpan>> = blocks.iter().map(|(parsed, _)| span(parsed, known)).collect();
        let near = near(&spans);
        self.batch.clear();
        for ((parsed, tally), near) in blocks.iter_mut().zip(&near) {
            **tally = if *near { self.append(parsed, known) } else { self.counter.tally(parsed, clock) };
        }
        near.contains(&true).then(|| {
            let mut together = self.counter.tally_jointly(&mut self.batch, clock);
            self.failures.end(&mut together);
            together
        })
    }

    /// Appends a block to those that are counted jointly. Returns the remaining counts of the block itself.
    fn append(&mut self, parsed: &mut Parsed, known: &KnownNames) -> BlockTally {
        self.batch.append_counted(&parsed.batch);
        let mut code = |label: &str| self.batch.label.code(label.as_bytes());
        let labels: Vec<u32> = parsed.batch.label.values().iter().map(&mut code).collect();
        let mut tally = BlockTally::without_cells(&parsed.batch);
        if !self.failures.add(parsed, &labels, known) {
            return named(tally, parsed);
        }
        tally.labels = parsed.batch.label.take_values();
        tally.injectors = parsed.batch.injector.take_values();
        tally
    }
}

/// The span of a block that can be counted jointly with others.
fn span(parsed: &Parsed, known: &KnownNames) -> Option<BlockSpan> {
    let (batch, known) = (&parsed.batch, &known.labels);
    let is_known = batch.label.values().iter().all(|label| known.contains(label));
    let are_few = batch.injector.values().len() <= INJECTORS;
    let has_labels = known.contains("") || !batch.label.codes().contains(&Texts::NULL);
    let may = !known.is_empty() && parsed.histograms.is_empty() && is_known && are_few && has_labels;
    may.then_some(())?;
    parsed.earliest_ms.zip(parsed.latest_ms)
}

/// Returns which blocks to count jointly: those near the one in the middle, if there are several.
pub(crate) fn near(spans: &[Option<BlockSpan>]) -> Vec<bool> {
    let mut sorted: Vec<BlockSpan> = spans.iter().copied().flatten().collect();
    sorted.sort_unstable();
    let middle = sorted.get(sorted.len() / 2).copied();
    let is_near = |span: &Option<BlockSpan>| {
        span.zip(middle).is_some_and(|((first, last), middle)| {
            first <= middle.1.saturating_add(NEAR_MS) && middle.0 <= last.saturating_add(NEAR_MS)
        })
    };
    let near: Vec<bool> = spans.iter().map(is_near).collect();
    if near.iter().filter(|near| **near).count() > 1 { near } else { vec![false; spans.len()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_about_the_same_time_are_counted_together() {
        let hour = 3_600_000;
        assert_eq!(near(&[]), [false; 0]);
        assert_eq!(near(&[Some((0, 9))]), [false]);
        assert_eq!(near(&[Some((0, 9)), None, Some((60_009, 60_010))]), [true, false, true]);
        assert_eq!(near(&[Some((0, 9)), Some((60_010, 60_011))]), [false, false]);
        let warm_up = Some((0, 9));
        assert_eq!(near(&[warm_up, Some((hour, hour + 9)), Some((hour + 3, hour + 5))]), [false, true, true]);
        assert_eq!(near(&[Some((i64::MIN, i64::MAX)), Some((i64::MAX, i64::MAX))]), [true, true]);
    }
}
