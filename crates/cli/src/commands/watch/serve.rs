//! The live page of a running test, at an address of this machine: the page of a site of one run, which keeps up with it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, Stream, stream};
use hyper::body::Frame;
use perfpipe_analyze::breakdown::Details;
use perfpipe_analyze::format::one_line;
use perfpipe_analyze::{League, Phases, Timeline, View};
use perfpipe_ingest::watch::{Look, Watch};
use perfpipe_plot::{ReportRun, SITE_FILES, SiteIndex, SiteRun, run_script, site_test};
use tokio::sync::watch::{Receiver, Sender};

use super::lines::{PERCENTILES, Pace};
use crate::output::note;
use crate::serve::{Answer, Listening, Pages};

/// How long the end waits for pages that are open to ask for the last figures.
const LINGER: Duration = Duration::from_secs(1);

/// The server of a live page.
pub(super) struct Serving {
    latest: Arc<LatestPage>,
    address: SocketAddr,
    /// The name of the store that the run will be in.
    store: String,
    pace: Pace,
    /// True if there is more to show than the page has.
    stale: bool,
    complete: u32,
    recounts: u64,
    cpu_reads: u64,
}

impl Serving {
    /// Begins to serve at an address.
    ///
    /// # Errors
    /// If the address can't be had.
    pub(super) async fn begin(address: SocketAddr, store: String) -> Result<Self> {
        let listening = Listening::begin(address, "--serve", "the page").await?;
        let address = listening.address();
        note(&format!("the live page is http://{address}/"));
        let latest = Arc::new(LatestPage::default());
        listening.serve(Arc::clone(&latest));
        Ok(Self {
            latest,
            address,
            store,
            pace: Pace::default(),
            stale: false,
            complete: 0,
            recounts: 0,
            cpu_reads: 0,
        })
    }

    /// The address of the page.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Writes the files of the page again, about once a second, if there is something new, and somebody to see it.
    pub(super) fn show(&mut self, watch: &Watch, look: &Look) -> Result<()> {
        let is_corrected = look.changed.first().is_some_and(|second| *second < look.complete);
        let newest = (look.complete, look.recounts, look.cpu_reads);
        self.stale |= is_corrected || (self.complete, self.recounts, self.cpu_reads) != newest;
        (self.complete, self.recounts, self.cpu_reads) = newest;
        let is_due = look.ended || self.pace.is_due();
        if !self.stale || !is_due || !self.latest.is_wanted() {
            return Ok(());
        }
        let begun = Instant::now();
        if let Some(files) = files(watch, &self.store, self.latest.next_state())? {
            self.latest.show(files);
            self.stale = false;
        }
        self.pace.pause_after(begun.elapsed());
        Ok(())
    }

    /// Announces the end of the test to open pages.
    pub(super) async fn end(self, sentence: &str) {
        if self.latest.end(sentence) {
            tokio::time::sleep(LINGER).await;
        }
    }
}

/// The newest state of a test.
#[derive(Debug, Clone, Default)]
struct PageState {
    /// The number of the state: there is none at 0.
    number: u64,
    files: Arc<Files>,
    /// The files of the state before: a page may ask for them while this one is shown.
    before: Arc<Files>,
    /// How the test ended.
    ended: Option<String>,
}

/// The files of a state by their names.
type Files = Vec<(String, Bytes)>;

/// The newest state, and who wants to know it.
#[derive(Debug, Default)]
struct LatestPage {
    state: Sender<PageState>,
    /// True if the page was asked for since it was written.
    asked: AtomicBool,
}

impl LatestPage {
    /// Returns true if somebody follows the page or has asked for it, or if it was never written.
    fn is_wanted(&self) -> bool {
        self.state.receiver_count() > 0 || self.asked.load(Ordering::Relaxed) || self.next_state() == 1
    }

    /// Returns the number of the next state.
    fn next_state(&self) -> u64 {
        self.state.borrow().number + 1
    }

    /// Publishes a new state.
    fn show(&self, files: Files) {
        self.asked.store(false, Ordering::Relaxed);
        self.state.send_modify(|state| {
            state.number += 1;
            state.before = std::mem::replace(&mut state.files, Arc::new(files));
        });
    }

    /// Publishes the end of the test; returns true if somebody follows it.
    fn end(&self, sentence: &str) -> bool {
        // Those who follow leave as soon as they know.
        let is_followed = self.state.receiver_count() > 0;
        self.state.send_modify(|state| state.ended = Some(one_line(sentence)));
        is_followed
    }

    /// Returns a file of the newest state, or of the one before.
    fn file(&self, name: &str) -> Option<Bytes> {
        let state = self.state.borrow();
        let mut files = state.files.iter().chain(state.before.iter());
        let found = files.find(|(file, _)| file == name).map(|(_, bytes)| bytes.clone());
        found.or_else(|| {
            let fixed = SITE_FILES.iter().find(|(file, _)| *file == name);
            fixed.map(|(_, text)| Bytes::from_static(text.as_bytes()))
        })
    }

    /// Follows the states, from the present one on.
    fn follow(&self) -> Receiver<PageState> {
        let mut states = self.state.subscribe();
        states.mark_changed();
        states
    }
}

