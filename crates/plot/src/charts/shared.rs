//! A series of the server that several runs have, in one unit for all of them.

use perfpipe_analyze::{SeriesBySecond, Timeline};

use super::scaled::Scaled;
use super::server::MOST;
use crate::columns::{Column, Spread};

/// A series of several runs, by name and unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shared {
    pub(crate) name: String,
    /// The unit as given at the ingest.
    given: String,
    pub(crate) scaled: Scaled,
}

impl Shared {
    /// Returns the series that have values in any of the runs, as many as there is room for on a page, and the number of
    /// those left out. The same name with another unit is another series.
    pub(crate) fn of_runs(runs: &[&Timeline]) -> (Vec<Self>, usize) {
        let all = || runs.iter().flat_map(|run| &run.series).filter(|series| series.max().is_some());
        let mut keys: Vec<(&str, &str)> = all().map(|series| (&*series.name, &*series.unit)).collect();
        keys.sort_unstable();
        keys.dedup();
        let shared = |(name, unit): &(&str, &str)| {
            let same = all().filter(|series| series.name == *name && series.unit == *unit);
            let scaled = Scaled::of_all(unit, same);
            Self { name: (*name).to_owned(), given: (*unit).to_owned(), scaled }
        };
        (keys.iter().take(MOST).map(shared).collect(), keys.len().saturating_sub(MOST))
    }

    /// Returns the heading of its chart.
    pub(crate) fn heading(&self) -> String {
        format!("{} ({})", self.name, self.scaled.unit)
    }

    /// Returns a run's mean.
    pub(crate) fn mean(&self, run: &Timeline) -> Option<f64> {
        let (_, series) = self.find(run)?;
        Some(series.mean()? / self.scaled.factor)
    }

    /// Returns the values of a run in one of its columns.
    pub(crate) fn values(&self, run: &Timeline, column: &Column) -> Option<Spread> {
        let (at, _) = self.find(run)?;
        Some(column.series.get(at).copied().flatten()?.divided_by(self.scaled.factor))
    }

    fn find<'a>(&self, run: &'a Timeline) -> Option<(usize, &'a SeriesBySecond)> {
        let is_this = |series: &SeriesBySecond| series.name == self.name && series.unit == self.given;
        run.series.iter().enumerate().find(|(_, series)| is_this(series))
    }
}
