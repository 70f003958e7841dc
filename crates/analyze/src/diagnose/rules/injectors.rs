//! Injectors that send fewer or more requests per thread than the others, or at other times.

use super::clocks::Sender;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, FindingFigures, FindingKind};
use crate::diagnose::noise::{SURPRISE, surprise};
use crate::diagnose::rules::clocks;
use crate::diagnose::seconds::span;
use crate::error::Result;
use crate::stats::percentile::upper_median;
use crate::view::phases::Span;

/// The least difference of an injector's requests per thread from the others', as a share.
const DEVIATION: f64 = 0.15;
/// The least number of seconds by which an injector begins or ends before or after the others.
const SHIFT: u32 = 3;

/// Compares each injector with the others.
pub(in crate::diagnose) fn find(facts: &Facts<'_>) -> Result<Vec<Finding>> {
    let Some(window) = span(facts.body()) else { return Ok(Vec::new()) };
    let mut injectors = clocks::gather_senders(facts.run, window)?;
    injectors.retain(|injector| !facts.clocks.of.iter().any(|name| name == injector.name));
    let mut findings = Vec::new();
    for (at, injector) in injectors.iter().enumerate() {
        let others: Vec<&Sender<'_>> =
            injectors.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other).collect();
        findings.extend(pace(facts, injector, &others));
        findings.extend(shift(injector, &others));
    }
    Ok(findings)
}

/// Finds an injector that is slower or faster than the median injector. The median keeps one outlier from making the
/// others look out of step. Of two injectors, the slower one is reported.
fn pace(facts: &Facts<'_>, injector: &Sender<'_>, others: &[&Sender<'_>]) -> Option<Finding> {
    let own = injector.rate();
    let rates: Vec<f64> = others.iter().map(|other| other.rate()).collect();
    let usual = match rates.as_slice() {
        [other] => *other,
        rates => upper_median(&[rates, &[own]].concat())?,
    };
    let expected = usual * injector.thread_seconds;
    // The expected number is uncertain too.
    let sent: f64 = others.iter().map(|other| other.requests).sum();
    let surprised = surprise(injector.requests, expected) / (1.0 + expected / sent);
    let differs = (own / usual - 1.0).abs() >= DEVIATION && surprised >= SURPRISE;
    if !differs || (own > usual && others.len() == 1) {
        return None;
    }
    let how = if own < usual { "fewer" } else { "more" };
    let mut figures = FindingFigures::default();
    Some(Finding {
        kind: FindingKind::Injector,
        span: span(facts.body())?,
        what: format!("injector {} sends {how} requests a thread than the others", injector.name),
        evidence: format!(
            "{}/s a thread, where {}/s is usual",
            figures.few("rate_by_thread", own, "1/s"),
            figures.few("rate_by_thread_usual", usual, "1/s")
        ),
        figures: figures.done(),
        injector: Some(injector.name.to_owned()),
    })
}

/// Finds an injector that begins or ends before or after the others.
fn shift(injector: &Sender<'_>, others: &[&Sender<'_>]) -> Option<Finding> {
    let rate = injector.requests / f64::from(injector.span.seconds());
    let begin = others.iter().map(|other| other.span.first).min()?;
    let end = others.iter().map(|other| other.span.last).max()?;
    let is_shift = |seconds: u32| seconds >= SHIFT && f64::from(seconds) * rate >= SURPRISE;
    let (late, early) = (injector.span.first.saturating_sub(begin), end.saturating_sub(injector.span.last));
    let (is_late, is_early) = (is_shift(late), is_shift(early));
    // If the others agree among themselves, one that begins before all of them is out of step too.
    let next = others.iter().map(|other| other.span.first).min()?.saturating_sub(injector.span.first);
    let over = injector.span.last.saturating_sub(others.iter().map(|other| other.span.last).max()?);
    let is_ahead = others.len() > 1 && is_shift(next) && is_shift(over.max(next)) && over == 0;
    let mut figures = FindingFigures::default();
    let mut seconds = |name, of: u32| figures.whole(name, of.into(), "s");
    let what = match (is_late, is_early) {
        (true, false) => format!(
            "injector {} begins {} s after the others, or its clock is ahead of theirs",
            injector.name,
            seconds("begins_after", late)
        ),
        (false, true) => format!(
            "injector {} ends {} s before the others, or its clock is behind theirs",
            injector.name,
            seconds("ends_before", early)
        ),
        (true, true) => format!(
            "injector {} begins {} s after the others and ends {} s before them",
            injector.name,
            seconds("begins_after", late),
            seconds("ends_before", early)
        ),
        (false, false) if is_ahead => format!(
            "injector {} begins {} s before the others",
            injector.name,
            seconds("begins_before", next)
        ),
        (false, false) => return None,
    };
    let evidence = format!(
        "seconds {} to {}, the others {} to {}",
        seconds("first", injector.span.first),
        seconds("last", injector.span.last),
        seconds("others_first", begin),
        seconds("others_last", end)
    );
    Some(Finding {
        kind: FindingKind::Injector,
        span: Span { first: begin.min(injector.span.first), last: end.max(injector.span.last) },
        what,
        evidence,
        figures: figures.done(),
        injector: Some(injector.name.to_owned()),
    })
}
