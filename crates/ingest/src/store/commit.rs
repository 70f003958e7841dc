//! Hands a run over to a store, from the totals of all that was counted.

use super::counted;
use crate::counts::coverage::Coverage;
use crate::counts::success_times::SuccessTimes;
use crate::counts::totals::Totals;
use crate::counts::totals::part::{PartNamesRef, PartRow};
use crate::error::Result;
use crate::pipeline::sink::{FinishedRun, RunWriter};
use crate::pipeline::stage::CommitStage;
use crate::run::info::RunInfo;
use crate::run::rejects::RejectSpool;
use crate::run::replace::Replace;
use crate::series::cpu::{CpuJoin, TimeSeries};
use crate::series::server::ServerSeries;

/// A run whose logs were read to their ends.
pub(crate) struct CountedRun<'a> {
    pub(crate) info: &'a RunInfo,
    pub(crate) totals: &'a Totals,
    /// The number of samples that were parsed.
    pub(crate) samples: u64,
    pub(crate) rejects: &'a mut RejectSpool,
    pub(crate) cpu: (&'a TimeSeries, CpuJoin),
    pub(crate) series: &'a [ServerSeries],
    pub(crate) replace: Replace,
    pub(crate) stage: &'a CommitStage,
    pub(crate) part: Option<(PartRow, PartNamesRef<'a>)>,
}

/// What was found while a run was stored.
pub(crate) struct CommittedRun {
    /// The number of seconds that have a CPU reading.
    pub(crate) cpu_seconds: u32,
    /// The number of successful requests of each time, ascending; see [`SuccessTimes::ascending`].
    pub(crate) elapsed: Vec<(i32, u64)>,
    /// The names of the injectors, without the unknown one.
    pub(crate) injectors: Vec<String>,
}

/// Commits a run, once its counts were found to agree.
///
/// # Errors
/// If the counts differ, when a temporary file can't be read, and as for [`RunWriter::commit`].
pub(crate) async fn commit<W: RunWriter>(writer: W, run: CountedRun<'_>) -> Result<CommittedRun> {
    let CountedRun { info, totals, samples, rejects, cpu: (cpu, join), series, replace, stage, part } = run;
    let label_counts = totals.label_counts();
    let (labels, injectors) = (totals.labels(), totals.injectors());
    counted::check_parsed(info, samples, &label_counts)?;
    let (mut coverage, mut elapsed) = (Coverage::new(info.t0_ms, cpu, join), SuccessTimes::default());
    // The counts of several logs are added up as they pass, which is best done once.
    let mut cells = totals.cells().inspect(|cell| {
        coverage.see(cell);
        elapsed.see(cell);
    });
    writer
        .commit(FinishedRun {
            info,
            labels: &labels,
            injectors: &injectors,
            cells: &mut cells,
            cpu,
            series,
            errors: Box::new(totals.errors()),
            label_counts: &label_counts,
            rejects,
            replace,
            stage,
            part: part.as_ref(),
        })
        .await?;
    drop(cells);
    let injectors = injectors.into_iter().filter(|injector| !injector.is_empty()).collect();
    let cpu_seconds = coverage.covered(info.seconds);
    Ok(CommittedRun { cpu_seconds, elapsed: elapsed.ascending(), injectors })
}
