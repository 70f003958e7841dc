//! The chart of CPU.

use super::chart::{Chart, Height};
use super::run::RunData;
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

/// The chart of CPU.
pub(crate) struct CpuChart<'a>(pub(crate) &'a RunData<'a>);

impl Chart for CpuChart<'_> {
    fn legend(&self) -> Legend {
        let Self(run) = self;
        let mut entries = Vec::new();
        let mut notes = Vec::new();
        if self.max().is_some() {
            let mean = run.summary().cpu_mean.map(|mean| format!("; mean {} %", measured(mean)));
            let text = format!("CPU{}{}", run.colored_by(), mean.unwrap_or_default());
            entries.push(Entry::new(run.scale_line(WIDTH), text));
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

    fn axis(&self) -> Result<Axis, &'static str> {
        let max = self.max().ok_or("No CPU readings for this run")?;
        Ok(match self.0.style.cpu_top() {
            Some(top) => Axis::ending_at(top.max(max), 4, Steps::Any).with_room(max),
            None => Axis::new(Values::up_to(max, 4, Steps::Any)),
        })
    }

    fn height(&self) -> Height {
        if self.max().is_some() { Height::Share(0.8) } else { Height::Fixed(NOTHING) }
    }

    fn draw(&self, drawing: &mut Drawing, frame: &Frame) {
        self.0.scale_line_over(drawing, frame, WIDTH, |column| column.cpu);
    }
}

impl CpuChart<'_> {
    fn max(&self) -> Option<f64> {
        self.0.columns.columns.iter().filter_map(|column| Some(column.cpu?.max)).reduce(f64::max)
    }
}
