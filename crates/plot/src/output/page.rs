//! Pages: charts laid out on paper, which can be written in any format.

use super::drawing::Drawing;
use super::svg;

/// A page of charts, laid out and ready to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    title: String,
    /// When the test began, as an epoch time in ms.
    date: Option<i64>,
    drawing: Drawing,
}

impl Page {
    /// Creates a page from a finished drawing; `date` is when the test began, as an epoch time in ms.
    pub(crate) fn new(drawing: Drawing, title: String, date: Option<i64>) -> Self {
        Self { title, date, drawing }
    }

    /// Returns when the test began, as an epoch time in ms; `None` if nothing was tested.
    pub(crate) fn date(&self) -> Option<i64> {
        self.date
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
    pub(crate) fn drawing(&self) -> &Drawing {
        &self.drawing
    }

    /// Returns the page as an SVG document. The same page gives the same text.
    pub fn svg(&self) -> String {
        svg::document(&self.drawing, &self.title)
    }
}
