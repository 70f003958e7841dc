//! A worker thread: parses, counts and encodes the blocks of one step after another.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crossbeam_channel::Receiver;
use tokio::sync::mpsc;

use super::collector::collected::BlockCounts;
use super::messages::{BlockWork, CountedBlock, CountedStep, Message, SharedState, WorkStep};
use crate::counting::block::BlockTally;
use crate::counting::counter::step::StepCounter;
use perfpipe_formats::jtl::parsed::{Clock, Parsed};
use perfpipe_formats::jtl::parser::Parser;
use perfpipe_model::error::{Error, Result};
use perfpipe_store::sink::BatchEncoder;

/// The state of a worker thread.
pub(super) struct Worker<E: BatchEncoder> {
    pub(super) parser: Parser,
    pub(super) encoder: E,
    pub(super) shared: Arc<SharedState>,
    pub(super) queue: Receiver<WorkStep>,
    pub(super) messages: mpsc::Sender<Message<E::Chunk>>,
}

impl<E: BatchEncoder> Worker<E> {
    pub(super) fn run(mut self) {
        let mut parsed = Vec::new();
        let mut counter = StepCounter::default();
        while let Ok(step) = self.queue.recv() {
            let counted = self.step(step, &mut parsed, &mut counter);
            let failed = counted.is_err();
            let message = counted.map_or_else(Message::Failed, |counted| Message::Step(Box::new(counted)));
            // If nobody receives, the ingest is over.
            if self.messages.blocking_send(message).is_err() || failed {
                return;
            }
        }
    }

    fn step(
        &mut self,
        step: WorkStep,
        parsed: &mut Vec<Parsed>,
        counter: &mut StepCounter,
    ) -> Result<CountedStep<E::Chunk>> {
        let clock =
            *self.shared.clock.get().ok_or_else(|| Error::bug("parsing the log", "t0 is not known"))?;
        parsed.resize_with(parsed.len().max(step.blocks.len()), Parsed::default);
        let mut blocks = Vec::with_capacity(step.blocks.len());
        for (work, parsed) in step.blocks.into_iter().zip(&mut *parsed) {
            blocks.push(Box::new(self.block(work, &clock, parsed)?));
        }
        let mut counted: Vec<(&mut Parsed, &mut BlockTally)> = parsed
            .iter_mut()
            .zip(&mut blocks)
            .filter(|(_, done)| done.is_counted)
            .map(|(parsed, done)| (parsed, &mut done.counts.tally))
            .collect();
        let together = counter.count(&mut counted, &self.shared.names(), &clock);
        Ok(CountedStep { number: step.number, blocks, together })
    }

    /// Parses and encodes a block. Its tally is still empty.
    fn block(
        &mut self,
        work: BlockWork,
        clock: &Clock,
        parsed: &mut Parsed,
    ) -> Result<CountedBlock<E::Chunk>> {
        let BlockWork { lane, sequence, log, mut block, layout, file, time: _ } = work;
        if let Some(reason) = block.oversized {
            let counts = BlockCounts::oversized(log, &block, reason);
            return Ok(CountedBlock {
                lane,
                sequence,
                counts,
                is_counted: false,
                chunk: None,
                buffer: block.bytes,
            });
        }
        parsed.rejects.restart(Some(self.shared.reject_room.load(Ordering::Relaxed)));
        self.parser.parse_block(&block, file.as_deref(), &layout, clock, parsed);
        let early = parsed.earliest_ms.is_some_and(|earliest| earliest < clock.origin);
        let is_counted = !(early || self.shared.times_only.load(Ordering::Acquire));
        let counts = BlockCounts::new(log, &block, parsed);
        let chunk = if is_counted { self.encoder.encode(&parsed.batch)? } else { None };
        if !counts.has_rejects() {
            block.bytes.give_memory_back();
        }
        Ok(CountedBlock { lane, sequence, counts, is_counted, chunk, buffer: block.bytes })
    }
}
