//! The seconds of a run, gathered into columns that fit on a page.

use perfpipe_analyze::{Second, SeriesBySecond, Timeline};

use crate::style::ColorBy;

/// The largest number of columns on a page.
pub(crate) const MOST: u32 = 1500;

/// Round widths of columns, in seconds.
const WIDTHS: [u32; 16] = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400];

/// The mean, minimum and maximum of the values in a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ColumnSpread {
    pub(crate) mean: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl ColumnSpread {
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (mut count, mut sum, mut min, mut max) = (0u32, 0.0, f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite()) {
            (count, sum) = (count + 1, sum + value);
            (min, max) = (value.min(min), value.max(max));
        }
        (count > 0).then(|| Self { mean: sum / f64::from(count), min, max })
    }
}

impl ColumnSpread {
    /// Returns the spread of the same values in a larger unit.
    pub(crate) fn divided_by(self, factor: f64) -> Self {
        Self { mean: self.mean / factor, min: self.min / factor, max: self.max / factor }
    }

    /// Returns a spread that has only one of this one's values.
    pub(crate) fn at(self, value: impl Fn(Self) -> f64) -> Self {
        let value = value(self);
        Self { mean: value, min: value, max: value }
    }
}

/// A column of the charts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TimeColumn {
    /// The start, in seconds from t0.
    pub(crate) start: f64,
    /// The end, in seconds from t0.
    pub(crate) end: f64,
    /// Of whole seconds: a second that is cut short has fewer requests, which would be drawn as a plunge. `None` if the
    /// column has no whole second.
    pub(crate) successes: Option<ColumnSpread>,
    pub(crate) failures: ColumnSpread,
    pub(crate) load: Option<ColumnSpread>,
    pub(crate) cpu: Option<ColumnSpread>,
    /// The server's other series, in the order of the timeline.
    pub(crate) series: Vec<Option<ColumnSpread>>,
    /// Elapsed times, in the order of the timeline's percentiles.
    pub(crate) percentiles: Vec<Option<ColumnSpread>>,
    /// The mean of the measure that the column is coloured by.
    pub(crate) measure: Option<f64>,
}

impl TimeColumn {
    fn new(start: u32, end: u32, rows: &[Second], timeline: &Timeline, by: ColorBy) -> Option<Self> {
        let cut = cut(timeline);
        let whole = rows.iter().filter(|second| cut != Some(second.second));
        let of = |value: fn(&Second) -> Option<f64>| ColumnSpread::of(rows.iter().filter_map(value));
        let percentile = |at: usize| ColumnSpread::of(rows.iter().filter_map(|s| s.percentile(at)));
        let series =
            |series: &SeriesBySecond| ColumnSpread::of(rows.iter().filter_map(|s| series.at(s.second)));
        Some(Self {
            start: f64::from(start),
            end: f64::from(end),
            successes: ColumnSpread::of(whole.map(|second| second.successes as f64)),
            failures: of(|s| Some(s.failures as f64))?,
            load: of(|s| s.load.get()),
            cpu: of(|s| s.cpu.get()),
            series: timeline.series.iter().map(series).collect(),
            percentiles: (0..timeline.percentiles.len()).map(percentile).collect(),
            measure: ColumnSpread::of(rows.iter().filter_map(|s| measure(s, by))).map(|spread| spread.mean),
        })
    }

    /// Returns the middle, in seconds from t0.
    pub(crate) fn middle(&self) -> f64 {
        (self.start + self.end) / 2.0
    }
}

/// Returns the measure that a second is coloured by.
pub(crate) fn measure(second: &Second, by: ColorBy) -> Option<f64> {
    match by {
        ColorBy::Load => second.load.get(),
        ColorBy::Cpu => second.cpu.get(),
        ColorBy::Throughput => Some(second.successes as f64),
    }
}

/// The columns of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunColumns {
    /// The width of a column, in seconds.
    pub(crate) width: u32,
    /// The first second, and the end of the last, in seconds from t0.
    pub(crate) span: (f64, f64),
    /// The columns in ascending order; those without any second are left out.
    pub(crate) columns: Vec<TimeColumn>,
}

impl RunColumns {
    /// Gathers a run's seconds into columns of `width` seconds.
    pub(crate) fn new(timeline: &Timeline, width: u32, by: ColorBy) -> Self {
        Self::since(span(timeline).0, timeline, width, by)
    }

    /// Gathers a run's seconds into columns, one of which begins with the second `origin`, which is not after the first.
    pub(crate) fn since(origin: u32, timeline: &Timeline, width: u32, by: ColorBy) -> Self {
        let (first, end) = span(timeline);
        let column = |rows: &[Second]| {
            let start = origin + (rows.first()?.second.saturating_sub(origin)) / width * width;
            let stop = start.saturating_add(width).min(end);
            TimeColumn::new(start, stop, rows, timeline, by)
        };
        let same = |a: &Second, b: &Second| {
            a.second.saturating_sub(origin) / width == b.second.saturating_sub(origin) / width
        };
        Self {
            width,
            span: (f64::from(first), f64::from(end)),
            columns: timeline.seconds.chunk_by(same).filter_map(column).collect(),
        }
    }

    /// Returns true if a column is more than one second.
    pub(crate) fn binned(&self) -> bool {
        self.width > 1
    }
}

/// Returns the last second if it is cut short, unless it is the only one.
pub(crate) fn cut(timeline: &Timeline) -> Option<u32> {
    let last = timeline.seconds.last().filter(|_| timeline.seconds.len() > 1)?.second;
    timeline.duration.cut().filter(|cut| *cut == last)
}

/// Returns the first second, and the end of the last one.
pub(crate) fn span(timeline: &Timeline) -> (u32, u32) {
    let first = timeline.seconds.first().map_or(0, |s| s.second);
    let last = timeline.seconds.last().map_or(first, |s| s.second.max(first));
    (first, last.saturating_add(1))
}

/// Returns the width of columns, in seconds, with which `span` seconds fit on a page.
pub(crate) fn width(span: u32) -> u32 {
    width_of(span, MOST)
}

/// Returns the width of columns, in seconds, of which at most `most` hold `span` seconds.
pub(crate) fn width_of(span: u32, most: u32) -> u32 {
    let least = span.div_ceil(most.max(1));
    WIDTHS.into_iter().find(|width| *width >= least).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn day_fits_on_a_page() {
        assert_eq!(width(420), 1);
        assert_eq!(width(MOST), 1);
        assert_eq!(width(MOST + 1), 2);
        assert_eq!(width(86_400), 60);
        assert!(u32::MAX.div_ceil(width(u32::MAX)) <= MOST);
    }

    #[test]
    fn spread_knows_its_extremes() {
        let spread = ColumnSpread::of([1.0, f64::NAN, 5.0].into_iter()).unwrap();
        assert_eq!((spread.mean, spread.min, spread.max), (3.0, 1.0, 5.0));
        assert_eq!(ColumnSpread::of(std::iter::once(f64::INFINITY)), None);
    }
}
