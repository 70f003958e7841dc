//! `perfpipe copy`: copies runs and points from one store to another.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use perfpipe_analyze::format::{counted, thousands};
use perfpipe_ingest::points::{Point, PointKey};
use perfpipe_ingest::run::Replace;
use perfpipe_ingest::{Error, RunInfo, RunKey, Store};

use crate::args::{ConfirmArgs, OutputArgs, RunsArgs, StoreArgs};
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::input::runs::{Deed, RunNames, Selection, is_confirmed};
use crate::input::store::FolderFlag;
use crate::input::{points, store};
use crate::output::done::{DoneRow, DoneTable};
use crate::output::note;

/// Copies the runs that are named, or all runs, and the points of the same test, or all points.
pub(crate) async fn run(args: &CopyArgs, from: &StoreArgs) -> Result<()> {
    let from = store::existing(from).await?;
    let to = target(args).await?;
    if from.to_string() == to.to_string() {
        return Err(CliError::usage("both stores are the same", "Name another one with --to.").into());
    }
    let mut done = DoneTable::begin(&args.output, false)?;
    let copied = copy(args, &from, &to, &mut done).await;
    done.end(copied)
}

async fn copy(args: &CopyArgs, from: &Store, to: &Store, done: &mut DoneTable) -> Result<()> {
    let mut left_out = LeftOut::default();
    let chosen = chosen(args, from, &mut left_out).await?;
    let runs = left_out.runs(from).await?;
    // A test may have points alone.
    let (keys, names, chosen) = match (Selection::among(runs, &args.runs.run, &args.runs.of), chosen) {
        (Err(_), Ok(points)) if !points.is_empty() => (Vec::new(), RunNames::default(), points),
        (runs, points) => {
            let chosen = runs?;
            if args.replace && !may_replace(args, &chosen, to).await? {
                note("nothing was copied");
                return Ok(());
            }
            let Selection { keys, names, .. } = chosen;
            (keys, names, points.unwrap_or_default())
        }
    };
    let replace = if args.replace { Replace::Any } else { Replace::SameFile };
    for key in &keys {
        let copied = copy_run(from, (key, &names.name(key)), to, replace).await;
        let Some((row, sentence)) = left_out.or_leave_out(key, copied)? else { continue };
        done.say(row, &sentence);
    }
    if !chosen.is_empty() {
        copy_points(from, &chosen, to, args.replace, done).await?;
    } else if keys.is_empty() {
        note(&format!("{from} has no runs"));
    }
    left_out.end()
}

/// Returns true if the runs of the other store that have these keys and are other ones may be replaced: one at once, several
/// after a confirmation.
async fn may_replace(args: &CopyArgs, chosen: &Selection, to: &Store) -> Result<bool> {
    let there = to.runs().await?;
    let same = |one: &RunInfo, other: &RunInfo| {
        one.key == other.key && one.t0_ms == other.t0_ms && one.sources == other.sources
    };
    let is_replaced =
        |run: &&RunInfo| chosen.keys.contains(&run.key) && !chosen.stored.iter().any(|from| same(from, run));
    let printed = RunNames::of(there.iter().map(|run| &run.key));
    let names: Vec<String> = there.iter().filter(is_replaced).map(|run| printed.name(&run.key)).collect();
    Ok(names.len() < 2 || is_confirmed(Deed("Replace", "replaced"), &names, "run", &args.confirm, to).await?)
}

/// Copies a run, unless it is there already. Returns what was done.
async fn copy_run(
    from: &Store,
    (key, name): (&RunKey, &str),
    to: &Store,
    replace: Replace,
) -> Result<(DoneRow, String)> {
    let row = |outcome, info: &RunInfo| DoneRow::of_run("run", outcome, key, name).records(info.records());
    if let Some(info) = from.find_same(key, to).await? {
        let records = thousands(info.records());
        let what = format!("{name} is already in {to}: {records} records, read and found the same");
        return Ok((row("unchanged", &info), what));
    }
    let info = from.copy(key, to, replace).await?;
    let records = thousands(info.records());
    let what = format!("copied {name} from {from} to {to}: {records} records, read back the same");
    Ok((row("copied", &info), what))
}

