//! Brings together blocks of logs that are read side by side: one of each lane makes a step, which a worker takes as a
//! whole. Where the logs tell of the same time, so do the blocks of a step.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::Sender;

use super::super::messages::{Step, Work};
use crate::sample::pool::{Buffers, Gauge, PooledBuffer, Turn};

/// The blocks that wait for those of other lanes.
///
/// A step is complete once each reader has brought a block, has come to its end, or waits for a buffer. So no reader waits
/// for one that waits itself: the blocks of a lane may keep their buffers until its turn.
pub(crate) struct Steps {
    work: Sender<Step>,
    state: Mutex<State>,
}

struct State {
    /// One for each reader.
    places: Vec<Place>,
    /// The number of steps so far.
    steps: u64,
}

struct Place {
    blocks: VecDeque<Work>,
    buffers: Gauge,
    /// True while the reader waits for a buffer, or for all of them to be free.
    waits: bool,
    waits_for_all: bool,
    ended: bool,
}

impl Place {
    /// Returns true if the next block need not be waited for.
    fn is_settled(&self) -> bool {
        !self.blocks.is_empty()
            || self.ended
            || (self.waits && (self.waits_for_all || self.buffers.is_empty()))
    }
}

impl Steps {
    /// Creates the places of readers, whose buffers these are.
    pub(crate) fn new(work: Sender<Step>, buffers: impl Iterator<Item = Gauge>) -> Self {
        let place = |buffers| {
            let blocks = VecDeque::new();
            Place { blocks, buffers, waits: false, waits_for_all: false, ended: false }
        };
        let state = State { places: buffers.map(place).collect(), steps: 0 };
        Self { work, state: Mutex::new(state) }
    }

    /// Takes a block of a reader. Returns false if nobody works any more.
    pub(crate) fn bring(&self, reader: usize, work: Work) -> bool {
        self.change(reader, |place| place.blocks.push_back(work))
    }

    /// Changes the place of a reader, and passes on the steps that are complete.
    fn change(&self, reader: usize, change: impl FnOnce(&mut Place)) -> bool {
        let mut state = self.lock();
        if let Some(place) = state.places.get_mut(reader) {
            change(place);
        }
        while state.places.iter().all(Place::is_settled) {
            let mut blocks: Vec<Work> =
                state.places.iter_mut().filter_map(|place| place.blocks.pop_front()).collect();
            if blocks.is_empty() {
                return true;
            }
            blocks.sort_by_key(|work| work.lane);
            let number = state.steps;
            state.steps += 1;
            // Whoever brings a block meanwhile waits as well: the workers have enough to do.
            if self.work.send(Step { number, blocks }).is_err() {
                return false;
            }
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The buffers of a reader. Others don't wait for it while it waits for one, or once it was dropped.
pub(crate) struct Pace {
    steps: Arc<Steps>,
    reader: usize,
    turn: Turn,
    /// The size in bytes up to which a block is an ordinary one.
    ordinary: usize,
    /// True if the last block was larger.
    is_large: bool,
}

impl Pace {
    pub(crate) fn new(steps: Arc<Steps>, reader: usize, turn: Turn, ordinary: usize) -> Self {
        Self { steps, reader, turn, ordinary, is_large: false }
    }

    /// Takes a block for the workers. Returns false if nobody works any more.
    pub(crate) fn bring(&mut self, work: Work) -> bool {
        self.is_large = work.block.bytes.len() > self.ordinary;
        self.steps.bring(self.reader, work)
    }

    /// Waits for a buffer, or for all of them to be free.
    fn wait(&mut self, for_all: bool) -> Option<PooledBuffer> {
        let waits = |place: &mut Place| (place.waits, place.waits_for_all) = (true, for_all);
        if !self.steps.change(self.reader, waits) {
            return None;
        }
        let buffer = if for_all { self.turn.take_of_all() } else { self.turn.take() };
        self.steps.lock().places.get_mut(self.reader).into_iter().for_each(|place| place.waits = false);
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
        self.steps.change(self.reader, |place| place.ended = true);
    }
}
