//! Inflating, parsing and storing side by side: every thread and channel of an ingest is here.
//!
//! One thread reads and cuts the logs, workers parse, count and encode, and the calling task merges the
//! counts and hands the encoded chunks to the writer, both in the order of the log. Buffers go round: there
//! are only so many, and a block's comes back when the block is stored, so memory stays flat and little waits
//! for its turn, however fast or slow one stage is.

pub(crate) mod collector;
pub(crate) mod reader;
pub(crate) mod sink;
pub(crate) mod stage;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender};
use tokio::sync::mpsc;

use self::collector::{BlockCounts, Collected};
use self::reader::{LogFeed, ReadPlan};
use self::sink::{BatchEncoder, RunWriter};
use self::stage::CommitStage;
use crate::counts::counter::Counter;
use crate::error::{Error, Place, Result};
use crate::formats::jtl::blocks::Block;
use crate::formats::jtl::layout::Layout;
use crate::formats::jtl::parser::{Clock, Parsed, Parser};
use crate::run::damage::Damage;
use crate::run::info::SourceFile;
use crate::sample::pool::{Pool, PooledBuffer, Turn};

use crate::counts::totals::{DEFAULT_MEMORY, Totals};

/// How far an ingest has come; shared with whoever shows it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes read from the input files, as they are on disk.
    pub packed_bytes: Arc<AtomicU64>,
    /// Samples parsed.
    pub samples: AtomicU64,
    /// Whether the run is stored.
    pub commit: CommitStage,
}

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
    counts: BlockCounts,
    /// Something for the writer.
    chunk: Option<C>,
    /// The block's buffer, held until the block is counted.
    buffer: PooledBuffer,
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

/// What the encoder of a writer hands out.
type ChunkOf<W> = <<W as RunWriter>::Encoder as BatchEncoder>::Chunk;

/// What the workers share.
struct Shared {
    clock: OnceLock<Clock>,
    /// Set once a record earlier than t0 was seen: from then on only times matter.
    times_only: AtomicBool,
    /// How many rejects of a block are worth keeping: never fewer than those that are still allowed.
    reject_room: AtomicU64,
    progress: Arc<Progress>,
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

/// The collecting task.
struct Collector<'a, W> {
    collected: Collected,
    writer: &'a mut W,
    shared: &'a Shared,
    /// Of how many bytes no more than those are read, where there is a record before t0 in them.
    window: Option<u64>,
    /// Bytes of log in the blocks so far.
    bytes: u64,
    /// Once there was a record before t0: whether it came behind the window.
    late: Option<bool>,
}

impl<W: RunWriter> Collector<'_, W> {
    /// What was collected, and `late`.
    async fn run(
        mut self,
        inbox: &mut mpsc::Receiver<Message<ChunkOf<W>>>,
    ) -> Result<(Collected, Option<bool>)> {
        // Blocks are taken in the log's order, so that the result does not hang on which worker was faster.
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        while let Some(message) = inbox.recv().await {
            match message {
                Message::Log(place) => self.collected.begin_log(place),
                Message::Source(source) => self.collected.sources.push(source),
                Message::Damage(log, damage) => self.collected.damage.push((log, damage)),
                Message::Notes(notes) => self.collected.notes.extend(notes),
                Message::Failed(error) => return Err(error),
                Message::Block(done) => {
                    waiting.insert(done.counts.sequence, done);
                    while let Some(done) = waiting.remove(&next) {
                        next += 1;
                        self.take(*done).await?;
                    }
                    if self.begins_anew() {
                        return Ok((self.collected, self.late));
                    }
                }
            }
        }
        if !waiting.is_empty() {
            return Err(Error::bug("reading the logs", format!("the block {next} was read and never came")));
        }
        Ok((self.collected, self.late))
    }

    /// Whether to read no further, since there was a record before t0, and all that come soon have been seen.
    fn begins_anew(&self) -> bool {
        self.late == Some(false) && self.window.is_some_and(|window| self.bytes >= window)
    }

    async fn take(&mut self, done: Done<ChunkOf<W>>) -> Result<()> {
        let Done { counts, chunk, buffer } = done;
        self.shared.progress.samples.fetch_add(counts.samples, Ordering::Relaxed);
        self.collected.add(counts, &buffer)?;
        self.shared.reject_room.store(self.collected.reject_room(), Ordering::Relaxed);
        let origin = self.shared.clock.get().map(|clock| clock.origin);
        if self.late.is_none() && self.collected.earliest_ms < origin && self.collected.earliest_ms.is_some()
        {
            self.late = Some(self.window.is_none_or(|window| self.bytes >= window));
            self.shared.times_only.store(true, Ordering::Release);
        }
        self.bytes += buffer.len() as u64;
        // Others can be read into it while the samples are encoded.
        drop(buffer);
        if let Some(chunk) = chunk {
            self.writer.write(chunk).await?;
        }
        Ok(())
    }
}

