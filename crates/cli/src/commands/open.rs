//! `perfpipe open`: shows a store or a site in the browser.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use super::serve::{ServeArgs, serve};
use super::site::is_site;
use crate::args::StoreArgs;
use crate::input::store;
use crate::output::{note, warn};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe open\n  \
    perfpipe open public\n  \
    BROWSER=firefox perfpipe open --store nightly\n\n\
    A site that `perfpipe site` wrote is opened as it is. A store is served at a free port of this machine, as \
    `perfpipe serve` does, until Ctrl-C.")]
pub(crate) struct OpenArgs {
    /// Folder of a site or of a store [default: the store that --store or --database names]
    #[arg(value_name = "DIR", conflicts_with_all = ["store", "database"])]
    pub(crate) dir: Option<PathBuf>,
}

/// Opens a site, or serves a store and opens it.
pub(crate) async fn run(args: &OpenArgs, at: &StoreArgs) -> Result<()> {
    let store = match &args.dir {
        Some(dir) if is_site(dir) => {
            show(&dir.join("index.html").display().to_string());
            return Ok(());
        }
        Some(dir) => store::existing_folder(dir, &store::FolderFlag("DIR", None))?,
        None => store::existing(at).await?,
    };
    serve(&ServeArgs::at(SocketAddr::from(([127, 0, 0, 1], 0))), store, show).await
}

/// Starts a browser, or says what to open.
fn show(address: &str) {
    if !has_browser() {
        note(&format!("there is no display for a browser: open {address}"));
        return;
    }
    if let Err(error) = opener::open_browser(address) {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        warn(&format!("can't start a browser: {error}{cause}; open {address}"));
    }
}

/// Returns false on a system of windows without one: there, a browser of the terminal would begin.
fn has_browser() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let needs_display = cfg!(unix) && !cfg!(target_os = "macos");
    let is_subsystem = Path::new("/proc/sys/fs/binfmt_misc/WSLInterop").exists();
    !needs_display || is_subsystem || ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY"].into_iter().any(is_set)
}
