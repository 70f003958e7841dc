//! A worker thread: parses, counts and encodes one block after another.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crossbeam_channel::Receiver;
use tokio::sync::mpsc;

use super::collector::collected::BlockCounts;
use super::messages::{BlockWork, CountedBlock, Message, SharedState};
use crate::counting::counter::Counter;
use perfpipe_formats::jtl::parsed::Parsed;
use perfpipe_formats::jtl::parser::Parser;
use perfpipe_model::error::{Error, Result};
use perfpipe_store::sink::BatchEncoder;

/// The state of a worker thread.
pub(super) struct Worker<E: BatchEncoder> {
    pub(super) parser: Parser,
    pub(super) encoder: E,
    pub(super) shared: Arc<SharedState>,
    pub(super) queue: Receiver<BlockWork>,
    pub(super) messages: mpsc::Sender<Message<E::Chunk>>,
}

impl<E: BatchEncoder> Worker<E> {
    pub(super) fn run(mut self) {
        let (mut parsed, mut counter) = (Parsed::default(), Counter::default());
        while let Ok(work) = self.queue.recv() {
            let counted = self.block(work, &mut parsed, &mut counter);
            let failed = counted.is_err();
            let message = counted.map_or_else(Message::Failed, |counted| Message::Block(Box::new(counted)));
            // If nobody receives, the ingest is over.
            if self.messages.blocking_send(message).is_err() || failed {
                return;
            }
        }
    }

    /// Parses, counts and encodes a block.
    fn block(
        &mut self,
        work: BlockWork,
        parsed: &mut Parsed,
        counter: &mut Counter,
    ) -> Result<CountedBlock<E::Chunk>> {
        let clock =
            self.shared.clock.get().ok_or_else(|| Error::bug("parsing the log", "t0 is not known"))?;
        let BlockWork { lane, sequence, log, mut block, layout, file } = work;
        if let Some(reason) = block.oversized {
            let counts = BlockCounts::oversized(log, &block, reason);
            return Ok(CountedBlock { lane, sequence, counts, chunk: None, buffer: block.bytes });
        }
        parsed.rejects.restart(Some(self.shared.reject_room.load(Ordering::Relaxed)));
        self.parser.parse_block(&block, file.as_deref(), &layout, clock, parsed);
        let early = parsed.earliest_ms.is_some_and(|earliest| earliest < clock.origin);
        // Otherwise only the times of its records are of interest.
        let is_counted = !(early || self.shared.times_only.load(Ordering::Acquire));
        let mut counts = BlockCounts::new(log, &block, parsed);
        let mut chunk = None;
        if is_counted {
            chunk = self.encoder.encode(&parsed.batch)?;
            counts.tally = counter.tally(parsed, clock);
        }
        if !counts.has_rejects() {
            block.bytes.give_memory_back();
        }
        Ok(CountedBlock { lane, sequence, counts, chunk, buffer: block.bytes })
    }
}
