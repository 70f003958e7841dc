//! `perfpipe inspect`: shows in advance what an ingest would find.

mod log;
mod packed;
mod run;
mod summaries;
mod text;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use perfpipe_analyze::table::Format;
use perfpipe_ingest::points::PointNames;
use perfpipe_ingest::{Error, IngestOptions, Inspection, inspect};
use serde::Serialize;

use self::text::TextRows;
use super::ingest::{packed_run, reading, refuse_points};
use crate::args::{
    CoresArgs, FileArgs, INJECTORS, LOOKBACK, LogArgs, NoStoreArgs, PointArgs, RunNameArgs, SeriesArgs,
    StoreArgs, choice,
};
use crate::error::{CliError, of_ingest};
use crate::input::summaries::{find, names as names_of};
use crate::input::{idle_flags, name_pattern, readings};
use crate::output::Output;

pub(crate) use self::log::second;

#[derive(Debug, Args)]
#[command(mut_arg("injectors", |injectors| injectors.help(INJECTORS)))]
#[command(mut_arg("cpu_lookback", |seconds| seconds.help(LOOKBACK)))]
#[command(after_help = "Examples:\n  \
    perfpipe inspect run.zip cpu.csv\n  \
    perfpipe inspect run.jtl cpu.csv --time-zone Europe/Warsaw\n  \
    perfpipe inspect run.zip --series memory=memory.csv --unit bytes\n  \
    perfpipe inspect injector-*.csv.zip --format json\n  \
    perfpipe inspect results --name 'result_w{workers}_{repeat}.log' --framework crossbar\n\n\
    Reads the first 32 MiB, over all logs, and the end of logs that are not compressed. Figures from this sample are \
    marked as such. Summaries of load tools are read whole; each section is a row. Nothing is stored. The exit code is that of an ingest, as far as the sample shows.")]
pub(crate) struct InspectArgs {
    /// Logs and at most one CPU export; or summaries of load tools, or folders of them
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) name: RunNameArgs,
    /// Inspect what can be read of truncated or damaged files
    #[arg(long)]
    pub(crate) salvage: bool,
    #[command(flatten)]
    pub(crate) cores: CoresArgs,
    /// Output format; of summaries of load tools, json has a row for each section [default: by the ending of the file, else
    /// text]
    #[arg(long = "format", id = "format", help_heading = "Output", value_parser = choice(&FORMATS))]
    asked: Option<Format>,
    #[command(flatten)]
    pub(crate) output: FileArgs,
    #[command(flatten)]
    pub(crate) series: SeriesArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    #[command(flatten)]
    pub(crate) points: PointArgs,
    #[command(flatten)]
    pub(crate) no_store: NoStoreArgs,
}

/// The formats of an inspection, which is not a table.
const FORMATS: [Format; 2] = [Format::Text, Format::Json];

impl InspectArgs {
    /// Returns the format that is asked for, or that the file's ending names; otherwise text.
    pub(crate) fn format(&self) -> Format {
        self.asked.or_else(|| self.output.named(&FORMATS)).unwrap_or(Format::Text)
    }
}

/// Inspects the files of one run, and fails as an ingest would.
pub(crate) async fn run(args: &InspectArgs, store: &StoreArgs) -> Result<()> {
    idle_flags::check_no_store(&args.no_store, store)?;
    if let Some(file) = packed_run(&args.files) {
        return packed::run(args, file);
    }
    let given = find(&args.files).await?;
    if !given.files.is_empty() {
        refuse_series(&args.series)?;
        return summaries::run(&given.files, &names(args)?, args.format(), args.output.output.as_deref());
    }
    refuse_points(&args.points)?;
    let mut options = options(args)?;
    options.source.read_of_stdin = given.read_of_stdin;
    let mut found = inspect(&args.files, &options).await?;
    let mut output = Output::open(args.output.output.as_deref())?;
    match args.format() {
        Format::Json => {
            let refusal = found.refusal.as_ref().map(Refusal::of);
            serde_json::to_writer_pretty(
                &mut output,
                &Document { schema: "perfpipe-inspect/1", found: &found, refusal },
            )?;
            writeln!(output)?;
        }
        _ => output.write_all(rows(&found).text().as_bytes())?,
    }
    output.finish()?;
    match found.refusal.take() {
        Some(refusal) => Err(refusal.into()),
        None => Ok(()),
    }
}

/// Converts the flags to the options of the ingest that is previewed.
pub(crate) fn options(args: &InspectArgs) -> Result<IngestOptions> {
    let mut options = reading(&args.log, args.salvage, args.cores.cores)?;
    (options.framework, options.test) = (args.name.framework.clone(), args.name.test.clone());
    name_pattern::apply(&mut options, &args.points, &args.files)?;
    readings::with_series(&mut options, &args.series, &args.log.cpu.from)?;
    Ok(options)
}

/// Refuses series beside summaries, whose sections are shown without readings.
fn refuse_series(args: &SeriesArgs) -> Result<()> {
    match args.series.is_empty() {
        true => Ok(()),
        false => {
            Err(CliError::usage("--series is for runs, and these are summaries", "Leave it out.").into())
        }
    }
}

/// Returns what the flags say of the keys of points.
fn names(args: &InspectArgs) -> Result<PointNames> {
    Ok(PointNames {
        framework: args.name.framework.clone(),
        test: args.name.test.clone(),
        ..names_of(&args.points, None)?
    })
}

/// Formats an inspection as text: a block for each log, for the CPU export and each other series, and for the run.
fn rows(found: &Inspection) -> TextRows {
    let mut rows = TextRows::default();
    found.logs.iter().for_each(|log| log::rows(log, &mut rows));
    if let Some(export) = &found.cpu {
        run::cpu_rows(export, found.end_seen, &mut rows);
    }
    found.series.iter().for_each(|series| run::series_rows(series, found.end_seen, &mut rows));
    run::run_rows(found, &mut rows);
    rows
}

/// The findings, with the remedies of the command line.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    found: &'a Inspection,
    refusal: Option<Refusal>,
}

/// Why an ingest would be refused.
#[derive(Serialize)]
struct Refusal {
    code: &'static str,
    problem: String,
    remedy: Option<String>,
}

impl Refusal {
    fn of(error: &Error) -> Self {
        Self { code: error.code(), problem: error.to_string(), remedy: of_ingest(error) }
    }
}
