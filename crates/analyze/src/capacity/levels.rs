//! The levels of a sweep: what the runs and the points at each of them show of the objectives.

use perfpipe_model::points::Point;

use super::MISSED;
use super::load_run::{LEAST_SECONDS, LevelAxis, LoadRun, RunLevel};
use super::of_point::share_bounds;
use crate::check::Objective;
use crate::compare::level::{LevelSeconds, rate_limits, share_limits};
use crate::stats::student;
use crate::stats::{mean, sum_of_squares};

/// Rates are of one level if they differ by at most so many standard errors, or by this share.
const ERRORS: f64 = 3.0;
const LEAST_NEAR: f64 = 0.01;

/// What became of the objectives at a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LevelState {
    /// It meets all of them, and so do all lower levels whose outcome is known.
    Met,
    /// It does not, or a lower level does not.
    Failed,
    /// It is unknown.
    Unknown,
}

impl LevelState {
    /// Returns the name used in output: `met`, `failed` or `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

/// A level of a load, and what it shows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CapacityLevel {
    /// The load in threads, or the requests by second.
    pub level: f64,
    /// The number of repeats, or of times that the load was held at this level.
    pub repeats: u64,
    /// How long it was held in all, in seconds.
    pub seconds: f64,
    /// Successes per second.
    pub throughput: Option<f64>,
    /// The objective that the level is the farthest from meeting, or the nearest to missing, by its index.
    pub objective: usize,
    /// The share of the requests that are served well by that objective, 0 to 1; of a point, the least that its output
    /// allows if the level meets the objective, else the greatest.
    pub share: Option<f64>,
    /// The 95 % interval of that share, if its noise is known.
    pub share_interval: Option<(f64, f64)>,
    /// What became of the objectives.
    pub state: LevelState,
    /// The reason for the state, where it does not follow from the share.
    pub why: Option<String>,
}

/// A level with what the estimate needs of it.
pub(super) struct MeasuredLevel {
    pub(super) row: CapacityLevel,
    /// For each objective, the share that is served well; empty if that is not known of each.
    pub(super) shares: Vec<LevelShare>,
    /// The limits of the throughput.
    pub(super) rate: Option<(f64, f64)>,
    /// The number of requests.
    pub(super) weight: f64,
    /// True if requests come faster than they are answered.
    pub(super) queue_grows: bool,
}

/// The share of the requests at a level that are served well, 0 to 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct LevelShare {
    /// Bounds by what was measured: equal, but for points.
    pub(super) bounds: (f64, f64),
    /// Limits that miss the true share in one of twenty cases; `None` if the noise is not known.
    pub(super) limits: Option<(f64, f64)>,
    /// Wider limits, for the case that any of the objectives decides.
    pub(super) limits_of_all: Option<(f64, f64)>,
}

/// Returns what the levels of runs and points differ by: concurrency if the load is planned and differs, or if there are
/// points, else the rate if that differs.
pub(super) fn natural_axis(runs: &[LoadRun], points: &[Point]) -> LevelAxis {
    if !points.is_empty() {
        return LevelAxis::Concurrency;
    }
    let differ = |axis: LevelAxis| {
        let levels: Vec<f64> =
            runs.iter().flat_map(|run| run.levels(axis)).map(|level| level.level).collect();
        let (least, most) = levels.iter().fold((f64::INFINITY, 0.0), |(least, most), level| {
            (f64::min(least, *level), f64::max(most, *level))
        });
        most > least * (1.0 + axis.least_change())
    };
    let is_planned = runs.iter().all(|run| run.planned_loads().is_some());
    match (is_planned, is_planned && differ(LevelAxis::Concurrency)) {
        (_, true) => LevelAxis::Concurrency,
        (true, _) if !differ(LevelAxis::Rate) => LevelAxis::Concurrency,
        _ => LevelAxis::Rate,
    }
}

/// What is at a level, before it is judged.
enum LevelPart<'a> {
    Run(RunLevel),
    Point(&'a Point),
}

