//! Single figures: one chart as large as it is printed in a paper, with its key below it.

use perfpipe_analyze::{Sweep, Timeline};

use super::sweep::AloneChart;
use super::{footer, test};
use crate::charts::chart::{self, ColorBar, TIME_LABELS, TimeChart};
use crate::charts::load::LoadChart;
use crate::charts::requests::{FailuresChart, RequestsChart};
use crate::charts::response::ResponseChart;
use crate::charts::run::RunData;
use crate::charts::series::CpuChart;
use crate::error::{Error, Result};
use crate::figure_size::{FigureSize, millimetres};
use crate::layout::axis::Scale;
use crate::layout::frame::{ChartFrame, LABEL_GAP, Rect, TimeAxis};
use crate::layout::legend::{self, Legend};
use crate::layout::phase_band::PhaseBand;
use crate::output::drawing::{Anchor, Drawing, PageFigure, PagePart, TextLine};
use crate::output::page::Page;
use crate::palette::{INK, SOFT};
use crate::style::Style;
use crate::text::fonts::Fonts;
use crate::time_columns;

/// The margin, in points: the text around a figure keeps its distance.
const MARGIN: f64 = 2.0;
/// The room to the right of the frame, in points, for markers on its edge.
const EDGE: f64 = 3.0;
/// The size of the heading and its height with the gap below it, in points.
const HEADING: (f64, f64) = (9.0, 14.0);
/// The height of the title of the time axis, in points.
const TIME_TITLE: f64 = 13.0;
/// The gap above the key, and the distance between lines of notes, in points.
const KEY: (f64, f64) = (2.0, 9.5);
/// The size of the notes, in points.
const NOTE: f64 = 7.0;
/// The least height of the frame, in points, and its least share of a height that is not given.
const LEAST: (f64, f64) = (40.0, 0.5);
/// The most lines of a key; frameworks that do not fit are counted.
const LINES: usize = 20;
/// The most columns for each point of the width: more could not be seen.
const COLUMNS: f64 = 2.5;

/// A figure of a run over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RunFigure {
    /// Requests per second: successes, failures on top of them, and the average.
    Requests,
    /// Response times by percentile.
    Response,
    /// The server's CPU.
    Cpu,
    /// The load: active threads.
    Load,
    /// Failures per second.
    Failures,
}

impl RunFigure {
    /// All figures of a run.
    pub const ALL: &[Self] = &[Self::Requests, Self::Response, Self::Cpu, Self::Load, Self::Failures];

    /// Returns the name of the figure: `requests`, `response`, `cpu`, `load` or `failures`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Response => "response",
            Self::Cpu => "cpu",
            Self::Load => "load",
            Self::Failures => "failures",
        }
    }

    fn chart<'a>(self, run: &'a RunData<'a>) -> Box<dyn TimeChart + 'a> {
        match self {
            Self::Requests => Box::new(RequestsChart(run)),
            Self::Response => Box::new(ResponseChart::new(run)),
            Self::Cpu => Box::new(CpuChart(run)),
            Self::Load => Box::new(LoadChart::alone(run)),
            Self::Failures => Box::new(FailuresChart(run)),
        }
    }
}

/// A figure of a run by its load, with the knee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LoadFigure {
    /// Successes per second.
    Throughput,
    /// Response times by percentile.
    Response,
    /// The server's CPU.
    Cpu,
}

impl LoadFigure {
    /// All figures of a run by its load.
    pub const ALL: &[Self] = &[Self::Throughput, Self::Response, Self::Cpu];

    /// Returns the name of the figure: `throughput-by-load`, `response-by-load` or `cpu-by-load`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput-by-load",
            Self::Response => "response-by-load",
            Self::Cpu => "cpu-by-load",
        }
    }
}

/// A figure of all frameworks of a test, drawn over each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TestFigure {
    /// Successes per second.
    Overview,
    /// The 95th percentile of the response times; the highest one, if that is not among those of the runs.
    OverviewResponse,
    /// The server's CPU.
    OverviewCpu,
}

impl TestFigure {
    /// All figures of a test.
    pub const ALL: &[Self] = &[Self::Overview, Self::OverviewResponse, Self::OverviewCpu];

    /// Returns the name of the figure: `overview`, `overview-response` or `overview-cpu`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::OverviewResponse => "overview-response",
            Self::OverviewCpu => "overview-cpu",
        }
    }
}

