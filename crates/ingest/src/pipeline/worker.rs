//! A worker thread: parses, counts and encodes one block after another.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crossbeam_channel::Receiver;
use tokio::sync::mpsc;

use super::collector::collected::BlockCounts;
use super::messages::{Done, Message, Shared, Work};
use super::sink::BatchEncoder;
use crate::counts::counter::Counter;
use crate::error::{Error, Result};
use crate::formats::jtl::parsed::Parsed;
use crate::formats::jtl::parser::Parser;

/// The state of a worker thread.
pub(super) struct Worker<E: BatchEncoder> {
    pub(super) parser: Parser,
    pub(super) encoder: E,
    pub(super) shared: Arc<Shared>,
    pub(super) queue: Receiver<Work>,
    pub(super) messages: mpsc::Sender<Message<E::Chunk>>,
}

impl<E: BatchEncoder> Worker<E> {
    pub(super) fn run(mut self) {
        let mut parsed = Parsed::default();
        let mut counter = Counter::default();
        while let Ok(work) = self.queue.recv() {
            let done = self.block(work, &mut parsed, &mut counter);
            let failed = done.is_err();
            let message = done.map_or_else(Message::Failed, |done| Message::Block(Box::new(done)));
            // If nobody receives, the ingest is over.
            if self.messages.blocking_send(message).is_err() || failed {
                return;
            }
        }
    }

    fn block(&mut self, work: Work, parsed: &mut Parsed, counter: &mut Counter) -> Result<Done<E::Chunk>> {
        let Work { lane, sequence, log, block, layout, file } = work;
        let clock =
            self.shared.clock.get().ok_or_else(|| Error::bug("parsing the log", "t0 is not known"))?;
        if let Some(reason) = block.oversized {
            let counts = BlockCounts::oversized(log, &block, reason);
            return Ok(Done { lane, sequence, counts, chunk: None, buffer: block.bytes });
        }
        parsed.rejects.restart(Some(self.shared.reject_room.load(Ordering::Relaxed)));
        self.parser.parse_block(&block, file.as_deref(), &layout, clock, parsed);
        let early = parsed.earliest_ms.is_some_and(|earliest| earliest < clock.origin);
        let times_only = early || self.shared.times_only.load(Ordering::Acquire);
        let mut counts = BlockCounts::new(log, block.first_byte, parsed);
        let mut chunk = None;
        if !times_only {
            chunk = self.encoder.encode(&parsed.batch)?;
            counts.tally = counter.tally(parsed, clock);
        }
        Ok(Done { lane, sequence, counts, chunk, buffer: block.bytes })
    }
}
