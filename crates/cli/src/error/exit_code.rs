//! The exit codes of errors.

use std::error::Error;

use super::causes::chain;
use super::own::{Broken, BrokenForGood, CliError, Damaged, RunsFailed};
use crate::signals::Interrupted;

/// The exit code for wrong usage.
const USAGE: u8 = 2;
/// The exit code for invalid input, too many rejects, and damaged runs.
const BAD_INPUT: u8 = 3;
/// The exit code for a broken rule.
const CHECK: u8 = 4;

/// Returns the exit code of an error.
pub(crate) fn code(error: &(dyn Error + 'static)) -> u8 {
    use perfpipe_analyze::Error as Analyze;
    use perfpipe_ingest::Error as Ingest;
    let of_cause = |cause: &(dyn Error + 'static)| {
        if let Some(interrupted) = cause.downcast_ref::<Interrupted>() {
            return Some(interrupted.code);
        }
        if cause.downcast_ref::<CliError>().is_some_and(|error| error.usage) {
            return Some(USAGE);
        }
        if cause.is::<Broken>() || cause.is::<BrokenForGood>() {
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
            Some(
                Ingest::Input { .. }
                | Ingest::Rejects { .. }
                | Ingest::Origin { .. }
                | Ingest::TimeUnit { .. },
            ) => return Some(BAD_INPUT),
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
                | Analyze::SharedLabel { .. }
                | Analyze::TransactionLabel { .. }
                | Analyze::MixedTests { .. }
                | Analyze::UnknownColumn { .. }
                | Analyze::Rule { .. }
                | Analyze::NoBaseline { .. },
            ) => Some(USAGE),
            _ => None,
        }
    };
    chain(error).find_map(of_cause).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfpipe_analyze::Error as Analyze;

    #[test]
    fn a_choice_that_the_runs_do_not_have_is_wrong_usage() {
        let run = || "go_2048".to_owned();
        for error in [
            Analyze::UnknownLabel { run: run(), label: "Get".into(), near: Vec::new() },
            Analyze::SharedLabel { run: run(), label: "Get".into() },
            Analyze::TransactionLabel { run: run(), label: "Page".into() },
            Analyze::MixedTests { one: "2048".into(), other: "512".into() },
        ] {
            assert_eq!(code(&error), USAGE, "{error}");
        }
    }
}
