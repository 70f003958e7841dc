//! Views of a stored run: all choices that take effect on reading, not on storing, with goals for response times.

pub(crate) mod phases;

use std::fmt;

use perfpipe_model::RunInfo;
use perfpipe_model::run::Resolution;
use perfpipe_model::series::CpuJoin;
use serde::{Deserialize, Serialize};

use self::phases::Phase;
use crate::error::Result;
use crate::format::milliseconds;
use crate::table::TableBuilder;

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

/// A goal for response times.
///
/// Its figure is over all requests: a failed request was not served, however fast it failed, and does not meet a goal.
///
/// ```
/// use perfpipe_analyze::Goal;
///
/// let goal = Goal::within("1.5s")?;
/// assert_eq!((goal, goal.column().as_str()), (Goal::Within(1500), "within_1500ms_percent"));
/// assert_eq!(Goal::apdex("500ms")?.column(), "apdex_500ms");
/// assert!(Goal::within("fast").is_err());
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Goal {
    /// The percentage of all requests that succeeded within this many ms.
    Within(u32),
    /// The Apdex for this T in ms (Apdex Technical Specification 1.1): (satisfied + tolerating ÷ 2) ÷ requests, from
    /// zero to one. Successes up to T are satisfied, those up to 4 T tolerating; all others, and failures, are frustrated.
    Apdex(u32),
}

/// Counts of requests that meet some goals.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    requests: u64,
    /// For each goal, twice the number of requests that meet it; those that meet it by half count once.
    halves: Vec<u64>,
}

impl Goal {
    /// Parses a goal of success within a time, as in `200ms` or `1.5s`.
    ///
    /// # Errors
    /// [`Error::Time`](crate::Error::Time) if the time is not a whole number of milliseconds.
    pub fn within(time: &str) -> Result<Self> {
        Ok(Self::Within(milliseconds(time)?))
    }

    /// Parses a goal of Apdex with a T, as in `500ms` or `0.5s`.
    ///
    /// # Errors
    /// [`Error::Time`](crate::Error::Time) if the time is not a whole number of milliseconds.
    pub fn apdex(time: &str) -> Result<Self> {
        Ok(Self::Apdex(milliseconds(time)?))
    }

    /// Returns the name of the goal's column: `within_200ms_percent`, `apdex_500ms`.
    pub fn column(self) -> String {
        match self {
            Self::Within(ms) => format!("within_{ms}ms_percent"),
            Self::Apdex(ms) => format!("apdex_{ms}ms"),
        }
    }

    /// Adds the goal's column to a table.
    pub(crate) fn add_to<'a, R>(
        self,
        table: TableBuilder<'a, R>,
        value: impl FnMut(&R) -> Option<f64>,
    ) -> TableBuilder<'a, R> {
        let unit = if matches!(self, Self::Within(_)) { "%" } else { "" };
        table.column(self.column(), value).title(&self.to_string()).unit(unit, 2)
    }

    /// Counts successes with these elapsed times in a unit, which are in ascending order: twice for those that meet the goal,
    /// once for those that do by half.
    fn halves(self, unit: Resolution, elapsed: &[(i32, u64)]) -> u64 {
        let upto = |limit_ms: u64| -> u64 {
            let limit = limit_ms.saturating_mul(unit.per_ms().into());
            let fast = elapsed.iter().take_while(|(time, _)| u64::try_from(*time).unwrap_or(0) <= limit);
            fast.fold(0, |sum, (_, samples)| sum.saturating_add(*samples))
        };
        match self {
            Self::Within(ms) => upto(ms.into()).saturating_mul(2),
            Self::Apdex(ms) => upto(ms.into()).saturating_add(upto(4 * u64::from(ms))),
        }
    }
}

impl Kept {
    /// Adds requests; `elapsed` has the times of successful ones, in a unit.
    pub(crate) fn add(
        &mut self,
        goals: &[Goal],
        unit: Resolution,
        requests: u64,
        elapsed: Option<&[(i32, u64)]>,
    ) {
        self.requests = self.requests.saturating_add(requests);
        self.halves.resize(goals.len(), 0);
        for (sum, goal) in self.halves.iter_mut().zip(goals) {
            *sum = sum.saturating_add(elapsed.map_or(0, |elapsed| goal.halves(unit, elapsed)));
        }
    }

    /// Adds counts of the same goals.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.halves.resize(self.halves.len().max(other.halves.len()), 0);
        for (sum, more) in self.halves.iter_mut().zip(&other.halves) {
            *sum = sum.saturating_add(*more);
        }
    }

    /// Returns the figure of each goal; `None` without requests.
    pub(crate) fn values(&self, goals: &[Goal]) -> Vec<Option<f64>> {
        let value = |at: usize, goal: &Goal| {
            let share = *self.halves.get(at)? as f64 / (2.0 * self.requests as f64);
            Some(if matches!(goal, Goal::Within(_)) { share * 100.0 } else { share })
        };
        let known = |(at, goal)| value(at, goal).filter(|_| self.requests > 0);
        goals.iter().enumerate().map(known).collect()
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Within(ms) => write!(f, "within {ms} ms"),
            Self::Apdex(ms) => write!(f, "Apdex {ms} ms"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The example in the specification: 100 samples at T = 3 s, 60 satisfied, 30 tolerating, 10 frustrated.
    #[test]
    fn apdex_is_that_of_its_specification() {
        let goals = [Goal::Apdex(3000), Goal::Within(3000), Goal::Within(12_000)];
        let mut kept = Kept::default();
        kept.add(
            &goals,
            Resolution::default(),
            95,
            Some(&[(1000, 50), (3000, 10), (3001, 29), (12_000, 1), (12_001, 5)]),
        );
        kept.add(&goals, Resolution::default(), 5, None);
        assert_eq!(kept.values(&goals), [Some(0.75), Some(60.0), Some(90.0)]);
        assert_eq!(Kept::default().values(&goals), [None; 3]);
    }

    proptest! {
        #[test]
        fn parts_add_up_to_the_whole(
            requests in prop::collection::vec((0..4000i32, any::<bool>()), 1..80), ms in 1..1000u32, cut in 0..80usize,
        ) {
            let goals = [Goal::Within(ms), Goal::Apdex(ms)];
            let of = |requests: &[(i32, bool)]| {
                let mut kept = Kept::default();
                for (elapsed, success) in requests {
                    kept.add(&goals, Resolution::default(), 1, success.then_some(&[(*elapsed, 1)][..]));
                }
                kept
            };
            let cut = cut.min(requests.len());
            let mut parts = of(&requests[..cut]);
            parts.merge(&of(&requests[cut..]));
            prop_assert_eq!(parts.values(&goals), of(&requests).values(&goals));
            let share = |limit: u32| {
                requests.iter().filter(|(elapsed, success)| *success && *elapsed as u32 <= limit).count() as f64
                    / requests.len() as f64
            };
            let found = parts.values(&goals);
            prop_assert!((found[0].unwrap() - share(ms) * 100.0).abs() < 1e-9);
            prop_assert!((found[1].unwrap() - (share(ms) + share(4 * ms)) / 2.0).abs() < 1e-9);
        }
    }
}
