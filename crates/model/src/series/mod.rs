//! Time series of the server: CPU readings and their unit, and others by name.

pub mod clock_guess;
pub mod cpu;
pub mod server;

pub use self::cpu::{CpuChoice, CpuJoin, TimeSeries};
pub use self::server::{SeriesFile, ServerSeries};
pub use crate::run::options::CpuScale;
