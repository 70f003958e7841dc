//! Results of logs that are read ahead of their turn: they are collected apart, and added once it is their turn.

use super::collected::{BlockCounts, Collected, Why};
use crate::counts::totals::Totals;
use crate::error::Result;
use crate::run::options::intervals::Intervals;

/// The number of rejects that are kept of logs that are read ahead of their turn.
const REJECTS_APART: u64 = 10_000;

impl Collected {
    /// Creates empty results of logs that are read ahead of their turn.
    pub(super) fn apart(max_rejects: u64, totals: Totals) -> Self {
        Self { whys: Some(Vec::new()), ..Self::new(max_rejects, totals) }
    }

    /// Begins to collect other logs, among which blocks and damage are numbered.
    pub(super) fn begin_lane(&mut self) {
        self.before = self.logs.len();
    }

    /// Returns true if a block can be collected ahead of its turn. Otherwise it depends on the blocks before what
    /// becomes of it.
    pub(super) fn has_room(&self, block: &BlockCounts) -> bool {
        let rejects = self.rejects.len() + block.rejects.len();
        block.rejects.left_out() == 0 && rejects <= REJECTS_APART && self.totals.has_room(&block.tally)
    }

    /// Returns true if results of later logs can be added ahead of their turn.
    pub(super) fn has_room_for(&self, later: &Self) -> bool {
        let one_unit = self.resolution.is_none_or(|own| later.resolution.is_none_or(|other| own == other));
        let rejects = self.rejects.len() + later.rejects.len();
        one_unit
            && rejects <= self.max_rejects.min(REJECTS_APART)
            && self.bytes.saturating_add(later.bytes) <= i64::MAX as u64
            && self.totals.has_room_for(&later.totals)
    }

    /// Adds the results of the logs that come next, collected apart.
    ///
    /// # Errors
    /// As for [`add`](Self::add), and when a temporary file can't be read.
    pub(super) fn absorb(&mut self, mut later: Self) -> Result<()> {
        self.absorb_rejects(&mut later)?;
        let first = self.logs.len();
        let bytes: Vec<u64> = later.logs.iter_mut().map(|log| std::mem::take(&mut log.bytes)).collect();
        self.logs.append(&mut later.logs);
        self.before = first + later.before;
        for (log, bytes) in (first..).zip(bytes) {
            self.add_bytes(log, bytes)?;
        }
        self.sources.append(&mut later.sources);
        self.notes.append(&mut later.notes);
        let damage = std::mem::take(&mut later.damage).into_iter();
        self.damage.extend(damage.map(|(log, damage)| (log.map(|log| first + log), damage)));
        self.earliest_ms = [self.earliest_ms, later.earliest_ms].into_iter().flatten().min();
        self.latest_ms = self.latest_ms.max(later.latest_ms);
        self.ends.merge(later.ends);
        self.intervals = self.intervals.into_iter().chain(later.intervals).reduce(Intervals::merged);
        self.measures = self.measures.merged(later.measures);
        self.cut += later.cut;
        self.endpoints.merge(&later.endpoints);
        self.totals.absorb(later.totals)
    }

    /// Adds the rejects and the unit of later logs in the order in which they were found, since the first that is one
    /// too many, or differs, is told.
    fn absorb_rejects(&mut self, later: &mut Self) -> Result<()> {
        let first = self.logs.len();
        let of_samples = later.logs.iter().find(|log| log.samples > 0);
        let mut unit = later.resolution.zip(of_samples.map(|log| log.place.clone()));
        let whys = later.whys.take().unwrap_or_default();
        for (number, (reject, why)) in (0..).zip(later.rejects.iter()?.zip(whys)) {
            if let Some((unit, place)) = unit.take_if(|_| number == later.rejects_before) {
                self.take_resolution(unit, 1, &place)?;
            }
            let place = later.logs.get(why.log).map(|log| log.place.clone()).unwrap_or_default();
            self.push_reject(Why { log: first + why.log, ..why }, &place, &reject?)?;
        }
        match unit {
            Some((unit, place)) => self.take_resolution(unit, 1, &place),
            None => Ok(()),
        }
    }
}
