//! Views from flags, rules from a file, and the reading of runs for them.

use std::path::Path;

use anyhow::{Context, Result};
use perfpipe_analyze::{Rule, Timeline, View};
use perfpipe_ingest::series::{CpuChoice, CpuJoin};
use perfpipe_ingest::{RunInfo, RunKey, Store, StoredRun};
use serde::Deserialize;

use crate::args::{CpuJoinArgs, ScopeArgs, ViewArgs};
use crate::error::CliError;
use crate::input::text_of;
use crate::output::{line_of, note};

/// Returns how the readings of an export are to be joined.
pub(crate) fn cpu_choice(args: &CpuJoinArgs) -> CpuChoice {
    let mut choice = CpuChoice::default().with_offset(args.cpu_offset.unwrap_or_default());
    choice.lookback = args.cpu_lookback;
    choice
}

/// Returns how stored readings are joined: as the flags say, by default as at the run's ingest.
fn cpu_join(args: &CpuJoinArgs, stored: CpuJoin) -> CpuJoin {
    stored
        .with_offset(args.cpu_offset.unwrap_or(stored.offset))
        .with_lookback(args.cpu_lookback.unwrap_or(stored.lookback))
}

/// Returns the view of a run that the flags describe.
pub(crate) fn of(args: &ViewArgs, info: &RunInfo) -> View {
    scope(&args.scope, info).with_percentiles(args.percentiles())
}

/// Returns the view of a run for a command without percentiles.
pub(crate) fn scope(args: &ScopeArgs, info: &RunInfo) -> View {
    let plain = View::of(info);
    let (injectors, cpu) = (plain.injectors, plain.cpu);
    plain
        .with_window(args.from, args.to)
        .with_phase(args.phase)
        .with_label(args.label.clone())
        .with_transactions(args.transactions)
        .with_include_failures(args.include_failures)
        .with_top_level(args.top_level)
        .with_injectors(args.injectors.injectors.unwrap_or(injectors))
        .with_cpu(cpu_join(&args.cpu, cpu))
}

/// Reads a run, with cells for the label in the flags.
pub(crate) async fn read(store: &Store, key: &RunKey, args: &ViewArgs) -> Result<StoredRun> {
    let mut run = store.read(key).await?;
    if let Some(label) = &args.scope.label {
        count_separately(store, &mut run, label).await?;
    }
    top_level(store, &mut run, &args.scope).await?;
    Ok(run)
}

/// Removes the sub-samples from a run if the flags request it, and prints their labels.
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

/// Makes sure that a label has cells of its own; counts them from the samples if it shares them.
pub(crate) async fn count_separately(store: &Store, run: &mut StoredRun, label: &str) -> Result<()> {
    if run.shares_cells(label) {
        let key = &run.info.key;
        note(&format!("label {label} shares its counts with others: reading the samples of {key}"));
        store.recount(run, label).await?;
    }
    Ok(())
}

/// Computes the timeline of a run for the view in the flags.
pub(crate) fn timeline(run: &StoredRun, args: &ViewArgs) -> Result<Timeline> {
    Ok(Timeline::new(run, &of(args, &run.info))?)
}

/// A TOML file of rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    rules: Vec<toml::Spanned<String>>,
}

/// Returns the rules of a file.
pub(crate) fn rules_of_file(path: &Path) -> Result<Vec<Rule>> {
    let text = text_of(path)?;
    let file: RuleFile = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(&text, span.start));
        let problem = format!("{}, line {line}: {}", path.display(), error.message());
        CliError::usage(problem, "Write it as in: rules = [\"p95 < 200ms\", \"failures < 1%\"]")
    })?;
    let read = |rule: &toml::Spanned<String>| {
        let place = || format!("{}, line {}", path.display(), line_of(&text, rule.span().start));
        rule.get_ref().parse::<Rule>().with_context(place)
    };
    file.rules.iter().map(read).collect()
}

/// Reads a run, with cells for every label that a rule or a flag names.
pub(crate) async fn read_by_rules(
    store: &Store,
    key: &RunKey,
    rules: &[Rule],
    scope: &ScopeArgs,
) -> Result<StoredRun> {
    let mut run = read_for_rules(store, key, rules).await?;
    if let Some(label) = &scope.label {
        count_separately(store, &mut run, label).await?;
    }
    top_level(store, &mut run, scope).await?;
    Ok(run)
}

/// Reads a run, with cells for every label that a rule names.
pub(crate) async fn read_for_rules(store: &Store, key: &RunKey, rules: &[Rule]) -> Result<StoredRun> {
    let mut run = store.read(key).await?;
    for label in rules.iter().filter_map(Rule::label) {
        count_separately(store, &mut run, label).await?;
    }
    Ok(run)
}
