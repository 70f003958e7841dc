//! Failures in bursts or at a steady share, with their most frequent causes.

use std::collections::BTreeMap;

use crate::diagnose::facts::Facts;
use crate::diagnose::failing::{self, FailingCount};
use crate::diagnose::finding::{Finding, FindingFigures, FindingKind};
use crate::diagnose::noise;
use crate::diagnose::noise::SURPRISE;
use crate::diagnose::seconds::{RuleSecond, span};
use crate::format::{counted, one_line};
use crate::view::phases::Span;

/// The least share of failures in a burst, on top of twice the steady share.
const BURST: f64 = 0.05;
/// The least steady share that is reported.
const STEADY: f64 = 0.01;
/// Lengths in seconds of the windows searched for bursts: single seconds may have too few requests.
const TOGETHER: [usize; 6] = [1, 2, 3, 4, 6, 9];
/// Failures last throughout if their first and last second span at least this share of the seconds.
const THROUGHOUT: f64 = 0.8;
/// The number of seconds without failures that ends a burst.
const QUIET: u32 = 3;
/// The largest number of bursts reported one by one.
const MOST_LISTED: usize = 10;
/// The largest number of causes in a finding.
const CAUSES: usize = 3;
/// The largest number of characters of a message in a finding.
const MESSAGE: usize = 60;

/// Returns the seconds of the bursts in which so many requests fail that their times say nothing.
pub(in crate::diagnose) fn bursts(facts: &Facts<'_>) -> Vec<Span> {
    let rows = facts.all();
    let stretches = failing::stretches(rows);
    let (burst, share) = bursting(rows, &stretches);
    let mut bursts = spans(rows, &burst, &stretches);
    bursts.retain(|span| {
        let (failed, sent) = sums(rows.iter().filter(|row| span.holds(row.second)));
        failed > (2.0 * share + BURST) * sent
    });
    bursts
}

/// Joins marked seconds to spans, over gaps shorter than [`QUIET`]. Two stretches are two spans.
fn spans(rows: &[RuleSecond], marked: &[bool], stretches: &[Option<usize>]) -> Vec<Span> {
    let mut spans: Vec<(Span, Option<usize>)> = Vec::new();
    for ((row, stretch), _) in rows.iter().zip(stretches).zip(marked).filter(|(_, marked)| **marked) {
        match spans.last_mut() {
            Some((last, of))
                if row.second <= last.last + QUIET
                    && (of.is_none() || stretch.is_none() || of == stretch) =>
            {
                last.last = row.second;
                *of = of.or(*stretch);
            }
            _ => spans.push((Span { first: row.second, last: row.second }, *stretch)),
        }
    }
    spans.into_iter().map(|(span, _)| span).collect()
}

/// Finds the bursts, largest first, and the failures at a steady share in the other seconds.
pub(in crate::diagnose) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let rows = facts.all();
    let Some(whole) = span(rows) else { return Vec::new() };
    let stretches = failing::stretches(rows);
    let (burst, share) = bursting(rows, &stretches);
    let mut bursts = spans(rows, &burst, &stretches);
    let in_burst = |span: Span| rows.iter().filter(move |row| span.holds(row.second));
    bursts.sort_by_key(|span| std::cmp::Reverse(in_burst(*span).map(|row| row.failures).sum::<u64>()));
    let more = bursts.len().saturating_sub(MOST_LISTED);
    let listed = bursts.iter().take(MOST_LISTED).enumerate().map(|(at, span)| {
        let mut figures = FindingFigures::default();
        let rest = if more > 0 && at + 1 == MOST_LISTED {
            format!("; {more} smaller bursts are not listed")
        } else {
            String::new()
        };
        let (failed, sent) = sums(in_burst(*span));
        let around = match (span.first > whole.first, span.last < whole.last) {
            (true, false) => "before",
            (false, true) => "after",
            _ => "before and after",
        };
        Finding {
            kind: FindingKind::Failures,
            span: *span,
            what: format!(
                "{} of {} requests fail in {} s: {}, {around} {}{rest}",
                figures.few("failures", failed, "requests"),
                figures.few("requests", sent, "requests"),
                figures.whole("seconds", span.seconds().into(), "s"),
                figures.share("share", failed / sent),
                figures.share("share_usual", share),
            ),
            evidence: causes(facts, *span, &[]),
            figures: figures.done(),
            injector: None,
        }
    });
    let mut findings: Vec<Finding> = listed.collect();
    findings.extend(steady(facts, rows, &burst, share, &bursts));
    findings
}

