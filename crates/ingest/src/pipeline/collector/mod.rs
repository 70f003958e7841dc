//! The collecting task: counts the blocks in the order of the logs, and passes their chunks to the writer.
//!
//! Lanes are read side by side, and what names share a place beyond a limit, which reject is one too many, and the
//! numbers of labels depend on the order of the logs. So blocks of the first lane that has not ended are collected in
//! the results of the run. A lane that is ahead of its turn has results of its own, which are added to those before
//! once these have ended. Where a block of such a lane would reach a limit, it waits for its turn.

mod apart;
pub(crate) mod collected;
mod segment;
mod together;

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use tokio::sync::mpsc;

use self::collected::Collected;
use self::segment::Segment;
use self::together::StepCells;
use super::messages::{Counted, Done, Message, Shared};
use super::plan::RestartWindow;
use super::sink::{BatchEncoder, RunWriter};
use crate::counts::totals::{Together, Totals};
use crate::error::{Error, Result};

/// The chunks of a writer's encoder.
type ChunkOf<W> = <<W as RunWriter>::Encoder as BatchEncoder>::Chunk;

/// The number of blocks that a lane ahead of its turn keeps before the run has its first: these would have other indexes of
/// names than the run's.
const PATIENCE: usize = 2;

/// How results are begun that are collected apart.
pub(super) struct Apart {
    pub(super) max_rejects: u64,
    /// The memory budget of each in bytes, and the folder for what exceeds it.
    pub(super) memory: usize,
    /// The memory budget of what is counted together, in bytes, if several lanes are read side by side.
    pub(super) memory_together: Option<usize>,
    pub(super) scratch: Option<PathBuf>,
}

/// The collecting task.
pub(super) struct Collector<'a, W: RunWriter> {
    /// Ascending by lane. The first one is the run's.
    segments: Vec<Segment<ChunkOf<W>>>,
    writer: &'a mut W,
    shared: &'a Shared,
    /// `None` if reading never stops early.
    window: Option<RestartWindow>,
    apart: Apart,
    together: Option<StepCells>,
}

impl<'a, W: RunWriter> Collector<'a, W> {
    /// Collects in `collected`, which is empty.
    pub(super) fn new(
        collected: Collected,
        writer: &'a mut W,
        shared: &'a Shared,
        window: Option<RestartWindow>,
        apart: Apart,
    ) -> Self {
        let together = |memory| StepCells::new(Together::new(memory, apart.scratch.clone()));
        let together = apart.memory_together.map(together);
        Self { segments: vec![Segment::new(0, collected)], writer, shared, window, apart, together }
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
                    self.settle(at).await?;
                }
                Message::Step(counted) => self.take(*counted).await?,
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

    /// Takes the results of a step.
    async fn take(&mut self, counted: Counted<ChunkOf<W>>) -> Result<()> {
        let Counted { number, blocks, together: cells } = counted;
        for done in blocks {
            let at = self.segment(done.lane);
            if let Some(segment) = self.segments.get_mut(at) {
                segment.keep(done);
            }
            self.settle(at).await?;
        }
        while let Some(at) = self.held() {
            self.settle(at).await?;
        }
        if let (Some(together), Some(first)) = (&mut self.together, self.segments.first()) {
            together.take(number, cells, &first.collected.totals, self.shared)?;
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
                let collected = Collected::apart(self.apart.max_rejects, Totals::default());
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
            let Apart { memory, scratch, .. } = &self.apart;
            segment.collected.totals = run.collected.totals.ahead(*memory, scratch.clone());
        }
        segment.begun
    }

    /// The index of a segment whose totals can be begun by now, and that has blocks.
    fn held(&self) -> Option<usize> {
        let (run, later) = self.segments.split_first()?;
        let held = later.iter().position(|segment| !segment.begun && segment.waiting() > 0);
        held.filter(|_| run.collected.has_blocks()).map(|at| at + 1)
    }

    /// Collects the blocks of a segment as far as possible, and the segments behind it once it has ended.
    async fn settle(&mut self, at: usize) -> Result<()> {
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
        let may = |collected: &Collected, done: &Done<_>| {
            is_turn || (collected.has_room(&done.counts) && (pieces || done.chunk.is_none()))
        };
        while let Some(done) = segment.next(may) {
            let Done { lane, counts, chunk, buffer, .. } = *done;
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
                if let Some(together) = self.together.filter(|_| late.is_none()) {
                    together.end(&mut collected.totals)?;
                }
                Ok((collected, late))
            }
            true => Err(Error::bug("reading the logs", "nothing was collected")),
        }
    }
}
