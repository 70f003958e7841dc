//! `perfpipe list`: lists the stored runs.

use std::collections::BTreeMap;

use anyhow::Result;
use clap::Args;
use perfpipe_analyze::format::counted;
use perfpipe_analyze::points::point_table;
use perfpipe_analyze::table::{Table, Tone};
use perfpipe_ingest::store::{Listing, StoredParts};
use perfpipe_ingest::{RunInfo, RunKey, Store};

use crate::args::{OutputArgs, StoreArgs, TestArgs};
use crate::input::left_out::LeftOut;
use crate::input::{points, runs, store};
use crate::output::notes::shell_word;
use crate::output::terminal::write_table;
use crate::output::{Output, note};

/// The largest number of parts of a run that are named.
const NAMED: usize = 20;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe list\n  \
    perfpipe list --test 2048 --tag branch=main\n  \
    perfpipe list --points --test /hello\n  \
    perfpipe list --format json -o runs.json")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) of: TestArgs,
    /// List the points of load tools' summaries instead
    #[arg(long, conflicts_with_all = ["repeat", "tag"])]
    pub(crate) points: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Lists the stored runs.
pub(crate) async fn run(args: &ListArgs, store: &StoreArgs) -> Result<()> {
    let store = store::existing(store).await?;
    if args.points {
        return points(args, &store).await;
    }
    let mut left_out = LeftOut::default();
    let Listing { mut runs, sizes, .. } = left_out.look_at(&store, args.of.test.as_deref()).await?;
    if runs.is_empty() && left_out.any() {
        return left_out.end();
    }
    if args.of.test.is_some() || !args.of.tag.is_empty() {
        let keys = runs::several(&runs, &[], &args.of)?;
        runs.retain(|run| keys.contains(&run.key));
    }
    if runs.is_empty() {
        note(&format!("no runs in {store}: store one with `perfpipe ingest run.zip cpu.csv`"));
    }
    let mut output = Output::open(args.output.file.output.as_deref())?;
    write_table(&table(&runs, &sizes, args), args.output.format, &mut output)?;
    output.finish()?;
    tell_parts(&store).await.unwrap_or_else(|error| left_out.add(&error));
    left_out.end()
}

/// Tells which runs have parts that are not merged.
async fn tell_parts(store: &Store) -> perfpipe_ingest::Result<()> {
    for StoredParts { key, of, numbers, .. } in store.parts().await? {
        let named: Vec<String> = numbers.iter().take(NAMED).map(u32::to_string).collect();
        let more = if numbers.len() > NAMED { ", …" } else { "" };
        let run = shell_word(&key.to_string());
        note(&format!(
            "{} of {of} of {key} not yet merged: {}{more}; `perfpipe merge {run} --parts {of}` merges all of them",
            counted(numbers.len() as u64, "part"),
            named.join(", "),
        ));
    }
    Ok(())
}

/// Lists the stored points.
async fn points(args: &ListArgs, store: &Store) -> Result<()> {
    let chosen = match &args.of.test {
        Some(test) => points::of_test(store, test, &args.of.framework, &[]).await?,
        None => store.points().await?,
    };
    if chosen.is_empty() {
        note(&format!(
            "no points in {store}: store some with `perfpipe ingest results/*.log --framework go`"
        ));
    }
    let mut output = Output::open(args.output.file.output.as_deref())?;
    write_table(&point_table(&chosen), args.output.format, &mut output)?;
    output.finish()
}

/// Builds the table of the runs.
fn table(runs: &[RunInfo], sizes: &BTreeMap<RunKey, u64>, args: &ListArgs) -> Table {
    let table = Table::of(runs)
        .column("framework", |run| Some(run.key.framework.clone()))
        .column("test", |run| Some(run.key.test.clone()))
        .column("repeat", |run| Some(u64::from(run.key.repeat)))
        .people_see(runs.iter().any(|run| run.key.repeat > 1))
        .column("t0_ms", |run| Some(run.t0_ms))
        .title("started (UTC)")
        .instant()
        .column("seconds", |run| Some(u64::from(run.seconds)))
        .title("duration")
        .duration()
        .column("requests", |run| Some(run.requests()))
        .column("failures", |run| Some(run.failures))
        .column("transactions", |run| Some(run.transactions))
        .people_see(runs.iter().any(|run| run.transactions > 0))
        .column("rejects", |run| Some(run.rejects))
        .people_see(runs.iter().any(|run| run.rejects > 0))
        .column("partial", |run| Some(run.is_partial()))
        .tones(&[("yes", Tone::Doubt)])
        .people_see(runs.iter().any(RunInfo::is_partial))
        .column("samples_stored", |run| Some(run.samples_stored))
        .minor()
        .column("caveats", |run| Some(run.caveats().join(", ")).filter(|caveats| !caveats.is_empty()))
        .people_see(runs.iter().any(|run| !run.caveats().is_empty()))
        .column("ingested_at", |run| Some(run.ingested_at.clone()))
        .people_see(false)
        .column("tags", |run| Some(tags(run)).filter(|tags| !tags.is_empty()))
        .people_see(runs.iter().any(|run| !run.options.tags.is_empty()));
    // An age is true only at the time of printing, and a size only in this store, which is nothing for programs.
    if !args.output.format.is_for_people() {
        return table.done();
    }
    let now = jiff::Timestamp::now();
    table
        .column("bytes", |run| sizes.get(&run.key).copied())
        .title("size")
        .size()
        .people_see(!sizes.is_empty())
        .column("age", |run| age(&run.ingested_at, now))
        .minor()
        .done()
}

/// Returns how long ago a run was ingested, in the largest unit that it fills.
fn age(ingested_at: &str, now: jiff::Timestamp) -> Option<String> {
    let then: jiff::Timestamp = ingested_at.parse().ok()?;
    let seconds = u64::try_from(now.as_second() - then.as_second()).unwrap_or_default();
    let units =
        [(365 * 86_400, "year"), (30 * 86_400, "month"), (86_400, "day"), (3600, "hour"), (60, "minute")];
    Some(match units.into_iter().find(|(unit, _)| seconds >= *unit) {
        Some((unit, name)) => counted(seconds / unit, name),
        None => "now".to_owned(),
    })
}

/// Returns the tags of a run, as in `branch=main, commit=3f2a9c1`.
fn tags(run: &RunInfo) -> String {
    let tags: Vec<String> = run.options.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    tags.join(", ")
}

#[cfg(test)]
mod tests {
    use super::age;

    #[test]
    fn ages_are_told_in_the_largest_unit() {
        let now = "2026-11-22T12:00:00Z".parse().unwrap();
        for (then, told) in [
            ("2026-11-22T11:59:30Z", Some("now")),
            ("2026-11-22T11:58:30Z", Some("1 minute")),
            ("2026-11-20T12:00:00Z", Some("2 days")),
            ("2026-09-01T12:00:00Z", Some("2 months")),
            ("2024-11-01T12:00:00Z", Some("2 years")),
            ("2027-01-01T00:00:00Z", Some("now")),
            ("yesterday", None),
        ] {
            assert_eq!(age(then, now).as_deref(), told, "{then}");
        }
    }
}
