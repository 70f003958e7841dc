//! The collecting task: counts the blocks in the order of the logs, and passes their chunks to the writer.
//!
//! Lanes are read side by side, and what names share a place beyond a limit, which reject is one too many, and the
//! numbers of labels depend on the order of the logs. So blocks of the first lane that has not ended are collected in
//! the results of the run. A lane that is ahead of its turn has results of its own, which are added to those before
//! once these have ended. Where a block of such a lane would reach a limit, it waits for its turn.

pub(crate) mod collected;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use tokio::sync::mpsc;

use self::collected::{BlockCounts, Collected};
use super::messages::{CountedBlock, LaneEvent, Message, SharedState};
use super::plan::RestartWindow;
use crate::counting::totals::Totals;
use perfpipe_model::error::{Error, Result};
use perfpipe_store::sink::{BatchEncoder, RunWriter};

/// The chunks of a writer's encoder.
pub(super) type ChunkOf<W> = <<W as RunWriter>::Encoder as BatchEncoder>::Chunk;

/// The number of blocks that a lane ahead of its turn keeps before the run has its first: these would have other indexes of
/// names than the run's.
const PATIENCE: usize = 2;

/// How the results of lanes that are ahead of their turn are created.
pub(super) struct AheadOptions {
    pub(super) max_rejects: u64,
    /// The memory budget of each in bytes, and the folder for what exceeds it.
    pub(super) memory: usize,
    pub(super) scratch: Option<PathBuf>,
}

/// The collecting task.
pub(super) struct Collector<'a, W: RunWriter> {
    /// Ascending by lane. The first one is the run's.
    segments: Vec<Segment<ChunkOf<W>>>,
    writer: &'a mut W,
    shared: &'a SharedState,
    /// `None` if reading never stops early.
    window: Option<RestartWindow>,
    ahead: AheadOptions,
}

impl<'a, W: RunWriter> Collector<'a, W> {
    /// Collects in `collected`, which is empty.
    pub(super) fn new(
        collected: Collected,
        writer: &'a mut W,
        shared: &'a SharedState,
        window: Option<RestartWindow>,
        ahead: AheadOptions,
    ) -> Self {
        Self { segments: vec![Segment::new(0, collected)], writer, shared, window, ahead }
    }

    /// Runs until all threads have ended or the pass has to restart. Returns the results, and if a record before t0 was
    /// found, whether it came after the window, or there is no window.
    pub(super) async fn run(
        mut self,
        inbox: &mut mpsc::Receiver<Message<ChunkOf<W>>>,
    ) -> Result<(Collected, Option<bool>)> {
        while let Some(message) = inbox.recv().await {
            self.shared.progress.go_on()?;
            match message {
                Message::Failed(error) => return Err(error),
                Message::Read(lane, read) => {
                    let at = self.segment(lane);
                    if let Some(segment) = self.segments.get_mut(at) {
                        segment.read(read);
                    }
                    self.advance(at).await?;
                }
                Message::Block(done) => self.add_block(done).await?,
            }
            if self.must_restart() {
                return self.end();
            }
        }
        match self.segments.as_slice() {
            [all] => all.check_whole()?,
            _ => return Err(Error::bug("reading the logs", "some of them were read and never collected")),
        }
        self.end()
    }

    /// Adds the results of a block.
    async fn add_block(&mut self, done: Box<CountedBlock<ChunkOf<W>>>) -> Result<()> {
        let at = self.segment(done.lane);
        if let Some(segment) = self.segments.get_mut(at) {
            segment.keep(done);
        }
        self.advance(at).await?;
        while let Some(at) = self.postponed() {
            self.advance(at).await?;
        }
        Ok(())
    }

    /// The index of the segment of a lane, which is begun if there is none.
    fn segment(&mut self, lane: usize) -> usize {
        let at = self.segments.iter().rposition(|segment| segment.lane <= lane).unwrap_or_default();
        match self.segments.get_mut(at) {
            Some(segment) if segment.lane == lane => at,
            Some(segment) if segment.lane + 1 == lane && segment.is_done() => {
                segment.go_on();
                at
            }
            _ => {
                // Its totals are begun later.
                let collected = Collected::ahead(self.ahead.max_rejects, Totals::default());
                self.segments.insert(at + 1, Segment::new(lane, collected));
                at + 1
            }
        }
    }

