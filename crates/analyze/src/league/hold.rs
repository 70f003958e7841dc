//! The ranks by the holds of runs alone, where they differ from those of the whole runs.

use super::ranks::ranks;
use super::standing::Standing;
use crate::format::{counted, decimals};
use crate::stats::median::median;
use crate::table::Interval;
use crate::timeline::Timeline;
use crate::timeline::summary::Summary;

/// The least number of seconds of a hold by which frameworks are ranked.
const LEAST: u32 = 20;
/// At most so many frameworks are named.
const NAMED: usize = 5;

/// What a framework's rank is by the holds of its runs alone.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HoldRank {
    /// The system under test.
    pub framework: String,
    /// The rank by the holds.
    pub rank: Interval,
    /// The median of its repeats' successes per second in the hold.
    pub throughput: f64,
}

/// Ranks frameworks by the holds of their runs. Returns those whose ranks differ from the ranks by the whole runs, best
/// first; if no framework has several repeats, all of them where their order differs.
///
/// There are none if the runs are not looked at as a whole, or if one of them has no hold of 20 s.
pub(super) fn other_ranks<'a>(
    standings: &[&Standing],
    repeats: impl Fn(&str) -> &'a [&'a Timeline],
) -> Vec<HoldRank> {
    let of = |standing: &&Standing| {
        repeats(&standing.framework)
            .iter()
            .map(|run| Some(held(run)?.throughput))
            .collect::<Option<Vec<f64>>>()
    };
    let Some(throughputs) = standings.iter().map(of).collect::<Option<Vec<_>>>() else { return Vec::new() };
    let ranked = standings.iter().zip(ranks(&throughputs)).zip(&throughputs);
    let mut held: Vec<(&Standing, HoldRank)> = ranked
        .map(|((standing, rank), throughputs)| {
            let throughput = median(throughputs.iter().copied()).unwrap_or_default();
            (*standing, HoldRank { framework: standing.framework.clone(), rank, throughput })
        })
        .collect();
    held.sort_by(|(_, one), (_, other)| other.throughput.total_cmp(&one.throughput));
    let reordered = standings.iter().all(|standing| standing.repeats == 1)
        && held.iter().zip(standings).any(|((one, _), other)| one.throughput != other.throughput);
    held.retain(|(standing, hold)| reordered || standing.rank != Some(hold.rank));
    held.into_iter().map(|(_, hold)| hold).collect()
}

/// Returns the summary of a run's hold, if the whole run is looked at, and the hold is long enough.
fn held(run: &Timeline) -> Option<&Summary> {
    let view = &run.view;
    let whole = view.phase.is_none() && view.from.is_none() && view.to.is_none();
    let hold = run.hold.as_ref().or_else(|| run.phases.hold.map(|_| &run.summary));
    hold.filter(|hold| whole && hold.seconds >= LEAST)
}

/// Returns the sentence on ranks by the holds; `None` if there are no others.
pub(super) fn note(ranks: &[HoldRank]) -> Option<String> {
    let named =
        |one: &HoldRank| format!("{} {} ({}/s)", one.framework, one.rank, decimals(one.throughput, 1));
    let mut named: Vec<String> = ranks.iter().take(NAMED).map(named).collect();
    let more = ranks.len().saturating_sub(NAMED) as u64;
    named.extend((more > 0).then(|| format!("and {} more", counted(more, "framework"))));
    (!ranks.is_empty()).then(|| format!("The holds alone rank otherwise: {}.", named.join(", ")))
}
