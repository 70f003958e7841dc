//! The frame of a chart: the mapping from data to the page, the grid, and the labels of the axes.

use super::axis::{LABEL, Scale, ValueAxis};
use crate::layout::axis;
use crate::output::drawing::{Anchor, Drawing, Point, TextLine};
use crate::palette::{FRAME, GRID, PAPER, SOFT};
use crate::text::clock::{RunClock, TickFormat};
use crate::text::fonts;

/// The size of a notice in place of data, in points.
const NOTICE: f64 = 10.0;
/// The gap between the frame and the labels of the value axis, in points.
pub(crate) const LABEL_GAP: f64 = 5.0;
/// The least gap between two labels of the time axis, in points.
const LABEL_SPACE: f64 = 14.0;
/// The distance from the frame to the middle of the time axis' labels, in points.
const TIME_LABEL_DROP: f64 = 9.0;

/// The size of the time axis' title, in points.
const TITLE: f64 = 8.0;

/// A rectangle of the page, in points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Rect {
    pub(crate) fn width(self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(self) -> f64 {
        self.bottom - self.top
    }

    /// Returns a rectangle with the same left and right, but another top and bottom.
    pub(crate) fn rows(self, top: f64, bottom: f64) -> Self {
        Self { top, bottom, ..self }
    }
}

/// The horizontal axis of a chart, of time or of load: its range and its ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TimeAxis {
    start: f64,
    end: f64,
    step: u32,
    format: TickFormat,
}

impl TimeAxis {
    /// Creates an axis over a span of seconds, `room` points wide: of times since the start, or of those of a clock.
    pub(crate) fn new((start, end): (f64, f64), room: f64, clock: Option<RunClock>) -> Self {
        let format = |step| match clock {
            Some(clock) => TickFormat::of_clock(clock, step),
            None => TickFormat::of(end, step),
        };
        let label_width = |step| fonts::width(&format(step).label(end), LABEL) + LABEL_SPACE;
        let loose = axis::time_step(end - start, room / label_width(1).max(40.0));
        Self { start, end, step: loose, format: format(loose) }
    }

    /// Creates an axis of loads from 0 to `max` threads, `room` points wide.
    pub(crate) fn of_load(max: f64, room: f64) -> Self {
        let widest = fonts::width(&TickFormat::Threads.label(max), LABEL) + LABEL_SPACE;
        let count = (room / widest.max(40.0)) as u32;
        let values = axis::ValueTicks::up_to(max, count.clamp(1, 10), axis::Steps::Whole);
        let end = axis::with_room(1.0, max);
        Self { start: 0.0, end, step: values.step.max(1.0) as u32, format: TickFormat::Threads }
    }

    /// Creates an axis of places of versions or levels, from 0, without labels.
    pub(crate) fn of_places(count: usize) -> Self {
        Self { start: -0.5, end: count as f64 - 0.5, step: u32::MAX, format: TickFormat::Places }
    }

    /// Returns the first second of the axis.
    pub(crate) fn start(&self) -> f64 {
        self.start
    }

    /// Returns the end of the last second of the axis.
    pub(crate) fn end(&self) -> f64 {
        self.end
    }

    /// Returns the axis title.
    fn title(&self) -> String {
        self.format.title((self.start, self.end))
    }

    /// Returns the seconds of the ticks, which are round by the axis' count.
    fn ticks(&self) -> impl Iterator<Item = f64> + use<> {
        let origin = self.format.origin();
        // Places are labelled on their own.
        let end = if self.format == TickFormat::Places { f64::NEG_INFINITY } else { self.end };
        axis::multiples(origin + self.start, origin + end, self.step).map(move |tick| tick - origin)
    }
}

/// The frame of a chart, which maps data to a rectangle of the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ChartFrame {
    pub(crate) area: Rect,
    pub(crate) time: TimeAxis,
    /// The scale of the value axis.
    pub(crate) scale: Scale,
}

impl ChartFrame {
    /// Returns the x coordinate of a time.
    pub(crate) fn x(&self, seconds: f64) -> f64 {
        let share = (seconds - self.time.start) / (self.time.end - self.time.start).max(1e-9);
        self.area.left + share.clamp(0.0, 1.0) * self.area.width()
    }

