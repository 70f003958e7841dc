//! Warm-up: requests that are slow in the first seconds of a run, and then level.

use crate::diagnose::chance::SURPRISE;
use crate::diagnose::change::{self, LEAST};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Figures, Finding, FindingKind};
use crate::diagnose::seconds::span;
use crate::diagnose::series::{self, Block, Stretch};
use crate::error::Result;
use crate::stats::median::upper_median;
use crate::timeline::Timeline;
use crate::timeline::summary::Summary;
use crate::view::View;
use crate::view::phases::Span;

/// The least ratio of the first requests' times to the level, and the ratio up to which times are level.
const TIMES: (f64, f64) = (1.5, 1.25);
/// The least difference of the means in ms, since times are whole ms.
const RESOLUTION: f64 = 2.0;
/// A warm-up is at most this fraction of a run (one over the number).
const SHARE: usize = 3;
/// The least number of blocks after the warm-up that define the level.
const AFTER: usize = 60;

/// Finds the warm-up of a run, if the view includes the first second.
pub(in crate::diagnose) fn find(facts: &Facts<'_>) -> Result<Option<Finding>> {
    let Some(whole) = span(facts.body()).filter(|whole| whole.first == 0) else { return Ok(None) };
    let blocks = series::blocks(facts, Stretch { span: whole, is_level: false }, &[])?;
    let timed: Vec<&Block> = blocks.iter().filter(|block| block.log.is_some()).collect();
    let Some(end) = end(&timed) else { return Ok(None) };
    let Some(slow) = end.checked_sub(1).and_then(|last| timed.get(last)) else { return Ok(None) };
    let Some(next) = timed.get(end) else { return Ok(None) };
    let until = timed.get((end + AFTER).min(timed.len()) - 1).map_or(whole.last, |block| block.span.last);
    let of = |first: u32, last: u32| -> Result<Summary> {
        let view = View { from: Some(first), to: Some(last), phase: None, ..facts.view.clone() };
        Timeline::summary_of(facts.run, &view)
    };
    let (first, then) = (of(0, slow.span.last)?, of(next.span.first, until)?);
    let Some((slow_mean, mean)) = first.elapsed_mean.zip(then.elapsed_mean) else { return Ok(None) };
    let Some((slow_median, median)) = first.p50.zip(then.p50) else { return Ok(None) };
    if slow_mean - mean < RESOLUTION {
        return Ok(None);
    }
    let mut figures = Figures::default();
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
    let best = (1..=most).filter_map(|count| Above::of(blocks, &values, count));
    let best = best.max_by(|a, b| a.surprise.total_cmp(&b.surprise))?;
    let (slow, level_from) = (TIMES.0.ln(), best.level + TIMES.1.ln());
    let is_first = values.first().is_some_and(|first| first - best.level >= slow);
    // The warm-up continues as long as requests get faster.
    let more = values.get(best.count..most)?.iter().take_while(|value| **value > level_from).count();
    let rest = values.get(best.count + more..)?;
    let (near, far) = rest.split_at(rest.len() / 2);
    let is_level = upper_median(near)? - upper_median(far)? < TIMES.1.ln();
    let is_slow = best.distance >= slow && best.surprise >= SURPRISE;
    (is_slow && is_first && is_level).then_some(best.count + more)
}

/// How far the first blocks are above those that follow.
struct Above {
    count: usize,
    level: f64,
    distance: f64,
    surprise: f64,
}

impl Above {
    fn of(blocks: &[&Block], values: &[f64], count: usize) -> Option<Self> {
        let (first, rest) = values.split_at_checked(count)?;
        let after = rest.get(..(2 * count).max(AFTER)).unwrap_or(rest);
        let level = upper_median(after)?;
        let (slow, following) = blocks.split_at_checked(count)?;
        let sent = |blocks: &[&Block]| blocks.iter().map(|block| block.timed).sum::<f64>();
        // If each thread waits for its answer, slow requests are few, so blocks are weighted by their requests.
        let weighed: f64 = slow.iter().zip(first).map(|(block, log)| block.timed * log).sum();
        let distance = weighed / sent(slow) - level;
        let usual = sent(following.get(..after.len())?) / after.len() as f64;
        let weight = (sent(slow) / usual).min(count as f64);
        let deviation = change::deviation(after, level).max(f64::MIN_POSITIVE);
        // Level and deviation are uncertain too, hence the tail of Student's distribution.
        let number = after.len() as f64;
        let squared = distance * distance * weight / (1.0 + weight / number) / (deviation * deviation);
        let surprise = if distance > 0.0 { number / 2.0 * (squared / number).ln_1p() } else { 0.0 };
        Some(Self { count, level, distance, surprise })
    }
}
