//! The site of a store, kept in a folder and looked at again while somebody reads it, with the run of a test that is running.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, Stream, stream};
use hyper::StatusCode;
use hyper::body::Frame;
use perfpipe_analyze::format::{one_line, thousands};
use perfpipe_ingest::RunKey;
use perfpipe_plot::{LiveRun, SITE_FILES, SiteIndex};
use tokio::sync::Notify;
use tokio::sync::watch::{self, Receiver, Sender};
use tokio::time::{Instant, timeout, timeout_at};

use super::{Answer, Pages};

/// How long a reader of the first page waits for a look at the store.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a page follows the events on one connection. It then connects again, before the server would cut the connection.
const FOLLOWED: Duration = Duration::from_secs(50);

/// The most pages that follow the events at a time, fewer than there may be connections.
const FOLLOWERS: usize = 200;

/// How long the end of a test waits for the pages that follow it.
const LINGER: Duration = Duration::from_secs(2);

/// A site in a folder.
pub(crate) struct ServedSite {
    folder: PathBuf,
    /// The name of the store, until its list is there.
    name: String,
    /// True if a test is running whose first state is waited for.
    is_live: bool,
    /// How often the store is looked at.
    every: Duration,
    /// Somebody reads the site.
    asked: Notify,
    /// When the last look at the store ended.
    looked: Sender<Option<Instant>>,
    /// The number of runs of the store.
    runs: AtomicUsize,
    shown: Sender<Shown>,
    /// True if the page was asked for since the state of the running test was drawn.
    is_live_wanted: AtomicBool,
}

/// What is shown at a moment.
#[derive(Clone)]
struct Shown {
    /// The number of the list of runs.
    list: u64,
    /// The list; absent while the first site is written.
    index: Option<Arc<SiteIndex>>,
    /// The newest state of a running test.
    live: Option<Arc<LiveState>>,
    /// The state before: a page may ask for its files while the newest is shown.
    before: Option<Arc<LiveState>>,
    /// How the test ended, and the name of its stored run in links.
    ended: Option<(String, Option<String>)>,
}

/// A state of a running test.
pub(crate) struct LiveState {
    pub(crate) run: LiveRun,
    /// Its files by their names.
    pub(crate) files: Vec<(String, Bytes)>,
}

