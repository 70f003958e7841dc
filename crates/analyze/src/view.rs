//! How a stored run is looked at: every choice that acts when reading, never when storing.

use perfpipe_ingest::CpuJoin;

use crate::phases::Phase;

/// The reader's choices.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// Percentiles to compute, in percent, as in 99.9.
    pub percentiles: Vec<f64>,
    /// First second, inclusive.
    pub from: Option<u32>,
    /// Last second, inclusive.
    pub to: Option<u32>,
    /// Only the seconds of this phase of the run.
    pub phase: Option<Phase>,
    /// Only samples of this label.
    pub label: Option<String>,
    /// Count transaction controllers' own records as requests.
    pub transactions: bool,
    /// Take averages and percentiles over failures too.
    pub include_failures: bool,
    /// How many injectors sent the load, where the log can't tell them apart.
    pub injectors: u32,
    /// How CPU readings find their seconds.
    pub cpu: CpuJoin,
}

impl Default for View {
    fn default() -> Self {
        Self {
            percentiles: vec![25.0, 50.0, 75.0, 95.0],
            from: None,
            to: None,
            phase: None,
            label: None,
            transactions: false,
            include_failures: false,
            injectors: 1,
            cpu: CpuJoin::default(),
        }
    }
}
