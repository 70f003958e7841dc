//! Reporting of errors: a sentence, a remedy, and an exit code.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use crate::output::sentence;
use crate::signals::Interrupted;

/// The exit code for wrong usage.
const USAGE: u8 = 2;
/// The exit code for invalid input, too many rejects, and damaged runs.
const BAD_INPUT: u8 = 3;
/// The exit code for a broken rule.
const CHECK: u8 = 4;

/// The error on rules that do not hold.
#[derive(Debug, thiserror::Error)]
#[error("{broken} of {all} {} {} not hold", plural(*all, "rule", "rules"), plural(*broken, "does", "do"))]
pub(crate) struct Broken {
    pub(crate) broken: usize,
    pub(crate) all: usize,
}

fn plural(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// The error on damaged runs.
#[derive(Debug, thiserror::Error)]
#[error("{found} of {all} runs and files {} damaged: see `perfpipe repair --dry-run`", if *found == 1 { "is" } else { "are" })]
pub(crate) struct Damaged {
    pub(crate) found: usize,
    pub(crate) all: usize,
}

/// The error on runs of a campaign that failed; the others are stored.
#[derive(Debug, thiserror::Error)]
#[error("{failed} of {all} runs failed, and nothing of them was stored")]
pub(crate) struct RunsFailed {
    pub(crate) failed: usize,
    pub(crate) all: usize,
    /// The largest exit code of the failed runs.
    pub(crate) code: u8,
}

/// Prints an error with its remedy, and returns the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if broken_pipe(error) {
        // The reader of the output closed it, which is not a failure.
        return ExitCode::SUCCESS;
    }
    tell("perfpipe", error.as_ref());
    ExitCode::from(code(error.as_ref()))
}

/// Prints an error with its remedy; `who` comes before the message.
pub(crate) fn tell(who: &str, error: &(dyn Error + 'static)) {
    let mut text = format!("{who}: {}\n", sentence(&error.to_string()));
    for cause in chain(error).skip(1) {
        let cause = sentence(&cause.to_string());
        if !text.contains(&cause) {
            text.push_str(&format!("  because: {cause}\n"));
        }
    }
    if let Some(remedy) = remedy(error) {
        text.push_str(&format!("  {}\n", sentence(&remedy)));
    }
    // If standard error can't be written, nothing is left to report to.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Returns an error and its causes.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| (*error).source())
}

fn broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

fn remedy(error: &(dyn Error + 'static)) -> Option<String> {
    chain(error).find_map(|cause| {
        let ingest =
            cause.downcast_ref::<perfpipe_ingest::Error>().and_then(|e| e.remedy()).map(str::to_owned);
        ingest.or_else(|| cause.downcast_ref::<perfpipe_analyze::Error>().and_then(|e| e.remedy()))
    })
}

/// Returns the exit code of an error.
pub(crate) fn code(error: &(dyn Error + 'static)) -> u8 {
    use perfpipe_analyze::Error as Analyze;
    use perfpipe_ingest::Error as Ingest;
    let of_cause = |cause: &(dyn std::error::Error + 'static)| {
        if let Some(interrupted) = cause.downcast_ref::<Interrupted>() {
            return Some(interrupted.code);
        }
        if cause.is::<Broken>() {
            return Some(CHECK);
        }
        if cause.is::<Damaged>() {
            return Some(BAD_INPUT);
        }
        if let Some(failed) = cause.downcast_ref::<RunsFailed>() {
            return Some(failed.code);
        }
        match cause.downcast_ref::<Ingest>() {
            Some(Ingest::Usage { .. }) => return Some(USAGE),
            Some(Ingest::Input { .. } | Ingest::Rejects { .. }) => return Some(BAD_INPUT),
            _ => {}
        }
        match cause.downcast_ref::<Analyze>() {
            Some(
                Analyze::Percentile { .. }
                | Analyze::Time { .. }
                | Analyze::Interval { .. }
                | Analyze::Window { .. }
                | Analyze::NoPhase { .. }
                | Analyze::NoLoad { .. }
                | Analyze::UnknownLabel { .. }
                | Analyze::TransactionLabel { .. }
                | Analyze::UnknownColumn { .. }
                | Analyze::Rule { .. }
                | Analyze::NoBaseline { .. },
            ) => Some(USAGE),
            _ => None,
        }
    };
    chain(error).find_map(of_cause).unwrap_or(1)
}
