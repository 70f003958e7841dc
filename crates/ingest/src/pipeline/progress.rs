//! The progress of an ingest or of a campaign, for displaying or interrupting it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_store::sink::{CommitStage, Stage};

/// A handle to the progress of an ingest, a campaign or a verification. Clones share it, and only perfpipe counts.
///
/// ```
/// use perfpipe_ingest::{IngestOptions, Progress};
///
/// let progress = Progress::default();
/// let options = IngestOptions::default().with_progress(progress.clone());
/// // Ingest with these options; meanwhile, any thread may read:
/// assert_eq!((progress.packed_bytes(), progress.samples()), (0, 0));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    packed_bytes: Arc<AtomicU64>,
    samples: AtomicU64,
    stage: CommitStage,
    runs: Mutex<Runs>,
    stopping: AtomicBool,
    cancelled: AtomicBool,
}

/// The runs of a campaign.
#[derive(Debug, Default)]
struct Runs {
    due: usize,
    at_work: Vec<Progress>,
    ended: usize,
    stored: usize,
}

impl Progress {
    /// The number of bytes read from the input files, packed as they are on disk.
    pub fn packed_bytes(&self) -> u64 {
        self.sum(|counters| counters.packed_bytes.load(Ordering::Relaxed))
    }

    /// The number of samples parsed.
    pub fn samples(&self) -> u64 {
        self.sum(|counters| counters.samples.load(Ordering::Relaxed))
    }

    /// The number of runs that a campaign ingests; 0 outside any campaign.
    pub fn runs(&self) -> usize {
        self.lock().due
    }

    /// The number of runs of a campaign that have ended, stored or not.
    pub fn ended(&self) -> usize {
        self.lock().ended
    }

    /// The number of runs of a campaign that were stored.
    pub fn stored(&self) -> usize {
        self.lock().stored
    }

    /// The stage of the commit. In a campaign, `Asked` if any run at work waits for the store's answer, otherwise
    /// `Before` if any is not stored.
    pub fn stage(&self) -> Stage {
        let runs = self.lock();
        let is = |stage: Stage| runs.at_work.iter().any(|run| run.0.stage.get() == stage);
        match () {
            () if runs.at_work.is_empty() => self.0.stage.get(),
            () if is(Stage::Asked) => Stage::Asked,
            () if is(Stage::Stored) && !is(Stage::Before) => Stage::Stored,
            () => Stage::Before,
        }
    }

    /// Keeps a campaign from beginning further runs. Those at work go on.
    pub fn stop(&self) {
        self.0.stopping.store(true, Ordering::Release);
    }

    /// Returns true after [`Progress::stop`] was called.
    pub fn is_stopping(&self) -> bool {
        self.0.stopping.load(Ordering::Acquire)
    }

    /// Ends an ingest or a merge: it fails before it stores anything, unless it is being committed already. A campaign begins
    /// no further run, and those at work fail. This holds for all later work with this handle, too.
    ///
    /// It is what ends work on a thread that can't be ended otherwise: a future that is polled within
    /// `tokio::task::spawn_blocking` goes on when that task is aborted or dropped.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Release);
        self.stop();
        let at_work = self.lock().at_work.clone();
        at_work.iter().for_each(Self::cancel);
    }

    /// Fails after [`Progress::cancel`] was called.
    pub(crate) fn go_on(&self) -> Result<()> {
        match self.0.cancelled.load(Ordering::Acquire) {
            true => Err(Error::refused(
                ErrorKind::Cancelled,
                "it was cancelled; nothing was stored",
                "Begin again with a new Progress.",
            )),
            false => Ok(()),
        }
    }

    /// Begins a pass over the logs.
    pub(crate) fn begin(&self) {
        self.0.packed_bytes.store(0, Ordering::Relaxed);
        self.0.samples.store(0, Ordering::Relaxed);
        self.0.stage.set(Stage::Before);
    }

    /// The counter of packed bytes.
    pub(crate) fn packed(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.0.packed_bytes)
    }

    /// Adds parsed samples.
    pub(crate) fn add_samples(&self, samples: u64) {
        self.0.samples.fetch_add(samples, Ordering::Relaxed);
    }

    /// The commit stage of a single ingest.
    pub(crate) fn commit(&self) -> &CommitStage {
        &self.0.stage
    }

    /// Begins a campaign of `runs` runs to ingest.
    pub(crate) fn begin_campaign(&self, runs: usize) {
        self.begin();
        *self.lock() = Runs { due: runs, ..Runs::default() };
    }

    /// Begins a run of a campaign and returns its progress.
    pub(crate) fn begin_run(&self) -> Self {
        let run = Self::default();
        self.lock().at_work.push(run.clone());
        run
    }

    /// Ends a run of a campaign.
    pub(crate) fn end_run(&self, run: &Self, stored: bool) {
        let mut runs = self.lock();
        runs.at_work.retain(|other| !Arc::ptr_eq(&other.0, &run.0));
        self.0.packed_bytes.fetch_add(run.packed_bytes(), Ordering::Relaxed);
        self.add_samples(run.samples());
        runs.ended += 1;
        runs.stored += usize::from(stored);
    }

    /// Sums a counter over this progress and the runs at work.
    fn sum(&self, count: impl Fn(&Counters) -> u64) -> u64 {
        let runs = self.lock();
        runs.at_work.iter().map(|run| count(&run.0)).fold(count(&self.0), u64::saturating_add)
    }

    fn lock(&self) -> MutexGuard<'_, Runs> {
        self.0.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_of_the_store_counts_first() {
        let all = Progress::default();
        all.begin_campaign(2);
        assert_eq!(all.stage(), Stage::Before);
        let (one, two) = (all.begin_run(), all.begin_run());
        two.commit().set(Stage::Stored);
        assert_eq!(all.stage(), Stage::Before);
        one.commit().set(Stage::Asked);
        assert_eq!(all.stage(), Stage::Asked);
        one.add_samples(7);
        all.end_run(&one, true);
        assert_eq!(all.stage(), Stage::Stored);
        two.add_samples(5);
        assert_eq!((all.samples(), all.runs(), all.ended(), all.stored()), (12, 2, 1, 1));
    }

    #[test]
    fn single_ingest_has_a_stage_of_its_own() {
        let progress = Progress::default();
        progress.commit().set(Stage::Asked);
        assert_eq!((progress.stage(), progress.runs()), (Stage::Asked, 0));
        progress.begin();
        assert_eq!(progress.stage(), Stage::Before);
    }
}
