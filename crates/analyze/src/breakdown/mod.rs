//! Breakdowns of a run: by label, error, response time and phase.

pub(crate) mod details;
pub(crate) mod error_kinds;
pub(crate) mod heatmap;
pub(crate) mod labels;
pub(crate) mod phase_table;
pub(crate) mod records;
pub(crate) mod sample_figures;
pub(crate) mod sample_filter;
