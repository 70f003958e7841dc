//! Stalls: stretches in which everything waited. Either seconds have few requests or none, since every thread waited
//! for an answer; or, if threads think or requests are sent at their own pace, the requests of some seconds waited
//! long.

use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, FindingFigures, FindingKind};
use crate::diagnose::noise::{SURPRISE, surprise};
use crate::diagnose::waits::{self, ExpectedSecond, UsualTimes, Waits};
use crate::error::Result;
use crate::format::figure;
use crate::stats::percentile::upper_median;
use crate::view::phases::Span;

/// A stretch has few requests if they are at most this share of those expected.
const FEW: f64 = 0.4;
/// The number of seconds with few requests that any run may begin with, since its threads begin one by one. If the log
/// does not have the threads, it may be any number.
const BEGIN: usize = 3;
/// A pause of at least this many seconds may be the time between two runs.
const APPENDED: u32 = 60;
/// The largest number of stalls reported one by one, longest first; the rest is counted with the last one.
const MOST_LISTED: usize = 10;
/// Stretches of slow requests longer than this many seconds are a change, not a stall.
const LONG: usize = 30;
/// A stretch is a stall if a request waits for at least this share of the time in which requests were missing, and requests
/// hold at least this share of the threads meanwhile. Otherwise the threads paused.
const WAITED: (f64, f64) = (0.25, 0.3);
/// If none waits so long, few requests for this many seconds are no stall if the median is this many times the usual one:
/// the server answers all the time, but slowly.
const SLOW: (usize, f64) = (4, 2.0);
/// From this many seconds on, a stretch of long waits is a stall only if one of them takes at least this share of it.
const WAITING: (usize, f64) = (8, 0.25);
/// The least surprise of the slowest request of a stall in which requests come as usual.
const EVENT: f64 = 6.0;
/// The least surprise of a possible stall, which is reported only if it recurs periodically.
const MAYBE: f64 = 4.0;
/// Conditions of periodic stalls: the least number of stalls, the least share of intervals equal to the period, and the
/// least sum of their surprises in multiples of that of a single stall.
const PERIODIC: (usize, f64, f64) = (6, 0.75, 3.0);
/// How much an interval may differ from the period: seconds, or a share of it.
const JITTER: (f64, f64) = (1.0, 0.1);

/// Consecutive seconds: of each its requests and its waits.
#[derive(Clone, Copy)]
struct SecondsInView<'a> {
    rows: &'a [ExpectedSecond],
    waits: &'a [Waits],
}

/// A stretch in which everything waited.
#[derive(Clone)]
struct Stall {
    span: Span,
    requests: f64,
    expected: f64,
    /// The longest wait that is long (see [`waits`]), in ms.
    longest: f64,
    /// The longest request, in ms.
    slowest: f64,
    /// The mean number of requests in flight.
    in_flight: f64,
    is_few: bool,
    /// Whether it is not since requests waited that few were sent.
    is_pause: bool,
    surprise: f64,
}

/// The stalls of a run: those in which requests waited, and pauses.
pub(in crate::diagnose) struct Stalls([Group; 2]);

/// Stalls of one sort.
struct Group {
    /// Stalls that chance does not explain, each by itself.
    sure: Vec<Stall>,
    /// All possible stalls, if they are periodic.
    periodic: Option<Vec<Stall>>,
}

/// The usual variation of a run.
struct Usual {
    /// The dispersion of the counts of seconds (1 for Poisson counts).
    dispersion: f64,
    chance: UsualTimes,
    seconds: f64,
}

/// Finds stretches in which requests are few, or many wait long, to a degree that chance does not explain.
pub(in crate::diagnose) fn gather(facts: &Facts<'_>) -> Result<Stalls> {
    let (rows, dispersion) = waits::expected_seconds(facts);
    let (waits, chance) = waits::of_seconds(facts)?;
    let usual = Usual { dispersion, chance, seconds: rows.len() as f64 };
    let suspect: Vec<bool> =
        rows.iter().zip(&waits).map(|(row, waits)| row.is_few() || waits.many.is_some()).collect();
    let (mut stalls, mut from) = (Vec::new(), 0);
    for stretch in suspect.chunk_by(|one, next| one == next) {
        let seconds = from..from + stretch.len();
        from = seconds.end;
        let looked = rows.get(seconds.clone()).zip(waits.get(seconds));
        let looked = looked.filter(|_| stretch.first() == Some(&true));
        stalls.extend(looked.and_then(|(rows, waits)| stall(SecondsInView { rows, waits }, &usual)));
    }
    let slowest = facts.slowest(None);
    let is_event =
        |stall: &Stall| stall.longest >= waits::LONGEST && slowest.surprise(stall.slowest) >= EVENT;
    let is_sure = |stall: &&Stall| stall.surprise >= SURPRISE && (stall.is_few || is_event(stall));
    let group = |stalls: Vec<Stall>| Group {
        sure: stalls.iter().filter(is_sure).cloned().collect(),
        periodic: period(&stalls).is_some().then_some(stalls),
    };
    let (pauses, waits) = stalls.into_iter().partition(|stall| stall.is_pause);
    Ok(Stalls([group(waits), group(pauses)]))
}

