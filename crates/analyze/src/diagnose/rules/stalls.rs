//! Stalls: stretches in which everything waited. Either seconds have few requests or none, since every thread waited
//! for an answer; or, if threads think or requests are sent at their own pace, the requests of some seconds waited
//! long.

use crate::diagnose::chance::{SURPRISE, surprise};
use crate::diagnose::expected::{self, Row};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, FindingKind};
use crate::diagnose::waits::{self, Chance, Waits};
use crate::error::Result;
use crate::format::figure;
use crate::stats::median::upper_median;
use crate::view::phases::Span;

/// A stretch has few requests if they are at most this share of those expected.
const FEW: f64 = 0.4;
/// The number of seconds with few requests that any run may begin with, since its threads begin one by one. If the log
/// does not have the threads, it may be any number.
const BEGIN: usize = 3;
/// The largest number of stalls reported one by one, longest first; the rest is counted with the last one.
const MOST_LISTED: usize = 10;
/// Stretches of slow requests longer than this many seconds are a change, not a stall.
const LONG: usize = 30;
/// The least surprise of a possible stall, which is reported only if it recurs periodically.
const MAYBE: f64 = 4.0;
/// Conditions of periodic stalls: the least number of stalls, the least share of intervals equal to the period, and the
/// least sum of their surprises in multiples of that of a single stall.
const PERIODIC: (usize, f64, f64) = (6, 0.75, 3.0);
/// How much an interval may differ from the period: seconds, or a share of it.
const JITTER: (f64, f64) = (1.0, 0.1);

/// A second with the waits that begin in it.
type Looked = (Row, Waits);

/// A stretch in which everything waited.
#[derive(Clone)]
struct Stall {
    span: Span,
    requests: f64,
    expected: f64,
    /// The longest wait that is long (see [`waits`]), in ms.
    longest: f64,
    is_few: bool,
    surprise: f64,
}

/// The stalls of a run.
pub(in crate::diagnose) struct Stalls {
    /// Stalls that chance does not explain, each by itself.
    sure: Vec<Stall>,
    /// All possible stalls, if they are periodic.
    periodic: Option<Vec<Stall>>,
}

/// The usual variation of a run.
struct Usual {
    /// The dispersion of the counts of seconds (1 for Poisson counts).
    dispersion: f64,
    chance: Chance,
    seconds: f64,
}

/// Finds stretches in which requests are few, or many wait long, to a degree that chance does not explain.
pub(in crate::diagnose) fn gather(facts: &Facts<'_>) -> Result<Stalls> {
    let (rows, dispersion) = expected::rows(facts);
    let (waits, chance) = waits::of_seconds(facts)?;
    let usual = Usual { dispersion, chance, seconds: rows.len() as f64 };
    let looked: Vec<Looked> = rows.into_iter().zip(waits).collect();
    let apart = |(row, waits): &Looked| row.is_few() || waits.is_many;
    let stretches = looked.chunk_by(|a, b| apart(a) == apart(b));
    let stretches = stretches.filter(|stretch| stretch.first().is_some_and(apart));
    let stalls: Vec<Stall> = stretches.filter_map(|stretch| stall(stretch, &usual)).collect();
    let sure = stalls.iter().filter(|stall| stall.surprise >= SURPRISE).cloned().collect();
    Ok(Stalls { sure, periodic: (period(&stalls).is_some()).then_some(stalls) })
}

/// Returns a possible stall with its surprise.
fn stall(stretch: &[Looked], usual: &Usual) -> Option<Stall> {
    let (first, last) = (stretch.first()?.0.second, stretch.last()?.0.second);
    let few = stretch.iter().filter(|(row, _)| row.is_few());
    let (requests, expected) =
        few.fold((0.0, 0.0), |(count, sum), (row, _)| (count + row.count, sum + row.expected));
    let longest = stretch.iter().map(|(_, waits)| waits.longest).fold(0.0, f64::max);
    let is_known = stretch.iter().any(|(_, waits)| waits.threads.is_some());
    let begins = first == 0 && (stretch.len() <= BEGIN || !is_known);
    let of_counts = if requests <= FEW * expected && !begins {
        (surprise(requests, expected) / usual.dispersion).min(all_wait(stretch, longest, usual))
    } else {
        0.0
    };
    let of_waits = if longest >= waits::LONGEST { waited(stretch) } else { 0.0 };
    let surprise = of_counts.max(of_waits);
    let is_few = of_counts >= MAYBE;
    let stall = Stall { span: Span { first, last }, requests, expected, longest, is_few, surprise };
    (surprise >= MAYBE).then_some(stall)
}

/// Returns the surprise of so many waiting so long: that of the count by [`surprise`], plus Chernoff's bound on the sum
/// of exponential variables for the durations.
fn waited(stretch: &[Looked]) -> f64 {
    let (mut waiting, mut expected, mut excess) = (0.0, 0.0, 0.0);
    for (row, waits) in stretch.iter().filter(|(_, waits)| waits.is_many) {
        waiting += waits.waiting;
        excess += waits.excess;
        expected += waits.likely * waits.successes.max(row.expected);
    }
    if waiting <= expected || stretch.len() > LONG {
        return 0.0;
    }
    let longer = if excess > waiting { excess - waiting - waiting * (excess / waiting).ln() } else { 0.0 };
    surprise(waiting, expected) + longer
}

