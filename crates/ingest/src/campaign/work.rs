//! Ingests the runs of a campaign in parallel.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};
use tokio::sync::Semaphore;

use crate::operations::ingest::{IngestContext, Ingested};
use crate::operations::options::IngestOptions;
use crate::operations::store::Store;
use crate::pipeline::{PipelineOptions, Progress};
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::key::{Repeat, RunKey};

use super::pairing::Paired;
use super::plan::Campaign;
use super::run::CampaignRun;
use super::status::Stand;

/// A run with its index in the campaign.
type Numbered = (usize, CampaignRun);

impl Campaign {
    /// Ingests the runs that are due, `jobs` of them at once. The workers and the memory of the options are divided
    /// among the jobs.
    ///
    /// [`IngestOptions::progress`] of the options of the plan follows all runs.
    ///
    /// A run that fails is marked [`Stand::Failed`], and the others continue. If the future is dropped, the runs that
    /// are already stored remain, and nothing of the others does.
    ///
    /// Memory grows with the number of jobs, since each has its own blocks and encoders. A large run is ingested while
    /// no other is.
    pub fn ingest<'a>(&'a mut self, store: &'a Store, jobs: usize) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let jobs = jobs.max(1);
            let desk = WorkDesk {
                store,
                options: &self.options,
                jobs: u32::try_from(jobs).unwrap_or(u32::MAX),
                at_once: Semaphore::new(jobs),
                owners: Mutex::new(owners(&self.runs)),
            };
            let runs = std::mem::take(&mut self.runs);
            let (lanes, rest) = lanes(runs);
            self.options.progress.begin_campaign(lanes.iter().map(Vec::len).sum());
            let done: Vec<Vec<Numbered>> = stream::iter(lanes.into_iter().map(|lane| desk.lane(lane)))
                .buffer_unordered(jobs)
                .collect()
                .await;
            let mut runs: Vec<Numbered> = done.into_iter().flatten().chain(rest).collect();
            runs.sort_by_key(|(number, _)| *number);
            self.runs = runs.into_iter().map(|(_, run)| run).collect();
        })
    }
}

/// Groups the due runs by framework and test, each group in order, since the order numbers its repeats. Also returns
/// the other runs.
fn lanes(runs: Vec<CampaignRun>) -> (Vec<Vec<Numbered>>, Vec<Numbered>) {
    let (due, rest): (Vec<Numbered>, Vec<Numbered>) =
        runs.into_iter().enumerate().partition(|(_, run)| run.is_due());
    let mut lanes: Vec<Vec<Numbered>> = Vec::new();
    let mut by_key = BTreeMap::new();
    for (number, run) in due {
        let name = run.key.as_ref().map(|key| (key.framework.clone(), key.test.clone()));
        let lane = *by_key.entry(name).or_insert(lanes.len());
        match lanes.get_mut(lane) {
            Some(lane) => lane.push((number, run)),
            None => lanes.push(vec![(number, run)]),
        }
    }
    (lanes, rest)
}

/// The log file of each key that is final.
fn owners(runs: &[CampaignRun]) -> BTreeMap<RunKey, PathBuf> {
    let settled =
        |run: &&CampaignRun| !matches!(run.stand, Stand::Failed(_)) && run.place.repeat != Repeat::Next;
    runs.iter().filter(settled).filter_map(|run| Some((run.key.clone()?, run.log.clone()))).collect()
}

/// The state that the runs share while they are ingested.
struct WorkDesk<'a> {
    store: &'a Store,
    options: &'a IngestOptions,
    jobs: u32,
    at_once: Semaphore,
    owners: Mutex<BTreeMap<RunKey, PathBuf>>,
}

impl WorkDesk<'_> {
    async fn lane(&self, mut lane: Vec<Numbered>) -> Vec<Numbered> {
        for (_, run) in &mut lane {
            self.run(run).await;
        }
        lane
    }

    async fn run(&self, run: &mut CampaignRun) {
        let alone = run.is_large();
        let permits = if alone { self.jobs } else { 1 };
        // The semaphore is never closed, so this can't fail.
        let _permit = self.at_once.acquire_many(permits).await.ok();
        let campaign = &self.options.progress;
        if campaign.is_stopping() {
            return;
        }
        let progress = campaign.begin_run();
        let jobs = if alone { 1 } else { self.jobs };
        match self.ingest(run, jobs, &progress).await {
            Ok(None) => {}
            Ok(Some(done)) => {
                run.key = Some(done.info.key.clone());
                run.ingested = Some(done);
            }
            Err(error) => run.stand = Stand::Failed(error),
        }
        campaign.end_run(&progress, run.ingested.is_some());
    }

    async fn ingest(
        &self,
        run: &mut CampaignRun,
        jobs: u32,
        progress: &Progress,
    ) -> Result<Option<Ingested>> {
        run.compare(progress.packed()).await?;
        if !run.is_due() {
            return Ok(None);
        }
        let sizes = self.options.sizes;
        // A salvaged part of a damaged log may be less than what is stored, so it may not replace that.
        let replace = run.place.replace && !self.options.source.salvage;
        let jobs = usize::try_from(jobs).unwrap_or(usize::MAX).max(1);
        let (workers, readers) = ((sizes.workers / jobs).max(1), (sizes.readers / jobs).max(1));
        let memory = sizes.memory / jobs;
        let options = IngestOptions {
            repeat: run.place.repeat,
            replace: self.options.replace || replace,
            sizes: PipelineOptions { workers, readers, memory, ..sizes },
            progress: progress.clone(),
            ..run.name.options(self.options).into_owned()
        };
        let is_asked = run.cpu.as_ref().is_some_and(|cpu| cpu.paired == Paired::Asked);
        let options = if is_asked { options } else { options.without_asked_cpu() };
        let log = run.log.clone();
        let admit = |key: &RunKey| self.admit(key, &log);
        let files = run.files();
        let terms = IngestContext { admit: &admit, ..IngestContext::default() };
        self.store.ingest_as(&files, &options, terms).await.map(Some)
    }

    /// Claims a key for a run. Fails if another run of the campaign has it: the whole log may give another key than its
    /// beginning did, and one run must not replace another for that.
    fn admit(&self, key: &RunKey, log: &Path) -> Result<()> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        match owners.get(key).filter(|owner| owner.as_path() != log) {
            Some(owner) => Err(Error::refused(
                ErrorKind::KeyTakenMeanwhile,
                format!("{} and {} both resolve to the run {key}", log.display(), owner.display()),
                "Ingest one of them alone, and give it another framework or test.",
            )),
            None => {
                owners.insert(key.clone(), log.to_owned());
                Ok(())
            }
        }
    }
}
