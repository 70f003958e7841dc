//! Pages: charts laid out on paper, which can be written in any format.

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingBackend, IntoDrawingArea};

use super::backend::Backend;
use super::drawing::Drawing;
use super::svg::{self, SvgSurface};
use crate::error::{Error, Result};

/// A page of charts, laid out and ready to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    title: String,
    drawing: Drawing,
}

impl Page {
    /// Creates a page from a finished drawing.
    pub(crate) fn new(drawing: Drawing, title: String) -> Self {
        Self { title, drawing }
    }

    /// Returns the page's title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the page's width and height, in points of 1/72 inch.
    pub fn size(&self) -> (f64, f64) {
        self.drawing.size
    }

    /// Returns the shapes on the page.
    #[cfg(test)]
    pub(crate) fn drawing(&self) -> &Drawing {
        &self.drawing
    }

    /// Returns the page as an SVG document. The same page gives the same text.
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
    /// [`Error::Drawing`] if the backend fails to draw.
    pub fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Result<()> {
        self.drawing.draw(area).map_err(|cause| Error::drawing::<DB>(&self.title, cause))
    }
}
