//! The command line: every flag, with its help.

pub(crate) mod duration;
pub(crate) mod size;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use perfpipe_analyze::{Goal, View, milliseconds};
use perfpipe_ingest::{LAST_REPEAT, TimeUnit};

/// From a zipped JMeter log and a CPU export to exact statistics and printed charts.
#[derive(Debug, Parser)]
#[command(name = "perfpipe", version, propagate_version = true, max_term_width = 110)]
#[command(after_help = "Examples:\n  \
    perfpipe ingest run.zip cpu.csv --report charts   zip in, PDF out\n  \
    perfpipe report --test 2048                       charts and league table of all frameworks\n  \
    perfpipe export --framework go --test 2048        the per-second table as CSV\n\n\
    Exit codes: 0 done; 1 failed; 2 wrong usage; 3 the input is bad beyond the limits, or verify found damage; \
    4 a rule does not hold.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read the JMeter logs and the CPU export of one run into the store
    Ingest(Box<IngestArgs>),
    /// Say what an ingest of these files would find, after a look at the beginning of each
    Inspect(InspectArgs),
    /// Draw the pages of a test, and print its league table
    Report(ReportArgs),
    /// Write the figures of a run as CSV, JSON, Parquet or Markdown
    Export(ExportArgs),
    /// Say what stands out in a run: saturation, stalls, failures, injectors out of step
    Diagnose(DiagnoseArgs),
    /// Judge the runs of a test by rules, and fail where one does not hold
    Check(CheckArgs),
    /// Say what changed from one run to another, and whether more than by chance
    Compare(CompareArgs),
    /// List the runs that are stored
    List(ListArgs),
    /// Copy runs to another store, and prove that they are the same there
    Copy(CopyArgs),
    /// Give a stored run another CPU export
    AttachCpu(AttachArgs),
    /// Read everything that is stored, and say what is wrong with which run
    Verify(VerifyArgs),
    /// Put damaged runs right where that can be done, and set aside the others
    Repair(RepairArgs),
    /// Take one run out of the store
    Drop(KeyArgs),
}

/// Where runs are kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "Store")]
pub(crate) struct StoreArgs {
    /// Folder of the embedded store [default: perfpipe-data]
    #[arg(long, global = true, value_name = "DIR", conflicts_with = "database")]
    pub(crate) store: Option<PathBuf>,
    /// Postgres database in the folder's place, as postgres://user@host/name; PG* variables and .pgpass fill in
    /// what it leaves out
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) database: Option<String>,
}

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

/// How a log is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct LogArgs {
    /// Zone of dates that name none: Europe/Warsaw, +01:00
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    pub(crate) time_zone: String,
    /// Unit of timeStamps that are numbers: s, ms, us, ns [default: ms, unless these can't be meant]
    #[arg(long, value_name = "UNIT")]
    pub(crate) time_unit: Option<TimeUnit>,
    /// The log's delimiter, one character or `tab` [default: found in the log]
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter: Option<String>,
    /// Columns of a log without a header, by JMeter's names, separated by commas [default: JMeter's default ones]
    #[arg(long, value_name = "NAMES")]
    pub(crate) columns: Option<String>,
    /// Records that may be rejected before the run fails
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) max_rejects: u64,
    /// Fail at the first rejected record
    #[arg(long, conflicts_with = "max_rejects")]
    pub(crate) strict: bool,
    /// How far from the log's first record others may be: 7d, 36h, 90m (at most 12d)
    #[arg(long, value_name = "SPAN", default_value = "7d", value_parser = crate::args::duration::parse)]
    pub(crate) max_span: u64,
    /// Time zero in epoch ms; only for a pipe whose earliest record comes late
    #[arg(long, value_name = "MS")]
    pub(crate) origin: Option<i64>,
    /// Regular expression that finds the injector's host in threadName
    #[arg(long, value_name = "REGEX")]
    pub(crate) injector_pattern: Option<String>,
    /// Injectors that sent the load, where the log can't tell them apart
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) injectors: Option<u32>,
    /// Zabbix item to take, where the CPU export holds several
    #[arg(long, value_name = "ID")]
    pub(crate) cpu_item: Option<u64>,
    /// What CPU readings are measured in; stored is percent of one core [default: percent-of-core, with a word where
    /// another fits better]
    #[arg(long, value_enum, value_name = "SCALE")]
    pub(crate) cpu_scale: Option<CpuScaleArg>,
    #[command(flatten)]
    pub(crate) cpu: CpuArgs,
    /// Threads that parse and encode [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) workers: Option<u16>,
    /// Memory for what is gathered of a run: counts beyond a third of it go to a temporary file
    #[arg(long, value_name = "SIZE", default_value = "128MB", value_parser = crate::args::size::bytes)]
    pub(crate) memory: usize,
}

