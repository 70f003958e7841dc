//! The pages of a running test, at an address of this machine: those of its store, with the run as it grows.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use perfpipe_analyze::breakdown::Details;
use perfpipe_analyze::{League, Phases, Timeline, Verdict, View};
use perfpipe_ingest::watch::{Look, Watch};
use perfpipe_ingest::{RunKey, Store, StoredRun};
use perfpipe_plot::{LiveRun, ReportRun};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use super::lines::{PERCENTILES, Pace};
use crate::commands::serve::KeptSite;
use crate::output::{note, warn};
use crate::serve::Listening;
use crate::serve::site::{LiveState, ServedSite};

/// How long pages that are open wait at the end for the stored run to be among them.
const PATIENCE: Duration = Duration::from_secs(10);

/// The server of the pages.
pub(super) struct Serving {
    site: Arc<ServedSite>,
    kept: Arc<Mutex<KeptSite>>,
    /// Looks at the store while somebody reads.
    looks: JoinHandle<()>,
    address: SocketAddr,
    pace: Pace,
    /// True if there is more to show than the page has.
    stale: bool,
    complete: u32,
    recounts: u64,
    cpu_reads: u64,
}

impl Serving {
    /// Begins to serve at an address. Runs are checked against the rules of a file.
    ///
    /// # Errors
    /// If the address can't be had, or no folder for the pages.
    pub(super) async fn begin(address: SocketAddr, store: &Store, rules: Option<&Path>) -> Result<Self> {
        let listening = Listening::begin(address, "--serve", "the page").await?;
        let address = listening.address();
        note(&format!("the live page is http://{address}/"));
        let kept = KeptSite::live(store.clone(), address, rules)?;
        let site = kept.site();
        listening.serve(Arc::clone(&site));
        let kept = Arc::new(Mutex::new(kept));
        Ok(Self {
            looks: tokio::spawn(keep(Arc::clone(&kept), Arc::clone(&site))),
            site,
            kept,
            address,
            pace: Pace::default(),
            stale: false,
            complete: 0,
            recounts: 0,
            cpu_reads: 0,
        })
    }

    /// The address of the pages.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Draws the run again, about once a second, if there is something new, and somebody to see it. `judged` are the verdicts
    /// of the rules so far.
    pub(super) fn show(
        &mut self,
        watch: &Watch,
        look: &Look,
        judged: impl FnOnce(&StoredRun) -> Result<Vec<Verdict>>,
    ) -> Result<()> {
        let is_corrected = look.changed.first().is_some_and(|second| *second < look.complete);
        let newest = (look.complete, look.recounts, look.cpu_reads);
        self.stale |= is_corrected || (self.complete, self.recounts, self.cpu_reads) != newest;
        (self.complete, self.recounts, self.cpu_reads) = newest;
        let is_due = look.ended || self.pace.is_due();
        if !self.stale || !is_due || !self.site.is_live_wanted() {
            return Ok(());
        }
        let begun = Instant::now();
        if let Some(run) = watch.run(0)? {
            let verdicts = judged(&run)?;
            self.site.show_live(state(&run, &verdicts, self.site.next_state())?);
            self.stale = false;
        }
        self.pace.pause_after(begun.elapsed());
        Ok(())
    }

    /// Announces the end of the test to pages that are open, and shows them the stored run.
    pub(super) async fn end(self, sentence: &str, stored: Option<&RunKey>) {
        let mut id = None;
        if let Some(key) = stored.filter(|_| self.site.is_followed()) {
            // A look that takes longer ends with the process.
            if timeout(PATIENCE, look(&self.kept)).await.is_ok() {
                id = self.site.link_of(key);
            }
        }
        self.looks.abort();
        self.site.end(sentence, id).await;
        if let Some(trouble) = self.kept.try_lock().ok().as_deref().and_then(KeptSite::trouble) {
            warn(&format!("the pages had the running test without the other runs: {trouble}"));
        }
    }
}

/// Keeps the pages as the store is.
async fn keep(kept: Arc<Mutex<KeptSite>>, site: Arc<ServedSite>) {
    loop {
        site.next_look().await;
        look(&kept).await;
    }
}

/// Looks at the store on a thread of its own: the first site of a large store takes minutes, and neither the test nor a signal
/// waits for it. What goes wrong is said at the end of the test.
async fn look(kept: &Arc<Mutex<KeptSite>>) {
    let (kept, runtime) = (Arc::clone(kept), Handle::current());
    let looked = spawn_blocking(move || runtime.block_on(async { kept.lock().await.look().await }));
    let _ = looked.await;
}

/// Returns what is shown of a run in a state.
///
/// What stands out is left to the stored run: what is looked for again each second is found too often. So are the phases:
/// while a load climbs in steps, each step looks like a hold, and those after it like a tail.
fn state(run: &StoredRun, verdicts: &[Verdict], state: u64) -> Result<LiveState> {
    let view = View::of(&run.info).with_percentiles(PERCENTILES);
    let mut details = Details::new(run, &view)?;
    details.phases.clear();
    let mut timeline = Timeline::new(run, &view)?;
    (timeline.phases, timeline.hold) = (Phases::default(), None);
    let shown = ReportRun { timeline: &timeline, details: &details, findings: &[], verdicts };
    let (run, files) = LiveRun::new(&shown, &League::new(std::slice::from_ref(&timeline))?, state)?;
    let files = files.into_iter().map(|(name, text)| (name, text.into())).collect();
    Ok(LiveState { run, files })
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use perfpipe_ingest::IngestOptions;
    use perfpipe_plot::SiteIndex;

    use super::*;
    use crate::serve::Pages;

    async fn text(site: &ServedSite, path: &str) -> String {
        let body = site.answer(path, false).await.response().into_body().collect().await.unwrap();
        String::from_utf8(body.to_bytes().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn files_of_two_states_are_kept_until_the_run_is_stored() {
        let folder = tempfile::tempdir().unwrap();
        let site = ServedSite::new(folder.path().to_owned(), "nightly".to_owned(), Duration::ZERO, true);
        assert!(site.is_live_wanted() && text(&site, "/").await.contains("Waiting for the first second"));
        let log = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/crlf.csv");
        let options = IngestOptions::default().with_framework("go").with_test("t");
        let watch = Watch::begin(&[log.into()], &options).unwrap();
        watch.stop();
        while !watch.look().unwrap().ended {}
        let run = watch.run(0).unwrap().unwrap();
        for number in 1..4 {
            assert_eq!(site.next_state(), number);
            site.show_live(state(&run, &[], number).unwrap());
        }
        assert!(!site.is_live_wanted(), "nobody has asked");
        assert!(text(&site, "/runs.js").await.contains("\"live\":{\"run\":\"live\",\"state\":3}"));
        assert!(text(&site, "/runs/live-2.js").await.starts_with("perfpipe.live({\"id\":\"live\","));
        assert!(text(&site, "/runs/live-1.js").await.starts_with("There is no such file."));
        assert!(site.is_live_wanted() && site.next_state() == 4);
        site.show(SiteIndex::empty("nightly"));
        let list = |text: &str| text.split_once("\"list\":").unwrap().1[..13].parse::<u64>().unwrap();
        let before = list(&text(&site, "/runs.js").await);
        site.end("It is stored.", Some("go-1".to_owned())).await;
        let after = text(&site, "/runs.js").await;
        assert!(!after.contains("live") && list(&after) == before + 1, "{after}");
        assert!(text(&site, "/runs/live-3.js").await.starts_with("There is no such file."));
    }
}
