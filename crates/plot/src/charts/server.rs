//! The chart of a series of the server other than its CPU.

use perfpipe_analyze::SeriesBySecond;

use super::chart::{Chart, Height};
use super::run::RunData;
use super::shared::{MOST, ScaledSeries};
use crate::columns::TimeColumn;
use crate::layout::axis::Axis;
use crate::layout::frame::Frame;
use crate::layout::legend::{Entry, Legend};
use crate::layout::ticks::{Steps, Values};
use crate::output::drawing::Drawing;
use crate::text::number::measured;

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

impl Chart for ServerChart<'_> {
    fn legend(&self) -> Legend {
        let Self { run, series, scaled, .. } = self;
        let (mut entries, mut notes) = (Vec::new(), Vec::new());
        if let Some(mean) = series.mean() {
            let mean = measured(mean / scaled.factor);
            let text = format!("{}{}; mean {mean} {}", series.name, run.colored_by(), scaled.unit);
            entries.push(Entry::new(run.scale_line(WIDTH), text));
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

    fn axis(&self) -> Result<Axis, &'static str> {
        let max = self.series.max().ok_or("No readings for this run")?;
        Ok(Axis::new(Values::up_to(max / self.scaled.factor, 4, Steps::Any)))
    }

    fn height(&self) -> Height {
        if self.series.max().is_some() { Height::Share(0.6) } else { Height::Fixed(NOTHING) }
    }

    fn draw(&self, drawing: &mut Drawing, frame: &Frame) {
        let factor = self.scaled.factor;
        let value = |column: &TimeColumn| {
            column.series.get(self.at).copied().flatten().map(|spread| spread.divided_by(factor))
        };
        self.run.scale_line_over(drawing, frame, WIDTH, value);
    }
}