impl Page {
    /// Creates a figure of one run for a paper: one chart alone, exactly as large as it is printed. Its texts have 7 to 9
    /// points at any size, the key is below the chart, and all can be read in grey with [`crate::Palette::Blues`].
    ///
    /// # Errors
    /// [`Error::NothingToDraw`] if the run lacks what the figure shows, [`Error::FigureHeight`] if the height leaves no room.
    ///
    /// ```
    /// use perfpipe_analyze::{Timeline, View};
    /// use perfpipe_plot::{FigureSize, Page, Palette, RunFigure, Style};
    /// # use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
    /// # use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
    ///
    /// # let key = CellKey { second: 0, label: 0, success: true, transaction: false };
    /// # let cell = Cell { elapsed: vec![(10, 2)], ..Cell::default() };
    /// # let info = RunInfo::new(RunKey::new("spring", "2048"), 0, 999);
    /// # let run = StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], [(key, cell)]));
    /// let timeline = Timeline::new(&run, &View::default())?;
    /// let (column, style) = ("84x60mm".parse::<FigureSize>()?, Style::default().with_palette(Palette::Blues));
    /// let page = Page::run_figure(&timeline, RunFigure::Response, &column, &style)?;
    /// assert_eq!(page.title(), "spring 2048: Response time (ms)");
    /// assert!(Page::run_figure(&timeline, RunFigure::Cpu, &column, &style).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_figure(
        timeline: &Timeline,
        figure: RunFigure,
        size: &FigureSize,
        style: &Style,
    ) -> Result<Self> {
        let most = (size.width() * COLUMNS) as u32;
        let run = RunData::alone(timeline, style, most.min(time_columns::MOST));
        let chart = figure.chart(&run);
        let subject = super::page::title(&timeline.info);
        let sheet = FigureSheet {
            figure: figure.name(),
            chart: chart.as_ref(),
            size,
            fonts: style.fonts(),
            time: &|room| TimeAxis::new(run.columns.span, room, run.clock),
            phases: PhaseBand::new(timeline, run.columns.span),
            colors: ColorBar::new(style.color_by, &run.scale),
        };
        sheet.page(&subject, Some(timeline.info.t0_ms))
    }

    /// Creates a figure of one run by its load for a paper, as [`Page::run_figure`] does over time.
    ///
    /// # Errors
    /// [`Error::NothingToDraw`] if the run lacks what the figure shows, [`Error::FigureHeight`] if the height leaves no room.
    pub fn load_figure(sweep: &Sweep, figure: LoadFigure, size: &FigureSize, style: &Style) -> Result<Self> {
        let chart = AloneChart::new(figure, sweep, style);
        let sheet = FigureSheet {
            figure: figure.name(),
            chart: &chart,
            size,
            fonts: style.fonts(),
            time: &|room| AloneChart::loads(sweep, room),
            phases: PhaseBand::none(),
            colors: None,
        };
        sheet.page(&format!("{} by load", super::page::title(&sweep.info)), Some(sweep.info.t0_ms))
    }

    /// Creates a figure of all frameworks of a test for a paper, as [`Page::run_figure`] does: a line for each, at the median of
    /// its repeats.
    ///
    /// # Errors
    /// [`Error::NothingToDraw`] if no run has what the figure shows, [`Error::FigureHeight`] if the height leaves no room.
    pub fn test_figure<'a>(
        test: &str,
        timelines: impl IntoIterator<Item = &'a Timeline>,
        figure: TestFigure,
        size: &FigureSize,
        style: &Style,
    ) -> Result<Self> {
        let timelines: Vec<&Timeline> = timelines.into_iter().collect();
        let date = timelines.iter().map(|timeline| timeline.info.t0_ms).min();
        let subject = format!("{} – {test}", super::page::frameworks(&timelines));
        let most = ((size.width() * COLUMNS) as u32).min(time_columns::MOST);
        test::with_chart(timelines, figure, most, style, |chart, span| {
            let sheet = FigureSheet {
                figure: figure.name(),
                chart,
                size,
                fonts: style.fonts(),
                time: &|room| TimeAxis::new(span, room, None),
                phases: PhaseBand::none(),
                colors: None,
            };
            sheet.page(&subject, date)
        })
    }
}

/// A chart that stands alone.
struct FigureSheet<'a> {
    figure: &'static str,
    chart: &'a dyn TimeChart,
    size: &'a FigureSize,
    fonts: Fonts,
    /// Returns the time axis for a frame of so many points.
    time: &'a dyn Fn(f64) -> TimeAxis,
    phases: PhaseBand,
    /// The key to the colours of a measure.
    colors: Option<ColorBar>,
}

