//! What goes from thread to thread, and what all of them share.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, OnceLock};

use super::collected::BlockCounts;
use super::progress::Progress;
use crate::error::{Error, Place};
use crate::formats::jtl::blocks::Block;
use crate::formats::jtl::layout::Layout;
use crate::formats::jtl::parsed::Clock;
use crate::run::damage::Damage;
use crate::run::info::SourceFile;
use crate::sample::pool::PooledBuffer;

/// A block on its way to a worker.
pub(crate) struct Work {
    pub(crate) sequence: u64,
    pub(crate) log: usize,
    pub(crate) block: Block,
    pub(crate) layout: Arc<Layout>,
    pub(crate) file: Option<Arc<str>>,
}

/// What reaches the collecting task.
pub(crate) enum Message<C> {
    /// A log begins; its blocks come after this.
    Log(Place),
    /// A block was parsed and counted.
    Block(Box<Done<C>>),
    /// A log was read to its clean end.
    Source(SourceFile),
    /// What is damaged: of this log, by its number, or of something else.
    Damage(Option<usize>, Damage),
    /// Sentences for the user.
    Notes(Vec<String>),
    /// A stage failed; nothing more comes from it.
    Failed(Error),
}

/// What became of a block.
pub(crate) struct Done<C> {
    pub(super) counts: BlockCounts,
    /// Something for the writer.
    pub(super) chunk: Option<C>,
    /// The block's buffer, held until the block is counted.
    pub(super) buffer: PooledBuffer,
}

/// What the workers share.
pub(super) struct Shared {
    pub(super) clock: OnceLock<Clock>,
    /// Set once a record earlier than t0 was seen: from then on only times matter.
    pub(super) times_only: AtomicBool,
    /// How many rejects of a block are worth keeping: never fewer than those that are still allowed.
    pub(super) reject_room: AtomicU64,
    pub(super) progress: Arc<Progress>,
}
