//! `perfpipe ingest`: reads files into the store, with progress, a summary, and pages if requested.

mod args;
pub(crate) mod campaign;
mod options;
mod points;
mod summary;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Parser;
use perfpipe_analyze::format::thousands;
use perfpipe_ingest::run::Replace;
use perfpipe_ingest::store::parquet::PackedRun;
use perfpipe_ingest::{IngestOptions, Progress, RunInfo, Store};

pub(crate) use self::args::{IngestArgs, KeepArgs};
pub(crate) use self::options::{cpu_noted, keeping, options, reading, tags};
pub(crate) use self::points::with_readings;
use self::summary::IngestRow;
pub(crate) use self::summary::{SummaryOutput, summarise};
use crate::args::{PointArgs, StoreArgs};
use crate::commands::report;
use crate::error::CliError;
use crate::input::runs::RunNames;
use crate::input::{idle_flags, store, summaries};
use crate::output::pages::Pages;
use crate::output::progress::Bar;
use crate::output::{fonts, note, page_folder, size_of, warn};

/// Ingests the files of one run, or folders of many.
pub(crate) async fn run(args: &IngestArgs, store: &StoreArgs, progress: Progress) -> Result<()> {
    if let Some(file) = packed_run(&args.files) {
        return ingest_packed(args, file, store).await;
    }
    let found = summaries::find(&args.files).await?;
    if !found.files.is_empty() {
        return points::run(args, found.files, store).await;
    }
    refuse_points(&args.points)?;
    if args.out.is_none() {
        // --cores also describes the CPU readings.
        idle_flags::check_no_pages(&args.pages(), "--out", &["--cores"])?;
    }
    idle_flags::check_formats(&args.pages())?;
    if args.out.is_some() {
        fonts::check(&args.pages())?;
    }
    let (folders, files): (Vec<&PathBuf>, Vec<&PathBuf>) = args.files.iter().partition(|path| path.is_dir());
    match (folders.first(), files.first()) {
        (Some(_), None) => campaign::run(args, store, progress).await,
        (None, _) => {
            campaign::refuse_flags(&args.campaign)?;
            one(args, found.read_of_stdin, store, progress).await
        }
        (Some(folder), Some(file)) => Err(CliError::usage(
            format!("{} is a folder, and {} is not", folder.display(), file.display()),
            "Name the files of one run, or folders of many.",
        )
        .into()),
    }
}

/// Refuses flags on points where no file is a summary.
pub(super) fn refuse_points(args: &PointArgs) -> Result<()> {
    match args.of_summaries() {
        None => Ok(()),
        Some(flag) => {
            let problem = format!("{flag} is for summaries of load tools, and no file is one");
            Err(CliError::usage(problem, "Leave it out; --framework and --test name the run of a log.")
                .into())
        }
    }
}

/// Ingests the files of one run.
async fn one(args: &IngestArgs, read_of_stdin: Vec<u8>, store: &StoreArgs, progress: Progress) -> Result<()> {
    let mut options = options(args)?.with_progress(progress.clone());
    options.source.read_of_stdin = read_of_stdin;
    let part = args.part.map(options::part_number).transpose()?;
    if let Some(folder) = &args.out {
        page_folder(folder)?;
    }
    let summary = SummaryOutput::begin(&args.output)?;
    let store = store::open_with(store, &args.keep.sent).await?;
    let before = stored_before(&store, &options).await;
    let total = args.files.iter().map(|file| size_of(file)).sum();
    let bar = Bar::start(total, progress);
    let done = match part {
        Some(part) => store.ingest_part(&args.files, &options, part).await,
        None => store.ingest(&args.files, &options).await,
    };
    bar.finish();
    let done = done?;
    let shown = async {
        summarise(&done, &store, summary, is_new(&before, &done.info)).await?;
        if part.is_some() {
            return Ok(());
        }
        replaced(&before, &done.info).into_iter().for_each(|sentence| warn(&sentence));
        if let Some(folder) = &args.out {
            let mut pages = Pages::new(folder, args.pages(), &store.keys().await?);
            report::run_report(store.read(&done.info.key).await?, &mut pages, args.pages())?;
            pages.print_notes();
        }
        Ok(())
    };
    let shown: Result<()> = shown.await;
    let name = RunNames::of([&done.info.key]).name(&done.info.key);
    shown.with_context(|| format!("the run {name} is stored in {store}, but what it shows can't be written"))
}

