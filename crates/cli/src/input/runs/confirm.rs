//! Confirmation before a command changes more than one run.

use std::io::{BufRead, IsTerminal, Write, stderr, stdin};

use anyhow::Result;
use perfpipe_analyze::format::counted;
use perfpipe_ingest::Store;

use crate::args::ConfirmArgs;
use crate::error::CliError;
use crate::output::print_message;

/// What a command does to runs, as in *drop* and *dropped*.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deed(pub(crate) &'static str, pub(crate) &'static str);

/// Asks on the terminal whether these runs or points are to be changed, unless that is confirmed on the command line.
///
/// # Errors
/// If there is no terminal to ask on.
pub(crate) async fn is_confirmed(
    Deed(verb, done): Deed,
    names: &[String],
    what: &str,
    args: &ConfirmArgs,
    store: &Store,
) -> Result<bool> {
    if args.yes {
        return Ok(true);
    }
    let all = counted(names.len() as u64, what);
    if !stdin().is_terminal() || !stderr().is_terminal() {
        let problem = format!("{all} would be {done}: {}", names.join(", "));
        let remedy = match what {
            "run" => "Give --yes if that is meant, or name one run with its number, as in go_2048#1.",
            _ => "Give --yes if that is meant.",
        };
        return Err(CliError::usage(problem, remedy).into());
    }
    print_message(&names.join(", "));
    // The question has no end of line.
    let _ = write!(stderr(), "{verb} {all} in {store}? [y/N] ");
    // On a thread of its own, so that a signal ends the command while it waits for the answer.
    let answer = tokio::task::spawn_blocking(|| {
        let mut answer = String::new();
        stdin().lock().read_line(&mut answer).map(|_| answer)
    });
    Ok(matches!(answer.await??.trim().to_lowercase().as_str(), "y" | "yes"))
}
