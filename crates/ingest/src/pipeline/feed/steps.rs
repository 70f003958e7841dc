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
    reader: Reader,
}

/// What a reader does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    Reads,
    /// It waits for a buffer.
    Waits,
    /// It waits for all of its buffers to be free.
    WaitsForAll,
    Ended,
}

impl Place {
    /// Returns true if the next block need not be waited for.
    fn is_settled(&self) -> bool {
        let without = match self.reader {
            Reader::Reads => false,
            // It may be about to take one that came back.
            Reader::Waits => self.buffers.is_empty(),
            Reader::WaitsForAll | Reader::Ended => true,
        };
        without || !self.blocks.is_empty()
    }
}

impl Steps {
    /// Creates the places of readers, whose buffers these are.
    pub(crate) fn new(work: Sender<Step>, buffers: impl Iterator<Item = Gauge>) -> Self {
        let place = |buffers| Place { blocks: VecDeque::new(), buffers, reader: Reader::Reads };
        let state = State { places: buffers.map(place).collect(), steps: 0 };
        Self { work, state: Mutex::new(state) }
    }

    /// Changes the place of a reader, and passes on the steps that are complete. Returns false if nobody works any more.
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
        self.steps.change(self.reader, |place| place.blocks.push_back(work))
    }

    /// Waits for a buffer, or for all of them to be free.
    fn wait(&mut self, for_all: bool) -> Option<PooledBuffer> {
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
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;
    use crate::error::Place;
    use crate::formats::jtl::blocks::Block;
    use crate::formats::jtl::layout::{Layout, LayoutOptions};
    use crate::sample::pool::Pool;

    fn work(lane: usize, bytes: PooledBuffer) -> Work {
        let head = b"timeStamp,elapsed,label,success\n";
        let layout = Layout::detect(head, &LayoutOptions::default(), &Place::default()).unwrap();
        let block = Block { bytes, first_byte: 0, oversized: None, skipped_lines: 0, cut: false };
        Work { lane, sequence: 0, log: 0, block, layout: Arc::new(layout), file: None }
    }

    fn lanes(step: Step) -> Vec<usize> {
        step.blocks.iter().map(|work| work.lane).collect()
    }

    #[test]
    fn step_does_without_readers_that_wait_or_have_ended() {
        let (sender, steps) = crossbeam_channel::unbounded();
        let pools = [Pool::new(1), Pool::new(1), Pool::new(1)];
        let places = Arc::new(Steps::new(sender, pools.iter().map(Pool::gauge)));
        let pace = |reader: usize| Pace::new(Arc::clone(&places), reader, pools[reader].turn(), 9);
        let [mut first, mut second, mut third] = [pace(0), pace(1), pace(2)];
        for (pace, lane) in [(&mut second, 1), (&mut first, 0), (&mut third, 2)] {
            assert!(steps.is_empty(), "a reader has brought nothing yet");
            let buffer = pace.take().unwrap();
            assert!(pace.bring(work(lane, buffer)));
        }
        let step = steps.try_recv().unwrap();
        // The first reader waits for the buffer of its only block, which is in the step.
        let (took, taken) = channel();
        let waiting = std::thread::spawn(move || took.send(first.take().is_some()).map(|()| first));
        drop(third);
        assert!(second.bring(work(1, PooledBuffer::from(vec![0; 10]))));
        let without = steps.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!((without.number, lanes(without)), (1, vec![1]));
        assert!(taken.try_recv().is_err());
        assert_eq!(lanes(step), [0, 1, 2]);
        assert_eq!(taken.recv_timeout(Duration::from_secs(60)), Ok(true));
        drop(waiting.join().unwrap().unwrap());
        // After a large block all buffers have to be free.
        assert!(second.take().is_some());
    }
}
