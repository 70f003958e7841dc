//! `perfpipe copy`: copies runs from one store to another.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use perfpipe_analyze::format::thousands;
use perfpipe_ingest::run::Replace;
use perfpipe_ingest::{RunKey, Store};

use crate::args::{RunsArgs, StoreArgs};
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::input::{runs, store};
use crate::output::note;

#[derive(Debug, Args)]
#[command(mut_arg("run", |run| run.help("Runs to copy, as `perfpipe list` names them: go_2048 [default: all]")))]
#[command(after_help = "Examples:\n  \
    perfpipe copy --to-database postgres://user@host/load\n  \
    perfpipe copy --test 2048 --to laptop\n  \
    perfpipe copy go_2048 spring_2048 --database postgres://user@host/load --to laptop")]
pub(crate) struct CopyArgs {
    #[command(flatten)]
    pub(crate) runs: RunsArgs,
    /// Folder of the embedded store to copy to
    #[arg(long, value_name = "DIR", conflicts_with = "to_database", required_unless_present = "to_database")]
    pub(crate) to: Option<PathBuf>,
    /// Postgres database to copy to
    #[arg(long, value_name = "URL")]
    pub(crate) to_database: Option<String>,
    /// Replace runs of the same key there, whatever files they were made from
    #[arg(long)]
    pub(crate) replace: bool,
}

/// Copies the runs that are named, or all runs.
pub(crate) async fn run(args: &CopyArgs, from: &StoreArgs) -> Result<()> {
    let from = store::existing(from).await?;
    let to = target(args).await?;
    if from.to_string() == to.to_string() {
        return Err(CliError::usage("both stores are the same", "Name another one with --to.").into());
    }
    let mut left_out = LeftOut::default();
    let keys = runs::several(&left_out.runs(&from).await?, &args.runs.run, &args.runs.of)?;
    let replace = if args.replace { Replace::Any } else { Replace::SameFile };
    for key in &keys {
        let copied = copy(&from, key, &to, replace).await;
        let Some(told) = left_out.or_leave_out(key, copied)? else { continue };
        note(&told);
    }
    if keys.is_empty() {
        note(&format!("{from} has no runs"));
    }
    left_out.end()
}

/// Copies a run, unless it is there already. Returns what was done.
async fn copy(from: &Store, key: &RunKey, to: &Store, replace: Replace) -> Result<String> {
    if let Some(info) = from.find_same(key, to).await? {
        let records = thousands(info.records());
        return Ok(format!("{key} is already in {to}: {records} records, read and found the same"));
    }
    let info = from.copy(key, to, replace).await?;
    let records = thousands(info.records());
    Ok(format!("copied {key} from {from} to {to}: {records} records, read back the same"))
}

async fn target(args: &CopyArgs) -> Result<Store> {
    match (&args.to, &args.to_database) {
        (Some(folder), _) => store::folder(folder),
        (None, Some(url)) => store::database(url).await,
        (None, None) => {
            Err(CliError::usage("there is no store to copy to", "Name it with --to or --to-database.").into())
        }
    }
}
