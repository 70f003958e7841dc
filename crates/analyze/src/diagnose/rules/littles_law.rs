//! Little's law: if threads always wait for an answer, their number is the rate times the time of the requests.

use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, FindingFigures, FindingKind};
use crate::diagnose::seconds::{RuleSecond, requests, span};

/// The difference allowed, as a share of the threads.
const SLACK: f64 = 0.15;
/// The least length of the seconds, in mean elapsed times, so that requests across the ends do not matter.
const LENGTHS: f64 = 20.0;
/// The least number of requests.
const REQUESTS: f64 = 200.0;
/// The number of parts of the run in which think time must be the same, and the least number of requests in a part.
const PARTS: (usize, f64) = (8, 30.0);
/// The difference of think times allowed: as a share, and in standard errors of the mean of exponential times.
const SAME: (f64, f64) = (0.1, 4.0);

/// Compares the threads with those that the requests keep busy, in the hold. Seconds in which most requests fail are
/// left out; silent seconds are counted where that favours the law.
pub(in crate::diagnose) fn find(facts: &Facts<'_>) -> Option<Finding> {
    if facts.view.label.is_some() || facts.view.transactions {
        // The load is that of all requests, and of nothing else.
        return None;
    }
    let rows = facts.steady();
    let counted: Vec<(&RuleSecond, f64)> = rows
        .iter()
        .filter(|row| row.failures <= row.successes)
        .filter_map(|row| Some((row, row.load()?)))
        .collect();
    let busy_ms: f64 = counted.iter().map(|(row, _)| requests(row) * row.elapsed_mean).sum();
    let sent: f64 = counted.iter().map(|(row, _)| requests(row)).sum();
    let threads = |silent: bool| -> f64 {
        counted.iter().filter(|(row, _)| silent || requests(row) > 0.0).map(|(_, load)| load).sum()
    };
    if sent < REQUESTS || threads(false) <= 0.0 || (counted.len() as f64) * 1000.0 * sent < LENGTHS * busy_ms
    {
        return None;
    }
    let within_ms = busy_ms - after(rows);
    let (most, least) = (busy_ms / 1000.0 / threads(false), within_ms / 1000.0 / threads(true));
    // If the load follows the requests, it is the number of busy threads by construction.
    if most < 1.0 - SLACK && facts.load_follows {
        return None;
    }
    let seconds = counted.len() as f64;
    let (load, rate, elapsed) = (threads(true) / seconds, sent / seconds, busy_ms / sent);
    let mut figures = FindingFigures::default();
    let (kind, what) = if most < 1.0 - SLACK {
        waiting(facts, rate * elapsed / 1000.0 / load, &mut figures)
    } else if least > 1.0 + SLACK && !facts.distinguishes_injectors() {
        // If the log distinguishes injectors, their number is known.
        (FindingKind::LittlesLaw, too_busy(facts, least, &mut figures))
    } else {
        return None;
    };
    let evidence = format!(
        "{} threads; {}/s × {} ms = {} threads",
        figures.few("load", load, "threads"),
        figures.few("rate", rate, "1/s"),
        figures.few("elapsed_mean", elapsed, "ms"),
        figures.few("busy", rate * elapsed / 1000.0, "threads")
    );
    Some(Finding { kind, span: span(rows)?, what, evidence, figures: figures.done(), injector: None })
}

/// Describes threads that are busy only for a share of the time. It is a note if think time explains it.
fn waiting(facts: &Facts<'_>, busy: f64, figures: &mut FindingFigures) -> (FindingKind, String) {
    let idle = figures.share("idle", 1.0 - busy);
    match think_time(facts) {
        Some(think) => {
            let ms = figures.few("think_time", think * 1000.0, "ms");
            let what = format!(
                "threads are idle {idle} of the time: a mean pause of {ms} ms a request explains it (think time, timers, or \
                 a fixed rate)"
            );
            (FindingKind::Note, what)
        }
        None => {
            let what = format!(
                "threads are idle {idle} of the time, in pauses of varying length: a rate that varies, random timers, or \
                 an overloaded client"
            );
            (FindingKind::LittlesLaw, what)
        }
    }
}

/// Describes requests that keep `times` as many threads busy as there are.
fn too_busy(facts: &Facts<'_>, times: f64, figures: &mut FindingFigures) -> String {
    let injectors = (times * f64::from(facts.view.injectors)).round().max(2.0);
    let injectors = figures.whole("injectors", injectors as i64, "injectors");
    format!(
        "requests keep more threads busy than the log has: several injectors that the log does not name \
         ({injectors} would fit), or parallel requests of one thread"
    )
}

/// Returns the time in ms by which the longest request of each second outlasts the last second, summed up. With few
/// threads and scattered times, a single request may be a good part of the total.
fn after(rows: &[RuleSecond]) -> f64 {
    let end = rows.last().map_or(0.0, |row| (f64::from(row.second) + 1.0) * 1000.0);
    rows.iter().map(|row| (f64::from(row.second) * 1000.0 + row.elapsed_max - end).max(0.0)).sum()
}

/// Returns the time in seconds that a thread waits between two requests, if it is the same in all parts of the run,
/// whatever their load: only think time is.
fn think_time(facts: &Facts<'_>) -> Option<f64> {
    let rows = facts.body();
    let rows: Vec<(&RuleSecond, f64)> = rows.iter().filter_map(|row| Some((row, row.load()?))).collect();
    // The first part is left out: threads send their first request some time after they have begun.
    let part = rows.len().div_ceil(PARTS.0).max(1);
    let waited = |rows: &[(&RuleSecond, f64)]| {
        let sent: f64 = rows.iter().map(|(row, _)| requests(row)).sum();
        let busy: f64 = rows.iter().map(|(row, _)| requests(row) * row.elapsed_mean / 1000.0).sum();
        let threads: f64 = rows.iter().map(|(_, load)| load).sum();
        // Requests that come in bursts, as those of a page, say as much as fewer that come one by one.
        let squares: f64 =
            rows.iter().map(|(row, load)| (requests(row) - load * sent / threads).powi(2)).sum();
        let bursts = (squares / sent).max(1.0);
        // The few longest requests, as those that hang, are most of the scatter of the busy time.
        let longest: f64 = rows.iter().map(|(row, _)| (row.elapsed_max / 1000.0).powi(2)).sum();
        let scatter = (threads / sent * (bursts / sent).sqrt()).hypot(longest.sqrt() / sent);
        ((threads - busy) / sent, scatter, sent)
    };
    let (think, _, sent) = waited(rows.get(part..)?);
    let same = |(own, scatter, sent): (f64, f64, f64)| {
        sent < PARTS.1 || (own - think).abs() <= (SAME.0 * think).max(SAME.1 * scatter)
    };
    (sent > 0.0 && think > 0.0 && rows.get(part..)?.chunks(part).map(waited).all(same)).then_some(think)
}
