//! A run's figures in formats that other tools read: JSON with a schema, JMeter's `statistics.json`, and HdrHistogram's
//! `.hgrm`.

mod document;
mod hgrm;
mod label_times;
mod metrics;
mod statistics;

pub use self::document::run_document;
pub use self::hgrm::percentile_distribution;
pub use self::label_times::LabelTimes;
pub use self::metrics::{line_protocol, open_metrics};
pub use self::statistics::jmeter_statistics;
