//! Exact statistics of a stored run: the per-second table, summaries and league tables.
//!
//! Everything is computed from the exact counts that the store keeps of each second, never from the
//! samples themselves: a report takes milliseconds for a run of any size, and what it says is exact.
//! Percentiles are Postgres's `percentile_cont`. What is absent is `None`, never zero.

// No input may reach a panic, so nothing is indexed that could be out of bounds.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod breakdown;
mod check;
mod compare;
mod diagnose;
mod error;
mod interchange;
mod league;
mod stats;
mod sweep;
mod table;
mod timeline;
mod view;

pub use crate::breakdown::damage::{damage_read, damage_sentence};
pub use crate::breakdown::details::Details;
pub use crate::breakdown::error_kinds::{ErrorKind, error_kind_table, error_kinds};
pub use crate::breakdown::heatmap::{HeatColumn, Heatmap};
pub use crate::breakdown::labels::{LabelStats, label_stats, label_table};
pub use crate::breakdown::phase_table::phase_table;
pub use crate::breakdown::records::{cpu_table, error_table};
pub use crate::breakdown::sample_figures::SampleFigures;
pub use crate::check::{Rule, Verdict, check, verdict_table};
pub use crate::compare::{Change, Measured, Noise, Outcome, Side, change_table, compare, compare_sides};
pub use crate::diagnose::{Finding, Kind as FindingKind, diagnose, finding_table};
pub use crate::error::{Error, Result};
pub use crate::interchange::{LabelTimes, jmeter_statistics, percentile_distribution, run_document};
pub use crate::league::repeats::{failing_frameworks, median_repeats};
pub use crate::league::{League, Standing};
pub use crate::stats::curve::percentile_curve;
pub use crate::stats::histogram::Histogram;
pub use crate::sweep::knee::{Growth, Knee};
pub use crate::sweep::{LoadStep, Sweep};
pub use crate::table::{
    Column, Datum, Format, Kind, RowWriter, Table, TableBuilder, TableWriter, Value, one_line, thousands,
};
pub use crate::timeline::cpu_cost::cpu_scale_in_doubt;
pub use crate::timeline::duration::RunDuration;
pub use crate::timeline::goal::{Goal, milliseconds};
pub use crate::timeline::phases::{Phase, Phases, Span};
pub use crate::timeline::summary::Summary;
pub use crate::timeline::{Second, SecondTables, Timeline};
pub use crate::view::View;

// What a [`Timeline`] holds of the ingesting crate, so that its users need not depend on that one.
pub use perfpipe_ingest::{CpuJoin, RunInfo, RunKey, SourceFile};
