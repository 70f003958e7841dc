//! The injectors that the log distinguishes, and clock skew: one whose requests are all shifted in time by the same
//! amount.

use perfpipe_model::StoredRun;

use crate::diagnose::finding::{Finding, FindingFigures, FindingKind};
use crate::diagnose::noise::SURPRISE;
use crate::diagnose::seconds::{RuleSecond, span};
use crate::error::Result;
use crate::format::figure;
use crate::stats::histogram::mean;
use crate::stats::percentile::upper_median;
use crate::timeline::cells::by_second;
use crate::timeline::load::reported;
use crate::view::phases::Span;

/// The least number of seconds by which an injector begins and ends before or after the others.
const SHIFT: f64 = 3.0;
/// How much the shifts of its begin and its end may differ: seconds, or a share of its length.
const SAME: (f64, f64) = (5.0, 0.1);

/// The injectors whose clocks differ, and the seconds of the others.
pub(in crate::diagnose) struct Clocks {
    pub(in crate::diagnose) findings: Vec<Finding>,
    /// The names of the injectors whose clocks differ.
    pub(in crate::diagnose) of: Vec<String>,
    /// The seconds in which the other injectors send; `None` if no clock differs.
    pub(in crate::diagnose) others: Option<Span>,
}

/// Compares each injector's first and last second with those of the others.
pub(in crate::diagnose) fn find(run: &StoredRun, rows: &[RuleSecond]) -> Result<Clocks> {
    let none = Clocks { findings: Vec::new(), of: Vec::new(), others: None };
    let Some(whole) = span(rows) else { return Ok(none) };
    let senders = gather_senders(run, whole)?;
    let (shifted, others): (Vec<&Sender<'_>>, Vec<&Sender<'_>>) =
        senders.iter().partition(|sender| ahead(sender, &senders).is_some());
    // If most clocks differ, none of them is a reference.
    if shifted.is_empty() || others.is_empty() || shifted.len() > others.len() {
        return Ok(none);
    }
    let first = others.iter().map(|sender| sender.span.first).min().unwrap_or(whole.first);
    let last = others.iter().map(|sender| sender.span.last).max().unwrap_or(whole.last);
    let others = Span { first, last };
    let finding = |sender: &&Sender<'_>| Some(clock_finding(sender, ahead(sender, &senders)?, others));
    Ok(Clocks {
        findings: shifted.iter().filter_map(finding).collect(),
        of: shifted.iter().map(|sender| sender.name.to_owned()).collect(),
        others: Some(others),
    })
}

fn clock_finding(sender: &Sender<'_>, by: f64, others: Span) -> Finding {
    let mut figures = FindingFigures::default();
    figures.note("clock_ahead", by, "s");
    let (way, begins) = if by > 0.0 { ("ahead of", "after") } else { ("behind", "before") };
    Finding {
        kind: FindingKind::ClockSkew,
        span: Span { first: sender.span.first.min(others.first), last: sender.span.last.max(others.last) },
        what: format!(
            "the clock of injector {} is about {} s {way} the others', or it begins and ends that much \
             {begins} them",
            sender.name,
            figure(by.abs())
        ),
        evidence: format!(
            "seconds {} to {}, the others {} to {}",
            figures.whole("first", sender.span.first.into(), "s"),
            figures.whole("last", sender.span.last.into(), "s"),
            figures.whole("others_first", others.first.into(), "s"),
            figures.whole("others_last", others.last.into(), "s")
        ),
        figures: figures.done(),
        injector: Some(sender.name.to_owned()),
    }
}

/// Returns how many seconds an injector's clock is ahead of the others' (negative if behind), if its begin and its end
/// are shifted equally. Of two injectors, the later one is reported: which clock is right can't be known.
fn ahead(sender: &Sender<'_>, all: &[Sender<'_>]) -> Option<f64> {
    // As in [`super::injectors`], the reference for three or more is the median.
    let compared = || all.iter().filter(|other| all.len() > 2 || other.name != sender.name);
    let usual = |of: fn(&Sender<'_>) -> u32| {
        upper_median(&compared().map(|other| f64::from(of(other))).collect::<Vec<_>>())
    };
    let begin = f64::from(sender.span.first) - usual(|other| other.span.first)?;
    let end = f64::from(sender.span.last) - usual(|other| other.span.last)?;
    let length = f64::from(sender.span.seconds());
    let is_same = (begin - end).abs() <= SAME.0.max(SAME.1 * length);
    let least = begin.abs().min(end.abs());
    let sent = least * sender.requests / length;
    let is_shifted = begin * end > 0.0 && least >= SHIFT && sent >= SURPRISE;
    (is_same && is_shifted && (all.len() > 2 || begin > 0.0)).then(|| ((begin + end) / 2.0).round())
}

/// The requests of one injector.
pub(super) struct Sender<'a> {
    pub(super) name: &'a str,
    pub(super) requests: f64,
    /// The sum of the injector's threads over the seconds from its first to its last. A second without a request has as
    /// many threads as the one before.
    pub(super) thread_seconds: f64,
    /// The injector's first and last second.
    pub(super) span: Span,
    threads: f64,
}

impl Sender<'_> {
    /// Returns the requests per second and thread.
    pub(super) fn rate(&self) -> f64 {
        self.requests / self.thread_seconds
    }

    fn add(&mut self, second: u32, samples: f64, threads: f64) {
        let first = if self.requests > 0.0 { self.span.first } else { second };
        let silent = if self.requests > 0.0 { second.saturating_sub(self.span.last + 1) } else { 0 };
        self.thread_seconds += f64::from(silent) * self.threads + threads;
        (self.requests, self.threads) = (self.requests + samples, threads);
        self.span = Span { first, last: second };
    }
}

/// Collects the injectors that sent anything in a span, by name; none if the log distinguishes fewer than two.
pub(super) fn gather_senders(run: &StoredRun, window: Span) -> Result<Vec<Sender<'_>>> {
    let none = |name| Sender { name, requests: 0.0, thread_seconds: 0.0, span: window, threads: 0.0 };
    let names = run.cells.injectors.iter().map(String::as_str);
    let mut gathered: Vec<Sender<'_>> = names.map(none).collect();
    if gathered.iter().filter(|sender| !sender.name.is_empty()).count() < 2 {
        return Ok(Vec::new());
    }
    for second in by_second(run.cells.between(window.first, window.last), window) {
        let (second, cells) = second?;
        for load in reported(&cells) {
            let sender = gathered.get_mut(load.injector as usize);
            if let Some((sender, threads)) = sender.zip(mean(load.threads, load.samples)) {
                sender.add(second, load.samples as f64, threads);
            }
        }
    }
    gathered.retain(|sender| sender.requests > 0.0 && !sender.name.is_empty());
    gathered.sort_by_key(|sender| sender.name);
    Ok(gathered)
}
