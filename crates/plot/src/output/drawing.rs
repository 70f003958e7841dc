//! The shapes and texts of a page, laid out in points, in parts for readers that do not see them.

use crate::palette::Color;
use crate::text::fonts::Fonts;

/// A place on the page, in points from its left and from its top.
pub(crate) type Point = (f64, f64);

/// The horizontal alignment of a text with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The text begins at its place.
    Start,
    /// The text is centred on its place.
    Middle,
    /// The text ends at its place.
    End,
}

/// A text on one line. The middle of its capitals is at the height of its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextLine {
    pub(crate) text: String,
    pub(crate) at: Point,
    pub(crate) size: f64,
    pub(crate) anchor: Anchor,
    pub(crate) color: Color,
    /// True if it is rotated to run upwards.
    pub(crate) upwards: bool,
}

impl TextLine {
    /// Creates a text at a place; `size` is in points.
    pub(crate) fn new(text: &str, at: Point, size: f64, anchor: Anchor, color: Color) -> Self {
        Self { text: Self::clean(text), at, size, anchor, color, upwards: false }
    }

    /// Replaces control characters, which neither XML nor fonts support.
    pub(crate) fn clean(text: &str) -> String {
        let clean = |c: char| match c {
            '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
            // A byte order mark has no meaning within a text.
            '\u{feff}' => ' ',
            c if c.is_control() => ' ',
            c => c,
        };
        text.chars().map(clean).collect()
    }

    /// Rotates the text to run upwards.
    pub(crate) fn upwards(self) -> Self {
        Self { upwards: true, ..self }
    }
}

/// A shape on a page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// A line through points.
    Line { points: Vec<Point>, width: f64, color: Color },
    /// A filled area within points.
    Area { points: Vec<Point>, color: Color, alpha: f64 },
    /// A disc.
    Dot { at: Point, radius: f64, color: Color },
    /// A text.
    Text(TextLine),
}

/// The shapes on a page, in the order of drawing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Drawing {
    /// The page's width and height, in points.
    pub(crate) size: (f64, f64),
    pub(crate) shapes: Vec<Shape>,
    /// The parts of the page, each with the index of its first shape.
    parts: Vec<(usize, PagePart)>,
    /// The fonts of the page.
    pub(crate) fonts: Fonts,
}

impl Drawing {
    /// Creates an empty page; its size is in points.
    pub(crate) fn new(size: (f64, f64)) -> Self {
        Self { size, shapes: Vec::new(), parts: Vec::new(), fonts: Fonts::default() }
    }

    /// Sets the fonts of the page.
    pub(crate) fn with_fonts(self, fonts: Fonts) -> Self {
        Self { fonts, ..self }
    }

    /// Begins a part of the page.
    pub(crate) fn begin(&mut self, part: PagePart) {
        self.parts.push((self.shapes.len(), part));
    }

    /// Returns the parts of the page with their shapes, in order; those without shapes are left out.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&PagePart, &[Shape])> {
        let first = self.parts.first().map_or(self.shapes.len(), |(start, _)| *start);
        let unnamed = std::iter::once((&PagePart::Decoration, 0, first));
        let ends = self.parts.iter().skip(1).map(|(start, _)| *start).chain([self.shapes.len()]);
        let named = self.parts.iter().zip(ends).map(|((start, part), end)| (part, *start, end));
        let shapes = |(part, start, end)| Some((part, self.shapes.get(start..end)?));
        unnamed.chain(named).filter_map(shapes).filter(|(_, shapes)| !shapes.is_empty())
    }

    /// Draws a line. For a single point, draws a dot as thick as the line.
    pub(crate) fn line(&mut self, points: Vec<Point>, width: f64, color: Color) {
        match points.as_slice() {
            [] => {}
            [at] => self.dot(*at, dot_radius(width), color),
            _ => self.shapes.push(Shape::Line { points, width, color }),
        }
    }

    /// Fills the area within `points`.
    pub(crate) fn area(&mut self, points: Vec<Point>, color: Color) {
        self.shapes.push(Shape::Area { points, color, alpha: 1.0 });
    }

    /// Fills the area within `points` transparently.
    pub(crate) fn veil(&mut self, points: Vec<Point>, color: Color, alpha: f64) {
        self.shapes.push(Shape::Area { points, color, alpha });
    }

    /// Fills a rectangle between two corners.
    pub(crate) fn rect(&mut self, (x0, y0): Point, (x1, y1): Point, color: Color) {
        self.area(vec![(x0, y0), (x1, y0), (x1, y1), (x0, y1)], color);
    }

    /// Draws a disc.
    pub(crate) fn dot(&mut self, at: Point, radius: f64, color: Color) {
        self.shapes.push(Shape::Dot { at, radius, color });
    }

    /// Draws a text.
    pub(crate) fn text(&mut self, text: TextLine) {
        self.shapes.push(Shape::Text(text));
    }
}

/// Returns the radius of a dot in a line of this width, in points.
pub(crate) fn dot_radius(width: f64) -> f64 {
    (width * 1.05).max(1.2)
}

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
    Figure(PageFigure),
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
