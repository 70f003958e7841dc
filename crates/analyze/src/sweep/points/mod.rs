//! Points of load tools and of stored runs: their table, and sweeps of a test by concurrency or by workers.

pub(crate) mod export;
pub(crate) mod level;
pub(crate) mod of_run;
pub(crate) mod outcomes;
pub(crate) mod scalability;
pub(crate) mod seconds;
pub(crate) mod shown;

pub use self::export::point_table;
pub use self::level::{Level, Spread, SweepBy, levels};
pub use self::of_run::point_of_run;
pub use self::outcomes::Outcomes;
pub use self::scalability::{Fitted, Scalability};
pub use self::seconds::point_second_table;
pub use self::shown::level_table;
