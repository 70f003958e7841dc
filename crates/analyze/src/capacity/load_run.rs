//! The seconds of a run as objectives see them, and the levels of its load.

use std::ops::Range;

use perfpipe_model::{RunInfo, StoredRun};

use super::steps::{LevelStretch, Stepped, level_stretches};
use crate::check::Objective;
use crate::compare::level::{CountedRequests, LevelSeconds};
use crate::diagnose::queue_grows;
use crate::error::Result;
use crate::timeline::duration::RunDuration;
use crate::timeline::load::turns;
use crate::timeline::selection::Selection;
use crate::timeline::{Second, TimelineFigures};
use crate::view::View;
use crate::view::phases::Span;

/// The least number of whole seconds of a level: 30 s, which may begin and end within a second.
pub(super) const LEAST_SECONDS: f64 = 29.0;
/// The times below that of an objective that show how slow requests come together: each is this times the one above it.
const FINER: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// The number of those times.
const TIMES: usize = 14;
/// The least share, and the least number, of the requests beyond such a time that show it.
const SLOWER: (f64, f64) = (0.03, 30.0);
/// The greatest share: of requests that are nearly all beyond a time, it shows nothing.
const MOST_SLOWER: f64 = 0.5;

/// What the levels of a sweep differ by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LevelAxis {
    /// The load: active threads, connections or users, as of clients that wait for their answers (a closed loop).
    Concurrency,
    /// The requests by second, as of clients that send them whether or not earlier ones were answered (an open loop).
    Rate,
}

impl LevelAxis {
    /// Returns the name used in output: `concurrency` or `rate`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Concurrency => "concurrency",
            Self::Rate => "rate",
        }
    }

    fn stepped(self) -> Stepped {
        match self {
            Self::Concurrency => Stepped::Load,
            Self::Rate => Stepped::Requests,
        }
    }

    /// Returns by how much two levels differ at least, as a share.
    pub(super) fn least_change(self) -> f64 {
        self.stepped().least_change()
    }
}

/// The seconds of a run, counted for objectives.
///
/// Takes 300 bytes for each second and objective, whatever the number of requests.
#[derive(Debug, Clone)]
pub struct LoadRun {
    info: RunInfo,
    /// The whole seconds of the view, with the means of all requests, failures included.
    seconds: Vec<Second>,
    /// The requests of the view's label in each second: all, and those that succeeded.
    counted: Vec<(f64, f64)>,
    /// For each second and objective, the requests outside of it, and those beyond each of the times below it.
    outside: Vec<Vec<[f64; TIMES + 1]>>,
    /// The seconds in which the load is held, by their index.
    hold: Option<Range<usize>>,
}

/// A level of one run.
#[derive(Debug, Clone)]
pub(super) struct RunLevel {
    /// The load in threads, or the requests by second, of all labels.
    pub(super) level: f64,
    /// How long it was held, in whole seconds, transitions included.
    pub(super) held: f64,
    /// The successes of each second.
    pub(super) rates: Vec<f64>,
    /// For each objective, the seconds with what is outside of it.
    pub(super) seconds: Vec<LevelSeconds>,
    pub(super) queue_grows: bool,
}

impl LoadRun {
    /// Counts the seconds of a run. Of the view, the seconds, the label, transactions and the number of injectors matter.
    ///
    /// # Errors
    /// The same errors as [`crate::Timeline::new`].
    pub fn new(run: &StoredRun, view: &View, objectives: &[Objective]) -> Result<Self> {
        let plain = View { percentiles: Vec::new(), goals: Vec::new(), corrected: None, ..view.clone() };
        let all = View { label: None, include_failures: true, ..plain.clone() };
        let TimelineFigures { mut rows, phases, window, .. } = TimelineFigures::new(run, &all, Some)?;
        // Statements on single seconds are about whole ones.
        let cut = RunDuration::of(&run.info, &plain).cut();
        rows.retain(|row| Some(row.second) != cut);
        let selection = Selection::new(run, &plain)?;
        let unit = run.info.resolution;
        let mut counted = vec![(0.0, 0.0); rows.len()];
        let mut outside = vec![vec![[0.0; TIMES + 1]; rows.len()]; objectives.len()];
        for second in selection.seconds_of(selection.whole()) {
            let (second, cells) = second?;
            let at = second.saturating_sub(window.first) as usize;
            let Some(counts) = counted.get_mut(at) else { continue };
            for (key, cell) in cells.iter().filter(|(key, _)| selection.is_counted(key)) {
                let requests: f64 = cell.elapsed.iter().map(|(_, samples)| *samples as f64).sum();
                counts.0 += requests;
                counts.1 += if key.success { requests } else { 0.0 };
                for (objective, outside) in objectives.iter().zip(&mut outside) {
                    let Some(outside) = outside.get_mut(at) else { continue };
                    let served = if key.success { objective.served(unit, &cell.elapsed) } else { 0.0 };
                    let mut times = objective.slow_ms();
                    for (place, outside) in outside.iter_mut().enumerate() {
                        let beyond = match times.filter(|_| place > 0) {
                            None => requests - served,
                            Some(ms) if key.success => {
                                let is_beyond = |(time, _): &&(i32, u64)| unit.ms(f64::from(*time)) > ms;
                                let beyond = cell.elapsed.iter().filter(is_beyond);
                                beyond.map(|(_, samples)| *samples as f64).sum()
                            }
                            Some(_) => requests,
                        };
                        *outside += beyond;
                        times = times.map(|ms| ms * FINER);
                    }
                }
            }
        }
        let index = |span: Span| {
            let place = |second: u32| (second.saturating_sub(window.first) as usize).min(rows.len());
            place(span.first)..place(span.last.saturating_add(1))
        };
        let hold = phases.hold.and_then(|hold| hold.shared(window)).map(index);
        Ok(Self { info: run.info.clone(), seconds: rows, counted, outside, hold })
    }

