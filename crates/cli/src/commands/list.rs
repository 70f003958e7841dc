//! `perfpipe list`: lists the stored runs.

use std::collections::BTreeMap;

use anyhow::Result;
use clap::Args;
use perfpipe_analyze::format::counted;
use perfpipe_analyze::points::point_table;
use perfpipe_analyze::table::{Nested, Table, TableBuilder, Tone};
use perfpipe_analyze::{RunDuration, Summary, Timeline, View};
use perfpipe_ingest::store::{Listing, StoredParts};
use perfpipe_ingest::{RunInfo, RunKey, Store};

use crate::args::{OutputArgs, StoreArgs, TestArgs};
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::input::runs::{RunNames, Selection};
use crate::input::{points, store};
use crate::output::notes::shell_word;
use crate::output::terminal::write_table;
use crate::output::{Output, note};

/// The largest number of parts of a run that are named.
const NAMED: usize = 20;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe list\n  \
    perfpipe list --test 2048 --tag branch=main\n  \
    perfpipe list --times --sort p95\n  \
    perfpipe list --points --test /hello\n  \
    perfpipe list --format json -o runs.json")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) of: TestArgs,
    /// List the points of load tools' summaries instead
    #[arg(long, conflicts_with_all = ["repeat", "tag", "times", "sort"])]
    pub(crate) points: bool,
    /// Add response times: p50, p95 and p99. The counts of each run are read for them
    #[arg(long)]
    pub(crate) times: bool,
    /// Column to sort by: throughput, p95, requests, t0_ms, framework; numbers of requests and rates descending, others
    /// ascending
    #[arg(long, value_name = "COLUMN")]
    pub(crate) sort: Option<String>,
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
    let parts = store.parts().await.inspect_err(|error| left_out.add(error)).unwrap_or_default();
    let parts: Vec<StoredParts> = parts.into_iter().filter(|parts| is_of(&parts.key, &args.of)).collect();
    let names = RunNames::of(runs.iter().map(|run| &run.key).chain(parts.iter().map(|parts| &parts.key)));
    if args.of.test.is_some() || !args.of.tag.is_empty() {
        match Selection::among(runs.clone(), &[], &args.of) {
            Ok(chosen) => runs.retain(|run| chosen.keys.contains(&run.key)),
            // The test has nothing but parts.
            Err(_) if !parts.is_empty() => runs.clear(),
            Err(error) => return Err(error),
        }
    }
    if runs.is_empty() && parts.is_empty() {
        note(&format!("no runs in {store}: store one with `perfpipe ingest run.zip cpu.csv`"));
    }
    check_column(args)?;
    let mut listed = Vec::with_capacity(runs.len());
    for info in runs {
        let times = if args.reads_times() { times_of(&store, &info, &mut left_out).await? } else { None };
        listed.push(ListedRun { info, times });
    }
    let mut table = table(&listed, &sizes, args);
    if let Some(column) = &args.sort {
        let at = table.columns().iter().position(|known| known.name() == column).unwrap_or_default();
        let order = table.order(at, DESCENDING.contains(&column.as_str()));
        let sorted: Vec<ListedRun> = order.into_iter().filter_map(|row| listed.get(row).cloned()).collect();
        table = self::table(&sorted, &sizes, args);
    }
    let mut output = Output::open(args.output.file.output.as_deref())?;
    write_table(&table, args.output.format(), &mut output)?;
    output.finish()?;
    parts.iter().for_each(|parts| note_parts(parts, &names));
    left_out.end()
}

/// A run, with its response times if they were asked for.
#[derive(Clone)]
struct ListedRun {
    info: RunInfo,
    times: Option<Summary>,
}

/// The columns of response times.
const TIMES: [&str; 3] = ["p50", "p95", "p99"];

/// The columns that are sorted from the greatest to the least.
const DESCENDING: [&str; 9] = [
    "throughput",
    "requests",
    "failures",
    "transactions",
    "rejects",
    "seconds",
    "duration",
    "partial",
    "samples_stored",
];

impl ListArgs {
    /// Returns true if counts are read for response times.
    fn reads_times(&self) -> bool {
        self.times || self.sort.as_deref().is_some_and(|column| TIMES.contains(&column))
    }
}

/// Refuses to sort by a column that the table does not have.
fn check_column(args: &ListArgs) -> Result<()> {
    let Some(column) = &args.sort else { return Ok(()) };
    let table = table(&[], &BTreeMap::new(), args);
    let known: Vec<&str> = table.columns().iter().map(|known| known.name()).collect();
    if known.contains(&column.as_str()) {
        return Ok(());
    }
    let problem = format!("--sort {column}: the list has no column {column}");
    Err(CliError::usage(problem, format!("Its columns: {}.", known.join(", "))).into())
}

/// Computes the response times of a run; `None` if it can't be read, which is said in the end.
async fn times_of(store: &Store, info: &RunInfo, left_out: &mut LeftOut) -> Result<Option<Summary>> {
    let read = store.read(&info.key).await.map_err(Into::into);
    let Some(run) = left_out.or_leave_out(&info.key, read)? else { return Ok(None) };
    Ok(Some(Timeline::new(&run, &View::of(&run.info))?.summary))
}

