//! The live page of a running test, at an address of this machine: it can be read, and nothing can be changed by it.

mod answer;
mod events;
mod hosts;
mod latest_page;
mod page;
mod server;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use perfpipe_ingest::watch::{Look, Watch};
use tokio::net::TcpListener;

use self::latest_page::LatestPage;
use super::pace::Pace;
use crate::error::CliError;
use crate::output::{note, warn};

/// How long the end waits for pages that are open to ask for the last figures.
const LINGER: Duration = Duration::from_secs(1);

/// The error of an address that can't be had.
fn refused(address: SocketAddr, error: &io::Error) -> CliError {
    let (problem, remedy) = match error.kind() {
        io::ErrorKind::AddrInUse => (
            "another program listens at this port".to_owned(),
            format!(
                "Give another port, or 0 for any that is free: --serve {}.",
                SocketAddr::new(address.ip(), 0)
            ),
        ),
        io::ErrorKind::AddrNotAvailable => (
            "this machine has no such address".to_owned(),
            format!(
                "Give --serve 127.0.0.1:{0} for browsers of this machine, or --serve 0.0.0.0:{0} for those of others.",
                address.port()
            ),
        ),
        io::ErrorKind::PermissionDenied => (
            "this user may not listen at this port".to_owned(),
            format!("Give a port from 1024 on, as in --serve {}.", SocketAddr::new(address.ip(), 8090)),
        ),
        _ => (error.to_string(), "Give an address of this machine, as in --serve 127.0.0.1:8090.".to_owned()),
    };
    CliError::refused(format!("--serve {address}: {problem}"), remedy)
}

/// The server of a live page.
pub(super) struct Serving {
    latest: Arc<LatestPage>,
    address: SocketAddr,
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
    pub(super) async fn begin(address: SocketAddr) -> Result<Self> {
        let refused = |error: std::io::Error| refused(address, &error);
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        if !address.ip().is_loopback() {
            let port = address.port();
            warn(&format!(
                "--serve {address}: whoever reaches this machine can read the page; --serve 127.0.0.1:{port} keeps it to \
                 this machine, and ssh -L {port}:127.0.0.1:{port} HOST shows it elsewhere"
            ));
        }
        note(&format!("the live page is http://{address}/"));
        let latest = Arc::new(LatestPage::default());
        tokio::spawn(server::serve(listener, Arc::clone(&latest)));
        Ok(Self {
            latest,
            address,
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

    /// Draws the page again, about once a second, if there is something new, and somebody to see it.
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
        if let Some(page) = page::page(watch, self.latest.next_state())? {
            self.latest.show(page);
            self.stale = false;
        }
        self.pace.took(begun.elapsed());
        Ok(())
    }

    /// Announces the end of the test to open pages.
    pub(super) async fn end(self, sentence: &str) {
        if self.latest.end(sentence) {
            tokio::time::sleep(LINGER).await;
        }
    }
}
