//! Pages of load-test charts as SVG, PDF, PNG and HTML, drawn in process: no system fonts, no display, no other program.
//!
//! A [`Page`] is laid out once from [`perfpipe_analyze::Timeline`]s and then written in any format, or drawn
//! onto any plotters backend with [`Page::draw`]. The same input gives the same bytes.
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

mod axis;
mod backend;
mod canvas;
mod chart;
mod clock;
mod colorbar;
mod column;
mod comparison;
mod cpu;
mod drawing;
mod error;
mod failures;
mod font;
mod footer;
mod frame;
mod html;
mod legend;
mod line;
#[cfg(test)]
mod looks;
mod marker;
mod number;
mod overlay;
mod page;
mod palette;
mod pdf;
mod phase_band;
mod png;
mod requests;
mod response;
mod run;
mod sheet;
mod stack;
mod stairs;
mod style;
#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;
mod svg;
mod sweep;
mod ticks;
#[cfg(test)]
mod vision;

pub use error::{Error, Result};
pub use html::html;
pub use page::Page;
pub use pdf::pdf;
pub use png::{PNG_SCALES, png};
pub use style::{ColorBy, Palette, Paper, Style};
