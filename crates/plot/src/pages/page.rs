//! A page: charts laid out on a sheet of paper, to be written in any format.

use perfpipe_analyze::{RunInfo, Sweep, Timeline};
use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingBackend, IntoDrawingArea};

use super::{comparison, footer, run, sweep, test};
use crate::error::{Error, Result};
use crate::output::backend::Backend;
use crate::output::drawing::{Drawing, Text};
use crate::output::svg::{self, SvgSurface};
use crate::style::Style;

/// A page of charts, laid out and ready to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    title: String,
    drawing: Drawing,
}

impl Page {
    /// The page of one run, upright: requests, CPU and response times over one time axis.
    ///
    /// Runs of more than 1,500 seconds are gathered into columns of several seconds, extremes kept.
    pub fn run(timeline: &Timeline, style: &Style) -> Self {
        let title = Text::clean(&title(&timeline.info));
        Self { drawing: run::draw(timeline, style, &title), title }
    }

    /// The page of one run by its load, upright: throughput, response times and CPU over the load, with the knee.
    pub fn sweep(sweep: &Sweep, style: &Style) -> Self {
        let title = Text::clean(&format!("{} by load", title(&sweep.info)));
        Self { drawing: sweep::draw(sweep, style, &title), title }
    }

    /// The page of one test, lying: the frameworks' requests per second over each other, best first in its key. Of
    /// several repeats of a framework the one in the middle is drawn ([`perfpipe_analyze::median_repeats`]).
    pub fn test<'a>(test: &str, timelines: impl IntoIterator<Item = &'a Timeline>, style: &Style) -> Self {
        let title = Text::clean(&format!("All frameworks – {test}"));
        Self { drawing: test::draw(timelines.into_iter().collect(), style, &title), title }
    }

    /// The page of two runs over each other, upright: throughput, the first one's percentiles, and CPU over time.
    pub fn comparison(a: &Timeline, b: &Timeline, style: &Style) -> Self {
        let title = Text::clean(&format!("{} against {}", b.info.key, a.info.key));
        Self { drawing: comparison::draw(a, b, style, &title), title }
    }

    /// The page's title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The page's width and height, in points of 1/72 inch.
    pub fn size(&self) -> (f64, f64) {
        self.drawing.size
    }

    /// What is on the page.
    #[cfg(test)]
    pub(crate) fn drawing(&self) -> &Drawing {
        &self.drawing
    }

    /// The page as an SVG document; the same page gives the same text.
    ///
    /// # Errors
    /// [`Error::Drawing`] if the page can't be drawn.
    pub fn svg(&self) -> Result<String> {
        let mut out = String::new();
        let surface = SvgSurface::new(&mut out, self.size(), &self.title);
        self.draw(&Backend(surface).into_drawing_area())?;
        svg::finish(&mut out);
        Ok(out)
    }

    /// Draws the page onto any plotters backend, scaled to the width of `area`.
    ///
    /// # Errors
    /// [`Error::Drawing`] if the backend refuses to draw.
    pub fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Result<()> {
        self.drawing.draw(area).map_err(|cause| Error::drawing::<DB>(&self.title, cause))
    }
}

/// What the page of a run is called.
fn title(info: &RunInfo) -> String {
    let repeat = if info.key.repeat == 1 { String::new() } else { format!(" #{}", info.key.repeat) };
    let partial = if info.is_partial() { footer::PARTIAL } else { "" };
    format!("{} {}{repeat}{partial}", info.key.framework, info.key.test)
}
