//! Pages: charts laid out on paper, which can be written in any format.

use super::drawing::Drawing;
use super::svg;

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
    pub(crate) fn drawing(&self) -> &Drawing {
        &self.drawing
    }

    /// Returns the page as an SVG document. The same page gives the same text.
    pub fn svg(&self) -> String {
        svg::document(&self.drawing, &self.title)
    }
}
