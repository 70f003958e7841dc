//! A reading thread: sends blocks to the workers and messages to the collecting task.
//!
//! Combines blocks of logs that are read side by side and counted jointly: one of each lane makes a step, which a worker
//! parses as a whole. Where the logs cover the same time, so do the blocks of a step: one that is ahead of the others is
//! postponed. Of other logs each block is a step.
//!
//! Another reader starts when the workers run out of blocks. A reader more than needed costs time: it takes a core from the
//! workers, and its blocks leave the cache before they are parsed.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, TrySendError};
use tokio::sync::mpsc;

use super::messages::{BlockWork, LaneEvent, Message, SharedState, WorkStep};
use super::plan::{Lane, LogFeed, ReadPlan};
use perfpipe_formats::jtl::blocks::Block;
use perfpipe_formats::jtl::layout::Layout;
use perfpipe_formats::jtl::parsed::Clock;
use perfpipe_formats::jtl::parser::Parser;
use perfpipe_model::error::{Place, Result};
use perfpipe_model::run::damage::Damage;
use perfpipe_model::run::info::SourceFile;
use perfpipe_model::sample::pool::{Buffers, Gauge, PooledBuffer, Turn};

/// A reading thread's end of the channels.
pub(super) struct Feed<C> {
    block_sender: BlockSender,
    messages: mpsc::Sender<Message<C>>,
    shared: Arc<SharedState>,
    /// The lane that is read.
    lane: usize,
    /// The number of blocks of the lane so far.
    blocks: u64,
    /// The number of logs of the lane so far.
    logs: usize,
}

impl<C> Feed<C> {
    pub(super) fn new(
        block_sender: BlockSender,
        messages: mpsc::Sender<Message<C>>,
        shared: Arc<SharedState>,
    ) -> Self {
        Self { block_sender, messages, shared, lane: 0, blocks: 0, logs: 0 }
    }

    /// Reads all logs of a run as its only reader.
    pub(super) fn run(mut self, plan: &ReadPlan, parser: Parser) {
        let packed = self.shared.progress.packed();
        let read = plan.run(parser, packed, &mut self);
        self.end_lane(read.map(|()| true));
    }

    /// Reads lanes as long as there are any, in blocks of about this size, once this reader is needed.
    pub(super) fn follow(mut self, plan: &ReadPlan, queue: &Receiver<Lane>, block_size: usize) {
        self.block_sender.enter();
        let packed = self.shared.progress.packed();
        while let Ok(lane) = queue.try_recv() {
            (self.lane, self.blocks, self.logs) = (lane.number, 0, 0);
            let read = plan.read_lane(lane, block_size, &packed, &mut self);
            if !self.end_lane(read) {
                return;
            }
        }
    }

    /// Reports how the lane ended. Returns false to stop: if nobody receives, the ingest has already failed.
    fn end_lane(&mut self, read: Result<bool>) -> bool {
        match read {
            Ok(goes_on) => self.send(LaneEvent::Ended(self.blocks)) && goes_on,
            Err(error) => self.send(LaneEvent::Failed(error)),
        }
    }

    fn send(&mut self, read: LaneEvent) -> bool {
        self.messages.blocking_send(Message::Read(self.lane, read)).is_ok()
    }
}

impl<C> LogFeed for Feed<C> {
    type Buffers = BlockSender;

    fn start(&mut self, clock: Clock) {
        let _ = self.shared.clock.set(clock);
    }

    fn buffers(&mut self) -> &mut Self::Buffers {
        &mut self.block_sender
    }

    fn begin_log(&mut self, place: Place) -> bool {
        self.logs += 1;
        self.send(LaneEvent::Log(place))
    }

    fn block(&mut self, block: Block, layout: &Arc<Layout>, file: Option<&Arc<str>>) -> bool {
        let (lane, sequence, log) = (self.lane, self.blocks, self.logs.saturating_sub(1));
        self.blocks += 1;
        let (layout, file, time) = (Arc::clone(layout), file.cloned(), time_of(&block.bytes));
        self.block_sender.send(BlockWork { lane, sequence, log, block, layout, file, time })
    }

    fn end_log(&mut self, source: SourceFile) -> bool {
        self.send(LaneEvent::Source(source))
    }

    fn damage(&mut self, damage: Damage, of_log: bool) -> bool {
        let log = of_log.then(|| self.logs.saturating_sub(1));
        self.send(LaneEvent::Damage(log, damage))
    }

