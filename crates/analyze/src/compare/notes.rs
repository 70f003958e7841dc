//! What is said of a comparison: how the noise is known, what the repeats could have shown, and what is not compared.

use super::change::{Change, Noise, Outcome};
use super::measure::Measure;
use super::pairing::{PairFault, Pairing};
use super::power::Design;
use super::repeats::Power;
use super::sides::Side;
use crate::error::Result;
use crate::format::{counted, decimals};
use crate::timeline::duration::RunDuration;

/// Says what the noise of the differences is, what the repeats could have shown, what would make more of the differences
/// decidable, and which series can't be compared.
///
/// `names_all` if each figure that decides was named.
pub fn change_notes(baseline: &Side, sides: &[Side], changes: &[Change], names_all: bool) -> Vec<String> {
    let is_paired = changes.iter().any(|change| change.noise == Noise::Pairs);
    let repeated = std::iter::once(baseline).chain(sides).filter(|side| side.runs.len() > 1 && !is_paired);
    let mut notes: Vec<String> = repeated
        .map(|side| format!("{}: {} repeats, their means are compared", side.name, side.runs.len()))
        .collect();
    notes.extend(std::iter::once(baseline).chain(sides).flat_map(waits));
    notes.extend(std::iter::once(baseline).chain(sides).flat_map(Side::remarks));
    let is_by = |noise: Noise| changes.iter().any(|change| change.noise == noise);
    if is_by(Noise::Seconds) {
        notes.push(
            "these runs: the noise is taken from the seconds within each run. How much starts of a server differ shows \
             only in repeats: two of each run, or three of one"
                .to_owned(),
        );
    }
    if is_by(Noise::SecondsOfRepeats) {
        notes.push(
            "by seconds: the repeats scatter less than the seconds within them, which decide".to_owned(),
        );
    }
    // Where all figures decide, throughput says enough, and that of the whole run comes first.
    let first =
        |run: &str| changes.iter().find(|change| change.run == run && change.measure == Measure::Throughput);
    let is_first = |change: &Change| first(&change.run).is_some_and(|first| std::ptr::eq(first, change));
    let powers = changes.iter().filter(|change| names_all || is_first(change));
    for change in powers {
        let measure = change.measure.column();
        let Some(power) = change.power else { continue };
        notes.extend(change.variance_share.map(|share| pairing_won(&change.run, &measure, share)));
        notes.push(power.note(&change.run, &measure));
    }
    notes.extend(undecided(changes));
    if changes.iter().any(is_beyond_its_own) {
        let chance = "not shown, with an interval that does not contain zero: among so many figures that may be chance \
                      (p of all is 0.01 or more)";
        let fewer = if names_all { "" } else { ". One figure alone could decide" };
        notes.push(format!("{chance}{fewer}"));
    }
    notes.extend(not_compared(baseline, changes));
    notes
}

/// Says how long the runs of a side waited for their last answers, if that made them much longer.
fn waits(side: &Side) -> impl Iterator<Item = String> {
    side.runs.iter().filter_map(|run| {
        let whole = run.view().from.is_none() && run.view().to.is_none() && run.view().phase.is_none();
        let wait = RunDuration::of(run.info(), run.view()).long_wait().filter(|_| whole)?;
        Some(format!("{}: its throughput includes the wait for its last answer, {wait:.1} s", run.info().key))
    })
}

/// Says why outcomes are unknown, and what figures that both sides have would need.
fn undecided(changes: &[Change]) -> impl Iterator<Item = String> {
    let undecided = |of_series: bool| {
        changes.iter().any(|change| {
            change.outcome == Outcome::Unknown
                && change.interval.is_none()
                && change.a.is_some()
                && change.b.is_some()
                && change.measure.series().is_some() == of_series
        })
    };
    let needs = |is_needed: bool, text: &str| is_needed.then(|| text.to_owned());
    let run = needs(
        undecided(false),
        "unknown: the run is too short to estimate its noise. It needs 24 seconds, and seven times the duration \
         of its slow changes",
    );
    let series = needs(
        undecided(true),
        "unknown of a series: its mean needs 12 readings, and seven times the duration of its slow changes; its \
         greatest value needs repeats",
    );
    run.into_iter().chain(series)
}

