//! Interpretation of flags: stores, runs, views, and flags without effect.

pub(crate) mod cpu_scale;
pub(crate) mod idle_flags;
pub(crate) mod left_out;
pub(crate) mod ports;
pub(crate) mod rules;
pub(crate) mod runs;
pub(crate) mod store;
pub(crate) mod view;
