//! The fixtures, and what they must hold.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::store::{Key, Store};
use super::values::text;

/// The path of a file of `fixtures/`.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name).canonicalize().unwrap()
}

/// A fixture and what it must hold.
pub(crate) struct Fixture {
    pub(crate) facts: Value,
}

impl Fixture {
    /// All of them.
    pub(crate) fn all() -> Vec<Self> {
        let facts = std::fs::read(fixture("facts.json")).unwrap();
        let facts: Vec<Value> = serde_json::from_slice(&facts).unwrap();
        assert!(facts.len() >= 13, "a fixture was lost");
        facts.into_iter().map(|facts| Self { facts }).collect()
    }

    pub(crate) fn named(name: &str) -> Self {
        Self::all().into_iter().find(|fixture| fixture.name() == name).unwrap()
    }

    pub(crate) fn name(&self) -> &str {
        text(&self.facts, "file")
    }

    /// Its log, plain and zipped, as far as these are there.
    pub(crate) fn logs(&self) -> Vec<String> {
        let names = [self.name().to_owned(), format!("{}.zip", self.name())];
        let path = |name: &String| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name);
        let there = names.iter().map(path).filter(|path| path.is_file());
        there.map(|path| path.canonicalize().unwrap().to_str().unwrap().to_owned()).collect()
    }

    /// Its CPU export, where there is one; zipped beside a zipped log.
    pub(crate) fn cpu(&self, log: &str) -> Option<String> {
        let name = self.facts["cpu"]["file"].as_str()?;
        let zipped = fixture("").join(format!("{name}.zip"));
        let path = if log.ends_with(".zip") && zipped.is_file() { zipped } else { fixture(name) };
        Some(path.to_str().unwrap().to_owned())
    }

    /// The log in one of its forms, and the CPU export.
    pub(crate) fn files(&self, log: &str) -> Vec<String> {
        std::iter::once(log.to_owned()).chain(self.cpu(log)).collect()
    }

    /// Ingests it without a flag.
    pub(crate) fn ingest_into(&self, store: &Store) -> Key {
        let files = self.files(&self.logs()[0]);
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        store.run(&[&["ingest"], &files[..]].concat()).said();
        store.only_key()
    }
}

/// A log that takes hours to read, and little room: its end is a hole.
pub(crate) fn endless_log(store: &Store, name: &str) -> String {
    let mut log = "timeStamp,elapsed,label,success\n".to_owned();
    log.extend((0..1000).map(|at| format!("{},12,Get,true\n", 1_795_203_738_615_i64 + at)));
    let path = store.file(name, log);
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 42).unwrap();
    path
}