/// True of a figure of which no change is shown, although its own interval does not contain zero.
fn is_beyond_its_own(change: &Change) -> bool {
    change.outcome == Outcome::NotShown && change.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
}

impl Power {
    /// Returns a sentence on what so many repeats of a figure of a run could have shown.
    pub fn note(&self, run: &str, measure: &str) -> String {
        let (name, of_each) = match self.design {
            Design::Pairs => ("pairs", ""),
            _ => ("repeats", " of each"),
        };
        let repeats = match self.repeats_for_five_percent {
            Some(repeats) => format!("{} {name}", decimals(f64::from(repeats), 0)),
            None => format!("more than 1,000 {name}"),
        };
        format!(
            "{run}: changes of {measure} below {} % could not have been shown. At this scatter, {repeats}{of_each} show 5 % in \
             four of five comparisons",
            decimals(self.least_percent, 1)
        )
    }
}

impl Pairing {
    /// Returns a sentence for each run with the tags of a pair that is in none and left out.
    ///
    /// # Errors
    /// [`Error::UnfitPair`](crate::Error::UnfitPair) if the runs of a pair were measured neither in turn nor at once.
    pub fn left_out(&self) -> Result<Vec<String>> {
        let mut notes = Vec::new();
        for fault in &self.faults {
            match fault {
                PairFault::Overlap { .. } => return Err(fault.clone().into()),
                // Repeats are compared then.
                PairFault::Untagged(_) if !self.is_enough() => {}
                fault => notes.push(format!("{fault} and is left out")),
            }
        }
        Ok(notes)
    }

    /// Returns how many pairs there are of the side `name`, and what is left out since it is none; nothing if there are no pairs.
    ///
    /// # Errors
    /// The same error as [`Pairing::left_out`].
    pub fn notes(&self, name: &str) -> Result<Vec<String>> {
        let of = counted(self.pairs.len() as u64, "pair");
        let how = match (self.is_enough(), self.duets) {
            (false, _) if self.pairs.is_empty() => None,
            (false, _) => Some(format!(
                "{name}: one pair shows no scatter, so that the runs are compared as others are"
            )),
            (true, 0) => Some(format!("{name}: {of} of runs in turn, compared within each")),
            (true, duets) if duets == self.pairs.len() => {
                Some(format!("{name}: {of} of runs at once, compared within each"))
            }
            (true, duets) => {
                Some(format!("{name}: {of} of runs, {duets} of them at once, compared within each"))
            }
        };
        Ok(self.left_out()?.into_iter().map(|fault| format!("{name}: {fault}")).chain(how).collect())
    }
}

/// Says how much less the difference within pairs scatters than that of unpaired runs.
fn pairing_won(run: &str, measure: &str, share: f64) -> String {
    let won = match share {
        ..0.67 => format!("1/{} of that", decimals(1.0 / share, if share > 0.1 { 1 } else { 0 })),
        0.67..1.5 => "no less than that".to_owned(),
        _ => format!("{} times that", decimals(share, 1)),
    };
    format!("{run}: the variance of {measure} within pairs is {won} of unpaired runs")
}

/// Names the series that not all runs of both sides have in one unit.
fn not_compared(baseline: &Side, changes: &[Change]) -> Vec<String> {
    let mut notes = Vec::new();
    for change in changes {
        let Some(series) = change.measure.series() else { continue };
        let lacking = [(change.a, &baseline.name), (change.b, &change.run)];
        for (_, side) in lacking.into_iter().filter(|(value, _)| value.is_none()) {
            let sentence = format!(
                "the series {} in {} is not compared with {}: not in all runs of {side}",
                series.name, series.unit, change.run
            );
            if !notes.contains(&sentence) {
                notes.push(sentence);
            }
        }
    }
    notes
}
