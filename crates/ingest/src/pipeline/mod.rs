//! The threads and channels of an ingest: reading, parsing and storing in parallel.
//!
//! ```text
//!              blocks                steps                       steps, parsed, counted, encoded
//!  readers ──────────────▶ Steps ─────────────▶ workers ──────────────────────────────────────▶ collector ──▶ writer
//!  (feed/, reader.rs)       (feed/steps.rs)      (worker.rs)     in any order                    (collector/)  (sink.rs)
//!     ▲                                                                                            │ in the order of the log
//!     └───────────────────────────── buffers (sample/pool/) ───────────────────────────────────────┘
//! ```
//!
//! Several logs are read side by side, in lanes (lanes.rs), and cut into blocks. One block of each makes a step, which a
//! worker parses, counts and encodes: what logs tell of the same time is counted together. The calling task merges the
//! counts in the order of the logs, and passes the encoded chunks to the writer. The number of buffers is fixed: each
//! reader has its own, and a block's buffer returns when the block is counted. So memory stays flat and the queues stay
//! short, however fast or slow one stage is.
//!
//! No reader waits for another for ever. The blocks of the first lane that has not ended are always counted. Its reader
//! has come to it, since readers take the lanes in order. So its buffers return, also those of earlier lanes, and
//! parsing waits for no buffer. When the lane ends, the next one is the first. A step does without a reader that waits for
//! a buffer.

pub(crate) mod collector;
mod feed;
mod lanes;
mod messages;
pub(crate) mod plan;
mod progress;
mod reader;
pub(crate) mod sink;
pub(crate) mod stage;
pub(crate) mod survey;
mod threads;
mod worker;

use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::mpsc;

pub use self::progress::Progress;
pub(crate) use self::threads::{Job, side_by_side};

use self::collector::collected::Collected;
use self::collector::{Apart, Collector};
use self::feed::{Feed, Pace, Steps};
use self::messages::{Message, Shared};
use self::plan::ReadPlan;
use self::sink::RunWriter;
use self::threads::{join, spawn};
use self::worker::Worker;
use crate::counts::totals::{DEFAULT_MEMORY, Totals};
use crate::error::{Error, Result};
use crate::formats::jtl::parser::Parser;
use crate::sample::pool::Pool;

/// The number of logs that are read side by side even where there are fewer cores, but more than one: requests that several logs tell of the
/// same second are then counted together.
const SIDE_BY_SIDE: usize = 8;

/// The sizes of the pipeline's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PipelineOptions {
    /// The number of threads that parse, count and encode.
    pub workers: usize,
    /// The maximum number of logs of the same run that are read side by side, each by a thread of its own. Logs from pipes
    /// are always read one after another, and so are all logs if their samples are kept in a store that takes them only in
    /// order.
    pub readers: usize,
    /// The number of bytes of unpacked logs that are worth a reader. Smaller logs next to each other share one.
    pub reader_bytes: usize,
    /// The approximate size of a block, in bytes of the unpacked log.
    pub block_size: usize,
    /// The number of bytes, over all inputs, that are searched ahead for the smallest timeStamp. In a single file: if a
    /// record before t0 comes within this many bytes, the pass restarts after them, otherwise after the end of the
    /// file.
    pub look_ahead: usize,
    /// The memory budget in bytes for what is collected of a run. Counts beyond a fifth of it go to a temporary file.
    pub memory: usize,
}

impl Default for PipelineOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self {
            workers: cores,
            // On a single core, blocks of the usual size matter more.
            readers: if cores > 1 { cores.max(SIDE_BY_SIDE) } else { 1 },
            reader_bytes: 16 << 20,
            block_size: 1 << 20,
            look_ahead: 32 << 20,
            memory: DEFAULT_MEMORY,
        }
    }
}

impl PipelineOptions {
    /// Sets the number of threads that parse, count and encode.
    #[must_use]
    pub fn with_workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// Sets the maximum number of logs of the same run that are read side by side.
    #[must_use]
    pub fn with_readers(mut self, readers: usize) -> Self {
        self.readers = readers;
        self
    }

