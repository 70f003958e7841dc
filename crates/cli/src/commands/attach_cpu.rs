//! `perfpipe attach-cpu`: replaces the CPU readings of a stored run.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{ArgAction, Args};
use perfpipe_analyze::View;
use perfpipe_ingest::inspection::ClockGuess;
use perfpipe_ingest::series::{CpuChoice, CpuJoin};
use perfpipe_ingest::source::{CpuExport, Inputs, ReadingsSource, SourceOptions};
use perfpipe_ingest::{RunKey, Store, StoredRun};

use super::ingest::cpu_noted;
use super::inspect::second;
use crate::args::{
    ConfirmArgs, CoresArgs, CpuJoinArgs, CpuReadArgs, LOOKBACK, OutputArgs, RunsArgs, StoreArgs,
};
use crate::error::CliError;
use crate::input::runs::{Deed, RunNames, Selection};
use crate::input::{readings, store, view};
use crate::output::done::{DoneRow, DoneTable};
use crate::output::notes::{self, NoteFacts};
use crate::output::{note, warn};

#[derive(Debug, Args)]
#[command(mut_arg("cpu_lookback", |seconds| seconds.help(LOOKBACK)))]
#[command(allow_missing_positional = true)]
#[command(mut_arg("run", |run| run.index(1).num_args(1).action(ArgAction::Set).required_unless_present_any(["test", "tag", "cpu_from"])))]
#[command(after_help = "Examples:\n  \
    perfpipe attach-cpu go_2048 cpu.csv --cpu-offset -2\n  \
    perfpipe attach-cpu --framework go --test 2048 cpu.csv --cpu-scale percent-of-machine --cores 72\n  \
    perfpipe attach-cpu go_2048 --cpu-from 'zabbix+https://mon/zabbix/api_jsonrpc.php?host=sut&item=system.cpu.util'\n\n\
    go_2048 means all repeats of the test, to each of which the readings are attached after a confirmation; go_2048#1 the\n\
    first alone.")]
pub(crate) struct AttachArgs {
    #[command(flatten)]
    pub(crate) runs: RunsArgs,
    /// CPU export, as of Zabbix
    #[arg(value_name = "FILE", index = 2, required_unless_present = "cpu_from")]
    pub(crate) cpu: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: CpuReadArgs,
    #[command(flatten)]
    pub(crate) cores: CoresArgs,
    /// Attach the export even if it covers less of the run than the readings that it replaces, or nothing of it
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) confirm: ConfirmArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Readings that are to be attached to a run.
struct JoinedReadings<'a> {
    key: &'a RunKey,
    export: CpuExport,
    join: CpuJoin,
    cover: RunCover,
}

/// Joins the samples of runs to another CPU export: of all of them, or of none if it does not fit one.
pub(crate) async fn run(args: &AttachArgs, at: &StoreArgs) -> Result<()> {
    let (named, file) = named(args)?;
    let (from, source) = (readings::source(&args.reading.from)?, source(args)?);
    if from.as_ref().is_some_and(ReadingsSource::keeps_apart) {
        let remedy = "Attach their sum with several=sum, and then each of them: perfpipe attach-series RUN --series used=URL --unit %.";
        return Err(CliError::usage(
            "the URL asks for each host as a separate series, and a run has one CPU",
            remedy,
        )
        .into());
    }
    let store = store::existing(at).await?;
    let mut done = DoneTable::begin(&args.output, false)?;
    let attached = attach(args, (&named, file.as_deref()), (from.as_ref(), &source), &store, &mut done).await;
    done.end(attached)
}

