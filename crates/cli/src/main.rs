//! The perfpipe command: flags in, a plan of the libraries' work out, and an exit code.

// No input may reach a panic, so nothing is indexed that could be out of bounds.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod allocator;
mod args;
mod commands;
mod error;
mod input;
mod output;
mod signals;
mod work;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;
use perfpipe_ingest::CampaignProgress;

use crate::args::{Cli, Command};
use crate::commands::{
    attach_cpu, check, compare, copy, diagnose, export, ingest, inspect, list, report, verify,
};
use crate::work::Work;

/// Bytes of the stack of a thread that a command works on, as the system gives them to the first.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    allocator::keep_little();
    let cli = Cli::parse();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error::report(&error),
    }
}

fn run(cli: Cli) -> Result<()> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).thread_stack_size(STACK).enable_all().build()?;
    let result = runtime.block_on(attend(cli));
    // A task that still waits for a server must not keep the command from ending.
    runtime.shutdown_background();
    result
}

/// Lets the command work until it has done, or is to end.
async fn attend(cli: Cli) -> Result<()> {
    let _heard = signals::large_files_fail();
    let mut signals = signals::Signals::hear()?;
    let progress = Arc::<CampaignProgress>::default();
    let patience = patience(&cli.command);
    let of_command = Arc::clone(&progress);
    let mut work = Work::begin(move || command(cli, of_command));
    let heard = tokio::select! {
        result = work.end() => return result,
        heard = signals::signalled(&mut signals, &progress) => heard,
    };
    let done = work.stop(&mut signals, patience).await;
    Err(heard.ended(&progress, done).into())
}

/// How long a command that is stopped has to tidy up: one that writes to a store may leave something there.
fn patience(command: &Command) -> Duration {
    match command {
        Command::Ingest(_)
        | Command::Copy(_)
        | Command::AttachCpu(_)
        | Command::Repair(_)
        | Command::Drop(_) => Duration::from_secs(10),
        _ => Duration::from_secs(1),
    }
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
        Command::AttachCpu(args) => attach_cpu::run(&args, &store).await,
        Command::List(args) => list::run(&args, &store).await,
        Command::Verify(args) => verify::run(&args, &store).await,
        Command::Repair(args) => verify::repair(&args, &store).await,
        Command::Drop(key) => list::drop_run(&key, &store).await,
    }
}
