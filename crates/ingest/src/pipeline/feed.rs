//! The reading thread: sends blocks to the workers and messages to the collecting task.

use std::sync::Arc;

use crossbeam_channel::Sender;
use tokio::sync::mpsc;

use super::messages::{Message, Shared, Work};
use super::reader::{LogFeed, ReadPlan};
use crate::error::Place;
use crate::formats::jtl::blocks::Block;
use crate::formats::jtl::layout::Layout;
use crate::formats::jtl::parsed::Clock;
use crate::formats::jtl::parser::Parser;
use crate::run::damage::Damage;
use crate::run::info::SourceFile;
use crate::sample::pool::Turn;

/// The reading thread's end of the channels.
pub(super) struct Feed<C> {
    pub(super) work: Sender<Work>,
    pub(super) buffers: Turn,
    pub(super) messages: mpsc::Sender<Message<C>>,
    pub(super) shared: Arc<Shared>,
    pub(super) sequence: u64,
    pub(super) logs: usize,
}

impl<C> Feed<C> {
    pub(super) fn run(mut self, plan: ReadPlan, parser: Parser) {
        let packed = self.shared.progress.packed();
        if let Err(error) = plan.run(parser, packed, &mut self) {
            // If nobody receives, the ingest has already failed.
            let _ = self.messages.blocking_send(Message::Failed(error));
        }
    }
}

impl<C> LogFeed for Feed<C> {
    type Buffers = Turn;

    fn start(&mut self, clock: Clock) {
        let _ = self.shared.clock.set(clock);
    }

    fn buffers(&mut self) -> &mut Self::Buffers {
        &mut self.buffers
    }

    fn begin_log(&mut self, place: Place) -> bool {
        self.logs += 1;
        self.messages.blocking_send(Message::Log(place)).is_ok()
    }

    fn block(&mut self, block: Block, layout: &Arc<Layout>, file: Option<&Arc<str>>) -> bool {
        let sequence = self.sequence;
        self.sequence += 1;
        let log = self.logs.saturating_sub(1);
        self.work.send(Work { sequence, log, block, layout: Arc::clone(layout), file: file.cloned() }).is_ok()
    }

    fn end_log(&mut self, source: SourceFile) -> bool {
        self.messages.blocking_send(Message::Source(source)).is_ok()
    }

    fn damage(&mut self, damage: Damage, of_log: bool) -> bool {
        let log = of_log.then(|| self.logs.saturating_sub(1));
        self.messages.blocking_send(Message::Damage(log, damage)).is_ok()
    }

    fn notes(&mut self, notes: Vec<String>) -> bool {
        notes.is_empty() || self.messages.blocking_send(Message::Notes(notes)).is_ok()
    }
}