impl Pages for LatestPage {
    fn answer<'a>(&'a self, path: &'a str, is_head: bool) -> BoxFuture<'a, Answer> {
        let name = match path {
            "/" => "index.html",
            path => path.strip_prefix('/').unwrap_or(path),
        };
        let answer = match (name, self.file(name)) {
            ("events", _) => Answer::events((!is_head).then(|| events(self.follow()))),
            (name, Some(bytes)) => {
                self.asked.fetch_or(name == "index.html", Ordering::Relaxed);
                Answer::of(name, bytes)
            }
            ("index.html", None) => {
                Answer::waiting("perfpipe watch", "Waiting for the first second to be complete.")
            }
            (_, None) => Answer::not_found(),
        };
        async { answer }.boxed()
    }
}

/// Returns the files of a state; `None` if no second is complete.
///
/// What stands out is left to the stored run: what is looked for again each second is found too often. So are the phases:
/// while a load climbs in steps, each step looks like a hold, and those after it like a tail.
fn files(watch: &Watch, store: &str, state: u64) -> Result<Option<Files>> {
    let Some(run) = watch.run(0)? else { return Ok(None) };
    let view = View::of(&run.info).with_percentiles(PERCENTILES);
    let mut details = Details::new(&run, &view)?;
    details.phases.clear();
    let mut timeline = Timeline::new(&run, &view)?;
    (timeline.phases, timeline.hold) = (Phases::default(), None);
    let timelines = [timeline];
    let [timeline] = &timelines;
    let shown = ReportRun { timeline, details: &details, findings: &[], verdicts: &[] };
    let mut site = site_test(&League::new(&timelines)?, &timelines, &[], "")?;
    site.test.file = "tests/live.js".to_owned();
    let test_script = site.files.pop().map(|(_, text)| text).unwrap_or_default();
    let row = SiteRun::new(&shown, format!("runs/live-{state}.js"));
    // Nothing is compared with a run that is not at its end.
    let run_script = row.live_script()? + &run_script(&shown, &[])?;
    let (run_file, test_file) = (row.file.clone(), site.test.file.clone());
    let index = SiteIndex::live(store, site.test, row, state);
    let files = [
        ("index.html".to_owned(), index.page()),
        ("runs.js".to_owned(), index.script()?),
        (run_file, run_script),
        (test_file, test_script),
    ];
    Ok(Some(files.map(|(name, text)| (name, text.into())).into()))
}

/// How long a page follows the events on one connection. It then connects again, before the server would cut the connection.
const FOLLOWED: Duration = Duration::from_secs(50);

/// Returns the events of a test until it ends. They announce a new state and do not contain it: a slow reader costs
/// nothing.
fn events(states: Receiver<PageState>) -> impl Stream<Item = io::Result<Frame<Bytes>>> {
    let until = tokio::time::Instant::now() + FOLLOWED;
    stream::unfold(Some(states), move |states| next(states, until))
}

/// Waits for the next state. Nothing follows the end.
async fn next(
    states: Option<Receiver<PageState>>,
    until: tokio::time::Instant,
) -> Option<(io::Result<Frame<Bytes>>, Option<Receiver<PageState>>)> {
    let mut states = states?;
    tokio::time::timeout_at(until, states.changed()).await.ok()?.ok()?;
    let state = states.borrow_and_update().clone();
    let event = event(state.number, state.ended.as_deref());
    Some((Ok(Frame::data(event.into())), state.ended.is_none().then_some(states)))
}

/// Returns the events of a state. A page that lost its connection tries again after half a second.
fn event(number: u64, ended: Option<&str>) -> String {
    let ended = ended.map(|ended| format!("event: ended\ndata: {ended}\n\n")).unwrap_or_default();
    format!("retry: 500\nevent: state\ndata: {number}\n\n{ended}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_is_announced_after_the_last_page() {
        assert_eq!(event(7, None), "retry: 500\nevent: state\ndata: 7\n\n");
        let events = event(8, Some("It is stored."));
        assert_eq!(events, "retry: 500\nevent: state\ndata: 8\n\nevent: ended\ndata: It is stored.\n\n");
    }

    #[test]
    fn files_of_two_states_are_kept() {
        let latest = LatestPage::default();
        assert!(latest.is_wanted() && latest.file("runs.js").is_none() && latest.file("app.js").is_some());
        for state in 1..4 {
            let named = |name: &str| (name.to_owned(), Bytes::from(format!("{name} {state}")));
            latest.show(vec![named("runs.js"), named(&format!("runs/live-{state}.js"))]);
        }
        assert_eq!(latest.file("runs.js").unwrap(), "runs.js 3");
        assert_eq!(latest.file("runs/live-2.js").unwrap(), "runs/live-2.js 2");
        assert!(latest.file("runs/live-1.js").is_none() && latest.file("../runs.js").is_none());
        assert!(!latest.is_wanted(), "nobody has asked");
        let states = latest.follow();
        assert!(latest.is_wanted() && latest.end("It\nis stored."));
        assert_eq!(states.borrow().ended.as_deref(), Some("It\\nis stored."));
    }
}
