//! `perfpipe serve`: shows the runs of a store to browsers, at an address of this machine.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use perfpipe_analyze::format::one_line;
use perfpipe_ingest::Store;
use perfpipe_plot::run_file;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::site::{self, ShownArgs, SiteRules, SiteText};
use crate::args::StoreArgs;
use crate::input::left_out::LeftOut;
use crate::input::store;
use crate::input::versions::By;
use crate::output::{note, unfinished, warn};
use crate::serve::site::ServedSite;
use crate::serve::{self, Listening};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe serve\n  \
    perfpipe serve --listen 127.0.0.1:9000 --title nightly --rules rules.toml\n  \
    perfpipe serve --store s3://load-tests/runs --every 60\n\n\
    It shows the same pages as `perfpipe site`, and in pages that are open what is stored meanwhile. Pages are read alone: \
    nothing can be changed by them. Ctrl-C ends it.")]
pub(crate) struct ServeArgs {
    /// Address of the pages, for browsers of this machine
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = serve::address, default_value = "127.0.0.1:8090")]
    pub(crate) listen: SocketAddr,
    /// Name of the site [default: the store's]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    #[command(flatten)]
    pub(crate) shown: ShownArgs,
    /// How often the store is looked at while somebody reads, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400), default_value = "5")]
    pub(crate) every: u64,
    /// Folder in which the site is kept [default: one of the store's own among the user's caches]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

impl ServeArgs {
    /// What is served at an address, as it is shown by default.
    pub(super) fn at(listen: SocketAddr) -> Self {
        Self { listen, title: None, shown: ShownArgs::default(), every: 5, dir: None }
    }
}

/// Serves the site of a store until the command is stopped.
pub(crate) async fn run(args: &ServeArgs, at: &StoreArgs) -> Result<()> {
    serve(args, store::existing(at).await?, |_| {}).await
}

/// Serves the site of a store. `begun` is called with the address of its page.
pub(super) async fn serve(args: &ServeArgs, store: Store, begun: impl FnOnce(&str)) -> Result<()> {
    let rules = SiteRules::of(args.shown.rules.as_deref())?;
    let listening = Listening::begin(args.listen, "--listen", "the store").await?;
    let mut kept = KeptSite::begin(args, rules, store, false)?;
    let page = format!("http://{}/", listening.address());
    note(&format!("the store is at {page}"));
    listening.serve(kept.site());
    begun(&page);
    loop {
        kept.look().await?;
        kept.site.next_look().await;
    }
}

/// A site that is kept as its store is.
pub(super) struct KeptSite {
    site: Arc<ServedSite>,
    store: Store,
    rules: SiteRules,
    title: String,
    by: Option<By>,
    version_url: Option<String>,
    /// True for a running test, during which nothing is said.
    is_live: bool,
    /// The files of the runs that the site was written of.
    written: Option<BTreeSet<String>>,
    /// Why the site is not as the store is, as it was last said.
    trouble: Option<String>,
    /// Where the site is.
    _folder: SiteFolder,
}

impl KeptSite {
    /// A site that is written at the first look at its store.
    fn begin(args: &ServeArgs, rules: SiteRules, store: Store, is_live: bool) -> Result<Self> {
        let folder = SiteFolder::of(args, &address_of(&store))?;
        let title = args.title.clone().unwrap_or_else(|| store_name(&store));
        let (path, every) = (folder.path().to_owned(), Duration::from_secs(args.every));
        let site = ServedSite::new(path, title.clone(), every, is_live);
        let (by, version_url) = (args.shown.by.clone(), args.shown.version_url.clone());
        Ok(Self {
            site,
            store,
            rules,
            title,
            by,
            version_url,
            is_live,
            written: None,
            trouble: None,
            _folder: folder,
        })
    }

    /// The site of a store to which a running test will belong, with the rules of a file.
    ///
    /// # Errors
    /// If the rules can't be used, or there is no folder for the site.
    pub(super) fn live(store: Store, address: SocketAddr, rules: Option<&Path>) -> Result<Self> {
        let mut args = ServeArgs::at(address);
        args.shown.rules = rules.map(Path::to_owned);
        Self::begin(&args, SiteRules::of(rules)?, store, true)
    }

    /// The pages.
    pub(super) fn site(&self) -> Arc<ServedSite> {
        Arc::clone(&self.site)
    }

    /// Why the site is not as the store is.
    pub(super) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Looks at the store, and writes what is new. If that fails, the site stays as it is, and the reason is said once.
    ///
    /// # Errors
    /// If there is no site yet that could stay, and no test is running.
    pub(super) async fn look(&mut self) -> Result<()> {
        let looked = self.refresh().await;
        if let Some(index) = site::index(self.site.folder()) {
            self.site.show(index);
        }
        looked
    }

    async fn refresh(&mut self) -> Result<()> {
        match self.write().await {
            Ok(()) => {
                if self.trouble.take().is_some() && !self.is_live {
                    note("the site is as the store is again");
                }
                Ok(())
            }
            // The command is about to end.
            Err(_) if unfinished::go_on().is_err() => Ok(()),
            // Another command of this store, which writes the same: it is looked at again.
            Err(_) if site::is_written_elsewhere(self.site.folder()) => Ok(()),
            Err(error) if !self.is_live && !site::is_site(self.site.folder()) => Err(error),
            Err(error) => {
                let trouble = one_line(&error.to_string());
                if self.trouble.as_ref() != Some(&trouble) && !self.is_live {
                    warn(&format!("the site stays as it was: {trouble}"));
                }
                self.trouble = Some(trouble);
                Ok(())
            }
        }
    }

