//! The command at work on a thread of its own: whatever it waits for there, signals are heard.

use std::time::Duration;

use anyhow::Result;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};

use crate::output::{note, unfinished};
use crate::signals::Signals;

/// How long it is waited without a word until a command that is stopped has tidied up.
const SILENCE: Duration = Duration::from_secs(1);

/// A command at work.
pub(crate) struct Work {
    ended: JoinHandle<Option<Result<()>>>,
    stop: oneshot::Sender<()>,
}

impl Work {
    /// Begins it.
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

    /// Waits for its end.
    pub(crate) async fn end(&mut self) -> Result<()> {
        // Nobody has stopped it: it has a result.
        result(&mut self.ended).await.unwrap_or(Ok(()))
    }

    /// Stops it: what it began is undone, as after an error. What does not end in time, or until a second signal, is left
    /// as a kill would leave it, but for files without a name. Whether it had done its work.
    pub(crate) async fn stop(mut self, signals: &mut Signals, patience: Duration) -> bool {
        unfinished::stop();
        let _ = self.stop.send(());
        let result = tokio::select! {
            result = result(&mut self.ended) => result,
            _ = signals.next() => None,
            () = pass(patience) => None,
        };
        unfinished::remove_all();
        matches!(result, Some(Ok(())))
    }
}

/// What came of it; `None` where it was stopped.
async fn result(ended: &mut JoinHandle<Option<Result<()>>>) -> Option<Result<()>> {
    match ended.await.map_err(JoinError::try_into_panic) {
        Ok(result) => result,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(_)) => None,
    }
}

/// Waits so long, and says how it ends sooner.
async fn pass(patience: Duration) {
    tokio::time::sleep(SILENCE.min(patience)).await;
    if patience > SILENCE {
        note("what was begun is being undone; once more ends this");
        tokio::time::sleep(patience - SILENCE).await;
    }
}
