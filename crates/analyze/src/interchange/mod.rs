//! A run's figures in the forms that other tools read.

mod document;
mod hgrm;
mod label_times;
mod statistics;

pub use document::run_document;
pub use hgrm::percentile_distribution;
pub use label_times::LabelTimes;
pub use statistics::jmeter_statistics;
