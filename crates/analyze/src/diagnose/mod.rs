//! What stands out in a run: findings, each with its seconds and its evidence.
//!
//! One file a kind of finding. All are computed from the counts of the seconds; none is made of what chance explains.

mod chance;
mod change;
mod expected;
mod facts;
mod rules;
mod senders;
mod series;
mod waits;

use std::fmt;

use perfpipe_ingest::StoredRun;

use self::facts::Facts;
use self::rules::{
    cpu_coverage, failures, idle_cpu, injectors, littles_law, saturation, shifts, slow_tail, stalls, warm_up,
};
use crate::error::Result;
use crate::table::Table;
use crate::view::View;
use crate::view::phases::Span;

/// What kind of thing a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Throughput is flat while the load climbs.
    Saturation,
    /// The CPU has time to spare where throughput is flat.
    IdleCpu,
    /// The threads are not the rate times the time of the requests.
    LittlesLaw,
    /// Seconds with no requests, or with few.
    Stall,
    /// Failures in bursts, or all the time.
    Failures,
    /// The 99th percentile grows while the median does not.
    SlowTail,
    /// Requests are slow at first, then level.
    WarmUp,
    /// Times, or the rate, change to another level at equal load.
    Shift,
    /// Times, or the rate, change little by little at equal load.
    Drift,
    /// An injector that sends less or more than the others, or at another time.
    Injector,
    /// An injector whose clock differs from the others'.
    ClockSkew,
    /// CPU readings that do not cover the run.
    CpuCoverage,
    /// Nothing amiss, but good to know.
    Note,
}

impl Kind {
    /// The kind's name in tables, as in `idle-cpu`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Saturation => "saturation",
            Self::IdleCpu => "idle-cpu",
            Self::LittlesLaw => "littles-law",
            Self::Stall => "stall",
            Self::Failures => "failures",
            Self::SlowTail => "slow-tail",
            Self::Injector => "injector",
            Self::WarmUp => "warm-up",
            Self::Shift => "shift",
            Self::Drift => "drift",
            Self::ClockSkew => "clock-skew",
            Self::CpuCoverage => "cpu-coverage",
            Self::Note => "note",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One thing that stands out.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What kind of thing it is.
    pub kind: Kind,
    /// The seconds from the first to the last that it is seen in.
    pub span: Span,
    /// What it is, as a sentence without its full stop.
    pub what: String,
    /// The figures that show it.
    pub evidence: String,
}

impl Finding {
    /// Whether nothing is amiss: it is told, but does not stand out.
    pub fn is_note(&self) -> bool {
        self.kind == Kind::Note
    }
}

/// Says what stands out in a run, by its first second.
///
/// `cores` is the number of the server's cores, where it is known: without it, the CPU's capacity is the most that
/// the run itself had of it. The last second of a run and its tail are not looked at, since threads end in them.
///
/// A chance of about one in ten million is the most at which a stall, a change, a burst of failures, or an injector out of
/// step is said to be one; steady shares and ratios have thresholds that stand in the files of their kinds. A
/// [note](Finding::is_note) is told beside the findings and does not stand out.
///
/// # Errors
/// As [`crate::Timeline::new`].
///
/// ```
/// use perfpipe_analyze::{FindingKind, View, diagnose};
/// use perfpipe_ingest::{Cell, CellKey, CellTable, CpuSeries, RunInfo, RunKey, StoredRun};
///
/// // A hundred requests a second, but none from second 20 to second 24.
/// let cell = Cell { elapsed: vec![(10, 100)], ..Cell::default() };
/// let key = |second| CellKey { second, label: 0, success: true, transaction: false };
/// let cells = (0..60).filter(|at| !(20..25).contains(at)).map(|at| (key(at), cell.clone()));
/// let run = StoredRun {
///     info: RunInfo::new(RunKey::new("spring", "2048"), 0, 59_900),
///     cells: CellTable::new(vec!["Get".into()], vec![], cells),
///     cpu: CpuSeries::default(),
///     errors: vec![],
///     labels: vec![],
/// };
/// let findings = diagnose(&run, &View::default(), None)?;
/// assert_eq!(findings.len(), 1);
/// assert_eq!((findings[0].kind, findings[0].span.first, findings[0].span.last), (FindingKind::Stall, 20, 24));
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
pub fn diagnose(run: &StoredRun, view: &View, cores: Option<u32>) -> Result<Vec<Finding>> {
    let facts = Facts::new(run, view, cores)?;
    let mut findings: Vec<Finding> = Vec::new();
    findings.extend(saturation::find(&facts));
    findings.extend(idle_cpu::find(&facts));
    findings.extend(failures::find(&facts));
    findings.extend(injectors::find(&facts)?);
    findings.extend(cpu_coverage::find(&facts));
    findings.extend(facts.clocks.findings.iter().cloned());
    findings.extend(over_time(&facts)?);
    findings.sort_by_key(|finding| (finding.span.first, finding.kind));
    Ok(findings)
}

/// What comes and goes: a warm-up, stalls and changes, each without the seconds of those before it; and Little's law,
/// where nothing changes what it is about.
fn over_time(facts: &Facts<'_>) -> Result<Vec<Finding>> {
    let warm_up = warm_up::find(facts)?;
    let warm = warm_up.as_ref().map(|finding| finding.span);
    let mut stalls = stalls::gather(facts)?;
    stalls.leave_out(warm);
    let mut without: Vec<Span> = warm.into_iter().chain(stalls.spans()).collect();
    without.extend(failures::bursts(facts));
    let changes = shifts::find(facts, &without)?;
    let law = littles_law::find(facts).filter(|law| law.is_note() || changes.is_empty());
    let tail = slow_tail::find(facts, &without)?;
    Ok(warm_up.into_iter().chain(stalls.told()).chain(changes).chain(law).chain(tail).collect())
}

/// Findings as a table: `finding` (its kind), `first` and `last` (seconds), `what` and `evidence`.
pub fn finding_table(findings: &[Finding]) -> Table {
    Table::of(findings)
        .column("finding", |row| Some(row.kind.name().to_owned()))
        .column("first", |row| Some(u64::from(row.span.first)))
        .unit("s", 0)
        .column("last", |row| Some(u64::from(row.span.last)))
        .unit("s", 0)
        .column("what", |row| Some(row.what.clone()))
        .column("evidence", |row| Some(row.evidence.clone()))
        .done()
}