    fn notes(&mut self, notes: Vec<String>) -> bool {
        notes.is_empty() || self.send(LaneEvent::Notes(notes))
    }
}

/// The blocks that wait for those of other lanes.
///
/// A step is complete once each reader has sent a block, has come to its end, or waits for a buffer. So no reader waits
/// for one that waits itself: the blocks of a lane may keep their buffers until its turn.
pub(crate) struct StepQueue {
    work: Sender<WorkStep>,
    /// True if a step has a block of each lane.
    together: bool,
    gate: Gate,
    state: Mutex<QueueState>,
}

pub(super) struct QueueState {
    /// One for each reader.
    queues: Vec<ReaderQueue>,
    /// The number of steps so far.
    steps: u64,
}

impl StepQueue {
    /// Creates the queues of readers, whose buffers these are, and of which so many begin at once.
    pub(crate) fn new(
        work: Sender<WorkStep>,
        together: bool,
        begin: usize,
        buffers: impl Iterator<Item = Gauge>,
    ) -> Self {
        let state = QueueState { queues: buffers.map(ReaderQueue::new).collect(), steps: 0 };
        Self { work, together, gate: Gate::new(begin), state: Mutex::new(state) }
    }

    /// Notes that a reader waits for a buffer. It is ahead of the workers if they have steps left.
    fn waits_for_buffer(&self) {
        if !self.work.is_empty() {
            self.gate.note_wait();
        }
    }

    /// Passes a step on to the workers. Returns false if nobody works any more.
    fn pass_on(&self, step: WorkStep) -> bool {
        match self.work.try_send(step) {
            Err(TrySendError::Full(step)) => {
                self.gate.note_wait();
                self.work.send(step).is_ok()
            }
            sent => sent.is_ok(),
        }
    }

    /// Changes the queue of a reader, and passes on the steps that are complete. Returns false if nobody works any more.
    pub(super) fn change(&self, reader: usize, change: impl FnOnce(&mut ReaderQueue)) -> bool {
        let mut state = self.lock();
        if let Some(queue) = state.queues.get_mut(reader) {
            change(queue);
        }
        while !self.together || state.queues.iter().all(ReaderQueue::is_settled) {
            let mut blocks = next_of(&mut state.queues);
            if blocks.is_empty() {
                return true;
            }
            blocks.sort_by_key(|work| work.lane);
            let number = state.steps;
            state.steps += 1;
            // A reader that sends a block meanwhile waits as well: the workers have enough to do.
            if !self.pass_on(WorkStep { number, blocks }) {
                return false;
            }
        }
        true
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A block is postponed if it begins later than others by more than half of the time that one of theirs takes, and by less
/// than this many times of it: logs with a longer time between them never meet.
const FAR: u64 = 8;

/// The digits of a time in s or a finer unit since 1970.
const DIGITS: std::ops::RangeInclusive<usize> = 10..=19;

/// The blocks that a reader sent, and what it does.
pub(super) struct ReaderQueue {
    blocks: VecDeque<BlockWork>,
    buffers: Gauge,
    reader: ReaderState,
    /// When its last block in a step began.
    last: Option<u64>,
}

/// What a reader does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReaderState {
    Reads,
    /// It waits for a buffer.
    Waits,
    /// It waits for all of its buffers to be free.
    WaitsForAll,
    Ended,
}

impl ReaderQueue {
    fn new(buffers: Gauge) -> Self {
        Self { blocks: VecDeque::new(), buffers, reader: ReaderState::Reads, last: None }
    }

    /// Returns true if the next block need not be waited for.
    fn is_settled(&self) -> bool {
        let without = match self.reader {
            ReaderState::Reads => false,
            // It may be about to take one that came back.
            ReaderState::Waits => self.buffers.is_empty(),
            ReaderState::WaitsForAll | ReaderState::Ended => true,
        };
        without || !self.blocks.is_empty()
    }

    /// When the next block begins.
    fn time(&self) -> Option<u64> {
        self.blocks.front()?.time
    }

