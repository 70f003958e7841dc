//! From flags to the libraries' choices: views, and the runs they look at.

use anyhow::Result;
use perfpipe_analyze::{Timeline, View};
use perfpipe_ingest::Store;
use perfpipe_ingest::{CpuChoice, CpuJoin, RunInfo, RunKey, StoredRun};

use crate::args::{CpuJoinArgs, ScopeArgs, ViewArgs};
use crate::output::note;

/// The option under which it notes the Zabbix item that was taken.
pub(crate) const CPU_ITEM: &str = "cpu-item";

/// How readings of an export are to be joined.
pub(crate) fn cpu_choice(args: &CpuJoinArgs) -> CpuChoice {
    CpuChoice { offset: args.cpu_offset.unwrap_or_default(), lookback: args.cpu_lookback }
}

/// How stored readings are joined: as told, else as at the run's ingest.
fn cpu_join(args: &CpuJoinArgs, stored: CpuJoin) -> CpuJoin {
    CpuJoin {
        offset: args.cpu_offset.unwrap_or(stored.offset),
        lookback: args.cpu_lookback.unwrap_or(stored.lookback),
    }
}

/// The view of a run that the flags ask for.
pub(crate) fn of(args: &ViewArgs, info: &RunInfo) -> View {
    View { percentiles: args.percentiles(), ..scope(&args.scope, info) }
}

/// The same where no percentiles are asked for.
pub(crate) fn scope(args: &ScopeArgs, info: &RunInfo) -> View {
    let plain = View::of(info);
    View {
        percentiles: plain.percentiles,
        from: args.from,
        to: args.to,
        phase: args.phase,
        label: args.label.clone(),
        transactions: args.transactions,
        include_failures: args.include_failures,
        top_level: args.top_level,
        goals: Vec::new(),
        corrected: None,
        injectors: args.injectors.injectors.unwrap_or(plain.injectors),
        cpu: cpu_join(&args.cpu, plain.cpu),
    }
}

/// A run with cells for the label that the flags ask for.
pub(crate) async fn read(store: &Store, key: &RunKey, args: &ViewArgs) -> Result<StoredRun> {
    let mut run = store.read(key).await?;
    if let Some(label) = &args.scope.label {
        count_apart(store, &mut run, label).await?;
    }
    top_level(store, &mut run, &args.scope).await?;
    Ok(run)
}

/// Takes the sub-samples out of a run where the flags ask for it, and says what they were.
pub(crate) async fn top_level(store: &Store, run: &mut StoredRun, args: &ScopeArgs) -> Result<()> {
    if args.top_level {
        let left_out = store.top_level(run).await?;
        let key = &run.info.key;
        note(&match left_out.as_slice() {
            [] => format!("{key} has no sub-samples"),
            labels => format!("left out of {key} as sub-samples: {}", labels.join(", ")),
        });
    }
    Ok(())
}

/// Gives a label cells of its own, read from the samples where it shares them.
pub(crate) async fn count_apart(store: &Store, run: &mut StoredRun, label: &str) -> Result<()> {
    if run.shares_cells(label) {
        let key = &run.info.key;
        note(&format!("label {label} shares its counts with others: reading the samples of {key}"));
        store.recount(run, label).await?;
    }
    Ok(())
}

/// The per-second table of a run as the flags ask for it.
pub(crate) fn timeline(run: &StoredRun, args: &ViewArgs) -> Result<Timeline> {
    Ok(Timeline::new(run, &of(args, &run.info))?)
}
