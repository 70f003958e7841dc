//! A stored run counted again from its samples, so that a label which shared its cells has cells of its own.

use crate::batch::SampleBatch;
use crate::counts::CellTable;
use crate::parse::{Clock, Parsed};
use crate::store::RunInfo;
use crate::tally::Counter;
use crate::totals::Totals;

/// The counts of a run while its samples come in.
pub(crate) struct Recount {
    clock: Clock,
    counter: Counter,
    totals: Totals,
}

impl Recount {
    /// Counts of a run in which this label shares its cells with none.
    pub(crate) fn new(info: &RunInfo, label: &str) -> Self {
        // Stored samples have been accepted once.
        let clock = Clock { origin: info.t0_ms, head: None, max_span_ms: 0 };
        Self { clock, counter: Counter::default(), totals: Totals::with_label(label) }
    }

    /// Counts a batch of stored samples.
    pub(crate) fn add(&mut self, batch: SampleBatch) {
        let parsed = Parsed { batch, ..Parsed::default() };
        self.totals.add(&self.counter.tally(&parsed, &self.clock));
    }

    /// The cells.
    pub(crate) fn finish(self) -> CellTable {
        let totals = &self.totals;
        CellTable::new(totals.labels().to_vec(), totals.injectors().to_vec(), totals.cells())
    }
}
