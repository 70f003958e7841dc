//! Time series of the server: CPU readings and their unit.

pub(crate) mod cpu;
pub(crate) mod scale;
