//! What the pages share: the example runs, and a server.

use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock};

use super::block::blocks;
use super::root;
use super::session::{DATABASE, Session, run};
use crate::postgres::TestServer;

/// Says in a page that it begins with the example runs.
const EXAMPLE_RUNS: &str = "<!-- example runs -->";
/// Says in a page that its database begins with them.
const EXAMPLE_DATABASE: &str = "<!-- example runs in PostgreSQL -->";
/// The page whose first block stores the example runs.
const EXAMPLE_PAGE: &str = "docs/README.md";

/// What the pages share: the example runs, and a server.
pub(super) struct Workshop {
    folder: tempfile::TempDir,
    server: OnceLock<Option<TestServer>>,
    /// Pages with a database run one by one: all of them call it `load`.
    database: Mutex<()>,
    example: OnceLock<()>,
}

impl Workshop {
    pub(super) fn new() -> Self {
        let folder = folder_with_fixtures();
        Self { folder, server: OnceLock::new(), database: Mutex::new(()), example: OnceLock::new() }
    }

    /// A folder for a page with this text: the fixtures are in it, and the example runs where it asks for them.
    pub(super) fn folder(&self, page: &str) -> tempfile::TempDir {
        let folder = folder_with_fixtures();
        if page.contains(EXAMPLE_RUNS) {
            self.example.get_or_init(|| self.store_example());
            let mut copy = Command::new("cp");
            copy.arg("-r").arg(self.folder.path().join("perfpipe-data")).arg(folder.path());
            assert!(copy.status().unwrap().success());
        }
        folder
    }

    fn store_example(&self) {
        let done = run(Session { folder: self.folder.path(), server: None }.shell("sh", &example_script()));
        assert_eq!(done.code, Some(0), "{}", done.err);
    }

    /// The server and a fresh database on it; `None` where PostgreSQL is not installed.
    pub(super) fn database(&self, page: &str) -> Option<(&TestServer, MutexGuard<'_, ()>)> {
        let server = self.server.get_or_init(|| TestServer::start(None)).as_ref()?;
        let guard = self.database.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        server.psql(&format!("drop database if exists {DATABASE}"));
        server.psql(&format!("create database {DATABASE}"));
        if page.contains(EXAMPLE_DATABASE) {
            let folder = folder_with_fixtures();
            let script = format!("export PERFPIPE_DATABASE_URL=postgres:///{DATABASE}\n{}", example_script());
            let done = run(Session { folder: folder.path(), server: Some(server) }.shell("sh", &script));
            assert_eq!(done.code, Some(0), "{}", done.err);
        }
        Some((server, guard))
    }
}

fn folder_with_fixtures() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root().join("fixtures"), folder.path().join("fixtures")).unwrap();
    folder
}

/// The commands that store the example runs.
fn example_script() -> String {
    let text = std::fs::read_to_string(root().join(EXAMPLE_PAGE)).unwrap();
    let first = blocks(&text).into_iter().find(|block| block.language == "sh").unwrap();
    format!("set -e\n{}", first.text())
}