/// Returns the stored runs that a new one may replace, as far as they can be read: that is no reason not to ingest.
pub(super) async fn stored_before(store: &Store, options: &IngestOptions) -> Vec<RunInfo> {
    let found = match &options.test {
        Some(test) => store.look_at_test(test).await,
        None => store.look().await,
    };
    found.map(|found| found.runs).unwrap_or_default()
}

/// Returns true if no run had the key before.
pub(crate) fn is_new(before: &[RunInfo], new: &RunInfo) -> bool {
    before.iter().all(|old| old.key != new.key)
}

/// Describes the run that was replaced, if it was made from other files.
pub(super) fn replaced(before: &[RunInfo], new: &RunInfo) -> Option<String> {
    let old = before.iter().find(|old| old.key == new.key && old.sources != new.sources)?;
    let names: BTreeSet<String> = old
        .sources
        .iter()
        .map(|source| match (source.file.as_str(), &source.member) {
            ("-", _) => "standard input".to_owned(),
            (file, None) => file.to_owned(),
            (file, Some(member)) => format!("{file} ({member})"),
        })
        .collect();
    let names: Vec<String> = names.into_iter().collect();
    Some(format!(
        "replaced an earlier run {} of {} requests, ingested at {}, which was made from other files: {}",
        old.key,
        thousands(old.requests()),
        old.ingested_at,
        names.join(", ")
    ))
}

/// The command line of an ingest.
#[derive(Debug, Parser)]
struct IngestLine {
    #[command(flatten)]
    args: IngestArgs,
}

/// Returns the packed run that is named alone, if there is one.
pub(crate) fn packed_run(files: &[PathBuf]) -> Option<&Path> {
    match files {
        [file] if PackedRun::is_at(file) => Some(file),
        _ => None,
    }
}

/// Stores a packed run.
async fn ingest_packed(args: &IngestArgs, file: &Path, store: &StoreArgs) -> Result<()> {
    refuse_flags(args, file)?;
    let summary = SummaryOutput::begin(&args.output)?;
    let store = store::open(store).await?;
    let packed = PackedRun::open(file)?;
    let (from, key) = (Store::from(packed.store().clone()), &packed.info().key);
    let records = thousands(packed.info().records());
    let status = if from.find_same(key, &store).await?.is_some() {
        "unchanged"
    } else {
        let is_new = store.info(key).await.ok().flatten().is_none();
        let replace = if args.keep.replace { Replace::Any } else { Replace::Nothing };
        from.copy(key, &store, replace).await?;
        if is_new { "new" } else { "changed" }
    };
    let run = RunNames::in_store(&store, key).await;
    note(&match status {
        "unchanged" => format!("{run} is already in {store}: {records} records, read and found the same"),
        _ => format!("stored {run} in {store}: {records} records (counts only), read back the same"),
    });
    summary.print(&IngestRow::packed(packed.info(), &run, file, status))
}

/// Refuses all flags but `--replace` and those of the output: a packed run is stored as it is.
fn refuse_flags(args: &IngestArgs, file: &Path) -> Result<()> {
    let line = IngestLine::try_parse_from([Path::new("ingest"), Path::new("--"), file])?;
    let mut plain = line.args;
    plain.keep.replace = args.keep.replace;
    plain.output.clone_from(&args.output);
    if format!("{plain:?}") == format!("{args:?}") {
        return Ok(());
    }
    Err(flags_of_packed(file).into())
}

/// The error for flags beside a packed run.
pub(crate) fn flags_of_packed(file: &Path) -> CliError {
    let problem = format!("{} is a run of another store, which is stored as it is", file.display());
    CliError::usage(
        problem,
        "Leave out all flags but --replace and those of the output; `perfpipe rename` gives a stored run another name.",
    )
}
