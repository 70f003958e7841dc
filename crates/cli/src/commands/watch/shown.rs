//! Where a running test is shown: on a terminal, or as lines.

use std::io::{self, IsTerminal};
use std::net::SocketAddr;

use anyhow::Result;
use perfpipe_ingest::watch::{Look, Watch};

use super::args::WatchArgs;
use super::lines::WatchLines;
use super::screen::Screen;

/// Where a test is shown.
pub(super) enum Shown {
    Lines(WatchLines),
    Screen(Box<Screen>),
    /// Nowhere, since standard output has the summary alone.
    Nowhere,
}

impl Shown {
    /// Takes the terminal, if standard output is one.
    pub(super) fn begin(args: &WatchArgs, page: Option<SocketAddr>) -> Result<Self> {
        if !args.output.is_notes() && args.output.file.output.is_none() {
            return Ok(Self::Nowhere);
        }
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if is_dumb || !io::stdout().is_terminal() {
            return Ok(Self::Lines(WatchLines::default()));
        }
        let files: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
        let page = page.map(|address| format!("   http://{address}/")).unwrap_or_default();
        Ok(Self::Screen(Box::new(Screen::new(files.join(", ") + &page)?)))
    }

    /// Shows how far a test has come, and on a terminal why its CPU readings can't be read.
    pub(super) fn show(&mut self, watch: &Watch, look: &Look, trouble: Option<String>) -> Result<()> {
        match self {
            Self::Lines(lines) => lines.show(watch, look),
            Self::Screen(screen) => screen.show(watch, look, trouble),
            Self::Nowhere => Ok(()),
        }
    }

    /// Returns true if the terminal is taken, so that nothing else may be written to it.
    pub(super) fn is_screen(&self) -> bool {
        matches!(self, Self::Screen(_))
    }
}