impl FigureSheet<'_> {
    /// Lays the figure out.
    fn page(self, subject: &str, date: Option<i64>) -> Result<Page> {
        let axis = self.chart.axis();
        let axis = axis.map_err(|problem| Error::NothingToDraw { subject: subject.to_owned(), problem })?;
        let legend = self.chart.legend();
        let width = self.size.width();
        let inner = width - 2.0 * MARGIN;
        let lines = legend.lines_below(inner, LINES, &self.fonts);
        let notes: Vec<String> =
            legend.notes.iter().flat_map(|note| footer::broken(note, &self.fonts, NOTE, inner)).collect();
        let colors =
            self.colors.as_ref().filter(|_| legend.entries.iter().any(|entry| entry.swatch.is_scale()));
        let above = MARGIN + HEADING.1 + self.phases.height();
        let key = legend::ROW * (lines.len() + usize::from(colors.is_some())) as f64;
        let below = TIME_LABELS + TIME_TITLE + KEY.0 + key + KEY.1 * notes.len() as f64 + MARGIN;
        let height = self.height(above + below)?;

        let mut drawing = Drawing::new((width, height)).with_fonts(self.fonts.clone());
        let alt = self.chart.alt();
        drawing.begin(PagePart::Figure(PageFigure::new(&legend.heading, alt, MARGIN)));
        let heading = self.fonts.fitted(&legend.heading, HEADING.0, inner);
        let place = (MARGIN, MARGIN + HEADING.0 / 2.0);
        drawing.text(TextLine::new(&heading, place, HEADING.0, Anchor::Start, INK));
        let outer = Rect {
            left: MARGIN + axis.label_width() + LABEL_GAP,
            top: above,
            right: width - MARGIN - EDGE,
            bottom: height - below,
        };
        let (area, time) = self.fitted(outer);
        if self.phases.height() > 0.0 {
            self.phases.draw(&mut drawing, area.rows(MARGIN + HEADING.1, area.bottom), time);
        }
        let frame = chart::draw_data(self.chart, &mut drawing, area, time, &self.phases);
        frame.time_labels(&mut drawing);
        frame.time_title_within(&mut drawing, (MARGIN, width - MARGIN));
        let mut top = area.bottom + TIME_LABELS + TIME_TITLE + KEY.0;
        let room = Rect { left: MARGIN, top, right: width - MARGIN, bottom: height - MARGIN };
        Legend::draw_below(&mut drawing, &lines, room);
        top += legend::ROW * lines.len() as f64;
        if let Some(colors) = colors {
            colors.draw_line(&mut drawing, room.rows(top, top + legend::ROW));
            top += legend::ROW;
        }
        for note in &notes {
            let place = (MARGIN, top + KEY.1 / 2.0);
            drawing.text(TextLine::new(note, place, NOTE, Anchor::Start, SOFT));
            top += KEY.1;
        }
        let title = TextLine::clean(&format!("{subject}: {}", legend.heading));
        Ok(Page::new(drawing, title, date))
    }

    /// Returns the height of the figure, given that of everything but the frame, in points.
    fn height(&self, around: f64) -> Result<f64> {
        let least = around + LEAST.0;
        match self.size.height() {
            Some(height) if height < least => Err(Error::FigureHeight {
                size: self.size.to_string(),
                figure: self.figure,
                least: millimetres(least),
            }),
            Some(height) => Ok(height),
            None => {
                let usual = self.size.usual_height();
                Ok(usual.max(around + usual * LEAST.1))
            }
        }
    }

    /// Returns the area of the frame and its time axis, so that the labels of the axis stay within the figure.
    fn fitted(&self, outer: Rect) -> (Rect, TimeAxis) {
        let mut area = outer;
        let mut time = (self.time)(area.width());
        // With other ends the axis may have other labels.
        for _ in 0..3 {
            let frame = ChartFrame { area, time, scale: Scale::Linear(1.0) };
            let (left, right) = frame.time_overhang();
            let room = (area.left - MARGIN, self.size.width() - MARGIN - area.right);
            if left <= room.0 && right <= room.1 {
                break;
            }
            area.left += (left - room.0).max(0.0);
            area.right -= (right - room.1).max(0.0);
            time = (self.time)(area.width());
        }
        (area, time)
    }
}
