//! Capacity: the highest rate at which a system keeps objectives of service, from the levels of a sweep or of a stepped
//! run.

mod estimate;
mod levels;
mod load_run;
mod of_point;
mod steps;
mod table;

use perfpipe_model::points::Point;

use crate::check::Objective;
use crate::error::{Error, Result};

pub use self::levels::{CapacityLevel, LevelState};
pub use self::load_run::{LevelAxis, LoadRun};
pub use self::table::capacity_table;

/// The share of intervals that miss the true capacity.
const MISSED: f64 = 0.05;

/// The capacity of a system under objectives of service: the throughput at the highest load that keeps all of them.
///
/// A level meets the objectives if it and all lower levels whose outcome is known do. The estimate lies between the last
/// level that meets them and the first that does not: a monotone (isotonic) regression of the share of requests that are
/// served well, by the pool-adjacent-violators algorithm (Ayer and others, "An empirical distribution function for sampling
/// with incomplete information", 1955), and the crossing of the required share on a straight line between the two.
///
/// The interval assumes nothing of what is between two levels but that the share never grows with the load. So it reaches
/// from the rate of a level that meets the objectives for sure, as all below it do, to that of a level that fails for
/// sure, as all above it do; *for sure* means by the 95 % limits of its share ([noise](crate::compare_sides) of its repeats
/// or of its seconds).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Capacity {
    /// The system under test.
    pub framework: String,
    /// The load tool.
    pub tool: String,
    /// The label whose requests are counted; `None` for all.
    pub label: Option<String>,
    /// What the levels differ by.
    pub axis: LevelAxis,
    /// The objectives, as they were written.
    pub objectives: Vec<String>,
    /// The levels, in ascending order.
    pub levels: Vec<CapacityLevel>,
    /// The index of the highest level that meets the objectives.
    pub met: Option<usize>,
    /// The index of the lowest level that does not.
    pub failed: Option<usize>,
    /// The estimated capacity, in successes per second; `None` unless a level meets the objectives and a higher one does
    /// not.
    pub estimate: Option<f64>,
    /// The lower end of the 95 % interval, in successes per second; `None` if no level meets the objectives for sure.
    pub low: Option<f64>,
    /// The upper end of the 95 % interval, in successes per second; `None` if the highest level does not fail for sure.
    pub high: Option<f64>,
}

/// What is measured together: a system under test, by one load tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CapacitySubject {
    /// The system under test.
    pub framework: String,
    /// The load tool.
    pub tool: String,
    /// The label whose requests the runs were counted for; `None` for all.
    pub label: Option<String>,
}

impl CapacitySubject {
    /// Names what is measured.
    pub fn new(framework: impl Into<String>, tool: impl Into<String>) -> Self {
        Self { framework: framework.into(), tool: tool.into(), label: None }
    }

    /// Sets the label.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<Option<String>>) -> Self {
        self.label = label.into();
        self
    }
}

impl Capacity {
    /// Finds the capacity from the runs and the points of one system under test. The runs must have been counted for these
    /// objectives.
    ///
    /// Without an axis, levels differ by concurrency if the load of each run is a plan and differs, else by the rate of the
    /// requests. Points always differ by concurrency.
    ///
    /// ```
    /// use perfpipe_analyze::{Capacity, CapacitySubject, LoadRun, Objective, View};
    /// use perfpipe_ingest::counts::{Cell, CellKey, CellTable, InjectorLoad};
    /// use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
    ///
    /// // A minute with 10 threads and one with 20, in which 0 and 5 of 100 requests a second take 300 ms.
    /// let key = |second| CellKey { second, label: 0, success: true, transaction: false };
    /// let cell = |second: u32| {
    ///     let (threads, slow) = if second < 60 { (10, 0) } else { (20, 5) };
    ///     let load = InjectorLoad { injector: 0, samples: 100, threads: 100 * threads };
    ///     Cell { elapsed: vec![(50, 100 - slow), (300, slow)], injectors: vec![load], ..Cell::default() }
    /// };
    /// let cells = CellTable::new(vec!["Get".into()], vec![String::new()], (0..120).map(|at| (key(at), cell(at))));
    /// let run = StoredRun::new(RunInfo::new(RunKey::new("go", "steps"), 0, 119_999), cells);
    ///
    /// let objectives: [Objective; 1] = ["within 200ms >= 99%".parse()?];
    /// let runs = [LoadRun::new(&run, &View::of(&run.info), &objectives)?];
    /// let found = Capacity::of(CapacitySubject::new("go", "jmeter"), &runs, &[], &objectives, None);
    /// let levels: Vec<f64> = found.levels.iter().map(|level| level.level).collect();
    /// assert_eq!((levels, found.met, found.failed), (vec![10.0, 20.0], Some(0), Some(1)));
    /// # Ok::<(), perfpipe_analyze::Error>(())
    /// ```
    pub fn of(
        subject: CapacitySubject,
        runs: &[LoadRun],
        points: &[Point],
        objectives: &[Objective],
        axis: Option<LevelAxis>,
    ) -> Self {
        let axis = axis.unwrap_or_else(|| levels::natural_axis(runs, points));
        let mut levels = levels::of(runs, points, objectives, axis);
        let found = estimate::bracket(&mut levels, objectives);
        Self {
            framework: subject.framework,
            tool: subject.tool,
            label: subject.label,
            axis,
            objectives: objectives.iter().map(Objective::to_string).collect(),
            levels: levels.into_iter().map(|level| level.row).collect(),
            met: found.met,
            failed: found.failed,
            estimate: found.estimate,
            low: found.low,
            high: found.high,
        }
    }

