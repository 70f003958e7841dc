//! The threads and channels of an ingest: reading, parsing and storing in parallel.
//!
//! ```text
//!             blocks                      blocks, parsed, counted, encoded
//!  reader ──────────────▶ workers ──────────────────────────────────────▶ collector ──▶ writer
//!  (feed.rs, reader.rs)   (worker.rs)     in any order                    (collector.rs)  (sink.rs)
//!     ▲                                                                      │ in the order of the log
//!     └──────────────────────────── buffers (sample/pool/) ──────────────────┘
//! ```
//!
//! One thread reads the logs and cuts them into blocks. Workers parse, count and encode them. The calling task merges
//! the counts and passes the encoded chunks to the writer, both in the order of the log. The number of buffers is
//! fixed, and a block's buffer returns when the block is counted. So memory stays flat and the queues stay short,
//! however fast or slow one stage is.

pub(crate) mod collected;
mod collector;
mod feed;
mod messages;
mod progress;
pub(crate) mod reader;
pub(crate) mod sink;
pub(crate) mod stage;
mod threads;
mod worker;

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, OnceLock};

use tokio::sync::mpsc;

pub use self::progress::Progress;
pub(crate) use self::threads::{Job, side_by_side};

use self::collected::Collected;
use self::collector::Collector;
use self::feed::Feed;
use self::messages::Shared;
use self::reader::ReadPlan;
use self::sink::RunWriter;
use self::threads::{join, spawn};
use self::worker::Worker;
use crate::counts::totals::{DEFAULT_MEMORY, Totals};
use crate::error::{Error, Result};
use crate::formats::jtl::parser::Parser;
use crate::sample::pool::Pool;

/// The sizes of the pipeline's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PipelineOptions {
    /// The number of threads that parse, count and encode.
    pub workers: usize,
    /// The approximate size of a block, in bytes of the unpacked log.
    pub block_size: usize,
    /// The number of bytes, over all inputs, that are searched ahead for the smallest timeStamp. In a single file: if a
    /// record before t0 comes within this many bytes, the pass restarts after them, otherwise after the end of the
    /// file.
    pub look_ahead: usize,
    /// The memory budget in bytes for what is collected of a run. Counts beyond a third of it go to a temporary file.
    pub memory: usize,
}

impl Default for PipelineOptions {
    fn default() -> Self {
        let workers = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self { workers, block_size: 1 << 20, look_ahead: 32 << 20, memory: DEFAULT_MEMORY }
    }
}

impl PipelineOptions {
    /// Sets the number of threads that parse, count and encode.
    #[must_use]
    pub fn with_workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// Sets the approximate size of a block, in bytes of the unpacked log.
    #[must_use]
    pub fn with_block_size(mut self, block_size: usize) -> Self {
        self.block_size = block_size;
        self
    }

    /// Sets the number of bytes that are searched ahead for the smallest timeStamp.
    #[must_use]
    pub fn with_look_ahead(mut self, look_ahead: usize) -> Self {
        self.look_ahead = look_ahead;
        self
    }

    /// Sets the memory budget in bytes for what is collected of a run.
    #[must_use]
    pub fn with_memory(mut self, memory: usize) -> Self {
        self.memory = memory;
        self
    }
}

/// The result of a pass over the logs.
pub(crate) enum Outcome<W> {
    /// All was read, and the writer holds the samples.
    Done(W, Box<Collected>),
    /// A record before t0 was found.
    Earlier(Earlier),
}

/// A record before t0 was found during a pass.
pub(crate) struct Earlier {
    /// The smallest timeStamp of all that was read, epoch ms.
    pub(crate) t0_ms: i64,
    /// True if the record came too late for an early restart, so that all was read and no record is earlier.
    pub(crate) late: bool,
}

/// Reads the logs once and writes their samples.
pub(crate) async fn run<W: RunWriter>(
    plan: ReadPlan,
    parser: Parser,
    mut writer: W,
    max_rejects: u64,
    sizes: PipelineOptions,
    progress: Progress,
) -> Result<Outcome<W>> {
    let workers = sizes.workers.max(1);
    let window = plan.restart_window;
    let totals = Totals::new(sizes.memory, writer.scratch());
    let collected = Collected::new(max_rejects, totals);
    let shared = Arc::new(Shared {
        clock: OnceLock::new(),
        times_only: AtomicBool::new(false),
        reject_room: AtomicU64::new(collected.reject_room()),
        progress,
    });
    let (messages, mut inbox) = mpsc::channel(workers * 4);
    // One that is being filled, one for each worker, and a few that wait for a worker or for their turn to be counted.
    let blocks = workers + 4;
    let (work, queue) = crossbeam_channel::bounded(blocks);
    let pool = Pool::new(blocks);
    let buffers = pool.turn();
    let mut threads = Vec::new();
    for _ in 0..workers {
        let worker = Worker {
            parser: parser.clone(),
            encoder: writer.encoder()?,
            shared: Arc::clone(&shared),
            queue: queue.clone(),
            messages: messages.clone(),
        };
        threads.push(spawn("parse", messages.clone(), move || worker.run())?);
    }
    drop(queue);
    let alarm = messages.clone();
    let feed = Feed { work, buffers, messages, shared: Arc::clone(&shared), sequence: 0, logs: 0 };
    threads.push(spawn("read", alarm, move || feed.run(plan, parser))?);
    let collector =
        Collector { collected, writer: &mut writer, shared: &shared, window, bytes: 0, late: None };
    let ran = collector.run(&mut inbox).await;
    // Nobody receives from here on, so every running thread stops at its next message or buffer.
    drop((inbox, pool));
    let joined = tokio::task::spawn_blocking(move || join(threads)).await;
    let (collected, late) = ran?;
    joined.map_err(|error| Error::store("waiting for the ingest's threads", error))??;
    let Some(late) = late else { return Ok(Outcome::Done(writer, Box::new(collected))) };
    writer.give_up().await?;
    let t0_ms =
        collected.earliest_ms.ok_or_else(|| Error::bug("looking for t0", "no record was earlier than it"))?;
    Ok(Outcome::Earlier(Earlier { t0_ms, late }))
}