/// How CPU readings find their seconds.
#[derive(Debug, Args)]
pub(crate) struct CpuArgs {
    /// Seconds added to the clock of CPU readings
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) cpu_offset: Option<i64>,
    /// Seconds that a CPU reading may lie before the one it is joined to [default: 3, or as many as there are from one
    /// reading to the next; of a stored run, as at its ingest]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) cpu_lookback: Option<u32>,
}

/// Which run is meant.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe drop --framework go --test 2048\n  \
    perfpipe drop --framework go --test 2048 --repeat 3")]
pub(crate) struct KeyArgs {
    /// The system under test
    #[arg(long, value_name = "NAME")]
    pub(crate) framework: String,
    /// The test
    #[arg(long, value_name = "NAME")]
    pub(crate) test: String,
    /// Which repeat of the test, from 1 [default: the only one]
    #[arg(long, value_name = "N", value_parser = repeat())]
    pub(crate) repeat: Option<u32>,
}

/// Which runs of a test are meant.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// The test whose runs are meant
    #[arg(long, value_name = "NAME")]
    pub(crate) test: String,
    /// Only this framework; may be given several times [default: all of the test]
    #[arg(long, value_name = "NAME")]
    pub(crate) framework: Vec<String>,
    /// Only this repeat; may be given several times [default: all of the test]
    #[arg(long, value_name = "N", value_parser = repeat())]
    pub(crate) repeat: Vec<u32>,
}

/// The numbers that a repeat may have.
fn repeat() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(LAST_REPEAT))
}

/// What of a run is looked at, and the percentiles computed of it.
#[derive(Debug, Args)]
#[command(next_help_heading = "View")]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Percentiles, in percent (percentile_cont) [default: 25,50,75,95]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) percentiles: Option<Vec<f64>>,
}

impl ViewArgs {
    /// The percentiles, by default those that the figures of a run have.
    pub(crate) fn percentiles(&self) -> Vec<f64> {
        self.percentiles.clone().unwrap_or_else(|| View::default().percentiles)
    }
}

/// Goals for response times.
#[derive(Debug, Args)]
#[command(next_help_heading = "View")]
pub(crate) struct GoalArgs {
    /// Add the percentage of all requests that succeeded within a time: 200ms, 1.5s; may be given several times
    #[arg(long, value_name = "TIME", value_parser = Goal::within)]
    pub(crate) within: Vec<Goal>,
    /// Add the Apdex of a T (Apdex Technical Specification 1.1): 500ms; may be given several times
    #[arg(long, value_name = "TIME", value_parser = Goal::apdex)]
    pub(crate) apdex: Vec<Goal>,
}

impl GoalArgs {
    /// All of them.
    pub(crate) fn goals(&self) -> Vec<Goal> {
        [&self.within[..], &self.apdex].concat()
    }
}

