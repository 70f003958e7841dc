//! A reading thread: sends blocks to the workers and messages to the collecting task.
//!
//! Another reader starts when the workers run out of blocks. A reader more than needed costs time: it takes a core from the
//! workers, and its blocks leave the cache before they are parsed.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, TrySendError};
use tokio::sync::mpsc;

use super::messages::{BlockWork, LaneEvent, Message, SharedState};
use super::plan::{Lane, LogFeed, ReadPlan};
use perfpipe_formats::jtl::blocks::Block;
use perfpipe_formats::jtl::layout::Layout;
use perfpipe_formats::jtl::parsed::Clock;
use perfpipe_formats::jtl::parser::Parser;
use perfpipe_model::error::{Place, Result};
use perfpipe_model::run::damage::Damage;
use perfpipe_model::run::info::SourceFile;
use perfpipe_model::sample::pool::{Buffers, PooledBuffer, Turn};

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

    /// Reads lanes as long as there are any, once this reader is needed.
    pub(super) fn follow(mut self, plan: &ReadPlan, queue: &Receiver<Lane>) {
        self.block_sender.enter();
        let packed = self.shared.progress.packed();
        while let Ok(lane) = queue.try_recv() {
            (self.lane, self.blocks, self.logs) = (lane.number, 0, 0);
            let read = plan.read_lane(lane, &packed, &mut self);
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
        let (layout, file) = (Arc::clone(layout), file.cloned());
        self.block_sender.send(BlockWork { lane, sequence, log, block, layout, file })
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

/// The blocks that wait for a worker, and the readers that send them.
pub(crate) struct BlockQueue {
    work: Sender<BlockWork>,
    gate: Gate,
}

impl BlockQueue {
    /// Creates the queue of readers of which so many begin at once.
    pub(crate) fn new(work: Sender<BlockWork>, begin: usize) -> Self {
        Self { work, gate: Gate::new(begin) }
    }

    /// Notes that a reader waits for a buffer. It is ahead of the workers if they have blocks left.
    fn waits_for_buffer(&self) {
        if !self.work.is_empty() {
            self.gate.note_wait();
        }
    }

    /// Passes a block on to the workers. Returns false if nobody works any more.
    fn send(&self, work: BlockWork) -> bool {
        self.gate.count_block();
        match self.work.try_send(work) {
            Err(TrySendError::Full(work)) => {
                self.gate.note_wait();
                self.work.send(work).is_ok()
            }
            sent => sent.is_ok(),
        }
    }
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

/// What a reader has of the queue: its buffers, and where it sends them once they are full.
pub(crate) struct BlockSender {
    queue: Arc<BlockQueue>,
    reader: usize,
    turn: Turn,
}

impl BlockSender {
    pub(crate) fn new(queue: Arc<BlockQueue>, reader: usize, turn: Turn) -> Self {
        Self { queue, reader, turn }
    }

    /// Waits until this reader may begin.
    fn enter(&self) {
        self.queue.gate.enter(self.reader);
    }

    /// Queues a block for the workers. Returns false if nobody works any more.
    fn send(&self, work: BlockWork) -> bool {
        self.queue.send(work)
    }
}

impl Buffers for BlockSender {
    fn take(&mut self) -> Option<PooledBuffer> {
        self.turn.take_free().or_else(|| {
            self.queue.waits_for_buffer();
            self.turn.take()
        })
    }
}

impl Drop for BlockSender {
    fn drop(&mut self) {
        self.queue.gate.open();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::pipeline::messages::BlockWork;
    use perfpipe_formats::jtl::blocks::Block;
    use perfpipe_formats::jtl::layout::{Layout, LayoutOptions};
    use perfpipe_model::error;
    use perfpipe_model::sample::pool::{Pool, PooledBuffer};

    fn work(lane: usize, bytes: PooledBuffer) -> BlockWork {
        let head = b"timeStamp,elapsed,label,success\n";
        let layout = Layout::detect(head, &LayoutOptions::default(), &error::Place::default()).unwrap();
        let block = Block { bytes, first_byte: 0, oversized: None, skipped_lines: 0, cut: false };
        BlockWork { lane, sequence: 0, log: 0, block, layout: Arc::new(layout), file: None }
    }

    #[test]
    fn reader_that_waits_for_the_workers_needs_no_other_and_one_that_ends_lets_all_begin() {
        let (sender, blocks) = crossbeam_channel::bounded(1);
        let pool = Pool::new(9);
        let queue = Arc::new(BlockQueue::new(sender, 1));
        let block_sender = BlockSender::new(Arc::clone(&queue), 0, pool.turn());
        std::thread::scope(|scope| {
            let read = scope.spawn(|| {
                (0..200).for_each(|_| assert!(block_sender.send(work(0, PooledBuffer::default()))));
                assert!(!queue.gate.admits(1), "it waited for most of its blocks");
                drop(block_sender);
                assert!(queue.gate.admits(1));
            });
            // Each block is taken once the next one waits for its place.
            for _ in 0..200 {
                while !read.is_finished() && !blocks.is_full() {
                    std::thread::yield_now();
                }
                std::thread::sleep(Duration::from_micros(100));
                drop(blocks.recv().unwrap());
            }
            read.join().unwrap();
        });
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
