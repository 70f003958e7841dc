//! Errors on their way out: a sentence, a remedy, and an exit code.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use perfpipe_ingest::CampaignProgress;
use perfpipe_ingest::store::Stage;

use crate::commands::check::Broken;
use crate::commands::ingest::campaign::RunsFailed;
use crate::commands::verify::Damaged;
use crate::output::{note, sentence};

/// The exit code of wrong usage.
const USAGE: u8 = 2;
/// The exit code of input that is bad beyond the limits, and of stored runs that are damaged.
const BAD_INPUT: u8 = 3;
/// The exit code of a check that found a rule broken.
const CHECK: u8 = 4;

/// A signal that asked the command to end.
#[derive(Debug, thiserror::Error)]
#[error("stopped by {name}; {}{}", outcome(*stage, *done), before(*stored))]
pub(crate) struct Interrupted {
    name: &'static str,
    code: u8,
    stage: Stage,
    /// Runs of a campaign that were stored.
    stored: usize,
    /// Whether the command had done its work.
    done: bool,
}

/// What is known of other runs.
fn before(stored: usize) -> String {
    match stored {
        0 => String::new(),
        1 => "; 1 run had been stored before".into(),
        stored => format!("; {stored} runs had been stored before"),
    }
}

/// How often it is looked whether a commit has been answered.
const BEAT: Duration = Duration::from_millis(20);

/// What is known of a run when the command is stopped.
fn outcome(stage: Stage, done: bool) -> &'static str {
    match stage {
        Stage::Before if done => "what it was to do had been done before",
        Stage::Before => "nothing was stored of what was at work",
        Stage::Asked => {
            "the server had not yet said whether the run is stored (whole, or not at all): see `perfpipe list`"
        }
        Stage::Stored => "the run had been stored before",
    }
}

/// A signal, by its name and the exit code that is usual for it.
pub(crate) struct Heard {
    name: &'static str,
    code: u8,
}

/// Waits for a signal that ends the command. While the server is committing, one does not: only its answer tells
/// whether the run is stored. A second one does.
pub(crate) async fn signalled(signals: &mut Signals, progress: &CampaignProgress) -> Heard {
    let mut heard = signals.next().await;
    if progress.stage() == Stage::Asked {
        note(&format!(
            "{}: the run is being committed, and the server's answer is waited for; once more ends this",
            heard.name
        ));
        progress.stop();
        tokio::select! {
            again = signals.next() => heard = again,
            () = answered(progress) => {}
        }
    }
    heard
}

impl Heard {
    /// The error that the command was ended by this, and how far it had come: whether all of it was `done`.
    pub(crate) fn ended(self, progress: &CampaignProgress, done: bool) -> Interrupted {
        let Self { name, code } = self;
        Interrupted { name, code, stage: progress.stage(), stored: progress.now().stored, done }
    }
}

/// Waits until the server has answered all commits of a campaign. The answer to a single run's ends the command.
async fn answered(progress: &CampaignProgress) {
    while progress.now().runs == 0 || progress.stage() == Stage::Asked {
        tokio::time::sleep(BEAT).await;
    }
}

/// The signals that ask the command to end. They are heard from the making of this on: one that comes while nobody
/// waits is not lost.
#[cfg(unix)]
pub(crate) struct Signals {
    int: tokio::signal::unix::Signal,
    term: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Hears SIGINT and SIGTERM from now on.
    pub(crate) fn hear() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { int: signal(SignalKind::interrupt())?, term: signal(SignalKind::terminate())? })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) -> Heard {
        tokio::select! {
            Some(()) = self.int.recv() => Heard { name: "SIGINT", code: 130 },
            Some(()) = self.term.recv() => Heard { name: "SIGTERM", code: 143 },
            else => std::future::pending().await,
        }
    }
}

/// The signal that asks the command to end, where there is only Ctrl-C.
#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn hear() -> std::io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) -> Heard {
        let _ = tokio::signal::ctrl_c().await;
        Heard { name: "Ctrl-C", code: 130 }
    }
}

/// For as long as this lives, a file that grows beyond what the system allows (`ulimit -f`) gives an error like any
/// other, in the place of a death by SIGXFSZ that would leave a half-written run and no word.
#[cfg(unix)]
pub(crate) fn large_files_fail() -> Option<tokio::signal::unix::Signal> {
    use tokio::signal::unix::{SignalKind, signal};
    signal(SignalKind::from_raw(libc::SIGXFSZ)).ok()
}

/// Elsewhere there is no such signal.
#[cfg(not(unix))]
pub(crate) fn large_files_fail() {}

/// Says what went wrong and what to do about it, and gives the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if broken_pipe(error) {
        // Whoever read the output has seen enough.
        return ExitCode::SUCCESS;
    }
    tell("perfpipe", error.as_ref());
    ExitCode::from(code(error.as_ref()))
}

/// Says what went wrong, with `who` or what, and what to do about it.
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
    // There is nowhere left to complain to.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// An error and its causes.
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

/// The exit code of an error.
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
