//! Changes over time at equal load: times or the rate of requests step to another level (shift), for a while (slowdown),
//! or change gradually (drift).

use crate::diagnose::change::{self, Matters, SeriesPart};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, FindingFigures, FindingKind};
use crate::diagnose::series::{self, Block, LoadStretch};
use crate::error::Result;
use crate::timeline::Timeline;
use crate::timeline::summary::Summary;
use crate::view::View;
use crate::view::phases::Span;

/// The least ratio of the levels of a shift, and of the ends of a drift.
const TIMES: (f64, f64) = (1.25, 1.5);
/// The least difference of the means or medians, in units of the run's times.
const UNITS: f64 = 2.0;
/// Where the load is not known to be level: the growth of the rate from which it explains slower requests.
const MORE: f64 = 1.2;
/// The least share of the time of a change that one request takes to explain it.
const LONG: f64 = 0.25;
/// The least share of the logarithm of a change that the mean rates of both parts show. Seconds whose requests come in bursts
/// change without it, as where threads that paused together fall out of step.
const SHOWN: f64 = 0.4;
/// The largest number of changes of one kind that a stretch is reported to have.
const MOST_LISTED: usize = 5;
/// The least root of a rate that another one is divided by.
const LEAST_RATE: f64 = 1e-9;

/// The quantity of blocks that changes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShiftedQuantity {
    Times,
    Rate,
}

impl ShiftedQuantity {
    fn value(self, block: &Block) -> f64 {
        match self {
            Self::Times => block.log.unwrap_or(0.0),
            // The root of a count scatters as much at any rate.
            Self::Rate => block.rate.sqrt(),
        }
    }

    /// Returns how many times as large a value is as another one.
    fn times(self, before: f64, after: f64) -> f64 {
        match self {
            Self::Times => (after - before).exp(),
            Self::Rate => (after.max(0.0) / before.max(LEAST_RATE)).powi(2),
        }
    }

    /// Returns the ratio of the greater value to the lesser one.
    fn ratio(self, before: f64, after: f64) -> f64 {
        let times = self.times(before, after);
        times.max(1.0 / times)
    }
}

/// A change between parts of a stretch.
#[derive(Clone, Copy)]
struct FoundShift {
    of: ShiftedQuantity,
    kind: FindingKind,
    /// The part before the change; for a drift, the first third.
    before: Span,
    /// The part after the change; for a drift, the last third.
    after: Span,
    /// Whether the level after that part is the one before the change again.
    ends: bool,
    /// The ratio of the level after the change to that before.
    times: f64,
}

impl FoundShift {
    /// Describes the change and its seconds.
    fn what(&self, figures: &mut FindingFigures) -> String {
        let Self { kind, of, times, .. } = *self;
        if kind == FindingKind::Drift {
            return match (of, times > 1.0) {
                (ShiftedQuantity::Times, grows) => {
                    let ever = if grows { "longer" } else { "less" };
                    let times = figures.few("times", times, "times");
                    format!("requests take ever {ever}, at the end {times} times as long")
                }
                (ShiftedQuantity::Rate, true) => {
                    let times = figures.few("times", times, "times");
                    format!("requests come ever more often, at the end {times} times")
                }
                (ShiftedQuantity::Rate, false) => {
                    let left = figures.share("rate_left", times);
                    format!("requests come ever less often, at the end {left}")
                }
            };
        }
        let how = match (of, times > 1.0) {
            (ShiftedQuantity::Times, _) => {
                format!("requests take {} times as long", figures.few("times", times, "times"))
            }
            (ShiftedQuantity::Rate, true) => {
                format!("requests come {} times as often", figures.few("times", times, "times"))
            }
            (ShiftedQuantity::Rate, false) => {
                format!("requests fall to {} of their rate", figures.share("rate_left", times))
            }
        };
        let from = figures.whole("from", self.after.first.into(), "s");
        if self.ends {
            let last = figures.whole("to", self.after.last.into(), "s");
            format!("{how} from second {from} to {last}, then as before")
        } else {
            format!("{how} from second {from} on")
        }
    }
}

