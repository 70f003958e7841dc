//! A figure of all frameworks, drawn over each other, with a key of their names and averages.

use perfpipe_analyze::Timeline;
use perfpipe_analyze::format::counted;

use super::framework::{Framework, KEY_SIZE, NAME, WIDTH};
use crate::charts::chart::{self, Height, TimeChart};
use crate::charts::reach::Reach;
use crate::charts::series::SharedSeries;
use crate::layout::axis::{Steps, ValueAxis, ValueTicks};
use crate::layout::frame::{ChartFrame, Rect, TimeAxis};
use crate::layout::legend::{Legend, LegendEntry, Swatch};
use crate::layout::phase_band::PhaseBand;
use crate::marks;
use crate::output::drawing::{Anchor, Drawing, PageFigure, PagePart, Point, TextLine};
use crate::palette::{INK, SOFT};
use crate::text::clock::duration;
use crate::text::fonts::Fonts;
use crate::text::number::{measured, trimmed};
use crate::time_columns::{ColumnSpread, TimeColumn};

/// The height of a heading, in points.
const HEADING: f64 = 16.0;
/// The gap between a chart and the next heading, in points.
const GAP: f64 = 10.0;
/// The height of a chart of a series, as a share of that of the successes.
const SHARE: f64 = 0.5;
/// The number of frameworks that the chart's description names; the rest are counted.
const NAMED: usize = 20;

/// What stands for an average that is not known.
const NONE: &str = "–";

/// Returns the name of a unit of so many ms.
fn unit_name(unit: f64) -> &'static str {
    if unit > 1.0 { "s" } else { "ms" }
}

/// A figure of all frameworks.
pub(super) enum Overlay {
    /// Successes per second.
    Successes,
    /// A series of the server.
    Series(SharedSeries),
    /// A percentile of the response times.
    Response {
        /// Its place among those of the runs.
        at: usize,
        /// The percentile, in percent.
        percent: f64,
        /// How far the axis reaches; `None` if no request succeeded.
        reach: Option<Reach>,
        /// The unit of the axis in ms: 1 or 1000.
        unit: f64,
        log_scale: bool,
    },
    /// The CPU, with the top of its axis if that is given.
    Cpu { top: Option<f64> },
}

impl Overlay {
    /// Returns the heading of the averages in the key.
    fn average(&self) -> String {
        match self {
            Self::Successes => "Average/s".to_owned(),
            Self::Series(series) => format!("Average, {}", series.scaled.unit),
            Self::Response { unit, .. } => format!("Whole run, {}", unit_name(*unit)),
            Self::Cpu { .. } => "Average, %".to_owned(),
        }
    }

