//! A page: charts laid out on a sheet of paper, to be written in any format.

use perfpipe_analyze::{Sweep, Timeline};
use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingBackend, IntoDrawingArea};

use crate::drawing::{Drawing, Text};
use crate::error::{Error, Result};
use crate::style::Style;
use crate::svg::{self, SvgBackend};
use crate::{comparison, footer, overlay, run, sweep};

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
        let key = &timeline.info.key;
        let partial = if timeline.info.is_partial() { footer::PARTIAL } else { "" };
        let title = Text::clean(&format!("{} {}{partial}", key.framework, key.test));
        Self { drawing: run::draw(timeline, style, &title), title }
    }

    /// The page of one run by its load, upright: throughput, response times and CPU over the load, with the knee.
    pub fn sweep(sweep: &Sweep, style: &Style) -> Self {
        let key = &sweep.info.key;
        let partial = if sweep.info.is_partial() { footer::PARTIAL } else { "" };
        let title = Text::clean(&format!("{} {}{partial} by load", key.framework, key.test));
        Self { drawing: sweep::draw(sweep, style, &title), title }
    }

    /// The page of one test, lying: the frameworks' requests per second over each other, best first in its key.
    pub fn test<'a>(test: &str, timelines: impl IntoIterator<Item = &'a Timeline>, style: &Style) -> Self {
        let title = Text::clean(&format!("All frameworks – {test}"));
        Self { drawing: overlay::draw(timelines.into_iter().collect(), style, &title), title }
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
        self.draw(&SvgBackend::new(&mut out, self.size(), &self.title).into_drawing_area())?;
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
