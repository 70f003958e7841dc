//! Exact statistics of a stored run: the per-second table, summaries and league tables.
//!
//! Everything is computed from the exact counts that the store keeps of each second, never from the
//! samples themselves: a report takes milliseconds for a run of any size, and what it says is exact.
//! Percentiles are Postgres's `percentile_cont`. What is absent is `None`, never zero.

// No input may reach a panic, so nothing is indexed that could be out of bounds.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod apart;
mod check;
mod compare;
mod cpu_cost;
mod damage;
mod details;
mod diagnose;
mod duration;
mod error;
mod error_kinds;
mod goal;
mod heatmap;
mod histogram;
mod interchange;
mod knee;
mod labels;
mod league;
mod level;
mod load;
mod merge;
mod percentile;
mod percentile_curve;
mod phase_table;
mod phases;
mod rank;
mod records;
mod repeats;
mod sample_figures;
mod sample_filter;
mod second;
mod seconds;
mod selection;
mod stretch;
mod student;
mod summary;
mod sweep;
mod table;
mod timeline;
mod view;

pub use check::{Rule, Verdict, check, verdict_table};
pub use compare::{Change, Measured, Noise, Outcome, Side, change_table, compare, compare_sides};
pub use cpu_cost::cpu_scale_in_doubt;
pub use damage::{damage_read, damage_sentence};
pub use details::Details;
pub use diagnose::{Finding, Kind as FindingKind, diagnose, finding_table};
pub use duration::RunDuration;
pub use error::{Error, Result};
pub use error_kinds::{ErrorKind, error_kind_table, error_kinds};
pub use goal::{Goal, milliseconds};
pub use heatmap::{HeatColumn, Heatmap};
pub use histogram::Histogram;
pub use interchange::{LabelTimes, jmeter_statistics, percentile_distribution, run_document};
pub use knee::{Growth, Knee};
pub use labels::{LabelStats, label_stats, label_table};
pub use league::{League, Standing};
pub use percentile_curve::percentile_curve;
pub use phase_table::phase_table;
pub use phases::{Phase, Phases, Span};
pub use records::{cpu_table, error_table};
pub use repeats::{failing_frameworks, median_repeats};
pub use sample_figures::SampleFigures;
pub use summary::Summary;
pub use sweep::{LoadStep, Sweep};
pub use table::{
    Column, Datum, Format, Kind, RowWriter, Table, TableBuilder, TableWriter, Value, one_line, thousands,
};
pub use timeline::{Second, SecondTables, Timeline};
pub use view::View;

// What a [`Timeline`] holds of the ingesting crate, so that its users need not depend on that one.
pub use perfpipe_ingest::{CpuJoin, RunInfo, RunKey, SourceFile};
