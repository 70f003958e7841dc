//! `perfpipe merge`: makes a run of its parts.

use anyhow::Result;
use clap::Args;
use perfpipe_analyze::format::counted;
use perfpipe_ingest::store::StoredParts;
use perfpipe_ingest::{MergeOptions, Progress, RunKey, Store};

use super::ingest::{SummaryOutput, summarise};
use crate::args::{OutputArgs, StoreArgs};
use crate::error::CliError;
use crate::input::runs::{self, RunNames};
use crate::input::store;
use crate::output::note;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe merge go_2048 --parts 16\n  \
    perfpipe merge go_2048#2 --parts 16 --max-rejects 5000\n\n\
    The parts are those of `perfpipe ingest --part`. The run is the one that an ingest of all their logs together would \
    have stored. It appears as a whole or not at all, and then its parts are removed.")]
pub(crate) struct MergeArgs {
    /// Run to make: go_2048, go_2048#2
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Number of all its parts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) parts: u32,
    /// Fail if more than this many records are rejected in all parts together
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) max_rejects: u64,
    /// Replace any run of that name, even a whole one by a partial one
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Merges the parts of a run.
pub(crate) async fn run(args: &MergeArgs, store: &StoreArgs, progress: Progress) -> Result<()> {
    let store = store::existing(store).await?;
    let StoredParts { key, of, .. } = of_parts(&args.run, &store).await?;
    check_parts(&key, of, args.parts)?;
    let options = MergeOptions::default().with_max_rejects(args.max_rejects).with_replace(args.replace);
    let options = options.with_progress(progress);
    let summary = SummaryOutput::begin(&args.output)?;
    let is_new = store.info(&key).await.ok().flatten().is_none();
    let done = store.merge(&key, args.parts, &options).await?;
    summarise(&done, &store, summary, is_new).await?;
    let run = RunNames::in_store(&store, &key).await;
    note(&format!("merged {} to {run}, and removed them", counted(args.parts.into(), "part")));
    Ok(())
}

/// Refuses another number of parts than they were ingested with.
fn check_parts(key: &RunKey, of: u32, parts: u32) -> Result<()> {
    if of == parts {
        return Ok(());
    }
    let problem = format!("--parts {parts}: the parts of {key} were ingested with --part K/{of}");
    let remedy =
        format!("Give --parts {of}; if the run has {parts}, ingest each again with --part K/{parts}.");
    Err(CliError::refused(problem, remedy).into())
}

/// Returns the parts that the store has of the run with this name.
pub(super) async fn of_parts(name: &str, store: &Store) -> Result<StoredParts> {
    let stored = store.parts().await?;
    let known: Vec<RunKey> = stored.iter().map(|parts| parts.key.clone()).collect();
    let printed = RunNames::of(&known);
    let names = |keys: &[RunKey]| keys.iter().map(|key| printed.name(key)).collect::<Vec<_>>().join(", ");
    if !known.iter().any(|key| key.is_called(name)) {
        let remedy = match known.as_slice() {
            [] => "Store them first with `perfpipe ingest --part`.".to_owned(),
            known => format!("There are parts of {}.", names(known)),
        };
        return Err(CliError::refused(format!("there are no parts of {name} in {store}"), remedy).into());
    }
    let called = runs::called(&known, name, &printed)?;
    let mut parts = stored.into_iter().filter(|parts| called.contains(&parts.key));
    match (parts.next(), called.as_slice()) {
        (Some(only), [_]) => Ok(only),
        (_, several) => {
            let problem = format!("there are parts of {} repeats of {name}", several.len());
            Err(CliError::usage(problem, format!("Name one of them: {}.", names(several))).into())
        }
    }
}
