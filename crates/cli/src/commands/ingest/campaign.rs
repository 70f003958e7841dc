//! `perfpipe ingest DIR`: ingests folders of logs and CPU exports, and prints a table of their runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use perfpipe_analyze::format::{damage_sentence, instant};
use perfpipe_ingest::campaign::{CampaignRun, Stand};
use perfpipe_ingest::{Campaign, Progress, RunInfo, Store};

use super::args::{CampaignArgs, IngestArgs};
use super::options::options;
use super::summary::{IngestRow, file_name, table};
use crate::args::StoreArgs;
use crate::commands::report;
use crate::error::{CliError, RunsFailed, code, print_error};
use crate::input::left_out::LeftOut;
use crate::input::runs::RunNames;
use crate::input::store;
use crate::output::notes::{self, NoteFacts};
use crate::output::pages::Pages;
use crate::output::progress::Bar;
use crate::output::terminal::write_table;
use crate::output::{Output, note, page_folder, print_message, warn};

/// The number of cores for each run that is ingested in parallel.
const CORES_A_JOB: usize = 4;

/// Refuses flags that are for folders only.
pub(crate) fn refuse_flags(args: &CampaignArgs) -> Result<()> {
    let given = [("--dry-run", args.dry_run), ("--jobs", args.jobs.is_some())];
    match given.iter().find(|(_, given)| *given) {
        Some((flag, _)) => {
            Err(CliError::usage(format!("{flag} applies to folders, and files were named"), "Leave it out.")
                .into())
        }
        None => Ok(()),
    }
}

/// Ingests the runs of folders, or prints how it would.
pub(crate) async fn run(args: &IngestArgs, store: &StoreArgs, progress: Progress) -> Result<()> {
    if args.keep.repeat.is_some() || args.log.origin.is_some() {
        return Err(CliError::usage(
            "--repeat and --origin apply to one run, and a folder has many",
            "Leave them out; --append-repeat stores runs of the same test beside each other.",
        )
        .into());
    }
    let options = options(args)?.with_progress(progress.clone());
    let pages = args.out.as_deref().filter(|_| !args.campaign.dry_run);
    pages.map(page_folder).transpose()?;
    let output = Output::open(args.output.file.output.as_deref())?;
    let store = store::open_with(store, &args.keep.sent).await?;
    let mut campaign = Campaign::plan(&args.files, &options, &store).await?;
    campaign.notes.iter().for_each(|text| note(text));
    dated_tests(&campaign.runs).into_iter().for_each(|text| warn(&text));
    let mut left_out = LeftOut::default();
    campaign.unread.iter().for_each(|error| left_out.add(error));
    let check = campaign.check();
    for (key, logs) in campaign.shared_keys() {
        let logs: Vec<String> = logs.iter().map(|log| log.display().to_string()).collect();
        let all = if logs.len() == 2 { "both" } else { "all" };
        print_message(&format!("{} would {all} be stored as {key}", logs.join(" and ")));
    }
    if !args.campaign.dry_run {
        check?;
        let before = store.look().await.map(|listing| listing.runs).unwrap_or_default();
        ingest_all(&mut campaign, &store, jobs(args), progress).await;
        let names = names(&campaign.runs, &store).await;
        campaign.runs.iter().filter_map(|run| another(&before, run, &names)).for_each(|text| warn(&text));
        summarise(&campaign.runs, &names, &store);
    } else {
        let names = names(&campaign.runs, &store).await;
        print_runs(&campaign.runs, &names);
        print(&campaign.runs, &names, args, output)?;
        check?;
        failures(&campaign.runs)?;
        return left_out.end();
    }
    print(&campaign.runs, &names(&campaign.runs, &store).await, args, output)?;
    if let Some(folder) = pages {
        draw(&campaign.runs, args, &store, folder).await?;
    }
    failures(&campaign.runs)?;
    left_out.end()
}

/// Returns the number of runs to ingest in parallel; a single one already keeps several cores busy.
fn jobs(args: &IngestArgs) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    args.campaign.jobs.map_or_else(|| (cores / CORES_A_JOB).clamp(1, 4), usize::from)
}

async fn ingest_all(campaign: &mut Campaign, store: &Store, jobs: usize, progress: Progress) {
    let due = campaign.runs.iter().filter(|run| run.is_due());
    let bar = Bar::start(Some(due.map(CampaignRun::packed_size).sum()), progress);
    campaign.ingest(store, jobs).await;
    bar.finish();
}

/// The least number of tests that differ by a date alone for that to be no accident.
const DATED: usize = 3;

/// Says that the tests of several runs differ by a date alone: they are most likely one test, which then has no repeats and no
/// trend.
fn dated_tests(runs: &[CampaignRun]) -> Option<String> {
    let mut dated: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for key in runs.iter().filter(|run| run.is_due()).filter_map(|run| run.key.as_ref()) {
        if let Some(test) = without_date(&key.test) {
            dated.entry((&key.framework, test)).or_default().insert(&key.test);
        }
    }
    let tests = dated.into_values().max_by_key(BTreeSet::len).filter(|tests| tests.len() >= DATED)?;
    let (first, last) = tests.first().zip(tests.last())?;
    Some(format!(
        "{} tests differ by a date alone, {first} to {last}. If they are one test, store them as its repeats: --append-repeat \
         --name '{{framework}}_{{test}}_{{*}}', where {{*}} is any text",
        tests.len()
    ))
}

