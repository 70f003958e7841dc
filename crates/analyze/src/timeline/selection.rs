//! The seconds and cells of a run that a view selects.

use perfpipe_model::StoredRun;
use perfpipe_model::counts::{Cell, CellKey, ErrorCount, LABEL_LIMIT, PackedCell};

use super::cells::{CellsOfSecond, by_second};
use super::duration::RunDuration;
use super::load;
use crate::error::{Error, Result};
use crate::view::View;
use crate::view::phases::{Phases, Span};

/// The number of similar labels named in the error on an unknown label.
const NEAR_LABELS: usize = 5;

/// A view that has been checked against a run.
pub(crate) struct Selection<'a> {
    pub(crate) run: &'a StoredRun,
    pub(crate) view: &'a View,
    /// The first and the last second.
    pub(crate) window: (u32, u32),
    /// The index of the only selected label in the run's cells; `None` selects all labels.
    label: Option<u32>,
}

impl<'a> Selection<'a> {
    /// Checks that the run has the label and the seconds that the view selects.
    pub(crate) fn new(run: &'a StoredRun, view: &'a View) -> Result<Self> {
        if let Some(beyond) = run.cells.sums_between(run.info.seconds, u32::MAX).next() {
            let (run, (key, _)) = (&run.info, beyond?);
            let (seconds, run) = (run.seconds, run.key.to_string());
            return Err(Error::BeyondEnd { run, second: key.second, seconds });
        }
        let label = view.label.as_deref().map(|label| find_label(run, view, label)).transpose()?;
        Ok(Self { run, view, window: window(run, view)?, label })
    }

    /// Returns true if a cell's samples are requests for the view.
    pub(crate) fn is_request(&self, key: &CellKey) -> bool {
        self.view.transactions || !key.transaction
    }

    /// Returns true if a cell's samples count as successes and failures.
    pub(crate) fn is_counted(&self, key: &CellKey) -> bool {
        self.is_request(key) && self.label.is_none_or(|label| label == key.label)
    }

    /// Returns true if averages and percentiles are taken over a cell's samples.
    pub(crate) fn is_averaged(&self, key: &CellKey) -> bool {
        self.is_counted(key) && (key.success || self.view.include_failures)
    }

    /// Returns the factor of a reported load: 1 if the log distinguishes injectors.
    pub(crate) fn injectors(&self) -> u32 {
        load::factor(self.run, self.view)
    }

    /// Returns true if the window contains a second.
    pub(crate) fn holds(&self, second: u32) -> bool {
        (self.window.0..=self.window.1).contains(&second)
    }

    /// Returns true if an error count is selected: by window, by label, and transactions only if the view counts them.
    pub(crate) fn holds_error(&self, error: &ErrorCount) -> bool {
        self.holds(error.second)
            && (self.view.transactions || !error.transaction)
            && self.view.label.as_deref().is_none_or(|label| label == &*error.label)
    }

    /// Returns the part of a span within the window, unless that is all of the window.
    pub(crate) fn part(&self, span: Option<Span>) -> Option<Span> {
        span?.shared(self.whole()).filter(|part| *part != self.whole())
    }

    /// Returns those of some cells that averages and percentiles are taken over.
    pub(crate) fn averaged<'c>(&self, cells: &'c [(CellKey, Cell)]) -> impl Iterator<Item = &'c Cell> {
        cells.iter().filter(|(key, _)| self.is_averaged(key)).map(|(_, cell)| cell)
    }

    /// Returns the cells within the window whose keys satisfy a predicate, in ascending order.
    pub(crate) fn cells_that(
        &self,
        wanted: impl Fn(&CellKey) -> bool,
    ) -> impl Iterator<Item = Result<(CellKey, Cell)>> {
        let cells = self.run.cells.between(self.window.0, self.window.1);
        cells.filter(move |cell| cell.as_ref().map_or(true, |(key, _)| wanted(key))).map(|cell| Ok(cell?))
    }

    /// Returns the cells that averages and percentiles are taken over, in ascending order.
    pub(crate) fn averaged_cells(&self) -> impl Iterator<Item = Result<(CellKey, Cell)>> {
        self.cells_that(|key| self.is_averaged(key))
    }

    /// Returns every second of a span with its cells; a silent second has none.
    pub(crate) fn seconds_of(&self, span: Span) -> impl Iterator<Item = Result<CellsOfSecond>> + use<'a> {
        by_second(self.run.cells.between(span.first, span.last), span)
    }

    /// Returns every second of a span with its cells, whose counts are left packed; a silent second has none.
    pub(crate) fn packed_seconds_of(
        &self,
        span: Span,
    ) -> impl Iterator<Item = Result<CellsOfSecond<PackedCell>>> + use<'a> {
        by_second(self.run.cells.packed_between(span.first, span.last), span)
    }

    /// Divides the window into stretches of at most `seconds` seconds, each either inside `part` or outside of it.
    pub(crate) fn stretches(&self, part: Option<Span>, seconds: u32) -> Vec<Span> {
        let Span { first, last } = self.whole();
        let borders = part.map(|part| [part.first, part.last.saturating_add(1)]).into_iter().flatten();
        let regular = (first..=last).step_by(seconds.max(1) as usize);
        let mut starts: Vec<u32> = regular.chain(borders.filter(|start| self.holds(*start))).collect();
        starts.sort_unstable();
        starts.dedup();
        let ends = starts.iter().skip(1).map(|next| next - 1).chain([last]);
        starts.iter().zip(ends).map(|(first, last)| Span { first: *first, last }).collect()
    }

    /// Returns the duration of the selection in seconds: that of the run, or that of the chosen seconds.
    pub(crate) fn lasted(&self, run: &RunDuration) -> f64 {
        let View { from, to, phase, .. } = self.view;
        match (from, to, phase) {
            (None, None, None) => run.seconds,
            _ => run.of_span(self.whole()),
        }
    }

    pub(crate) fn whole(&self) -> Span {
        Span { first: self.window.0, last: self.window.1 }
    }
}