    /// Sets the number of bytes of unpacked logs that are worth a reader.
    #[must_use]
    pub fn with_reader_bytes(mut self, reader_bytes: usize) -> Self {
        self.reader_bytes = reader_bytes;
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
    mut plan: ReadPlan,
    parser: Parser,
    mut writer: W,
    max_rejects: u64,
    sizes: PipelineOptions,
    progress: Progress,
) -> Result<Outcome<W>> {
    let workers = sizes.workers.max(1);
    let window = plan.restart_window;
    let side_by_side = !plan.samples || writer.takes_pieces();
    let groups = plan.groups(if side_by_side { sizes.readers } else { 1 }, sizes.reader_bytes);
    let readers = groups.len().clamp(1, sizes.readers.max(1));
    let memory = Budget::new(sizes.memory, readers);
    let totals = Totals::new(memory.first, writer.scratch());
    let collected = Collected::new(max_rejects, if plan.part { totals.of_part() } else { totals });
    let apart = Apart {
        max_rejects,
        memory: memory.apart,
        memory_together: memory.together,
        scratch: writer.scratch(),
    };
    let shared = Arc::new(Shared::new(progress, collected.reject_room()));
    plan.block_size = block_size(plan.block_size, readers);
    let sizes = Queues::of(readers, workers, plan.block_size);
    let (messages, mut inbox) = mpsc::channel(sizes.results);
    let (work, queue) = crossbeam_channel::bounded(sizes.steps);
    let pools: Vec<Pool> = (0..readers).map(|_| Pool::new(sizes.buffers)).collect();
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
    let steps = Arc::new(Steps::new(work, pools.iter().map(Pool::gauge)));
    let feed = |(reader, pool): (usize, &Pool)| {
        let pace = Pace::new(Arc::clone(&steps), reader, pool.turn(), sizes.ordinary);
        Feed::new(pace, messages.clone(), Arc::clone(&shared))
    };
    let feeds = pools.iter().enumerate().map(feed).collect();
    drop(steps);
    threads.extend(read(plan, parser, groups, feeds, &messages)?);
    drop(messages);
    let collector = Collector::new(collected, &mut writer, &shared, window, apart);
    let ran = collector.run(&mut inbox).await;
    // Nobody receives from here on, so every running thread stops at its next message or buffer.
    drop((inbox, pools));
    let joined = ended(threads, matches!(ran, Ok((_, None)))).await;
    let (collected, late) = ran?;
    joined?;
    let Some(late) = late else { return Ok(Outcome::Done(writer, Box::new(collected))) };
    writer.give_up().await?;
    let t0_ms =
        collected.earliest_ms.ok_or_else(|| Error::bug("looking for t0", "no record was earlier than it"))?;
    Ok(Outcome::Earlier(Earlier { t0_ms, late }))
}

/// Waits for the ends of threads. If all their messages have come, they are at their end, which is not worth another
/// thread.
async fn ended(threads: Vec<JoinHandle<()>>, all_came: bool) -> Result<()> {
    if all_came {
        return join(threads);
    }
    let joined = tokio::task::spawn_blocking(move || join(threads)).await;
    joined.map_err(|error| Error::store("waiting for the ingest's threads", error))?
}

/// Starts the threads that read the logs.
fn read<C: Send + 'static>(
    plan: ReadPlan,
    parser: Parser,
    groups: Vec<usize>,
    feeds: Vec<Feed<C>>,
    alarm: &mpsc::Sender<Message<C>>,
) -> Result<Vec<JoinHandle<()>>> {
    let plan = Arc::new(plan);
    let (lanes, queue) = crossbeam_channel::unbounded();
    let (readers, mut feeds) = (feeds.len(), feeds.into_iter());
    let mut threads = Vec::new();
    if let Some(first) = feeds.next() {
        let (plan, queue) = (Arc::clone(&plan), queue.clone());
        let lead = move || match groups.len() {
            0 | 1 => first.run(&plan, parser),
            _ => first.lead(&plan, parser, (groups, readers), (lanes, queue)),
        };
        threads.push(spawn("read", alarm.clone(), lead)?);
    }
    for feed in feeds {
        let (plan, queue) = (Arc::clone(&plan), queue.clone());
        threads.push(spawn("read", alarm.clone(), move || feed.follow(&plan, &queue))?);
    }
    Ok(threads)
}

/// The lengths of the queues, and the number and size of the buffers of a reader.
struct Queues {
    /// The number of steps that wait for a worker, beside one that is passed on.
    steps: usize,
    /// The number of messages that wait to be collected.
    results: usize,
    buffers: usize,
    /// The size in bytes up to which a block is an ordinary one.
    ordinary: usize,
}

impl Queues {
    fn of(readers: usize, workers: usize, block_size: usize) -> Self {
        if readers == 1 {
            let (results, buffers) = (workers * 4, workers + 4);
            return Self { steps: 2, results, buffers, ordinary: usize::MAX };
        }
        // One block that is being filled, one in a step that is passed on, one for each worker, one that is collected, and
        // one that waits for it. So unless blocks have to wait for their turn, no reader with a block waits for one without
        // a buffer.
        Self { steps: 0, results: 1, buffers: workers + 4, ordinary: 4 * block_size }
    }
}

/// The size of the blocks of readers that read side by side, in bytes: those of a step have about as many bytes as two
/// blocks of a single reader.
fn block_size(size: usize, readers: usize) -> usize {
    (2 * size / readers.max(1)).max(plan::LEAST).min(size)
}

/// The memory budgets of a run's results, of what is counted together, and of the results of each lane that is read ahead
/// of its turn.
struct Budget {
    first: usize,
    together: Option<usize>,
    apart: usize,
}

impl Budget {
    fn new(memory: usize, readers: usize) -> Self {
        match readers.saturating_sub(1) {
            0 => Self { first: memory, together: None, apart: 0 },
            others => Self { first: memory / 3, together: Some(memory / 3), apart: memory / 3 / others },
        }
    }
}