/// Returns a possible stall with its surprise.
fn stall(stretch: SecondsInView<'_>, usual: &Usual) -> Option<Stall> {
    let SecondsInView { rows, waits } = stretch;
    let (first, last) = (rows.first()?.second, rows.last()?.second);
    let few = rows.iter().filter(|row| row.is_few());
    let (requests, expected) =
        few.fold((0.0, 0.0), |(count, sum), row| (count + row.count, sum + row.expected));
    let longest = waits.iter().map(|waits| waits.longest).fold(0.0, f64::max);
    let threads = known_threads(waits);
    let begins = first == 0 && (rows.len() <= BEGIN || threads.is_none());
    let (span, seconds) = (Span { first, last }, rows.len() as f64);
    let slowest = waits.iter().map(|waits| waits.slowest).fold(0.0, f64::max);
    // The time in which requests were missing, in ms.
    let missing = 1000.0 * seconds * (1.0 - requests / expected.max(f64::MIN_POSITIVE));
    let in_flight: f64 = waits.iter().map(|waits| f64::from(waits.in_flight)).sum();
    // Where each request has a thread of its own, those in flight are all.
    let load = waits.iter().map(|waits| f64::from(waits.load)).find(|load| !load.is_nan());
    let is_held = load.is_none_or(|load| in_flight >= WAITED.1 * missing / 1000.0 * load);
    let has_waited = slowest >= WAITED.0 * missing && is_held;
    let answers_slowly = !has_waited && is_slow(waits);
    let of_counts = if requests <= FEW * expected && !begins && !answers_slowly {
        let waiting = if has_waited { all_wait(waits, longest, usual) } else { f64::INFINITY };
        (surprise(requests, expected) / usual.dispersion).min(waiting)
    } else {
        0.0
    };
    let is_one_wait = rows.len() < WAITING.0 || longest >= WAITING.1 * 1000.0 * seconds;
    let of_waits = if is_one_wait { waited(stretch) } else { 0.0 };
    let surprise = of_counts.max(of_waits);
    let is_few = of_counts >= MAYBE;
    let is_pause = is_few && !has_waited;
    let in_flight = in_flight / seconds;
    let stall = Stall { span, requests, expected, longest, slowest, in_flight, is_few, is_pause, surprise };
    (surprise >= MAYBE).then_some(stall)
}

fn known_threads(waits: &[Waits]) -> Option<f64> {
    waits.iter().find_map(|waits| waits.threads.get())
}

/// Returns true if the requests of some seconds are slow, but answered all the time.
fn is_slow(waits: &[Waits]) -> bool {
    let times: Vec<f64> = waits.iter().map(|waits| waits.times).collect();
    waits.len() >= SLOW.0 && upper_median(&times).is_some_and(|times| times >= SLOW.1)
}

/// Returns the surprise of so many waiting so long: that of the count by [`surprise`], plus Chernoff's bound on the sum
/// of exponential variables for the durations.
fn waited(SecondsInView { rows, waits }: SecondsInView<'_>) -> f64 {
    let (mut waiting, mut expected, mut excess) = (0.0, 0.0, 0.0);
    for (row, many) in rows.iter().zip(waits).filter_map(|(row, waits)| Some((row, waits.many.as_ref()?))) {
        waiting += many.waiting;
        excess += many.excess;
        expected += many.likely * many.successes.max(row.expected);
    }
    if waiting <= expected || rows.len() > LONG {
        return 0.0;
    }
    let longer = if excess > waiting { excess - waiting - waiting * (excess / waiting).ln() } else { 0.0 };
    surprise(waiting, expected) + longer
}

/// Returns the surprise of all threads waiting at once in any of the run's seconds. With few threads, a few long
/// requests are enough for that.
fn all_wait(waits: &[Waits], longest: f64, usual: &Usual) -> f64 {
    let Some(threads) = known_threads(waits) else { return f64::INFINITY };
    // Two requests of a thread, one after the other, hold it as long as one that takes as long as both.
    let long = if longest > 0.0 { longest / 2.0 } else { waits.len() as f64 * 1000.0 };
    threads * usual.chance.held(long) - usual.seconds.ln()
}

impl Stalls {
    /// Leaves out the stalls that overlap a span.
    pub(in crate::diagnose) fn leave_out(&mut self, span: Option<Span>) {
        let is_left = |stall: &Stall| span.is_none_or(|span| stall.span.shared(span).is_none());
        self.0.iter_mut().for_each(|group| group.sure.retain(is_left));
    }

    /// Returns the seconds of the stalls.
    pub(in crate::diagnose) fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        self.0.iter().flat_map(|group| group.periodic.as_ref().unwrap_or(&group.sure)).map(|stall| stall.span)
    }

    /// Reports the stalls of each sort: one by one, or as one finding if they are periodic or many pauses.
    pub(in crate::diagnose) fn findings(&self) -> Vec<Finding> {
        self.0.iter().flat_map(Group::findings).collect()
    }
}

