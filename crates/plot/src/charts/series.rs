//! The charts of the server's CPU and of its other series, the units in which they are drawn, and the series that several
//! runs have.

use perfpipe_analyze::{SeriesBySecond, Timeline};

use super::chart::{Height, TimeChart};
use super::run::RunData;
use crate::layout::axis::{Steps, ValueAxis, ValueTicks};
use crate::layout::frame::ChartFrame;
use crate::layout::legend::{Legend, LegendEntry};
use crate::output::drawing::{Drawing, TextLine};
use crate::text::number::measured;
use crate::time_columns::{ColumnSpread, TimeColumn};

/// The largest number of series on a page: more would leave no height for their charts.
const MOST: usize = 4;

/// A series of several runs, by name and unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SharedSeries {
    pub(crate) name: String,
    /// The unit as given at the ingest.
    given: String,
    pub(crate) scaled: ScaledSeries,
}

impl SharedSeries {
    /// Returns the series that have values in any of the runs, as many as there is room for on a page, and the number of
    /// those left out. The same name with another unit is another series.
    pub(crate) fn of_runs(runs: &[&Timeline]) -> (Vec<Self>, usize) {
        let all = || runs.iter().flat_map(|run| &run.series).filter(|series| series.max().is_some());
        let mut keys: Vec<(&str, &str)> = all().map(|series| (&*series.name, &*series.unit)).collect();
        keys.sort_unstable();
        keys.dedup();
        let shared = |(name, unit): &(&str, &str)| {
            let same = all().filter(|series| series.name == *name && series.unit == *unit);
            let scaled = ScaledSeries::of_all(unit, same);
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
    pub(crate) fn values(&self, run: &Timeline, column: &TimeColumn) -> Option<ColumnSpread> {
        let (at, _) = self.find(run)?;
        Some(column.series.get(at).copied().flatten()?.divided_by(self.scaled.factor))
    }

    fn find<'a>(&self, run: &'a Timeline) -> Option<(usize, &'a SeriesBySecond)> {
        let is_this = |series: &SeriesBySecond| series.name == self.name && series.unit == self.given;
        run.series.iter().enumerate().find(|(_, series)| is_this(series))
    }
}

/// A series in a unit in which its greatest value has few digits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScaledSeries {
    /// What the values are to be divided by.
    pub(crate) factor: f64,
    /// The name of the unit.
    pub(crate) unit: String,
    /// True if there are values below 0, where no axis begins.
    below: bool,
}

impl ScaledSeries {
    /// Returns the unit for a series: bytes in KiB, MiB and so on, all others as they are.
    pub(crate) fn of(series: &SeriesBySecond) -> Self {
        Self::of_all(&series.unit, std::iter::once(series))
    }

    /// Returns the unit for series that are all in `unit`.
    fn of_all<'a>(unit: &str, all: impl Iterator<Item = &'a SeriesBySecond>) -> Self {
        let ends = all.filter_map(|series| series.min().zip(series.max()));
        let (least, most) =
            ends.fold((0.0, 0.0), |(least, most): (f64, f64), (min, max)| (least.min(min), most.max(max)));
        Self { below: least < 0.0, ..Self::up_to(unit, most) }
    }

    /// Returns the unit for values up to `max`, none of which is below 0.
    pub(crate) fn up_to(unit: &str, max: f64) -> Self {
        let steps = if matches!(unit, "B" | "byte" | "bytes") { BYTES.as_slice() } else { &[] };
        let (factor, unit) = steps.iter().copied().rfind(|(factor, _)| max >= *factor).unwrap_or((1.0, unit));
        Self { factor, unit: TextLine::clean(unit), below: false }
    }

    /// Returns a note on what the axis can't show.
    pub(crate) fn note(&self) -> Option<String> {
        self.below.then(|| "Values below 0 are drawn at 0.".to_owned())
    }
}

/// The units of bytes.
const BYTES: [(f64, &str); 4] =
    [(1024.0, "KiB"), (1_048_576.0, "MiB"), (1_073_741_824.0, "GiB"), (1_099_511_627_776.0, "TiB")];

/// The width of the line, in points.
const WIDTH: f64 = 1.3;

/// The height of the chart if there is nothing to draw, in points.
const NOTHING: f64 = 40.0;

/// The chart of one of a run's series.
pub(crate) struct ServerChart<'a> {
    run: &'a RunData<'a>,
    series: &'a SeriesBySecond,
    /// Its place among the run's series.
    at: usize,
    scaled: ScaledSeries,
}

/// Returns the charts of a run's series.
pub(crate) fn charts<'a>(run: &'a RunData<'a>) -> impl Iterator<Item = ServerChart<'a>> {
    let series = run.timeline.series.iter().enumerate().take(MOST);
    series.map(|(at, series)| ServerChart { run, series, at, scaled: ScaledSeries::of(series) })
}

