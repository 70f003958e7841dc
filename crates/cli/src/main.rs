//! The perfpipe command: parses flags, runs the libraries, and returns an exit code.
//!
//! ```text
//! words ─▶ args ─▶ commands ─┬─▶ perfpipe-ingest  (into a store, and out of it)
//!                            ├─▶ perfpipe-analyze (tables)
//!                            └─▶ perfpipe-plot    (pages)
//! tables ─▶ standard output or a file; notes, progress and errors ─▶ standard error
//! ```
//!
//! Each command is a file or a folder of `commands`, with its flags beside it. What several commands read is in
//! `input`, what they write in `output`, the server of pages in `serve`, and the flags they share in `args`. `error` turns
//! the libraries' errors into a sentence, a remedy that names flags, and an exit code.
//!
//! # Memory
//!
//! The command itself keeps next to nothing, and what the libraries need does not grow with a log. The allocator is set
//! to give back what is not used.
//!
//! # Threads and blocking
//!
//! The main thread waits for the command, for signals and for what the command asks of a server. The command runs on a
//! thread of its own, where it may block: a signal is handled whatever it waits for. A command that is stopped has time to
//! undo what it began.
//!
//! # Example
//!
//! ```console
//! $ perfpipe ingest fixtures/Results-2048-9000.csv.zip
//! $ perfpipe report --test 2048
//! ```

// No input may reach a panic, so nothing is indexed that could be out of bounds.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod allocator;
mod args;
mod commands;
mod error;
mod input;
mod output;
mod serve;
mod signals;
mod work;

use std::process::ExitCode;

use anyhow::Result;
use perfpipe_analyze::format::one_line;
use perfpipe_ingest::Progress;

use crate::commands::{Cli, at_signal, is_endless, patience};
use crate::work::Work;

/// The stack size, in bytes, of the thread on which a command runs; that of the main thread on Linux.
const STACK: usize = 8 << 20;

/// Parses the command line, runs the command, and returns the exit code.
fn main() -> ExitCode {
    allocator::keep_little();
    let cli = commands::parse(std::env::args_os()).unwrap_or_else(|error| refuse(&error));
    output::terminal::set(cli.terminal);
    if cli.terminal.quiet {
        output::be_quiet();
    }
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error::report(&error),
    }
}

/// Prints why the command line is refused, or the help that was asked for, and exits. What could turn the direction of
/// writing, or control the terminal, is escaped.
fn refuse(error: &clap::Error) -> ! {
    let text = error.render().to_string();
    let safe: Vec<String> = text.lines().map(one_line).collect();
    if text.lines().ne(safe.iter().map(String::as_str)) {
        output::print_message(&safe.join("\n"));
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// Runs the command on a runtime of its own.
fn run(cli: Cli) -> Result<()> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.thread_stack_size(STACK).enable_all().build()?;
    let result = runtime.block_on(attend(cli));
    // A task that still waits for a server must not keep the process from ending.
    runtime.shutdown_background();
    result
}

/// Runs the command until it ends or is stopped by a signal.
async fn attend(cli: Cli) -> Result<()> {
    let _heard = signals::large_files_fail();
    let mut signals = signals::Signals::hear()?;
    let progress = Progress::default();
    let (patience, ending) = (patience(&cli.command), at_signal(&cli.command));
    let is_endless = is_endless(&cli.command);
    let of_command = progress.clone();
    let mut work = Work::begin(move || commands::run(cli, of_command));
    let heard = tokio::select! {
        result = work.end() => return result,
        heard = signals::signalled(&mut signals, &progress, ending) => heard,
    };
    let done = work.stop(&mut signals, patience).await;
    if is_endless {
        return Ok(());
    }
    Err(heard.ended(&progress, done).into())
}