/// What of a run is looked at.
#[derive(Debug, Args)]
#[command(next_help_heading = "View")]
pub(crate) struct ScopeArgs {
    /// First second, from 0
    #[arg(long, value_name = "SECOND")]
    pub(crate) from: Option<u32>,
    /// Last second
    #[arg(long, value_name = "SECOND")]
    pub(crate) to: Option<u32>,
    /// Only the seconds of a phase, found from the load
    #[arg(long, value_enum, conflicts_with_all = ["from", "to"])]
    pub(crate) phase: Option<PhaseArg>,
    /// Only requests of this label
    #[arg(long, value_name = "LABEL")]
    pub(crate) label: Option<String>,
    /// Count transaction controllers' own records as requests
    #[arg(long)]
    pub(crate) transactions: bool,
    /// Take averages and percentiles over failures too
    #[arg(long)]
    pub(crate) include_failures: bool,
    /// Leave out sub-samples (Page-0, Page-1 of Page), which JMeter writes as records of their own
    #[arg(long)]
    pub(crate) top_level: bool,
    /// Injectors that sent the load, where the log can't tell them apart [default: as told at ingest, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) injectors: Option<u32>,
    #[command(flatten)]
    pub(crate) cpu: CpuArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe report --test 2048\n  \
    perfpipe report --test 2048 --chart time,sweep\n  \
    perfpipe report --test 2048 --phase hold --order-by p99\n  \
    perfpipe report --test 2048 --framework go --framework spring --out charts --format pdf --paper letter")]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) runs: TestArgs,
    /// Folder for the pages
    #[arg(long, value_name = "DIR", default_value = "perfpipe-report")]
    pub(crate) out: PathBuf,
    /// Which pages are drawn [default: time]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) chart: Option<Vec<ChartArg>>,
    /// How the league table is printed
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) table: TableFormat,
    /// Column that orders the league, such as throughput, p99, cpu_mean or a goal's, within_200ms_percent: what is better
    /// the more there is of it descending, all else ascending [default: best first]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) order_by: Option<String>,
    #[command(flatten)]
    pub(crate) style: StyleArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) goals: GoalArgs,
}

/// A scale that PNG pages can have.
fn png_scale(text: &str) -> Result<f64, String> {
    let scales = perfpipe_plot::PNG_SCALES;
    let scale = text.parse().ok().filter(|scale| scales.contains(scale));
    scale.ok_or_else(|| format!("not a number from {} to {}", scales.start(), scales.end()))
}

/// How pages look.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Pages")]
pub(crate) struct StyleArgs {
    /// Formats of the pages [default: svg,pdf]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) format: Option<Vec<PageFormat>>,
    /// Pixels a point of PNG pages, 0.5 to 8 [default: 2]
    #[arg(long, value_name = "N", value_parser = png_scale)]
    pub(crate) scale: Option<f64>,
    /// Paper to lay pages out for [default: a4]
    #[arg(long, value_enum)]
    pub(crate) paper: Option<PaperArg>,
    /// What the colours stand for [default: load]
    #[arg(long, value_enum)]
    pub(crate) color_by: Option<ColorArg>,
    /// The colours themselves [default: original]
    #[arg(long, value_enum)]
    pub(crate) palette: Option<PaletteArg>,
    /// Top of the CPU axis, in percent of one core [default: from the data]
    #[arg(long, value_name = "PERCENT")]
    pub(crate) cpu_max: Option<f64>,
    /// Cores of the server: the CPU axis goes to 100 for each
    #[arg(long, value_name = "N", conflicts_with = "cpu_max", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe export --framework go --test 2048 > seconds.csv\n  \
    perfpipe export --framework go --test 2048 --percentiles 50,99.9 --label \"Get /\" --format json\n  \
    perfpipe export --framework go --test 2048 --what summary --phase hold\n  \
    perfpipe export --framework go --test 2048 --what statistics -o statistics.json\n  \
    perfpipe export --framework go --test 2048 --what samples --format parquet -o samples.parquet")]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) key: KeyArgs,
    /// What to write
    #[arg(long, value_enum, default_value_t = What::Seconds)]
    pub(crate) what: What,
    /// How to write it [default: csv; run and statistics are JSON, hgrm is a text]
    #[arg(long, value_enum)]
    pub(crate) format: Option<ExportFormat>,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) goals: GoalArgs,
    /// Correct percentiles for requests that a stall kept from being sent, clients being meant to send one in this time:
    /// 10ms (summary and hgrm)
    #[arg(long, value_name = "INTERVAL", value_parser = milliseconds, help_heading = "View")]
    pub(crate) corrected: Option<u32>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe diagnose --framework go --test 2048\n  \
    perfpipe diagnose --framework go --test 2048 --cores 72 --format json")]
