//! What can go wrong when a page is written.

use std::error::Error as StdError;

use plotters::prelude::{DrawingAreaErrorKind, DrawingBackend};

/// Why a page could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A document needs at least one page.
    #[error("there is no page to write. Give at least one run to draw.")]
    NoPages,
    /// A drawing backend refused to draw.
    #[error("drawing the page \"{page}\" failed: {cause}")]
    Drawing {
        /// The page's title.
        page: String,
        /// What the backend said.
        cause: Box<dyn StdError + Send + Sync>,
    },
    /// A picture can't have so many pixels a point.
    #[error("a scale of {0} pixels a point can't be drawn. Give one from 0.5 to 8.")]
    Scale(f64),
    /// The PNG could not be put together.
    #[error("writing the PNG failed: {0}")]
    Png(String),
    /// The HTML file could not be put together.
    #[error("writing the HTML report failed: {0}")]
    Html(String),
    /// The PDF could not be put together.
    #[error("writing the PDF failed: {0}")]
    Pdf(String),
}

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The error of a backend while drawing `page`.
    pub(crate) fn drawing<DB: DrawingBackend>(
        page: &str,
        cause: DrawingAreaErrorKind<DB::ErrorType>,
    ) -> Self {
        Self::Drawing { page: page.to_owned(), cause: cause.to_string().into() }
    }
}
