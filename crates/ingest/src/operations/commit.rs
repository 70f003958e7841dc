//! Commits a run whose logs were read to their ends.

use perfpipe_model::counts::coverage::Coverage;
use perfpipe_model::counts::part::{PartNamesRef, PartRow};
use perfpipe_model::counts::success_times::SuccessTimes;
use perfpipe_model::error::Result;
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::rejects::RejectSpool;
use perfpipe_model::run::replace::Replace;
use perfpipe_model::series::cpu::{CpuJoin, TimeSeries};
use perfpipe_model::series::server::ServerSeries;
use perfpipe_store::consistency;
use perfpipe_store::sink::{CommitStage, FinishedRun, RunWriter};

use crate::counting::totals::Totals;

/// A run whose logs were read to their ends.
pub(super) struct CountedRun<'a> {
    pub(super) info: &'a RunInfo,
    pub(super) totals: &'a Totals,
    /// The number of samples that were parsed.
    pub(super) samples: u64,
    pub(super) rejects: &'a mut RejectSpool,
    pub(super) cpu: (&'a TimeSeries, CpuJoin),
    pub(super) series: &'a [ServerSeries],
    pub(super) replace: Replace,
    pub(super) stage: &'a CommitStage,
    pub(super) part: Option<(PartRow, PartNamesRef<'a>)>,
}

/// What was found while a run was stored.
pub(super) struct CommittedRun {
    /// The number of seconds that have a CPU reading.
    pub(super) cpu_seconds: u32,
    /// The number of successful requests of each time, ascending; see [`SuccessTimes::ascending`].
    pub(super) elapsed: Vec<(i32, u64)>,
    /// The names of the injectors, without the unknown one.
    pub(super) injectors: Vec<String>,
}

/// Commits a run, once its counts were found to agree.
///
/// # Errors
/// If the counts differ, when a temporary file can't be read, and as for [`RunWriter::commit`].
pub(super) async fn commit<W: RunWriter>(writer: W, run: CountedRun<'_>) -> Result<CommittedRun> {
    let CountedRun { info, totals, samples, rejects, cpu: (cpu, join), series, replace, stage, part } = run;
    let label_counts = totals.label_counts();
    let (labels, injectors) = (totals.labels(), totals.injectors());
    consistency::check_parsed(info, samples, &label_counts)?;
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
