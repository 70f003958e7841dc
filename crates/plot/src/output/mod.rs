//! Output of pages: shapes, and a file for each format.

pub(crate) mod canvas;
pub(crate) mod drawing;
pub(crate) mod page;
pub(crate) mod pdf;
pub(crate) mod png;
pub(crate) mod svg;
mod tags;
