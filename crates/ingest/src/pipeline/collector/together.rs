//! Collects the cells that steps counted together, in the order of the steps.

use std::collections::BTreeMap;

use super::super::messages::Shared;
use crate::counts::block::Tally;
use crate::counts::totals::{Together, Totals};
use crate::error::{Error, Result};

/// The number of injectors from which on no more blocks are counted together. Those of later steps are few.
const INJECTORS: usize = 5_000;

/// The cells of steps.
pub(super) struct StepCells {
    cells: Together,
    /// The number of steps so far.
    steps: u64,
    /// What was counted of steps that came before their turn.
    waiting: BTreeMap<u64, Option<Tally>>,
    /// The number of labels that the workers know.
    labels: usize,
}

impl StepCells {
    pub(super) fn new(cells: Together) -> Self {
        Self { cells, steps: 0, waiting: BTreeMap::new(), labels: 0 }
    }

    /// Takes what was counted of a step, and tells the workers the labels of the run.
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
        let known = if self.cells.injectors() > INJECTORS { 0 } else { run.distinct_labels() };
        if std::mem::replace(&mut self.labels, known) != known {
            shared.set_labels(if known > 0 { run.told_apart() } else { Default::default() });
        }
        Ok(())
    }

    /// Adds the cells to the results of the run, to which all blocks were added.
    pub(super) fn end(self, run: &mut Totals) -> Result<()> {
        match self.waiting.is_empty() {
            true => run.absorb_together(self.cells),
            false => Err(Error::bug("counting logs together", "a step never came")),
        }
    }
}
