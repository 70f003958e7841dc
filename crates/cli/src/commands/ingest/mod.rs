//! `perfpipe ingest`: reads files into the store, with progress, a summary, and pages if requested.

mod args;
pub(crate) mod campaign;
mod options;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use perfpipe_analyze::format::{damage_sentence, thousands};
use perfpipe_analyze::{RunDuration, View};
use perfpipe_ingest::{Ingested, Progress, RunInfo, Store};

pub(crate) use self::args::IngestArgs;
pub(crate) use self::options::{cpu_noted, options, reading};

use super::report;
use crate::args::StoreArgs;
use crate::error::CliError;
use crate::input::{idle_flags, store};
use crate::output::notes::with_hint;
use crate::output::pages::Pages;
use crate::output::progress::Bar;
use crate::output::{note, page_folder, size_of};

/// Ingests the files of one run, or folders of many.
pub(crate) async fn run(args: &IngestArgs, store: &StoreArgs, progress: Progress) -> Result<()> {
    if args.report.is_none() {
        // --cores also describes the CPU readings.
        idle_flags::check_no_pages(&args.pages(), "--report", &["--cores"])?;
    }
    idle_flags::check_formats(&args.pages())?;
    let (folders, files): (Vec<&PathBuf>, Vec<&PathBuf>) = args.files.iter().partition(|path| path.is_dir());
    match (folders.first(), files.first()) {
        (Some(_), None) => campaign::run(args, store, progress).await,
        (None, _) => {
            campaign::refuse_flags(&args.campaign)?;
            one(args, store, progress).await
        }
        (Some(folder), Some(file)) => Err(CliError::usage(
            format!("{} is a folder, and {} is not", folder.display(), file.display()),
            "Name the files of one run, or folders of many.",
        )
        .into()),
    }
}

/// Ingests the files of one run.
async fn one(args: &IngestArgs, store: &StoreArgs, progress: Progress) -> Result<()> {
    let options = options(args)?.with_progress(progress.clone());
    if let Some(folder) = &args.report {
        page_folder(folder)?;
    }
    let started = Instant::now();
    let store = store::open(store).await?;
    // A store whose runs can't be listed does not prevent the ingest.
    let before = store.look().await.map(|found| found.runs).unwrap_or_default();
    let total = args.files.iter().map(|file| size_of(file)).sum();
    let bar = Bar::start(total, progress);
    let done = store.ingest(&args.files, &options).await;
    bar.finish();
    let done = done?;
    let took = started.elapsed();
    summarise(&done, &store, took);
    replaced(&before, &done.info).into_iter().for_each(|sentence| note(&sentence));
    if let Some(folder) = &args.report {
        let mut pages = Pages::new(folder, args.pages(), &store.look().await?.runs);
        report::run_report(&store.read(&done.info.key).await?, &mut pages, args.pages())?;
        pages.print_notes();
    }
    Ok(())
}

/// Describes the run that was replaced, if it was made from other files.
fn replaced(before: &[RunInfo], new: &RunInfo) -> Option<String> {
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

/// Prints what was stored.
fn summarise(done: &Ingested, store: &Store, took: Duration) {
    let info = &done.info;
    for sentence in
        done.inferred.iter().map(|what| format!("inferred {what}")).chain(done.notes.iter().map(with_hint))
    {
        note(&sentence);
    }
    for damage in &info.damage {
        note(&format!("partial: {}", damage_sentence(damage)));
    }
    if done.read_twice {
        note("the earliest record comes late in the log, so the log was read twice");
    }
    let number = thousands;
    let of_all = f64::from(info.seconds).max(1.0);
    let seconds = took.as_secs_f64();
    let rate = info.records() as f64 / seconds.max(1e-9);
    let samples = if info.samples_stored { "" } else { " (counts only)" };
    let share = match info.requests() {
        0 => String::new(),
        requests => format!(" ({:.3} %)", info.failures as f64 / requests as f64 * 100.0),
    };
    let cpu = match run_has_cpu(info) {
        true => {
            format!("{:.1} % of the seconds have a reading", f64::from(done.cpu_seconds) / of_all * 100.0)
        }
        false => "no CPU export was given".to_owned(),
    };
    let lines = [
        ("run", format!("{}{}", info.key, if info.is_partial() { " (partial)" } else { "" })),
        (
            "requests",
            format!("{}, {} of them failures{share}", number(info.requests()), number(info.failures)),
        ),
        ("transactions", number(info.transactions)),
        ("rejects", number(info.rejects)),
        ("seconds", number(info.seconds.into())),
        ("throughput", throughput(info)),
        ("CPU", cpu),
        ("stored in", format!("{store}{samples}")),
        ("time taken", format!("{seconds:.2} s, {} records/s", number(rate as u64))),
    ];
    for (name, value) in lines {
        note(&format!("{name:>12}  {value}"));
    }
    if info.rejects > 0 {
        let (framework, test) = (in_quotes(&info.key.framework), in_quotes(&info.key.test));
        let repeat = match info.key.repeat {
            1 => String::new(),
            repeat => format!(" --repeat {repeat}"),
        };
        note(&format!(
            "see the rejects: perfpipe export --framework {framework} --test {test}{repeat} --what rejects"
        ));
    }
}

/// Describes the run's throughput, and the wait for its last answer if that made the run much longer.
fn throughput(info: &RunInfo) -> String {
    let duration = RunDuration::of(info, &View::of(info));
    let figure = (info.successes as f64 / duration.seconds).round() as u64;
    let wait = duration.long_wait().map(|wait| format!(" (with a wait of {wait:.1} s for its last answer)"));
    format!("{} successes/s{}", thousands(figure), wait.unwrap_or_default())
}

/// Quotes a name for a shell: it may come from the log.
fn in_quotes(name: &str) -> String {
    format!("'{}'", name.replace('\'', r"'\''"))
}

fn run_has_cpu(info: &RunInfo) -> bool {
    info.sources.iter().any(|source| source.kind == perfpipe_ingest::run::SourceKind::Cpu)
}
