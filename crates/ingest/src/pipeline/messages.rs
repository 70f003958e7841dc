//! The messages between the pipeline's threads, and the state that the workers share.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, OnceLock};

use super::collector::collected::BlockCounts;
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
    pub(crate) lane: usize,
    /// The number of the block in its lane.
    pub(crate) sequence: u64,
    /// The number of the log in its lane.
    pub(crate) log: usize,
    pub(crate) block: Block,
    pub(crate) layout: Arc<Layout>,
    pub(crate) file: Option<Arc<str>>,
}

/// A message to the collecting task.
pub(crate) enum Message<C> {
    /// A reader found something in the lane with this number.
    Read(usize, Read),
    /// A block was parsed and counted.
    Block(Box<Done<C>>),
    /// A thread failed and sends nothing more.
    Failed(Error),
}

/// What a reader tells of the lane that it reads.
pub(crate) enum Read {
    /// A log begins. Its blocks follow.
    Log(Place),
    /// A log was read to its end without damage.
    Source(SourceFile),
    /// Something is damaged: the log with this number in the lane, or something else if `None`.
    Damage(Option<usize>, Damage),
    /// Notes for the user, as sentences.
    Notes(Vec<String>),
    /// The lane has ended, and had this number of blocks.
    Ended(u64),
    /// The lane can't be read any further.
    Failed(Error),
}

/// The result of a block.
pub(crate) struct Done<C> {
    pub(super) lane: usize,
    /// The number of the block in its lane.
    pub(super) sequence: u64,
    pub(super) counts: BlockCounts,
    /// The encoded samples for the writer, if any.
    pub(super) chunk: Option<C>,
    /// The block's buffer, kept until the block is counted.
    pub(super) buffer: PooledBuffer,
}

/// The state that the workers share.
pub(super) struct Shared {
    pub(super) clock: OnceLock<Clock>,
    /// Set once a record before t0 was found. From then on only times matter.
    pub(super) times_only: AtomicBool,
    /// The number of rejects of a block to keep: never fewer than are still allowed.
    pub(super) reject_room: AtomicU64,
    pub(super) progress: Progress,
}
