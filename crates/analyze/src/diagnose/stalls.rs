//! Stretches in which everything waited: seconds with no requests, or with few, since every thread waited for an answer;
//! or seconds whose requests waited long, where threads think or requests come whether or not earlier ones are answered.

use super::chance::{SURPRISE, surprise};
use super::expected::{self, Row};
use super::facts::{Facts, figure};
use super::waits::{self, Waits};
use super::{Finding, Kind};
use crate::error::Result;
use crate::level::median;
use crate::phases::Span;

/// The share of what is expected up to which a stretch's requests are few.
const FEW: f64 = 0.4;
/// Seconds of few requests that every run may begin with, since its threads begin one by one.
const BEGIN: usize = 3;
/// Stalls told one by one; of more, the longest are, and the rest is counted with the last.
const TOLD: usize = 10;
/// Stalls that may be periodic, at least, and the share of the times between them that must be the period.
const PERIODIC: (usize, f64) = (5, 0.75);
/// By how much the time between two may differ from the period: seconds, or this share.
const JITTER: (f64, f64) = (1.0, 0.1);

/// A second with the waits that begin in it.
type Looked = (Row, Waits);

/// A stretch in which everything waited.
#[derive(Clone)]
pub(super) struct Stall {
    pub(super) span: Span,
    requests: f64,
    expected: f64,
    /// The longest wait that is longer than usual, ms.
    longest: f64,
    is_few: bool,
}

/// What is usual of a run.
struct Usual {
    /// How much more the counts of seconds vary than by chance alone.
    dispersion: f64,
    /// The share of the requests that wait long, in seconds without many of them.
    waiting: f64,
}

/// Stretches in which requests are few, or many wait long, each together too much so to be chance.
pub(super) fn gather(facts: &Facts<'_>) -> Result<Vec<Stall>> {
    let (rows, dispersion) = expected::rows(facts);
    let looked: Vec<Looked> = rows.into_iter().zip(waits::of_seconds(facts)?).collect();
    let usual = Usual { dispersion, waiting: waiting(&looked) };
    let apart = |(row, waits): &Looked| row.is_few() || waits.is_many;
    let stretches = looked.chunk_by(|a, b| apart(a) == apart(b));
    Ok(stretches
        .filter(|stretch| stretch.first().is_some_and(apart))
        .filter_map(|s| stall(s, &usual))
        .collect())
}

/// The share of the requests that wait long; were it none, one more might.
fn waiting(looked: &[Looked]) -> f64 {
    let few = looked.iter().filter(|(_, waits)| !waits.is_many);
    let (waiting, all) =
        few.fold((1.0, 1.0), |(waiting, all), (_, waits)| (waiting + waits.waiting, all + waits.successes));
    waiting / all
}

fn stall(stretch: &[Looked], usual: &Usual) -> Option<Stall> {
    let (first, last) = (stretch.first()?.0.second, stretch.last()?.0.second);
    let few = stretch.iter().filter(|(row, _)| row.is_few());
    let (requests, expected) =
        few.fold((0.0, 0.0), |(count, sum), (row, _)| (count + row.count, sum + row.expected));
    let is_few = requests <= FEW * expected && surprise(requests, expected) / usual.dispersion >= SURPRISE;
    let is_few = is_few && !(first == 0 && stretch.len() <= BEGIN);
    let many = stretch.iter().filter(|(_, waits)| waits.is_many);
    let (waiting, all) =
        many.fold((0.0, 0.0), |(waiting, all), (_, waits)| (waiting + waits.waiting, all + waits.successes));
    let longest = stretch.iter().map(|(_, waits)| waits.longest).fold(0.0, f64::max);
    let waits = longest >= waits::LONGEST && surprise(waiting, usual.waiting * all) >= SURPRISE;
    (is_few || waits).then_some(Stall { span: Span { first, last }, requests, expected, longest, is_few })
}

/// What is told of stalls: one by one, or as one where they come in a period.
pub(super) fn told(stalls: &[Stall]) -> Vec<Finding> {
    if let Some(periodic) = periodic(stalls) {
        return vec![periodic];
    }
    let mut stalls = stalls.to_vec();
    stalls.sort_by_key(|stall| (std::cmp::Reverse(stall.span.seconds()), stall.span.first));
    let more = stalls.len().saturating_sub(TOLD);
    let finding = |(at, stall): (usize, &Stall)| {
        let rest = if more > 0 && at + 1 == TOLD {
            format!("; {more} shorter ones are not told")
        } else {
            String::new()
        };
        Finding {
            kind: Kind::Stall,
            span: stall.span,
            what: format!("{}{rest}", stall.what()),
            evidence: stall.evidence(),
        }
    };
    stalls.iter().take(TOLD).enumerate().map(finding).collect()
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

    /// With what the percentiles leave out: where clients wait for an answer before they ask again, a pause keeps
    /// requests from being sent, which would all have been slow (Tene's "coordinated omission").
    fn evidence(&self) -> String {
        let missing = (self.expected - self.requests).round().max(0.0);
        let counted = format!(
            "{} requests, where {} are expected",
            figure(self.requests),
            figure(self.expected.round())
        );
        let omitted = format!(
            "the percentiles leave out some {} requests, which were not sent while the clients waited",
            figure(missing)
        );
        let waited =
            (self.longest > 0.0).then(|| format!("the longest takes {} s", figure(self.longest / 1000.0)));
        let counted = self.is_few.then_some([counted, omitted]).into_iter().flatten();
        counted.chain(waited).collect::<Vec<_>>().join("; ")
    }
}

/// Stalls that come again and again after the same time, as one finding.
fn periodic(stalls: &[Stall]) -> Option<Finding> {
    let times: Vec<f64> = stalls
        .iter()
        .zip(stalls.iter().skip(1))
        .map(|(one, next)| f64::from(next.span.first.saturating_sub(one.span.first)))
        .collect();
    let usual = median(&times).filter(|_| stalls.len() >= PERIODIC.0)?;
    let near = |time: &&f64| (**time - usual).abs() <= (JITTER.1 * usual).max(JITTER.0);
    let same: Vec<f64> = times.iter().filter(near).copied().collect();
    if (same.len() as f64) < PERIODIC.1 * times.len() as f64 {
        return None;
    }
    let period = same.iter().sum::<f64>() / same.len() as f64;
    let longest = stalls.iter().map(|stall| stall.longest).fold(0.0, f64::max);
    let lengths: Vec<f64> = stalls.iter().map(|stall| stall.span.seconds().into()).collect();
    let length = if longest > 0.0 { longest / 1000.0 } else { median(&lengths)? };
    let sum = |of: fn(&Stall) -> f64| stalls.iter().map(of).sum::<f64>();
    let missing = (sum(|stall| stall.expected) - sum(|stall| stall.requests)).max(0.0).round();
    Some(Finding {
        kind: Kind::Stall,
        span: Span { first: stalls.first()?.span.first, last: stalls.last()?.span.last },
        what: format!(
            "a stall of up to {} s every {} s, {} times",
            figure(length),
            figure(period),
            stalls.len()
        ),
        evidence: format!(
            "the percentiles leave out some {} requests, which were not sent while the clients waited",
            figure(missing)
        ),
    })
}
