//! The charts of requests per second: successes, failures on top of them, and the average; and a strip of the failures.

use perfpipe_analyze::format::counted;

use super::chart::{Height, TimeChart};
use super::run::RunData;
use crate::layout::axis::{Steps, ValueAxis, ValueTicks};
use crate::layout::frame::ChartFrame;
use crate::layout::legend::{Legend, LegendEntry, Swatch};
use crate::marks;
use crate::marks::StairStep;
use crate::output::drawing::Drawing;
use crate::palette::{Color, FAILURE, INK, PAPER};
use crate::text::number::{count, measured, percent};
use crate::time_columns::{ColumnSpread, TimeColumn};

/// Bars are separated by gaps above this width, in points.
const WIDE: f64 = 4.0;
/// The largest width of a bar, in points.
const WIDEST: f64 = 48.0;
/// The least height of a bar, in points, so that every request is visible.
const LEAST: f64 = 0.6;
/// How much a binned bar is lightened above the column's minimum and above its mean.
const TINTS: (f64, f64) = (0.3, 0.65);

/// The chart of requests per second.
pub(crate) struct RequestsChart<'a>(pub(crate) &'a RunData<'a>);

impl TimeChart for RequestsChart<'_> {
    fn legend(&self) -> Legend {
        let Self(run) = self;
        let mut entries = Vec::new();
        if run.summary().successes > 0 {
            entries.push(LegendEntry::new(run.scale_swatch(), format!("Successes{}", run.colored_by())));
        }
        if run.summary().failures > 0 {
            entries.push(LegendEntry::new(Swatch::Bar(FAILURE), "Failures"));
        }
        let average = format!("Average {}/s", measured(run.summary().throughput));
        entries.push(LegendEntry::new(Swatch::Line(INK, 0.9), average));
        let note = "dark up to the least second, medium up to the mean, light up to the greatest";
        let notes = run.binning(note).into_iter().collect();
        Legend { heading: "Requests per second".to_owned(), entries, notes }
    }

    fn alt(&self) -> String {
        let summary = self.0.summary();
        let failures = match summary.failure_share() {
            Some(share) if summary.failures > 0 => {
                format!("{} ({})", counted(summary.failures, "failure"), percent(share))
            }
            _ => "no failures".to_owned(),
        };
        let greatest = self.0.greatest(|second| Some(second.successes as f64));
        let greatest = greatest.map(|(most, at)| format!(", at most {} at {at}", count(most as u64)));
        let average = measured(summary.throughput);
        format!(
            "Requests per second: on average {average} successes{}; {failures}.",
            greatest.unwrap_or_default()
        )
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        if self.0.summary().requests() == 0 {
            return Err("No requests");
        }
        let columns = self.0.columns.columns.iter();
        let max = columns.map(|c| greatest(c).max(mean(c) + c.failures.mean)).fold(0.0, f64::max);
        Ok(ValueAxis::new(ValueTicks::up_to(max.max(self.0.summary().throughput), 6, Steps::Whole)))
    }

    fn height(&self) -> Height {
        Height::Share(1.15)
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        let Self(run) = self;
        if run.columns.binned() {
            self.successes(drawing, frame, TINTS.1, |s| s.max);
            self.successes(drawing, frame, TINTS.0, |s| s.mean);
            self.successes(drawing, frame, 0.0, |s| s.min);
            run.edge(drawing, frame, |c| Some(c.successes?.at(|s| s.max)), |c| run.scale.color(c.measure));
        } else {
            self.successes(drawing, frame, 0.0, |s| s.mean);
        }
        self.failures(drawing, frame);
        self.average(drawing, frame);
    }
}

