//! The flags of `perfpipe export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use perfpipe_analyze::milliseconds;

use crate::args::{GoalArgs, KeyArgs, ViewArgs};

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
pub(crate) enum ExportFormat {
    Csv,
    Json,
    Parquet,
    Md,
    Text,
}
