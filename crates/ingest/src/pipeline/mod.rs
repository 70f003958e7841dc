//! Inflating, parsing and storing side by side: every thread and channel of an ingest is here.
//!
//! ```text
//!             blocks                      blocks, parsed, counted, encoded
//!  reader ──────────────▶ workers ──────────────────────────────────────▶ collector ──▶ writer
//!  (feed.rs, reader.rs)   (worker.rs)     in any order                    (collector.rs)  (sink.rs)
//!     ▲                                                                      │ in the order of the log
//!     └──────────────────────────── buffers (sample/pool.rs) ────────────────┘
//! ```
//!
//! One thread reads and cuts the logs, workers parse, count and encode, and the calling task merges the
//! counts and hands the encoded chunks to the writer, both in the order of the log. Buffers go round: there
//! are only so many, and a block's comes back when the block is counted, so memory stays flat and little waits
//! for its turn, however fast or slow one stage is.

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

/// The sizes of the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PipelineOptions {
    /// Threads that parse, count and encode.
    pub workers: usize,
    /// Bytes of log a block, about.
    pub block_size: usize,
    /// Bytes of log that are looked at ahead for the smallest timeStamp, over all inputs; of a single file those after
    /// which a pass that found an earlier record begins anew.
    pub look_ahead: usize,
    /// Bytes that what is gathered of a run may take; counts beyond a third of it go to a temporary file.
    pub memory: usize,
}

impl Default for PipelineOptions {
    fn default() -> Self {
        let workers = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self { workers, block_size: 1 << 20, look_ahead: 32 << 20, memory: DEFAULT_MEMORY }
    }
}

/// How a pass over the logs ended.
pub(crate) enum Outcome<W> {
    /// All was read; the writer holds the samples.
    Done(W, Box<Collected>),
    /// A record is earlier than t0.
    Earlier(Earlier),
}

/// That a pass found a record before its t0.
pub(crate) struct Earlier {
    /// The smallest timeStamp of all that was read.
    pub(crate) t0_ms: i64,
    /// Whether the record came too late to begin anew at once, so that the whole run was read: no record is earlier.
    pub(crate) late: bool,
}

/// Reads the logs once, into the writer.
pub(crate) async fn run<W: RunWriter>(
    plan: ReadPlan,
    parser: Parser,
    mut writer: W,
    max_rejects: u64,
    sizes: PipelineOptions,
    progress: Arc<Progress>,
) -> Result<Outcome<W>> {
    let workers = sizes.workers.max(1);
    let window = plan.begin_anew_within;
    let totals = Totals::new(sizes.memory, writer.scratch());
    let collected = Collected::new(max_rejects, totals);
    let shared = Arc::new(Shared {
        clock: OnceLock::new(),
        times_only: AtomicBool::new(false),
        reject_room: AtomicU64::new(collected.reject_room()),
        progress,
    });
    let (messages, mut inbox) = mpsc::channel(workers * 4);
    // One being filled and one at each worker, and a few that wait for a worker or for the one before them.
    let blocks = workers + 4;
    let (work, queue) = crossbeam_channel::bounded(blocks);
    let pool = Pool::new(blocks, sizes.block_size);
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
    // Nobody listens from here on, so every thread that still works stops at its next message or buffer.
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
