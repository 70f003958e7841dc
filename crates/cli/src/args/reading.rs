//! How logs are read.

use clap::Args;
use perfpipe_ingest::TimeUnit;

use super::cpu::{CpuArgs, CpuScaleArg};
use super::values::{duration, size};

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
    #[arg(long, value_name = "SPAN", default_value = "7d", value_parser = duration::parse)]
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
    #[arg(long, value_name = "SIZE", default_value = "128MB", value_parser = size::bytes)]
    pub(crate) memory: usize,
}
