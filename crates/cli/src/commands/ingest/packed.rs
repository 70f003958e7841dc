//! `perfpipe ingest FILE` of a run that `perfpipe export --what counts` wrote.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Parser;
use perfpipe_analyze::format::thousands;
use perfpipe_ingest::Store;
use perfpipe_ingest::run::Replace;
use perfpipe_ingest::store::parquet::PackedRun;

use super::args::IngestArgs;
use crate::args::StoreArgs;
use crate::error::CliError;
use crate::input::runs::RunNames;
use crate::input::store;
use crate::output::note;

/// The command line of an ingest.
#[derive(Debug, Parser)]
struct IngestLine {
    #[command(flatten)]
    args: IngestArgs,
}

/// Returns the packed run that is named alone, if there is one.
pub(super) fn named(files: &[PathBuf]) -> Option<&Path> {
    match files {
        [file] if PackedRun::is_at(file) => Some(file),
        _ => None,
    }
}

/// Stores a packed run.
pub(super) async fn run(args: &IngestArgs, file: &Path, store: &StoreArgs) -> Result<()> {
    refuse_flags(args, file)?;
    let store = store::open(store).await?;
    let packed = PackedRun::open(file)?;
    let (from, key) = (Store::from(packed.store().clone()), &packed.info().key);
    let records = thousands(packed.info().records());
    if from.find_same(key, &store).await?.is_some() {
        let run = RunNames::in_store(&store, key).await;
        note(&format!("{run} is already in {store}: {records} records, read and found the same"));
        return Ok(());
    }
    let replace = if args.keep.replace { Replace::Any } else { Replace::Nothing };
    from.copy(key, &store, replace).await?;
    let run = RunNames::in_store(&store, key).await;
    note(&format!("stored {run} in {store}: {records} records (counts only), read back the same"));
    Ok(())
}

/// Refuses all flags but `--replace`: a packed run is stored as it is.
fn refuse_flags(args: &IngestArgs, file: &Path) -> Result<()> {
    let line = IngestLine::try_parse_from([Path::new("ingest"), Path::new("--"), file])?;
    let mut plain = line.args;
    plain.keep.replace = args.keep.replace;
    if format!("{plain:?}") == format!("{args:?}") {
        return Ok(());
    }
    let problem = format!("{} is a run of another store, which is stored as it is", file.display());
    let remedy = "Leave out all flags but --replace; `perfpipe rename` gives a stored run another name.";
    Err(CliError::usage(problem, remedy).into())
}
