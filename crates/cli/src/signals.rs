//! Signals that ask the command to end, and what had come of its work by then.

use std::time::Duration;

use perfpipe_ingest::CampaignProgress;
use perfpipe_ingest::store::Stage;

use crate::output::note;

/// A signal that asked the command to end.
#[derive(Debug, thiserror::Error)]
#[error("stopped by {name}; {}{}", outcome(*stage, *done), before(*stored))]
pub(crate) struct Interrupted {
    name: &'static str,
    /// The exit code that is usual for it.
    pub(crate) code: u8,
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
