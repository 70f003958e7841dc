//! The collecting task: counts the blocks in the order of the log, and passes their chunks to the writer.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use tokio::sync::mpsc;

use super::collected::Collected;
use super::messages::{Done, Message, Shared};
use super::sink::{BatchEncoder, RunWriter};
use crate::error::{Error, Result};

/// The chunks of a writer's encoder.
type ChunkOf<W> = <<W as RunWriter>::Encoder as BatchEncoder>::Chunk;

/// The collecting task.
pub(super) struct Collector<'a, W> {
    pub(super) collected: Collected,
    pub(super) writer: &'a mut W,
    pub(super) shared: &'a Shared,
    /// If a record before t0 is found within this many bytes, reading stops after them. `None` to read to the end.
    pub(super) window: Option<u64>,
    /// The number of bytes of the logs in the blocks so far.
    pub(super) bytes: u64,
    /// `None` until a record before t0 is found; then true if it came after the window, or if there is no window.
    pub(super) late: Option<bool>,
}

impl<W: RunWriter> Collector<'_, W> {
    /// Runs until all threads have ended or the pass has to restart. Returns the results and `late`.
    pub(super) async fn run(
        mut self,
        inbox: &mut mpsc::Receiver<Message<ChunkOf<W>>>,
    ) -> Result<(Collected, Option<bool>)> {
        // Blocks are taken in the order of the log, so that the result does not depend on the workers' speed.
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        while let Some(message) = inbox.recv().await {
            match message {
                Message::Log(place) => self.collected.begin_log(place),
                Message::Source(source) => self.collected.sources.push(source),
                Message::Damage(log, damage) => self.collected.damage.push((log, damage)),
                Message::Notes(notes) => self.collected.notes.extend(notes),
                Message::Failed(error) => return Err(error),
                Message::Block(done) => {
                    waiting.insert(done.counts.sequence, done);
                    while let Some(done) = waiting.remove(&next) {
                        next += 1;
                        self.take(*done).await?;
                    }
                    if self.must_restart() {
                        return Ok((self.collected, self.late));
                    }
                }
            }
        }
        if !waiting.is_empty() {
            return Err(Error::bug("reading the logs", format!("the block {next} was read and never came")));
        }
        Ok((self.collected, self.late))
    }

    /// Returns true if a record before t0 was found within the window and the whole window was read.
    fn must_restart(&self) -> bool {
        self.late == Some(false) && self.window.is_some_and(|window| self.bytes >= window)
    }

    async fn take(&mut self, done: Done<ChunkOf<W>>) -> Result<()> {
        let Done { counts, chunk, buffer } = done;
        self.shared.progress.add_samples(counts.samples);
        self.collected.add(counts, &buffer)?;
        self.shared.reject_room.store(self.collected.reject_room(), Ordering::Relaxed);
        let origin = self.shared.clock.get().map(|clock| clock.origin);
        if self.late.is_none() && self.collected.earliest_ms < origin && self.collected.earliest_ms.is_some()
        {
            self.late = Some(self.window.is_none_or(|window| self.bytes >= window));
            self.shared.times_only.store(true, Ordering::Release);
        }
        self.bytes += buffer.len() as u64;
        // The buffer can be refilled while the samples are written.
        drop(buffer);
        if let Some(chunk) = chunk {
            self.writer.write(chunk).await?;
        }
        Ok(())
    }
}
