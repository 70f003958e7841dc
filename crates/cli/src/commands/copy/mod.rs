//! `perfpipe copy`: copies runs and points from one store to another.

mod args;
mod points;

use anyhow::Result;
use perfpipe_analyze::format::thousands;
use perfpipe_ingest::run::Replace;
use perfpipe_ingest::{RunInfo, RunKey, Store};

pub(crate) use self::args::CopyArgs;
use crate::args::StoreArgs;
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::input::runs::{Deed, RunNames, Selection, is_confirmed};
use crate::input::store::{self, FolderFlag};
use crate::output::note;

/// Copies the runs that are named, or all runs, and the points of the same test, or all points.
pub(crate) async fn run(args: &CopyArgs, from: &StoreArgs) -> Result<()> {
    let from = store::existing(from).await?;
    let to = target(args).await?;
    if from.to_string() == to.to_string() {
        return Err(CliError::usage("both stores are the same", "Name another one with --to.").into());
    }
    let mut left_out = LeftOut::default();
    let chosen = points::chosen(args, &from, &mut left_out).await?;
    let runs = left_out.runs(&from).await?;
    // A test may have points alone.
    let (keys, names, chosen) = match (Selection::among(runs, &args.runs.run, &args.runs.of), chosen) {
        (Err(_), Ok(points)) if !points.is_empty() => (Vec::new(), RunNames::default(), points),
        (runs, points) => {
            let chosen = runs?;
            if args.replace && !may_replace(args, &chosen, &to).await? {
                note("nothing was copied");
                return Ok(());
            }
            let Selection { keys, names, .. } = chosen;
            (keys, names, points.unwrap_or_default())
        }
    };
    let replace = if args.replace { Replace::Any } else { Replace::SameFile };
    for key in &keys {
        let copied = copy(&from, (key, &names.name(key)), &to, replace).await;
        let Some(sentence) = left_out.or_leave_out(key, copied)? else { continue };
        note(&sentence);
    }
    if !chosen.is_empty() {
        note(&points::copy(&from, &chosen, &to, args.replace).await?);
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
async fn copy(from: &Store, (key, name): (&RunKey, &str), to: &Store, replace: Replace) -> Result<String> {
    if let Some(info) = from.find_same(key, to).await? {
        let records = thousands(info.records());
        return Ok(format!("{name} is already in {to}: {records} records, read and found the same"));
    }
    let info = from.copy(key, to, replace).await?;
    let records = thousands(info.records());
    Ok(format!("copied {name} from {from} to {to}: {records} records, read back the same"))
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
