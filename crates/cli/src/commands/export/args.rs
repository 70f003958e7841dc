//! The flags of `perfpipe export`, and the refusal of those that have no effect on what is exported.

use std::io::Write;

use anyhow::Result;
use clap::{Args, ValueEnum};
use perfpipe_analyze::Goal;
use perfpipe_analyze::format::milliseconds;
use perfpipe_analyze::table::{Format, Table, TableWriter};

use crate::args::{Choice, FileArgs, GoalArgs, RunsArgs, ViewArgs, choice};
use crate::error::CliError;

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
    perfpipe export go_2048#1 --what summary --format k6 -o load-performance.json\n  \
    perfpipe export --test 2048 --what summary --format bencher -o bencher.json\n  \
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
    /// text; openmetrics is for seconds and the summary, influx for seconds, and k6 (GitLab's load performance), bencher,
    /// smaller-is-better and bigger-is-better (github-action-benchmark) and otava are for the summary]
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
    pub(super) fn is_of_points(self) -> bool {
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
    Summary(SummaryFormat),
}

/// A format of a summary, for a service that follows figures from build to build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SummaryFormat {
    /// k6's summary, which GitLab compares.
    K6,
    /// Bencher Metric Format.
    Bencher,
    /// Entries of github-action-benchmark of which less is better.
    SmallerIsBetter,
    /// Those of which more is better.
    BiggerIsBetter,
    /// CSV for Apache Otava.
    Otava,
}

impl ExportFormat {
    const ALL: [Self; 12] = [
        Self::Table(Format::Csv),
        Self::Table(Format::Json),
        Self::Parquet,
        Self::Table(Format::Markdown),
        Self::Table(Format::Text),
        Self::OpenMetrics,
        Self::Influx,
        Self::Summary(SummaryFormat::K6),
        Self::Summary(SummaryFormat::Bencher),
        Self::Summary(SummaryFormat::SmallerIsBetter),
        Self::Summary(SummaryFormat::BiggerIsBetter),
        Self::Summary(SummaryFormat::Otava),
    ];

    /// Returns the format of a table in text; `None` for all others.
    pub(crate) fn of_table(self) -> Option<Format> {
        if let Self::Table(format) = self { Some(format) } else { None }
    }

    /// Returns true if an export can have the format.
    pub(super) fn fits(self, what: What) -> bool {
        match self {
            Self::OpenMetrics => matches!(what, What::Seconds | What::Summary),
            Self::Influx => what == What::Seconds,
            Self::Summary(_) => what == What::Summary,
            Self::Table(_) | Self::Parquet => true,
        }
    }
}

impl Choice for ExportFormat {
    fn name(self) -> &'static str {
        match self {
            Self::Table(format) => format.name(),
            Self::Parquet => "parquet",
            Self::OpenMetrics => "openmetrics",
            Self::Influx => "influx",
            Self::Summary(SummaryFormat::K6) => "k6",
            Self::Summary(SummaryFormat::Bencher) => "bencher",
            Self::Summary(SummaryFormat::SmallerIsBetter) => "smaller-is-better",
            Self::Summary(SummaryFormat::BiggerIsBetter) => "bigger-is-better",
            Self::Summary(SummaryFormat::Otava) => "otava",
        }
    }
}

/// The names of flags on the view.
const FROM: &str = "--from";
const TO: &str = "--to";
const PHASE: &str = "--phase";
const LABEL: &str = "--label";
const TRANSACTIONS: &str = "--transactions";
const FAILURES: &str = "--include-failures";
const INJECTORS: &str = "--injectors";
const OFFSET: &str = "--cpu-offset";
const LOOKBACK: &str = "--cpu-lookback";
const PERCENTILES: &str = "--percentiles";
const TOP_LEVEL: &str = "--top-level";
const WITHIN: &str = "--within";
const APDEX: &str = "--apdex";
const CORRECTED: &str = "--corrected";