/// Finds the changes in all stretches of equal load. Seconds that other findings explain are left out.
pub(in crate::diagnose) fn find(facts: &Facts<'_>, without: &[Span]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for stretch in series::stretches(facts) {
        let blocks = series::blocks(facts, stretch, without)?;
        let mut times = gather(ShiftedQuantity::Times, &series::timed(&blocks));
        times.retain(|found| stretch.is_level || !is_of_load(found, &blocks));
        let mut rates = gather(ShiftedQuantity::Rate, &blocks);
        // A rate that climbs may be intended, and so may one that falls gradually.
        rates.retain(|found| stretch.is_level || (found.times < 1.0 && found.kind == FindingKind::Shift));
        // If each thread waits for its answer, slower answers make fewer requests.
        rates.retain(|rate| !times.iter().any(|time| (time.times > 1.0) != (rate.times > 1.0)));
        let all = times.into_iter().chain(rates);
        for found in all.filter(|found| !facts.is_of_one_request(found.after, LONG)) {
            findings.extend(shift_finding(facts, stretch, &found)?);
        }
    }
    Ok(findings)
}

/// Finds the changes of some blocks, in order.
fn gather(of: ShiftedQuantity, blocks: &[Block]) -> Vec<FoundShift> {
    let values: Vec<f64> = blocks.iter().map(|block| of.value(block)).collect();
    let ratio = |one, other| of.ratio(one, other);
    let parts = change::parts(
        &values,
        &Matters { ratio: &ratio, step: TIMES.0, line: TIMES.1, swells: of == ShiftedQuantity::Times },
    );
    let span = |from: usize, to: usize| {
        let inside = blocks.get(from..to)?;
        Some(Span { first: inside.first()?.span.first, last: inside.last()?.span.last })
    };
    let mut found = Vec::new();
    let mut rest = parts.as_slice();
    while let [part, after @ ..] = rest {
        rest = after;
        if !part.is_level() {
            let third = (part.to - part.from).div_ceil(3);
            let thirds = span(part.from, part.from + third).zip(span(part.to - third, part.to));
            let (kind, times) = (FindingKind::Drift, of.times(part.ends.0, part.ends.1));
            found.extend(thirds.map(|(before, after)| FoundShift {
                of,
                kind,
                before,
                after,
                ends: false,
                times,
            }));
            continue;
        }
        let Some(next) = after.first().filter(|next| next.is_level()) else { continue };
        let passing = passing(of, part, after);
        let shorter = (part.to - part.from).min(next.to - next.from);
        if passing.is_none() && shorter < change::side(values.len()) {
            continue;
        }
        let inside = after.get(..passing.unwrap_or(1)).unwrap_or_default();
        let to = inside.last().map_or(next.to, |last| last.to);
        let weight = |part: &SeriesPart| part.ends.0 * (part.to - part.from) as f64;
        let level = inside.iter().map(weight).sum::<f64>() / (to - next.from) as f64;
        let (ends, times) = (passing.is_some(), of.times(part.ends.0, level));
        let is_slowdown = of == ShiftedQuantity::Times && times > 1.0 && ends;
        let kind = if is_slowdown { FindingKind::Slowdown } else { FindingKind::Shift };
        let spans = span(part.from, part.to).zip(span(next.from, to));
        found.extend(spans.map(|(before, after)| FoundShift { of, kind, before, after, ends, times }));
        // The level that has come back is the one before the next change.
        rest = after.get(passing.unwrap_or(0)..).unwrap_or_default();
    }
    found.truncate(MOST_LISTED);
    found
}

/// Returns the number of parts after which the level is that of a part again, if all of them are on one side of it.
fn passing(of: ShiftedQuantity, part: &SeriesPart, after: &[SeriesPart]) -> Option<usize> {
    let level = part.ends.0;
    let is_above = after.first()?.ends.0 > level;
    let back = after.iter().position(|next| of.ratio(level, next.ends.0) < TIMES.0)?;
    let inside = after.get(..back)?;
    let is_one = inside.iter().all(|next| next.is_level() && (next.ends.0 > level) == is_above);
    (back > 0 && is_one && after.get(back)?.is_level()).then_some(back)
}

/// Returns true if a change of times goes with a change of the rate in the same direction, as under more load.
fn is_of_load(found: &FoundShift, blocks: &[Block]) -> bool {
    let rate = |span: Span| {
        let inside = blocks.iter().filter(|block| span.holds(block.span.first));
        let (sum, count) = inside.fold((0.0, 0.0), |(sum, count), block| (sum + block.rate, count + 1.0));
        sum / count
    };
    let grown = rate(found.after) / rate(found.before);
    if found.times > 1.0 { grown > MORE } else { grown < 1.0 / MORE }
}

