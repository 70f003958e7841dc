//! The running command, on a thread of its own, so that signals are handled whatever it waits for.

use std::time::Duration;

use anyhow::Result;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};

use crate::output::{print_message, unfinished};
use crate::signals::Signals;

/// Time that a stopped command has to clean up before a message is printed.
const SILENCE: Duration = Duration::from_secs(1);

/// The number of looks in that time at whether somebody reads what the command writes.
const LOOKS: u32 = 10;

/// A running command.
pub(crate) struct Work {
    ended: JoinHandle<Option<Result<()>>>,
    stop: oneshot::Sender<()>,
}

impl Work {
    /// Starts the command.
    pub(crate) fn begin<W, F>(work: W) -> Self
    where
        W: FnOnce() -> F + Send + 'static,
        F: Future<Output = Result<()>>,
    {
        let (stop, stopped) = oneshot::channel();
        let runtime = Handle::current();
        let at_work = move || {
            runtime.block_on(async {
                tokio::select! {
                    biased;
                    result = work() => Some(result),
                    _ = stopped => None,
                }
            })
        };
        Self { ended: spawn_blocking(at_work), stop }
    }

    /// Waits for the end of the command.
    pub(crate) async fn end(&mut self) -> Result<()> {
        // Without a stop, there is always a result.
        result(&mut self.ended).await.unwrap_or(Ok(()))
    }

    /// Stops the command, which undoes what it began, as after an error. If that takes longer than `patience`, or until
    /// a second signal, or if all that is left is to write to a pipe that nobody reads, everything is left as by a kill,
    /// except that unfinished files are removed. Returns true if the command had finished its work.
    pub(crate) async fn stop(mut self, signals: &mut Signals, patience: Duration) -> bool {
        unfinished::stop();
        let _ = self.stop.send(());
        let result = tokio::select! {
            result = result(&mut self.ended) => result,
            _ = signals.next() => None,
            () = wait(patience) => None,
            () = nobody_reads() => None,
        };
        unfinished::remove_all();
        matches!(result, Some(Ok(())))
    }
}

/// Returns the result of the command; `None` if it was stopped.
async fn result(ended: &mut JoinHandle<Option<Result<()>>>) -> Option<Result<()>> {
    match ended.await.map_err(JoinError::try_into_panic) {
        Ok(result) => result,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(_)) => None,
    }
}

/// Waits for this long, and prints how to end it sooner.
async fn wait(patience: Duration) {
    tokio::time::sleep(SILENCE.min(patience)).await;
    if patience > SILENCE {
        print_message("undoing what was begun; interrupt again to stop at once");
        tokio::time::sleep(patience - SILENCE).await;
    }
}

/// Waits until the command has waited for the reader of a pipe at each look: it undoes nothing then.
async fn nobody_reads() {
    let mut looks = 0;
    while looks < LOOKS {
        tokio::time::sleep(SILENCE / LOOKS).await;
        looks = if unfinished::waits_for_reader() { looks + 1 } else { 0 };
    }
}
