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
pub(crate) mod phase_table;
mod records;
mod sample_figures;
pub(crate) mod sample_filter;
mod second_tables;

pub use self::details::Details;
pub use self::error_kinds::{ErrorKind, error_kind_table, error_kinds};
pub use self::heatmap::{HeatColumn, Heatmap};
pub use self::labels::{LabelStats, label_stats, label_table};
pub use self::network::{Network, NetworkOverTime};
pub use self::over_time::{FailuresOverTime, LabelOverTime, OverTime};
pub use self::phase_table::phase_table;
pub use self::records::{cpu_table, error_table, series_table};
pub use self::sample_figures::SampleFigures;
pub use self::second_tables::SecondTables;
pub use crate::stats::distribution::Distribution;
