//! The summary of one run of a load tool: a point of a sweep.

pub(crate) mod bounds;
mod exact;
pub(crate) mod figures;
pub(crate) mod key;
pub(crate) mod latency;
pub(crate) mod readings;
pub(crate) mod second;

use serde::{Deserialize, Serialize};

pub use self::bounds::Bounds;
pub use self::figures::Figures;
pub use self::key::PointKey;
pub use self::latency::{Latencies, LatencySource, Percentile};
pub use self::readings::Readings;
pub use self::second::PointSecond;

/// The summary of one run of a load tool, and its key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Point {
    /// Which point it is. A later point of the same key replaces it.
    pub key: PointKey,
    /// The figures that the tool reported.
    pub figures: Figures,
}

impl Point {
    /// Joins a key and figures.
    pub fn new(key: PointKey, figures: Figures) -> Self {
        Self { key, figures }
    }
}