    fn pop(&mut self) -> Option<BlockWork> {
        let work = self.blocks.pop_front()?;
        self.last = work.time;
        Some(work)
    }
}

/// Removes the next blocks from all queues, but for those that begin much later than others: if the records of one log have
/// more bytes than those of another, the same number of bytes covers a shorter time.
fn next_of(queues: &mut [ReaderQueue]) -> Vec<BlockWork> {
    let earliest = queues.iter().filter_map(|queue| Some((queue.time()?, queue.last))).min();
    let length = earliest.and_then(|(time, last)| Some((time, time.checked_sub(last?)?)));
    let is_postponed = |queue: &ReaderQueue| {
        queue.time().zip(length).is_some_and(|(time, (earliest, length))| {
            let later = time - earliest;
            later > length / 2 && later < length.saturating_mul(FAR)
        })
    };
    queues.iter_mut().filter(|queue| !is_postponed(queue)).filter_map(ReaderQueue::pop).collect()
}

/// The number with which a block begins, if it may be a time.
fn time_of(block: &[u8]) -> Option<u64> {
    let digits = block.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = block.get(..digits).filter(|_| DIGITS.contains(&digits))?;
    str::from_utf8(number).ok()?.parse().ok()
}

/// The number of blocks in a row for which no reader waited that lets another one begin.
const STRAIGHT: usize = 64;

/// The readers that have begun.
struct Gate {
    state: Mutex<GateState>,
    /// Signalled when more readers may begin.
    opened: Condvar,
}

struct GateState {
    /// The number of readers that may read.
    open: usize,
    /// The number of blocks since a reader waited or was let in.
    straight: usize,
}

impl GateState {
    fn admits(&self, reader: usize) -> bool {
        reader < self.open
    }
}

impl Gate {
    /// Lets so many readers begin at once.
    fn new(open: usize) -> Self {
        Self { state: Mutex::new(GateState { open, straight: 0 }), opened: Condvar::new() }
    }

    /// Waits until the reader with this number may begin.
    fn enter(&self, reader: usize) {
        let is_closed = |state: &mut GateState| !state.admits(reader);
        drop(self.opened.wait_while(self.lock(), is_closed).unwrap_or_else(PoisonError::into_inner));
    }

    /// Counts a block that a reader sent.
    fn count_block(&self) {
        let mut state = self.lock();
        state.straight += 1;
        if state.straight >= STRAIGHT {
            *state = GateState { open: state.open.saturating_add(1), straight: 0 };
            self.opened.notify_all();
        }
    }

    /// Notes that a reader is ahead of the workers, and waits for them.
    fn note_wait(&self) {
        self.lock().straight = 0;
    }

