//! The parts of a page, for readers that do not see it.

/// A part of a page, to which the shapes that follow belong.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PagePart {
    /// The title.
    Heading,
    /// A line of text.
    Paragraph,
    /// A line at the foot of the page, to be read after all others.
    Foot,
    /// A chart or its key.
    PageFigure(PageFigure),
    /// Lines and the like that say nothing.
    Decoration,
}

/// A chart or its key, in words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PageFigure {
    /// Its heading, for a list of contents.
    pub(crate) name: String,
    /// What it shows, with the figures that matter.
    pub(crate) alt: String,
    /// The upper edge on the page, in points.
    pub(crate) top: f64,
}

impl PageFigure {
    pub(crate) fn new(name: &str, alt: String, top: f64) -> Self {
        Self { name: name.to_owned(), alt, top }
    }
}