/// Attaches the readings of a file, or those that are asked for, to the runs with these names.
async fn attach(
    args: &AttachArgs,
    (named, file): (&[String], Option<&Path>),
    (from, source): (Option<&ReadingsSource>, &SourceOptions),
    store: &Store,
    done: &mut DoneTable,
) -> Result<()> {
    let chosen = Selection::any(store, named, &args.runs.of).await?;
    let file = match file {
        Some(file) => Some(read(file, source).await?),
        None => None,
    };
    if !chosen.may_be(Deed("Attach the CPU readings to", "changed"), &args.confirm, store).await? {
        note("nothing was attached");
        return Ok(());
    }
    let mut joined = Vec::with_capacity(chosen.keys.len());
    for key in &chosen.keys {
        let run = store.read(key).await?;
        let choice = choice(&args.reading.join, &run);
        let export = match (from, &file) {
            (Some(from), _) => from.read(choice.window(run.info.t0_ms, run.info.last_ms), source).await?,
            (None, Some(export)) => export.clone(),
            (None, None) => {
                let problem = "no CPU export is named";
                return Err(CliError::usage(problem, "Name a file, or give --cpu-from URL.").into());
            }
        };
        joined.push(fitted(args, &run, key, export, &chosen.names)?);
    }
    for JoinedReadings { key, export, join, cover } in joined {
        let readings = export.series.readings().len();
        let info = store.attach_cpu(key, export, join, &cpu_noted(source)).await?;
        let (name, records) = (chosen.names.name(key), info.records());
        let row = DoneRow::of_run("cpu", "attached", key, &name)
            .records(records)
            .covered(cover.percent(cover.after));
        done.say(row, &format!("attached {readings} CPU readings to {name}: {records} records joined again"));
        note(&format!(
            "{} of the seconds have a reading, {} had one before",
            cover.share(cover.after),
            cover.share(cover.before)
        ));
    }
    Ok(())
}

/// Returns how readings are joined to a run, with what is to be said of them.
///
/// # Errors
/// If they cover less of the run than its present ones, unless that is asked for.
fn fitted<'a>(
    args: &AttachArgs,
    run: &StoredRun,
    key: &'a RunKey,
    export: CpuExport,
    names: &RunNames,
) -> Result<JoinedReadings<'a>> {
    let choice = choice(&args.reading.join, run);
    export.notes.iter().for_each(|said| notes::print(said, "", NoteFacts::default()));
    choice.note(&export.series).iter().for_each(|said| notes::print(said, "", NoteFacts::default()));
    let join = choice.join(&export.series);
    let cover = RunCover::of(run, &export, join)?;
    if !args.replace {
        cover.check(run, &export, join, &names.name(key))?;
    }
    Ok(JoinedReadings { key, export, join, cover })
}

/// Returns the name of the run and the export. Where readings are asked for, the only name is that of the run.
///
/// # Errors
/// If there are two sources of readings.
fn named(args: &AttachArgs) -> Result<(Vec<String>, Option<PathBuf>)> {
    let (mut run, mut file) = (args.runs.run.clone(), args.cpu.clone());
    if args.reading.from.cpu_from.is_some() && args.runs.is_all() {
        run.extend(file.take().map(|name| name.to_string_lossy().into_owned()));
    }
    match &file {
        Some(file) if args.reading.from.cpu_from.is_some() => {
            let problem =
                format!("there are two sources of the CPU readings: {}, and --cpu-from", file.display());
            Err(CliError::usage(problem, "Give one of them.").into())
        }
        _ if run.is_empty() && args.runs.is_all() => {
            Err(CliError::usage("no run is named", "Name it as `perfpipe list` does.").into())
        }
        _ => Ok((run, file)),
    }
}

/// Returns how readings are to be joined: with the clock offset of the run's ingest by default, but with a look-back of
/// their own, which depends on their interval.
fn choice(args: &CpuJoinArgs, run: &StoredRun) -> CpuChoice {
    view::cpu_choice(args).with_offset(args.cpu_offset.unwrap_or(run.info.cpu_offset))
}

