//! `perfpipe drop`: deletes runs from the store.

use std::collections::BTreeSet;

use anyhow::Result;
use clap::{ArgGroup, Args};
use jiff::Timestamp;
use perfpipe_analyze::format::{counted, duration};
use perfpipe_ingest::points::PointKey;
use perfpipe_ingest::{RunInfo, RunKey, RunRef, Store};

use super::merge::of_parts;
use crate::args::{ConfirmArgs, OutputArgs, RunsArgs, StoreArgs, TestArgs, span, tag_key};
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::input::runs::{Deed, Selection, is_confirmed};
use crate::input::{points, store};
use crate::output::done::{DoneRow, DoneTable};
use crate::output::note;

const DROP: Deed = Deed("Drop", "dropped");

#[derive(Debug, Args)]
#[command(mut_arg("run", |run| run.help("Runs to drop: go_2048 with all its repeats, go_2048#2 for the second alone")))]
#[command(mut_arg("yes", |yes| yes.help("Drop several runs without asking")))]
#[command(group = ArgGroup::new("which").args(["run", "test", "tag", "older_than"]).multiple(true).required(true))]
#[command(after_help = "Examples:\n  \
    perfpipe drop go_2048#3\n  \
    perfpipe drop --framework go --test 2048\n  \
    perfpipe drop --test 2048 --yes\n  \
    perfpipe drop --test /hello --points --yes\n  \
    perfpipe drop go_2048 --part 3\n  \
    perfpipe drop --older-than 90d --keep-tagged release --dry-run\n\n\
    More than one run is dropped only after a confirmation: on a terminal perfpipe asks for it, elsewhere give --yes.")]
