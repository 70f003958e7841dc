//! Inflating, parsing and storing side by side: every thread and channel of an ingest is here.
//!
//! One thread reads and cuts the logs, workers parse, count and encode, and the calling task merges the
//! counts in the order of the log and hands the encoded chunks to the writer. Buffers go round: there are
//! only so many, so memory stays flat however fast one stage is.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender};
use tokio::sync::mpsc;

use crate::collect::{BlockCounts, Collected};
use crate::cut::Block;
use crate::error::{Error, Place, Result};
use crate::layout::Layout;
use crate::parse::{Clock, Parsed, Parser};
use crate::read::{LogFeed, ReadPlan};
use crate::store::{BatchEncoder, RunWriter, SourceFile};
use crate::tally::Counter;

/// How far an ingest has come; shared with whoever shows it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes read from the input files, as they are on disk.
    pub packed_bytes: Arc<AtomicU64>,
    /// Samples parsed.
    pub samples: AtomicU64,
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
    Block(Box<BlockCounts>),
    /// Something for the writer.
    Chunk(C),
    /// A log was read to its clean end.
    Source(SourceFile),
    /// Sentences for the user.
    Notes(Vec<String>),
    /// A stage failed; nothing more comes from it.
    Failed(Error),
}

/// How a pass over the logs ended.
pub(crate) enum Outcome<W> {
    /// All was read; the writer holds the samples.
    Done(W, Box<Collected>),
    /// A record is earlier than t0: this is the smallest timeStamp of the whole run.
    Earlier(i64),
}

/// The sizes of the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PipelineOptions {
    /// Threads that parse, count and encode.
    pub workers: usize,
    /// Bytes of log a block, about.
    pub block_size: usize,
    /// Bytes of log that are looked at ahead for the smallest timeStamp, over all inputs.
    pub look_ahead: usize,
}

impl Default for PipelineOptions {
    fn default() -> Self {
        let workers = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self { workers, block_size: 1 << 20, look_ahead: 32 << 20 }
    }
}

/// What the workers share.
struct Shared {
    clock: OnceLock<Clock>,
    /// Set once a record earlier than t0 was seen: from then on only times matter.
    times_only: AtomicBool,
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
    let shared = Arc::new(Shared { clock: OnceLock::new(), times_only: AtomicBool::new(false), progress });
    let (messages, mut inbox) = mpsc::channel(workers * 4);
    let (work, queue) = crossbeam_channel::bounded(1);
    let (give_back, buffers) = crossbeam_channel::bounded(workers + 2);
    for _ in 0..workers + 2 {
        // The channel has room for all of them.
        let _ = give_back.try_send(Vec::with_capacity(sizes.block_size));
    }
    let mut threads = Vec::new();
    for _ in 0..workers {
        let worker = Worker {
            parser: parser.clone(),
            encoder: writer.encoder()?,
            shared: Arc::clone(&shared),
            queue: queue.clone(),
            buffers: give_back.clone(),
            messages: messages.clone(),
        };
        threads.push(spawn("parse", move || worker.run())?);
    }
    drop((queue, give_back));
    threads.push(spawn("read", {
        let feed = Feed { work, buffers, messages, shared: Arc::clone(&shared), sequence: 0, logs: 0 };
        move || feed.run(plan, parser)
    })?);
    let collected = collect(&mut inbox, &mut writer, &shared, max_rejects).await;
    // Nobody listens from here on, so every thread that still works stops at its next message.
    drop(inbox);
    let joined = tokio::task::spawn_blocking(move || join(threads)).await;
    let collected = collected?;
    joined.map_err(|error| Error::store("waiting for the ingest's threads", error))??;
    Ok(match shared.times_only.load(Ordering::Acquire) {
        true => Outcome::Earlier(collected.earliest_ms.unwrap_or_default()),
        false => Outcome::Done(writer, Box::new(collected)),
    })
}

