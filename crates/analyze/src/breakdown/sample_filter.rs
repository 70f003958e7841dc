//! Which samples a view picks out of a run, where samples are read and not counts.

use perfpipe_ingest::{SampleBatch, StoredRun};

use crate::error::Result;
use crate::timeline::selection::Selection;
use crate::view::View;

/// The samples of the seconds and the label that a view looks at.
#[derive(Debug, Clone)]
pub(crate) struct SampleFilter {
    /// The first and the last second looked at.
    window: (i64, i64),
    /// The only label looked at, where there is one.
    label: Option<String>,
    transactions: bool,
}

impl SampleFilter {
    /// The filter of a view on a run.
    ///
    /// # Errors
    /// As [`crate::Timeline::new`].
    pub(crate) fn new(run: &StoredRun, view: &View) -> Result<Self> {
        let (first, last) = Selection::new(run, view)?.window;
        let (window, transactions) = ((first.into(), last.into()), view.transactions);
        Ok(Self { window, label: view.label.clone(), transactions })
    }

    /// Whether a sample of a batch is looked at, be it a request or a transaction.
    pub(crate) fn holds(&self, batch: &SampleBatch, row: usize) -> bool {
        let is_inside = |t_ms: &i64| (self.window.0..=self.window.1).contains(&t_ms.div_euclid(1000));
        batch.t_ms.get(row).is_some_and(is_inside)
            && self.label.as_deref().is_none_or(|only| batch.label.get(row) == Some(only))
    }

    /// Whether a sample counts as a request.
    pub(crate) fn is_request(&self, batch: &SampleBatch, row: usize) -> bool {
        self.transactions || batch.transaction.get(row) == Some(&false)
    }
}
