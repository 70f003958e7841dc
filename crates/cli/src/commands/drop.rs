//! `perfpipe drop`: deletes runs from the store.

use std::collections::BTreeSet;
use std::io::{BufRead, IsTerminal, Write, stderr, stdin};

use anyhow::Result;
use clap::{ArgGroup, Args};
use jiff::Timestamp;
use perfpipe_analyze::format::{counted, duration};
use perfpipe_ingest::points::PointKey;
use perfpipe_ingest::{RunInfo, RunKey, Store};

use super::merge::of_parts;
use crate::args::{RunsArgs, StoreArgs, TestArgs, span, tag_key};
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::input::{points, runs, store};
use crate::output::{note, tell};

/// The largest number of runs that are named before they are dropped.
const NAMED: usize = 20;

#[derive(Debug, Args)]
#[command(mut_arg("run", |run| run.help("Runs to drop, as `perfpipe list` names them: go_2048, go_2048#2")))]
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
    /// Drop several runs without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
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
    if args.points {
        return drop_points(args, &store).await;
    }
    if !args.part.is_empty() {
        return drop_parts(args, &store).await;
    }
    let mut left_out = LeftOut::default();
    let chosen = chosen(args, &store, &mut left_out).await?;
    let names: Vec<String> = chosen.iter().map(|chosen| chosen.key().to_string()).collect();
    if chosen.is_empty() {
        note(&format!("nothing was dropped: {}", nothing(args)));
    } else if args.dry_run {
        names.iter().for_each(|name| note(&format!("would be dropped: {name}")));
    } else if chosen.len() == 1 || args.yes || is_confirmed(&names, "run", &store).await? {
        for (chosen, name) in chosen.iter().zip(&names) {
            chosen.drop_from(&store).await?;
            note(&format!("dropped {name} from {store}"));
        }
    } else {
        note("nothing was dropped");
    }
    left_out.end()
}

/// Drops parts of a run.
async fn drop_parts(args: &DropArgs, store: &Store) -> Result<()> {
    let [run] = args.runs.run.as_slice() else {
        let problem = "--part drops parts of one run, and several are named";
        return Err(CliError::usage(problem, "Name one run.").into());
    };
    let key = of_parts(run, store).await?;
    let parts = args.part.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    if args.dry_run {
        note(&format!("would be dropped: part {parts} of {key}"));
        return Ok(());
    }
    store.drop_parts(&key, &args.part).await?;
    note(&format!("dropped part {parts} of {key} from {store}"));
    Ok(())
}

/// Drops the points of a test.
async fn drop_points(args: &DropArgs, store: &Store) -> Result<()> {
    let TestArgs { test, framework, .. } = &args.runs.of;
    let chosen = points::of_test(store, test.as_deref().unwrap_or_default(), framework, &[]).await?;
    let keys: BTreeSet<PointKey> = chosen.into_iter().map(|point| point.key).collect();
    let names: Vec<String> = keys.iter().map(PointKey::to_string).collect();
    if args.dry_run {
        names.iter().for_each(|name| note(&format!("would be dropped: {name}")));
    } else if names.len() == 1 || args.yes || is_confirmed(&names, "point", store).await? {
        let dropped = store.drop_points(&keys).await?;
        note(&format!("dropped {} from {store}", counted(dropped as u64, "point")));
    } else {
        note("nothing was dropped");
    }
    Ok(())
}

/// A run to drop.
enum Chosen {
    /// Whatever run has the key, readable or not.
    Key(RunKey),
    /// The run that was looked at, and none that replaces it meanwhile.
    Run(Box<RunInfo>),
}

impl Chosen {
    fn key(&self) -> &RunKey {
        match self {
            Self::Key(key) => key,
            Self::Run(run) => &run.key,
        }
    }

    async fn drop_from(&self, store: &Store) -> Result<()> {
        match self {
            Self::Key(key) => store.drop_run(key).await?,
            Self::Run(run) => store.drop_run_of(run).await?,
        }
        Ok(())
    }
}

/// Returns the runs to drop.
async fn chosen(args: &DropArgs, store: &Store, left_out: &mut LeftOut) -> Result<Vec<Chosen>> {
    if let Some(keys) = by_parts(args, store).await? {
        return Ok(keys.into_iter().map(Chosen::Key).collect());
    }
    let (keys, stored) = if args.runs.run.is_empty() {
        let stored = left_out.of_test(store, args.runs.of.test.as_deref()).await?;
        (runs::several(&stored, &[], &args.runs.of)?, stored)
    } else {
        // Other runs that can't be read do not matter.
        runs::all_named(&args.runs.run, store).await?
    };
    let now = Timestamp::now();
    let taken = stored.into_iter().filter(|run| keys.contains(&run.key) && args.takes(run, now));
    Ok(taken.map(|run| Chosen::Run(Box::new(run))).collect())
}

/// Returns the runs of one framework and test that are given by these parts alone: a run that can't be read is dropped
/// too then. `None` if the runs are given otherwise, or there are none.
async fn by_parts(args: &DropArgs, store: &Store) -> Result<Option<Vec<RunKey>>> {
    let of = &args.runs.of;
    let (Some(test), [framework], false) = (&of.test, of.framework.as_slice(), args.is_by_content()) else {
        return Ok(None);
    };
    let key = |repeat| RunKey::new(framework, test).with_repeat(repeat);
    if let [repeat] = of.repeat.as_slice() {
        return Ok(Some(vec![key(*repeat)]));
    }
    let stored = store.repeats(framework, test).await?;
    if stored.is_empty() || !of.repeat.iter().all(|repeat| stored.contains(repeat)) {
        return Ok(None);
    }
    let asked = |repeat: &u32| of.repeat.is_empty() || of.repeat.contains(repeat);
    Ok(Some(stored.into_iter().filter(asked).map(key).collect()))
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

/// Asks on the terminal whether several runs or points are to be dropped.
///
/// # Errors
/// If there is no terminal to ask on.
async fn is_confirmed(names: &[String], what: &str, store: &Store) -> Result<bool> {
    let all = counted(names.len() as u64, what);
    let shown: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    let more = if names.len() > NAMED { ", …" } else { "" };
    if !stdin().is_terminal() || !stderr().is_terminal() {
        let problem = format!("{all} would be dropped: {}{more}", shown.join(", "));
        let remedy = "Give --yes to drop all of them, or name one with its number, as in --repeat 2.";
        return Err(CliError::usage(problem, remedy).into());
    }
    tell(&format!("{}{more}", shown.join(", ")));
    // The question has no end of line.
    let _ = write!(stderr(), "Drop {all} from {store}? [y/N] ");
    // On a thread of its own, so that a signal ends the command while it waits for the answer.
    let answer = tokio::task::spawn_blocking(|| {
        let mut answer = String::new();
        stdin().lock().read_line(&mut answer).map(|_| answer)
    });
    Ok(matches!(answer.await??.trim().to_lowercase().as_str(), "y" | "yes"))
}
