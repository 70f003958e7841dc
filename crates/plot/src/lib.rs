//! Pages of load-test charts as SVG, PDF, PNG and HTML, drawn in process without system fonts, display or other
//! programs.
//!
//! A [`Page`] is laid out once from [`perfpipe_analyze::Timeline`]s, and then written in any format or drawn onto any
//! plotters backend with [`Page::draw`]. The same input gives the same bytes.
//!
//! ```no_run
//! # fn timeline() -> perfpipe_analyze::Timeline { unimplemented!() }
//! use perfpipe_plot::{Page, Style};
//!
//! let page = Page::run(&timeline(), &Style::default());
//! std::fs::write("run.svg", page.svg()?)?;
//! std::fs::write("run.pdf", perfpipe_plot::pdf(&[page])?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// No input may reach a panic, so nothing is indexed that could be out of bounds.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod charts;
#[cfg(test)]
mod checks;
pub(crate) mod columns;
mod error;
mod html;
mod layout;
mod marks;
mod output;
mod pages;
mod palette;
mod style;
mod text;

#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;

pub use error::{Error, Result};
pub use html::html;
pub use output::page::Page;
pub use output::pdf::pdf;
pub use output::png::{PNG_SCALES, png};
pub use style::{ColorBy, Palette, Paper, Style};

// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