    /// Begins the totals of a segment that is ahead of its turn, by the names of the run. Returns false if these will likely be
    /// known soon.
    fn begin_totals(&mut self, at: usize) -> bool {
        let Some((run, later)) = self.segments.split_first_mut() else { return true };
        let Some(segment) = at.checked_sub(1).and_then(|at| later.get_mut(at)) else { return true };
        if !segment.begun {
            segment.begun =
                run.collected.has_blocks() || segment.has_ended() || segment.waiting() >= PATIENCE;
            let AheadOptions { memory, scratch, .. } = &self.ahead;
            segment.collected.totals = run.collected.totals.ahead(*memory, scratch.clone());
        }
        segment.begun
    }

    /// The index of a segment whose totals can be begun by now, and that has blocks.
    fn postponed(&self) -> Option<usize> {
        let (run, later) = self.segments.split_first()?;
        let postponed = later.iter().position(|segment| !segment.begun && segment.waiting() > 0);
        postponed.filter(|_| run.collected.has_blocks()).map(|at| at + 1)
    }

    /// Collects the blocks of a segment as far as possible, and the segments after it once it has ended.
    async fn advance(&mut self, at: usize) -> Result<()> {
        loop {
            self.drain(at).await?;
            let Some([segment, later]) = self.segments.get_mut(at..at + 2) else { return Ok(()) };
            let joins =
                segment.adjoins(later) && (at == 0 || segment.collected.has_room_for(&later.collected));
            if !joins {
                return Ok(());
            }
            let later = self.segments.remove(at + 1);
            self.segments.get_mut(at).map_or(Ok(()), |segment| segment.absorb(later))?;
        }
    }

    /// Collects the blocks of a segment whose turn has come.
    async fn drain(&mut self, at: usize) -> Result<()> {
        if !self.begin_totals(at) {
            return Ok(());
        }
        let Some(segment) = self.segments.get_mut(at) else { return Ok(()) };
        let (is_turn, pieces) = (at == 0, self.writer.takes_pieces());
        let origin = self.shared.clock.get().map(|clock| clock.origin);
        let may = |collected: &Collected, done: &CountedBlock<_>| {
            is_turn || (collected.has_room(&done.counts) && (pieces || done.chunk.is_none()))
        };
        while let Some(done) = segment.next(may) {
            let CountedBlock { lane, counts, chunk, buffer, .. } = *done;
            self.shared.progress.add_samples(counts.samples);
            segment.failed = segment.add(counts, &buffer, origin).err();
            if segment.early.is_some() {
                self.shared.times_only.store(true, Ordering::Release);
            }
            if is_turn {
                self.shared.reject_room.store(segment.collected.reject_room(), Ordering::Relaxed);
            }
            // The buffer can be refilled while the samples are written.
            drop(buffer);
            if let Some(chunk) = chunk.filter(|_| segment.failed.is_none()) {
                self.writer.write_piece(lane, chunk).await?;
            }
        }
        if let Some(error) = segment.failed.take_if(|_| is_turn) {
            return Err(error);
        }
        match segment.closes() {
            true => self.writer.end_piece(segment.lane).await,
            false => Ok(()),
        }
    }

    /// Returns `None` without a record before t0 so far; otherwise whether all of them came late.
    fn late(&self) -> Option<bool> {
        let early = self.segments.iter().filter_map(|segment| segment.early).min()?;
        Some(self.window.is_none_or(|window| early >= window.bytes))
    }

    /// Returns true if a record before t0 was found within the window and what is needed of it was read.
    fn must_restart(&self) -> bool {
        let bytes = self.segments.first().map_or(0, |segment| segment.bytes);
        self.late() == Some(false)
            && self.window.is_some_and(|window| window.at_once || bytes >= window.bytes)
    }

    fn end(mut self) -> Result<(Collected, Option<bool>)> {
        let late = self.late();
        let earliest = self.segments.iter().filter_map(|segment| segment.collected.earliest_ms).min();
        match self.segments.is_empty() {
            false => {
                let mut collected = self.segments.swap_remove(0).collected;
                collected.earliest_ms = earliest;
                Ok((collected, late))
            }
            true => Err(Error::bug("reading the logs", "nothing was collected")),
        }
    }
}

