//! The same log gives the same bytes of every export and page, whichever worker was faster.

use std::path::{Path, PathBuf};

use crate::support::*;

/// What can be exported of every run, and of one whose samples are kept.
pub(crate) const EXPORTS: [&str; 12] = [
    "seconds",
    "errors",
    "cpu",
    "summary",
    "phases",
    "labels",
    "rejects",
    "statistics",
    "hgrm",
    "samples",
    "percentiles",
    "codes",
];

/// Those that the samples are read for.
const OF_SAMPLES: [&str; 3] = ["samples", "percentiles", "codes"];

/// Every export of a run, as CSV or in the one format that it has.
pub(crate) fn exports(store: &Store, told: &[&str], with_samples: bool) -> Vec<String> {
    let wanted = EXPORTS.iter().filter(|what| with_samples || !OF_SAMPLES.contains(what));
    wanted.map(|what| store.run(&[&["export", "--what", what], told].concat()).text()).collect()
}

/// The pages of a run, drawn anew.
fn pages(store: &Store, test: &str) -> Vec<(String, Vec<u8>)> {
    let formats = ["--format", "svg", "--format", "html", "--out", "pages"];
    store.run(&[&["report", "--test", test], &formats[..]].concat()).text();
    let mut pages: Vec<_> = std::fs::read_dir(store.folder.path().join("pages"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).unwrap()))
        .collect();
    pages.sort();
    pages
}

/// What a folder holds of its only run, by the names of the files.
fn stored(store: &Store) -> Vec<(String, Vec<u8>)> {
    let entries = |folder: PathBuf| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let run = entries(Path::new(store.place()).join("runs")).next().unwrap();
    let generation = entries(run).find(|path| path.is_dir()).unwrap();
    let file = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read(path).unwrap())
    };
    let mut files: Vec<_> = entries(generation).map(file).collect();
    files.sort();
    files
}

#[test]
fn five_ingests_of_each_fixture_give_the_same_bytes_of_every_export_and_page() {
    let numbers = ["1", "2", "3", "5", "16"];
    let stores: Vec<Store> = numbers.iter().map(|_| Store::embedded()).chain(Store::database()).collect();
    for fixture in Fixture::all() {
        let files = fixture.files(&fixture.logs()[0]);
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let key = ["--framework", "same", "--test", "log"];
        let (mut first, mut first_files) = (None, None);
        // The database takes the last number of workers.
        for (store, workers) in stores.iter().zip(numbers.iter().chain(["16"].iter())) {
            let flags = ["--replace", "--workers", workers];
            store.run(&[&["ingest"], &files[..], &key, &flags].concat()).said();
            let place = (fixture.name(), store.place());
            if !store.is_database() {
                let files = stored(store);
                let first = first_files.get_or_insert_with(|| files.clone());
                assert_eq!(first.len(), files.len());
                for (was, is) in first.iter().zip(&files) {
                    assert!(was == is, "{place:?}, {workers} workers: another {}", was.0);
                }
            }
            // What is exported of the same bytes is the same: by a second process, and from the database.
            if !["1", "16"].contains(workers) {
                continue;
            }
            let found = (exports(store, &key, true), pages(store, "log"));
            let first = first.get_or_insert_with(|| found.clone());
            for (what, (was, is)) in EXPORTS.iter().zip(first.0.iter().zip(&found.0)) {
                assert!(was == is, "{place:?}, {workers} workers: other {what}");
            }
            assert_eq!(first.1.len(), found.1.len());
            for (was, is) in first.1.iter().zip(&found.1) {
                assert!(was == is, "{place:?}, {workers} workers: another {}", was.0);
            }
        }
    }
}
