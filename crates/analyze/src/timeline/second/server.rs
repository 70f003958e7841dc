//! The server's series by second of a timeline.

use perfpipe_ingest::StoredRun;

use crate::view::View;
use crate::view::phases::Span;

/// A series of the server other than its CPU, with a value for every second of a timeline.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SeriesBySecond {
    /// Its name.
    pub name: String,
    /// The unit of its values, as given at the ingest.
    pub unit: String,
    /// The second of the first value.
    pub first: u32,
    /// The values: the reading of the epoch second in which a second begins, or the latest one that is still valid.
    pub values: Vec<Option<f64>>,
}

impl SeriesBySecond {
    /// Describes a series whose first value is of the second `first`.
    pub fn new(
        name: impl Into<String>,
        unit: impl Into<String>,
        first: u32,
        values: Vec<Option<f64>>,
    ) -> Self {
        Self { name: name.into(), unit: unit.into(), first, values }
    }

    /// Returns the series of a run for the seconds of a span, with the view's shift of the clock.
    pub(crate) fn of_run(run: &StoredRun, view: &View, span: Span) -> Vec<Self> {
        let begin = run.info.t0_ms.div_euclid(1000);
        let series = run.series.iter().map(|series| {
            let join = series.join(view.cpu.offset);
            let value = |second: u32| series.readings.at(begin.saturating_add(second.into()), join);
            Self {
                name: series.name.clone(),
                unit: series.unit.clone(),
                first: span.first,
                values: (span.first..=span.last).map(value).collect(),
            }
        });
        series.collect()
    }

    /// The value of a second; `None` if it has none.
    pub fn at(&self, second: u32) -> Option<f64> {
        let place = second.checked_sub(self.first)?;
        self.values.get(place as usize).copied().flatten()
    }

    /// The mean of the seconds that have a value.
    pub fn mean(&self) -> Option<f64> {
        let (count, sum) = self.known().fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
        (count > 0).then(|| sum / f64::from(count))
    }

    /// The least value.
    pub fn min(&self) -> Option<f64> {
        self.known().reduce(f64::min)
    }

    /// The greatest value.
    pub fn max(&self) -> Option<f64> {
        self.known().reduce(f64::max)
    }

    fn known(&self) -> impl Iterator<Item = f64> {
        self.values.iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
    use perfpipe_ingest::series::{CpuJoin, ServerSeries, TimeSeries};
    use perfpipe_ingest::{RunInfo, RunKey, StoredRun};

    use super::*;
    use crate::Timeline;

    #[test]
    fn values_are_those_of_the_seconds_of_the_view() {
        let key = |second| CellKey { second, label: 0, success: true, transaction: false };
        let cells = (0..10).map(|second| (key(second), Cell { elapsed: vec![(10, 1)], ..Cell::default() }));
        let info = RunInfo::new(RunKey::new("go", "t"), 1_700_000_000_500, 1_700_000_009_500);
        let mut run = StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], cells));
        let readings = TimeSeries::new(vec![(1_700_000_001, 5.0), (1_700_000_007, -2.0)]);
        run.series.push(ServerSeries::new("heat", "°C", readings));
        let series = |view: View| Timeline::new(&run, &view).unwrap().series.remove(0);
        // Two readings at an interval of six seconds: each is valid for six seconds.
        let whole = series(View::default());
        let value = |second| if second < 7 { 5.0 } else { -2.0 };
        assert_eq!(whole.values[0], None);
        assert!((1..10).all(|second| whole.at(second) == Some(value(second))), "{whole:?}");
        assert_eq!((whole.at(10), whole.min(), whole.max()), (None, Some(-2.0), Some(5.0)));
        assert_eq!(whole.mean(), Some((6.0 * 5.0 - 3.0 * 2.0) / 9.0));
        let part = series(View { from: Some(7), ..View::default() });
        assert_eq!((part.first, part.values.len(), part.at(6), part.at(7)), (7, 3, None, Some(-2.0)));
        let shifted = series(View { cpu: CpuJoin::default().with_offset(1), ..View::default() });
        assert_eq!((shifted.at(1), shifted.at(2)), (None, Some(5.0)));
    }
}
