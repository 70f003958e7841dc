//! How far a campaign has come, and what a signal must know of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::pipeline::Progress;
use crate::pipeline::stage::Stage;

/// How far the runs have come that are ingested side by side; shared with whoever shows it, or stops them.
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

/// A campaign at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CampaignState {
    /// Bytes read from the input files, as they are on disk.
    pub packed_bytes: u64,
    /// Samples parsed.
    pub samples: u64,
    /// Runs of the campaign that are to be read; none where a run is ingested that is of no campaign.
    pub runs: usize,
    /// Runs that have ended, stored or not.
    pub ended: usize,
    /// Runs that were stored.
    pub stored: usize,
}

impl CampaignState {
    fn add(&mut self, progress: &Progress) {
        self.packed_bytes += progress.packed_bytes.load(Ordering::Relaxed);
        self.samples += progress.samples.load(Ordering::Relaxed);
    }
}

impl CampaignProgress {
    /// A campaign of so many runs begins.
    pub fn start(&self, runs: usize) {
        self.runs().ended.runs = runs;
    }

    /// A run begins.
    pub fn begin(&self) -> Arc<Progress> {
        let progress = Arc::<Progress>::default();
        self.runs().at_work.push(Arc::clone(&progress));
        progress
    }

    /// A run has ended.
    pub fn end(&self, progress: &Arc<Progress>, stored: bool) {
        let mut runs = self.runs();
        runs.at_work.retain(|other| !Arc::ptr_eq(other, progress));
        runs.ended.add(progress);
        runs.ended.ended += 1;
        runs.ended.stored += usize::from(stored);
    }

    /// How far all of it has come.
    pub fn now(&self) -> CampaignState {
        let runs = self.runs();
        let mut now = runs.ended;
        runs.at_work.iter().for_each(|progress| now.add(progress));
        now
    }

    /// Whether a run that is at work may be stored already: of several, the one of which only the store knows counts
    /// before one that is not stored.
    pub fn stage(&self) -> Stage {
        let runs = self.runs();
        let is = |stage: Stage| runs.at_work.iter().any(|progress| progress.commit.get() == stage);
        match () {
            () if is(Stage::Asked) => Stage::Asked,
            () if is(Stage::Stored) && !is(Stage::Before) => Stage::Stored,
            () => Stage::Before,
        }
    }

    /// Lets no further run begin.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    /// Whether no further run is to begin.
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
    fn what_only_the_store_knows_counts_first() {
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
