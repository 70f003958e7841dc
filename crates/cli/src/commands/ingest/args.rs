//! The flags of `perfpipe ingest`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{
    ChartArgs, INJECTORS, LOOKBACK, LogArgs, OutputArgs, PageFormatArgs, PageOptions, PartChoice, PointArgs,
    RunNameArgs, SendArgs, SeriesArgs, SheetArgs, Tag, repeat,
};

/// Flags on the run that is stored.
#[derive(Debug, Args)]
#[command(next_help_heading = "Name of the run")]
pub(crate) struct KeepArgs {
    #[command(flatten)]
    pub(crate) name: RunNameArgs,
    /// TOML file that names frameworks by port, as in 8181 = "perfectnio", to infer the framework from
    #[arg(long, value_name = "FILE", conflicts_with = "framework")]
    pub(crate) frameworks: Option<PathBuf>,
    /// Label the run: commit=3f2a9c1, branch=main; repeatable, one value per key
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) tag: Vec<Tag>,
    /// Store as this repeat of the test, and replace an earlier one of that number [default: 1]
    #[arg(long, value_name = "N", value_parser = repeat())]
    pub(crate) repeat: Option<u32>,
    /// Store as the lowest free repeat of the same framework and test
    #[arg(long, conflicts_with_all = ["repeat", "replace"])]
    pub(crate) append_repeat: bool,
    /// Replace any run of the same key, even if the key was inferred
    #[arg(long)]
    pub(crate) replace: bool,
    /// Store only the exact counts per second, not the samples
    #[arg(long, help_heading = "Parts, clusters and speed")]
    pub(crate) no_samples: bool,
    #[command(flatten)]
    pub(crate) sent: SendArgs,
}

#[derive(Debug, Args)]
#[command(mut_arg("injectors", |injectors| injectors.help(INJECTORS)))]
#[command(mut_arg("cpu_lookback", |seconds| seconds.help(LOOKBACK)))]
#[command(after_help = "Examples:\n  \
    perfpipe ingest run.zip cpu.csv\n  \
    perfpipe ingest injector-*.csv.zip cpu.csv --framework go --test 2048 --out charts\n  \
    zip - run.jtl | perfpipe ingest - cpu.csv\n  \
    perfpipe ingest second.zip cpu-2.csv --framework go --test 2048 --append-repeat\n  \
    perfpipe ingest run.zip cpu.csv --append-repeat --tag commit=3f2a9c1 --tag branch=main\n  \
    perfpipe ingest cut.zip cpu.csv --salvage\n  \
    perfpipe ingest run.zip cpu.csv --series memory=memory.csv --unit bytes\n  \
    perfpipe ingest run.zip --unit bytes --series 'memory=prometheus+http://mon:9090?query=node_memory_Active_bytes'\n  \
    perfpipe ingest night --frameworks ports.toml --dry-run\n  \
    perfpipe ingest nights --append-repeat --name '{framework}_{test}_{*}'\n  \
    perfpipe ingest results/*.log --name 'result_w{workers}_{repeat}.log' --framework crossbar\n  \
    perfpipe ingest load-3.zip --part 3/16 --origin 1795203738000 --injector load-3 --framework go --test 2048\n\n\
    Each FILE is recognised by its content: a JMeter CSV log or a CPU export, plain, compressed with gzip or zstd, \
    or zipped, or a zip that holds both. Several logs are the injectors of one run. `-` is standard input.\n\n\
    A FILE that is a folder is a campaign: each log in it is a run, with the CPU export of the same name \
    (run.csv.zip, run.cpu.csv.zip) or else of the same time. Only new and changed files are read.\n\n\
    A FILE that a load tool printed as its summary (wrk, ab, hey, k6 and others) becomes points of a sweep, one for each \
    section: see `perfpipe sweep`.\n\n\
    A FILE that `perfpipe export --what counts` wrote is a run of another store, which is stored as it is.")]
pub(crate) struct IngestArgs {
    /// JMeter logs and at most one CPU export; or folders, each with the files of many runs
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) keep: KeepArgs,
    /// Store what can be read of truncated or damaged files, and mark the run partial
    #[arg(long, help_heading = "Reading of logs")]
    pub(crate) salvage: bool,
    /// Store the logs as part K of N of a run, 3/16, until `perfpipe merge` joins them; `auto`: the number of the
    /// task of a Slurm array, auto/16: that of the pod of an indexed job of Kubernetes
    #[arg(long, value_name = "K/N", help_heading = "Parts, clusters and speed", requires_all = ["origin", "framework", "test"], conflicts_with_all = ["append_repeat", "out", "max_rejects", "strict", "distribute", "columnar"])]
    pub(crate) part: Option<PartChoice>,
    /// Name of the injector that wrote the logs of this part, best that of its log file; without it, the parts are pieces of
    /// one log
    #[arg(long, value_name = "NAME", help_heading = "Parts, clusters and speed", requires = "part")]
    pub(crate) injector: Option<String>,
    /// Draw the run's page into this folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) points: PointArgs,
    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,
    #[command(flatten)]
    pub(crate) page_format: PageFormatArgs,
    #[command(flatten)]
    pub(crate) sheet: SheetArgs,
    #[command(flatten)]
    pub(crate) charts: ChartArgs,
    #[command(flatten)]
    pub(crate) series: SeriesArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

impl IngestArgs {
    /// Returns all flags on the pages.
    pub(crate) fn pages(&self) -> PageOptions<'_> {
        PageOptions {
            flag: "--page-format",
            format: self.page_format.page_format.as_deref(),
            sheet: &self.sheet,
            charts: Some(&self.charts),
            one_file: false,
            time_zone: Some(&self.log.cpu.time_zone),
            figures: None,
        }
    }
}

/// Flags for folders.
#[derive(Debug, Args)]
#[command(next_help_heading = "Folders")]
pub(crate) struct CampaignArgs {
    /// Print what would be ingested and how files are paired; store nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Runs to ingest at once; they share --workers, --readers and --memory [default: one per four cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
}
