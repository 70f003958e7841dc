//! A reading thread: sends blocks to the workers and messages to the collecting task.

mod gate;
mod pace;
mod place;
mod steps;

use std::sync::Arc;

use crossbeam_channel::Receiver;
use tokio::sync::mpsc;

pub(super) use self::pace::Pace;
use self::place::time_of;
pub(super) use self::steps::Steps;
use super::lanes::Lane;
use super::messages::{Message, Read, Shared, Work};
use super::plan::{LogFeed, ReadPlan};
use crate::error::{Place, Result};
use crate::formats::jtl::blocks::Block;
use crate::formats::jtl::layout::Layout;
use crate::formats::jtl::parsed::Clock;
use crate::formats::jtl::parser::Parser;
use crate::run::damage::Damage;
use crate::run::info::SourceFile;

/// A reading thread's end of the channels.
pub(super) struct Feed<C> {
    pace: Pace,
    messages: mpsc::Sender<Message<C>>,
    shared: Arc<Shared>,
    /// The lane that is read.
    lane: usize,
    /// The number of blocks of the lane so far.
    blocks: u64,
    /// The number of logs of the lane so far.
    logs: usize,
}

impl<C> Feed<C> {
    pub(super) fn new(pace: Pace, messages: mpsc::Sender<Message<C>>, shared: Arc<Shared>) -> Self {
        Self { pace, messages, shared, lane: 0, blocks: 0, logs: 0 }
    }

    /// Reads all logs of a run as its only reader.
    pub(super) fn run(mut self, plan: &ReadPlan, parser: Parser) {
        let packed = self.shared.progress.packed();
        let read = plan.run(parser, packed, &mut self);
        self.end_lane(read.map(|()| true));
    }

    /// Reads lanes as long as there are any, in blocks of about this size, once this reader is needed.
    pub(super) fn follow(mut self, plan: &ReadPlan, queue: &Receiver<Lane>, block_size: usize) {
        self.pace.enter();
        let packed = self.shared.progress.packed();
        while let Ok(lane) = queue.try_recv() {
            (self.lane, self.blocks, self.logs) = (lane.number, 0, 0);
            let read = plan.read_lane(lane, block_size, &packed, &mut self);
            if !self.end_lane(read) {
                return;
            }
        }
    }

    /// Tells how the lane ended. Returns false to stop: if nobody receives, the ingest has already failed.
    fn end_lane(&mut self, read: Result<bool>) -> bool {
        match read {
            Ok(goes_on) => self.tell(Read::Ended(self.blocks)) && goes_on,
            Err(error) => self.tell(Read::Failed(error)),
        }
    }

    fn tell(&mut self, read: Read) -> bool {
        self.messages.blocking_send(Message::Read(self.lane, read)).is_ok()
    }
}

impl<C> LogFeed for Feed<C> {
    type Buffers = Pace;

    fn start(&mut self, clock: Clock) {
        let _ = self.shared.clock.set(clock);
    }

    fn buffers(&mut self) -> &mut Self::Buffers {
        &mut self.pace
    }

    fn begin_log(&mut self, place: Place) -> bool {
        self.logs += 1;
        self.tell(Read::Log(place))
    }

    fn block(&mut self, block: Block, layout: &Arc<Layout>, file: Option<&Arc<str>>) -> bool {
        let (lane, sequence, log) = (self.lane, self.blocks, self.logs.saturating_sub(1));
        self.blocks += 1;
        let (layout, file, time) = (Arc::clone(layout), file.cloned(), time_of(&block.bytes));
        self.pace.bring(Work { lane, sequence, log, block, layout, file, time })
    }

    fn end_log(&mut self, source: SourceFile) -> bool {
        self.tell(Read::Source(source))
    }

    fn damage(&mut self, damage: Damage, of_log: bool) -> bool {
        let log = of_log.then(|| self.logs.saturating_sub(1));
        self.tell(Read::Damage(log, damage))
    }

    fn notes(&mut self, notes: Vec<String>) -> bool {
        notes.is_empty() || self.tell(Read::Notes(notes))
    }
}
