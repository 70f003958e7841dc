//! `perfpipe inspect`: what an ingest would find, said before it is begun.

mod clock;
mod cpu;
mod log;
mod run;
mod text;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use perfpipe_ingest::{IngestOptions, Inspection, inspect};

use self::text::Rows;
use super::ingest::reading;
use crate::args::LogArgs;
use crate::output::Output;

pub(crate) use self::clock::second;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe inspect run.zip cpu.csv\n  \
    perfpipe inspect run.jtl cpu.csv --time-zone Europe/Warsaw\n  \
    perfpipe inspect injector-*.csv.zip --format json\n\n\
    The first 32 MiB are read, over all logs, and the end of those that are not packed: what is found in them is said\n\
    to be so, and nothing is stored. The exit code is that of an ingest, as far as the sample tells.")]
pub(crate) struct InspectArgs {
    /// JMeter logs and at most one CPU export
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The system under test [default: inferred]
    #[arg(long, value_name = "NAME")]
    pub(crate) framework: Option<String>,
    /// The test, as in 2048 [default: inferred]
    #[arg(long, value_name = "NAME")]
    pub(crate) test: Option<String>,
    /// Look at what can be read of files that were cut short or damaged
    #[arg(long)]
    pub(crate) salvage: bool,
    /// Cores of the server, for --cpu-scale
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
    /// How to say it
    #[arg(long, value_enum, default_value_t = InspectFormat::Text)]
    pub(crate) format: InspectFormat,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InspectFormat {
    Text,
    /// One document; its fields are those of perfpipe_ingest::Inspection
    Json,
}

/// Looks at the files of one run, and fails as an ingest would.
pub(crate) async fn run(args: &InspectArgs) -> Result<()> {
    let options = IngestOptions {
        framework: args.framework.clone(),
        test: args.test.clone(),
        ..reading(&args.log, args.salvage, args.cores)?
    };
    let mut found = inspect(&args.files, &options).await?;
    let mut output = Output::open(None)?;
    match args.format {
        InspectFormat::Text => output.write_all(rows(&found).text().as_bytes())?,
        InspectFormat::Json => {
            serde_json::to_writer_pretty(&mut output, &found)?;
            writeln!(output)?;
        }
    }
    output.finish()?;
    match found.refusal.take() {
        Some(refusal) => Err(refusal.into()),
        None => Ok(()),
    }
}

/// An inspection as people read it: a block for each log, for the CPU export, and for the run.
fn rows(found: &Inspection) -> Rows {
    let mut rows = Rows::default();
    found.logs.iter().for_each(|log| log::rows(log, &mut rows));
    if let Some(export) = &found.cpu {
        cpu::rows(export, found.end_seen, &mut rows);
    }
    run::rows(found, &mut rows);
    rows
}