async fn collect<W: RunWriter>(
    inbox: &mut mpsc::Receiver<Message<<W::Encoder as BatchEncoder>::Chunk>>,
    writer: &mut W,
    shared: &Shared,
    max_rejects: u64,
) -> Result<Collected> {
    let mut collected = Collected::new(max_rejects);
    // Blocks are merged in the log's order, so that the result does not hang on which worker was faster.
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    while let Some(message) = inbox.recv().await {
        match message {
            Message::Log(place) => collected.begin_log(place),
            Message::Source(source) => collected.sources.push(source),
            Message::Notes(notes) => collected.notes.extend(notes),
            Message::Chunk(chunk) => writer.write(chunk).await?,
            Message::Failed(error) => return Err(error),
            Message::Block(counts) => {
                waiting.insert(counts.sequence, counts);
                while let Some(counts) = waiting.remove(&next) {
                    next += 1;
                    shared.progress.samples.fetch_add(counts.samples, Ordering::Relaxed);
                    collected.add(*counts)?;
                    let origin = shared.clock.get().map(|clock| clock.origin);
                    if collected.earliest_ms < origin && collected.earliest_ms.is_some() {
                        shared.times_only.store(true, Ordering::Release);
                    }
                }
            }
        }
    }
    Ok(collected)
}

fn spawn<F>(name: &str, work: F) -> Result<JoinHandle<()>>
where
    F: FnOnce() + Send + 'static,
{
    std::thread::Builder::new()
        .name(format!("perfpipe-{name}"))
        .spawn(work)
        .map_err(|error| Error::store("starting a thread", error))
}

fn join(threads: Vec<JoinHandle<()>>) -> Result<()> {
    for thread in threads {
        let name = thread.thread().name().unwrap_or("worker").to_owned();
        if thread.join().is_err() {
            return Err(Error::store(
                format!("the thread {name}"),
                "it stopped unexpectedly (a bug; please report it)",
            ));
        }
    }
    Ok(())
}

/// The reading thread's end of the channels.
struct Feed<C> {
    work: Sender<Work>,
    buffers: Receiver<Vec<u8>>,
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
    type Buffers = Receiver<Vec<u8>>;

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
    buffers: Sender<Vec<u8>>,
    messages: mpsc::Sender<Message<E::Chunk>>,
}

impl<E: BatchEncoder> Worker<E> {
    fn run(mut self) {
        let mut parsed = Parsed::default();
        let mut counter = Counter::default();
        while let Ok(work) = self.queue.recv() {
            let result = self.block(work, &mut parsed, &mut counter);
            if !self.pass_on(result) {
                return;
            }
        }
        if !self.shared.times_only.load(Ordering::Acquire) {
            let last = self.encoder.finish();
            self.pass_on(last.map(|chunk| chunk.map(Message::Chunk).into_iter().collect()));
        }
    }

    fn block(
        &mut self,
        work: Work,
        parsed: &mut Parsed,
        counter: &mut Counter,
    ) -> Result<Vec<Message<E::Chunk>>> {
        let Work { sequence, log, block, layout, file } = work;
        let Some(clock) = self.shared.clock.get() else { return Ok(Vec::new()) };
        if let Some(reason) = block.oversized {
            let counts = BlockCounts::oversized(sequence, log, block, reason);
            return Ok(vec![Message::Block(Box::new(counts))]);
        }
        self.parser.parse(&block.bytes, file.as_deref(), &layout, clock, parsed);
        let early = parsed.earliest_ms.is_some_and(|earliest| earliest < clock.origin);
        let times_only = early || self.shared.times_only.load(Ordering::Acquire);
        let mut counts = BlockCounts::new(sequence, log, block.first_byte, parsed);
        // The reader may be gone already, having read everything.
        let _ = self.buffers.try_send(block.bytes);
        let mut out = Vec::with_capacity(2);
        if !times_only {
            counts.tally = counter.tally(parsed, clock);
            out.extend(self.encoder.encode(&parsed.batch)?.map(Message::Chunk));
        }
        out.push(Message::Block(Box::new(counts)));
        Ok(out)
    }

    /// Sends messages on, or the error; false when the work is over.
    fn pass_on(&self, result: Result<Vec<Message<E::Chunk>>>) -> bool {
        match result {
            Ok(messages) => messages.into_iter().all(|message| self.messages.blocking_send(message).is_ok()),
            Err(error) => {
                let _ = self.messages.blocking_send(Message::Failed(error));
                false
            }
        }
    }
}