/// Finds failures at a steady share, if the lower confidence limit of the share is large enough.
fn steady(
    facts: &Facts<'_>,
    rows: &[RuleSecond],
    burst: &[bool],
    share: f64,
    bursts: &[Span],
) -> Option<Finding> {
    let others = || rows.iter().zip(burst).filter(|(_, burst)| !**burst).map(|(row, _)| row);
    let (failed, sent) = sums(others());
    if share < STEADY || noise::share_interval(failed, sent).0 < STEADY {
        return None;
    }
    let mut failing = others().filter(|row| row.failures > 0).map(|row| row.second);
    let first = failing.next()?;
    let seen = Span { first, last: failing.next_back().unwrap_or(first) };
    let whole = span(rows)?;
    let (span, when) = if f64::from(seen.seconds()) >= THROUGHOUT * f64::from(whole.seconds()) {
        (whole, "throughout the run".to_owned())
    } else {
        (seen, format!("between second {} and {}", seen.first, seen.last))
    };
    let (failed, sent) = sums(others().filter(|row| span.holds(row.second)));
    let (least, most) = noise::share_interval(failed, sent);
    let mut figures = FindingFigures::default();
    let others = if bursts.is_empty() { "" } else { ", apart from bursts" };
    Some(Finding {
        kind: FindingKind::Failures,
        span,
        what: format!(
            "{} of {} requests fail, {when}{others}",
            figures.few("failures", failed, "requests"),
            figures.few("requests", sent, "requests")
        ),
        evidence: format!(
            "{} ({} to {}); {}",
            figures.share("share", failed / sent),
            figures.share("share_least", least),
            figures.share("share_most", most),
            causes(facts, whole, bursts)
        ),
        figures: figures.done(),
        injector: None,
    })
}

fn sums<'a>(rows: impl Iterator<Item = &'a RuleSecond>) -> (f64, f64) {
    let FailingCount { failed, sent } = rows.map(FailingCount::of).sum();
    (failed, sent)
}

/// Marks the seconds of stretches, and others with more failures than the share of the rest explains, and returns that share.
fn bursting(rows: &[RuleSecond], stretches: &[Option<usize>]) -> (Vec<bool>, f64) {
    let others = rows.iter().zip(stretches).filter(|(_, stretch)| stretch.is_none());
    let others: Vec<FailingCount> = others.map(|(row, _)| FailingCount::of(row)).collect();
    let (burst, share) = bursting_apart(&others);
    let mut burst = burst.into_iter();
    let marks = stretches.iter().map(|stretch| stretch.is_some() || burst.next().unwrap_or_default());
    (marks.collect(), share)
}

/// Marks the seconds with more failures than the share of the others explains, and returns that share.
fn bursting_apart(seconds: &[FailingCount]) -> (Vec<bool>, f64) {
    let mut burst = vec![false; seconds.len()];
    let mut share = 0.0;
    // Each round improves the steady share. It ends at the latest when every second is in a burst.
    for _ in 0..=seconds.len().min(20) {
        let others: Vec<FailingCount> = unmarked(seconds, &burst).collect();
        share = others.iter().copied().sum::<FailingCount>().share();
        let next = marked(seconds, &burst, &others);
        if next == burst {
            break;
        }
        burst = next;
    }
    (burst, share)
}

fn unmarked(seconds: &[FailingCount], marks: &[bool]) -> impl Iterator<Item = FailingCount> {
    seconds.iter().zip(marks).filter(|(_, marked)| !**marked).map(|(count, _)| *count)
}

/// Marks the seconds with many failures, alone or with their neighbours, compared with the others: all seconds not marked
/// before.
fn marked(seconds: &[FailingCount], before: &[bool], others: &[FailingCount]) -> Vec<bool> {
    let mut marked = vec![false; seconds.len()];
    let least = SURPRISE * failing::usual_dispersion(others);
    let all: FailingCount = others.iter().copied().sum();
    for together in TOGETHER {
        for (first, window) in seconds.windows(together).enumerate() {
            let inside: FailingCount = window.iter().copied().sum();
            if inside.share() <= BURST {
                continue;
            }
            let others = all - unmarked(window, before.get(first..).unwrap_or_default()).sum();
            let many = |count: FailingCount| count.share() > 2.0 * others.share() + BURST;
            if !many(inside) || inside.contrast(others) < least {
                continue;
            }
            for (count, mark) in window.iter().zip(marked.iter_mut().skip(first)) {
                *mark |= many(*count);
            }
        }
    }
    marked
}

/// Describes the most frequent failures of a span, without those in `without`: count, response code and message.
fn causes(facts: &Facts<'_>, span: Span, without: &[Span]) -> String {
    let label = facts.view.label.as_deref();
    let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for error in &facts.run.errors {
        let counted = span.holds(error.second)
            && !without.iter().any(|other| other.holds(error.second))
            && (facts.view.transactions || !error.transaction)
            && label.is_none_or(|label| label == &*error.label);
        if counted {
            *counts.entry((&error.response_code, &error.message)).or_default() += error.count;
        }
    }
    let mut most: Vec<((&str, &str), u64)> = counts.into_iter().collect();
    most.sort_by_key(|(cause, count)| (std::cmp::Reverse(*count), *cause));
    let more = most.len().saturating_sub(CAUSES);
    let mut causes: Vec<String> = most
        .iter()
        .take(CAUSES)
        .map(|((code, message), count)| {
            let short: String = message.chars().take(MESSAGE).collect();
            let cut = if short.len() < message.len() { "…" } else { "" };
            let code = if code.is_empty() { "no code".to_owned() } else { format!("code {code}") };
            let short = one_line(&short);
            let message = if short.is_empty() { String::new() } else { format!(" ({short}{cut})") };
            format!("{} with {code}{message}", counted(*count, "failure"))
        })
        .collect();
    causes.extend((more > 0).then(|| counted(more as u64, "other cause")));
    causes.join(", ")
}
