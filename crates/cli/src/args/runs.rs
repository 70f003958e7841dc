//! Flags that name runs.
//!
//! `framework_test` means all repeats of a test, `framework_test#2` the second alone; so do the parts without and with a
//! repeat. A name is matched against the stored runs, and never split, since frameworks and tests may contain `_`. The
//! forms `…@c64`, `…@w4` and `…:tool` name points.

use clap::Args;
use perfpipe_ingest::run::LAST_REPEAT;

use super::values::Tag;

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

/// Runs, by their names or their parts.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunsArgs {
    /// Runs: go_2048 with all its repeats, go_2048#2 for the second alone
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
#[derive(Debug, Clone, Default, Args)]
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

/// The confirmation of a command that changes more than one run.
#[derive(Debug, Args)]
pub(crate) struct ConfirmArgs {
    /// Change several runs without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Returns the parser for numbers of repeats.
pub(crate) fn repeat() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(LAST_REPEAT))
}

/// Flags on names of files, and for summaries of load tools, which are points of sweeps.
#[derive(Debug, Args)]
#[command(next_help_heading = "Summaries of load tools")]
pub(crate) struct PointArgs {
    /// Read the names of runs from those of their files, as in '{framework}_{test}_r{repeat}.csv.gz'; further fields are
    /// {port}, {*} for any text, and of summaries of load tools {concurrency}, {workers} and {tool}
    #[arg(long, value_name = "PATTERN", help_heading = "Name of the run")]
    pub(crate) name: Option<String>,
    /// Connections or users, if they are neither in the output nor in the file's name
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    pub(crate) concurrency: Option<u32>,
    /// Workers of the server, if they are not in the file's name
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    pub(crate) server_workers: Option<u32>,
}

impl PointArgs {
    /// Returns the first of these flags that is given and is for summaries only.
    pub(crate) fn of_summaries(&self) -> Option<&'static str> {
        let given = [
            ("--concurrency", self.concurrency.is_some()),
            ("--server-workers", self.server_workers.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}
