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

/// Widths of columns in seconds that people count in. Pages gather columns into wider ones of these.
const WIDTHS: [u32; 17] = [1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 300, 600, 900, 1800, 3600, 7200, 14_400];

/// Returns the round width of columns that are at least so many seconds.
fn round_width(least: u32) -> u32 {
    WIDTHS.into_iter().find(|width| *width >= least).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_long_runs_are_round_and_many() {
        for (hours, width) in [(1, 2), (2, 5), (4, 10), (8, 20), (12, 30), (16, 60), (24, 60), (48, 120)] {
            assert_eq!(round_width((hours * 3600_u32).div_ceil(1800)), width, "{hours} h");
        }
        assert_eq!((round_width(1), round_width(1_000_000)), (1, 1_000_000));
    }
}
