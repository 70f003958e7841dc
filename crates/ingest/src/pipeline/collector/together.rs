//! Collects what steps counted together, in the order of the steps.

use std::collections::BTreeMap;

use super::super::messages::Shared;
use crate::counts::block::Tally;
use crate::counts::known_names::KnownNames;
use crate::counts::totals::{Together, Totals};
use crate::error::{Error, Result};

/// The number of injectors from which on no more blocks are counted together. Those of later steps are few.
const INJECTORS: usize = 5_000;

/// With this many steps for each name of failures that the workers know, they are told new ones: they may be many, and each
/// may come once.
const NAMES: usize = 16;

/// What steps counted together.
pub(super) struct StepCells {
    cells: Together,
    /// The number of steps so far.
    steps: u64,
    /// What was counted of steps that came before their turn.
    waiting: BTreeMap<u64, Option<Tally>>,
    /// The numbers of labels and of names of failures that the workers know, and the step in which they were told.
    told: (usize, usize, u64),
}

impl StepCells {
    pub(super) fn new(cells: Together) -> Self {
        Self { cells, steps: 0, waiting: BTreeMap::new(), told: (0, 0, 0) }
    }

    /// Takes what was counted of a step, and tells the workers the names of the run.
    pub(super) fn take(
        &mut self,
        number: u64,
        cells: Option<Tally>,
        run: &Totals,
        shared: &Shared,
    ) -> Result<()> {
        self.waiting.insert(number, cells);
        while let Some(cells) = self.waiting.remove(&self.steps) {
            self.steps += 1;
            cells.map_or(Ok(()), |cells| self.cells.add(&cells, run))?;
        }
        self.tell(run, shared);
        Ok(())
    }

    /// Tells the workers the names of the run, if there are new ones.
    fn tell(&mut self, run: &Totals, shared: &Shared) {
        let (labels, others) = run.distinct_names();
        let (told_labels, told_others, then) = self.told;
        let is_time = (self.steps - then) as usize * NAMES > others;
        if self.cells.injectors() > INJECTORS {
            shared.set_names(KnownNames::default());
        } else if labels != told_labels || (others != told_others && is_time) {
            shared.set_names(run.told_apart());
            self.told = (labels, others, self.steps);
        }
    }

    /// Adds the cells to the results of the run, to which all blocks were added.
    pub(super) fn end(self, run: &mut Totals) -> Result<()> {
        match self.waiting.is_empty() {
            true => run.absorb_together(self.cells),
            false => Err(Error::bug("counting logs together", "a step never came")),
        }
    }
}