impl RequestsChart<'_> {
    fn successes(
        &self,
        drawing: &mut Drawing,
        frame: &ChartFrame,
        tint: f64,
        value: impl Fn(ColumnSpread) -> f64,
    ) {
        let scale = &self.0.scale;
        let value = |c: &TimeColumn| c.successes.map_or(0.0, &value);
        self.bars(drawing, frame, |c| (0.0, value(c), scale.color(c.measure).tint(tint)));
    }

    /// Stacks the failures on the successes.
    fn failures(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        // In binned charts, small bars among the shades would look like a line; the strip below shows every failure.
        let least = if self.0.columns.binned() { LEAST } else { 0.0 };
        let seen = |c: &TimeColumn| frame.y(0.0) - frame.y(c.failures.mean) >= least;
        self.bars(drawing, frame, |c| {
            let failures = if seen(c) { c.failures.mean } else { 0.0 };
            (mean(c), mean(c) + failures, FAILURE)
        });
    }

    /// Draws a bar for each column, from one value to another.
    fn bars(
        &self,
        drawing: &mut Drawing,
        frame: &ChartFrame,
        bar: impl Fn(&TimeColumn) -> (f64, f64, Color),
    ) {
        let step = |column: &TimeColumn| {
            let (low, high, color) = bar(column);
            let (left, right) = edges(frame, column);
            let bottom = frame.y(low);
            let top = frame.y(high).min(bottom - LEAST);
            (high > low).then_some(StairStep { left, right, top, bottom, color })
        };
        let steps: Vec<StairStep> = self.0.columns.columns.iter().filter_map(step).collect();
        marks::draw_stairs(drawing, &steps);
    }

    /// Draws the average, with a white edge that makes it visible on every colour.
    fn average(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        let throughput = self.0.summary().throughput;
        if throughput > 0.0 {
            let y = frame.y(throughput);
            let ends = vec![(frame.area.left, y), (frame.area.right, y)];
            drawing.line(ends.clone(), 1.9, PAPER);
            drawing.line(ends, 0.9, INK);
        }
    }
}

/// Returns the mean of a column's successes; 0 if none are drawn.
fn mean(column: &TimeColumn) -> f64 {
    column.successes.map_or(0.0, |spread| spread.mean)
}

fn greatest(column: &TimeColumn) -> f64 {
    column.successes.map_or(0.0, |spread| spread.max)
}

/// Returns a bar's left and right edge: those of the column, inset if the column is wide.
fn edges(frame: &ChartFrame, column: &TimeColumn) -> (f64, f64) {
    let (left, right) = (frame.x(column.start), frame.x(column.end));
    let width = right - left;
    if width < WIDE {
        return (left, right);
    }
    let inset = (width * 0.06).max((width - WIDEST) / 2.0);
    (left + inset, right - inset)
}

/// The least height and width of a bar, in points, so that every failure is visible.
const LEAST_FAILURE: (f64, f64) = (1.6, 0.7);

/// The colour of a bar above the column's mean.
const GREATEST: Color = Color(0x99, 0x99, 0x99);

/// The chart of failures per second.
pub(crate) struct FailuresChart<'a>(pub(crate) &'a RunData<'a>);

impl TimeChart for FailuresChart<'_> {
    fn legend(&self) -> Legend {
        let seconds = &self.0.timeline.seconds;
        let worst = seconds.iter().rev().max_by_key(|second| second.failures);
        let text = worst.map(|worst| {
            format!("at most {} in a second, at {}", count(worst.failures), self.0.time_of(worst.second))
        });
        let entry = LegendEntry::new(Swatch::Bar(FAILURE), text.unwrap_or_default());
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

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        let max = self.0.columns.columns.iter().map(|c| c.failures.max).fold(0.0, f64::max);
        if self.0.is_alone {
            if max <= 0.0 {
                return Err("No failures");
            }
            return Ok(ValueAxis::new(ValueTicks::up_to(max, 6, Steps::Whole)));
        }
        Ok(ValueAxis::ends(max.max(1.0), 0).with_room(max))
    }

    fn height(&self) -> Height {
        Height::Fixed(30.0)
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        if self.0.columns.binned() {
            self.bars(drawing, frame, GREATEST, |column| column.failures.max);
        }
        self.bars(drawing, frame, FAILURE, |column| column.failures.mean);
    }
}

impl FailuresChart<'_> {
    /// Draws a bar for each column that has failures.
    fn bars(
        &self,
        drawing: &mut Drawing,
        frame: &ChartFrame,
        color: Color,
        value: impl Fn(&TimeColumn) -> f64,
    ) {
        let bottom = frame.area.bottom;
        let step = |column: &TimeColumn| {
            let (left, right) = (frame.x(column.start), frame.x(column.end));
            let top = frame.y(value(column)).min(bottom - LEAST_FAILURE.0);
            let right = right.max((left + LEAST_FAILURE.1).min(frame.area.right));
            (column.failures.max > 0.0).then_some(StairStep { left, right, top, bottom, color })
        };
        let steps: Vec<StairStep> = self.0.columns.columns.iter().filter_map(step).collect();
        marks::draw_stairs(drawing, &steps);
    }
}