/// Returns the surprise of all threads waiting at once in any of the run's seconds. With few threads, a few long
/// requests are enough for that.
fn all_wait(stretch: &[Looked], longest: f64, usual: &Usual) -> f64 {
    let Some(threads) = stretch.iter().find_map(|(_, waits)| waits.threads) else { return f64::INFINITY };
    let long = if longest > 0.0 { longest } else { stretch.len() as f64 * 1000.0 };
    threads * usual.chance.held(long) - usual.seconds.ln()
}

impl Stalls {
    /// Leaves out the stalls that overlap a span.
    pub(in crate::diagnose) fn leave_out(&mut self, span: Option<Span>) {
        self.sure.retain(|stall| span.is_none_or(|span| stall.span.shared(span).is_none()));
    }

    /// Returns the seconds of the stalls.
    pub(in crate::diagnose) fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        self.periodic.as_ref().unwrap_or(&self.sure).iter().map(|stall| stall.span)
    }

    /// Reports the stalls: one by one, or as one finding if they are periodic.
    pub(in crate::diagnose) fn findings(&self) -> Vec<Finding> {
        match self.periodic.as_deref().and_then(periodic) {
            Some(periodic) => vec![periodic],
            None => one_by_one(&self.sure),
        }
    }
}

fn one_by_one(stalls: &[Stall]) -> Vec<Finding> {
    let mut stalls = stalls.to_vec();
    stalls.sort_by_key(|stall| (std::cmp::Reverse(stall.span.seconds()), stall.span.first));
    let more = stalls.len().saturating_sub(MOST_LISTED);
    let finding = |(at, stall): (usize, &Stall)| {
        let rest = if more > 0 && at + 1 == MOST_LISTED {
            format!("; {more} shorter ones are not listed")
        } else {
            String::new()
        };
        Finding {
            kind: FindingKind::Stall,
            span: stall.span,
            what: format!("{}{rest}", stall.what()),
            evidence: stall.evidence(),
        }
    };
    stalls.iter().take(MOST_LISTED).enumerate().map(finding).collect()
}

impl Stall {
    fn what(&self) -> String {
        let seconds = self.span.seconds();
        match (self.is_few, self.requests == 0.0) {
            (true, true) => format!("no requests for {seconds} s"),
            (true, false) => format!("few requests for {seconds} s"),
            (false, _) => format!("requests wait up to {} s", figure(self.longest / 1000.0)),
        }
    }

    /// Describes the evidence, with the requests that percentiles leave out: clients that wait for an answer before
    /// they ask again do not send requests in a pause, which would all have been slow (Tene's "coordinated omission").
    fn evidence(&self) -> String {
        let missing = (self.expected - self.requests).round().max(0.0);
        let counted = format!(
            "{} requests, where {} are expected",
            figure(self.requests),
            figure(self.expected.round())
        );
        let omitted = format!(
            "the percentiles miss about {} requests, which were not sent while the clients waited",
            figure(missing)
        );
        let waited =
            (self.longest > 0.0).then(|| format!("the longest takes {} s", figure(self.longest / 1000.0)));
        let counted = self.is_few.then_some([counted, omitted]).into_iter().flatten();
        counted.chain(waited).collect::<Vec<_>>().join("; ")
    }
}

/// Returns the time in seconds from one stall to the next, if it is mostly the same.
fn period(stalls: &[Stall]) -> Option<f64> {
    let times: Vec<f64> = stalls
        .iter()
        .zip(stalls.iter().skip(1))
        .map(|(one, next)| f64::from(next.span.first.saturating_sub(one.span.first)))
        .collect();
    let usual = upper_median(&times).filter(|_| stalls.len() >= PERIODIC.0)?;
    let near = |time: &&f64| (**time - usual).abs() <= (JITTER.1 * usual).max(JITTER.0);
    let same: Vec<f64> = times.iter().filter(near).copied().collect();
    let surprised: f64 = stalls.iter().map(|stall| stall.surprise).sum();
    let is_period =
        same.len() as f64 >= PERIODIC.1 * times.len() as f64 && surprised >= PERIODIC.2 * SURPRISE;
    is_period.then(|| same.iter().sum::<f64>() / same.len() as f64)
}

/// Reports periodic stalls as one finding.
fn periodic(stalls: &[Stall]) -> Option<Finding> {
    let period = period(stalls)?;
    let longest = stalls.iter().map(|stall| stall.longest).fold(0.0, f64::max);
    let lengths: Vec<f64> = stalls.iter().map(|stall| stall.span.seconds().into()).collect();
    let length = if longest > 0.0 { longest / 1000.0 } else { upper_median(&lengths)? };
    let sum = |of: fn(&Stall) -> f64| stalls.iter().map(of).sum::<f64>();
    let missing = (sum(|stall| stall.expected) - sum(|stall| stall.requests)).max(0.0).round();
    Some(Finding {
        kind: FindingKind::Stall,
        span: Span { first: stalls.first()?.span.first, last: stalls.last()?.span.last },
        what: format!(
            "a stall of up to {} s every {} s, {} times",
            figure(length),
            figure(period),
            stalls.len()
        ),
        evidence: format!(
            "the percentiles miss about {} requests, which were not sent while the clients waited",
            figure(missing)
        ),
    })
}
