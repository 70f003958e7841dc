//! What is collected of one lane or of several next to each other.

use std::collections::BTreeMap;

use super::super::messages::{Done, Read};
use super::collected::{BlockCounts, Collected};
use crate::error::{Error, Result};

/// The results of lanes next to each other, of which the last one is being read.
///
/// Only the first segment of a run is whole: it begins with the first lane. The others are ahead of their turn.
pub(super) struct Segment<C> {
    pub(super) collected: Collected,
    /// Its first lane.
    first: usize,
    /// False as long as its totals are to be begun anew, before its first block is collected.
    pub(super) begun: bool,
    /// The lane that is being read.
    pub(super) lane: usize,
    /// The number of the lane's blocks that were collected.
    next: u64,
    /// The number of the lane's blocks, once they were all read.
    blocks: Option<u64>,
    /// Blocks that came before their turn.
    waiting: BTreeMap<u64, Box<Done<C>>>,
    /// The number of bytes of the logs in the blocks so far.
    pub(super) bytes: u64,
    /// The first byte, in its log, of a block that has a record before t0, if there is one: the smallest.
    pub(super) early: Option<u64>,
    /// Why no further block is collected. It is told in its turn.
    pub(super) failed: Option<Error>,
    /// True once the writer was told that the lane has ended.
    closed: bool,
}

impl<C> Segment<C> {
    pub(super) fn new(lane: usize, collected: Collected) -> Self {
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
    pub(super) fn has_ended(&self) -> bool {
        self.blocks.is_some()
    }

    /// Returns true if its last lane was read and collected.
    pub(super) fn is_done(&self) -> bool {
        self.failed.is_none() && self.blocks == Some(self.next)
    }

    /// Returns true if its last lane has ended and the other segment begins with the next one.
    pub(super) fn adjoins(&self, later: &Self) -> bool {
        self.is_done() && self.lane + 1 == later.first
    }

    /// Returns true once, when its last lane was read and collected.
    pub(super) fn closes(&mut self) -> bool {
        self.is_done() && !std::mem::replace(&mut self.closed, true)
    }

    /// Goes on to the next lane.
    pub(super) fn go_on(&mut self) {
        self.lane += 1;
        (self.next, self.blocks, self.closed) = (0, None, false);
        self.collected.begin_lane();
    }

    /// Takes what a reader tells of the lane.
    pub(super) fn read(&mut self, read: Read) {
        match read {
            Read::Log(place) => self.collected.begin_log(place),
            Read::Source(source) => self.collected.sources.push(source),
            Read::Damage(log, damage) => {
                let log = log.map(|log| self.collected.before + log);
                self.collected.damage.push((log, damage));
            }
            Read::Notes(notes) => self.collected.notes.extend(notes),
            Read::Ended(blocks) => self.blocks = Some(blocks),
            Read::Failed(error) => self.failed = Some(error),
        }
    }

    /// Keeps a block until its turn in the lane.
    pub(super) fn keep(&mut self, done: Box<Done<C>>) {
        self.waiting.insert(done.sequence, done);
    }

    /// The number of blocks that wait for their turn.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes the lane's next block, if it has come and `may` allows it.
    pub(super) fn next(&mut self, may: impl FnOnce(&Collected, &Done<C>) -> bool) -> Option<Box<Done<C>>> {
        if self.failed.is_some() || !may(&self.collected, self.waiting.get(&self.next)?) {
            return None;
        }
        let done = self.waiting.remove(&self.next);
        self.next += u64::from(done.is_some());
        done
    }

    /// Adds the results of a block with these bytes.
    pub(super) fn add(&mut self, counts: BlockCounts, bytes: &[u8], origin: Option<i64>) -> Result<()> {
        let early = counts.earliest_ms.is_some_and(|earliest| origin.is_some_and(|origin| earliest < origin));
        let early = early.then_some(counts.first_byte);
        self.bytes += counts.length;
        self.collected.add(counts, bytes)?;
        self.early = [self.early, early].into_iter().flatten().min();
        Ok(())
    }

    /// Goes on as the segment of the next lanes, whose results are added.
    pub(super) fn absorb(&mut self, later: Self) -> Result<()> {
        self.collected.absorb(later.collected)?;
        self.early = [self.early, later.early].into_iter().flatten().min();
        self.bytes += later.bytes;
        let Self { lane, next, blocks, waiting, failed, closed, .. } = later;
        (self.lane, self.next, self.blocks, self.closed) = (lane, next, blocks, closed);
        (self.waiting, self.failed) = (waiting, failed);
        Ok(())
    }

    /// Fails unless every block that was read was also collected.
    pub(super) fn check_whole(&self) -> Result<()> {
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
