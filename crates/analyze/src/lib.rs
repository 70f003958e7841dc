//! Exact statistics of a stored run: the per-second table, summaries, league tables, comparisons and findings.
//!
//! ```text
//! store ─▶ StoredRun ─┬─▶ Timeline ─┬─▶ Second, Summary ─▶ tables, pages of perfpipe-plot
//!          View ──────┤             └─▶ League
//!                     ├─▶ Sweep ─▶ Knee
//!                     └─▶ diagnose, check, compare ─▶ Finding, Verdict, Change
//! ```
//!
//! A [`StoredRun`](perfpipe_model::StoredRun) has the exact counts that the store keeps for each second, but not the
//! samples. A [`View`] selects seconds and a label, and says which percentiles to compute. Everything else is a function
//! of the two:
//!
//! - [`Timeline`] has a row for every second and a [`Summary`]; [`League`] ranks the timelines of one test.
//! - [`Sweep`] shows a run by load and finds its [`Knee`].
//! - [`Capacity`] finds the highest rate at which objectives of service are kept.
//! - [`diagnose()`] finds what stands out, [`check()`] judges by rules, [`compare()`] distinguishes changes from noise.
//! - [`breakdown`] has labels, failures, response times and phases; [`interchange`] the formats of other tools.
//! - Each result has a [`table::Table`], which is written as text, Markdown, CSV, JSON or Parquet.
//!
//! The figures are exact. Percentiles are those of PostgreSQL's `percentile_cont`. An absent value is `None`, never
//! zero.
//!
//! # Memory
//!
//! A timeline takes about 180 bytes for each second, whatever the number of requests. While it is computed, histograms
//! take up to 512 KiB for every 4,096 seconds, and 17 MiB at most; twice that if requests failed. [`breakdown::SecondTables`] gives the seconds of a
//! long run in pieces.
//!
//! # Threads and blocking
//!
//! All functions compute and return: none is async. A run of minutes takes milliseconds, one of a day about 100 ms, so
//! an async program calls them on a thread for blocking work. [`Timeline::new`], [`breakdown::SecondTables`] and
//! [`Measured::new`] use the threads of rayon's global pool.
//!
//! # Features
//!
//! `frames` gives tables as polars frames, `parquet` as Parquet files. Both are on by default.
//!
//! # Example
//!
//! ```
//! use perfpipe_analyze::{Timeline, View, check};
//! use perfpipe_ingest::{RunKey, Store};
//! # use perfpipe_ingest::IngestOptions;
//!
//! # let dir = tempfile::tempdir()?;
//! # let log = dir.path().join("log.csv");
//! # std::fs::write(
//! #     &log,
//! #     "timeStamp,elapsed,success\n1795203738615,10,true\n1795203738620,10,true\n1795203738700,40,true\n",
//! # )?;
//! # let folder = dir.path().join("data");
//! # let options = IngestOptions::default().with_framework("spring").with_test("2048");
//! # let runtime = tokio::runtime::Runtime::new()?;
//! # runtime.block_on(Store::folder(folder.clone())?.ingest(&[log], &options))?;
//! # runtime.block_on(async {
//! // The folder of a store that has the run, such as `perfpipe-data`.
//! let store = Store::folder(folder)?;
//! let run = store.read(&RunKey::new("spring", "2048")).await?;
//!
//! let view = View::of(&run.info).with_percentiles([50.0, 99.9]);
//! let timeline = Timeline::new(&run, &view)?;
//! assert_eq!((timeline.summary.successes, timeline.summary.elapsed_mean), (3, Some(20.0)));
//! assert_eq!(timeline.seconds[0].percentile(0), Some(10.0));
//!
//! let verdicts = check(&["p95 < 100ms".parse()?], &run, &view, None)?;
//! assert!(verdicts[0].holds);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// No input may reach a panic, so nothing is indexed that could be out of bounds.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

pub mod breakdown;
mod capacity;
mod check;
mod compare;
mod diagnose;
mod error;
mod figures;
pub mod format;
pub mod interchange;
pub mod league;
mod stats;
pub mod sweep;
pub mod table;
mod timeline;
mod view;

/// Sweeps of load tools' points.
pub mod points {
    pub use crate::check::check_points;
    pub use crate::compare::points::{
        PointChange, PointMeasure, PointSide, compare_points, point_change_table,
    };
    pub use crate::league::points::{LevelStanding, level_league, level_league_table};
    pub use crate::sweep::points::{
        Fitted, Level, Outcomes, Scalability, Spread, SweepBy, level_table, levels, point_of_run,
        point_second_table, point_table,
    };
}

pub use capacity::{
    Capacity, CapacityLevel, CapacitySubject, LevelAxis, LevelState, LoadRun, capacity_table,
};
pub use check::{
    Baseline, Comparison, Gate, Objective, Outlook, Rule, RuleFigures, RuleOutcome, Verdict, check,
    verdict_table,
};
pub use compare::{
    Change, Design, Direction, Drift, Forecast, LevelChange, Measure, Measured, Noise, Outcome, PAIR_TAG,
    PairFault, Pairing, Part, Plan, PlanOptions, PlannedFigure, Power, SIDE_TAG, SeriesKey, Side, Trend,
    TrendLevel, Trends, Version, change_notes, change_table, compare, compare_sides, plan_table,
    stopping_levels, trend_table,
};
pub use diagnose::{Figure, Finding, FindingKind, diagnose, finding_table};
pub use error::{Error, NoPhaseReason, Result, is_alike};
pub use figures::RunFigures;
pub use league::ranking::League;
pub use stats::histogram::Histogram;
pub use stats::maybe::MaybeF64;
pub use sweep::by_load::Sweep;
pub use sweep::knee::Knee;
pub use timeline::duration::RunDuration;
pub use timeline::summary::Summary;
pub use timeline::unseen::long_failures::LongFailures;
pub use timeline::unseen::outstanding::Outstanding;
pub use timeline::{Second, SeriesBySecond, Timeline, cpu_scale_in_doubt};
pub use view::phases::{Phase, Phases, Span};
pub use view::{Goal, View};

// Compiles the examples of this page, and runs those that can be run.
#[cfg(all(doctest, feature = "frames"))]
#[doc = include_str!("../../../docs/reference/library.md")]
mod library_page {}