    /// Returns true if any framework has it.
    pub(super) fn is_measured(&self, frameworks: &[Framework<'_>]) -> bool {
        frameworks.iter().any(|line| self.is_known(line)) && self.greatest(frameworks) > 0.0
    }

    /// Returns true if a framework has an average.
    fn is_known(&self, line: &Framework<'_>) -> bool {
        self.average_of(line) != NONE
    }

    /// Returns a framework's average with its unit, in words.
    fn average_with_unit(&self, line: &Framework<'_>) -> String {
        let average = self.average_of(line);
        match self {
            _ if average == NONE => average,
            Self::Successes => format!("{average}/s"),
            Self::Series(series) => format!("{average} {}", series.scaled.unit),
            Self::Response { unit, .. } => format!("{average} {}", unit_name(*unit)),
            Self::Cpu { .. } => format!("{average} %"),
        }
    }

    /// Returns a framework's average, in words.
    pub(super) fn average_of(&self, line: &Framework<'_>) -> String {
        match self {
            Self::Successes => line.median(|run| Some(run.summary.throughput)),
            Self::Series(series) => line.median(|run| series.mean(run)),
            Self::Response { at, unit, .. } => {
                line.median(|run| Some(run.summary.percentiles.get(*at).copied().flatten()? / unit))
            }
            Self::Cpu { .. } => line.median(|run| run.summary.cpu_mean),
        }
        .map_or_else(|| NONE.to_owned(), measured)
    }

    /// Returns what the chart does not show.
    pub(super) fn note(&self) -> Option<String> {
        match self {
            Self::Successes | Self::Cpu { .. } => None,
            Self::Response { reach, .. } => reach.and_then(|reach| reach.note()),
            Self::Series(series) => {
                series.scaled.note().map(|_| format!("{}: values below 0 are drawn at 0", series.name))
            }
        }
    }

    pub(super) fn axis(&self, frameworks: &[Framework<'_>]) -> ValueAxis {
        let most = self.greatest(frameworks);
        match self {
            Self::Successes => ValueAxis::new(ValueTicks::up_to(most, 6, Steps::Whole)),
            Self::Response { reach: Some(reach), unit, log_scale, .. } => reach.axis(*unit, 6, *log_scale),
            Self::Cpu { top: Some(top) } => {
                ValueAxis::ending_at(top.max(most), 4, Steps::Any).with_room(most)
            }
            _ => ValueAxis::new(ValueTicks::up_to(most, 4, Steps::Any)),
        }
    }

    /// Returns the greatest value of any framework.
    fn greatest(&self, frameworks: &[Framework<'_>]) -> f64 {
        let greatest = |line: &Framework<'_>| line.greatest(&|run, column| self.values(run, column));
        frameworks.iter().map(greatest).fold(0.0, f64::max)
    }

    /// Draws the chart without the labels of its time axis. Returns its frame.
    pub(super) fn draw(
        &self,
        drawing: &mut Drawing,
        frameworks: &[Framework<'_>],
        area: Rect,
        time: TimeAxis,
    ) -> ChartFrame {
        let (heading, top) = (self.heading(), area.top - HEADING);
        drawing.begin(PagePart::Figure(PageFigure::new(&heading, self.alt(frameworks), top)));
        drawing.text(TextLine::new(&heading, (area.left, top + 5.0), 10.0, Anchor::Start, INK));
        let chart = OverlayChart { overlay: self, frameworks, width: 1 };
        chart::draw_data(&chart, drawing, area, time, &PhaseBand::none())
    }

    fn heading(&self) -> String {
        match self {
            Self::Successes => "Successes per second".to_owned(),
            Self::Series(series) => series.heading(),
            Self::Response { percent, unit, log_scale, .. } => {
                let log = if *log_scale { ", log scale" } else { "" };
                format!("Response time, p{} ({}{log})", trimmed(*percent), unit_name(*unit))
            }
            Self::Cpu { .. } => "CPU utilisation (%)".to_owned(),
        }
    }

    fn values(&self, run: &Timeline, column: &TimeColumn) -> Option<ColumnSpread> {
        match self {
            Self::Successes => column.successes,
            Self::Series(series) => series.values(run, column),
            Self::Response { at, unit, .. } => {
                Some(column.percentiles.get(*at).copied().flatten()?.divided_by(*unit))
            }
            Self::Cpu { .. } => column.cpu,
        }
    }

    /// Describes the chart in a sentence.
    fn alt(&self, frameworks: &[Framework<'_>]) -> String {
        let of = |line: &Framework<'_>| format!("{} {}", line.shown, self.average_of(line));
        let named: Vec<String> = frameworks.iter().take(NAMED).map(of).collect();
        let more = frameworks.len().checked_sub(NAMED).filter(|more| *more > 0);
        let more = more.map(|more| format!(" and {more} more")).unwrap_or_default();
        match frameworks {
            [] => "No runs of this test.".to_owned(),
            _ => format!("{} over time, on average: {}{more}.", self.heading(), named.join(", ")),
        }
    }
}

/// The chart of a figure of all frameworks, with a key of their lines and averages.
pub(super) struct OverlayChart<'a> {
    pub(super) overlay: &'a Overlay,
    pub(super) frameworks: &'a [Framework<'a>],
    /// The width of a column, in seconds.
    pub(super) width: u32,
}

impl OverlayChart<'_> {
    /// Returns the notes on how to read the chart.
    fn notes(&self) -> Vec<String> {
        let is_repeated = self.frameworks.iter().any(|line| line.repeats() > 1);
        let repeats = "Several repeats: line at their median, band from the least to the greatest.";
        let column = duration(self.width);
        let binned = (self.width > 1)
            .then(|| format!("Each point stands for {column}: line at the mean, band from the least to the greatest second."));
        let unknown = self.frameworks.iter().filter(|line| !self.overlay.is_known(line)).count();
        let unknown =
            (unknown > 0).then(|| format!("Not measured: {}.", counted(unknown as u64, "framework")));
        let lines = is_repeated.then(|| repeats.to_owned()).into_iter().chain(binned).chain(unknown);
        lines.chain(self.overlay.note()).collect()
    }
}

impl TimeChart for OverlayChart<'_> {
    fn legend(&self) -> Legend {
        let entry = |line: &Framework<'_>| {
            let words = format!("{}: {}", line.shown, self.overlay.average_with_unit(line));
            LegendEntry::new(Swatch::Marked(line.color, WIDTH * 1.6, line.marker), words)
        };
        let entries = self.frameworks.iter().filter(|line| self.overlay.is_known(line)).map(entry).collect();
        Legend { heading: self.overlay.heading(), entries, notes: self.notes() }
    }

    fn alt(&self) -> String {
        self.overlay.alt(self.frameworks)
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        match self.overlay {
            _ if self.frameworks.is_empty() => Err("No runs of this test"),
            Overlay::Response { reach: None, .. } => Err("No request succeeded"),
            Overlay::Cpu { .. } if self.overlay.greatest(self.frameworks) <= 0.0 => {
                Err("No CPU readings for this test")
            }
            _ => Ok(self.overlay.axis(self.frameworks)),
        }
    }

