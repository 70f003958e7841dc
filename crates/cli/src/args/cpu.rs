//! Flags on CPU readings: how they are read, and how they are joined to seconds.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

/// Flags for reading CPU exports.
#[derive(Debug, Args)]
pub(crate) struct CpuReadArgs {
    /// Time zone of dates that name none: Europe/Warsaw, +01:00
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    pub(crate) time_zone: String,
    /// Zabbix item to read if the CPU export holds several
    #[arg(long, value_name = "ID")]
    pub(crate) cpu_item: Option<u64>,
    /// Unit of the CPU readings; stored as percent of one core [default: percent-of-core, with a note if another unit
    /// fits better]
    #[arg(long, value_enum, value_name = "SCALE")]
    pub(crate) cpu_scale: Option<CpuScaleArg>,
    #[command(flatten)]
    pub(crate) from: CpuFromArgs,
    #[command(flatten)]
    pub(crate) join: CpuJoinArgs,
}

/// Flags for asking a monitoring system for the readings of the CPU.
#[derive(Debug, Default, Args)]
pub(crate) struct CpuFromArgs {
    /// Ask for the CPU readings of the run's time: zabbix+https://HOST/zabbix/api_jsonrpc.php?host=NAME&item=KEY,
    /// zabbix-db+postgres://USER@HOST/DATABASE?itemid=NUMBER, prometheus+http://HOST:9090?query=PROMQL; secrets are those
    /// of PERFPIPE_ZABBIX_TOKEN, PGPASSWORD, PERFPIPE_PROMETHEUS_TOKEN; of several hosts or series, &several=sum or
    /// &several=apart says what is made of them
    #[arg(long, value_name = "URL", group = "asked")]
    pub(crate) cpu_from: Option<String>,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
}

/// Flags on how a monitoring system is asked.
#[derive(Debug, Default, Args)]
#[command(group = ArgGroup::new("asked").multiple(true))]
pub(crate) struct AskArgs {
    /// PEM file of an authority that is trusted besides those of the system
    #[arg(long, value_name = "FILE", requires = "asked")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Longest time of a request for readings with its answer, in seconds [default: 30]
    #[arg(long, value_name = "SECONDS", requires = "asked", value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(crate) cpu_timeout: Option<u32>,
}

/// Flags on other series of the server.
#[derive(Debug, Default, Args)]
pub(crate) struct SeriesArgs {
    /// File with another series of the server, by name, in the unit of --unit: memory=memory.csv; of several Zabbix items
    /// the one of that number: memory:10073=items.csv; the name alone where a command has --from; repeatable
    #[arg(long, value_name = "NAME[:ID]=FILE", requires = "unit")]
    pub(crate) series: Vec<String>,
    /// Unit of the series, as it is shown: bytes; one for all series, or one for each in their order
    #[arg(long, value_name = "UNIT", requires = "series")]
    pub(crate) unit: Vec<String>,
}

/// The flag for asking a monitoring system for the readings of a series.
#[derive(Debug, Default, Args)]
pub(crate) struct SeriesFromArgs {
    /// Ask for the readings of a --series that is named without a file, by a URL as of --cpu-from; repeatable, one for each
    /// such series in their order
    #[arg(long, value_name = "URL", group = "asked", requires = "series")]
    pub(crate) from: Vec<String>,
}

/// The help of `--cpu-lookback` for commands that read a CPU export.
pub(crate) const LOOKBACK: &str = "Maximum age of a CPU reading, in seconds, when it is joined to a sample [default: 3, or \
     the interval of the readings if that is longer]";

/// Flags for joining CPU readings to seconds.
#[derive(Debug, Args)]
pub(crate) struct CpuJoinArgs {
    /// Seconds to add to the clock of the CPU readings
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) cpu_offset: Option<i64>,
    /// Maximum age of a CPU reading, in seconds, when it is joined to a sample [default: as at ingest]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) cpu_lookback: Option<u32>,
}

/// The server's cores.
#[derive(Debug, Clone, Args)]
pub(crate) struct CoresArgs {
    /// Cores of the server
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
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
