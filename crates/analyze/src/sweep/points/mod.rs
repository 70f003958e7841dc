//! Points of load tools and of stored runs: their table, and sweeps of a test by concurrency or by workers.

pub(crate) mod level;
pub(crate) mod of_run;
pub(crate) mod scalability;
pub(crate) mod tables;

pub use self::level::{Level, Outcomes, Spread, SweepBy, levels};
pub use self::of_run::point_of_run;
pub use self::scalability::{Fitted, Scalability};
pub use self::tables::{level_table, point_second_table, point_table};