    /// Lets all readers begin: one has ended, so there is nothing left to read, or nobody works any more.
    fn open(&self) {
        self.lock().open = usize::MAX;
        self.opened.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
impl Gate {
    /// Returns true if a reader with this number may begin.
    fn admits(&self, reader: usize) -> bool {
        self.lock().admits(reader)
    }
}

/// The buffers of a reader. Others don't wait for it while it waits for one, or once it was dropped.
pub(crate) struct BlockSender {
    steps: Arc<StepQueue>,
    reader: usize,
    turn: Turn,
    /// The size in bytes up to which a block is an ordinary one. Of larger ones there is one at a time.
    ordinary: usize,
    /// True if the last block was larger.
    is_large: bool,
}

impl BlockSender {
    pub(crate) fn new(steps: Arc<StepQueue>, reader: usize, turn: Turn, ordinary: usize) -> Self {
        Self { steps, reader, turn, ordinary, is_large: false }
    }

    /// Waits until this reader may begin.
    fn enter(&self) {
        self.steps.gate.enter(self.reader);
    }

    /// Queues a block for the workers. Returns false if nobody works any more.
    fn send(&mut self, work: BlockWork) -> bool {
        self.is_large = work.block.bytes.len() > self.ordinary;
        self.steps.gate.count_block();
        self.steps.change(self.reader, |queue| queue.blocks.push_back(work))
    }

    /// Waits for a buffer, or for all of them to be free.
    fn wait(&mut self, for_all: bool) -> Option<PooledBuffer> {
        self.steps.waits_for_buffer();
        let waits = if for_all { ReaderState::WaitsForAll } else { ReaderState::Waits };
        if !self.steps.change(self.reader, |queue| queue.reader = waits) {
            return None;
        }
        let buffer = if for_all { self.turn.take_of_all() } else { self.turn.take() };
        if let Some(queue) = self.steps.lock().queues.get_mut(self.reader) {
            queue.reader = ReaderState::Reads;
        }
        buffer
    }
}

impl Buffers for BlockSender {
    fn take(&mut self) -> Option<PooledBuffer> {
        // Records may have megabytes. Of each log with such there is one block at a time, in the same buffer.
        if self.is_large {
            return self.wait(true);
        }
        self.turn.take_free().or_else(|| self.wait(false))
    }
}

impl Drop for BlockSender {
    fn drop(&mut self) {
        self.steps.change(self.reader, |queue| queue.reader = ReaderState::Ended);
        self.steps.gate.open();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;
    use crate::pipeline::messages::BlockWork;
    use perfpipe_formats::jtl::blocks::Block;
    use perfpipe_formats::jtl::layout::{Layout, LayoutOptions};
    use perfpipe_model::error;
    use perfpipe_model::sample::pool::{Buffers, Pool, PooledBuffer};

    fn work(lane: usize, bytes: PooledBuffer) -> BlockWork {
        let head = b"timeStamp,elapsed,label,success\n";
        let layout = Layout::detect(head, &LayoutOptions::default(), &error::Place::default()).unwrap();
        let time = time_of(&bytes);
        let block = Block { bytes, first_byte: 0, oversized: None, skipped_lines: 0, cut: false };
        BlockWork { lane, sequence: 0, log: 0, block, layout: Arc::new(layout), file: None, time }
    }

    fn lanes(step: WorkStep) -> Vec<usize> {
        step.blocks.iter().map(|work| work.lane).collect()
    }

    #[test]
    fn step_does_without_readers_that_wait_or_have_ended() {
        let (sender, steps) = crossbeam_channel::unbounded();
        let pools = [Pool::new(1), Pool::new(1), Pool::new(1)];
        let queues = Arc::new(StepQueue::new(sender, true, 3, pools.iter().map(Pool::gauge)));
        let block_sender =
            |reader: usize| BlockSender::new(Arc::clone(&queues), reader, pools[reader].turn(), 9);
        let [mut first, mut second, mut third] = [block_sender(0), block_sender(1), block_sender(2)];
        for (block_sender, lane) in [(&mut second, 1), (&mut first, 0), (&mut third, 2)] {
            assert!(steps.is_empty(), "a reader has brought nothing yet");
            let buffer = block_sender.take().unwrap();
            assert!(block_sender.send(work(lane, buffer)));
        }
        let step = steps.try_recv().unwrap();
        // The first reader waits for the buffer of its only block, which is in the step.
        let (took, taken) = channel();
        let waiting = std::thread::spawn(move || took.send(first.take().is_some()).map(|()| first));
        drop(third);
        assert!(second.send(work(1, PooledBuffer::from(vec![0; 10]))));
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
        let queues = Arc::new(StepQueue::new(sender, false, 1, [pool.gauge()].into_iter()));
        let mut block_sender = BlockSender::new(Arc::clone(&queues), 0, pool.turn(), 9);
        std::thread::scope(|scope| {
            let read = scope.spawn(|| {
                (0..200).for_each(|_| assert!(block_sender.send(work(0, PooledBuffer::default()))));
                assert!(!queues.gate.admits(1), "it waited for most of its steps");
                drop(block_sender);
                assert!(queues.gate.admits(1));
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
        let queues = Arc::new(StepQueue::new(sender, true, 3, pools.iter().map(Pool::gauge)));
        let bring = |lane: usize, time: &str| {
            let block = work(lane, PooledBuffer::from(time.as_bytes().to_vec()));
            assert!(queues.change(lane, |queue| queue.blocks.push_back(block)));
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

    #[test]
    fn reader_begins_once_those_before_it_brought_blocks_without_waiting() {
        let gate = Gate::new(1);
        gate.enter(0);
        for _ in 0..9 {
            (1..STRAIGHT).for_each(|_| gate.count_block());
            gate.note_wait();
        }
        assert!(!gate.admits(1), "the first is ahead of the workers");
        std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                gate.enter(1);
                assert!(gate.admits(1));
            });
            (0..STRAIGHT).for_each(|_| gate.count_block());
            second.join().unwrap();
            assert!(!gate.admits(2));
            let others = [2, 7].map(|reader| {
                let gate = &gate;
                scope.spawn(move || gate.enter(reader))
            });
            gate.open();
            others.into_iter().for_each(|other| other.join().unwrap());
        });
    }
}
