//! `perfpipe attach-series`: adds series of the server to a stored run.

use anyhow::Result;
use clap::{ArgAction, Args};
use perfpipe_ingest::Store;
use perfpipe_ingest::series::CpuChoice;
use perfpipe_ingest::source::{SourceOptions, TimeFormat, read_series};

use crate::args::{AskArgs, ConfirmArgs, OutputArgs, RunsArgs, SeriesArgs, StoreArgs};
use crate::input::readings::SeriesSources;
use crate::input::runs::{Deed, Selection};
use crate::input::{readings, store};
use crate::output::done::{DoneRow, DoneTable};
use crate::output::note;
use crate::output::notes::{self, NoteFacts};

#[derive(Debug, Args)]
#[command(mut_arg("series", |series| series.required(true)))]
#[command(mut_arg("run", |run| run.num_args(1).action(ArgAction::Set).required_unless_present_any(["test", "tag"])))]
#[command(after_help = "Examples:\n  \
    perfpipe attach-series go_2048 --series memory=memory.csv --unit bytes\n  \
    perfpipe attach-series --framework go --test 2048 --series memory=memory.csv --unit bytes --replace\n  \
    perfpipe attach-series go_2048 --unit bytes --series 'memory=prometheus+http://mon:9090?query=node_memory_Active_bytes'\n\n\
    go_2048 means all repeats of the test, to each of which the series are attached after a confirmation; go_2048#1 the first\n\
    alone.\n\n\
    The clock of the readings is shifted by the --cpu-offset of the run.")]
pub(crate) struct AttachSeriesArgs {
    #[command(flatten)]
    pub(crate) runs: RunsArgs,
    #[command(flatten)]
    pub(crate) series: SeriesArgs,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// Time zone of dates without one: Europe/Warsaw, +01:00
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    pub(crate) time_zone: String,
    /// Format of times that are neither epoch times nor ISO dates, as in JMeter's timestamp_format: 'dd/MM/yyyy HH:mm:ss'
    #[arg(long, value_name = "FORMAT")]
    pub(crate) time_format: Option<TimeFormat>,
    /// Attach what can be read of truncated or damaged files, and mark the run partial
    #[arg(long)]
    pub(crate) salvage: bool,
    /// Replace all series that the run has beside its CPU
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) confirm: ConfirmArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Adds series to a run.
pub(crate) async fn run(args: &AttachSeriesArgs, at: &StoreArgs) -> Result<()> {
    let named = readings::all_series(&args.series, &args.ask)?;
    if named.asked.is_empty() {
        readings::refuse_idle_series(&args.ask)?;
    }
    let mut source =
        SourceOptions::default().with_time_zone(args.time_zone.parse()?).with_salvage(args.salvage);
    source.time_format.clone_from(&args.time_format);
    let store = store::existing(at).await?;
    let mut done = DoneTable::begin(&args.output, false)?;
    let attached = attach(args, &named, &source, &store, &mut done).await;
    done.end(attached)
}

async fn attach(
    args: &AttachSeriesArgs,
    named: &SeriesSources,
    source: &SourceOptions,
    store: &Store,
    done: &mut DoneTable,
) -> Result<()> {
    let chosen = Selection::any(store, &args.runs.run, &args.runs.of).await?;
    let files = read_series(&named.files, source).await?;
    if !chosen.may_be(Deed("Attach the series to", "changed"), &args.confirm, store).await? {
        note("nothing was attached");
        return Ok(());
    }
    let mut fitted = Vec::with_capacity(chosen.keys.len());
    for key in &chosen.keys {
        let mut exports = files.clone();
        if !named.asked.is_empty() {
            let run = store.read(key).await?.info;
            let window = CpuChoice::default().with_offset(run.cpu_offset).window(run.t0_ms, run.last_ms);
            for series in &named.asked {
                exports.extend(series.read(window, source).await?);
            }
        }
        // None of several runs is changed where one of them does not fit.
        if chosen.keys.len() > 1 {
            store.check_series(key, &exports, args.replace).await?;
        }
        fitted.push((key, exports));
    }
    for (key, exports) in fitted {
        let attached = store.attach_series(key, &exports, args.replace).await?;
        attached.notes.iter().for_each(|said| notes::print(said, "", NoteFacts::default()));
        for (name, seconds) in &attached.seconds {
            let percent = f64::from(*seconds) / f64::from(attached.info.seconds.max(1)) * 100.0;
            let run = chosen.names.name(key);
            let what = format!("attached {name} to {run}: {percent:.1} % of the seconds have a reading");
            done.say(DoneRow::of_run("series", "attached", key, &run).named(name).covered(percent), &what);
        }
    }
    Ok(())
}
