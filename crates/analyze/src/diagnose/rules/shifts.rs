//! Changes over time at equal load: times or the rate of requests step to another level (shift), or change gradually
//! (drift).

use crate::diagnose::change::{self, Change, LEAST};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Figures, Finding, FindingKind};
use crate::diagnose::series::{self, Block, Stretch};
use crate::error::Result;
use crate::timeline::Timeline;
use crate::timeline::summary::Summary;
use crate::view::View;
use crate::view::phases::Span;

/// The least ratio of the levels of a shift, and of the ends of a drift.
const TIMES: (f64, f64) = (1.25, 1.5);
/// The least difference of the means or medians in ms, since times are whole ms.
const RESOLUTION: f64 = 2.0;
/// Where the load is not known to be level: the growth of the rate from which it explains slower requests.
const MORE: f64 = 1.2;
/// The number of changes in a stretch after which no more are looked for.
const MOST_LISTED: usize = 5;

/// The quantity of blocks that changes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Times,
    Rate,
}

/// A change between two parts of a stretch.
#[derive(Clone, Copy)]
struct Found {
    of: Of,
    kind: FindingKind,
    /// The part before the change; for a drift, the first third.
    before: Span,
    /// The part after the change; for a drift, the last third.
    after: Span,
    /// The ratio of the level after the change to that before.
    times: f64,
}

/// Finds the changes in all stretches of equal load. Seconds that other findings explain are left out.
pub(in crate::diagnose) fn find(facts: &Facts<'_>, without: &[Span]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for stretch in series::stretches(facts) {
        let blocks = series::blocks(facts, stretch, without)?;
        let mut times: Vec<Found> = Vec::new();
        gather(Of::Times, &blocks.iter().filter(|block| block.log.is_some()).collect::<Vec<_>>(), &mut times);
        times.retain(|found| stretch.is_level || !is_of_load(found, &blocks));
        let mut rates: Vec<Found> = Vec::new();
        gather(Of::Rate, &blocks.iter().collect::<Vec<_>>(), &mut rates);
        // A rate that climbs may be intended, and so may one that falls gradually.
        rates.retain(|found| stretch.is_level || (found.times < 1.0 && found.kind == FindingKind::Shift));
        // If each thread waits for its answer, slower answers make fewer requests.
        rates.retain(|rate| !times.iter().any(|time| (time.times > 1.0) != (rate.times > 1.0)));
        for found in times.into_iter().chain(rates) {
            findings.extend(shift_finding(facts, stretch, &found)?);
        }
    }
    Ok(findings)
}

fn value(of: Of, block: &Block) -> f64 {
    match of {
        Of::Times => block.log.unwrap_or(0.0),
        Of::Rate => block.rate,
    }
}

/// Adds the change of some blocks, and recursively those on either side of a shift.
fn gather(of: Of, blocks: &[&Block], found: &mut Vec<Found>) {
    if blocks.len() < LEAST || found.len() >= MOST_LISTED {
        return;
    }
    let values: Vec<f64> = blocks.iter().map(|block| value(of, block)).collect();
    let Some(change) = change::find(&values) else { return };
    let (before, after) = change.ends();
    let times = match of {
        Of::Times => (after - before).exp(),
        Of::Rate => after.max(0.0) / before.max(f64::MIN_POSITIVE),
    };
    let size = times.max(1.0 / times);
    let span =
        |blocks: &[&Block]| Some(Span { first: blocks.first()?.span.first, last: blocks.last()?.span.last });
    let third = blocks.len().div_ceil(3);
    let (kind, end, begin) = match change {
        Change::Step { at, .. } => (FindingKind::Shift, at, at),
        Change::Line { .. } => (FindingKind::Drift, third, blocks.len() - third),
    };
    let (Some(first), Some(last)) = (blocks.get(..end), blocks.get(begin..)) else { return };
    let least = if kind == FindingKind::Shift { TIMES.0 } else { TIMES.1 };
    let parts = span(first).zip(span(last)).filter(|_| size >= least);
    found.extend(parts.map(|(before, after)| Found { of, kind, before, after, times }));
    if kind == FindingKind::Shift {
        gather(of, first, found);
        gather(of, last, found);
    }
}

/// Returns true if a change of times goes with a change of the rate in the same direction, as under more load.
fn is_of_load(found: &Found, blocks: &[Block]) -> bool {
    let rate = |span: Span| {
        let inside = blocks.iter().filter(|block| span.holds(block.span.first));
        let (sum, count) = inside.fold((0.0, 0.0), |(sum, count), block| (sum + block.rate, count + 1.0));
        sum / count
    };
    let grown = rate(found.after) / rate(found.before);
    if found.times > 1.0 { grown > MORE } else { grown < 1.0 / MORE }
}

/// Builds the finding, with the figures of both parts; `None` if times differ by less than their resolution.
fn shift_finding(facts: &Facts<'_>, stretch: Stretch, found: &Found) -> Result<Option<Finding>> {
    let of = |span: Span| -> Result<Summary> {
        let view = View { from: Some(span.first), to: Some(span.last), phase: None, ..facts.view.clone() };
        Timeline::summary_of(facts.run, &view)
    };
    let (before, after) = (of(found.before)?, of(found.after)?);
    let differs = |one: Option<f64>, other: Option<f64>| {
        one.zip(other).is_some_and(|(one, other)| {
            (other - one).abs() >= RESOLUTION && (other > one) == (found.times > 1.0)
        })
    };
    let is_seen = differs(before.p50, after.p50) || differs(before.elapsed_mean, after.elapsed_mean);
    if found.of == Of::Times && !is_seen {
        return Ok(None);
    }
    let mut figures = Figures::default();
    let how = match (found.kind, found.of, found.times > 1.0) {
        (FindingKind::Shift, Of::Times, _) => {
            format!("requests take {} times as long", figures.few("times", found.times, "times"))
        }
        (_, Of::Times, true) => {
            format!(
                "requests take ever longer, at the end {} times as long",
                figures.few("times", found.times, "times")
            )
        }
        (_, Of::Times, false) => {
            format!(
                "requests take ever less, at the end {} times as long",
                figures.few("times", found.times, "times")
            )
        }
        (FindingKind::Shift, Of::Rate, true) => {
            format!("requests come {} times as often", figures.few("times", found.times, "times"))
        }
        (FindingKind::Shift, Of::Rate, false) => {
            format!("requests fall to {} of their rate", figures.share("rate_left", found.times))
        }
        (_, Of::Rate, true) => {
            format!(
                "requests come ever more often, at the end {} times",
                figures.few("times", found.times, "times")
            )
        }
        (_, Of::Rate, false) => {
            format!("requests come ever less often, at the end {}", figures.share("rate_left", found.times))
        }
    };
    let (what, span) = match found.kind {
        FindingKind::Shift => {
            let from = figures.whole("from", found.after.first.into(), "s");
            (format!("{how} from second {from} on"), found.after)
        }
        _ => (how, Span { first: found.before.first, last: found.after.last }),
    };
    let what = match (stretch.is_level, found.of) {
        (true, _) => format!("{what}, at the same load"),
        (false, Of::Rate) => format!("{what}; the log does not say whether fewer were intended"),
        (false, Of::Times) => what,
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
    figures: &mut Figures,
    (name, [earlier, later], unit, written): Changing,
    (before, after): (Option<f64>, Option<f64>),
) -> Option<String> {
    let (before, after) = before.zip(after)?;
    let (before, after) = (figures.few(earlier, before, unit), figures.few(later, after, unit));
    Some(format!("{name} from {before} to {after}{written}"))
}
