//! Views of a stored run: all choices that take effect on reading, not on storing.

pub(crate) mod goal;
pub(crate) mod phases;

use perfpipe_ingest::RunInfo;
use perfpipe_ingest::series::CpuJoin;

use self::goal::Goal;
use self::phases::Phase;

/// The choices of a reader.
///
/// [`View::of`] returns the view that suits a stored run; [`View::default`] knows of no run. The `with_` methods change
/// single choices. Those that take an `Option` also take its value.
///
/// ```
/// use perfpipe_analyze::{Phase, View};
///
/// let view = View::default().with_percentiles([50.0, 99.9]).with_phase(Phase::Hold);
/// assert_eq!((view.percentiles.len(), view.phase), (2, Some(Phase::Hold)));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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
    /// Returns the default view of a stored run, with the injectors and the CPU clock that were given when it was
    /// ingested.
    ///
    /// ```
    /// use perfpipe_analyze::View;
    /// use perfpipe_ingest::{RunInfo, RunKey};
    ///
    /// let mut info = RunInfo::new(RunKey::new("go", "2048"), 0, 59_999);
    /// info.cpu_offset = -2;
    /// info.options.injectors = Some(3);
    /// let view = View::of(&info);
    /// assert_eq!((view.injectors, view.cpu.offset), (3, -2));
    /// ```
    pub fn of(info: &RunInfo) -> Self {
        Self { injectors: info.options.injectors.unwrap_or(1), cpu: CpuJoin::of(info), ..Self::default() }
    }

    /// Sets the percentiles to compute, in percent. One that is given twice is computed once.
    #[must_use]
    pub fn with_percentiles(mut self, percentiles: impl Into<Vec<f64>>) -> Self {
        self.percentiles = percentiles.into();
        self
    }

    /// Sets the first and the last second, inclusive; `None` is the first or the last of the run.
    #[must_use]
    pub fn with_window(mut self, from: impl Into<Option<u32>>, to: impl Into<Option<u32>>) -> Self {
        (self.from, self.to) = (from.into(), to.into());
        self
    }

    /// Sets the phase whose seconds are selected; `None` selects those of all phases.
    #[must_use]
    pub fn with_phase(mut self, phase: impl Into<Option<Phase>>) -> Self {
        self.phase = phase.into();
        self
    }

    /// Sets the label whose samples are selected; `None` selects all labels.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<Option<String>>) -> Self {
        self.label = label.into();
        self
    }

    /// Sets whether transaction controllers' own records count as requests.
    #[must_use]
    pub fn with_transactions(mut self, transactions: bool) -> Self {
        self.transactions = transactions;
        self
    }

    /// Sets whether averages and percentiles include failures.
    #[must_use]
    pub fn with_include_failures(mut self, include_failures: bool) -> Self {
        self.include_failures = include_failures;
        self
    }

    /// Sets whether pages and documents say that the run was read without its sub-samples.
    #[must_use]
    pub fn with_top_level(mut self, top_level: bool) -> Self {
        self.top_level = top_level;
        self
    }

    /// Sets the goals for response times.
    #[must_use]
    pub fn with_goals(mut self, goals: impl Into<Vec<Goal>>) -> Self {
        self.goals = goals.into();
        self
    }

    /// Sets the interval in ms by which percentiles are corrected; `None` corrects nothing.
    #[must_use]
    pub fn with_corrected(mut self, interval: impl Into<Option<u32>>) -> Self {
        self.corrected = interval.into();
        self
    }

    /// Sets the number of injectors that sent the load.
    #[must_use]
    pub fn with_injectors(mut self, injectors: u32) -> Self {
        self.injectors = injectors;
        self
    }

    /// Sets how CPU readings are joined to seconds.
    #[must_use]
    pub fn with_cpu(mut self, cpu: CpuJoin) -> Self {
        self.cpu = cpu;
        self
    }
}