    fn height(&self) -> Height {
        Height::Share(1.0)
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        let Self { overlay, frameworks, .. } = self;
        // The best is drawn last, above the others.
        for line in frameworks.iter().rev() {
            line.draw(drawing, frame, &|run, column| overlay.values(run, column));
        }
        for (rank, line) in frameworks.iter().enumerate().rev() {
            line.mark(drawing, frame, (rank, frameworks.len()), &|run, column| overlay.values(run, column));
        }
        for line in frameworks.iter().filter(|_| matches!(overlay, Overlay::Response { .. })) {
            let beyond = line.times_beyond(frame.scale.top(), &|run, column| overlay.values(run, column));
            marks::draw_arrows(drawing, frame, beyond.into_iter(), line.color);
        }
    }
}

/// Returns the areas of the charts' frames, one below the other.
pub(super) fn areas(overlays: &[Overlay], room: Rect) -> Vec<Rect> {
    let share = |overlay: &Overlay| if matches!(overlay, Overlay::Successes) { 1.0 } else { SHARE };
    let shares: f64 = overlays.iter().map(share).sum();
    let count = overlays.len() as f64;
    let free = room.height() - count * HEADING - (count - 1.0).max(0.0) * GAP;
    let mut top = room.top;
    let mut areas = Vec::with_capacity(overlays.len());
    for overlay in overlays {
        let bottom = top + HEADING + free * share(overlay) / shares.max(1.0);
        areas.push(room.rows(top + HEADING, bottom));
        top = bottom + GAP;
    }
    areas
}

/// The width of a swatch, and the gaps around names, in points.
const SWATCH: f64 = 24.0;
const KEY_GAP: f64 = 12.0;
/// The largest distance between lines of the key, in points.
const KEY_LEADING: f64 = 16.0;
/// The least distance between lines of the key, in points; entries that do not fit are counted.
const LEAST_LEADING: f64 = 9.0;

/// The layout of the keys beside the charts, with names and averages.
pub(super) struct Key {
    name: f64,
    value: f64,
}

impl Key {
    pub(super) fn new(frameworks: &[Framework<'_>], overlays: &[Overlay], fonts: &Fonts) -> Self {
        let widest = |texts: &mut dyn Iterator<Item = String>| {
            texts.map(|text| fonts.width(&text, KEY_SIZE)).fold(0.0, f64::max)
        };
        let names = widest(&mut frameworks.iter().map(|line| line.shown.clone()));
        let values = widest(&mut overlays.iter().flat_map(|overlay| {
            frameworks.iter().map(|line| overlay.average_of(line)).chain([overlay.average()])
        }));
        Self { name: names.min(NAME), value: values }
    }

    pub(super) fn width(&self) -> f64 {
        KEY_GAP + SWATCH + KEY_GAP / 2.0 + self.name + KEY_GAP + self.value
    }

    pub(super) fn draw(
        &self,
        drawing: &mut Drawing,
        frameworks: &[Framework<'_>],
        overlay: &Overlay,
        area: Rect,
    ) {
        let right = area.right + self.width();
        let top = area.top + KEY_SIZE / 2.0;
        drawing.text(TextLine::new(
            &overlay.average(),
            (right, top - KEY_LEADING),
            KEY_SIZE,
            Anchor::End,
            SOFT,
        ));
        let most = (area.height() / LEAST_LEADING) as usize;
        let shown = if frameworks.len() > most { most.saturating_sub(1) } else { frameworks.len() };
        let leading = (area.height() / frameworks.len().max(1) as f64).clamp(LEAST_LEADING, KEY_LEADING);
        for (rank, line) in frameworks.iter().take(shown).enumerate() {
            let place = (area.right + KEY_GAP, top + leading * rank as f64);
            self.entry(drawing, line, &overlay.average_of(line), place);
        }
        if shown < frameworks.len() {
            let place = (area.right + KEY_GAP, top + leading * shown as f64);
            let rest = format!("and {} more", frameworks.len() - shown);
            drawing.text(TextLine::new(&rest, place, KEY_SIZE, Anchor::Start, SOFT));
        }
    }

    fn entry(&self, drawing: &mut Drawing, line: &Framework<'_>, value: &str, (x, y): Point) {
        drawing.line(vec![(x, y), (x + SWATCH, y)], WIDTH * 1.6, line.color);
        line.marker.draw(drawing, (x + SWATCH / 2.0, y), line.color);
        let left = x + SWATCH + KEY_GAP / 2.0;
        drawing.text(TextLine::new(&line.shown, (left, y), KEY_SIZE, Anchor::Start, INK));
        let right = left + self.name + KEY_GAP + self.value;
        drawing.text(TextLine::new(value, (right, y), KEY_SIZE, Anchor::End, INK));
    }
}