/// Returns what stands before the date at the end of a name, as in `shop_20261101` and `shop-2026-11-01`.
fn without_date(name: &str) -> Option<&str> {
    [8, 10].into_iter().find_map(|length| {
        let (rest, date) = name.split_at_checked(name.len().checked_sub(length)?)?;
        let digits: String = date.chars().filter(|c| *c != '-').collect();
        let is_number = digits.len() == 8 && digits.bytes().all(|digit| digit.is_ascii_digit());
        let month: u8 = digits.get(4..6)?.parse().ok()?;
        let is_date = is_number && digits.starts_with("20") && (1..=12).contains(&month);
        rest.strip_suffix(['_', '-', '.', ' ']).filter(|rest| is_date && !rest.is_empty())
    })
}

/// Names the runs as those of the store beside them require.
async fn names(runs: &[CampaignRun], store: &Store) -> RunNames {
    let stored = store.keys().await.unwrap_or_default();
    RunNames::of(runs.iter().filter_map(|run| run.key.as_ref()).chain(&stored))
}

/// Says that a run took the place of another one: not of an earlier state of its log, which would have begun at the same time.
fn another(before: &[RunInfo], run: &CampaignRun, names: &RunNames) -> Option<String> {
    let new = &run.ingested.as_ref()?.info;
    let old = before.iter().find(|old| old.key == new.key && old.t0_ms != new.t0_ms)?;
    let begun = |run: &RunInfo| instant(run.t0_ms).unwrap_or_default();
    Some(format!(
        "{} of {} was replaced by another run of that name, of {}: --append-repeat keeps both, as repeats",
        names.name(&new.key),
        begun(old),
        begun(new)
    ))
}

/// Prints the notes on each run, and the number of runs of each status.
fn summarise(runs: &[CampaignRun], names: &RunNames, store: &Store) {
    print_runs(runs, names);
    let count = |name: &str| runs.iter().filter(|run| run.stand.name() == name).count();
    let [new, changed, unchanged, failed] = ["new", "changed", "unchanged", "failed"].map(count);
    note(&format!("{store}: {new} new, {changed} changed, {unchanged} unchanged, {failed} failed"));
}

fn print_runs(runs: &[CampaignRun], names: &RunNames) {
    // The notes on unchanged runs were printed when they were stored.
    for run in runs.iter().filter(|run| !matches!(run.stand, Stand::Unchanged(_))) {
        let name = run.key.as_ref().map_or_else(|| file_name(&run.log), |key| names.name(key));
        let (done, before) = (run.ingested.as_ref(), format!("{name}: "));
        let facts = NoteFacts {
            run: run.key.as_ref().map(|_| name.as_str()),
            clock: done.and_then(|done| done.clock.as_ref()),
        };
        let notes = run.notes.iter().chain(done.into_iter().flat_map(|done| &done.notes));
        notes.for_each(|said| notes::print(said, &before, facts));
        for damage in done.into_iter().flat_map(|done| &done.info.damage) {
            warn(&format!("{before}partial: {}", damage_sentence(damage)));
        }
        if let Stand::Failed(error) = &run.stand {
            print_error(&format!("{name}: failed"), error);
        }
    }
}

/// Prints a table with a row for each run.
fn print(runs: &[CampaignRun], names: &RunNames, args: &IngestArgs, mut output: Output) -> Result<()> {
    let rows: Vec<IngestRow<'_>> = runs.iter().map(|run| IngestRow::of(run, names)).collect();
    write_table(&table(&rows), args.output.format(), &mut output)?;
    output.finish()
}

/// Draws the page of each run that was just stored.
async fn draw(runs: &[CampaignRun], args: &IngestArgs, store: &Store, folder: &Path) -> Result<()> {
    let mut pages = Pages::new(folder, args.pages(), &store.keys().await?);
    for done in runs.iter().filter_map(|run| run.ingested.as_ref()) {
        let run = store.read(&done.info.key).await?;
        report::run_report(run, &mut pages, args.pages())?;
    }
    pages.print_notes();
    Ok(())
}

/// Returns the error on failed runs, if any failed.
fn failures(runs: &[CampaignRun]) -> Result<()> {
    let failed = runs.iter().filter_map(|run| match &run.stand {
        Stand::Failed(error) => Some(code(error)),
        _ => None,
    });
    let codes: Vec<u8> = failed.collect();
    match codes.iter().max() {
        Some(worst) => Err(RunsFailed { failed: codes.len(), all: runs.len(), code: *worst }.into()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_at_the_end_of_names_are_known() {
        for name in ["shop_20261101", "shop-2026-11-01", "shop.20261231", "shop 2026-01-31"] {
            assert_eq!(without_date(name), Some("shop"), "{name}");
        }
        for name in [
            "shop",
            "2048",
            "shop_12345678",
            "20261101",
            "shop_20261301",
            "shop20261101",
            "ü_2026110",
            "_20261101",
        ] {
            assert_eq!(without_date(name), None, "{name}");
        }
    }
}
