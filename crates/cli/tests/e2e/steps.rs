//! A crash between any two steps of an ingest into a folder, from the first folder made to the last file removed.

use std::path::Path;

use perfpipe_ingest::store::{ParquetStore, StoredRun};
use perfpipe_ingest::{RunKey, SampleBatch};

use crate::support::*;
use crate::traced::kill_before_change;

/// A run as it is read back, with the number of its samples and the sum of their times.
type Content = Option<(StoredRun, i64, i64)>;

fn content(store: &Store, key: &RunKey) -> Content {
    let opened = ParquetStore::open(store.place()).unwrap();
    let mut run = opened.read(key).unwrap()?;
    run.info.ingested_at.clear();
    let (mut samples, mut elapsed) = (0, 0);
    let mut add = |batch: SampleBatch| {
        samples += batch.len() as i64;
        elapsed += batch.elapsed.iter().map(|ms| i64::from(*ms)).sum::<i64>();
        Ok(())
    };
    opened.samples(key, &mut add).unwrap();
    opened.rejects(key, &mut |_| Ok(())).unwrap();
    Some((run, samples, elapsed))
}

fn ingest(log: &str, test: &str) -> [String; 6] {
    ["ingest", fixture(log).to_str().unwrap(), "--framework", "nio", "--test", test].map(str::to_owned)
}

fn run(store: &Store, arguments: &[String]) {
    store.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).said();
}

/// Every file and folder of a store that is not a lock, without the parts of names that are random.
fn tree(store: &Store) -> Vec<String> {
    fn walk(folder: &Path, below: &str, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            let name = format!("{below}/{}", if name.starts_with("run-") { "run" } else { &name });
            if entry.file_type().unwrap().is_dir() {
                walk(&entry.path(), &name, found);
            }
            found.push(name);
        }
    }
    let mut found = Vec::new();
    walk(Path::new(store.place()), "", &mut found);
    found.retain(|name| !name.ends_with("/.lock"));
    found.sort();
    found
}

/// Kills an ingest of `nio 2048` into the store that `prepare` makes before each of its changes in turn: what is
/// read then is one of `allowed`, and an ingest of another run leaves nothing but whole runs.
fn kill_at_each_step(prepare: impl Fn(&Store), allowed: &[Content]) {
    let key = RunKey::new("nio", "2048");
    let mut seen = vec![0; allowed.len()];
    let mut changes = Vec::new();
    loop {
        let store = Store::embedded();
        prepare(&store);
        let arguments = ingest("tab.jtl", "2048");
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (status, killed) = match kill_before_change(&store.command(&arguments), changes.len()) {
            Ok(ended) => ended,
            Err(error) => {
                eprintln!("test skipped: a process can't be traced here ({error})");
                return;
            }
        };
        let now = content(&store, &key);
        let which = allowed.iter().position(|allowed| *allowed == now);
        seen[which.unwrap_or_else(|| panic!("before {killed:?} after {changes:?}: {now:?}"))] += 1;
        run(&store, &ingest("crlf.csv", "other"));
        assert_eq!(content(&store, &key), now, "the ingest of another run changed this one");
        let clean = clean(now.is_some());
        assert_eq!(tree(&store), clean, "before {killed:?} after {changes:?}");
        let Some(killed) = killed else {
            assert!(status.success());
            break;
        };
        changes.push(killed);
    }
    assert!(seen.iter().all(|times| *times > 0), "{seen:?} after {changes:?}");
    let renames = changes.iter().filter(|change| change.starts_with("rename")).count();
    assert!(renames >= 2, "{changes:?}");
    eprintln!("killed before each of {} changes: {changes:?}", changes.len());
}

/// What a store consists of that holds `nio other`, and `nio 2048` too, or not.
fn clean(both: bool) -> Vec<String> {
    let files = ["cpu.parquet", "errors.parquet", "labels.parquet", "rejects.jsonl", "samples.parquet"];
    let files = files.into_iter().chain(["seconds.parquet"]).map(|name| format!("/run/{name}"));
    let of_run: Vec<String> = files.chain(["", "/manifest.json", "/run"].map(str::to_owned)).collect();
    let keys = if both { vec!["nio+2048", "nio+other"] } else { vec!["nio+other"] };
    let runs = keys.iter().flat_map(|key| of_run.iter().map(move |name| format!("/runs/{key}{name}")));
    let mut all: Vec<String> =
        runs.chain(["/perfpipe.json", "/runs", "/staging"].map(str::to_owned)).collect();
    all.sort();
    all
}

/// What `log` gives.
fn content_of(log: &str) -> Content {
    let store = Store::embedded();
    run(&store, &ingest(log, "2048"));
    content(&store, &RunKey::new("nio", "2048"))
}

#[test]
fn a_crash_before_any_step_of_a_re_ingest_leaves_the_old_run_or_the_new_one() {
    kill_at_each_step(
        |store| run(store, &ingest("distributed.csv", "2048")),
        &[content_of("distributed.csv"), content_of("tab.jtl")],
    );
}

#[test]
fn a_crash_before_any_step_of_a_first_ingest_leaves_no_run_or_a_whole_one() {
    kill_at_each_step(|_| {}, &[None, content_of("tab.jtl")]);
}