pub(crate) struct DiagnoseArgs {
    #[command(flatten)]
    pub(crate) key: KeyArgs,
    /// Cores of the server [default: as told with --cpu-scale, else its capacity is the most CPU that the run had]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
    /// How the findings are printed
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) format: TableFormat,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe check --test 2048 \"p95 < 200ms\" \"failures < 1%\" \"throughput > 20000\"\n  \
    perfpipe check --test 2048 --framework go --rules rules.toml --junit check.xml\n  \
    perfpipe check --test 2048 --baseline go_2048 --baseline-store released \"p95 in hold < baseline * 1.1\"\n\n\
    A rule: MEASURE [of \"LABEL\"] [in ramp|hold|tail] OPERATOR LIMIT [for DURATION]\n  \
    MEASURE   throughput, requests, successes, failures, failures_percent, rejects, mean, min, max, p95 (any\n            \
              percentile), within 200ms, apdex 500ms, latency_mean, bytes_per_second, sent_bytes_per_second, cpu,\n            \
              cpu_max, load\n  \
    OPERATOR  <, <=, >, >=, ==, !=\n  \
    LIMIT     a number (ms, s, %, /s, MB/s), or baseline, baseline * 1.1, baseline + 20ms\n  \
    DURATION  the rule is broken where it does not hold in so many seconds in a row: 30s, 2m\n\n\
    A file of rules: rules = [\"p95 < 200ms\", \"failures < 1%\"]")]
pub(crate) struct CheckArgs {
    /// Rules that must hold of every run
    #[arg(value_name = "RULE")]
    pub(crate) rule: Vec<String>,
    #[command(flatten)]
    pub(crate) runs: TestArgs,
    /// TOML file of more rules
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Run that rules compare with: go_2048, or go_2048#2 for its second repeat
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<String>,
    /// Folder of the embedded store that holds the baseline [default: the store of the runs]
    #[arg(long, value_name = "DIR", requires = "baseline")]
    pub(crate) baseline_store: Option<PathBuf>,
    /// How the verdicts are printed
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) format: TableFormat,
    /// JUnit XML file to write too
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Annotate broken rules on GitHub, and add the table to the job's summary
    #[arg(long)]
    pub(crate) github: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe compare go_2048 spring_2048\n  \
    perfpipe compare go_2048 spring_2048 nio_2048\n  \
    perfpipe compare go_2048#1 go_2048#2\n  \
    perfpipe compare go_2048 go_2048 --baseline-store released --out charts --phase hold")]
pub(crate) struct CompareArgs {
    /// The run to compare with: go_2048 with all its repeats, or go_2048#2 for the second alone
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// The runs that are looked at, each against A
    #[arg(value_name = "B", required = true)]
    pub(crate) b: Vec<String>,
    /// Folder of the embedded store that holds A [default: the store of B]
    #[arg(long, value_name = "DIR")]
    pub(crate) baseline_store: Option<PathBuf>,
    /// Folder for a page of both runs over each other [default: none is drawn]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How the changes are printed
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) table: TableFormat,
    #[command(flatten)]
    pub(crate) style: StyleArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe copy --to-database postgres://user@host/load\n  \
    perfpipe copy go_2048 spring_2048 --database postgres://user@host/load --to laptop")]
