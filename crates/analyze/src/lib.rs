//! Exact statistics of a stored run: the per-second table, summaries, league tables, comparisons and findings.
//!
//! Everything is computed from the exact counts that the store keeps for each second, not from the samples. A report
//! takes milliseconds for a run of any size, and its figures are exact. Percentiles are those of PostgreSQL's
//! `percentile_cont`. An absent value is `None`, never zero.
//!
//! # Features
//!
//! `frames` gives tables as polars frames, `parquet` as Parquet files. Both are on by default.

// No input may reach a panic, so nothing is indexed that could be out of bounds.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

pub mod breakdown;
mod check;
mod compare;
mod diagnose;
mod error;
pub mod format;
pub mod interchange;
pub mod league;
mod stats;
pub mod sweep;
pub mod table;
mod timeline;
mod view;

pub use check::{Rule, Verdict, check, verdict_table};
pub use compare::{
    Change, Measure, Measured, Noise, Outcome, Part, Side, change_table, compare, compare_sides,
};
pub use diagnose::{Finding, FindingKind, diagnose, finding_table};
pub use error::{Error, NoPhaseReason, Result};
pub use league::ranking::League;
pub use stats::histogram::Histogram;
pub use sweep::by_load::Sweep;
pub use sweep::knee::Knee;
pub use timeline::cpu_cost::cpu_scale_in_doubt;
pub use timeline::duration::RunDuration;
pub use timeline::summary::Summary;
pub use timeline::{Second, Timeline};
pub use view::View;
pub use view::goal::Goal;
pub use view::phases::{Phase, Phases, Span};

// Compiles the examples of this page, and runs those that can be run.
#[cfg(all(doctest, feature = "frames"))]
#[doc = include_str!("../../../docs/reference/library.md")]
mod library_page {}