impl ServedSite {
    /// The site in a folder, where it is written by its owner. Where it `is_live`, a running test is shown first.
    pub(crate) fn new(folder: PathBuf, name: String, every: Duration, is_live: bool) -> Arc<Self> {
        // Another server at this address had other numbers, so that a page that is open loads the list again.
        let begun = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let list = u64::try_from(begun).unwrap_or_default();
        let shown = Shown { list, index: None, live: None, before: None, ended: None };
        Arc::new(Self {
            folder,
            name,
            is_live,
            every,
            asked: Notify::new(),
            looked: watch::channel(None).0,
            runs: AtomicUsize::new(0),
            shown: watch::channel(shown).0,
            is_live_wanted: AtomicBool::new(false),
        })
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Sets how many runs the site will have.
    pub(crate) fn expect(&self, runs: usize) {
        self.runs.store(runs, Ordering::Relaxed);
    }

    /// Shows a list of runs, whose files are in the folder. Pages that are open learn of it if it is another one.
    pub(crate) fn show(&self, index: SiteIndex) {
        self.shown.send_if_modified(|shown| {
            let is_new = shown.index.as_deref() != Some(&index);
            if is_new {
                shown.list += 1;
                shown.index = Some(Arc::new(index));
            }
            is_new
        });
    }

    /// Returns true if somebody follows the pages or has asked for one since the last state of the running test, or if it has
    /// none.
    pub(crate) fn is_live_wanted(&self) -> bool {
        self.is_followed() || self.is_live_wanted.load(Ordering::Relaxed) || self.next_state() == 1
    }

    /// Returns the number of the next state of the running test, from 1 on.
    pub(crate) fn next_state(&self) -> u64 {
        self.shown.borrow().live.as_ref().map_or(0, |live| live.run.state()) + 1
    }

    /// Shows a state of a running test.
    pub(crate) fn show_live(&self, state: LiveState) {
        self.is_live_wanted.store(false, Ordering::Relaxed);
        self.shown.send_modify(|shown| {
            // The first one is in no list that a page has.
            shown.list += u64::from(shown.live.is_none());
            shown.before = shown.live.replace(Arc::new(state));
        });
    }

    /// Returns the name in links of a run of the store.
    pub(crate) fn link_of(&self, key: &RunKey) -> Option<String> {
        self.shown.borrow().index.as_ref()?.link_of(key).map(str::to_owned)
    }

    /// Returns true if a page is open.
    pub(crate) fn is_followed(&self) -> bool {
        self.shown.receiver_count() > 0
    }

    /// Announces the end of a test, whose run is in the list by a name in links if it was stored, and waits a moment for
    /// pages that are open to ask for what they show then. They stop following once they have it.
    pub(crate) async fn end(&self, sentence: &str, stored: Option<String>) {
        // Those who follow may leave as soon as they know.
        let is_followed = self.is_followed();
        self.shown.send_modify(|shown| {
            if stored.is_some() {
                (shown.live, shown.before) = (None, None);
                shown.list += 1;
            }
            shown.ended = Some((one_line(sentence), stored));
        });
        if is_followed {
            let _ = timeout(LINGER, self.shown.closed()).await;
        }
    }

    /// Waits until the next look at the store is due: somebody reads the site, and the last one is long enough ago.
    pub(crate) async fn next_look(&self) {
        self.looked.send_replace(Some(Instant::now()));
        tokio::time::sleep(self.every).await;
        if !self.is_followed() {
            self.asked.notified().await;
        }
    }

    /// Asks for a look at the store, and waits for it if one is due.
    async fn look(&self) {
        let mut looked = self.looked.subscribe();
        let is_due = looked.borrow_and_update().is_none_or(|last| last.elapsed() >= self.every);
        self.asked.notify_one();
        // The page of a running test is there already.
        if is_due && self.shown.borrow().live.is_none() {
            // What is there is shown if it takes longer.
            let _ = timeout(PATIENCE, looked.changed()).await;
        }
    }

    /// Returns the list of all runs as it is shown; `None` if there is none yet.
    fn index(&self) -> Option<SiteIndex> {
        let Shown { list, index, live, ended, .. } = self.shown.borrow().clone();
        let is_early = self.is_live && live.is_none() && ended.is_none();
        if is_early || index.is_none() && live.is_none() {
            return None;
        }
        let of_store = index.unwrap_or_else(|| Arc::new(SiteIndex::empty(&self.name)));
        Some(of_store.served(list, live.as_ref().map(|live| &live.run)))
    }

    /// Returns the page, or a file of a running test or of all sites; `None` for others.
    fn in_memory(&self, name: &str) -> Option<Bytes> {
        match name {
            "index.html" => return self.index().map(|index| index.page().into()),
            "runs.js" => return self.index()?.script().ok().map(Bytes::from),
            _ => {}
        }
        if let Some((_, text)) = SITE_FILES.iter().find(|(file, _)| *file == name) {
            return Some(Bytes::from_static(text.as_bytes()));
        }
        let shown = self.shown.borrow();
        let mut files = shown.live.iter().chain(&shown.before).flat_map(|state| &state.files);
        files.find(|(file, _)| file == name).map(|(_, bytes)| bytes.clone())
    }

    /// Follows what is shown, from the present state on; `None` if too many do.
    fn follow(&self) -> Option<Receiver<Shown>> {
        let mut states = self.shown.subscribe();
        states.mark_changed();
        (self.shown.receiver_count() <= FOLLOWERS).then_some(states)
    }

    /// The answer to a request for events; the headers alone follow nothing.
    fn events(&self, is_head: bool) -> Answer {
        self.asked.notify_one();
        match self.follow() {
            Some(states) => Answer::events((!is_head).then(|| events(states))),
            None => Answer::refusal(StatusCode::SERVICE_UNAVAILABLE, "Too many pages are open.\n"),
        }
    }

    /// The page while there is nothing to show.
    fn waiting(&self) -> Answer {
        if self.is_live {
            return Answer::waiting("perfpipe watch", "Waiting for the first second to be complete.");
        }
        let all = self.runs.load(Ordering::Relaxed);
        let written = names(&self.folder.join("runs")).len().min(all);
        let sentence = format!(
            "Writing the site: {} of {} {}.",
            thousands(written as u64),
            thousands(all as u64),
            if all == 1 { "run" } else { "runs" }
        );
        Answer::waiting("perfpipe", &sentence)
    }
}

impl Pages for ServedSite {
    fn answer<'a>(&'a self, path: &'a str, is_head: bool) -> BoxFuture<'a, Answer> {
        async move {
            let name = match path {
                "/" => "index.html",
                path => path.strip_prefix('/').unwrap_or(path),
            };
            match name {
                "events" => return self.events(is_head),
                "index.html" | "runs.js" => {
                    self.is_live_wanted.store(true, Ordering::Relaxed);
                    self.look().await;
                }
                _ => self.asked.notify_one(),
            }
            match (name, self.in_memory(name)) {
                (_, Some(bytes)) => Answer::of(name, bytes),
                ("index.html", None) => self.waiting(),
                ("runs.js", None) => Answer::not_found(),
                (_, None) => Answer::file(&self.folder, path).await,
            }
        }
        .boxed()
    }
}

/// Returns the events of a site. They announce what is new and do not contain it: a slow reader costs nothing.
fn events(states: Receiver<Shown>) -> impl Stream<Item = io::Result<Frame<Bytes>>> {
    let until = Instant::now() + FOLLOWED;
    stream::unfold(states, move |mut states| async move {
        timeout_at(until, states.changed()).await.ok()?.ok()?;
        let text = event(&states.borrow_and_update());
        Some((Ok(Frame::data(text.into())), states))
    })
}

/// Returns the events of a state. A page that lost its connection tries again after half a second.
fn event(shown: &Shown) -> String {
    let one = |name: &str, data: &dyn std::fmt::Display| format!("event: {name}\ndata: {data}\n\n");
    let mut text = "retry: 500\n".to_owned();
    if let Some((_, Some(id))) = &shown.ended {
        text += &one("stored", id);
    }
    text += &one("list", &shown.list);
    if let Some(live) = &shown.live {
        text += &one("live", &live.run.state());
    }
    if let Some((sentence, _)) = &shown.ended {
        text += &one("ended", sentence);
    }
    text
}

/// Returns the names of the scripts in a folder.
fn names(folder: &Path) -> BTreeSet<std::ffi::OsString> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).filter(|name| Path::new(name).extension().is_some()).collect()
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    async fn text(site: &ServedSite, path: &str) -> String {
        let body = site.answer(path, false).await.response().into_body().collect().await.unwrap();
        String::from_utf8(body.to_bytes().to_vec()).unwrap()
    }

    fn site(folder: &tempfile::TempDir, every: Duration, is_live: bool) -> Arc<ServedSite> {
        ServedSite::new(folder.path().to_owned(), "nightly".to_owned(), every, is_live)
    }

    #[tokio::test]
    async fn page_says_how_far_the_first_site_is() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("runs")).unwrap();
        fs::write(folder.path().join("runs/a.js"), "").unwrap();
        let site = site(&folder, Duration::from_secs(3600), false);
        site.expect(1000);
        let page = text(&site, "/").await;
        assert!(page.contains("Writing the site: 1 of 1,000 runs.") && page.contains("refresh"), "{page}");
        assert!(text(&site, "/runs.js").await.starts_with("There is no such file."));
        site.show(SiteIndex::empty("nightly"));
        assert!(text(&site, "/").await.contains("app.js"));
        assert!(text(&site, "/runs.js").await.contains("\"served\":{\"list\":"));
    }

    #[tokio::test]
    async fn store_is_looked_at_again_only_for_a_reader() {
        let folder = tempfile::tempdir().unwrap();
        let site = site(&folder, Duration::from_millis(10), false);
        assert!(timeout(Duration::from_millis(200), site.next_look()).await.is_err(), "nobody reads");
        let (asked, ()) = tokio::join!(timeout(Duration::from_secs(60), site.next_look()), async {
            site.answer("/app.js", false).await;
        });
        assert!(asked.is_ok());
        let _follower = site.follow();
        assert!(timeout(Duration::from_secs(60), site.next_look()).await.is_ok(), "a page is open");
    }

    #[tokio::test]
    async fn lists_have_other_numbers_only_where_they_differ() {
        let folder = tempfile::tempdir().unwrap();
        let site = site(&folder, Duration::ZERO, false);
        let number = || site.shown.borrow().list;
        let before = number();
        for (name, added) in [("a", 1), ("a", 1), ("b", 2)] {
            site.show(SiteIndex::empty(name));
            assert_eq!(number(), before + added, "{name}");
        }
    }

    #[tokio::test]
    async fn more_followers_than_there_may_be_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let site = site(&folder, Duration::ZERO, false);
        let followers: Vec<_> = (0..FOLLOWERS).map(|_| site.follow().unwrap()).collect();
        assert!(site.follow().is_none());
        drop(followers);
        assert!(site.follow().is_some());
    }
}
