//! Brings together blocks of logs that are read side by side and counted together: one of each lane makes a step, which a
//! worker takes as a whole. Where the logs tell of the same time, so do the blocks of a step: one that is ahead of the others
//! is held back. Of other logs each block is a step.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Sender, TrySendError};

use super::super::messages::Step;
use super::gate::Gate;
use super::place::{Place, next_of};
use crate::sample::pool::Gauge;

/// The blocks that wait for those of other lanes.
///
/// A step is complete once each reader has brought a block, has come to its end, or waits for a buffer. So no reader waits
/// for one that waits itself: the blocks of a lane may keep their buffers until its turn.
pub(crate) struct Steps {
    work: Sender<Step>,
    /// True if a step has a block of each lane.
    together: bool,
    pub(super) gate: Gate,
    state: Mutex<State>,
}

pub(super) struct State {
    /// One for each reader.
    pub(super) places: Vec<Place>,
    /// The number of steps so far.
    steps: u64,
}

impl Steps {
    /// Creates the places of readers, whose buffers these are, and of which so many begin at once.
    pub(crate) fn new(
        work: Sender<Step>,
        together: bool,
        begin: usize,
        buffers: impl Iterator<Item = Gauge>,
    ) -> Self {
        let state = State { places: buffers.map(Place::new).collect(), steps: 0 };
        Self { work, together, gate: Gate::new(begin), state: Mutex::new(state) }
    }

    /// Notes that a reader waits for a buffer. It is ahead of the workers if they have steps left.
    pub(super) fn waits_for_buffer(&self) {
        if !self.work.is_empty() {
            self.gate.waited();
        }
    }

    /// Passes a step on to the workers. Returns false if nobody works any more.
    fn pass_on(&self, step: Step) -> bool {
        match self.work.try_send(step) {
            Err(TrySendError::Full(step)) => {
                self.gate.waited();
                self.work.send(step).is_ok()
            }
            sent => sent.is_ok(),
        }
    }

    /// Changes the place of a reader, and passes on the steps that are complete. Returns false if nobody works any more.
    pub(super) fn change(&self, reader: usize, change: impl FnOnce(&mut Place)) -> bool {
        let mut state = self.lock();
        if let Some(place) = state.places.get_mut(reader) {
            change(place);
        }
        while !self.together || state.places.iter().all(Place::is_settled) {
            let mut blocks = next_of(&mut state.places);
            if blocks.is_empty() {
                return true;
            }
            blocks.sort_by_key(|work| work.lane);
            let number = state.steps;
            state.steps += 1;
            // Whoever brings a block meanwhile waits as well: the workers have enough to do.
            if !self.pass_on(Step { number, blocks }) {
                return false;
            }
        }
        true
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::super::super::messages::Work;
    use super::super::pace::Pace;
    use super::super::place::time_of;
    use super::*;
    use crate::error;
    use crate::formats::jtl::blocks::Block;
    use crate::formats::jtl::layout::{Layout, LayoutOptions};
    use crate::sample::pool::{Buffers, Pool, PooledBuffer};

    fn work(lane: usize, bytes: PooledBuffer) -> Work {
        let head = b"timeStamp,elapsed,label,success\n";
        let layout = Layout::detect(head, &LayoutOptions::default(), &error::Place::default()).unwrap();
        let time = time_of(&bytes);
        let block = Block { bytes, first_byte: 0, oversized: None, skipped_lines: 0, cut: false };
        Work { lane, sequence: 0, log: 0, block, layout: Arc::new(layout), file: None, time }
    }

    fn lanes(step: Step) -> Vec<usize> {
        step.blocks.iter().map(|work| work.lane).collect()
    }

    #[test]
    fn step_does_without_readers_that_wait_or_have_ended() {
        let (sender, steps) = crossbeam_channel::unbounded();
        let pools = [Pool::new(1), Pool::new(1), Pool::new(1)];
        let places = Arc::new(Steps::new(sender, true, 3, pools.iter().map(Pool::gauge)));
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

    #[test]
    fn reader_that_waits_for_the_workers_needs_no_other_and_one_that_ends_lets_all_begin() {
        let (sender, steps) = crossbeam_channel::bounded(1);
        let pool = Pool::new(9);
        let places = Arc::new(Steps::new(sender, false, 1, [pool.gauge()].into_iter()));
        let mut pace = Pace::new(Arc::clone(&places), 0, pool.turn(), 9);
        std::thread::scope(|scope| {
            let read = scope.spawn(|| {
                (0..200).for_each(|_| assert!(pace.bring(work(0, PooledBuffer::default()))));
                assert!(!places.gate.admits(1), "it waited for most of its steps");
                drop(pace);
                assert!(places.gate.admits(1));
            });
            // Each step is taken once the next one waits for its place.
            for _ in 0..200 {
                while !read.is_finished() && !steps.is_full() {
                    std::thread::yield_now();
                }
                std::thread::sleep(Duration::from_micros(100));
                drop(steps.recv().unwrap());
            }
            read.join().unwrap();
        });
    }

    #[test]
    fn step_does_without_a_block_that_is_ahead_until_the_others_come_up_with_it() {
        let (sender, steps) = crossbeam_channel::unbounded();
        let pools = [Pool::new(9), Pool::new(9)];
        let places = Arc::new(Steps::new(sender, true, 3, pools.iter().map(Pool::gauge)));
        let bring = |lane: usize, time: &str| {
            let block = work(lane, PooledBuffer::from(time.as_bytes().to_vec()));
            assert!(places.change(lane, |place| place.blocks.push_back(block)));
            steps.try_iter().map(lanes).collect::<Vec<_>>()
        };
        assert!(bring(0, "1795203824760,44,a,true").is_empty());
        assert_eq!(bring(1, "1795203824860,44,a,true"), [[0, 1]]);
        // A block of the first lane takes a second.
        assert!(bring(0, "1795203825760,44").is_empty());
        assert_eq!(bring(1, "1795203826261,44"), [[0]], "more than half a second later");
        assert_eq!(bring(0, "1795203826760,44"), [[0, 1]]);
        assert!(bring(0, "1795203827760,44").is_empty());
        assert_eq!(bring(1, "1795203924760,44"), [[0, 1]], "too late to wait for");
        assert!(bring(0, "1795203828760,44").is_empty());
        assert_eq!(bring(1, "no time"), [[0, 1]]);
    }
}
