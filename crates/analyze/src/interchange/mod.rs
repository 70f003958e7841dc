//! A run's figures in the forms that other tools read.

mod document;
mod hgrm;
mod statistics;

pub use document::run_document;
pub use hgrm::percentile_distribution;
pub use statistics::jmeter_statistics;