    async fn write(&mut self) -> Result<()> {
        let site = &self.site;
        let listing = self.store.look().await?;
        let mut files: BTreeSet<String> =
            listing.runs.iter().map(|run| run_file(run, self.rules.text())).collect();
        site.expect(files.len());
        files.extend(listing.unread.iter().map(ToString::to_string));
        if self.written.as_ref() == Some(&files) && site::is_site(site.folder()) {
            return Ok(());
        }
        let text = SiteText {
            dir: site.folder(),
            title: Some(&self.title),
            by: self.by.as_ref(),
            rules: &self.rules,
            version_url: self.version_url.as_deref(),
        };
        // Runs that can't be read are reported, and the others are shown.
        let mut left_out = if self.is_live { LeftOut::unsaid() } else { LeftOut::default() };
        site::write(&text, &self.store, |_, _| {}, &mut left_out).await?;
        self.written = Some(files);
        Ok(())
    }
}

/// The folder of a served site.
enum SiteFolder {
    /// One that stays, so that the next start is quick.
    Kept(PathBuf),
    Temporary(TempDir),
}

impl SiteFolder {
    /// Returns the folder that was asked for, otherwise one of the user's caches, and where that can't be written a temporary
    /// one.
    fn of(args: &ServeArgs, store: &str) -> Result<Self> {
        if let Some(dir) = &args.dir {
            return Ok(Self::Kept(dir.clone()));
        }
        let rules = args.shown.rules.as_deref().map(whole).unwrap_or_default();
        let by = args.shown.by.as_ref().map(ToString::to_string).unwrap_or_default();
        let version_url = args.shown.version_url.as_deref().unwrap_or_default();
        let choices = [&rules, args.title.as_deref().unwrap_or_default(), &by, version_url].join("\0");
        let kept = caches().map(|caches| caches.join("perfpipe").join(cache_name(store, &choices)));
        match kept {
            Some(folder) if is_private(&folder) => Ok(Self::Kept(folder)),
            _ => Ok(Self::Temporary(tempfile::Builder::new().prefix("perfpipe-site-").tempdir()?)),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Kept(folder) => folder,
            Self::Temporary(folder) => folder.path(),
        }
    }
}

/// Makes a folder that only this user reads; returns false if that can't be done, or if others may read one that is there, or
/// put another one in its place.
fn is_private(folder: &Path) -> bool {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    let written =
        builder.create(folder).and_then(|()| tempfile::tempfile_in(folder)).and_then(|file| file.metadata());
    written.is_ok_and(|written| is_own(folder, &written))
}

/// Returns true if a folder and the one around it are of the user who wrote a file, who alone reads the first and writes the
/// second.
#[cfg(unix)]
fn is_own(folder: &Path, written: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let is_closed = |folder: &Path, to_others: u32| {
        let found = fs::symlink_metadata(folder);
        found.is_ok_and(|found| {
            found.is_dir() && found.uid() == written.uid() && found.mode() & to_others == 0
        })
    };
    is_closed(folder, 0o077) && folder.parent().is_some_and(|around| is_closed(around, 0o022))
}

#[cfg(not(unix))]
fn is_own(folder: &Path, _written: &fs::Metadata) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir())
}

/// Returns the folder of the user's caches.
fn caches() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(folder) = of("XDG_CACHE_HOME") {
        return Some(folder);
    }
    if cfg!(windows) {
        return of("LOCALAPPDATA");
    }
    of("HOME").map(|home| home.join(if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" }))
}

/// Returns the name of a site's folder: another one for each store, and for what is chosen of its site.
fn cache_name(store: &str, choices: &str) -> String {
    let digest = Sha256::digest(format!("{store}\0{choices}"));
    let digits: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("site-{digits}")
}

/// Returns the name of a store, for people: the last part of its address.
fn store_name(store: &Store) -> String {
    last_part(&address_of(store)).to_owned()
}

/// Returns the address of a store, which is the same from wherever it is named.
fn address_of(store: &Store) -> String {
    let shown = store.to_string();
    let path = Path::new(&shown);
    if path.is_dir() { whole(path) } else { shown }
}

/// Returns a path from the root on.
fn whole(path: &Path) -> String {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

/// Returns the last part of an address.
fn last_part(address: &str) -> &str {
    let mut parts = address.split(['/', '\\']).filter(|part| !part.is_empty());
    parts.next_back().unwrap_or("perfpipe")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_is_the_last_part_of_an_address() {
        for (address, title) in [
            ("/home/me/perfpipe-data", "perfpipe-data"),
            ("s3://load-tests/runs/", "runs"),
            ("me@host/nightly", "nightly"),
            ("/", "perfpipe"),
        ] {
            assert_eq!(last_part(address), title);
        }
    }

    #[test]
    fn each_store_has_a_folder_of_its_own_that_only_its_user_reads() {
        let name = cache_name("/a", "");
        assert!(name != cache_name("/b", "") && name != cache_name("/a", "/rules.toml"));
        assert!(name.len() == 21 && !name.contains('/'));
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("perfpipe").join(name);
        assert!(is_private(&site) && is_private(&site));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&site).unwrap().permissions().mode() & 0o777, 0o700);
            let set =
                |folder: &Path, mode| fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
            set(&site, 0o755);
            assert!(!is_private(&site), "others may read it");
            set(&site, 0o700);
            set(site.parent().unwrap(), 0o777);
            assert!(!is_private(&site), "others may replace it");
        }
        fs::write(folder.path().join("file"), "").unwrap();
        assert!(!is_private(&folder.path().join("file/site")));
    }
}
