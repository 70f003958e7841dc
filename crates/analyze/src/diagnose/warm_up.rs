//! A warm-up: requests that are slow in the first seconds of a run, and then level.

use super::change::{self, LEAST};
use super::facts::{Facts, figure, span};
use super::series::{self, Stretch};
use super::{Finding, Kind};
use crate::error::Result;
use crate::level::median;
use crate::phases::Span;
use crate::summary::Summary;
use crate::timeline::Timeline;
use crate::view::View;

/// How many times as long the first requests take, at least, and from which on they are not level yet.
const TIMES: (f64, f64) = (1.5, 1.25);
/// By how many ms their mean differs at least: times are whole ms.
const RESOLUTION: f64 = 2.0;
/// The share of a run that its warm-up is at most.
const SHARE: usize = 3;
/// Blocks after it that tell what is level, at least.
const AFTER: usize = 20;
/// Standard deviations by which the first requests must be slower: of a normal distribution, one in ten million is.
const DEVIATIONS: f64 = 5.2;

/// The warm-up of a run, if it has one and its first second is looked at.
pub(super) fn find(facts: &Facts<'_>) -> Result<Option<Finding>> {
    let Some(whole) = span(facts.body()).filter(|whole| whole.first == 0) else { return Ok(None) };
    let blocks = series::blocks(facts, Stretch { span: whole, is_level: false }, &[])?;
    let timed: Vec<(Span, f64)> = blocks.iter().filter_map(|block| Some((block.span, block.log?))).collect();
    let values: Vec<f64> = timed.iter().map(|(_, log)| *log).collect();
    let Some(end) = end(&values) else { return Ok(None) };
    let Some((slow, _)) = end.checked_sub(1).and_then(|last| timed.get(last)) else { return Ok(None) };
    let Some((next, _)) = timed.get(end) else { return Ok(None) };
    let until = timed.get((end + AFTER).min(timed.len()) - 1).map_or(whole.last, |(span, _)| span.last);
    let of = |first: u32, last: u32| -> Result<Summary> {
        let view = View { from: Some(first), to: Some(last), phase: None, ..facts.view.clone() };
        Ok(Timeline::new(facts.run, &view)?.summary)
    };
    let (first, then) = (of(0, slow.last)?, of(next.first, until)?);
    let Some((slow_mean, mean)) = first.elapsed_mean.zip(then.elapsed_mean) else { return Ok(None) };
    let Some((slow_median, median)) = first.p50.zip(then.p50) else { return Ok(None) };
    Ok((slow_mean - mean >= RESOLUTION).then(|| Finding {
        kind: Kind::WarmUp,
        span: Span { first: 0, last: slow.last },
        what: format!("a warm-up: requests are slow in the first {} s", slow.last + 1),
        evidence: format!(
            "mean {} ms, then {}; p50 {} ms, then {}",
            figure(slow_mean),
            figure(mean),
            figure(slow_median),
            figure(median)
        ),
    }))
}

/// How many blocks are of the warm-up.
fn end(values: &[f64]) -> Option<usize> {
    if values.len() < LEAST {
        return None;
    }
    let most = values.len() / SHARE;
    // How far the first are above those that follow, in deviations of their mean.
    let above = |count: usize| {
        let (first, rest) = values.split_at_checked(count)?;
        let after = rest.get(..(2 * count).max(AFTER)).unwrap_or(rest);
        let level = median(after)?;
        let distance = first.iter().sum::<f64>() / count as f64 - level;
        let deviations =
            distance * (count as f64).sqrt() / change::deviation(after, level).max(f64::MIN_POSITIVE);
        Some((count, level, distance, deviations))
    };
    let best = (1..=most).filter_map(above).max_by(|a, b| a.3.total_cmp(&b.3))?;
    let (count, level, distance, deviations) = best;
    let (slow, level_from) = (TIMES.0.ln(), level + TIMES.1.ln());
    let is_first = values.first().is_some_and(|first| first - level >= slow);
    // It goes on while requests get faster.
    let more = values.get(count..most)?.iter().take_while(|value| **value > level_from).count();
    let rest = values.get(count + more..)?;
    let (near, far) = rest.split_at(rest.len() / 2);
    let is_level = median(near)? - median(far)? < TIMES.1.ln();
    (distance >= slow && deviations >= DEVIATIONS && is_first && is_level).then_some(count + more)
}
