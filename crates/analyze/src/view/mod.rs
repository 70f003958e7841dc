//! How a stored run is looked at: every choice that acts when reading, never when storing.

pub(crate) mod goal;
pub(crate) mod phases;

use perfpipe_ingest::{CpuJoin, RunInfo};

use self::goal::Goal;
use self::phases::Phase;

/// The reader's choices.
///
/// [`View::of`] is that of a stored run; [`View::default`] knows nothing of any.
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
    /// Whether the run was read without its sub-samples (`Store::top_level` of the ingesting crate), so that pages and
    /// documents say so. It takes none out itself.
    pub top_level: bool,
    /// Goals for response times: how well they are kept is told of each second, of the run and in the league.
    pub goals: Vec<Goal>,
    /// The time that a client was to leave between two requests, in ms: the summary then has percentiles corrected by it
    /// beside its own, and the distribution of percentiles is corrected ([`crate::Histogram::corrected`]).
    pub corrected: Option<u32>,
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
            top_level: false,
            goals: Vec::new(),
            corrected: None,
            injectors: 1,
            cpu: CpuJoin::default(),
        }
    }
}

impl View {
    /// The option of a run ([`RunInfo::options`]) under which its ingest notes how many injectors sent the load.
    pub const INJECTORS: &str = "injectors";

    /// The option of a run under which it is noted what its CPU readings were measured in, where that was told. Stored
    /// are percent of one core.
    pub const CPU_SCALE: &str = "cpu-scale";

    /// The option of a run under which its server's cores are noted, where they were told with its CPU scale.
    pub const CORES: &str = "cores";

    /// The view of a stored run that nothing is said about: what was told when it was ingested, its injectors and its CPU
    /// clock, holds for it.
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
