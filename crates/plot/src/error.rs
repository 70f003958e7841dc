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
            Self::Png(_) | Self::Html(_) | Self::Pdf(_) => None,
        }
    }
}
