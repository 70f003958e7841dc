//! The error type of the crate.

/// An error of writing a page.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A document without a page.
    #[error("there is no page to write")]
    NoPages,
    /// A scale, in pixels per point, that is out of range.
    #[error("a scale of {0} pixels a point can't be drawn")]
    Scale(f64),
    /// A text that is not the size of a figure.
    #[error("{0:?} is not a width, or a width and a height, with a unit")]
    FigureSize(String),
    /// A size that a figure can't have.
    #[error("a figure of {0} is too small or too large to be read")]
    FigureSizeRange(String),
    /// A height that leaves no room for the data: the size, the name of the figure, and the least height that would do.
    #[error("a figure of {size} leaves no room for the data of {figure}, below whose chart its key stands")]
    FigureHeight {
        /// The size as it was given.
        size: String,
        /// The name of the figure.
        figure: &'static str,
        /// The least height, with its unit.
        least: String,
    },
    /// A figure of what was not measured: the run or the test, and what it lacks.
    #[error("{subject}: {problem}")]
    NothingToDraw {
        /// The run or the test.
        subject: String,
        /// What it lacks, as in `No CPU readings for this run`.
        problem: &'static str,
    },
    /// A picture of too many pixels to be kept in memory.
    #[error("a picture of {width} by {height} pixels is too large")]
    Pixels {
        /// Its width in pixels.
        width: f64,
        /// Its height in pixels.
        height: f64,
    },
    /// An error of encoding the PNG.
    #[error("writing the PNG failed: {0}")]
    Png(String),
    /// An error of writing the HTML file.
    #[error("writing the HTML report failed: {0}")]
    Html(String),
    /// An error of writing the PDF.
    #[error("writing the PDF failed: {0}")]
    Pdf(String),
}

/// The result type of the crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns the name of what the error is about, which never changes.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoPages => "no-pages",
            Self::Scale(_) => "scale",
            Self::FigureSize(_) => "figure-size",
            Self::FigureSizeRange(_) => "figure-size-range",
            Self::FigureHeight { .. } => "figure-height",
            Self::NothingToDraw { .. } => "nothing-to-draw",
            Self::Pixels { .. } => "pixels",
            Self::Png(_) => "png",
            Self::Html(_) => "html",
            Self::Pdf(_) => "pdf",
        }
    }

    /// Returns the remedy as a sentence, if there is one.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::NoPages => Some("Give at least one run to draw.".to_owned()),
            Self::Scale(_) => Some("Give one from 0.5 to 8.".to_owned()),
            Self::FigureSize(_) => Some("Write it as 84mm, 84x60mm, 3.5in or 1200x675px: units are mm, cm, in, pt and px.".to_owned()),
            Self::FigureSizeRange(_) => Some(
                "Widths are from 50 to 600 mm, heights from 35 to 600 mm; a column of most journals is 84 mm wide, a page 174 mm."
                    .to_owned(),
            ),
            Self::FigureHeight { least, .. } => {
                Some(format!("Give at least {least} of height, or the width alone: the height then follows."))
            }
            Self::NothingToDraw { .. } => Some("Leave the figure out, or attach what is missing.".to_owned()),
            Self::Pixels { .. } => {
                Some("Take fewer pixels a point, a smaller size, or a format that scales: SVG or PDF.".to_owned())
            }
            Self::Png(_) | Self::Html(_) | Self::Pdf(_) => None,
        }
    }
}
