//! Injectors out of step: one that sends fewer or more requests a thread than the others, or at other times.

use std::collections::BTreeMap;

use super::chance::{SURPRISE, surprise};
use super::facts::{Facts, figure, span};
use super::{Finding, Kind};
use crate::error::Result;
use crate::level::median;
use crate::phases::Span;
use crate::selection::by_second;

/// By how much an injector's requests a thread differ from the others' at least, as a share.
const APART: f64 = 0.25;
/// Seconds by which an injector begins or ends apart from the others, at least.
const SHIFT: u32 = 3;

/// What one injector sent.
struct Injector<'a> {
    name: &'a str,
    requests: f64,
    /// The sum over its seconds of its threads.
    thread_seconds: f64,
    first: u32,
    last: u32,
}

impl Injector<'_> {
    /// Requests a second and thread.
    fn rate(&self) -> f64 {
        self.requests / self.thread_seconds
    }
}

/// Compares each injector to the others.
pub(super) fn find(facts: &Facts<'_>) -> Result<Vec<Finding>> {
    let injectors = gather(facts)?;
    let mut findings = Vec::new();
    for (at, injector) in injectors.iter().enumerate() {
        let others: Vec<&Injector<'_>> =
            injectors.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other).collect();
        findings.extend(pace(facts, injector, &others));
        findings.extend(shift(injector, &others));
    }
    Ok(findings)
}

/// An injector that is slower or faster than the others: than the one in the middle, so that one that is far apart
/// does not make the others look so; of two, the slower one.
fn pace(facts: &Facts<'_>, injector: &Injector<'_>, others: &[&Injector<'_>]) -> Option<Finding> {
    let own = injector.rate();
    let rates: Vec<f64> = others.iter().map(|other| other.rate()).collect();
    let usual = match rates.as_slice() {
        [other] => *other,
        rates => median(&[rates, &[own]].concat())?,
    };
    let expected = usual * injector.thread_seconds;
    // What is expected is a matter of chance too.
    let sent: f64 = others.iter().map(|other| other.requests).sum();
    let surprised = surprise(injector.requests, expected) / (1.0 + expected / sent);
    let apart = (own / usual - 1.0).abs() >= APART && surprised >= SURPRISE;
    if !apart || (own > usual && others.len() == 1) {
        return None;
    }
    let how = if own < usual { "fewer" } else { "more" };
    Some(Finding {
        kind: Kind::Injector,
        span: span(facts.body())?,
        what: format!("injector {} sends {how} requests a thread than the others", injector.name),
        evidence: format!("{}/s a thread, where {}/s is usual", figure(own), figure(usual)),
    })
}

/// An injector that begins or ends apart from the others.
fn shift(injector: &Injector<'_>, others: &[&Injector<'_>]) -> Option<Finding> {
    let rate = injector.requests / f64::from(Span { first: injector.first, last: injector.last }.seconds());
    let begin = others.iter().map(|other| other.first).min()?;
    let end = others.iter().map(|other| other.last).max()?;
    let apart = |seconds: u32| seconds >= SHIFT && f64::from(seconds) * rate >= SURPRISE;
    let (late, early) = (injector.first.saturating_sub(begin), end.saturating_sub(injector.last));
    let (is_late, is_early) = (apart(late), apart(early));
    // Where the others agree among themselves, an injector before all of them is as far out of step.
    let next = others.iter().map(|other| other.first).min()?.saturating_sub(injector.first);
    let over = injector.last.saturating_sub(others.iter().map(|other| other.last).max()?);
    let is_ahead = others.len() > 1 && apart(next) && apart(over.max(next)) && over == 0;
    let what = match (is_late, is_early) {
        (true, false) => format!(
            "injector {} begins {late} s after the others, or its clock is ahead of theirs",
            injector.name
        ),
        (false, true) => format!(
            "injector {} ends {early} s before the others, or its clock is behind theirs",
            injector.name
        ),
        (true, true) => format!(
            "injector {} begins {late} s after the others and ends {early} s before them",
            injector.name
        ),
        (false, false) if is_ahead => format!("injector {} begins {next} s before the others", injector.name),
        (false, false) => return None,
    };
    Some(Finding {
        kind: Kind::Injector,
        span: Span { first: begin.min(injector.first), last: end.max(injector.last) },
        what,
        evidence: format!("seconds {} to {}, the others {begin} to {end}", injector.first, injector.last),
    })
}

/// The injectors that the log tells apart, with what they sent in the seconds looked at.
fn gather<'a>(facts: &Facts<'a>) -> Result<Vec<Injector<'a>>> {
    let names = &facts.run.cells.injectors;
    let Some(window) = span(facts.body()) else { return Ok(Vec::new()) };
    let mut gathered: Vec<Injector<'a>> = names
        .iter()
        .map(|name| Injector { name, requests: 0.0, thread_seconds: 0.0, first: u32::MAX, last: 0 })
        .collect();
    for second in by_second(facts.run.cells.between(window.first, window.last), window) {
        let (second, cells) = second?;
        // The samples and the threads of each injector in the second.
        let mut loads: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        let requests = cells.iter().filter(|(key, _)| !key.transaction);
        for load in requests.flat_map(|(_, cell)| &cell.injectors) {
            let sums = loads.entry(load.injector).or_default();
            *sums = (sums.0 + load.samples as f64, sums.1 + load.threads as f64);
        }
        for (index, (samples, threads)) in loads {
            let injector = gathered.get_mut(index as usize).filter(|_| samples > 0.0);
            if let Some(injector) = injector {
                injector.requests += samples;
                injector.thread_seconds += threads / samples;
                injector.first = injector.first.min(second);
                injector.last = second;
            }
        }
    }
    gathered.retain(|injector| injector.requests > 0.0 && !injector.name.is_empty());
    Ok(gathered)
}
