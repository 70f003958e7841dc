//! A queue that grows over the whole run: requests come faster than they are answered.

use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, FindingFigures, FindingKind};
use crate::diagnose::noise::SURPRISE;
use crate::diagnose::seconds::{RuleSecond, requests, span};
use crate::stats::stretch::Sums;
use crate::view::phases::Span;

/// The least number of seconds.
const SECONDS: usize = 30;
/// The least growth of the mean time from the first third to the last.
const GROWS: f64 = 2.0;
/// The least growth of the waiting time in a second, in seconds: so large a share of the requests remains unanswered. A
/// server that gets slower, but answers in time, is far below it.
const LEFT: f64 = 0.005;
/// The most by which the rates of the first third and the last may differ. Clients that wait for their answers send fewer.
const STEADY: f64 = 1.25;
/// The distance of the seconds whose differences show the noise of a queue, as a divisor of their number.
const DISTANCE: usize = 50;

/// Finds a growing queue, in the whole run or from the second on in which the rate changes most. Seconds that other findings
/// explain are left out.
pub(in crate::diagnose) fn find(facts: &Facts<'_>, without: &[Span]) -> Option<Finding> {
    let is_calm = |row: &&RuleSecond| !without.iter().any(|span| span.holds(row.second));
    let rows: Vec<&RuleSecond> =
        facts.body().iter().filter(is_calm).filter(|row| requests(row) > 0.0).collect();
    let whole = Queue::of(&rows).map(|queue| (0, queue));
    let (before, queue) = whole.or_else(|| {
        let at = step_of_rate(&rows)?;
        Some((at, Queue::of(rows.get(at..)?)?))
    })?;
    let mut figures = FindingFigures::default();
    // A request waits as long as the server takes for those before it; so a server of μ requests a second, to which λ come,
    // makes the wait grow by λ / μ − 1 seconds a second, and leaves λ − μ of them.
    let growth = queue.slope / 1000.0;
    let more = figures.few("left_a_second", queue.rate * growth / (1.0 + growth), "1/s");
    let all = span(facts.body())?;
    let (since, span) = match rows.get(before).filter(|_| before > 0) {
        Some(first) => {
            let from = figures.whole("from", first.second.into(), "s");
            (format!(" from second {from} on"), Span { first: first.second, ..all })
        }
        None => (String::new(), all),
    };
    let what =
        format!("requests come faster than they are answered{since}: {more} more are waiting each second");
    let evidence = format!(
        "mean from {} to {} ms, first third to last, at {}/s",
        figures.few("mean_first_third", queue.early, "ms"),
        figures.few("mean_last_third", queue.late, "ms"),
        figures.few("rate", queue.rate, "1/s")
    );
    Some(Finding { kind: FindingKind::Queue, span, what, evidence, figures: figures.done(), injector: None })
}

/// Returns true if a queue grows in all of some seconds at one rate.
pub(in crate::diagnose) fn grows(rows: &[RuleSecond]) -> bool {
    let busy: Vec<&RuleSecond> = rows.iter().filter(|row| requests(row) > 0.0).collect();
    Queue::of(&busy).is_some()
}

/// A queue that grows all the time.
struct Queue {
    /// The mean times of the first third and the last, in ms.
    early: f64,
    late: f64,
    /// The growth of the mean time in a second, in ms.
    slope: f64,
    /// The requests a second in the first third.
    rate: f64,
}

impl Queue {
    /// Returns the queue of some seconds, if it grows more than by chance. A queue is a random walk, since what is left over
    /// adds up; so its growth is compared with that of one without a trend.
    fn of(rows: &[&RuleSecond]) -> Option<Self> {
        if rows.len() < SECONDS {
            return None;
        }
        let third = rows.len() / 3;
        let (first, middle, last) =
            (rows.get(..third)?, rows.get(third..rows.len() - third)?, rows.get(rows.len() - third..)?);
        let thirds = [first, middle, last];
        let [early, between, late] = thirds.map(|rows| mean(rows, |row| row.elapsed_mean));
        let [rate, _, rate_late] = thirds.map(|rows| mean(rows, requests));
        let steps = (rows.len() - third) as f64;
        let slope = (late - early) / steps;
        let grows = late >= GROWS * early && early < between && between < late;
        if !grows || slope < LEFT * 1000.0 || rate_late.max(rate) > STEADY * rate_late.min(rate) {
            return None;
        }
        let distance = (rows.len() / DISTANCE).max(1);
        let squared_step = |(one, other): (&&RuleSecond, &&RuleSecond)| {
            (other.elapsed_mean - one.elapsed_mean - slope * distance as f64).powi(2)
        };
        let pairs = (rows.len() - distance) as f64;
        let walked = rows.iter().zip(rows.iter().skip(distance)).map(squared_step).sum::<f64>() / pairs;
        // Of a random walk, the difference of the means of its first and last third has this variance, in steps.
        let variance = walked / distance as f64 * 5.0 / 9.0 * rows.len() as f64;
        let squared = (late - early).powi(2) / variance;
        let degrees = (rows.len() / distance) as f64;
        let is_surprising = degrees / 2.0 * (squared / degrees).ln_1p() >= SURPRISE;
        is_surprising.then_some(Self { early, late, slope, rate })
    }
}

fn mean(rows: &[&RuleSecond], of: impl Fn(&RuleSecond) -> f64) -> f64 {
    rows.iter().map(|row| of(row)).sum::<f64>() / rows.len() as f64
}

/// Returns the index of the second from which on requests come more often than before, by more than a steady rate varies.
fn step_of_rate(rows: &[&RuleSecond]) -> Option<usize> {
    // The root of a count scatters as much at any rate.
    let root = |row: &&RuleSecond| (requests(row).sqrt(), 1.0);
    let sums = Sums::of(rows.iter().map(root), mean(rows, |row| requests(row).sqrt()));
    let steps = (SECONDS / 3..rows.len()).filter_map(|at| sums.stretch(at, rows.len()));
    let at = steps.max_by(|one, other| one.between.total_cmp(&other.between))?.from;
    let (before, after) = rows.split_at_checked(at)?;
    (mean(after, requests) > STEADY * mean(before, requests)).then_some(at)
}