/// Converts the flags to the options by which the export is read.
fn source(args: &AttachArgs) -> Result<SourceOptions> {
    let mut source = SourceOptions::default().with_time_zone(args.reading.time_zone.parse()?);
    source.cpu_item.clone_from(&args.reading.cpu_item);
    source.cpu_columns.clone_from(&args.reading.cpu_columns);
    source.time_format.clone_from(&args.reading.time_format);
    source.cpu_scale = readings::cpu_scale(args.reading.cpu_scale, args.cores.cores)?;
    source.cores = args.cores.cores;
    Ok(source)
}

/// Reads the export that is to be attached.
async fn read(file: &Path, source: &SourceOptions) -> Result<CpuExport> {
    let (files, options) = ([file.to_owned()], source.clone());
    let inputs = tokio::task::spawn_blocking(move || Inputs::recognise(&files, &options)).await??;
    let cpu = match (inputs.cpu, inputs.logs.first()) {
        (Some(cpu), None) => cpu,
        _ => {
            let problem = format!("expected a CPU export alone, found other content in {}", file.display());
            return Err(CliError::usage(problem, "Name the export of the server that was tested.").into());
        }
    };
    let export = cpu.read(source).await?;
    inputs.notes.iter().for_each(|text| warn(text));
    Ok(export)
}

/// The number of seconds of a run that have a reading, with the old and with the new readings.
struct RunCover {
    seconds: u32,
    before: u32,
    after: u32,
}

impl RunCover {
    fn of(run: &StoredRun, export: &CpuExport, join: CpuJoin) -> Result<Self> {
        Ok(Self {
            seconds: run.info.seconds,
            before: run.seconds_with_cpu(&run.cpu, View::of(&run.info).cpu)?,
            after: run.seconds_with_cpu(&export.series, join)?,
        })
    }

    fn percent(&self, seconds: u32) -> f64 {
        f64::from(seconds) / f64::from(self.seconds.max(1)) * 100.0
    }

    fn share(&self, seconds: u32) -> String {
        format!("{:.1} %", self.percent(seconds))
    }

    /// Refuses readings that cover less of the run than its present ones, or nothing of it.
    fn check(&self, run: &StoredRun, export: &CpuExport, join: CpuJoin, name: &str) -> Result<()> {
        if self.after == 0 && !run.info.has_clock() {
            let problem = format!("the log of the run {name} has no clock, only times since its tool began");
            let remedy = "Ingest the log again with the CPU export and --origin: the time at which the tool started, in \
                          milliseconds since 1970.";
            return Err(CliError::refused(problem, remedy).into());
        }
        let problem = if self.after == 0 {
            format!("no reading of the export falls within the run {name}: {}", times(run, export, join))
        } else if self.after < self.before {
            let (after, before) = (self.share(self.after), self.share(self.before));
            format!("the export has readings for {after} of the seconds of {name}, which has {before} now")
        } else {
            return Ok(());
        };
        let fitting = ClockGuess::of(&export.series, join, run.info.t0_ms, run.info.last_ms);
        let remedy = match fitting {
            Some(guess) => format!(
                "With --cpu-offset {}, {} of {} seconds have a reading. To attach the export as it is, give \
                 --replace.",
                guess.cpu_offset, guess.covered, self.seconds
            ),
            None => "Check --cpu-offset and --time-zone. To attach the export as it is, give --replace."
                .to_owned(),
        };
        Err(CliError::refused(problem, remedy).into())
    }
}

/// Describes the time of the readings and that of the run.
fn times(run: &StoredRun, export: &CpuExport, join: CpuJoin) -> String {
    let moment = |reading: Option<&(i64, f64)>| {
        reading.map_or_else(String::new, |(clock, _)| second(clock.saturating_add(join.offset)))
    };
    let readings = export.series.readings();
    format!(
        "the readings are from {} to {}, the run is from {} to {}",
        moment(readings.first()),
        moment(readings.last()),
        second(run.info.t0_ms.div_euclid(1000)),
        second(run.info.last_ms.div_euclid(1000)),
    )
}
