//! Notes on requests that the times of the run leave out: those that failed after long, and those that were outstanding.

use super::facts::Facts;
use super::finding::{Finding, FindingFigures, FindingKind};
use super::seconds::span;
use crate::error::Result;
use crate::timeline::Timeline;
use crate::timeline::unseen::outstanding::Outstanding;
use crate::view::View;
use crate::view::phases::Span;

/// Finds what the times leave out.
pub(super) fn find(facts: &Facts<'_>) -> Result<Vec<Finding>> {
    let Some(span) = span(facts.all()) else { return Ok(Vec::new()) };
    Ok(long_failures(facts, span)?.into_iter().chain(outstanding(facts, span)?).collect())
}

fn long_failures(facts: &Facts<'_>, span: Span) -> Result<Option<Finding>> {
    if facts.run.info.failures == 0 || facts.view.include_failures {
        return Ok(None);
    }
    let view = View { percentiles: Vec::new(), ..facts.view.clone() };
    let summary = Timeline::summary_of(facts.run, &view)?;
    let Some(found) = summary.long_failures(99.0) else { return Ok(None) };
    let mut figures = FindingFigures::default();
    figures.note("failures", found.count as f64, "requests");
    figures.note("share", 100.0 * found.share(), "%");
    figures.note("shortest", found.least, "ms");
    figures.note("longest", found.most, "ms");
    let mut ms = |name, value: Option<f64>| figures.few(name, value.unwrap_or_default(), "ms");
    let evidence = format!(
        "the successes: p99 {} ms, maximum {} ms",
        ms("p99", summary.p99),
        ms("elapsed_max", summary.elapsed_max)
    );
    let what = format!("{}: times of successes leave them out", found.describe());
    Ok(Some(note(span, [what, evidence], figures)))
}

fn outstanding(facts: &Facts<'_>, span: Span) -> Result<Option<Finding>> {
    let last = facts.run.info.seconds.saturating_sub(1);
    if span.last != last {
        return Ok(None);
    }
    let Some(found) = Outstanding::of(facts.run)? else { return Ok(None) };
    let mut figures = FindingFigures::default();
    figures.note("outstanding", found.requests, "requests");
    figures.note("share", 100.0 * found.share, "%");
    let evidence = "all threads are active up to the last request: the log was cut".to_owned();
    Ok(Some(note(Span { first: last, last }, [found.remark(), evidence], figures)))
}

fn note(span: Span, [what, evidence]: [String; 2], figures: FindingFigures) -> Finding {
    Finding { kind: FindingKind::Note, span, what, evidence, figures: figures.done(), injector: None }
}
