//! The exit codes of errors, and the names of their kinds, which programs read.

use std::error::Error;

use super::own::{Broken, BrokenForGood, ChangedForTheWorse, CliError, Damaged, Fault, RunsFailed, chain};
use crate::signals::Interrupted;

/// The exit code for wrong usage.
const USAGE: u8 = 2;
/// The exit code for invalid input, too many rejects, damaged runs, and a check without a run to compare with.
const BAD_INPUT: u8 = 3;
/// The exit code for a broken rule, and for a change for the worse.
const CHECK: u8 = 4;

/// Returns the exit code of an error.
pub(crate) fn code(error: &(dyn Error + 'static)) -> u8 {
    use perfpipe_analyze::Error as Analyze;
    use perfpipe_ingest::{Error as Ingest, ErrorClass};
    let of_cause = |cause: &(dyn Error + 'static)| {
        if let Some(interrupted) = cause.downcast_ref::<Interrupted>() {
            return Some(interrupted.code);
        }
        match cause.downcast_ref::<CliError>().map(|error| error.fault) {
            Some(Fault::Usage) => return Some(USAGE),
            Some(Fault::NoEarlierRun) => return Some(BAD_INPUT),
            Some(Fault::Refused) | None => {}
        }
        if cause.is::<Broken>() || cause.is::<BrokenForGood>() || cause.is::<ChangedForTheWorse>() {
            return Some(CHECK);
        }
        if cause.is::<Damaged>() {
            return Some(BAD_INPUT);
        }
        if let Some(failed) = cause.downcast_ref::<RunsFailed>() {
            return Some(failed.code);
        }
        match cause.downcast_ref::<Ingest>().map(Ingest::class) {
            Some(ErrorClass::Usage) => return Some(USAGE),
            Some(ErrorClass::Input) => return Some(BAD_INPUT),
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
            Some(Analyze::FewRepeats { .. } | Analyze::UnfitPair(_)) => Some(BAD_INPUT),
            _ => None,
        }
    };
    chain(error).find_map(of_cause).unwrap_or(1)
}

/// Returns the name of what an error is about, which never changes; `None` if it has none.
pub(super) fn name(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let of_cause = |cause: &(dyn Error + 'static)| {
        if let Some(error) = cause.downcast_ref::<CliError>() {
            return Some(match error.fault {
                Fault::Usage => "usage",
                Fault::Refused => "refused",
                Fault::NoEarlierRun => "no-earlier-run",
            });
        }
        if cause.is::<ChangedForTheWorse>() {
            return Some("worse");
        }
        if cause.is::<Broken>() || cause.is::<BrokenForGood>() {
            return Some("rule-failed");
        }
        if cause.is::<Damaged>() {
            return Some("damaged");
        }
        if cause.is::<RunsFailed>() {
            return Some("runs-failed");
        }
        if cause.is::<Interrupted>() {
            return Some("stopped");
        }
        let of_ingest = cause.downcast_ref::<perfpipe_ingest::Error>().map(perfpipe_ingest::Error::code);
        let of_analyze =
            || cause.downcast_ref::<perfpipe_analyze::Error>().map(perfpipe_analyze::Error::code);
        let of_plot = || cause.downcast_ref::<perfpipe_plot::Error>().map(perfpipe_plot::Error::code);
        of_ingest.or_else(of_analyze).or_else(of_plot)
    };
    let of_system = || chain(error).any(|cause| cause.is::<std::io::Error>()).then_some("io");
    chain(error).find_map(of_cause).or_else(of_system)
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