    /// Returns true if no level could be judged.
    pub fn is_unknown(&self) -> bool {
        self.met.is_none() && self.failed.is_none()
    }

    /// Checks that a level could be judged.
    ///
    /// # Errors
    /// [`Error::NoLevel`] if none could.
    pub fn require_known(&self) -> Result<()> {
        if !self.is_unknown() {
            return Ok(());
        }
        let why = self.levels.iter().find_map(|level| level.why.clone());
        let of = match &self.label {
            Some(label) => format!("{} ({label})", self.framework),
            None => self.framework.clone(),
        };
        Err(Error::NoLevel { of, because: why.unwrap_or_else(|| "the load is held nowhere".to_owned()) })
    }

    /// Describes the capacity, as in `within 200ms >= 99% holds up to about 352/s (95 %: 300 to 395)`, with the levels on
    /// either side.
    pub fn sentence(&self) -> String {
        let objectives = self.objectives.join(" and ");
        let level = |at: usize| {
            let level = self.levels.get(at)?;
            let rate =
                level.throughput.map_or("an unknown rate".to_owned(), |rate| format!("{}/s", figures(rate)));
            Some(match self.axis {
                LevelAxis::Concurrency => format!("level {} ({rate})", figures(level.level)),
                LevelAxis::Rate => format!("level {rate}"),
            })
        };
        let (met, failed) = (self.met.and_then(level), self.failed.and_then(level));
        let interval = match (self.low, self.high) {
            (Some(low), Some(high)) => format!(" (95 %: {} to {})", figures(low), figures(high)),
            (Some(low), None) => format!(" (95 %: at least {})", figures(low)),
            (None, Some(high)) => format!(" (95 %: at most {})", figures(high)),
            (None, None) => String::new(),
        };
        let unknown = self.levels.iter().filter(|level| level.state == LevelState::Unknown).count();
        let unknown = match unknown {
            0 => String::new(),
            1 => "; 1 level is unknown".to_owned(),
            several => format!("; {several} levels are unknown"),
        };
        let rate = |at: Option<usize>| {
            let rate = at.and_then(|at| self.levels.get(at)?.throughput);
            rate.map_or("an unknown rate".to_owned(), |rate| format!("{}/s", figures(rate)))
        };
        match (met, failed, self.estimate) {
            (Some(met), Some(failed), Some(estimate)) => format!(
                "{objectives} holds up to about {}/s{interval}: {met} meets it, {failed} does not{unknown}",
                figures(estimate)
            ),
            (Some(met), Some(failed), None) => {
                format!("{objectives} holds at {met}, and not at {failed}{unknown}")
            }
            (Some(_), None, _) => {
                let beyond = if self.is_bounded() { "" } else { ": no load beyond it was measured" };
                format!("{objectives} holds at {} at least{interval}{beyond}{unknown}", rate(self.met))
            }
            (None, Some(failed), _) => {
                format!(
                    "{objectives} holds below {} only, if at all{interval}: {failed}, the lowest, does not meet it{unknown}",
                    rate(self.failed)
                )
            }
            (None, None, _) => format!("no level shows whether {objectives} holds{unknown}"),
        }
    }

    /// Returns true if a level beyond the highest that meets the objectives was measured.
    fn is_bounded(&self) -> bool {
        self.met.is_some_and(|met| met + 1 < self.levels.len())
    }
}

/// Prints a number with about four figures.
fn figures(value: f64) -> String {
    let digits = match value.abs() {
        ..10.0 => 2,
        ..1000.0 => 1,
        _ => 0,
    };
    let shown = crate::format::decimals(value, digits);
    if shown.contains('.') { shown.trim_end_matches('0').trim_end_matches('.').to_owned() } else { shown }
}
