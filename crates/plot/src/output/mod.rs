//! Output of pages: shapes, and a backend for each format.

pub(crate) mod backend;
pub(crate) mod canvas;
pub(crate) mod drawing;
pub(crate) mod page;
pub(crate) mod pdf;
pub(crate) mod png;
pub(crate) mod svg;
