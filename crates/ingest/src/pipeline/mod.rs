//! The threads and channels of an ingest: reading, parsing and storing in parallel.
//!
//! ```text
//!              blocks                    blocks                  blocks, parsed, counted, encoded
//!  readers ──────────────▶ BlockQueue ─────────────▶ workers ──────────────────────────────────────▶ collector ──▶ writer
//!  (reader.rs)              (feed.rs)               (worker.rs)     in any order                    (collector/)  (sink.rs)
//!     ▲                                                                                               │ in the order of the log
//!     └────────────────────────────── buffers (sample/pool/) ─────────────────────────────────────────┘
//! ```
//!
//! Several logs are read side by side, in lanes (plan.rs), and cut into blocks, which workers parse, count and encode. The
//! calling task merges the counts in the order of the logs, and passes the encoded chunks to the writer. The number of buffers
//! is fixed: each reader has its own, and a block's buffer returns when the block is counted. So memory stays flat and the
//! queues stay short, however fast or slow one stage is.
//!
//! Readers cannot deadlock. The blocks of the first lane that has not ended are always counted. Its reader has come to it, since
//! readers read the lanes in order. So its buffers return, also those of earlier lanes, and parsing waits for no buffer. When
//! the lane ends, the next one is the first.

pub(crate) mod collector;
mod feed;
mod messages;
mod options;
pub(crate) mod plan;
mod progress;
mod reader;
pub(crate) mod survey;
mod threads;
mod worker;

use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::mpsc;

use self::collector::collected::Collected;
use self::collector::{AheadOptions, Collector};
use self::feed::{BlockQueue, BlockSender, Feed};
use self::messages::{Message, SharedState};
use self::options::Dimensions;
pub use self::options::PipelineOptions;
use self::plan::{Lanes, LogFeed, ReadPlan};
pub use self::progress::Progress;
use self::threads::{join, spawn};
use self::worker::Worker;
use crate::counting::totals::Totals;
use perfpipe_formats::jtl::parser::Parser;
use perfpipe_model::error::{Error, Result};
use perfpipe_model::sample::pool::Pool;
use perfpipe_store::sink::RunWriter;

/// The result of a pass over the logs.
pub(crate) enum PassOutcome<W> {
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
) -> Result<PassOutcome<W>> {
    let sizes = sizes.with_workers(plan.workers(sizes.workers));
    let window = plan.restart_window;
    let side_by_side = !plan.samples || writer.takes_pieces();
    let groups = plan.groups(if side_by_side { sizes.readers } else { 1 }, sizes.reader_bytes);
    let plan = Arc::new(plan);
    let (lanes, dimensions) = survey(&plan, &parser, groups, &sizes).await?;
    let Dimensions { readers, workers, ref memory, .. } = dimensions;
    let totals = Totals::new(memory.first, writer.scratch());
    let collected = Collected::new(max_rejects, if plan.part { totals.of_part() } else { totals });
    let ahead = AheadOptions { max_rejects, memory: memory.ahead, scratch: writer.scratch() };
    let shared = Arc::new(SharedState::new(progress, collected.reject_room()));
    let (messages, mut inbox) = mpsc::channel(dimensions.results);
    let (work, queue) = crossbeam_channel::bounded(dimensions.blocks);
    let pools: Vec<Pool> =
        (0..readers).map(|_| Pool::new(dimensions.buffers).with_waiting(dimensions.waiting)).collect();
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
    let by_need = !sizes.readers_at_once && lanes.as_ref().is_some_and(|lanes| lanes.light);
    // Reading, with inflating, is less than half of the work.
    let begin = if by_need { workers.div_ceil(2) } else { readers };
    let queue = Arc::new(BlockQueue::new(work, begin));
    let feed = |(reader, pool): (usize, &Pool)| {
        let block_sender = BlockSender::new(Arc::clone(&queue), reader, pool.turn());
        Feed::new(block_sender, messages.clone(), Arc::clone(&shared))
    };
    let feeds = pools.iter().enumerate().map(feed).collect();
    drop(queue);
    threads.extend(read(&plan, parser, lanes, feeds, &messages)?);
    drop(messages);
    let collector = Collector::new(collected, &mut writer, &shared, window, ahead);
    let ran = collector.run(&mut inbox).await;
    // Nobody receives from here on, so every running thread stops at its next message or buffer.
    drop((inbox, pools));
    let joined = ended(threads, matches!(ran, Ok((_, None)))).await;
    let (collected, late) = ran?;
    joined?;
    let Some(late) = late else { return Ok(PassOutcome::Done(writer, Box::new(collected))) };
    writer.give_up().await?;
    let t0_ms =
        collected.earliest_ms.ok_or_else(|| Error::bug("looking for t0", "no record was earlier than it"))?;
    Ok(PassOutcome::Earlier(Earlier { t0_ms, late }))
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

/// Looks ahead in the logs if they make several lanes, and determines the pipeline's dimensions.
async fn survey(
    plan: &Arc<ReadPlan>,
    parser: &Parser,
    groups: Vec<usize>,
    sizes: &PipelineOptions,
) -> Result<(Option<Lanes>, Dimensions)> {
    if groups.len() < 2 {
        return Ok((None, Dimensions::of(sizes, 1)));
    }
    let (plan, parser, lanes, workers) = (Arc::clone(plan), parser.clone(), groups.len(), sizes.workers);
    let survey = tokio::task::spawn_blocking(move || plan.lanes(parser, groups, workers));
    let found = survey.await.map_err(|error| Error::store("looking ahead in the logs", error))??;
    let dimensions = Dimensions::of(sizes, lanes);
    Ok((Some(found), dimensions))
}

/// Starts the threads that read the logs: all of a run, or lanes.
fn read<C: Send + 'static>(
    plan: &Arc<ReadPlan>,
    parser: Parser,
    lanes: Option<Lanes>,
    feeds: Vec<Feed<C>>,
    alarm: &mpsc::Sender<Message<C>>,
) -> Result<Vec<JoinHandle<()>>> {
    let Some(Lanes { lanes, clock, .. }) = lanes else {
        let plan = Arc::clone(plan);
        let all = |feed: Feed<C>| spawn("read", alarm.clone(), move || feed.run(&plan, parser));
        return feeds.into_iter().next().map(all).into_iter().collect();
    };
    let (sender, queue) = crossbeam_channel::unbounded();
    // The channel is not bounded, and its receiver is here.
    lanes.into_iter().for_each(|lane| _ = sender.send(lane));
    let follow = |mut feed: Feed<C>| {
        let (plan, queue) = (Arc::clone(plan), queue.clone());
        feed.start(clock);
        spawn("read", alarm.clone(), move || feed.follow(&plan, &queue))
    };
    feeds.into_iter().map(follow).collect()
}