/// Builds the finding, with the figures of both parts; `None` if these do not show the change.
fn shift_finding(facts: &Facts<'_>, stretch: LoadStretch, found: &FoundShift) -> Result<Option<Finding>> {
    let of = |span: Span| -> Result<Summary> {
        let view = View { from: Some(span.first), to: Some(span.last), phase: None, ..facts.view.clone() };
        Timeline::summary_of(facts.run, &view)
    };
    let (before, after) = (of(found.before)?, of(found.after)?);
    let least = facts.run.info.resolution.ms(UNITS);
    let differs = |one: Option<f64>, other: Option<f64>| {
        one.zip(other)
            .is_some_and(|(one, other)| (other - one).abs() >= least && (other > one) == (found.times > 1.0))
    };
    let is_seen = differs(before.p50, after.p50) || differs(before.elapsed_mean, after.elapsed_mean);
    let grown = rate(&before).zip(rate(&after)).filter(|_| found.of == ShiftedQuantity::Rate);
    let grown = grown.map(|(before, after)| after.max(LEAST_RATE) / before.max(LEAST_RATE));
    let is_shown = match (found.of, grown) {
        (ShiftedQuantity::Times, _) => is_seen,
        (ShiftedQuantity::Rate, grown) => grown.is_none_or(|grown| grown.ln() / found.times.ln() >= SHOWN),
    };
    if !is_shown {
        return Ok(None);
    }
    // A step is as large as the rates beside it; a drift goes on beyond the thirds of which they are.
    let times = grown.filter(|_| found.kind != FindingKind::Drift).unwrap_or(found.times);
    let found = &FoundShift { times, ..*found };
    let mut figures = FindingFigures::default();
    let what = found.what(&mut figures);
    let what = match felt(facts, found, (&before, &after)) {
        Some((name, times)) => {
            format!("{name} is {} times as long, since {what}", figures.few("slower", times, "times"))
        }
        None => what,
    };
    let span = match found.kind {
        FindingKind::Drift => Span { first: found.before.first, last: found.after.last },
        _ => found.after,
    };
    let what = match (stretch.is_level, found.of) {
        (true, _) => format!("{what}, at the same load"),
        (false, ShiftedQuantity::Rate) => format!("{what}; the log does not say whether fewer were intended"),
        (false, ShiftedQuantity::Times) => what,
    };
    let evidence = [
        changed(&mut figures, P50, (before.p50, after.p50)),
        changed(&mut figures, P95, (before.p95, after.p95)),
        changed(&mut figures, RATE, (rate(&before), rate(&after))),
    ];
    let evidence: Vec<String> = evidence.into_iter().flatten().collect();
    let evidence = evidence.join(", ");
    Ok(Some(Finding { kind: found.kind, span, what, evidence, figures: figures.done(), injector: None }))
}

/// Returns the name and the growth of the percentile by which users feel that requests come more often, if they do.
fn felt(
    facts: &Facts<'_>,
    found: &FoundShift,
    (before, after): (&Summary, &Summary),
) -> Option<(&'static str, f64)> {
    let least = facts.run.info.resolution.ms(UNITS);
    let grown = |(name, before, after): (&'static str, Option<f64>, Option<f64>)| {
        let (before, after) = before.zip(after)?;
        let times = after / before.max(least);
        (after - before >= least && times >= TIMES.1).then_some((name, times))
    };
    let percentiles = [(P50.0, before.p50, after.p50), (P95.0, before.p95, after.p95)];
    percentiles.into_iter().filter(|_| found.of == ShiftedQuantity::Rate && found.times > 1.0).find_map(grown)
}

fn rate(part: &Summary) -> Option<f64> {
    (part.seconds > 0).then(|| part.requests() as f64 / f64::from(part.seconds))
}

/// A figure that changes: its name in a sentence, the names of its values before and after, its unit, and how a sentence
/// writes that.
type Changing = (&'static str, [&'static str; 2], &'static str, &'static str);

const P50: Changing = ("p50", ["p50_before", "p50_after"], "ms", " ms");
const P95: Changing = ("p95", ["p95_before", "p95_after"], "ms", " ms");
const RATE: Changing = ("rate", ["rate_before", "rate_after"], "1/s", "/s");

fn changed(
    figures: &mut FindingFigures,
    (name, [earlier, later], unit, written): Changing,
    (before, after): (Option<f64>, Option<f64>),
) -> Option<String> {
    let (before, after) = before.zip(after)?;
    let (before, after) = (figures.few(earlier, before, unit), figures.few(later, after, unit));
    Some(format!("{name} from {before} to {after}{written}"))
}
