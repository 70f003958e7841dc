//! What is said beside the changes of runs: how the noise is known, and what is not compared.

use perfpipe_analyze::format::decimals;
use perfpipe_analyze::{Change, Measure, Noise, Outcome, Power, RunDuration, Side};

use super::args::CompareArgs;

/// Says what the noise of the differences is, what the repeats could have shown, what would make more of the differences
/// decidable, and which series can't be compared.
pub(super) fn notes(baseline: &Side, sides: &[Side], changes: &[Change], args: &CompareArgs) -> Vec<String> {
    let repeated = std::iter::once(baseline).chain(sides).filter(|side| side.runs.len() > 1);
    let mut notes: Vec<String> = repeated
        .map(|side| format!("{}: {} repeats, their means are compared", side.name, side.runs.len()))
        .collect();
    notes.extend(std::iter::once(baseline).chain(sides).flat_map(waits));
    notes.extend(std::iter::once(baseline).chain(sides).flat_map(Side::remarks));
    let is_by = |noise: Noise| changes.iter().any(|change| change.noise == noise);
    if is_by(Noise::Seconds) {
        notes.push(
            "these runs: the noise is taken from the seconds within each run. How much starts of a server differ shows \
             only in repeats (`ingest --append-repeat`): two of each run, or three of one"
                .to_owned(),
        );
    }
    if is_by(Noise::SecondsOfRepeats) {
        notes.push(
            "by seconds: the repeats scatter less than the seconds within them, which decide".to_owned(),
        );
    }
    // Where all figures decide, throughput says enough, and that of the whole run comes first.
    let names_all = !args.decide.is_empty();
    let first =
        |run: &str| changes.iter().find(|change| change.run == run && change.measure == Measure::Throughput);
    let is_first = |change: &Change| first(&change.run).is_some_and(|first| std::ptr::eq(first, change));
    let powers = changes.iter().filter(|change| names_all || is_first(change));
    notes.extend(
        powers.filter_map(|change| Some(could_show(&change.run, &change.measure.column(), change.power?))),
    );
    notes.extend(undecided(changes));
    if changes.iter().any(is_beyond_its_own) {
        let chance = "not shown, with an interval that does not contain zero: among so many figures that may be chance \
                      (p of all is 0.01 or more)";
        let fewer = if names_all { "" } else { ". `--decide throughput` lets one figure decide" };
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

/// Says what so many repeats of a figure could have shown.
pub(super) fn could_show(run: &str, measure: &str, power: Power) -> String {
    let repeats = match power.repeats_for_five_percent {
        Some(repeats) => format!("{} repeats", decimals(f64::from(repeats), 0)),
        None => "more than 1,000 repeats".to_owned(),
    };
    format!(
        "{run}: changes of {measure} below {} % could not have been shown. At this scatter, {repeats} of each show 5 % in \
         four of five comparisons",
        decimals(power.least_percent, 1)
    )
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