/// Returns the levels in ascending order, each with its state by its own share.
pub(super) fn of(
    runs: &[LoadRun],
    points: &[Point],
    objectives: &[Objective],
    axis: LevelAxis,
) -> Vec<MeasuredLevel> {
    let of_runs =
        runs.iter().flat_map(|run| run.levels(axis)).map(|level| (level.level, LevelPart::Run(level)));
    let of_points = points.iter().filter_map(|point| {
        let level = f64::from(point.key.concurrency.or(point.key.workers)?);
        Some((level, LevelPart::Point(point)))
    });
    let mut parts: Vec<(f64, LevelPart<'_>)> = of_runs.chain(of_points).collect();
    parts.sort_by(|one, other| one.0.total_cmp(&other.0));
    parts.chunk_by(|one, next| is_same(one, next, axis)).map(|parts| measured(parts, objectives)).collect()
}

/// Returns true if two neighbours are of one level: repeats, or steps of the same load.
fn is_same(one: &(f64, LevelPart<'_>), next: &(f64, LevelPart<'_>), axis: LevelAxis) -> bool {
    let error = |(level, part): &(f64, LevelPart<'_>)| match part {
        LevelPart::Run(run) => level / run.rates.len().max(1) as f64,
        LevelPart::Point(_) => 0.0,
    };
    let near = match axis {
        LevelAxis::Concurrency => axis.least_change() * one.0,
        // Rates that come by chance differ by it; what differs by more is another level, however near.
        LevelAxis::Rate => {
            let by_chance = ERRORS * (error(one) + error(next)).sqrt();
            by_chance.clamp(LEAST_NEAR * one.0, axis.least_change() * one.0)
        }
    };
    next.0 - one.0 <= near
}

fn measured(parts: &[(f64, LevelPart<'_>)], objectives: &[Objective]) -> MeasuredLevel {
    let runs: Vec<&RunLevel> = parts
        .iter()
        .filter_map(|(_, part)| match part {
            LevelPart::Run(level) => Some(level),
            LevelPart::Point(_) => None,
        })
        .collect();
    // Where there are runs, they show more than the points at the same level.
    let mut level = if runs.is_empty() {
        let points = parts.iter().filter_map(|(_, part)| match part {
            LevelPart::Point(point) => Some(*point),
            LevelPart::Run(_) => None,
        });
        of_points(&points.collect::<Vec<_>>(), objectives)
    } else {
        of_runs(&runs, objectives)
    };
    let all: Vec<f64> = parts.iter().map(|(level, _)| *level).collect();
    level.row.level = mean(&all);
    judge(&mut level, objectives);
    level
}

fn of_runs(runs: &[&RunLevel], objectives: &[Objective]) -> MeasuredLevel {
    let share = |at: usize| {
        let seconds: Vec<&LevelSeconds> = runs.iter().filter_map(|run| run.seconds.get(at)).collect();
        let of_all =
            share_limits(&seconds, MISSED / objectives.len().max(1) as f64).map(|(_, limits)| limits);
        let (outside, limits) = share_limits(&seconds, MISSED)?;
        let within = |(low, high): (f64, f64)| (1.0 - high, 1.0 - low);
        Some(LevelShare {
            bounds: (1.0 - outside, 1.0 - outside),
            limits: Some(within(limits)),
            limits_of_all: of_all.map(within),
        })
    };
    let rates: Vec<Vec<f64>> = runs.iter().map(|run| run.rates.clone()).collect();
    let rate = rate_limits(&rates, MISSED);
    let requests = runs.iter().filter_map(|run| run.seconds.first()).flat_map(|seconds| &seconds.requests);
    MeasuredLevel {
        row: row(runs.len(), runs.iter().map(|run| run.held).sum(), rate.map(|(rate, _)| rate)),
        shares: (0..objectives.len()).map(share).collect::<Option<_>>().unwrap_or_default(),
        rate: rate.map(|(_, limits)| limits),
        weight: requests.map(|counts| counts.all).sum(),
        queue_grows: runs.iter().any(|run| run.queue_grows),
    }
}

fn of_points(points: &[&Point], objectives: &[Objective]) -> MeasuredLevel {
    let whole: Vec<&Point> = points.iter().filter(|point| point.figures.aborted.is_none()).copied().collect();
    let share = |objective: &Objective| {
        let bounds: Vec<(f64, f64)> =
            whole.iter().map(|point| share_bounds(&point.figures, objective)).collect::<Option<_>>()?;
        let (least, greatest): (Vec<f64>, Vec<f64>) = bounds.into_iter().unzip();
        let reach = |values: &[f64]| {
            let count = values.len() as f64;
            let deviation = (sum_of_squares(values) / (count - 1.0) / count).sqrt();
            (count >= 3.0).then(|| student::distance(MISSED, count - 1.0) * deviation)
        };
        let limits = reach(&least)
            .zip(reach(&greatest))
            .map(|(below, above)| ((mean(&least) - below).max(0.0), (mean(&greatest) + above).min(1.0)));
        Some(LevelShare { bounds: (mean(&least), mean(&greatest)), limits, limits_of_all: limits })
    };
    let rates: Vec<f64> = whole.iter().filter_map(|point| point.figures.throughput()).collect();
    let count = rates.len() as f64;
    let rate = (count >= 3.0).then(|| {
        let deviation = (sum_of_squares(&rates) / (count - 1.0) / count).sqrt();
        let reach = student::distance(MISSED, count - 1.0) * deviation;
        (mean(&rates) - reach, mean(&rates) + reach)
    });
    let seconds = whole.iter().filter_map(|point| point.figures.duration).sum();
    let shares: Vec<LevelShare> = match whole.is_empty() {
        true => Vec::new(),
        false => objectives.iter().map(share).collect::<Option<_>>().unwrap_or_default(),
    };
    let mut row = row(points.len(), seconds, (count > 0.0).then(|| mean(&rates)));
    if whole.is_empty() {
        row.why = Some("the tool ended early".to_owned());
    } else if shares.len() < objectives.len() {
        row.why = Some("the tool does not report this".to_owned());
    }
    let requests = whole.iter().filter_map(|point| point.figures.requests).sum::<u64>();
    MeasuredLevel { row, shares, rate, weight: (requests as f64).max(1.0), queue_grows: false }
}

fn row(repeats: usize, seconds: f64, throughput: Option<f64>) -> CapacityLevel {
    CapacityLevel {
        level: 0.0,
        repeats: repeats as u64,
        seconds,
        throughput,
        objective: 0,
        share: None,
        share_interval: None,
        state: LevelState::Unknown,
        why: None,
    }
}

/// Judges a level by its own share.
fn judge(level: &mut MeasuredLevel, objectives: &[Objective]) {
    let row = &mut level.row;
    // How many times the share that may be outside is.
    let used = |share: f64, objective: &Objective| {
        let allowed = (1.0 - objective.required()).max(1e-9);
        (1.0 - share) / allowed
    };
    let of_objectives = objectives.iter().zip(&level.shares).enumerate();
    let nearest = of_objectives
        .map(|(at, (objective, share))| (at, objective, share, used(share.bounds.0, objective)))
        .max_by(|one, other| one.3.total_cmp(&other.3));
    let states = objectives.iter().zip(&level.shares).map(|(objective, share)| {
        match (objective.is_met_by(share.bounds.0), objective.is_met_by(share.bounds.1)) {
            (true, _) => LevelState::Met,
            (false, false) => LevelState::Failed,
            (false, true) => LevelState::Unknown,
        }
    });
    if let Some((at, _, share, _)) = nearest {
        row.objective = at;
        row.share_interval = share.limits;
        let all: Vec<LevelState> = states.collect();
        let is_met = all.len() == objectives.len() && !all.contains(&LevelState::Unknown);
        row.state = match (all.contains(&LevelState::Failed), is_met) {
            (true, _) => LevelState::Failed,
            (false, true) => LevelState::Met,
            (false, false) => LevelState::Unknown,
        };
        row.share = Some(if row.state == LevelState::Met { share.bounds.0 } else { share.bounds.1 });
    }
    let unknown = match row.state {
        _ if row.seconds < LEAST_SECONDS && row.why.is_none() => Some("less than 30 s".to_owned()),
        _ if level.queue_grows => Some("its queue grows".to_owned()),
        _ if level.shares.is_empty() && row.why.is_none() => Some("no requests".to_owned()),
        LevelState::Unknown if row.why.is_none() => {
            Some("no percentile that the tool reports tells".to_owned())
        }
        _ => None,
    };
    if let Some(why) = unknown {
        (row.state, row.why) = (LevelState::Unknown, Some(why));
    }
}
