//! The site of a store, kept in a folder and looked at again while somebody reads it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use perfpipe_analyze::format::thousands;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout};

use super::{Answer, Pages};

/// How long a reader of the first page waits for a look at the store.
const PATIENCE: Duration = Duration::from_secs(1);

/// A site in a folder.
pub(crate) struct ServedSite {
    folder: PathBuf,
    /// How often the store is looked at.
    every: Duration,
    /// Somebody reads the site.
    asked: Notify,
    /// When the last look at the store ended.
    looked: watch::Sender<Option<Instant>>,
    /// The number of runs of the store.
    runs: AtomicUsize,
}

impl ServedSite {
    /// The site in a folder, where it is written by its owner.
    pub(crate) fn new(folder: PathBuf, every: Duration) -> Arc<Self> {
        let (asked, (looked, _)) = (Notify::new(), watch::channel(None));
        Arc::new(Self { folder, every, asked, looked, runs: AtomicUsize::new(0) })
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Sets how many runs the site will have.
    pub(crate) fn expect(&self, runs: usize) {
        self.runs.store(runs, Ordering::Relaxed);
    }

    /// Waits until the next look at the store is due: somebody reads the site, and the last one is long enough ago.
    pub(crate) async fn next_look(&self) {
        self.looked.send_replace(Some(Instant::now()));
        tokio::time::sleep(self.every).await;
        self.asked.notified().await;
    }

    /// Asks for a look at the store, and waits for it if one is due.
    async fn look(&self) {
        let mut looked = self.looked.subscribe();
        let is_due = looked.borrow_and_update().is_none_or(|last| last.elapsed() >= self.every);
        self.asked.notify_one();
        if is_due {
            // What is there is shown if it takes longer.
            let _ = timeout(PATIENCE, looked.changed()).await;
        }
    }

    /// The page while the first site is written.
    fn waiting(&self) -> Answer {
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
    fn answer<'a>(&'a self, path: &'a str, _: bool) -> BoxFuture<'a, Answer> {
        async move {
            match path {
                "/" | "/index.html" | "/runs.js" => self.look().await,
                _ => self.asked.notify_one(),
            }
            let is_page = matches!(path, "/" | "/index.html");
            if is_page && !self.folder.join("index.html").is_file() {
                return self.waiting();
            }
            Answer::file(&self.folder, path).await
        }
        .boxed()
    }
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

    #[tokio::test]
    async fn page_says_how_far_the_first_site_is() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("runs")).unwrap();
        fs::write(folder.path().join("runs/a.js"), "").unwrap();
        let site = ServedSite::new(folder.path().to_owned(), Duration::from_secs(3600));
        site.expect(1000);
        let page = text(&site, "/").await;
        assert!(page.contains("Writing the site: 1 of 1,000 runs.") && page.contains("refresh"), "{page}");
        assert!(text(&site, "/runs.js").await.starts_with("There is no such file."));
        fs::write(folder.path().join("index.html"), "the page").unwrap();
        assert_eq!(text(&site, "/").await, "the page");
    }

    #[tokio::test]
    async fn store_is_looked_at_again_only_for_a_reader() {
        let folder = tempfile::tempdir().unwrap();
        let site = ServedSite::new(folder.path().to_owned(), Duration::from_millis(10));
        assert!(timeout(Duration::from_millis(200), site.next_look()).await.is_err(), "nobody reads");
        let (asked, ()) = tokio::join!(timeout(Duration::from_secs(60), site.next_look()), async {
            site.answer("/app.js", false).await;
        });
        assert!(asked.is_ok());
    }
}
