//! A tail that departs from the median: the slowest requests get slower, while most do not.

use perfpipe_model::counts::Cell;

use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, FindingFigures, FindingKind};
use crate::diagnose::noise::{SURPRISE, contrast, variance_ratio};
use crate::diagnose::seconds::{RuleSecond, span};
use crate::error::Result;
use crate::stats::histogram::Histogram;
use crate::timeline::selection::Selection;
use crate::view::phases::Span;

/// The part of the hold that shows how slow requests are at first, as a divisor of its length.
const FIRST: usize = 4;
/// The least growth of the 99th percentile from the first quarter of the hold: to the last third, and to what is between.
const GROWS: (f64, f64) = (2.0, 1.25);
/// The largest growth of the median.
const STAYS: f64 = 1.25;
/// The least number of requests in each of these parts.
const REQUESTS: u64 = 200;
/// Slow requests are clustered if the variance of their counts is this many times the mean.
const CLUSTERED: f64 = 1.5;
/// Requests are slow above this many times the first quarter's 99th percentile.
const SLOW: f64 = 1.5;

/// Compares the first quarter of the hold, the last third, and what is between. Seconds that other findings explain are left out.
pub(in crate::diagnose) fn find(facts: &Facts<'_>, without: &[Span]) -> Result<Option<Finding>> {
    let rows = facts.steady();
    let calm: Vec<&RuleSecond> =
        rows.iter().filter(|row| !without.iter().any(|span| span.holds(row.second))).collect();
    let (early, rest) = calm.split_at(calm.len() / FIRST);
    let (between, late) = rest.split_at(rest.len() - calm.len() / 3);
    let (first, middle, last) = (times(facts, early)?, times(facts, between)?, times(facts, late)?);
    let mut figures = FindingFigures::default();
    let Some((what, evidence, slow)) = compare(&first, &middle, &last, &mut figures) else { return Ok(None) };
    let (early, late) = (slow_counts(facts, early, slow)?, slow_counts(facts, late, slow)?);
    let sum = |counts: &[f64]| counts.iter().sum::<f64>();
    // The first quarter's percentile is uncertain too: one more of its requests might have been slow.
    let (few, many) = ((sum(&early) + 1.0, first.samples() as f64), (sum(&late), last.samples() as f64));
    // Clustered slow requests, as in a queue, are fewer independent events.
    let ratio = variance_ratio(&late);
    let cluster = if ratio > CLUSTERED { ratio } else { 1.0 };
    if contrast(few, many) / cluster < SURPRISE {
        return Ok(None);
    }
    let (kind, figures) = (FindingKind::SlowTail, figures.done());
    Ok(span(rows).map(|span| Finding { kind, span, what, evidence, figures, injector: None }))
}

/// Returns of each of some seconds the number of requests that take longer than so many ms.
fn slow_counts(facts: &Facts<'_>, rows: &[&RuleSecond], slow: f64) -> Result<Vec<f64>> {
    let unit = facts.run.info.resolution;
    let count = |cells: &mut dyn Iterator<Item = &Cell>| {
        let slow =
            cells.flat_map(|cell| &cell.elapsed).filter(|(elapsed, _)| unit.ms((*elapsed).into()) > slow);
        slow.map(|(_, count)| *count as f64).sum()
    };
    let mut counts = Vec::with_capacity(rows.len());
    for_each_second(facts, rows, |cells| counts.push(count(cells)))?;
    Ok(counts)
}

/// Collects the elapsed times of the requests of some seconds.
fn times(facts: &Facts<'_>, rows: &[&RuleSecond]) -> Result<Histogram> {
    let mut times = Histogram::in_unit(facts.run.info.resolution);
    for_each_second(facts, rows, |cells| cells.for_each(|cell| times.add_counts(&cell.elapsed)))?;
    Ok(times)
}

/// Passes on the cells of the timed requests of each of some seconds.
fn for_each_second(
    facts: &Facts<'_>,
    rows: &[&RuleSecond],
    mut take: impl FnMut(&mut dyn Iterator<Item = &Cell>),
) -> Result<()> {
    let selection = Selection::new(facts.run, &facts.view)?;
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(()) };
    for second in selection.seconds_of(Span { first: first.second, last: last.second }) {
        let (second, cells) = second?;
        if rows.binary_search_by_key(&second, |row| row.second).is_ok() {
            take(&mut selection.averaged(&cells));
        }
    }
    Ok(())
}

/// Returns description and evidence if the 99th percentile grows while the median stays, and the time in ms
/// from which a request is slow.
fn compare(
    first: &Histogram,
    middle: &Histogram,
    last: &Histogram,
    figures: &mut FindingFigures,
) -> Option<(String, String, f64)> {
    if [first, middle, last].into_iter().map(Histogram::samples).min()? < REQUESTS {
        return None;
    }
    let of = |part: &Histogram| part.percentile(50.0).zip(part.percentile(99.0));
    let ((early, from), (late, to)) = (of(first)?, of(last)?);
    let stays = late <= STAYS * early;
    let grows = to >= GROWS.0 * from && of(middle)?.1 >= GROWS.1 * from;
    (stays && grows && from > 0.0).then(|| {
        let what = format!(
            "the slowest requests take {} times as long at the end, the others do not",
            figures.few("times", to / from, "times")
        );
        let mut ms = |name, value: f64| figures.few(name, value, "ms");
        let evidence = format!(
            "p99 from {} to {} ms, p50 from {} to {} ms, first quarter to last third",
            ms("p99_first_quarter", from),
            ms("p99_last_third", to),
            ms("p50_first_quarter", early),
            ms("p50_last_third", late)
        );
        (what, evidence, SLOW * from)
    })
}
