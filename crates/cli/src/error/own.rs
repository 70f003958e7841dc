//! The errors of the command itself, and the causes of an error.

use std::error::Error;

/// What the command itself finds wrong: not the libraries.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub(crate) struct CliError {
    problem: String,
    pub(crate) remedy: String,
    pub(super) fault: Fault,
}

/// What is at fault in an error of the command itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The command line is wrong.
    Usage,
    /// The stored runs do not allow the command.
    Refused,
    /// There is no run to compare with.
    NoEarlierRun,
}

impl CliError {
    /// Arguments that contradict each other: what is wrong as a clause, the remedy as a sentence.
    pub(crate) fn usage(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into(), fault: Fault::Usage }
    }

    /// A command that the stored runs do not allow: the problem as a clause, the remedy as a sentence.
    pub(crate) fn refused(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into(), fault: Fault::Refused }
    }

    /// Returns true if there is no run to compare with.
    pub(crate) fn is_no_earlier_run(&self) -> bool {
        self.fault == Fault::NoEarlierRun
    }

    /// A check that has no run to compare with: the problem as a clause, the remedy as a sentence.
    pub(crate) fn no_earlier_run(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into(), fault: Fault::NoEarlierRun }
    }
}

/// The error on rules that do not hold.
#[derive(Debug, thiserror::Error)]
#[error("{broken} of {all} {} failed{}", plural(*all, "rule", "rules"), because(*unknown))]
pub(crate) struct Broken {
    pub(crate) broken: usize,
    pub(crate) all: usize,
    /// Those of the broken ones that the data can't tell.
    pub(crate) unknown: usize,
}

fn because(unknown: usize) -> String {
    match unknown {
        0 => String::new(),
        unknown => format!(", {unknown} of them since the data can't tell (--unknown fail)"),
    }
}

/// The error on a change for the worse, which `--fail-on worse` asks for.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ChangedForTheWorse(pub(crate) String);

/// The error on a rule that a test that still runs has broken for good.
#[derive(Debug, thiserror::Error)]
#[error("aborted at second {second}: {verdict}")]
pub(crate) struct BrokenForGood {
    /// The verdict as a sentence.
    pub(crate) verdict: String,
    pub(crate) second: u32,
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

/// Returns an error and its causes.
pub(super) fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| (*error).source())
}
