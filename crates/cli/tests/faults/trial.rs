//! What the trials share: one run that must never be lost, and how a command may end.

use std::process::{Child, Stdio};

use crate::support::*;

/// The run that every ingest of a trial is of.
pub(crate) const TOLD: [&str; 4] = ["--framework", "nio", "--test", "2048"];

/// The exports that tell a run from any other.
pub(crate) fn exports(store: &Store) -> Vec<String> {
    let key = Key::new("nio", "2048");
    ["seconds", "errors", "labels", "summary"].map(|what| store.export(&key, what, "csv", &[])).into()
}

/// How many samples the stored run has.
pub(crate) fn samples(store: &Store) -> usize {
    store.export(&Key::new("nio", "2048"), "samples", "csv", &[]).lines().count() - 1
}

/// Ingests a log from which the run is made, and gives what it exports.
pub(crate) fn ingested(store: &Store, log: &str) -> Vec<String> {
    store.run(&[&["ingest", log], &TOLD[..]].concat()).said();
    exports(store)
}

/// Starts an ingest of a file, or of the same bytes by a pipe.
pub(crate) fn start(store: &Store, log: &str, piped: bool) -> Child {
    let mut command = store.command(&[&["ingest", if piped { "-" } else { log }], &TOLD[..]].concat());
    if piped {
        // Through `cat`, so that it is a pipe and not the file by another name.
        let mut cat = std::process::Command::new("cat");
        let mut cat = cat.stdin(std::fs::File::open(log).unwrap()).stdout(Stdio::piped()).spawn().unwrap();
        command.stdin(cat.stdout.take().unwrap());
        std::thread::spawn(move || cat.wait());
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}
