//! First start and last end of each label, which only the samples of a run contain.

use std::collections::HashMap;

use perfpipe_model::counts::OTHER;
use perfpipe_model::{SampleBatch, StoredRun};

use crate::breakdown::samples::SampleFilter;
use crate::error::Result;
use crate::view::View;

/// The start, end and mean of some samples, computed as JMeter does.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    samples: u64,
    /// The first start, in ms since t0.
    first_ms: i64,
    /// The last end, in ms since t0.
    last_ms: i64,
    /// The mean of elapsed in ms, updated by each sample in turn: its last digits depend on their order.
    pub(super) mean: f64,
}

impl Times {
    fn add(&mut self, start_ms: i64, elapsed_ms: f64) {
        let end_ms = start_ms.saturating_add(elapsed_ms.floor() as i64);
        if self.samples == 0 {
            (self.first_ms, self.last_ms) = (start_ms, end_ms);
        }
        self.first_ms = self.first_ms.min(start_ms);
        self.last_ms = self.last_ms.max(end_ms);
        self.samples += 1;
        self.mean += (elapsed_ms - self.mean) / self.samples as f64;
    }

    /// Returns the time from the first start to the last end, in ms.
    pub(super) fn span_ms(&self) -> f64 {
        self.last_ms.saturating_sub(self.first_ms) as f64
    }
}

/// The first start and the last end of each label of a run, gathered from its samples: the counts of the seconds do not
/// contain them. Takes a few bytes of memory per label.
///
/// Used by [`jmeter_statistics`](crate::interchange::jmeter_statistics).
#[derive(Debug)]
pub struct LabelTimes {
    filter: SampleFilter,
    /// Indexes in `labels` by name.
    places: HashMap<String, usize>,
    /// Times in the order of the labels of the run's cells.
    labels: Vec<Times>,
    total: Times,
}

impl LabelTimes {
    /// Creates empty times for the samples that a view selects.
    ///
    /// # Errors
    /// The same errors as [`crate::Timeline::new`].
    pub fn new(run: &StoredRun, view: &View) -> Result<Self> {
        Ok(Self {
            filter: SampleFilter::new(run, view)?,
            places: run.cells.labels.iter().cloned().zip(0..).collect(),
            labels: vec![Times::default(); run.cells.labels.len()],
            total: Times::default(),
        })
    }

    /// Adds a batch of the run's samples. Batches must come in the order of the log.
    pub fn add(&mut self, batch: &SampleBatch) {
        for (row, (start_ms, elapsed)) in batch.t_ms.iter().zip(&batch.elapsed).enumerate() {
            if !self.filter.holds(batch, row) {
                continue;
            }
            let elapsed = batch.resolution.ms((*elapsed).into());
            if self.filter.is_request(batch, row) {
                self.total.add(*start_ms, elapsed);
            }
            let label = batch.label.get(row).unwrap_or_default();
            let place = self.places.get(label).or_else(|| self.places.get(OTHER));
            if let Some(times) = place.and_then(|place| self.labels.get_mut(*place)) {
                times.add(*start_ms, elapsed);
            }
        }
    }

    /// Returns the times of a label, given its index in the run's cells.
    pub(super) fn label(&self, index: u32) -> Option<&Times> {
        self.labels.get(index as usize)
    }

    /// Returns the times of all selected requests.
    pub(super) fn total(&self) -> &Times {
        &self.total
    }
}
