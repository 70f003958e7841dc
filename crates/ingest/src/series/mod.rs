//! Time series of the server: CPU readings and their unit.

pub(crate) mod clock_guess;
pub(crate) mod cpu;
pub(crate) mod scale;

pub use self::cpu::{CpuChoice, CpuJoin, CpuSeries};
pub use crate::run::options::cpu_scale::CpuScale;
