//! A reader's end of the steps: it brings blocks, and takes the buffers for the next ones.

use std::sync::Arc;

use super::super::messages::Work;
use super::place::Reader;
use super::steps::Steps;
use crate::sample::pool::{Buffers, PooledBuffer, Turn};

/// The buffers of a reader. Others don't wait for it while it waits for one, or once it was dropped.
pub(crate) struct Pace {
    steps: Arc<Steps>,
    reader: usize,
    turn: Turn,
    /// The size in bytes up to which a block is an ordinary one. Of larger ones there is one at a time.
    ordinary: usize,
    /// True if the last block was larger.
    is_large: bool,
}

impl Pace {
    pub(crate) fn new(steps: Arc<Steps>, reader: usize, turn: Turn, ordinary: usize) -> Self {
        Self { steps, reader, turn, ordinary, is_large: false }
    }

    /// Waits until this reader may begin.
    pub(super) fn enter(&self) {
        self.steps.gate.enter(self.reader);
    }

    /// Takes a block for the workers. Returns false if nobody works any more.
    pub(crate) fn bring(&mut self, work: Work) -> bool {
        self.is_large = work.block.bytes.len() > self.ordinary;
        self.steps.gate.brought();
        self.steps.change(self.reader, |place| place.blocks.push_back(work))
    }

    /// Waits for a buffer, or for all of them to be free.
    fn wait(&mut self, for_all: bool) -> Option<PooledBuffer> {
        self.steps.waits_for_buffer();
        let waits = if for_all { Reader::WaitsForAll } else { Reader::Waits };
        if !self.steps.change(self.reader, |place| place.reader = waits) {
            return None;
        }
        let buffer = if for_all { self.turn.take_of_all() } else { self.turn.take() };
        if let Some(place) = self.steps.lock().places.get_mut(self.reader) {
            place.reader = Reader::Reads;
        }
        buffer
    }
}

impl Buffers for Pace {
    fn take(&mut self) -> Option<PooledBuffer> {
        // Records may have megabytes. Of each log with such there is one block at a time, in the same buffer.
        if self.is_large {
            return self.wait(true);
        }
        self.turn.take_free().or_else(|| self.wait(false))
    }
}

impl Drop for Pace {
    fn drop(&mut self) {
        self.steps.change(self.reader, |place| place.reader = Reader::Ended);
        self.steps.gate.open();
    }
}
