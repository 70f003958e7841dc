//! Counts the stored samples of a run again, so that one more label gets cells of its own.

use crate::counting::counter::Counter;
use crate::counting::totals::Totals;
use perfpipe_formats::jtl::parsed::{Clock, Parsed};
use perfpipe_model::counts::LabelCount;
use perfpipe_model::counts::stored_run::StoredRun;
use perfpipe_model::counts::table::CellTable;
use perfpipe_model::error::Result;
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::sample::batch::SampleBatch;

/// Counts the samples of a run again, in the same way as its ingest.
///
/// The run's labels keep their cells, and one more label gets its own. All other labels share [`perfpipe_model::counts::OTHER`].
pub(crate) struct Recount {
    clock: Clock,
    parsed: Parsed,
    counter: Counter,
    totals: Totals,
}

impl Recount {
    /// Starts a count of `run` in which `label` has cells of its own.
    pub(crate) fn new(run: &StoredRun, label: &str) -> Self {
        Self::with_labels(&run.info, run.cells.labels.iter().map(String::as_str).chain([label]))
    }

    /// Starts a count of `run` with the labels that have cells already.
    pub(crate) fn with_stored_labels(run: &StoredRun) -> Self {
        Self::with_labels(&run.info, run.cells.labels.iter().map(String::as_str))
    }

    /// Starts a count of a run of which only the metadata is known.
    pub(crate) fn without_labels(run: &RunInfo) -> Self {
        Self::with_labels(run, std::iter::empty())
    }

    fn with_labels<'a>(run: &RunInfo, labels: impl Iterator<Item = &'a str>) -> Self {
        Self {
            clock: Clock { origin: run.t0_ms, head: None, max_span_ms: 0 },
            parsed: Parsed::default(),
            counter: Counter::default(),
            totals: Totals::with_labels(labels),
        }
    }

    /// Counts a batch of the run's samples. Batches may come in any order.
    ///
    /// # Errors
    /// If counts don't fit into memory and a temporary file can't be written.
    pub(crate) fn add(&mut self, batch: SampleBatch) -> Result<()> {
        self.parsed.batch = batch;
        self.totals.add(&self.counter.tally(&mut self.parsed, &self.clock))
    }

    /// Returns the whole-run counts of all batches so far, ascending by label.
    pub(crate) fn label_counts(&self) -> Vec<LabelCount> {
        self.totals.label_counts()
    }

    /// Returns the counts by second of all batches so far.
    ///
    /// # Errors
    /// As for [`Recount::add`].
    pub(crate) fn cells(&self) -> Result<CellTable> {
        let (labels, injectors) = (self.totals.labels(), self.totals.injectors());
        CellTable::from_ascending(labels, injectors, self.totals.cells())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfpipe_model::counts::{CellKey, LABEL_LIMIT, LabelCount};
    use perfpipe_model::run::info::RunInfo;
    use perfpipe_model::run::key::RunKey;
    use perfpipe_model::sample::reserved::OTHER;

    /// Returns two samples of each of 260 labels, at intervals of a second.
    fn batch() -> SampleBatch {
        let mut batch = SampleBatch::default();
        for row in 0..520u32 {
            batch.t_ms.push(if row < 260 { 10 } else { 1010 });
            batch.label.push(format!("label {}", row % 260).as_bytes());
            batch.elapsed.push(row as i32);
            batch.response_code.push(b"200");
            batch.success.push(true);
            batch.all_threads.push(Some(4));
            batch.injector.push_null();
            batch.transaction.push(false);
        }
        batch
    }

    fn stored() -> StoredRun {
        let own = (0..LABEL_LIMIT).map(|label| format!("label {label}")).chain([OTHER.to_owned()]);
        let count =
            |label| LabelCount { label: format!("label {label}"), successes: 2, ..LabelCount::default() };
        let info = RunInfo::new(RunKey::new("go", "many"), 1_000_500, 1_001_999);
        let cells = CellTable::new(own.collect(), vec![], []);
        StoredRun { labels: (0..260).map(count).collect(), ..StoredRun::new(info, cells) }
    }

    #[test]
    fn label_among_the_others_gets_cells_of_its_own() {
        let run = stored();
        assert!(run.shares_cells("label 250") && !run.shares_cells("label 7") && !run.shares_cells("none"));
        let mut recount = Recount::new(&run, "label 250");
        recount.add(batch()).unwrap();
        let cells = recount.cells().unwrap();
        assert_eq!(cells.labels.len(), LABEL_LIMIT + 2);
        let of = |second, label: &str| {
            let label = cells.labels.iter().position(|name| name == label).unwrap() as u32;
            let key = CellKey { second, label, success: true, transaction: false };
            cells.iter().map(Result::unwrap).find(|(other, _)| *other == key).unwrap().1
        };
        assert_eq!(of(0, "label 250").elapsed, [(250, 1)]);
        assert_eq!(of(1, "label 250").elapsed, [(510, 1)]);
        assert_eq!(of(1, "label 7").elapsed, [(267, 1)]);
        assert_eq!(of(0, OTHER).samples(), 59);
        assert_eq!(of(0, OTHER).before_boundary, 59, "10 ms lie before the half of a second");
    }
}
