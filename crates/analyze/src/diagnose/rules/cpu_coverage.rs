//! Coverage of the run by CPU readings.

use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Figures, Finding, FindingKind};
use crate::diagnose::seconds::{Second, span};
use crate::view::phases::Span;

/// The least number of seconds without a reading, and the least share of all.
const LACK: (usize, f64) = (3, 0.02);

/// Finds seconds without a reading, if there are readings at all.
pub(in crate::diagnose) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let rows = facts.all();
    let lacking: Vec<&Second> = rows.iter().filter(|row| !row.has_cpu).collect();
    let share = lacking.len() as f64 / rows.len() as f64;
    let readings = facts.run.cpu.readings();
    let (first, last) = (readings.first()?.0, readings.last()?.0);
    if lacking.len() < LACK.0 || share < LACK.1 {
        return None;
    }
    let begin = facts.run.info.t0_ms.div_euclid(1000);
    let end = facts.run.info.last_ms.div_euclid(1000);
    let offset = facts.view.cpu.offset;
    let mut figures = Figures::default();
    let what = if lacking.len() == rows.len() {
        "no CPU reading falls into the run: another machine's clock, or another run's export".to_owned()
    } else {
        format!("{} of the seconds have no CPU reading", figures.share("seconds_without", share))
    };
    let evidence = format!(
        "readings from epoch second {} to {}, the run from {} to {}",
        figures.whole("readings_first", first.saturating_add(offset), "epoch s"),
        figures.whole("readings_last", last.saturating_add(offset), "epoch s"),
        figures.whole("run_first", begin, "epoch s"),
        figures.whole("run_last", end, "epoch s")
    );
    let gap = Span { first: lacking.first()?.second, last: lacking.last()?.second };
    Some(Finding {
        kind: FindingKind::CpuCoverage,
        span: if lacking.len() == rows.len() { span(rows)? } else { gap },
        what,
        evidence,
        figures: figures.done(),
        injector: None,
    })
}