/// Returns true if a run is of the test, the frameworks and the repeats that are asked for. Parts have no tags yet.
fn is_of(key: &RunKey, of: &TestArgs) -> bool {
    of.test.as_ref().is_none_or(|test| *test == key.test)
        && (of.framework.is_empty() || of.framework.contains(&key.framework))
        && (of.repeat.is_empty() || of.repeat.contains(&key.repeat))
        && of.tag.is_empty()
}

/// Prints which parts of a run are not merged.
fn note_parts(StoredParts { key, of, numbers, .. }: &StoredParts, names: &RunNames) {
    let named: Vec<String> = numbers.iter().take(NAMED).map(u32::to_string).collect();
    let more = if numbers.len() > NAMED { ", …" } else { "" };
    let name = names.name(key);
    let run = shell_word(&name);
    note(&format!(
        "{} of {of} of {name} not yet merged: {}{more}; `perfpipe merge {run} --parts {of}` merges all of them",
        counted(numbers.len() as u64, "part"),
        named.join(", "),
    ));
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
    write_table(&point_table(&chosen), args.output.format(), &mut output)?;
    output.finish()
}

/// The duration of a run in seconds. `None` for runs of earlier versions, whose samples would have to be read for it.
fn duration(run: &RunInfo) -> Option<f64> {
    let duration = RunDuration::of(run, &View::of(run));
    (!duration.estimated || !run.samples_stored).then_some(duration.seconds)
}

/// The successes per second of a run; `None` where its duration is.
fn throughput(run: &RunInfo) -> Option<f64> {
    duration(run).map(|duration| run.requests().saturating_sub(run.failures) as f64 / duration)
}

/// Builds the table of the runs.
fn table<'a>(runs: &'a [ListedRun], sizes: &BTreeMap<RunKey, u64>, args: &ListArgs) -> Table {
    let table = Table::of(runs)
        .schema("perfpipe-list/1")
        .column("framework", |run| Some(run.info.key.framework.clone()))
        .column("test", |run| Some(run.info.key.test.clone()))
        .major()
        .column("repeat", |run| Some(u64::from(run.info.key.repeat)))
        .people_see(runs.iter().any(|run| run.info.key.repeat > 1))
        .major()
        .column("t0_ms", |run| Some(run.info.t0_ms))
        .title("started (UTC)")
        .instant()
        .column("seconds", |run| Some(u64::from(run.info.seconds)))
        .people_see(false)
        .column("duration", |run| duration(&run.info))
        .duration()
        .column("requests", |run| Some(run.info.requests()))
        .column("failures", |run| Some(run.info.failures))
        .major()
        .column("throughput", |run| throughput(&run.info))
        .unit("1/s", 1);
    let with_times = |table: TableBuilder<'a, ListedRun>| {
        let time = |of: fn(&Summary) -> Option<f64>| move |run: &ListedRun| of(run.times.as_ref()?);
        let table = table.column("p50", time(|times| times.p50)).unit("ms", 1);
        let table = table.column("p95", time(|times| times.p95)).unit("ms", 1);
        table.column("p99", time(|times| times.p99)).unit("ms", 1)
    };
    let table = if args.reads_times() { with_times(table) } else { table };
    let table = table
        .column("transactions", |run| Some(run.info.transactions))
        .people_see(runs.iter().any(|run| run.info.transactions > 0))
        .column("rejects", |run| Some(run.info.rejects))
        .people_see(runs.iter().any(|run| run.info.rejects > 0))
        .column("partial", |run| Some(run.info.is_partial()))
        .tones(&[("yes", Tone::Doubt)])
        .people_see(runs.iter().any(|run| run.info.is_partial()))
        .column("samples_stored", |run| Some(run.info.samples_stored))
        .minor()
        .column("caveats", |run| Some(Nested::list(run.info.caveats())))
        .people_see(runs.iter().any(|run| !run.info.caveats().is_empty()))
        .column("ingested_at", |run| Some(run.info.ingested_at.clone()))
        .people_see(false)
        .column("tags", |run| Some(Nested::map(&run.info.options.tags)))
        .people_see(runs.iter().any(|run| !run.info.options.tags.is_empty()));
    // An age is true only at the time of printing, and a size only in this store, which is nothing for programs.
    if !args.output.format().is_for_people() {
        return table.done();
    }
    let now = jiff::Timestamp::now();
    table
        .column("bytes", |run| sizes.get(&run.info.key).copied())
        .title("size")
        .size()
        .people_see(!sizes.is_empty())
        .column("age", |run| age(&run.info.ingested_at, now))
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

#[cfg(test)]
mod tests {
    use super::age;

    #[test]
    fn ages_are_told_in_the_largest_unit() {
        let now = "2026-11-22T12:00:00Z".parse().unwrap();
        for (then, shown) in [
            ("2026-11-22T11:59:30Z", Some("now")),
            ("2026-11-22T11:58:30Z", Some("1 minute")),
            ("2026-11-20T12:00:00Z", Some("2 days")),
            ("2026-09-01T12:00:00Z", Some("2 months")),
            ("2024-11-01T12:00:00Z", Some("2 years")),
            ("2027-01-01T00:00:00Z", Some("now")),
            ("yesterday", None),
        ] {
            assert_eq!(age(then, now).as_deref(), shown, "{then}");
        }
    }
}