pub(crate) struct DropArgs {
    #[command(flatten)]
    pub(crate) runs: RunsArgs,
    /// Only runs that were ingested longer ago than this: 90d, 36h
    #[arg(long, value_name = "AGE", value_parser = span)]
    pub(crate) older_than: Option<u64>,
    /// Keep runs that have a tag with this key; repeatable
    #[arg(long, value_name = "KEY", value_parser = tag_key)]
    pub(crate) keep_tagged: Vec<String>,
    /// Print which runs would be dropped, and drop none
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Drop the points of load tools' summaries of this --test instead
    #[arg(long, requires = "test", conflicts_with_all = ["run", "repeat", "tag", "older_than", "keep_tagged"])]
    pub(crate) points: bool,
    /// Drop this part of the run, which `perfpipe merge` has not merged, instead; repeatable
    #[arg(long, value_name = "K", requires = "run", conflicts_with_all = ["test", "older_than", "keep_tagged"])]
    pub(crate) part: Vec<u32>,
    #[command(flatten)]
    pub(crate) confirm: ConfirmArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl DropArgs {
    /// Returns true if the runs are chosen by more than their keys, so that what is stored of them must be read.
    fn is_by_content(&self) -> bool {
        self.older_than.is_some() || !self.keep_tagged.is_empty() || !self.runs.of.tag.is_empty()
    }

    /// Returns true if a run may be dropped by its age and its tags.
    fn takes(&self, run: &RunInfo, now: Timestamp) -> bool {
        let is_kept = self.keep_tagged.iter().any(|key| run.options.tags.contains_key(key));
        !is_kept && self.older_than.is_none_or(|ms| is_older(run, ms, now))
    }
}

/// Deletes the chosen runs from the store.
pub(crate) async fn run(args: &DropArgs, store: &StoreArgs) -> Result<()> {
    let store = store::existing(store).await?;
    let mut done = DoneTable::begin(&args.output, args.dry_run)?;
    let dropped = match (args.points, args.part.is_empty()) {
        (true, _) => drop_points(args, &store, &mut done).await,
        (false, false) => drop_parts(args, &store, &mut done).await,
        (false, true) => drop_runs(args, &store, &mut done).await,
    };
    done.end(dropped)
}

/// Drops runs.
async fn drop_runs(args: &DropArgs, store: &Store, done: &mut DoneTable) -> Result<()> {
    let mut left_out = LeftOut::default();
    let chosen = chosen(args, store, &mut left_out).await?;
    let dropped = |key: &RunKey| DoneRow::of_run("run", "dropped", key, &chosen.names.name(key));
    if chosen.keys.is_empty() {
        note(&format!("nothing was dropped: {}", nothing(args)));
    } else if args.dry_run {
        for key in &chosen.keys {
            done.say(dropped(key), &format!("would be dropped: {}", chosen.names.name(key)));
        }
    } else if chosen.may_be(DROP, &args.confirm, store).await? {
        for key in &chosen.keys {
            drop_one(key, &chosen.stored, store).await?;
            done.say(dropped(key), &format!("dropped {} from {store}", chosen.names.name(key)));
        }
    } else {
        note("nothing was dropped");
    }
    left_out.end()
}

/// Drops parts of a run.
async fn drop_parts(args: &DropArgs, store: &Store, done: &mut DoneTable) -> Result<()> {
    let [run] = args.runs.run.as_slice() else {
        let problem = "--part drops parts of one run, and several are named";
        return Err(CliError::usage(problem, "Name one run.").into());
    };
    let key = of_parts(run, store).await?.key;
    let parts = args.part.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    if args.dry_run {
        note(&format!("would be dropped: part {parts} of {key}"));
    } else {
        store.drop_parts(&key, &args.part).await?;
        note(&format!("dropped part {parts} of {key} from {store}"));
    }
    for part in &args.part {
        done.add(DoneRow::of_run("part", "dropped", &key, &key.to_string()).named(part));
    }
    Ok(())
}

/// Drops the points of a test.
async fn drop_points(args: &DropArgs, store: &Store, done: &mut DoneTable) -> Result<()> {
    let TestArgs { test, framework, .. } = &args.runs.of;
    let chosen = points::of_test(store, test.as_deref().unwrap_or_default(), framework, &[]).await?;
    let keys: BTreeSet<PointKey> = chosen.into_iter().map(|point| point.key).collect();
    let names: Vec<String> = keys.iter().map(PointKey::to_string).collect();
    if args.dry_run {
        names.iter().for_each(|name| note(&format!("would be dropped: {name}")));
    } else if names.len() == 1 || is_confirmed(DROP, &names, "point", &args.confirm, store).await? {
        let dropped = store.drop_points(&keys).await?;
        note(&format!("dropped {} from {store}", counted(dropped as u64, "point")));
    } else {
        note("nothing was dropped");
        return Ok(());
    }
    keys.iter().for_each(|key| done.add(DoneRow::of_point("dropped", key)));
    Ok(())
}

/// Returns the runs to drop, of those that may be chosen.
async fn chosen(args: &DropArgs, store: &Store, left_out: &mut LeftOut) -> Result<Selection> {
    let RunsArgs { run, of } = &args.runs;
    // What is named is dropped even if it can't be read. Nobody knows whether it is of a kind.
    let mut chosen = match args.is_by_content() || (run.is_empty() && of.framework.is_empty()) {
        true => Selection::readable(store, run, of, left_out).await?,
        false => Selection::any(store, run, of).await?,
    };
    let now = Timestamp::now();
    let spared: Vec<RunKey> =
        chosen.stored.iter().filter(|run| !args.takes(run, now)).map(|run| run.key.clone()).collect();
    chosen.keys.retain(|key| !spared.contains(key));
    Ok(chosen)
}

/// Drops a run: as it was looked at, and none that replaces it meanwhile; or whatever has the key, if it can't be read.
async fn drop_one(key: &RunKey, stored: &[RunInfo], store: &Store) -> Result<()> {
    let run = stored.iter().find(|run| run.key == *key);
    Ok(store.drop_run(run.map_or(RunRef::from(key), RunRef::from)).await?)
}

/// Returns true if a run was ingested longer ago than this, in ms.
fn is_older(run: &RunInfo, ms: u64, now: Timestamp) -> bool {
    let ingested: Option<Timestamp> = run.ingested_at.parse().ok();
    ingested.is_some_and(|then| {
        u64::try_from(now.as_millisecond().saturating_sub(then.as_millisecond())).is_ok_and(|age| age > ms)
    })
}

/// Says why no run was chosen.
fn nothing(args: &DropArgs) -> String {
    let mut why = args.older_than.map_or_else(
        || "the store has no such run".to_owned(),
        |ms| format!("no such run was ingested more than {} ago", duration(ms / 1000)),
    );
    if !args.keep_tagged.is_empty() {
        why.push_str(&format!(" and is without the tag {}", args.keep_tagged.join(" or ")));
    }
    why
}