impl Group {
    fn findings(&self) -> Vec<Finding> {
        let is_pauses = self.sure.len() > MOST_LISTED && self.sure.iter().all(|stall| stall.is_pause);
        let as_one = self.periodic.as_ref().or(is_pauses.then_some(&self.sure));
        match as_one.and_then(|stalls| recurring(stalls)) {
            Some(recurring) => vec![recurring],
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
        let mut figures = FindingFigures::default();
        Finding {
            kind: if stall.is_pause { FindingKind::Pause } else { FindingKind::Stall },
            span: stall.span,
            what: format!("{}{rest}", stall.what(&mut figures)),
            evidence: stall.evidence(&mut figures),
            figures: figures.done(),
            injector: None,
        }
    };
    stalls.iter().take(MOST_LISTED).enumerate().map(finding).collect()
}

impl Stall {
    fn what(&self, figures: &mut FindingFigures) -> String {
        if !self.is_few {
            return format!("requests wait up to {} s", figures.few("longest", self.longest / 1000.0, "s"));
        }
        let seconds = figures.whole("seconds", self.span.seconds().into(), "s");
        if self.requests == 0.0 {
            format!("no requests for {seconds} s")
        } else {
            format!("few requests for {seconds} s")
        }
    }

    /// Describes the evidence, with the requests that percentiles leave out: clients that wait for an answer before
    /// they ask again do not send requests in a pause, which would all have been slow (Tene's "coordinated omission").
    fn evidence(&self, figures: &mut FindingFigures) -> String {
        let longest = self.longest / 1000.0;
        if !self.is_few {
            // The description has noted it.
            return if longest > 0.0 {
                format!("the longest takes {} s", figure(longest))
            } else {
                String::new()
            };
        }
        let counted = format!(
            "{} requests, where {} are expected",
            figures.few("requests", self.requests, "requests"),
            figures.few("requests_expected", self.expected.round(), "requests")
        );
        let missing = (self.expected - self.requests).round().max(0.0);
        if self.is_pause {
            return format!("{counted}; {}", self.cause_of_pause());
        }
        let omitted = omitted(missing, figures);
        let waited =
            (longest > 0.0).then(|| format!("the longest takes {} s", figures.few("longest", longest, "s")));
        [counted, omitted].into_iter().chain(waited).collect::<Vec<_>>().join("; ")
    }
}

impl Stall {
    /// Names what may have made a pause.
    fn cause_of_pause(&self) -> String {
        let others = if self.in_flight >= 1.0 {
            format!("about {} requests waited, which do not explain it: the other ", figure(self.in_flight))
        } else {
            "no request waited: the ".to_owned()
        };
        let appended = if self.span.seconds() >= APPENDED { ", or another run was appended" } else { "" };
        format!("{others}threads paused or ended, the load generator paused, or its clock was set{appended}")
    }
}

/// Describes the requests that percentiles leave out.
fn omitted(missing: f64, figures: &mut FindingFigures) -> String {
    format!(
        "the percentiles miss about {} requests, which were not sent while the clients waited",
        figures.few("requests_missing", missing, "requests")
    )
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

/// Reports stalls of one sort as one finding, with their period where they have one.
fn recurring(stalls: &[Stall]) -> Option<Finding> {
    let is_pauses = stalls.iter().all(|stall| stall.is_pause);
    let longest = stalls.iter().map(|stall| stall.longest).fold(0.0, f64::max);
    let lengths: Vec<f64> = stalls.iter().map(|stall| stall.span.seconds().into()).collect();
    let length = if longest > 0.0 && !is_pauses { longest / 1000.0 } else { upper_median(&lengths)? };
    let sum = |of: fn(&Stall) -> f64| stalls.iter().map(of).sum::<f64>();
    let missing = (sum(|stall| stall.expected) - sum(|stall| stall.requests)).max(0.0).round();
    let mut figures = FindingFigures::default();
    let length = figures.few(if is_pauses { "length" } else { "longest" }, length, "s");
    let every = period(stalls).map(|period| format!(" every {} s", figures.few("period", period, "s")));
    let every = every.unwrap_or_default();
    let times = figures.whole("stalls", stalls.len() as i64, "stalls");
    let (kind, what, evidence) = if is_pauses {
        let what = format!("few requests or none for about {length} s{every}, {times} times");
        let evidence = "no request waited: the threads pause together (a think time or timer that they share), or the \
                        load generator paused";
        (FindingKind::Pause, what, evidence.to_owned())
    } else {
        let what = format!("a stall of up to {length} s{every}, {times} times");
        (FindingKind::Stall, what, omitted(missing, &mut figures))
    };
    let span = Span { first: stalls.first()?.span.first, last: stalls.last()?.span.last };
    Some(Finding { kind, span, what, evidence, figures: figures.done(), injector: None })
}