pub(crate) struct CopyArgs {
    /// Runs to copy, as `perfpipe list` names them: go_2048 [default: all]
    #[arg(value_name = "RUN")]
    pub(crate) run: Vec<String>,
    /// Folder of the embedded store to copy to
    #[arg(long, value_name = "DIR", conflicts_with = "to_database")]
    pub(crate) to: Option<PathBuf>,
    /// Postgres database to copy to
    #[arg(long, value_name = "URL")]
    pub(crate) to_database: Option<String>,
    /// Replace runs of the same key there, whatever they were made from
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  perfpipe attach-cpu go_2048 cpu.csv --cpu-offset -2")]
pub(crate) struct AttachArgs {
    /// The run, as `perfpipe list` names it: go_2048
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The CPU export, as of Zabbix
    #[arg(value_name = "FILE")]
    pub(crate) cpu: PathBuf,
    /// Zone of dates that name none: Europe/Warsaw, +01:00
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    pub(crate) time_zone: String,
    /// Zabbix item to take, where the export holds several
    #[arg(long, value_name = "ID")]
    pub(crate) cpu_item: Option<u64>,
    /// What the readings are measured in; stored is percent of one core [default: percent-of-core, with a word where
    /// another fits better]
    #[arg(long, value_enum, value_name = "SCALE")]
    pub(crate) cpu_scale: Option<CpuScaleArg>,
    /// Cores of the server, for --cpu-scale
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
    /// Attach it even if it has readings for less of the run than there are now, or for nothing of it
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) join: CpuArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe verify\n  \
    perfpipe verify go_2048 \"spring_2048#2\" --format json\n\n\
    All tables and samples are read: their checksums, the counts against the run's own row, and against the samples.\n\
    Exit codes: 0 all is whole; 3 something is damaged.")]
pub(crate) struct VerifyArgs {
    /// Runs to verify, as `perfpipe list` names them: go_2048 [default: all]
    #[arg(value_name = "RUN")]
    pub(crate) run: Vec<String>,
    /// How the verdicts are printed
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) format: TableFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe repair --dry-run\n  \
    perfpipe repair go_2048\n\n\
    The store's own file is made anew, leftovers of killed writers go, counts are taken anew from the samples, and runs\n\
    in the folder of another go where they belong. What can't be repaired is set aside in the store's folder\n\
    `set-aside`, and never deleted; in a database it is left as it is.")]
pub(crate) struct RepairArgs {
    /// Runs to repair, as `perfpipe list` names them: go_2048 [default: all, and the store itself]
    #[arg(value_name = "RUN")]
    pub(crate) run: Vec<String>,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  perfpipe list --format json")]
pub(crate) struct ListArgs {
    /// How the list is printed
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) format: TableFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// The per-second table, silent seconds too
    Seconds,
    /// Every sample
    Samples,
    /// Failures by second, label, code and message
    Errors,
    /// The CPU readings
    Cpu,
    /// The run in one row
    Summary,
    /// The run and its phases (ramp, hold, tail), a row each
    Phases,
    /// Throughput, response times and CPU by load, with the knee
    Sweep,
    /// A row for each label
    Labels,
    /// The rejected records, with their places and reasons
    Rejects,
    /// Percentiles of elapsed, latency and connect, from the samples
    Percentiles,
    /// Successes and failures by response code, from the samples
    Codes,
    /// The run, its phases and its labels as one JSON document (schema perfpipe-run/1)
    Run,
    /// The run as JMeter's statistics.json
    Statistics,
    /// The percentiles of the response times as HdrHistogram's .hgrm
    Hgrm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CpuScaleArg {
    /// 100 is one core
    PercentOfCore,
    /// 100 is the whole machine; needs --cores
    PercentOfMachine,
    /// 1 is the whole machine; needs --cores
    Fraction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChartArg {
    /// Each run over time, and all of them over each other
    Time,
    /// Each run over its load, with the knee
    Sweep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PhaseArg {
    /// The load climbs
    Ramp,
    /// The load is level at its peak
    Hold,
    /// What comes after the hold
    Tail,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Csv,
    Json,
    Parquet,
    Md,
    Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InspectFormat {
    Text,
    /// One document; its fields are those of perfpipe_ingest::Inspection
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    Text,
    Md,
    Csv,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageFormat {
    Svg,
    Pdf,
    Png,
    /// The whole report in one file
    Html,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PaperArg {
    A4,
    Letter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PaletteArg {
    /// Purple to red
    Original,
    /// Dark to light, for any colour vision
    Viridis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    Load,
    Cpu,
    Throughput,
}
