//! Pages of load-test charts as SVG, PDF, PNG and HTML, drawn in process without system fonts, display or other
//! programs.
//!
//! ```text
//! Timeline, Sweep ─▶ Page ─┬─▶ svg, png
//!          Style ────┘     ├─▶ pdf (many pages)
//!                          └─▶ any backend of plotters
//! Timeline, Details, League ─▶ HtmlReport (all of a test in one file)
//! ```
//!
//! A [`Page`] is laid out once from timelines of `perfpipe-analyze`: [`Page::run`], [`Page::sweep`], [`Page::test`] and
//! [`Page::comparison`]. It is then written in any format: [`Page::svg`], [`pdf()`], [`png()`], or drawn onto a canvas of
//! a program's own with [`Page::draw`]. [`HtmlReport`] writes the report of a test, which can be explored in a browser. The
//! same input gives the same bytes.
//!
//! # Drawing
//!
//! Pages are drawn by [plotters](https://docs.rs/plotters): they are made of its elements, and SVG, PDF and PNG implement
//! its trait `DrawingBackend`. So any backend of plotters can take a page: a bitmap, a window, or a canvas that has charts
//! of the program's own too. The crate's own backends measure and draw texts with the font that it ships.
//!
//! # Memory
//!
//! A page does not grow with the length of a run: seconds are gathered into columns. A PNG takes 4 bytes for each pixel:
//! 8 MB at 2 pixels a point, 128 MB at 8.
//!
//! # Threads and blocking
//!
//! The crate starts no threads, and nothing in it is async. It reads no files and writes none: it returns the bytes.
//!
//! # Example
//!
//! ```
//! use perfpipe_analyze::{Timeline, View};
//! use perfpipe_ingest::{RunKey, Store};
//! use perfpipe_plot::{Page, Palette, Style, pdf, png};
//! # use perfpipe_ingest::IngestOptions;
//!
//! # let dir = std::env::temp_dir().join(format!("perfpipe-plot-example-{}", std::process::id()));
//! # std::fs::create_dir_all(&dir)?;
//! # let log = dir.join("log.csv");
//! # std::fs::write(&log, "timeStamp,elapsed,success\n1795203738615,10,true\n1795203738700,40,true\n")?;
//! # let folder = dir.join("data");
//! # let options = IngestOptions::default().with_framework("spring").with_test("2048");
//! # let runtime = tokio::runtime::Runtime::new()?;
//! # runtime.block_on(Store::folder(folder.clone())?.ingest(&[log], &options))?;
//! # let charts = dir.as_path();
//! # runtime.block_on(async {
//! // The folder of a store that has the run, such as `perfpipe-data`.
//! let store = Store::folder(folder)?;
//! let run = store.read(&RunKey::new("spring", "2048")).await?;
//! let timeline = Timeline::new(&run, &View::of(&run.info))?;
//!
//! let page = Page::run(&timeline, &Style::default().with_palette(Palette::Viridis));
//! std::fs::write(charts.join("run.svg"), page.svg())?;
//! std::fs::write(charts.join("run.png"), png(&page, 2.0)?)?;
//! std::fs::write(charts.join("run.pdf"), pdf(&[page])?)?;
//! # assert!(std::fs::metadata(charts.join("run.pdf"))?.len() > 1000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # std::fs::remove_dir_all(&dir)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// No input may reach a panic, so nothing is indexed that could be out of bounds.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod charts;
#[cfg(test)]
mod checks;
mod error;
mod figure_size;
mod html;
mod layout;
mod marks;
mod output;
mod pages;
mod palette;
mod style;
mod text;
pub(crate) mod time_columns;

#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;

pub use error::{Error, Result};
pub use figure_size::FigureSize;
pub use html::Figures;
pub use html::one_file::HtmlReport;
pub use html::site::{
    LiveRun, ReportRun, SITE_FILES, SiteIndex, SiteRun, SiteTest, figures_of_script, run_file, run_script,
    site_policy,
};
pub use html::site_test::{SiteTestFiles, site_test};
pub use output::page::Page;
pub use output::pdf::pdf;
pub use output::png::{PNG_SCALES, png};
pub use pages::figure::{LoadFigure, RunFigure, TestFigure};
pub use style::{ColorBy, Palette, Paper, Style, Times};
pub use text::fonts::{FallbackFont, missing_characters};

// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
