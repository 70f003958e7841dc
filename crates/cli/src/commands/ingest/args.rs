//! The flags of `perfpipe ingest`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{LogArgs, StyleArgs, TableFormat, repeat};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe ingest run.zip cpu.csv\n  \
    perfpipe ingest injector-*.csv.zip cpu.csv --framework go --test 2048 --report charts\n  \
    zip - run.jtl | perfpipe ingest - cpu.csv\n  \
    perfpipe ingest second.zip cpu-2.csv --framework go --test 2048 --append-repeat\n  \
    perfpipe ingest cut.zip cpu.csv --salvage\n  \
    perfpipe ingest night --frameworks ports.toml --dry-run\n\n\
    Each FILE is known by its content: a JMeter CSV log or a CPU export, plain, gzipped, zstd-packed or zipped, or\n\
    a zip that holds both. Several logs are the injectors of one run. `-` is standard input.\n\n\
    A FILE that is a folder is a campaign of many runs: each log in it is one, and has the CPU export of its name\n\
    (run.csv.zip, run.cpu.csv.zip), else the one of its time. Only what is new or has changed is read.")]
pub(crate) struct IngestArgs {
    /// JMeter logs and at most one CPU export; or folders, for a campaign of many runs
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The system under test [default: inferred, and said]
    #[arg(long, value_name = "NAME")]
    pub(crate) framework: Option<String>,
    /// The test, as in 2048 [default: inferred, and said]
    #[arg(long, value_name = "NAME")]
    pub(crate) test: Option<String>,
    /// TOML file of the frameworks by port, as in 8181 = "perfectnio", for the framework that is inferred
    #[arg(long, value_name = "FILE", conflicts_with = "framework")]
    pub(crate) frameworks: Option<PathBuf>,
    /// Which repeat of the test this is; an earlier one of that number is replaced [default: 1]
    #[arg(long, value_name = "N", value_parser = repeat())]
    pub(crate) repeat: Option<u32>,
    /// Store it beside the runs of the same framework and test, as the lowest repeat that is free
    #[arg(long, conflicts_with_all = ["repeat", "replace"])]
    pub(crate) append_repeat: bool,
    /// Replace any run of the same key, even if the key was inferred
    #[arg(long)]
    pub(crate) replace: bool,
    /// Keep what can be read of files that were cut short or damaged; the run is marked partial
    #[arg(long)]
    pub(crate) salvage: bool,
    /// Keep the exact counts of each second only, not the samples
    #[arg(long)]
    pub(crate) no_samples: bool,
    /// Draw the run's page into this folder too
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,
    #[command(flatten)]
    pub(crate) style: StyleArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

/// How folders are ingested.
#[derive(Debug, Args)]
#[command(next_help_heading = "Folders")]
pub(crate) struct CampaignArgs {
    /// Print what would be ingested, and how files are paired, without reading whole logs or storing anything
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Runs ingested at once; --workers are divided among them [default: one for four cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// How the table of the runs is printed [default: text]
    #[arg(long, value_enum)]
    pub(crate) table: Option<TableFormat>,
}
