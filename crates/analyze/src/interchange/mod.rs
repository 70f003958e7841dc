//! Export of a run's figures in formats that other tools read.

mod document;
mod hgrm;
mod label_times;
mod statistics;

pub use self::document::run_document;
pub use self::hgrm::percentile_distribution;
pub use self::label_times::LabelTimes;
pub use self::statistics::jmeter_statistics;
