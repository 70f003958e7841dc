//! The chart of failures per second, a strip below the response times.

use super::chart::{Chart, Height};
use super::run::RunData;
use crate::columns::TimeColumn;
use crate::layout::axis::Axis;
use crate::layout::frame::Frame;
use crate::layout::legend::{Entry, Legend, Swatch};
use crate::marks::stairs::{self, StairStep};
use crate::output::drawing::Drawing;
use crate::palette::{Color, FAILURE};
use crate::text::number::count;

/// The least height and width of a bar, in points, so that every failure is visible.
const LEAST: (f64, f64) = (1.6, 0.7);

/// The colour of a bar above the column's mean.
const GREATEST: Color = Color(0x99, 0x99, 0x99);

/// The chart of failures per second.
pub(crate) struct FailuresChart<'a>(pub(crate) &'a RunData<'a>);

impl Chart for FailuresChart<'_> {
    fn legend(&self) -> Legend {
        let seconds = &self.0.timeline.seconds;
        let worst = seconds.iter().rev().max_by_key(|second| second.failures);
        let text = worst.map(|worst| {
            format!("at most {} in a second, at {}", count(worst.failures), self.0.time_of(worst.second))
        });
        let entry = Entry::new(Swatch::Bar(FAILURE), text.unwrap_or_default());
        let notes = self.0.binning("black up to the mean, grey up to the greatest second");
        let notes = notes.into_iter().collect();
        Legend { heading: "Failures per second".to_owned(), entries: vec![entry], notes }
    }

    fn alt(&self) -> String {
        let all = count(self.0.summary().failures);
        let greatest = self.0.greatest(|second| Some(second.failures as f64));
        let greatest = greatest.map(|(most, at)| format!(", at most {} at {at}", count(most as u64)));
        format!("Failures per second: {all} in all{}.", greatest.unwrap_or_default())
    }

    fn axis(&self) -> Result<Axis, &'static str> {
        let max = self.0.columns.columns.iter().map(|c| c.failures.max).fold(0.0, f64::max);
        Ok(Axis::ends(max.max(1.0), 0).with_room(max))
    }

    fn height(&self) -> Height {
        Height::Fixed(30.0)
    }

    fn draw(&self, drawing: &mut Drawing, frame: &Frame) {
        if self.0.columns.binned() {
            self.bars(drawing, frame, GREATEST, |column| column.failures.max);
        }
        self.bars(drawing, frame, FAILURE, |column| column.failures.mean);
    }
}

impl FailuresChart<'_> {
    /// Draws a bar for each column that has failures.
    fn bars(&self, drawing: &mut Drawing, frame: &Frame, color: Color, value: impl Fn(&TimeColumn) -> f64) {
        let bottom = frame.area.bottom;
        let step = |column: &TimeColumn| {
            let (left, right) = (frame.x(column.start), frame.x(column.end));
            let top = frame.y(value(column)).min(bottom - LEAST.0);
            let right = right.max((left + LEAST.1).min(frame.area.right));
            (column.failures.max > 0.0).then_some(StairStep { left, right, top, bottom, color })
        };
        let steps: Vec<StairStep> = self.0.columns.columns.iter().filter_map(step).collect();
        stairs::draw(drawing, &steps);
    }
}