async fn target(args: &CopyArgs) -> Result<Store> {
    match (&args.to, &args.to_database) {
        (Some(folder), _) => store::folder(folder, &FolderFlag("--to", Some("--to-database"))),
        (None, Some(url)) => store::database(url).await,
        (None, None) => {
            Err(CliError::usage("there is no store to copy to", "Name it with --to or --to-database.").into())
        }
    }
}

#[derive(Debug, Args)]
#[command(mut_arg("run", |run| run.help("Runs to copy, as `perfpipe list` names them: go_2048 [default: all]")))]
#[command(mut_arg("yes", |yes| yes.help("Replace several runs without asking").requires("replace")))]
#[command(after_help = "Examples:\n  \
    perfpipe copy --to-database postgres://user@host/load\n  \
    perfpipe copy --test 2048 --to laptop\n  \
    perfpipe copy go_2048 spring_2048 --database postgres://user@host/load --to laptop\n\n\
    Points of load tools' summaries are copied too, all or those of --test; not where runs are named, or chosen by tags. \
    More than one other run is replaced only after a confirmation.")]
pub(crate) struct CopyArgs {
    #[command(flatten)]
    pub(crate) runs: RunsArgs,
    /// Folder of the embedded store to copy to, or of a bucket, as of --store
    #[arg(long, value_name = "DIR", conflicts_with = "to_database", required_unless_present = "to_database")]
    pub(crate) to: Option<PathBuf>,
    /// Postgres database to copy to
    #[arg(long, value_name = "URL")]
    pub(super) to_database: Option<String>,
    /// Replace runs and points of the same key there, whatever files they were made from
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(super) confirm: ConfirmArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Returns the points that the flags select. Names and tags are those of runs, and select none.
///
/// # Errors
/// If no point is of the test.
pub(super) async fn chosen(
    args: &CopyArgs,
    from: &Store,
    left_out: &mut LeftOut,
) -> Result<Result<Vec<Point>>> {
    if !args.runs.run.is_empty() || !args.runs.of.tag.is_empty() {
        return Ok(Ok(Vec::new()));
    }
    match from.points().await {
        // Damaged points do not keep the runs from being copied.
        Err(error @ Error::Store { .. }) => {
            left_out.add(&error);
            Ok(Ok(Vec::new()))
        }
        all => Ok(points::selected(all?, &args.runs.of)),
    }
}

/// Copies points, unless they are there already, and reads them back.
///
/// # Errors
/// If the other store has other figures of a key, and they may not be replaced.
async fn copy_points(
    from: &Store,
    chosen: &[Point],
    to: &Store,
    replace: bool,
    done: &mut DoneTable,
) -> Result<()> {
    let there = by_key(to.points().await?);
    let (same, new): (Vec<Point>, Vec<Point>) =
        chosen.iter().cloned().partition(|point| there.get(&point.key) == Some(point));
    if let Some(taken) = new.iter().find(|point| there.contains_key(&point.key)).filter(|_| !replace) {
        return Err(CliError::refused(
            format!("{to} already has the point {}, with other figures; no point was copied", taken.key),
            "Copy with --replace to replace it, or select other points with --test and --framework.",
        )
        .into());
    }
    if new.is_empty() {
        let count = counted(same.len() as u64, "point");
        note(&format!("{count} already in {to}: read and found the same"));
        same.iter().for_each(|point| done.add(DoneRow::of_point("unchanged", &point.key)));
        return Ok(());
    }
    to.put_points(&new).await?;
    let there = by_key(to.points().await?);
    if let Some(other) = new.iter().find(|point| there.get(&point.key) != Some(point)) {
        return Err(CliError::refused(
            format!("the point {} was read back from {to} with other figures", other.key),
            "Another command may have stored it meanwhile: copy again.",
        )
        .into());
    }
    let already = match same.len() as u64 {
        0 => String::new(),
        count => format!("; {} already there", counted(count, "point")),
    };
    let count = counted(new.len() as u64, "point");
    note(&format!("copied {count} from {from} to {to}, read back the same{already}"));
    for (outcome, points) in [("unchanged", &same), ("copied", &new)] {
        points.iter().for_each(|point| done.add(DoneRow::of_point(outcome, &point.key)));
    }
    Ok(())
}

fn by_key(points: Vec<Point>) -> BTreeMap<PointKey, Point> {
    points.into_iter().map(|point| (point.key.clone(), point)).collect()
}
