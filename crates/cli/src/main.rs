//! The perfpipe command: flags in, a plan of the libraries' work out, and an exit code.

// No input may reach a panic, so nothing is indexed that could be out of bounds.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod annotations;
mod args;
mod campaign;
mod check;
mod choose;
mod compare;
mod copy;
mod diagnose;
mod export;
mod failure;
mod frameworks;
mod ingest;
mod inspect;
mod junit;
mod left_out;
mod list;
mod output;
mod progress;
mod report;
mod samples;
mod span;
mod store;
mod verify;
mod view;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use clap::Parser;
use perfpipe_ingest::CampaignProgress;

use args::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}

fn run(cli: Cli) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let result = runtime.block_on(async {
        let _heard = failure::large_files_fail();
        let signals = failure::Signals::hear()?;
        let progress = Arc::<CampaignProgress>::default();
        tokio::select! {
            result = command(cli, Arc::clone(&progress)) => result,
            signal = failure::interrupted(signals, &progress) => Err(signal.into()),
        }
    });
    // A task that still waits for a server must not keep the command from ending.
    runtime.shutdown_background();
    result
}

async fn command(cli: Cli, progress: Arc<CampaignProgress>) -> Result<()> {
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
        Command::AttachCpu(args) => copy::attach(&args, &store).await,
        Command::List(args) => list::run(&args, &store).await,
        Command::Verify(args) => verify::run(&args, &store).await,
        Command::Repair(args) => verify::repair(&args, &store).await,
        Command::Drop(key) => list::drop_run(&key, &store).await,
    }
}
