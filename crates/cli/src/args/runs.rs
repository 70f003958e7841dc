//! Flags that name runs.
//!
//! A run is named as it is printed, `framework_test`, with `#repeat` from the second repeat on, or by its parts. A name
//! is matched against the stored runs, and never split, since frameworks and tests may contain `_`. The forms `…@c64`,
//! `…@w4` and `…:tool` name points.

use clap::Args;
use perfpipe_ingest::run::LAST_REPEAT;

use super::values::tag::Tag;

/// Names of the run to ingest.
#[derive(Debug, Args)]
pub(crate) struct RunNameArgs {
    /// Framework, the system under test [default: inferred]
    #[arg(long, value_name = "NAME")]
    pub(crate) framework: Option<String>,
    /// Test, as in 2048 [default: inferred]
    #[arg(long, value_name = "NAME")]
    pub(crate) test: Option<String>,
}

/// One run.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// Run, as `perfpipe list` names it: go_2048, go_2048#2
    #[arg(
        value_name = "RUN",
        required_unless_present_any = ["framework", "test", "repeat"],
        conflicts_with_all = ["framework", "test", "repeat"]
    )]
    pub(crate) run: Option<String>,
    /// Framework of the run, instead of RUN
    #[arg(long, value_name = "NAME", requires = "test")]
    pub(crate) framework: Option<String>,
    /// Test of the run, instead of RUN
    #[arg(long, value_name = "NAME")]
    pub(crate) test: Option<String>,
    /// Repeat of the test, from 1 [default: the only one]
    #[arg(long, value_name = "N", value_parser = repeat(), requires = "framework", requires = "test")]
    pub(crate) repeat: Option<u32>,
}

/// Several runs.
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Runs, as `perfpipe list` names them: go_2048, go_2048#2
    #[arg(value_name = "RUN", conflicts_with_all = ["framework", "test", "repeat", "tag"])]
    pub(crate) run: Vec<String>,
    #[command(flatten)]
    pub(crate) of: TestArgs,
}

impl RunsArgs {
    /// Returns true if no run is named, so that all are meant.
    pub(crate) fn is_all(&self) -> bool {
        self.run.is_empty() && self.of.test.is_none() && self.of.tag.is_empty()
    }
}

/// Runs of a test.
#[derive(Debug, Clone, Args)]
pub(crate) struct TestArgs {
    /// Test whose runs are meant
    #[arg(long, value_name = "NAME")]
    pub(crate) test: Option<String>,
    /// Only this framework; repeatable [default: all of the test]
    #[arg(long, value_name = "NAME", requires = "test")]
    pub(crate) framework: Vec<String>,
    /// Only this repeat; repeatable [default: all of the test]
    #[arg(long, value_name = "N", value_parser = repeat(), requires = "test")]
    pub(crate) repeat: Vec<u32>,
    /// Only runs with this tag, as in branch=main; repeatable: they must have all of them
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) tag: Vec<Tag>,
}

/// Returns the parser for numbers of repeats.
pub(crate) fn repeat() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(LAST_REPEAT))
}

/// Flags for summaries of load tools, which are points of sweeps.
#[derive(Debug, Args)]
#[command(next_help_heading = "Summaries of load tools")]
pub(crate) struct PointArgs {
    /// How files are named, as in 'result_w{workers}_{repeat}.log'; fields are {framework}, {test}, {concurrency},
    /// {workers}, {repeat}, {tool}, {port}, and {*} for any text
    #[arg(long, value_name = "PATTERN")]
    pub(crate) name: Option<String>,
    /// Connections or users, where neither the output nor the file's name tells them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    pub(crate) concurrency: Option<u32>,
    /// Workers of the server, where the file's name does not tell them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    pub(crate) server_workers: Option<u32>,
}

impl PointArgs {
    /// Returns the first of these flags that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--name", self.name.is_some()),
            ("--concurrency", self.concurrency.is_some()),
            ("--server-workers", self.server_workers.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}
