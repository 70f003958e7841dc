//! Diagnosis of a run: findings, each with its seconds and its evidence.
//!
//! There is one file for each rule. All are computed from the counts of the seconds, and none reports what chance
//! explains.

mod change;
mod facts;
mod failing;
mod finding;
mod noise;
mod rules;
mod seconds;
mod series;
mod unseen;
mod waits;

use perfpipe_model::StoredRun;

use self::facts::Facts;
use self::rules::{capacity, failures, injectors, littles_law, queue, shifts, slow_tail, stalls, warm_up};
use self::seconds::RuleSecond;
use crate::error::Result;
use crate::table::{Nested, Table};
use crate::timeline::Second;
use crate::view::View;
use crate::view::phases::Span;

pub use self::finding::{Figure, Finding, FindingKind};

/// Finds what stands out in a run, ordered by the first second.
///
/// `cores` is the number of the server's cores, if known. Without it, the CPU's capacity is the largest mean CPU at a
/// load below the knee. Most rules leave out the last second of a run and its tail, since threads end in them.
///
/// A stall, a burst of failures, or an injector out of step is reported only if its probability by chance is about one in
/// ten million or less; a change over time, if noise does not explain it as well, even if it forgets slowly. Steady shares and ratios have thresholds, which are constants in the files of the
/// rules. A [note](Finding::is_note) is a remark among the findings: nothing is amiss.
///
/// # Errors
/// The same errors as [`crate::Timeline::new`].
///
/// ```
/// use perfpipe_analyze::{FindingKind, View, diagnose};
/// use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
/// use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
///
/// // A hundred requests a second, but none from second 20 to second 24.
/// let cell = Cell { elapsed: vec![(10, 100)], ..Cell::default() };
/// let key = |second| CellKey { second, label: 0, success: true, transaction: false };
/// let cells = (0..60).filter(|at| !(20..25).contains(at)).map(|at| (key(at), cell.clone()));
/// let info = RunInfo::new(RunKey::new("spring", "2048"), 0, 59_900);
/// let run = StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], cells));
/// let findings = diagnose(&run, &View::default(), None)?;
/// assert_eq!(findings.len(), 1);
/// assert_eq!((findings[0].kind, findings[0].span.first, findings[0].span.last), (FindingKind::Pause, 20, 24));
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
pub fn diagnose(run: &StoredRun, view: &View, cores: Option<u32>) -> Result<Vec<Finding>> {
    let facts = Facts::new(run, view, cores)?;
    let mut findings: Vec<Finding> = Vec::new();
    findings.extend(capacity::saturation(&facts));
    findings.extend(capacity::idle_cpu(&facts));
    findings.extend(failures::find(&facts));
    findings.extend(injectors::find(&facts)?);
    findings.extend(capacity::lacking_cpu(&facts));
    findings.extend(facts.clocks.findings.iter().cloned());
    findings.extend(over_time(&facts)?);
    findings.extend(unseen::find(&facts)?);
    findings.sort_by_key(|finding| (finding.span.first, finding.kind));
    Ok(findings)
}

/// Returns true if a queue grows in all of some seconds at one rate: requests come faster than they are answered. The mean
/// times must be those of all requests, failures included.
pub(crate) fn queue_grows(seconds: impl Iterator<Item = Second>) -> bool {
    queue::grows(&seconds.map(RuleSecond::of).collect::<Vec<_>>())
}

/// Finds what changes over time: a warm-up, stalls and changes, each without the seconds of those found before.
/// Little's law is checked only if no change was found.
fn over_time(facts: &Facts<'_>) -> Result<Vec<Finding>> {
    let warm_up = warm_up::find(facts)?;
    let warm = warm_up.as_ref().map(|finding| finding.span);
    let mut stalls = stalls::gather(facts)?;
    stalls.leave_out(warm);
    let mut without: Vec<Span> = warm.into_iter().chain(stalls.spans()).collect();
    without.extend(failures::bursts(facts));
    let queue = queue::find(facts, &without);
    let changes = if queue.is_none() { shifts::find(facts, &without)? } else { Vec::new() };
    let law = littles_law::find(facts).filter(|law| law.is_note() || (queue.is_none() && changes.is_empty()));
    let tail = slow_tail::find(facts, &without)?;
    let before = warm_up.into_iter().chain(stalls.findings()).chain(queue);
    Ok(before.chain(changes).chain(law).chain(tail).collect())
}

/// Builds a table of findings: `finding` (the kind), `first` and `last` (seconds), `what` and `evidence`, and for programs
/// `figures`, which has all figures of these two as values, and `injector`.
pub fn finding_table(findings: &[Finding]) -> Table {
    Table::of(findings)
        .schema("perfpipe-diagnose/1")
        .column("finding", |row| Some(row.kind.name().to_owned()))
        .column("first", |row| Some(u64::from(row.span.first)))
        .unit("s", 0)
        .column("last", |row| Some(u64::from(row.span.last)))
        .unit("s", 0)
        .column("what", |row| Some(row.what.clone()))
        .column("evidence", |row| Some(row.evidence.clone()))
        .column("figures", |row| Nested::of(&row.figures))
        .people_see(false)
        .column("injector", |row| row.injector.clone())
        .people_see(false)
        .done()
}
