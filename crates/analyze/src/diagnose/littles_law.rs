//! Little's law: threads that are always waiting for an answer are as many as the rate times the time of the requests.

use super::facts::{Facts, figure, loads, percent, requests, span};
use super::{Finding, Kind};
use crate::timeline::Second;

/// By how much the two may differ, as a share of the threads.
const SLACK: f64 = 0.15;
/// Times the mean elapsed that must be looked at, so that requests across the ends do not matter.
const LENGTHS: f64 = 20.0;
/// Requests that must be looked at.
const REQUESTS: f64 = 200.0;

/// Compares the threads to what the requests keep busy, in the hold. Seconds in which most requests fail are left
/// out; silent ones are counted where that is in favour of the law.
pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    if facts.view.label.is_some() || facts.view.transactions {
        // The load is that of all requests, and of nothing else.
        return None;
    }
    let rows = facts.steady();
    let counted: Vec<(&Second, f64)> = rows
        .iter()
        .zip(loads(rows))
        .filter(|(row, _)| row.failures <= row.successes)
        .filter_map(|(row, load)| Some((row, load?)))
        .collect();
    let busy_ms: f64 = counted.iter().map(|(row, _)| requests(row) * row.elapsed_mean.unwrap_or(0.0)).sum();
    let sent: f64 = counted.iter().map(|(row, _)| requests(row)).sum();
    let threads = |silent: bool| -> f64 {
        counted.iter().filter(|(row, _)| silent || requests(row) > 0.0).map(|(_, load)| load).sum()
    };
    if sent < REQUESTS || threads(false) <= 0.0 || (counted.len() as f64) * 1000.0 * sent < LENGTHS * busy_ms
    {
        return None;
    }
    let (most, least) = (busy_ms / 1000.0 / threads(false), busy_ms / 1000.0 / threads(true));
    let seconds = counted.len() as f64;
    let (load, rate, elapsed) = (threads(true) / seconds, sent / seconds, busy_ms / sent);
    let figures = format!(
        "{} threads; {}/s × {} ms = {} threads",
        figure(load),
        figure(rate),
        figure(elapsed),
        figure(rate * elapsed / 1000.0)
    );
    let finding = |what: String| Finding {
        kind: Kind::LittlesLaw,
        span: span(rows).unwrap_or(crate::phases::Span { first: 0, last: 0 }),
        what,
        evidence: figures,
    };
    if most < 1.0 - SLACK {
        let idle = 1.0 - most;
        return Some(finding(format!(
            "threads wait for nothing {} of the time: think time or timers, or a client that can't keep up",
            percent(idle)
        )));
    }
    (least > 1.0 + SLACK).then(|| {
        let times = (least * f64::from(facts.view.injectors)).round().max(2.0);
        finding(format!(
            "requests keep more threads busy than there are: several injectors that the log can't tell apart \
             (--injectors {times} fits), or requests that one thread sends in parallel"
        ))
    })
}