impl TimeChart for ServerChart<'_> {
    fn legend(&self) -> Legend {
        let Self { run, series, scaled, .. } = self;
        let (mut entries, mut notes) = (Vec::new(), Vec::new());
        if let Some(mean) = series.mean() {
            let mean = measured(mean / scaled.factor);
            let text = format!("{}{}; mean {mean} {}", series.name, run.colored_by(), scaled.unit);
            entries.push(LegendEntry::new(run.scale_line(WIDTH), text));
            notes.extend(run.binning("line: mean; band: from the least to the greatest second"));
        }
        notes.extend(scaled.note());
        let left_out = run.timeline.series.len().saturating_sub(MOST);
        if left_out > 0 && self.at + 1 == MOST {
            notes.push(format!("Series that are not drawn: {left_out}. The HTML report has all of them."));
        }
        Legend { heading: format!("{} ({})", series.name, scaled.unit), entries, notes }
    }

    fn alt(&self) -> String {
        let Self { series, scaled, .. } = self;
        let greatest = self.run.greatest(|second| series.at(second.second));
        match series.mean().zip(greatest) {
            Some((mean, (most, at))) => {
                let (mean, most) = (measured(mean / scaled.factor), measured(most / scaled.factor));
                format!(
                    "{}: on average {mean} {unit}, at most {most} {unit} at {at}.",
                    series.name,
                    unit = scaled.unit
                )
            }
            None => format!("No readings of {} for this run.", series.name),
        }
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        let max = self.series.max().ok_or("No readings for this run")?;
        Ok(ValueAxis::new(ValueTicks::up_to(max / self.scaled.factor, 4, Steps::Any)))
    }

    fn height(&self) -> Height {
        if self.series.max().is_some() { Height::Share(0.6) } else { Height::Fixed(NOTHING) }
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        let factor = self.scaled.factor;
        let value = |column: &TimeColumn| {
            column.series.get(self.at).copied().flatten().map(|spread| spread.divided_by(factor))
        };
        self.run.scale_line_over(drawing, frame, WIDTH, value);
    }
}

/// The width of the line, in points.
const CPU_WIDTH: f64 = 1.3;

/// The height of the chart if there is nothing to draw, in points.
const CPU_NOTHING: f64 = 40.0;

/// The chart of CPU.
pub(crate) struct CpuChart<'a>(pub(crate) &'a RunData<'a>);

impl TimeChart for CpuChart<'_> {
    fn legend(&self) -> Legend {
        let Self(run) = self;
        let mut entries = Vec::new();
        let mut notes = Vec::new();
        if self.max().is_some() {
            let mean = run.summary().cpu_mean.map(|mean| format!("; mean {} %", measured(mean)));
            let text = format!("CPU{}{}", run.colored_by(), mean.unwrap_or_default());
            entries.push(LegendEntry::new(run.scale_line(CPU_WIDTH), text));
            notes.extend(run.binning("line: mean; band: from the least to the greatest second"));
        }
        Legend { heading: "CPU utilisation (%)".to_owned(), entries, notes }
    }

    fn alt(&self) -> String {
        let greatest = self.0.greatest(|second| second.cpu.get());
        match self.0.summary().cpu_mean.zip(greatest) {
            Some((mean, (most, at))) => {
                let (mean, most) = (measured(mean), measured(most));
                format!("CPU utilisation: on average {mean} %, at most {most} % at {at}.")
            }
            None => "No CPU readings for this run.".to_owned(),
        }
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        let max = self.max().ok_or("No CPU readings for this run")?;
        Ok(match self.0.style.cpu_top() {
            Some(top) => ValueAxis::ending_at(top.max(max), 4, Steps::Any).with_room(max),
            None => ValueAxis::new(ValueTicks::up_to(max, 4, Steps::Any)),
        })
    }

    fn height(&self) -> Height {
        if self.max().is_some() { Height::Share(0.8) } else { Height::Fixed(CPU_NOTHING) }
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        self.0.scale_line_over(drawing, frame, CPU_WIDTH, |column| column.cpu);
    }
}

impl CpuChart<'_> {
    fn max(&self) -> Option<f64> {
        self.0.columns.columns.iter().filter_map(|column| Some(column.cpu?.max)).reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_in_a_unit_that_fits() {
        let of = |unit: &str, max: f64| {
            let scaled =
                ScaledSeries::of(&SeriesBySecond::new("x", unit, 0, vec![None, Some(max), Some(0.0)]));
            (scaled.factor, scaled.unit, scaled.below)
        };
        assert_eq!(of("bytes", 7_798_784.0), (1_048_576.0, "MiB".to_owned(), false));
        assert_eq!(of("B", 1023.0), (1.0, "B".to_owned(), false));
        assert_eq!(of("°C", -3.5), (1.0, "°C".to_owned(), true));
    }
}
