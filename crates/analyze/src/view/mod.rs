//! Views of a stored run: all choices that take effect on reading, not on storing.

pub(crate) mod goal;
pub(crate) mod phases;

use perfpipe_ingest::{CpuJoin, RunInfo};

use self::goal::Goal;
use self::phases::Phase;

/// The choices of a reader.
///
/// [`View::of`] returns the view that suits a stored run; [`View::default`] knows of no run.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// The percentiles to compute, in percent, as in 99.9.
    pub percentiles: Vec<f64>,
    /// The first second, inclusive.
    pub from: Option<u32>,
    /// The last second, inclusive.
    pub to: Option<u32>,
    /// Selects only the seconds of this phase of the run.
    pub phase: Option<Phase>,
    /// Selects only samples of this label.
    pub label: Option<String>,
    /// Counts transaction controllers' own records as requests.
    pub transactions: bool,
    /// Includes failures in averages and percentiles.
    pub include_failures: bool,
    /// True if the run was read without its sub-samples (`Store::top_level` of the ingest crate), so that pages and
    /// documents say so. The field itself removes nothing.
    pub top_level: bool,
    /// Goals for response times, computed for each second, for the run and for the league.
    pub goals: Vec<Goal>,
    /// The interval in ms between two requests of one client. If set, the summary has corrected percentiles beside its
    /// own, and the distribution of percentiles is corrected ([`crate::Histogram::corrected`]).
    pub corrected: Option<u32>,
    /// The number of injectors that sent the load, if the log does not distinguish them.
    pub injectors: u32,
    /// How CPU readings are joined to seconds.
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
            top_level: false,
            goals: Vec::new(),
            corrected: None,
            injectors: 1,
            cpu: CpuJoin::default(),
        }
    }
}

impl View {
    /// The key in [`RunInfo::options`] of the number of injectors given at ingest.
    pub const INJECTORS: &str = "injectors";

    /// The key in [`RunInfo::options`] of the scale of the CPU readings, if it was given. Stored readings are in
    /// percent of one core.
    pub const CPU_SCALE: &str = "cpu-scale";

    /// The key in [`RunInfo::options`] of the number of the server's cores, if it was given with the CPU scale.
    pub const CORES: &str = "cores";

    /// Returns the default view of a stored run, with the injectors and the CPU clock that were given when it was
    /// ingested.
    ///
    /// ```
    /// use perfpipe_analyze::View;
    /// use perfpipe_ingest::{RunInfo, RunKey};
    ///
    /// let mut info = RunInfo::new(RunKey::new("go", "2048"), 0, 59_999);
    /// info.cpu_offset = -2;
    /// info.options.insert(View::INJECTORS.into(), "3".into());
    /// let view = View { percentiles: vec![99.0], ..View::of(&info) };
    /// assert_eq!((view.injectors, view.cpu.offset), (3, -2));
    /// ```
    pub fn of(info: &RunInfo) -> Self {
        let injectors = info.options.get(Self::INJECTORS).and_then(|number| number.parse().ok());
        Self {
            injectors: injectors.unwrap_or(1),
            cpu: CpuJoin { offset: info.cpu_offset, lookback: info.cpu_lookback },
            ..Self::default()
        }
    }
}
