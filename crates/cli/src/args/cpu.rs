//! Flags on CPU readings: how they are read, and how they are joined to seconds.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use perfpipe_ingest::source::TimeFormat;

use crate::args::values;

/// Flags for reading CPU exports.
#[derive(Debug, Args)]
#[command(next_help_heading = "CPU and other readings")]
pub(crate) struct CpuReadArgs {
    /// Time zone of dates without one: Europe/Warsaw, +01:00
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    pub(crate) time_zone: String,
    /// Format of times that are neither epoch times nor ISO dates, as in JMeter's timestamp_format: 'dd/MM/yyyy HH:mm:ss'
    #[arg(long, value_name = "FORMAT")]
    pub(crate) time_format: Option<TimeFormat>,
    /// Columns of a table of CPU readings, by name or number: TIME,VALUE; several values are added up, and one with idle in its
    /// name is taken from 100 [default: found by their names, or the only one beside the time]
    #[arg(long, value_name = "NAMES")]
    pub(crate) cpu_columns: Option<String>,
    /// Item to read if the CPU export has several: the number of Zabbix's, or the label in a PerfMon log
    #[arg(long, value_name = "ID")]
    pub(crate) cpu_item: Option<String>,
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
#[command(next_help_heading = "CPU and other readings")]
pub(crate) struct CpuFromArgs {
    /// Ask for the CPU readings of the run's time: zabbix+https://HOST/zabbix/api_jsonrpc.php?host=NAME&item=KEY,
    /// zabbix-db+postgres://USER@HOST/DATABASE?itemid=NUMBER, prometheus+http://HOST:9090?query=PROMQL; secrets are those
    /// of PERFPIPE_ZABBIX_TOKEN, PGPASSWORD, PERFPIPE_PROMETHEUS_TOKEN; for several hosts or series, &several=sum adds
    /// them up, and &several=separate stores each as a series
    #[arg(long, value_name = "URL", group = "asked")]
    pub(crate) cpu_from: Option<String>,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
}

/// Flags on how a monitoring system is asked.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "CPU and other readings", group = ArgGroup::new("asked").multiple(true))]
pub(crate) struct AskArgs {
    /// PEM file of a certificate authority to trust besides those of the system
    #[arg(long, value_name = "FILE", requires = "asked")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Longest time of a request for readings with its answer: 30, 30s or 1m [default: 30]
    #[arg(long, value_name = "TIME", requires = "asked", value_parser = values::timeout)]
    pub(crate) cpu_timeout: Option<u32>,
}

/// Flags on other series of the server.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "CPU and other readings")]
pub(crate) struct SeriesArgs {
    /// Another series of the server, by name, in the unit of --unit: memory=memory.csv; of several Zabbix items the one of
    /// that number: memory:10073=items.csv; or a URL as of --cpu-from that is asked for it; repeatable
    #[arg(long, value_name = "NAME=FILE", group = "asked", requires = "unit")]
    pub(crate) series: Vec<String>,
    /// Unit of the series, as it is shown: bytes; one for all series, or one for each in their order
    #[arg(long, value_name = "UNIT", requires = "series")]
    pub(crate) unit: Vec<String>,
    /// Columns of the series' tables, by name or number: TIME,VALUE; one for all series, or one for each in their order
    /// [default: the column that is named as the series, or the only one beside the time]
    #[arg(long, value_name = "NAMES", requires = "series")]
    pub(crate) series_columns: Vec<String>,
}

/// The help of `--cpu-lookback` for commands that read a CPU export.
pub(crate) const LOOKBACK: &str = "Maximum age of a CPU reading when it is joined to a sample: 60, 1m [default: 3 seconds, or \
     the interval of the readings if that is longer]";

/// Flags for joining CPU readings to seconds.
#[derive(Debug, Args)]
#[command(next_help_heading = "CPU and other readings")]
pub(crate) struct CpuJoinArgs {
    /// Time to add to the clock of the CPU readings, in seconds or with a unit: -2, 7200, 2h
    #[arg(long, value_name = "TIME", value_parser = values::shift, allow_hyphen_values = true)]
    pub(crate) cpu_offset: Option<i64>,
    /// Maximum age of a CPU reading when it is joined to a sample: 60, 1m [default: as at ingest]
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub(crate) cpu_lookback: Option<u32>,
}

/// The server's cores.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "CPU and other readings")]
pub(crate) struct CoresArgs {
    /// Cores of the server: its capacity is 100 % for each, in readings (--cpu-scale), findings and on the axis of pages
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
