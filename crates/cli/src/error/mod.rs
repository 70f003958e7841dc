//! Reporting of errors: a sentence, a remedy, and an exit code.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use crate::output::sentence;

mod exit_code;
mod own;
mod remedy;

pub(crate) use self::exit_code::code;
use self::exit_code::name;
use self::own::chain;
pub(crate) use self::own::{Broken, BrokenForGood, ChangedForTheWorse, CliError, Damaged, RunsFailed};
pub(crate) use self::remedy::{of_ingest, with_flags};

/// Prints an error with its remedy, and returns the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if broken_pipe(error) {
        // The reader of the output closed it, which is not a failure.
        return ExitCode::SUCCESS;
    }
    print_error("perfpipe", error.as_ref());
    ExitCode::from(code(error.as_ref()))
}

/// Prints an error with its code and its remedy; `who` comes before them.
pub(crate) fn print_error(who: &str, error: &(dyn Error + 'static)) {
    let code = name(error).map(|name| format!("[{name}] ")).unwrap_or_default();
    let mut text = format!("{who}: {code}{}\n", sentence(&error.to_string()));
    for cause in chain(error).skip(1) {
        let cause = sentence(&cause.to_string());
        if !text.contains(&cause) {
            text.push_str(&format!("  because: {cause}\n"));
        }
    }
    if let Some(remedy) = chain(error).find_map(remedy::of).or_else(|| remedy::of_system(error)) {
        text.push_str(&format!("  {}\n", sentence(&remedy)));
    }
    // If standard error can't be written, nothing is left to report to.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
