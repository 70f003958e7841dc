//! A view's filter for single samples, for figures that counts don't have.

use perfpipe_ingest::{SampleBatch, StoredRun};

use crate::error::Result;
use crate::timeline::selection::Selection;
use crate::view::View;

/// Selects the samples of a view's seconds and label.
#[derive(Debug, Clone)]
pub(crate) struct SampleFilter {
    /// The first and the last selected second.
    window: (i64, i64),
    /// The only selected label; `None` selects all labels.
    label: Option<String>,
    transactions: bool,
}

impl SampleFilter {
    /// Creates the filter for a view of a run.
    ///
    /// # Errors
    /// The same errors as [`crate::Timeline::new`].
    pub(crate) fn new(run: &StoredRun, view: &View) -> Result<Self> {
        let (first, last) = Selection::new(run, view)?.window;
        let (window, transactions) = ((first.into(), last.into()), view.transactions);
        Ok(Self { window, label: view.label.clone(), transactions })
    }

    /// Returns true if the sample in a row of a batch is selected, be it a request or a transaction.
    pub(crate) fn holds(&self, batch: &SampleBatch, row: usize) -> bool {
        let is_inside = |t_ms: &i64| (self.window.0..=self.window.1).contains(&t_ms.div_euclid(1000));
        batch.t_ms.get(row).is_some_and(is_inside)
            && self.label.as_deref().is_none_or(|only| batch.label.get(row) == Some(only))
    }

    /// Returns true if the sample in a row of a batch counts as a request.
    pub(crate) fn is_request(&self, batch: &SampleBatch, row: usize) -> bool {
        self.transactions || batch.transaction.get(row) == Some(&false)
    }
}
