//! Figures that need the samples: percentiles of latency and connect, the response codes of all requests, and a view
//! as a filter for single samples.

use std::collections::BTreeMap;

use perfpipe_model::counts::{OTHER, set_apart};
use perfpipe_model::{SampleBatch, StoredRun};

use crate::error::Result;
use crate::stats::histogram::Histogram;
use crate::stats::percentile::{checked, column_name};
use crate::table::Table;
use crate::timeline::selection::Selection;
use crate::view::View;

/// The number of response codes counted separately; all further ones share [`OTHER`].
const CODE_LIMIT: usize = 1_000;

/// Figures gathered from the samples of a run, batch by batch.
///
/// ```
/// use perfpipe_analyze::View;
/// use perfpipe_analyze::breakdown::SampleFigures;
/// use perfpipe_analyze::table::Format;
/// use perfpipe_ingest::counts::CellTable;
/// use perfpipe_ingest::{RunInfo, RunKey, SampleBatch, StoredRun};
///
/// let mut batch = SampleBatch::default();
/// for (latency, code, success) in [(3, "200", true), (5, "200", true), (90, "500", false)] {
///     batch.t_ms.push(0);
///     batch.label.push(b"Get");
///     batch.elapsed.push(100);
///     batch.latency.push(Some(latency));
///     batch.connect.push(None);
///     batch.response_code.push(code.as_bytes());
///     batch.success.push(success);
///     batch.transaction.push(false);
/// }
/// # let run = StoredRun::new(RunInfo::new(RunKey::new("spring", "2048"), 0, 999), CellTable::default());
/// let view = View::of(&run.info).with_percentiles([50.0]);
/// let mut figures = SampleFigures::new(&run, &view)?;
/// figures.add(&batch);
/// let mut csv = Vec::new();
/// figures.percentile_table().write(Format::Csv, &mut csv)?;
/// let csv = String::from_utf8_lossy(&csv);
/// assert_eq!(csv.lines().nth(2), Some("latency,2,4,3,5,4"));
/// assert_eq!(csv.lines().nth(3), Some("connect,0,,,,"), "what no sample has is absent");
/// let mut codes = Vec::new();
/// figures.code_table().write(Format::Csv, &mut codes)?;
/// assert_eq!(codes, b"response_code,successes,failures\n200,2,0\n500,0,1\n");
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
pub struct SampleFigures {
    filter: SampleFilter,
    include_failures: bool,
    percentiles: Vec<f64>,
    elapsed: Histogram,
    latency: Histogram,
    connect: Histogram,
    /// Successes and failures by response code.
    codes: BTreeMap<String, (u64, u64)>,
}

impl SampleFigures {
    /// Creates empty figures for the samples that a view selects.
    ///
    /// # Errors
    /// The same errors as [`crate::Timeline::new`].
    pub fn new(run: &StoredRun, view: &View) -> Result<Self> {
        let empty = || Histogram::in_unit(run.info.resolution);
        Ok(Self {
            filter: SampleFilter::new(run, view)?,
            include_failures: view.include_failures,
            percentiles: checked(&view.percentiles)?,
            elapsed: empty(),
            latency: empty(),
            connect: empty(),
            codes: BTreeMap::new(),
        })
    }

    /// Adds a batch of the run's samples. Batches may come in any order.
    pub fn add(&mut self, batch: &SampleBatch) {
        for row in 0..batch.len() {
            if !self.filter.holds(batch, row) || !self.filter.is_request(batch, row) {
                continue;
            }
            let success = batch.success.get(row) == Some(&true);
            self.add_code(batch.response_code.get(row).unwrap_or_default(), success);
            if success || self.include_failures {
                let measures = [
                    (&mut self.elapsed, batch.elapsed.get(row).copied()),
                    (&mut self.latency, batch.latency.get(row)),
                    (&mut self.connect, batch.connect.get(row)),
                ];
                for (histogram, value) in measures {
                    value.into_iter().for_each(|value| histogram.add(value, 1));
                }
            }
        }
    }

    fn add_code(&mut self, code: &str, success: bool) {
        let code = set_apart(code, OTHER);
        let is_known = self.codes.contains_key(&*code);
        let code = if is_known || self.codes.len() < CODE_LIMIT { &*code } else { OTHER };
        let counts = match self.codes.get_mut(code) {
            Some(counts) => counts,
            None => self.codes.entry(code.to_owned()).or_default(),
        };
        *(if success { &mut counts.0 } else { &mut counts.1 }) += 1;
    }

    /// Returns the latencies.
    pub(crate) fn latency(&self) -> &Histogram {
        &self.latency
    }

    /// Builds a table with a row for each of `elapsed`, `latency` and `connect`.
    ///
    /// Columns: `measure`, `samples` (the number that have the measure), `mean`, `min`, `max` and the requested
    /// percentiles (`percentile_cont`). Times are in ms, over successes, or over all requests if the view includes
    /// failures.
    pub fn percentile_table(&self) -> Table {
        let rows = [("elapsed", &self.elapsed), ("latency", &self.latency), ("connect", &self.connect)];
        let rows = rows.map(|(name, values)| (name, values, values.percentiles(&self.percentiles)));
        let table = Table::of(&rows)
            .counted_in(self.elapsed.unit())
            .column("measure", |row| Some(row.0.to_owned()))
            .column("samples", |row| Some(row.1.samples()))
            .column("mean", |row| row.1.mean())
            .unit("ms", 1)
            .time("min", |row| row.1.min())
            .time("max", |row| row.1.max());
        let percents = self.percentiles.iter().enumerate();
        let table = percents.fold(table, |table, (at, percent)| {
            let value = move |row: &(_, _, Vec<Option<f64>>)| row.2.get(at).copied().flatten();
            table.column(column_name(*percent), value).unit("ms", 1)
        });
        table.done()
    }

    /// Builds a table with a row for each response code, in ascending order: `response_code`, `successes` and
    /// `failures`.
    ///
    /// The code is empty where the log has none, and `(other)` for those beyond the first 1,000.
    pub fn code_table(&self) -> Table {
        let rows: Vec<(&String, &(u64, u64))> = self.codes.iter().collect();
        Table::of(&rows)
            .column("response_code", |row| Some(row.0.clone()))
            .column("successes", |row| Some(row.1.0))
            .column("failures", |row| Some(row.1.1))
            .done()
    }
}

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
