//! `perfpipe repair`: repairs damaged runs, and sets aside those that can't be repaired.

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use perfpipe_ingest::store::parquet::ParquetStore;
use perfpipe_ingest::store::{RepairStep, Repaired, Repairer};
use perfpipe_ingest::{Progress, RunKey, Store};

use super::verify::ignore_dropped;
use crate::args::{ConfirmArgs, OutputArgs, RunsArgs, StoreArgs, span};
use crate::error::CliError;
use crate::input::runs::{Deed, RunNames, Selection, is_confirmed};
use crate::input::store;
use crate::output::done::{DoneRow, DoneTable};
use crate::output::note;
use crate::output::progress::Bar;

#[derive(Debug, Args)]
#[command(mut_arg("run", |run| run.help("Runs to repair, as `perfpipe list` names them: go_2048 [default: all, and the store itself]")))]
#[command(mut_arg("yes", |yes| yes.help("Change several runs without asking")))]
#[command(after_help = "Examples:\n  \
    perfpipe repair --dry-run\n  \
    perfpipe repair go_2048\n  \
    perfpipe repair --store s3://bucket/runs --keep-for 1d\n\n\
    Rewrites the store's own file, removes leftovers of killed writers, counts again from the samples, and moves \
    runs from the folder of another run to their own. A damaged file of points can't be repaired. What can't be repaired is moved to the folder `set-aside` of \
    the store, and never deleted; in a database or a bucket it is left as it is. In a bucket, tables that a stopped writer \
    left unlike the table of runs get what that one has, and old files of no run are removed.\n\n\
    More than one run is changed, moved or set aside only after a confirmation: on a terminal perfpipe asks for it, elsewhere \
    give --yes.")]
pub(crate) struct RepairArgs {
    #[command(flatten)]
    pub(crate) runs: RunsArgs,
    /// Keep the files of replaced, dropped and interrupted runs in a bucket for so long, at least 6h: 36h [default: 7d]
    #[arg(long, value_name = "AGE", value_parser = span, conflicts_with_all = ["run", "test", "tag"])]
    pub(crate) keep_for: Option<u64>,
    /// Keep them for less than 6h if --keep-for says so: nobody may be writing to the store
    #[arg(long, requires = "keep_for")]
    pub(crate) force: bool,
    /// Say what would be done, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) confirm: ConfirmArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Repairs the store and its runs, or the runs that are named, and sets aside what can't be repaired.
pub(crate) async fn run(args: &RepairArgs, at: &StoreArgs) -> Result<()> {
    let store = store::existing(at).await?;
    if args.keep_for.is_some() && !ParquetStore::is_bucket(&store.to_string()) {
        let problem = format!("--keep-for is for stores in a bucket, and {store} is none");
        return Err(CliError::usage(problem, "Leave the flag out: nothing is kept here.").into());
    }
    if args.keep_for.is_some_and(|ms| Duration::from_millis(ms) < Repairer::LEAST_KEPT) && !args.force {
        let problem = "--keep-for is shorter than 6h, and an ingest may be writing files as old as that";
        let remedy = "Give 6h or longer, or --force if nobody writes to the store.";
        return Err(CliError::usage(problem, remedy).into());
    }
    let mut done = DoneTable::begin(&args.output, args.dry_run)?;
    let repaired = repair(args, &store, &mut done).await;
    done.end(repaired)
}

async fn repair(args: &RepairArgs, store: &Store, done: &mut DoneTable) -> Result<()> {
    if !args.dry_run && !may_repair(args, store).await? {
        note("nothing was repaired");
        return Ok(());
    }
    let would = if args.dry_run { "would be done: " } else { "" };
    let mut say = |RepairStep { run, outcome, what, .. }: RepairStep| {
        let row = match run {
            Some(key) => DoneRow::of_run("run", outcome.name(), &key, &key.to_string()),
            None => DoneRow::new("store", outcome.name()),
        };
        done.say(row, &format!("{would}{what}"));
    };
    let repaired = steps(args, store, args.dry_run, &mut say).await?;
    if repaired.steps + repaired.left == 0 {
        note("nothing is damaged");
    }
    if repaired.left == 0 {
        return Ok(());
    }
    Err(CliError::refused(
        format!("problems that could not be repaired: {}", repaired.left),
        "They are listed above.",
    )
    .into())
}

/// Returns true if the repair changes at most one run, or if it is confirmed.
async fn may_repair(args: &RepairArgs, store: &Store) -> Result<bool> {
    if args.confirm.yes {
        return Ok(true);
    }
    let planned = steps(args, store, true, &mut drop).await?;
    let changes = &planned.changes;
    let deed = Deed("Make", "made");
    Ok(changes.len() < 2 || is_confirmed(deed, changes, "repair", &args.confirm, store).await?)
}

/// Repairs the store and its runs, or the runs that are named; says each step.
async fn steps(
    args: &RepairArgs,
    store: &Store,
    dry_run: bool,
    say: &mut (dyn FnMut(RepairStep) + Send),
) -> Result<Repaired> {
    let mut repairer = Repairer::new(dry_run, say);
    if let Some(ms) = args.keep_for {
        repairer = repairer.keep_for(Duration::from_millis(ms));
    }
    if args.force {
        repairer = repairer.force();
    }
    if args.runs.is_all() {
        store.repair_store(&mut repairer)?;
        store.repair_points(&mut repairer).await?;
    }
    let chosen = Selection::any(store, &args.runs.run, &args.runs.of).await?;
    for key in &chosen.keys {
        one(&mut repairer, store, key, &chosen.names).await?;
    }
    Ok(repairer.done())
}

/// Repairs a run, unless it is dropped meanwhile.
async fn one(repairer: &mut Repairer<'_>, store: &Store, key: &RunKey, names: &RunNames) -> Result<()> {
    let progress = Progress::default();
    let bar = Bar::start(None, progress.clone());
    let repaired = store.repair_run(key, repairer, &progress).await;
    bar.finish();
    match repaired {
        Ok(()) => Ok(()),
        Err(error) => ignore_dropped(store, key, names, error).await,
    }
}