/// The results of lanes next to each other, of which the last one is being read.
///
/// Only the first segment of a run is whole: it begins with the first lane. The others are ahead of their turn.
struct Segment<C> {
    collected: Collected,
    /// Its first lane.
    first: usize,
    /// False as long as its totals are to be created, before its first block is collected.
    begun: bool,
    /// The lane that is being read.
    lane: usize,
    /// The number of the lane's blocks that were collected.
    next: u64,
    /// The number of the lane's blocks, once they were all read.
    blocks: Option<u64>,
    /// Blocks that came before their turn.
    waiting: BTreeMap<u64, Box<CountedBlock<C>>>,
    /// The number of bytes of the logs in the blocks so far.
    bytes: u64,
    /// The first byte, in its log, of a block that has a record before t0, if there is one: the smallest.
    early: Option<u64>,
    /// Why no further block is collected. It is reported in its turn.
    failed: Option<Error>,
    /// True once the writer knows that the lane has ended.
    closed: bool,
}

impl<C> Segment<C> {
    fn new(lane: usize, collected: Collected) -> Self {
        Self {
            collected,
            first: lane,
            begun: false,
            lane,
            next: 0,
            blocks: None,
            waiting: BTreeMap::new(),
            bytes: 0,
            early: None,
            failed: None,
            closed: false,
        }
    }

    /// Returns true if its last lane was read.
    fn has_ended(&self) -> bool {
        self.blocks.is_some()
    }

    /// Returns true if its last lane was read and collected.
    fn is_done(&self) -> bool {
        self.failed.is_none() && self.blocks == Some(self.next)
    }

    /// Returns true if its last lane has ended and the other segment begins with the next one.
    fn adjoins(&self, later: &Self) -> bool {
        self.is_done() && self.lane + 1 == later.first
    }

    /// Returns true once, when its last lane was read and collected.
    fn closes(&mut self) -> bool {
        self.is_done() && !std::mem::replace(&mut self.closed, true)
    }

    /// Goes on to the next lane.
    fn go_on(&mut self) {
        self.lane += 1;
        (self.next, self.blocks, self.closed) = (0, None, false);
        self.collected.begin_lane();
    }

    /// Handles an event of the lane's reader.
    fn read(&mut self, read: LaneEvent) {
        match read {
            LaneEvent::Log(place) => self.collected.begin_log(place),
            LaneEvent::Source(source) => self.collected.sources.push(source),
            LaneEvent::Damage(log, damage) => {
                let log = log.map(|log| self.collected.before + log);
                self.collected.damage.push((log, damage));
            }
            LaneEvent::Notes(notes) => self.collected.notes.extend(notes),
            LaneEvent::Ended(blocks) => self.blocks = Some(blocks),
            LaneEvent::Failed(error) => self.failed = Some(error),
        }
    }

    /// Keeps a block until its turn in the lane.
    fn keep(&mut self, done: Box<CountedBlock<C>>) {
        self.waiting.insert(done.sequence, done);
    }

    /// The number of blocks that wait for their turn.
    fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Removes and returns the lane's next block, if it has come and `may` allows it.
    fn next(
        &mut self,
        may: impl FnOnce(&Collected, &CountedBlock<C>) -> bool,
    ) -> Option<Box<CountedBlock<C>>> {
        if self.failed.is_some() || !may(&self.collected, self.waiting.get(&self.next)?) {
            return None;
        }
        let done = self.waiting.remove(&self.next);
        self.next += u64::from(done.is_some());
        done
    }

    /// Adds the results of a block with these bytes.
    fn add(&mut self, counts: BlockCounts, bytes: &[u8], origin: Option<i64>) -> Result<()> {
        let early = counts.earliest_ms.is_some_and(|earliest| origin.is_some_and(|origin| earliest < origin));
        let early = early.then_some(counts.first_byte);
        self.bytes += counts.length;
        self.collected.add(counts, bytes)?;
        self.early = [self.early, early].into_iter().flatten().min();
        Ok(())
    }

    /// Goes on as the segment of the next lanes, whose results are added.
    fn absorb(&mut self, later: Self) -> Result<()> {
        self.collected.absorb(later.collected)?;
        self.early = [self.early, later.early].into_iter().flatten().min();
        self.bytes += later.bytes;
        let Self { lane, next, blocks, waiting, failed, closed, .. } = later;
        (self.lane, self.next, self.blocks, self.closed) = (lane, next, blocks, closed);
        (self.waiting, self.failed) = (waiting, failed);
        Ok(())
    }

    /// Fails unless every block that was read was also collected.
    fn check_whole(&self) -> Result<()> {
        match self.is_done() && self.waiting.is_empty() {
            true => Ok(()),
            false => {
                let problem =
                    format!("the block {} of lane {} was read and never came", self.next, self.lane);
                Err(Error::bug("reading the logs", problem))
            }
        }
    }
}
