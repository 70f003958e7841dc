//! The commands, one per file, with their flags.

mod attach_cpu;
mod attach_series;
mod check;
mod compare;
mod copy;
mod diagnose;
mod drop;
mod export;
mod ingest;
mod inspect;
mod list;
mod merge;
mod migrate;
mod rename;
mod repair;
mod report;
mod shell;
mod sweep;
mod trend;
mod verify;
mod watch;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::time::Duration;

use anyhow::Result;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use perfpipe_ingest::Progress;

use self::attach_cpu::AttachArgs;
use self::attach_series::AttachSeriesArgs;
use self::check::CheckArgs;
use self::compare::CompareArgs;
use self::copy::CopyArgs;
use self::diagnose::DiagnoseArgs;
use self::drop::DropArgs;
use self::export::ExportArgs;
use self::ingest::IngestArgs;
use self::inspect::InspectArgs;
use self::list::ListArgs;
use self::merge::MergeArgs;
use self::migrate::MigrateArgs;
use self::rename::RenameArgs;
use self::repair::RepairArgs;
use self::report::ReportArgs;
use self::shell::completions::{self, CompletionsArgs};
use self::shell::man::{self, ManArgs};
use self::sweep::SweepArgs;
use self::trend::TrendArgs;
use self::verify::VerifyArgs;
use self::watch::WatchArgs;
use crate::args::{StoreArgs, TerminalArgs};

/// Exact statistics and printed charts from a zipped JMeter log and a CPU export
#[derive(Debug, Parser)]
#[command(name = "perfpipe", version = env!("PERFPIPE_VERSION"), propagate_version = true, max_term_width = 110)]
#[command(after_help = "Examples:\n  \
    perfpipe ingest run.zip cpu.csv --report charts   zip in, PDF out\n  \
    perfpipe report --test 2048                       charts and league table of all frameworks\n  \
    perfpipe export go_2048                           the table per second as CSV\n\n\
    A RUN is named as `perfpipe list` prints it, go_2048 or go_2048#2, or by --framework go --test 2048 --repeat 2.\n\n\
    Exit codes: 0 success; 1 failure; 2 wrong usage; 3 invalid input, too many rejected records, or damage found by \
    verify; 4 a rule does not hold.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}

/// Parses a command line.
///
/// # Errors
/// If it is wrong, or asks for help.
pub(crate) fn parse(
    words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> clap::error::Result<Cli> {
    // Neither completions nor manual pages are to have flags that are always refused.
    let perfpipe = Cli::command().mut_subcommand("report", |report| report.arg(report::page_format()));
    Cli::from_arg_matches(&perfpipe.try_get_matches_from(words)?)
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read the JMeter logs and the CPU export of a run into the store
    Ingest(Box<IngestArgs>),
    /// Follow the logs of a running test, second by second, and store the run at its end
    Watch(Box<WatchArgs>),
    /// Make a run of the parts that several machines ingested
    Merge(MergeArgs),
    /// Show what an ingest would find, from a sample of the files
    Inspect(Box<InspectArgs>),
    /// Draw the pages of a test, and print its league table
    Report(Box<ReportArgs>),
    /// Write the figures of a run as CSV, JSON, Parquet or Markdown
    Export(Box<ExportArgs>),
    /// List a run's anomalies: saturation, stalls, failures, injectors out of step
    Diagnose(DiagnoseArgs),
    /// Check the runs of a test against rules; exit with 4 if one does not hold
    Check(Box<CheckArgs>),
    /// Show what changed from one run to another, and whether by more than chance
    Compare(Box<CompareArgs>),
    /// Show the figures of a test over versions, and where they change their level
    Trend(Box<TrendArgs>),
    /// Show the points of load tools by concurrency or workers: throughput, failures, latencies, knee
    Sweep(SweepArgs),
    /// List the stored runs
    List(ListArgs),
    /// Copy runs to another store, and verify the copies
    Copy(CopyArgs),
    /// Replace the CPU readings of a stored run
    AttachCpu(AttachArgs),
    /// Add series of the server, such as its memory, to a stored run
    AttachSeries(AttachSeriesArgs),
    /// Verify that stored runs are intact
    Verify(VerifyArgs),
    /// Repair damaged runs, and set aside those that can't be repaired
    Repair(RepairArgs),
    /// Rewrite a database of an older layout as the newest
    Migrate(MigrateArgs),
    /// Delete runs from the store
    Drop(DropArgs),
    /// Give a stored run another framework, test or repeat
    Rename(RenameArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Write the manual pages
    Man(ManArgs),
}

/// Returns how long a stopped command has for cleaning up: one that writes to a store may leave something there.
pub(crate) fn patience(command: &Command) -> Duration {
    match command {
        Command::Ingest(_)
        | Command::Watch(_)
        | Command::Merge(_)
        | Command::Copy(_)
        | Command::AttachCpu(_)
        | Command::AttachSeries(_)
        | Command::Repair(_)
        | Command::Migrate(_)
        | Command::Drop(_)
        | Command::Rename(_) => Duration::from_secs(10),
        _ => Duration::from_secs(1),
    }
}

/// Returns what a command does at the first signal, if it then ends of itself.
pub(crate) fn at_signal(command: &Command) -> Option<&'static str> {
    matches!(command, Command::Watch(_)).then_some("storing what was followed")
}

/// Runs the command of the command line.
pub(crate) async fn run(cli: Cli, progress: Progress) -> Result<()> {
    let Cli { command, store, .. } = cli;
    match command {
        Command::Ingest(args) => ingest::run(&args, &store, progress).await,
        Command::Watch(args) => watch::run(&args, &store, progress).await,
        Command::Merge(args) => merge::run(&args, &store, progress).await,
        Command::Inspect(args) => inspect::run(&args, &store).await,
        Command::Report(args) => report::run(&args, &store).await,
        Command::Export(args) => export::run(&args, &store).await,
        Command::Diagnose(args) => diagnose::run(&args, &store).await,
        Command::Check(args) => check::run(&args, &store).await,
        Command::Compare(args) => compare::run(&args, &store).await,
        Command::Trend(args) => trend::run(&args, &store).await,
        Command::Sweep(args) => sweep::run(&args, &store).await,
        Command::Copy(args) => copy::run(&args, &store).await,
        Command::AttachCpu(args) => attach_cpu::run(&args, &store).await,
        Command::AttachSeries(args) => attach_series::run(&args, &store).await,
        Command::List(args) => list::run(&args, &store).await,
        Command::Verify(args) => verify::run(&args, &store).await,
        Command::Repair(args) => repair::run(&args, &store).await,
        Command::Migrate(args) => migrate::run(&args, &store).await,
        Command::Drop(args) => drop::run(&args, &store).await,
        Command::Rename(args) => rename::run(&args, &store).await,
        Command::Completions(args) => completions::run(&args, &store, Cli::command()),
        Command::Man(args) => man::run(&args, &store, Cli::command()),
    }
}
