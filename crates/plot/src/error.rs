//! The error type of the crate.

use std::error::Error as StdError;

use plotters::prelude::{DrawingAreaErrorKind, DrawingBackend};

/// An error of writing a page.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A document without a page.
    #[error("there is no page to write. Give at least one run to draw.")]
    NoPages,
    /// An error of the drawing backend.
    #[error("drawing the page \"{page}\" failed: {cause}")]
    Drawing {
        /// The page's title.
        page: String,
        /// The backend's error.
        cause: Box<dyn StdError + Send + Sync>,
    },
    /// A scale, in pixels per point, that is out of range.
    #[error("a scale of {0} pixels a point can't be drawn. Give one from 0.5 to 8.")]
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
    /// Wraps a backend's error while drawing the page with this title.
    pub(crate) fn drawing<DB: DrawingBackend>(
        page: &str,
        cause: DrawingAreaErrorKind<DB::ErrorType>,
    ) -> Self {
        Self::Drawing { page: page.to_owned(), cause: cause.to_string().into() }
    }
}
