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

mod breakdown;
mod check;
mod compare;
mod diagnose;
mod error;
pub mod format;
mod interchange;
mod league;
mod stats;
mod sweep;
mod table;
mod timeline;
mod view;

pub use breakdown::details::Details;
pub use breakdown::error_kinds::{ErrorKind, error_kind_table, error_kinds};
pub use breakdown::heatmap::{HeatColumn, Heatmap};
pub use breakdown::labels::{LabelStats, label_stats, label_table};
pub use breakdown::phase_table::phase_table;
pub use breakdown::records::{cpu_table, error_table};
pub use breakdown::sample_figures::SampleFigures;
pub use check::{Rule, Verdict, check, verdict_table};
pub use compare::{Change, Measured, Noise, Outcome, Side, change_table, compare, compare_sides};
pub use diagnose::{Finding, Kind as FindingKind, diagnose, finding_table};
pub use error::{Error, NoPhaseReason, Result};
pub use interchange::{LabelTimes, jmeter_statistics, percentile_distribution, run_document};
pub use league::repeats::{failing_frameworks, median_repeats};
pub use league::{League, Standing, in_league_order};
pub use stats::histogram::Histogram;
pub use sweep::knee::{Growth, Knee};
pub use sweep::{LoadStep, Sweep};
pub use table::{Column, Datum, Format, Kind, RowWriter, Table, TableBuilder, TableWriter, Value};
pub use timeline::cpu_cost::cpu_scale_in_doubt;
pub use timeline::duration::RunDuration;
pub use timeline::summary::Summary;
pub use timeline::{Second, SecondTables, Timeline};
pub use view::View;
pub use view::goal::{Goal, milliseconds};
pub use view::phases::{Phase, Phases, Span};

// Types of the ingest crate that a [`Timeline`] contains, so that users need not depend on that crate.
pub use perfpipe_ingest::{CpuJoin, RunInfo, RunKey, SourceFile};

// Compiles the examples of this page, and runs those that can be run.
#[cfg(all(doctest, feature = "frames"))]
#[doc = include_str!("../../../docs/reference/library.md")]
mod library_page {}
