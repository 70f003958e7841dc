//! Warm-up: requests that are slow in the first seconds of a run, and then level.

use crate::diagnose::change::{self, LEAST};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, FindingFigures, FindingKind};
use crate::diagnose::noise::SURPRISE;
use crate::diagnose::seconds::span;
use crate::diagnose::series::{self, Block, LoadStretch};
use crate::error::Result;
use crate::stats::mean;
use crate::stats::percentile::upper_median;
use crate::timeline::Timeline;
use crate::timeline::summary::Summary;
use crate::view::View;
use crate::view::phases::Span;

/// The least ratio of the first requests' times to the level, and the ratio up to which times are level.
const TIMES: (f64, f64) = (1.5, 1.25);
/// The least difference of the means, in units of the run's times.
const UNITS: f64 = 2.0;
/// A warm-up is at most this fraction of a run (one over the number).
const SHARE: usize = 3;
/// The least surprise: `.0` where times drift slowly, since a run may begin at any point of the drift, and `.1` elsewhere.
const SURE: (f64, f64) = (30.0, SURPRISE);
/// The least number of blocks, after the longest warm-up, that define the level.
const AFTER: usize = 60;
/// If one request lasts for this share of a warm-up or more, it explains it, and there is none.
const LONG: f64 = 0.5;
/// The number of blocks whose mean is compared with the level.
const WINDOW: usize = 5;

/// Finds the warm-up of a run, if the view includes the first second.
pub(in crate::diagnose) fn find(facts: &Facts<'_>) -> Result<Option<Finding>> {
    let Some(whole) = span(facts.body()).filter(|whole| whole.first == 0) else { return Ok(None) };
    let blocks = series::blocks(facts, LoadStretch { span: whole, is_level: false }, &[])?;
    let timed: Vec<&Block> = blocks.iter().filter(|block| block.log.is_some()).collect();
    let Some(end) = end(&timed) else { return Ok(None) };
    let Some(slow) = end.checked_sub(1).and_then(|last| timed.get(last)) else { return Ok(None) };
    let Some(next) = timed.get(end) else { return Ok(None) };
    if facts.is_of_one_request(Span { first: 0, last: slow.span.last }, LONG) {
        return Ok(None);
    }
    let until = timed.get((end + AFTER).min(timed.len()) - 1).map_or(whole.last, |block| block.span.last);
    let of = |first: u32, last: u32| -> Result<Summary> {
        let view = View { from: Some(first), to: Some(last), phase: None, ..facts.view.clone() };
        Timeline::summary_of(facts.run, &view)
    };
    let (first, then) = (of(0, slow.span.last)?, of(next.span.first, until)?);
    let Some((slow_mean, mean)) = first.elapsed_mean.zip(then.elapsed_mean) else { return Ok(None) };
    let Some((slow_median, median)) = first.p50.zip(then.p50) else { return Ok(None) };
    if slow_mean - mean < facts.run.info.resolution.ms(UNITS) {
        return Ok(None);
    }
    let mut figures = FindingFigures::default();
    let seconds = figures.whole("seconds", (slow.span.last + 1).into(), "s");
    let mut ms = |name, value: f64| figures.few(name, value, "ms");
    let evidence = format!(
        "mean {} ms, then {}; p50 {} ms, then {}",
        ms("mean_first", slow_mean),
        ms("mean_then", mean),
        ms("p50_first", slow_median),
        ms("p50_then", median)
    );
    Ok(Some(Finding {
        kind: FindingKind::WarmUp,
        span: Span { first: 0, last: slow.span.last },
        what: format!("a warm-up: requests are slow in the first {seconds} s"),
        evidence,
        figures: figures.done(),
        injector: None,
    }))
}

/// Returns the number of blocks in the warm-up.
fn end(blocks: &[&Block]) -> Option<usize> {
    if blocks.len() < LEAST {
        return None;
    }
    let values: Vec<f64> = blocks.iter().map(|block| block.log.unwrap_or(0.0)).collect();
    let most = values.len() / SHARE;
    let rest = values.get(most..)?;
    let after = rest.get(..most.max(AFTER)).unwrap_or(rest);
    let level = upper_median(after)?;
    let near = |at: usize| mean(values.get(at..at + WINDOW).unwrap_or_default());
    // It continues as long as requests get faster, until they take about as long as later on.
    let end = (0..=most).find(|at| near(*at) - level <= TIMES.1.ln()).filter(|end| *end > 0)?;
    let is_slow = mean(values.get(..end.min(WINDOW))?) - level >= TIMES.0.ln();
    let (near, far) = values.get(end..)?.split_at((values.len() - end) / 2);
    let is_level = upper_median(near)? - upper_median(far)? < TIMES.1.ln();
    let least = if change::wanders(after) { SURE.0 } else { SURE.1 };
    let is_sure = || surprise(blocks.get(..end)?, after, level).filter(|surprise| *surprise >= least);
    (is_slow && is_level).then(is_sure)?.map(|_| end)
}

/// Returns the surprise of so slow requests in the first blocks, if the level is that of later ones.
fn surprise(slow: &[&Block], after: &[f64], level: f64) -> Option<f64> {
    let sent: f64 = slow.iter().map(|block| block.timed).sum();
    // If each thread waits for its answer, slow requests are few, so blocks are weighted by their requests.
    let distance = slow.iter().filter_map(|block| Some(block.timed * block.log?)).sum::<f64>() / sent - level;
    let usual = sent / slow.len() as f64;
    let weight = slow.iter().map(|block| (block.timed / usual).min(1.0)).sum::<f64>();
    let deviation = change::deviation(after, level).max(f64::MIN_POSITIVE);
    // Level and deviation are uncertain too, hence the tail of Student's distribution.
    let number = after.len() as f64;
    let squared = distance * distance * weight / (1.0 + weight / number) / (deviation * deviation);
    (distance > 0.0).then(|| number / 2.0 * (squared / number).ln_1p())
}