/// Returns the first and the last second, within the run and the view's phase.
fn window(run: &StoredRun, view: &View) -> Result<(u32, u32)> {
    let last = run.info.seconds.saturating_sub(1);
    let view = in_seconds(run, view)?;
    let (from, to) = (view.from.unwrap_or(0), view.to.unwrap_or(last));
    if from > to || from > last {
        return Err(Error::Window { from, to, last });
    }
    Ok((from, to.min(last)))
}

/// Replaces a view's phase by its seconds.
pub(crate) fn in_seconds(run: &StoredRun, view: &View) -> Result<View> {
    let Some(phase) = view.phase else { return Ok(view.clone()) };
    let span = Phases::of_run(run, view)?.require(phase, run)?;
    let from = view.from.unwrap_or(0).max(span.first);
    let to = view.to.unwrap_or(u32::MAX).min(span.last);
    Ok(View { from: Some(from), to: Some(to), phase: None, ..view.clone() })
}

/// Returns the index of a label that has cells of its own.
fn find_label(run: &StoredRun, view: &View, label: &str) -> Result<u32> {
    let counts = run.labels.iter().find(|counts| counts.label == label);
    if !view.transactions && counts.is_some_and(|c| c.transactions > 0 && c.successes + c.failures == 0) {
        return Err(Error::TransactionLabel { run: run.info.key.to_string(), label: label.into() });
    }
    let index = run.cells.labels.iter().zip(0u32..).find(|(name, _)| *name == label);
    match (index, counts) {
        (Some((_, index)), _) => Ok(index),
        (None, _) if run.shares_cells(label) => {
            Err(Error::SharedLabel { run: run.info.key.to_string(), label: label.into() })
        }
        (None, _) => Err(Error::UnknownLabel {
            run: run.info.key.to_string(),
            label: label.into(),
            near: near_labels(&run.cells.labels, label),
        }),
    }
}

/// Returns the labels most similar to an unknown one, the most similar first.
fn near_labels(labels: &[String], wanted: &str) -> Vec<String> {
    let wanted = comparable(wanted);
    let mut ranked: Vec<(f64, &String)> =
        labels.iter().take(LABEL_LIMIT).map(|label| (likeness(&comparable(label), &wanted), label)).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    ranked.into_iter().take(NEAR_LABELS).map(|(_, label)| label.clone()).collect()
}

/// Normalises a label for comparison: lower case, at most 200 characters.
fn comparable(label: &str) -> String {
    label.chars().take(200).flat_map(char::to_lowercase).collect()
}

/// Returns the similarity of two labels, 0 to 1; 1 if `label` contains `wanted`.
fn likeness(label: &str, wanted: &str) -> f64 {
    if !wanted.is_empty() && label.contains(wanted) {
        return 1.0;
    }
    strsim::normalized_damerau_levenshtein(label, wanted)
}

#[cfg(test)]
mod tests {
    use perfpipe_model::counts::CellTable;
    use perfpipe_model::{RunInfo, RunKey};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn stretches_follow_one_another_and_keep_to_the_part(
            from in 0..40u32, len in 1..40u32, first in 0..80u32, more in 0..40u32, seconds in 0..20u32,
        ) {
            let run = StoredRun::new(RunInfo::new(RunKey::new("a", "b"), 0, 100_000), CellTable::default());
            let view = View { from: Some(from), to: Some(from + len - 1), ..View::default() };
            let selection = Selection::new(&run, &view)?;
            let part = Span { first, last: first + more };
            let stretches = selection.stretches(Some(part), seconds);
            let all: Vec<u32> = stretches.iter().flat_map(|span| span.first..=span.last).collect();
            prop_assert_eq!(all, (from..from + len).collect::<Vec<_>>());
            for span in stretches {
                prop_assert!(span.seconds() <= seconds.max(1));
                prop_assert_eq!(part.holds(span.first), part.holds(span.last));
            }
        }
    }

    #[test]
    fn near_labels_come_likest_first() {
        let labels: Vec<String> =
            ["Get 2048", "Get 32768", "Post heavy", "Login", "Log out", "x"].map(String::from).into();
        assert_eq!(near_labels(&labels, "get2048")[0], "Get 2048");
        assert_eq!(near_labels(&labels, "heavy")[0], "Post heavy");
        assert_eq!(near_labels(&labels, "LOGIN")[..2], ["Login", "Log out"]);
        assert_eq!(near_labels(&labels, "").len(), NEAR_LABELS);
    }
}
