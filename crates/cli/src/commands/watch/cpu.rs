//! Keeps the CPU readings of a running test up to date while it is shown.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use perfpipe_ingest::watch::{Watch, WatchedCpu};
use tokio::task::JoinHandle;

/// The time between two looks at the readings.
const REST: Duration = Duration::from_secs(3);

/// The rest after a look, as a multiple of the time that it took.
const SHARE: u32 = 9;

/// The CPU readings of a running test.
pub(super) struct WatchedReadings {
    task: JoinHandle<()>,
    trouble: Arc<Mutex<Option<String>>>,
    /// The trouble that was reported last.
    reported: Option<String>,
}

impl WatchedReadings {
    /// Begins to look at them now and then; `None` if there are none to look at.
    pub(super) fn begin(watch: &Watch) -> Option<Self> {
        let trouble = Arc::default();
        let task = tokio::spawn(keep_up(watch.cpu()?, Arc::clone(&trouble)));
        Some(Self { task, trouble, reported: None })
    }

    /// Why they can't be read at present.
    pub(super) fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why they can't be read, if that was not reported yet.
    pub(super) fn new_trouble(&mut self) -> Option<String> {
        let now = self.trouble().filter(|trouble| self.reported.as_ref() != Some(trouble))?;
        self.reported = Some(now.clone());
        Some(now)
    }
}

impl Drop for WatchedReadings {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn keep_up(mut cpu: WatchedCpu, trouble: Arc<Mutex<Option<String>>>) {
    loop {
        let begun = Instant::now();
        let found = cpu.refresh().await.err().map(|error| error.to_string());
        *trouble.lock().unwrap_or_else(PoisonError::into_inner) = found;
        tokio::time::sleep((begun.elapsed() * SHARE).max(REST)).await;
    }
}
