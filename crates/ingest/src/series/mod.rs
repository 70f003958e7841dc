//! Readings of the server by time: the CPU series, its scale, and the exports it is read from.

pub(crate) mod cpu;
pub(crate) mod scale;
