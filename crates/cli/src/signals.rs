//! Signals that stop the command, and how far its work had come by then.

use std::time::Duration;

use perfpipe_ingest::Progress;
use perfpipe_ingest::store::Stage;

use crate::output::print_message;

/// The error of a command that was stopped by a signal.
#[derive(Debug, thiserror::Error)]
#[error("stopped by {name}; {}{}", outcome(*stage, *done), before(*stored))]
pub(crate) struct Interrupted {
    name: &'static str,
    /// The usual exit code for the signal.
    pub(crate) code: u8,
    stage: Stage,
    /// The number of runs of a campaign that were stored.
    stored: usize,
    /// The number of runs that a campaign had to read; 0 for a single run.
    runs: usize,
    /// True if the command had finished its work.
    done: bool,
}

impl Interrupted {
    /// Says how an interrupted campaign goes on; `None` for other work.
    pub(crate) fn remedy(&self) -> Option<String> {
        let left = self.runs.saturating_sub(self.stored) as u64;
        let is_left = self.runs > 0 && left > 0 && !self.done;
        is_left.then(|| {
            let runs = if left == 1 { "the run that is" } else { "the runs that are" };
            format!("To go on, run the same command again: it reads {runs} not stored yet, and no other.")
        })
    }
}

/// Describes the runs that were stored before.
fn before(stored: usize) -> String {
    match stored {
        0 => String::new(),
        1 => "; 1 run was already stored".into(),
        stored => format!("; {stored} runs were already stored"),
    }
}

/// The time between two checks for the answer to a commit.
const BEAT: Duration = Duration::from_millis(20);

/// Describes what is known of the run that was being stored.
fn outcome(stage: Stage, done: bool) -> &'static str {
    match stage {
        Stage::Before if done => "its work was already done",
        Stage::Before => "nothing was stored of the work in progress",
        Stage::Asked => {
            "the server had not yet answered whether the run is stored (as a whole, or not at all): see \
             `perfpipe list`"
        }
        Stage::Stored => "the run was already stored",
    }
}

/// A signal, with its name and its usual exit code.
pub(crate) struct CaughtSignal {
    name: &'static str,
    code: u8,
}

/// Waits for a signal that stops the command. If the command ends of itself at the first one, `ending` says what it then
/// does, and the next signal stops it. While the server is committing, the first signal still waits for the
/// answer, since only that says whether the run is stored; a second signal does not wait.
pub(crate) async fn signalled(
    signals: &mut Signals,
    progress: &Progress,
    ending: Option<&str>,
) -> CaughtSignal {
    if let Some(ending) = ending {
        let heard = signals.next().await;
        print_message(&format!("{}: {ending}; interrupt again to store nothing", heard.name));
        progress.stop();
    }
    let mut heard = signals.next().await;
    if progress.stage() == Stage::Asked {
        print_message(&format!(
            "{}: the run is being committed; waiting for the server's answer; interrupt again to stop waiting",
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

impl CaughtSignal {
    /// Returns the error for a command that was stopped; `done` is true if all its work was finished.
    pub(crate) fn ended(self, progress: &Progress, done: bool) -> Interrupted {
        let Self { name, code } = self;
        let (stored, runs) = (progress.stored(), progress.runs());
        Interrupted { name, code, stage: progress.stage(), stored, runs, done }
    }
}

/// Waits until the server has answered all commits of a campaign. Never returns for a single run: the answer ends the
/// command.
async fn answered(progress: &Progress) {
    while progress.runs() == 0 || progress.stage() == Stage::Asked {
        tokio::time::sleep(BEAT).await;
    }
}

/// The signals that stop the command. They are recorded from the creation of this value on, so that none is lost while
/// nobody waits.
#[cfg(unix)]
pub(crate) struct Signals {
    int: tokio::signal::unix::Signal,
    term: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Starts to listen for SIGINT and SIGTERM.
    pub(crate) fn hear() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { int: signal(SignalKind::interrupt())?, term: signal(SignalKind::terminate())? })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> CaughtSignal {
        tokio::select! {
            Some(()) = self.int.recv() => CaughtSignal { name: "SIGINT", code: 130 },
            Some(()) = self.term.recv() => CaughtSignal { name: "SIGTERM", code: 143 },
            else => std::future::pending().await,
        }
    }
}

/// The signal that stops the command on systems that only have Ctrl-C.
#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn hear() -> std::io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) -> CaughtSignal {
        let _ = tokio::signal::ctrl_c().await;
        CaughtSignal { name: "Ctrl-C", code: 130 }
    }
}

/// Makes writing fail with an ordinary error, while the returned value lives, if a file exceeds the system's limit
/// (`ulimit -f`). Otherwise SIGXFSZ would kill the process, and leave a half-written run without a message.
#[cfg(unix)]
pub(crate) fn large_files_fail() -> Option<tokio::signal::unix::Signal> {
    use tokio::signal::unix::{SignalKind, signal};
    signal(SignalKind::from_raw(libc::SIGXFSZ)).ok()
}

/// Does nothing: other systems do not have this signal.
#[cfg(not(unix))]
pub(crate) fn large_files_fail() {}