/// Flags that select seconds.
const WHEN: [&str; 3] = [FROM, TO, PHASE];
/// Flags that select records.
const WHICH: [&str; 2] = [LABEL, TRANSACTIONS];
/// Flags that affect load, CPU and percentiles.
const FIGURES: [&str; 5] = [FAILURES, INJECTORS, OFFSET, LOOKBACK, PERCENTILES];
/// Flags for goals for response times.
const GOALS: [&str; 2] = [WITHIN, APDEX];

/// Returns the flags that have an effect on an export.
fn acting(what: What) -> Vec<&'static str> {
    let sets: &[&[&str]] = match what {
        What::Summary => &[&WHEN, &WHICH, &FIGURES, &[TOP_LEVEL], &GOALS, &[CORRECTED]],
        What::Seconds => &[&WHEN, &WHICH, &FIGURES, &[TOP_LEVEL], &GOALS],
        What::Phases | What::Sweep | What::Run => &[&WHEN, &WHICH, &FIGURES, &[TOP_LEVEL]],
        What::Labels => &[&WHEN, &WHICH, &[FAILURES, TOP_LEVEL]],
        What::Hgrm => &[&WHEN, &WHICH, &[FAILURES, TOP_LEVEL, CORRECTED]],
        What::Errors => &[&WHEN, &WHICH, &[TOP_LEVEL]],
        What::Statistics | What::Codes => &[&WHEN, &WHICH],
        What::Percentiles => &[&WHEN, &WHICH, &[FAILURES, PERCENTILES]],
        What::Samples => &[&WHEN, &[LABEL]],
        What::Cpu | What::Series => &[&WHEN, &[OFFSET]],
        What::Rejects | What::Counts | What::Points | What::PointSeconds => &[],
    };
    sets.concat()
}

/// Returns the reason why a flag has no effect, if there is more to say than what it is for.
fn why(what: What, flag: &str) -> &'static str {
    match (what, flag) {
        (What::Samples, OFFSET | LOOKBACK) => {
            ": samples keep the reading that they were joined to; attach-cpu joins them again"
        }
        (What::Samples, TRANSACTIONS | FAILURES) => {
            ": transactions and failures are among the samples, and marked"
        }
        (What::Labels, PERCENTILES) => {
            ": it has the 50th, 95th and 99th always; --what summary --label takes others"
        }
        (What::Statistics, PERCENTILES | FAILURES) => {
            ": like JMeter's own file, it has fixed ones, which include failures"
        }
        (What::Samples | What::Statistics | What::Percentiles | What::Codes, TOP_LEVEL) => {
            ": it selects counts, and these figures come from the samples"
        }
        (What::Rejects, _) => ": a reject has no known time",
        _ => "",
    }
}

/// Returns the flags that were given.
fn made(args: &ExportArgs) -> impl Iterator<Item = &'static str> {
    let goals = args.goals.goals();
    let others = [
        (PERCENTILES, args.view.percentiles.is_some()),
        (WITHIN, goals.iter().any(|goal| matches!(goal, Goal::Within(_)))),
        (APDEX, goals.iter().any(|goal| matches!(goal, Goal::Apdex(_)))),
        (CORRECTED, args.corrected.is_some()),
    ];
    args.view.scope.given().chain(others.into_iter().filter_map(|(flag, made)| made.then_some(flag)))
}

/// Refuses flags that have no effect on the export.
///
/// # Errors
/// If there is such a flag; the remedy names the exports that it is for.
pub(super) fn refuse_idle(args: &ExportArgs) -> Result<()> {
    let what = args.what;
    let Some(flag) = made(args).find(|flag| !acting(what).contains(flag)) else { return Ok(()) };
    let named = |what: &What| what.to_possible_value().map(|value| value.get_name().to_owned());
    let good: Vec<String> = What::value_variants()
        .iter()
        .filter(|what| acting(**what).contains(&flag))
        .filter_map(named)
        .collect();
    let (name, why) = (named(&what).unwrap_or_default(), why(what, flag));
    let problem = format!("{flag} has no effect on --what {name}{why}");
    Err(CliError::usage(problem, format!("Leave it out; it is for --what {}.", good.join(", "))).into())
}
