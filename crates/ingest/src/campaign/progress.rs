//! The progress of a campaign, and its commit stage for signal handlers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::pipeline::Progress;
use crate::pipeline::stage::Stage;

/// The progress of runs that are ingested in parallel, shared with whoever displays or stops them.
#[derive(Debug, Default)]
pub struct CampaignProgress {
    runs: Mutex<Runs>,
    stopping: AtomicBool,
}

#[derive(Debug, Default)]
struct Runs {
    at_work: Vec<Arc<Progress>>,
    ended: CampaignState,
}

/// The progress of a campaign at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CampaignState {
    /// The number of bytes read from the input files, packed as they are on disk.
    pub packed_bytes: u64,
    /// The number of samples parsed.
    pub samples: u64,
    /// The number of runs to ingest; 0 for the ingest of a run outside any campaign.
    pub runs: usize,
    /// The number of runs that have ended, stored or not.
    pub ended: usize,
    /// The number of runs that were stored.
    pub stored: usize,
}

impl CampaignState {
    fn add(&mut self, progress: &Progress) {
        self.packed_bytes += progress.packed_bytes.load(Ordering::Relaxed);
        self.samples += progress.samples.load(Ordering::Relaxed);
    }
}

impl CampaignProgress {
    /// Begins a campaign of `runs` runs to ingest.
    pub fn start(&self, runs: usize) {
        self.runs().ended.runs = runs;
    }

    /// Begins a run and returns its progress.
    pub fn begin(&self) -> Arc<Progress> {
        let progress = Arc::<Progress>::default();
        self.runs().at_work.push(Arc::clone(&progress));
        progress
    }

    /// Ends a run.
    pub fn end(&self, progress: &Arc<Progress>, stored: bool) {
        let mut runs = self.runs();
        runs.at_work.retain(|other| !Arc::ptr_eq(other, progress));
        runs.ended.add(progress);
        runs.ended.ended += 1;
        runs.ended.stored += usize::from(stored);
    }

    /// Returns the current progress.
    pub fn now(&self) -> CampaignState {
        let runs = self.runs();
        let mut now = runs.ended;
        runs.at_work.iter().for_each(|progress| now.add(progress));
        now
    }

    /// The commit stage of the runs in progress. `Asked` if any of them waits for the store's answer, otherwise
    /// `Before` if any of them is not stored.
    pub fn stage(&self) -> Stage {
        let runs = self.runs();
        let is = |stage: Stage| runs.at_work.iter().any(|progress| progress.commit.get() == stage);
        match () {
            () if is(Stage::Asked) => Stage::Asked,
            () if is(Stage::Stored) && !is(Stage::Before) => Stage::Stored,
            () => Stage::Before,
        }
    }

    /// Prevents further runs from beginning.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    /// Returns true after [`CampaignProgress::stop`] was called.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_of_the_store_counts_first() {
        let all = CampaignProgress::default();
        assert_eq!(all.stage(), Stage::Before);
        let (one, two) = (all.begin(), all.begin());
        two.commit.set(Stage::Stored);
        assert_eq!(all.stage(), Stage::Before);
        one.commit.set(Stage::Asked);
        assert_eq!(all.stage(), Stage::Asked);
        one.samples.store(7, Ordering::Relaxed);
        all.end(&one, true);
        assert_eq!(all.stage(), Stage::Stored);
        two.samples.store(5, Ordering::Relaxed);
        assert_eq!(all.now(), CampaignState { samples: 12, ended: 1, stored: 1, ..CampaignState::default() });
    }
}
