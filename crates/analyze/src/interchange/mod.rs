//! A run's figures in formats that other tools read: JSON with a schema, JMeter's `statistics.json`, HdrHistogram's `.hgrm`,
//! k6's summary, OpenMetrics, and what services read that follow figures over time.

mod document;
mod hgrm;
mod k6;
mod label_times;
mod metrics;
mod statistics;
mod trackers;

pub use self::document::run_document;
pub use self::hgrm::percentile_distribution;
pub use self::k6::{k6_summary, k6_view};
pub use self::label_times::LabelTimes;
pub use self::metrics::{line_protocol, open_metrics};
pub use self::statistics::jmeter_statistics;
pub use self::trackers::{TrackedRun, bencher_metrics, bigger_is_better, otava_csv, smaller_is_better};