/// Does work on a thread of its own; should it panic, that is told, as others would wait for what it has not done.
fn spawn<C, F>(name: &str, alarm: mpsc::Sender<Message<C>>, work: F) -> Result<JoinHandle<()>>
where
    C: Send + 'static,
    F: FnOnce() + Send + 'static,
{
    let name = format!("perfpipe-{name}");
    let alarm = Alarm { name: name.clone(), messages: alarm };
    let work = move || {
        let _alarm = alarm;
        work();
    };
    std::thread::Builder::new().name(name).spawn(work).map_err(Error::no_thread)
}

/// Tells the collecting task of a panic of the thread that holds it.
struct Alarm<C> {
    name: String,
    messages: mpsc::Sender<Message<C>>,
}

impl<C> Drop for Alarm<C> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let stopped = Error::stopped(format!("the thread {}", self.name));
            let _ = self.messages.blocking_send(Message::Failed(stopped));
        }
    }
}

fn join(threads: Vec<JoinHandle<()>>) -> Result<()> {
    for thread in threads {
        let name = thread.thread().name().unwrap_or("worker").to_owned();
        if thread.join().is_err() {
            return Err(Error::stopped(format!("the thread {name}")));
        }
    }
    Ok(())
}

/// A piece of work and what it is called.
pub(crate) type Job<'a, T> = (&'static str, Box<dyn FnOnce() -> Result<T> + Send + 'a>);

/// Does pieces of work side by side, such as wait for a disk; what came of each, in their order.
///
/// # Errors
/// That of the first that failed.
pub(crate) fn side_by_side<T: Send>(jobs: Vec<Job<'_, T>>) -> Result<Vec<(&'static str, T)>> {
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (name, work) in jobs {
            let thread = std::thread::Builder::new().spawn_scoped(scope, work).map_err(Error::no_thread)?;
            threads.push((name, thread));
        }
        let ended = threads.into_iter().map(|(name, thread)| {
            let done = thread.join().map_err(|_| Error::stopped(format!("writing {name}")))?;
            Ok((name, done?))
        });
        ended.collect()
    })
}

/// The reading thread's end of the channels.
struct Feed<C> {
    work: Sender<Work>,
    buffers: Turn,
    messages: mpsc::Sender<Message<C>>,
    shared: Arc<Shared>,
    sequence: u64,
    logs: usize,
}

impl<C> Feed<C> {
    fn run(mut self, plan: ReadPlan, parser: Parser) {
        let packed = Arc::clone(&self.shared.progress.packed_bytes);
        if let Err(error) = plan.run(parser, packed, &mut self) {
            // Where nobody listens any more, the ingest has failed already.
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

/// A thread that parses, counts and encodes.
struct Worker<E: BatchEncoder> {
    parser: Parser,
    encoder: E,
    shared: Arc<Shared>,
    queue: Receiver<Work>,
    messages: mpsc::Sender<Message<E::Chunk>>,
}

impl<E: BatchEncoder> Worker<E> {
    fn run(mut self) {
        let mut parsed = Parsed::default();
        let mut counter = Counter::default();
        while let Ok(work) = self.queue.recv() {
            let done = self.block(work, &mut parsed, &mut counter);
            let failed = done.is_err();
            let message = done.map_or_else(Message::Failed, |done| Message::Block(Box::new(done)));
            // Where nobody listens any more, the work is over.
            if self.messages.blocking_send(message).is_err() || failed {
                return;
            }
        }
    }

    fn block(&mut self, work: Work, parsed: &mut Parsed, counter: &mut Counter) -> Result<Done<E::Chunk>> {
        let Work { sequence, log, block, layout, file } = work;
        let clock =
            self.shared.clock.get().ok_or_else(|| Error::bug("parsing the log", "t0 is not known"))?;
        if let Some(reason) = block.oversized {
            let counts = BlockCounts::oversized(sequence, log, &block, reason);
            return Ok(Done { counts, chunk: None, buffer: block.bytes });
        }
        parsed.rejects.restart(Some(self.shared.reject_room.load(Ordering::Relaxed)));
        self.parser.parse_block(&block, file.as_deref(), &layout, clock, parsed);
        let early = parsed.earliest_ms.is_some_and(|earliest| earliest < clock.origin);
        let times_only = early || self.shared.times_only.load(Ordering::Acquire);
        let mut counts = BlockCounts::new(sequence, log, block.first_byte, parsed);
        let mut chunk = None;
        if !times_only {
            chunk = self.encoder.encode(&parsed.batch)?;
            counts.tally = counter.tally(parsed, clock);
        }
        Ok(Done { counts, chunk, buffer: block.bytes })
    }
}