    /// Returns the y coordinate of a value.
    pub(crate) fn y(&self, value: f64) -> f64 {
        self.area.bottom - self.scale.share(value) * self.area.height()
    }

    /// Returns the point of a value at a time.
    pub(crate) fn at(&self, seconds: f64, value: f64) -> Point {
        (self.x(seconds), self.y(value))
    }

    /// Draws the vertical lines of the grid.
    pub(crate) fn time_grid(&self, drawing: &mut Drawing) {
        for tick in self.time.ticks() {
            let x = self.x(tick);
            drawing.line(vec![(x, self.area.top), (x, self.area.bottom)], 0.5, GRID);
        }
    }

    /// Draws the horizontal lines of the grid, each with its label to the left.
    pub(crate) fn value_grid(&self, drawing: &mut Drawing, axis: &ValueAxis) {
        for (value, label) in &axis.ticks {
            let y = self.y(*value);
            if y < self.area.bottom {
                drawing.line(vec![(self.area.left, y), (self.area.right, y)], 0.5, GRID);
            }
            drawing.text(TextLine::new(label, (self.area.left - LABEL_GAP, y), LABEL, Anchor::End, SOFT));
        }
    }

    /// Draws the frame's border, after the data so that nothing covers it.
    pub(crate) fn border(&self, drawing: &mut Drawing) {
        let Rect { left, top, right, bottom } = self.area;
        drawing.line(
            vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)],
            0.6,
            FRAME,
        );
    }

    /// Draws the time axis' tick marks and labels below the frame.
    pub(crate) fn time_labels(&self, drawing: &mut Drawing) {
        let bottom = self.area.bottom;
        for tick in self.time.ticks() {
            let x = self.x(tick);
            drawing.line(vec![(x, bottom), (x, bottom + 3.0)], 0.6, FRAME);
            let label = self.time.format.label(tick);
            drawing.text(TextLine::new(&label, (x, bottom + TIME_LABEL_DROP), LABEL, Anchor::Middle, SOFT));
        }
    }

    /// Returns how far the labels of the time axis reach beyond the frame to the left and to the right, in points.
    pub(crate) fn time_overhang(&self) -> (f64, f64) {
        let ends = |tick| {
            let (x, half) = (self.x(tick), fonts::width(&self.time.format.label(tick), LABEL) / 2.0);
            (self.area.left - (x - half), x + half - self.area.right)
        };
        let farthest = |one: (f64, f64), other: (f64, f64)| (one.0.max(other.0), one.1.max(other.1));
        self.time.ticks().map(ends).fold((0.0, 0.0), farthest)
    }

    /// Draws the time axis' title below its labels.
    pub(crate) fn time_title(&self, drawing: &mut Drawing) {
        self.time_title_within(drawing, (f64::NEG_INFINITY, f64::INFINITY));
    }

    /// Draws the time axis' title below its labels, between two places of the page.
    pub(crate) fn time_title_within(&self, drawing: &mut Drawing, (left, right): (f64, f64)) {
        let title = fonts::fitted(&self.time.title(), TITLE, right - left);
        if title.is_empty() {
            return;
        }
        let half = fonts::width(&title, TITLE) / 2.0;
        let middle = (self.area.left + self.area.right) / 2.0;
        let place = (middle.min(right - half).max(left + half), self.area.bottom + TIME_LABEL_DROP + 12.0);
        drawing.text(TextLine::new(&title, place, TITLE, Anchor::Middle, SOFT));
    }

    /// Draws the reason why there are no data.
    pub(crate) fn notice(&self, drawing: &mut Drawing, words: &str) {
        let Rect { left, top, right, bottom } = self.area;
        let (x, y) = ((left + right) / 2.0, (top + bottom) / 2.0);
        let half = fonts::width(words, NOTICE) / 2.0 + 6.0;
        drawing.rect((x - half, y - NOTICE), (x + half, y + NOTICE), PAPER);
        drawing.text(TextLine::new(words, (x, y), NOTICE, Anchor::Middle, SOFT));
    }
}