    /// Returns the metadata of the run.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// Returns the loads of the seconds, if the load is a plan of threads: it is known, and does not follow the requests.
    pub(super) fn planned_loads(&self) -> Option<Vec<f64>> {
        let loads: Vec<f64> =
            self.seconds.iter().map(|second| second.load.get().unwrap_or(f64::NAN)).collect();
        let known: Vec<f64> = loads.iter().copied().filter(|load| load.is_finite()).collect();
        (!known.is_empty() && !turns(&known)).then_some(loads)
    }

    /// Returns the levels of the run, in the order of time.
    pub(super) fn levels(&self, axis: LevelAxis) -> Vec<RunLevel> {
        let values: Vec<f64> = match axis {
            LevelAxis::Concurrency => match self.planned_loads() {
                Some(loads) => loads,
                None => self.seconds.iter().map(|second| second.load.get().unwrap_or(f64::NAN)).collect(),
            },
            LevelAxis::Rate => {
                self.seconds.iter().map(|second| (second.successes + second.failures) as f64).collect()
            }
        };
        let found = level_stretches(&values, axis.stepped());
        let is_long = |stretch: &LevelStretch| stretch.seconds.len() as f64 >= LEAST_SECONDS;
        let long: Vec<LevelStretch> = found.iter().filter(|stretch| is_long(stretch)).cloned().collect();
        let whole = |seconds: Range<usize>| {
            let level = crate::stats::percentile::median(
                values.get(seconds.clone())?.iter().copied().filter(|value| value.is_finite()),
            )?;
            (level > 0.0).then_some(LevelStretch { seconds, level })
        };
        let held = self.hold.clone().filter(|_| axis == LevelAxis::Concurrency).and_then(whole);
        let chosen = match (long.len(), held) {
            // A single level is found best by the rules of phases, which allow for dips and spikes.
            (0 | 1, Some(hold)) => vec![hold],
            // Short levels before and between are those of a ramp.
            (1, None) => long,
            (0, None) if found.is_empty() => whole(0..values.len()).into_iter().collect(),
            // Short steps of a stepped run are levels, too: they are said to be short.
            _ => found,
        };
        chosen.iter().filter_map(|stretch| self.level(stretch, axis)).collect()
    }

    /// Returns a level with the counts of its seconds; `None` if none is left without the transitions.
    fn level(&self, stretch: &LevelStretch, axis: LevelAxis) -> Option<RunLevel> {
        let settled = stretch.settled();
        let counted = self.counted.get(settled.clone()).filter(|counted| !counted.is_empty())?;
        let seconds = self.seconds.get(settled.clone())?;
        let level = match axis {
            LevelAxis::Concurrency => stretch.level,
            LevelAxis::Rate => {
                let all: u64 = seconds.iter().map(|second| second.successes + second.failures).sum();
                all as f64 / seconds.len() as f64
            }
        };
        let of_objective = |outside: &Vec<[f64; TIMES + 1]>| {
            let outside = outside.get(settled.clone()).unwrap_or_default();
            let requests = |(all, outside): (&(f64, f64), &[f64; TIMES + 1])| CountedRequests {
                outside: outside[0],
                all: all.0,
            };
            LevelSeconds {
                requests: counted.iter().zip(outside).map(requests).collect(),
                slower: slower(outside, counted.iter().map(|(all, _)| all).sum()),
            }
        };
        Some(RunLevel {
            level,
            held: stretch.seconds.len() as f64,
            rates: counted.iter().map(|(_, successes)| *successes).collect(),
            seconds: self.outside.iter().map(of_objective).collect(),
            queue_grows: queue_grows(seconds.iter().cloned()),
        })
    }
}

/// Returns the requests of each second beyond the highest time that enough of them exceed; `None` if there is none.
fn slower(outside: &[[f64; TIMES + 1]], all: f64) -> Option<Vec<f64>> {
    let sum = |place: usize| -> f64 { outside.iter().filter_map(|times| times.get(place)).sum() };
    let place = (1..=TIMES).find(|place| {
        let beyond = sum(*place);
        beyond >= SLOWER.0 * all && beyond >= SLOWER.1
    })?;
    (sum(place) <= MOST_SLOWER * all)
        .then(|| outside.iter().filter_map(|times| times.get(place).copied()).collect())
}
