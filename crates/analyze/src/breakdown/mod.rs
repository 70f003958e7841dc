//! A run broken down: by second, label, kind of failure, response time, phase, and by fields that only its samples have.
//!
//! A function that ends in `_table` returns a [`Table`](crate::table::Table), ready to be written. [`Details`] has all
//! that a report shows of a run beside its seconds.

pub(crate) mod details;
pub(crate) mod error_kinds;
pub(crate) mod heatmap;
pub(crate) mod labels;
pub(crate) mod network;
pub(crate) mod over_time;
pub(crate) mod samples;
pub(crate) mod tables;

pub use self::details::Details;
pub use self::error_kinds::{ErrorKind, error_kind_table, error_kinds};
pub use self::heatmap::{HeatColumn, Heatmap};
pub use self::labels::{LabelStats, label_stats, label_table};
pub use self::network::{Network, NetworkOverTime};
pub use self::over_time::{FailuresOverTime, LabelOverTime, OverTime};
pub use self::samples::SampleFigures;
pub use self::tables::{SecondTables, cpu_table, error_table, phase_table, series_table};
pub use crate::stats::distribution::Distribution;
