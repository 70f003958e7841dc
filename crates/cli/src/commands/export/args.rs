//! The flags of `perfpipe export`.

use std::io::Write;

use anyhow::Result;
use clap::{Args, ValueEnum};
use perfpipe_analyze::format::milliseconds;
use perfpipe_analyze::table::{Format, Table, TableWriter};

use crate::args::{Choice, FileArgs, GoalArgs, RunsArgs, ViewArgs, choice};

#[derive(Debug, Args)]
#[command(mut_arg("run", |run| run.required_unless_present_any(["test", "tag"])))]
#[command(after_help = "Examples:\n  \
    perfpipe export go_2048 > seconds.csv\n  \
    perfpipe export go_2048#2 --percentiles 50,99.9 --label \"Get /\" --format json\n  \
    perfpipe export --framework go --test 2048 --what summary --phase hold\n  \
    perfpipe export --test 2048 --what summary -o summaries.csv\n  \
    perfpipe export go_2048 --what statistics -o statistics.json\n  \
    perfpipe export go_2048 --what counts -o go_2048.run\n  \
    perfpipe export go_2048 --format openmetrics -o go_2048.om\n  \
    perfpipe export --test /hello --what points > points.csv\n  \
    perfpipe export --framework go --test 2048 --what samples --format parquet -o samples.parquet\n\n\
    go_2048 means all repeats of the test. Of several runs, each row begins with framework, test and repeat.")]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) runs: RunsArgs,
    /// Figures to write
    #[arg(long, value_enum, default_value_t = What::Seconds)]
    pub(crate) what: What,
    /// Output format [default: by the ending of the file, else csv; run and statistics are always json, hgrm is always
    /// text; openmetrics and influx are for seconds]
    #[arg(long = "format", id = "format", value_parser = choice(&ExportFormat::ALL))]
    asked: Option<ExportFormat>,
    #[command(flatten)]
    pub(crate) output: FileArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) goals: GoalArgs,
    /// Correct percentiles of summary and hgrm for coordinated omission, given the intended interval between a
    /// client's requests: 10ms
    #[arg(long, value_name = "INTERVAL", value_parser = milliseconds, help_heading = "View")]
    pub(crate) corrected: Option<u32>,
}

impl ExportArgs {
    /// Returns the format that is asked for, or that the file's ending names.
    pub(crate) fn format(&self) -> Option<ExportFormat> {
        self.asked.or_else(|| self.output.named(&ExportFormat::ALL))
    }

    /// Returns the requested format; by default CSV.
    pub(crate) fn form(&self) -> ExportFormat {
        self.format().unwrap_or(ExportFormat::Table(Format::Csv))
    }

    /// Starts a table with the columns of another, in the requested format.
    pub(super) fn writer<W: Write + Send>(&self, like: &Table, out: W) -> Result<TableWriter<W>> {
        Ok(match self.form().of_table() {
            Some(format) => TableWriter::new(format, like, out)?,
            None => TableWriter::parquet(like, out)?,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// The table per second, silent seconds included
    Seconds,
    /// Every sample
    Samples,
    /// Failures by second, label, code and message
    Errors,
    /// The CPU readings
    Cpu,
    /// The readings of the server's other series
    Series,
    /// The whole run in one row
    Summary,
    /// One row for the run and one for each phase (ramp, hold, tail)
    Phases,
    /// Throughput, response times and CPU by load, with the knee
    Sweep,
    /// The points of a test, from summaries of load tools: give --test, without a RUN
    Points,
    /// The requests of each second of the points that have them, as of Locust's --json: give --test, without a RUN
    PointSeconds,
    /// One row for each label
    Labels,
    /// The rejected records, with position and reason
    Rejects,
    /// Percentiles of elapsed, latency and connect, from the samples
    Percentiles,
    /// Successes and failures by response code, from the samples
    Codes,
    /// The run, its phases and labels as one JSON document (schema perfpipe-run/1)
    Run,
    /// The run without its samples as one file, which `perfpipe ingest` takes into another store
    Counts,
    /// The run as JMeter's statistics.json
    Statistics,
    /// Percentiles of the response times, as HdrHistogram's .hgrm
    Hgrm,
}

impl What {
    /// Returns true for what is of a test, and not of one run.
    pub(crate) fn is_of_points(self) -> bool {
        matches!(self, Self::Points | Self::PointSeconds)
    }
}

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExportFormat {
    Table(Format),
    Parquet,
    OpenMetrics,
    Influx,
}

impl ExportFormat {
    const ALL: [Self; 7] = [
        Self::Table(Format::Csv),
        Self::Table(Format::Json),
        Self::Parquet,
        Self::Table(Format::Markdown),
        Self::Table(Format::Text),
        Self::OpenMetrics,
        Self::Influx,
    ];

    /// Returns the format of a table in text; `None` for all others.
    pub(crate) fn of_table(self) -> Option<Format> {
        if let Self::Table(format) = self { Some(format) } else { None }
    }

    /// Returns true if the format is for a dashboard, which draws figures over time.
    pub(crate) fn is_metrics(self) -> bool {
        matches!(self, Self::OpenMetrics | Self::Influx)
    }
}

impl Choice for ExportFormat {
    fn name(self) -> &'static str {
        match self {
            Self::Table(format) => format.name(),
            Self::Parquet => "parquet",
            Self::OpenMetrics => "openmetrics",
            Self::Influx => "influx",
        }
    }
}
