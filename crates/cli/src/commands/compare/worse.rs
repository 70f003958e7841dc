//! The failure of a comparison on changes for the worse.

use anyhow::Result;
use perfpipe_analyze::points::PointChange;
use perfpipe_analyze::{Change, Outcome};

use crate::error::ChangedForTheWorse;

/// The largest number of figures that a sentence names.
const MANY: usize = 5;

/// A figure that is worse than that of the baseline.
pub(super) struct WorseFigure {
    run: String,
    text: String,
    /// True if only these runs differ, by the noise of their seconds.
    is_of_these_runs: bool,
}

impl WorseFigure {
    /// Describes a figure of runs.
    pub(super) fn of_runs(change: &Change) -> Self {
        let part = change.part.name();
        let text = format!("{} of the {part} {}", change.measure.column(), amount(change.percent()));
        let is_of_these_runs = matches!(change.outcome, Outcome::TheseRuns(_));
        Self { run: change.run.clone(), text, is_of_these_runs }
    }

    /// Describes a figure of points.
    pub(super) fn of_points(change: &PointChange) -> Self {
        let text = format!("{} {}", change.measure.name(), amount(change.percent()));
        Self { run: change.name.clone(), text, is_of_these_runs: false }
    }

    /// Fails if there are any.
    pub(super) fn fail(baseline: &str, worse: &[Self]) -> Result<()> {
        let Some(first) = worse.first() else { return Ok(()) };
        let of_first: Vec<&Self> = worse.iter().filter(|figure| figure.run == first.run).collect();
        let named: Vec<&str> = of_first.iter().take(MANY).map(|figure| figure.text.as_str()).collect();
        let more = match of_first.len().saturating_sub(MANY) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let these = if of_first.iter().any(|figure| figure.is_of_these_runs) { " (these runs)" } else { "" };
        let mut others: Vec<&str> = worse.iter().map(|figure| figure.run.as_str()).collect();
        others.dedup();
        let others = match others.as_slice() {
            [_, others @ ..] if !others.is_empty() => format!("; worse, too: {}", others.join(", ")),
            _ => String::new(),
        };
        let text =
            format!("{} is worse than {baseline}{these}: {}{more}{others}", first.run, named.join(", "));
        Err(ChangedForTheWorse(text).into())
    }
}

/// Writes a change as people read it.
fn amount(percent: Option<f64>) -> String {
    percent.map_or_else(|| "from 0".to_owned(), |percent| format!("{percent:+.1} %"))
}
