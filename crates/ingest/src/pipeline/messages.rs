//! The messages between the pipeline's threads, and the state that the workers share.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, OnceLock};

use super::collector::collected::BlockCounts;
use super::progress::Progress;
use perfpipe_formats::jtl::blocks::Block;
use perfpipe_formats::jtl::layout::Layout;
use perfpipe_formats::jtl::parsed::Clock;
use perfpipe_model::error::{Error, Place};
use perfpipe_model::run::damage::Damage;
use perfpipe_model::run::info::SourceFile;
use perfpipe_model::sample::pool::PooledBuffer;

/// A block on its way to a worker.
pub(crate) struct BlockWork {
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
    Read(usize, LaneEvent),
    /// A block was parsed and counted.
    Block(Box<CountedBlock<C>>),
    /// A thread failed and sends nothing more.
    Failed(Error),
}

/// An event of the lane that a reader reads.
pub(crate) enum LaneEvent {
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
pub(crate) struct CountedBlock<C> {
    pub(super) lane: usize,
    /// The number of the block in its lane.
    pub(super) sequence: u64,
    pub(super) counts: BlockCounts,
    /// The encoded samples for the writer, if any.
    pub(super) chunk: Option<C>,
    /// The block's buffer, kept until the block is counted. Unless there are rejects, it has given its memory back.
    pub(super) buffer: PooledBuffer,
}

/// The state that the workers share.
pub(super) struct SharedState {
    pub(super) clock: OnceLock<Clock>,
    /// Set once a record before t0 was found. From then on only times matter.
    pub(super) times_only: AtomicBool,
    /// The number of rejects of a block to keep: never fewer than are still allowed.
    pub(super) reject_room: AtomicU64,
    pub(super) progress: Progress,
}

impl SharedState {
    pub(super) fn new(progress: Progress, reject_room: u64) -> Self {
        Self {
            clock: OnceLock::new(),
            times_only: AtomicBool::new(false),
            reject_room: AtomicU64::new(reject_room),
            progress,
        }
    }
}
