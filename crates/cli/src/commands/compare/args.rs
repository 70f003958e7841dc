//! The flags of `perfpipe compare`.

use std::path::Path;

use anyhow::Result;
use clap::Args;

use crate::args::{
    BaselineStoreArgs, FailOn, LinePagesArgs, PageOptions, ReportFormat, TestArgs, VerdictFormat,
    VerdictOutputArgs, ViewArgs, choice,
};
use crate::error::CliError;

#[derive(Debug, Args)]
#[command(mut_arg("out", |out| out.help("Draw a page of each B over A into this folder")))]
#[command(after_help = "Examples:\n  \
    perfpipe compare go_2048 spring_2048\n  \
    perfpipe compare go_2048 spring_2048 nio_2048\n  \
    perfpipe compare go_2048#1 go_2048#2\n  \
    perfpipe compare go_2048 spring_2048 --decide throughput,p95\n  \
    perfpipe compare old_2048 new_2048 --decide throughput,p95 --fail-on worse\n  \
    perfpipe compare --test 2048 --framework go --framework spring --format md\n  \
    perfpipe compare go_2048 spring_2048 --decide p95 --format pr -o comment.md\n  \
    perfpipe compare --test 2048 --framework go --tag commit=3f2a9c1 --tag commit=77b01de\n  \
    perfpipe compare go_2048 spring_2048 --format html -o compared.html\n  \
    perfpipe compare go@c64 spring@c64 --test /json\n  \
    perfpipe compare go_2048 go_2048 --baseline-store released --out charts --phase hold\n\n\
    By flags, the first --framework is A and the others are B; or, of a single framework, the first --repeat or the \
    first of several --tag with the same key is A.\n\n\
    go@c64 with --test is a point of a sweep: the framework at that concurrency; go@w4 at that number of workers, \
    go@c64:wrk by that tool.")]
pub(crate) struct CompareArgs {
    /// Baseline run: go_2048 with all its repeats, or go_2048#2 for the second alone; or points: go@c64
    #[arg(
        value_name = "A",
        required_unless_present = "test",
        conflicts_with_all = ["framework", "repeat", "tag"]
    )]
    pub(crate) a: Option<String>,
    /// Runs to compare with A
    #[arg(value_name = "B", required_unless_present = "test")]
    pub(crate) b: Vec<String>,
    #[command(flatten)]
    pub(crate) of: TestArgs,
    /// Figures that decide, as in throughput,p95: the others are exploratory [default: all decide together]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) decide: Vec<String>,
    /// Exit with code 4 if a figure that decides is shown to be worse: --fail-on worse
    #[arg(long, value_name = "WHAT", value_parser = choice(FailOn::ALL))]
    pub(crate) fail_on: Option<FailOn>,
    #[command(flatten)]
    pub(crate) baseline_store: BaselineStoreArgs,
    #[command(flatten)]
    pub(crate) output: VerdictOutputArgs,
    #[command(flatten)]
    pub(crate) drawn: LinePagesArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

impl CompareArgs {
    /// Returns all flags on the pages.
    pub(crate) fn pages(&self) -> PageOptions<'_> {
        self.drawn.options()
    }

    /// Returns true if the comparison is written as a report.
    pub(super) fn is_report(&self) -> bool {
        self.output.format() == VerdictFormat::Report(ReportFormat::Html)
    }

    /// Returns the folder of the store with the baseline, if it is another one.
    pub(super) fn baseline_store(&self) -> Option<&Path> {
        self.baseline_store.baseline_store.as_deref()
    }
}

/// Returns the figures that decide by their names, of those that can; none if all decide.
///
/// # Errors
/// If there is no figure of a name.
pub(crate) fn deciding<M: Clone>(names: &[String], figures: &[(String, M)]) -> Result<Vec<M>> {
    let mut deciding = Vec::new();
    for name in names {
        // Tables for people have this name.
        let known = if name == "failures" { "failures_percent" } else { name };
        let before = deciding.len();
        deciding.extend(figures.iter().filter(|(own, _)| own == known).map(|(_, figure)| figure.clone()));
        if deciding.len() == before {
            let names: Vec<&str> = figures.iter().map(|(name, _)| name.as_str()).collect();
            let remedy = format!(
                "Choose among {}. Of runs, --percentiles computes other percentiles.",
                names.join(", ")
            );
            return Err(CliError::usage(format!("--decide: no figure {name} to compare"), remedy).into());
        }
    }
    Ok(deciding)
}
