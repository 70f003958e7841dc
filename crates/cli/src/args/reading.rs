//! Flags on the reading of logs, and on the number of injectors.

use clap::Args;
use perfpipe_ingest::run::Resolution;
use perfpipe_ingest::source::TimeUnit;

use super::cpu::CpuReadArgs;
use crate::args::values;

/// Flags for reading a log and its CPU export.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading of logs")]
pub(crate) struct LogArgs {
    /// Unit of numeric timeStamps: s, ms, us, ns [default: ms, unless the numbers only make sense in another]
    #[arg(long, value_name = "UNIT")]
    pub(crate) time_unit: Option<TimeUnit>,
    /// Delimiter of the log: one ASCII character, or `tab` [default: detected]
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter: Option<String>,
    /// Columns of a log without a header: JMeter's names, separated by commas [default: JMeter's default columns]
    #[arg(long, value_name = "NAMES")]
    pub(crate) columns: Option<String>,
    /// Unit in which times are counted: 1us, 10us, 100us, 1ms [default: the tool's own, 1ms for JMeter]
    #[arg(long, value_name = "UNIT")]
    pub(crate) resolution: Option<Resolution>,
    /// Fail if more than this many records are rejected
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) max_rejects: u64,
    /// Fail at the first rejected record
    #[arg(long, conflicts_with = "max_rejects")]
    pub(crate) strict: bool,
    /// Maximum distance of any record from the log's first record, or from --origin: 7d, 36h, 90m (at most 12d)
    #[arg(long, value_name = "SPAN", default_value = "7d", value_parser = values::parse)]
    pub(crate) max_span: u64,
    /// Take only the records within a time, as of one of several runs in a log, and leave the others out: FROM..TO, FROM.. or
    /// ..TO, in epoch ms or as dates
    #[arg(long, value_name = "FROM..TO")]
    pub(crate) only: Option<String>,
    /// Time zero in epoch ms, at or before the first record [default: the smallest timeStamp]; for logs without a clock, the
    /// time at which the tool started
    #[arg(long, value_name = "MS")]
    pub(crate) origin: Option<i64>,
    /// Regular expression that finds the injector's host in threadName
    #[arg(long, value_name = "REGEX")]
    pub(crate) injector_pattern: Option<String>,
    #[command(flatten)]
    pub(crate) injectors: InjectorsArgs,
    #[command(flatten)]
    pub(crate) cpu: CpuReadArgs,
    /// Threads that parse and encode [default: one per core]
    #[arg(long, value_name = "N", help_heading = "Parts, clusters and speed", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) workers: Option<u16>,
    /// Maximum number of logs of a run that are read in parallel [default: one per core, and no more than workers]
    #[arg(long, value_name = "N", help_heading = "Parts, clusters and speed", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) readers: Option<u16>,
    /// Memory for a run's counts; above a fifth of it, counts go to a temporary file
    #[arg(long, value_name = "SIZE", help_heading = "Parts, clusters and speed", default_value = "128MB", value_parser = values::bytes)]
    pub(crate) memory: usize,
}

/// The help of `--injectors` for commands that read a log.
pub(crate) const INJECTORS: &str = "Number of injectors, if the log does not name them [default: 1]";

/// Number of injectors that sent the load.
#[derive(Debug, Args)]
pub(crate) struct InjectorsArgs {
    /// Number of injectors, if the log does not name them [default: as given at ingest, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) injectors: Option<u32>,
}
