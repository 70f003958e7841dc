//! The commands, a file each, with their flags.

mod attach_cpu;
mod check;
mod compare;
mod copy;
mod diagnose;
mod drop;
mod export;
mod ingest;
mod inspect;
mod list;
mod repair;
mod report;
mod verify;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, Subcommand};
use perfpipe_ingest::CampaignProgress;

use self::attach_cpu::AttachArgs;
use self::check::CheckArgs;
use self::compare::CompareArgs;
use self::copy::CopyArgs;
use self::diagnose::DiagnoseArgs;
use self::drop::DropArgs;
use self::export::ExportArgs;
use self::ingest::IngestArgs;
use self::inspect::InspectArgs;
use self::list::ListArgs;
use self::repair::RepairArgs;
use self::report::ReportArgs;
use self::verify::VerifyArgs;
use crate::args::StoreArgs;

/// From a zipped JMeter log and a CPU export to exact statistics and printed charts.
#[derive(Debug, Parser)]
#[command(name = "perfpipe", version, propagate_version = true, max_term_width = 110)]
#[command(after_help = "Examples:\n  \
    perfpipe ingest run.zip cpu.csv --report charts   zip in, PDF out\n  \
    perfpipe report --test 2048                       charts and league table of all frameworks\n  \
    perfpipe export --framework go --test 2048        the per-second table as CSV\n\n\
    Exit codes: 0 done; 1 failed; 2 wrong usage; 3 the input is bad beyond the limits, or verify found damage; \
    4 a rule does not hold.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read the JMeter logs and the CPU export of one run into the store
    Ingest(Box<IngestArgs>),
    /// Say what an ingest of these files would find, after a look at the beginning of each
    Inspect(InspectArgs),
    /// Draw the pages of a test, and print its league table
    Report(ReportArgs),
    /// Write the figures of a run as CSV, JSON, Parquet or Markdown
    Export(ExportArgs),
    /// Say what stands out in a run: saturation, stalls, failures, injectors out of step
    Diagnose(DiagnoseArgs),
    /// Judge the runs of a test by rules, and fail where one does not hold
    Check(CheckArgs),
    /// Say what changed from one run to another, and whether more than by chance
    Compare(CompareArgs),
    /// List the runs that are stored
    List(ListArgs),
    /// Copy runs to another store, and prove that they are the same there
    Copy(CopyArgs),
    /// Give a stored run another CPU export
    AttachCpu(AttachArgs),
    /// Read everything that is stored, and say what is wrong with which run
    Verify(VerifyArgs),
    /// Put damaged runs right where that can be done, and set aside the others
    Repair(RepairArgs),
    /// Take one run out of the store
    Drop(DropArgs),
}

/// How long a command that is stopped has to tidy up: one that writes to a store may leave something there.
pub(crate) fn patience(command: &Command) -> Duration {
    match command {
        Command::Ingest(_)
        | Command::Copy(_)
        | Command::AttachCpu(_)
        | Command::Repair(_)
        | Command::Drop(_) => Duration::from_secs(10),
        _ => Duration::from_secs(1),
    }
}

/// Does what the command line asks for.
pub(crate) async fn run(cli: Cli, progress: Arc<CampaignProgress>) -> Result<()> {
    let Cli { command, store } = cli;
    match command {
        Command::Ingest(args) => ingest::run(&args, &store, progress).await,
        Command::Inspect(args) => inspect::run(&args).await,
        Command::Report(args) => report::run(&args, &store).await,
        Command::Export(args) => export::run(&args, &store).await,
        Command::Diagnose(args) => diagnose::run(&args, &store).await,
        Command::Check(args) => check::run(&args, &store).await,
        Command::Compare(args) => compare::run(&args, &store).await,
        Command::Copy(args) => copy::run(&args, &store).await,
        Command::AttachCpu(args) => attach_cpu::run(&args, &store).await,
        Command::List(args) => list::run(&args, &store).await,
        Command::Verify(args) => verify::run(&args, &store).await,
        Command::Repair(args) => repair::run(&args, &store).await,
        Command::Drop(args) => drop::run(&args, &store).await,
    }
}
