//! A crash between any two steps of an ingest into a folder, from the first folder made to the last file removed.

use std::path::Path;

use perfpipe_ingest::StoredRun;
use perfpipe_ingest::store::parquet::ParquetStore;
use perfpipe_ingest::{RunKey, SampleBatch};

use nix::libc;

use crate::postgres::required::skip;
use crate::support::*;
use crate::tools::tracer::{Step, Traced, Turn, kill_before_change, trace};

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
                skip("PTRACE", format!("no process can be traced here ({error})"));
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

/// A re-ingest of `nio 2048`, one step of which took another turn.
struct ReIngest {
    store: Store,
    /// The folders of the run's files before it.
    before: Vec<std::path::PathBuf>,
    at: Step,
    traced: Traced,
}

/// Ingests `nio 2048` twice, the second time with another turn at its step of that number. Returns `None` if there is no
/// such step.
fn re_ingest(nth: usize, turn: Turn) -> Option<ReIngest> {
    let store = Store::embedded();
    run(&store, &ingest("distributed.csv", "2048"));
    let before = generations(&store);
    let arguments = ingest("tab.jtl", "2048");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut at = None;
    let traced = trace(&store.command(&arguments), |step| {
        if step.nth != nth {
            return Turn::GoOn;
        }
        at = Some(step.clone());
        turn
    });
    Some(ReIngest { store, before, at: at?, traced: traced.unwrap() })
}

/// Whether processes can be traced here; the test is skipped if not.
fn can_trace() -> bool {
    let traced = trace(&Store::embedded().command(&["--version"]), |_| Turn::GoOn);
    traced.inspect_err(|error| skip("PTRACE", format!("no process can be traced here ({error})"))).is_ok()
}

/// Makes each step of a re-ingest fail in turn: what is read then is the old run, unless the command has succeeded or
/// says that the new one is in place; and the next ingest leaves nothing but whole runs.
#[test]
fn step_that_fails_leaves_the_old_run_or_is_told_to_have_come_too_late() {
    if !can_trace() {
        return;
    }
    let key = RunKey::new("nio", "2048");
    let (old, new) = (content_of("distributed.csv"), content_of("tab.jtl"));
    let (mut failed, mut late) = (0, 0);
    for nth in 0.. {
        let Some(ReIngest { store, before, at, traced }) = re_ingest(nth, Turn::Fail(libc::EIO)) else {
            break;
        };
        let told = format!("{at:?}: {}", traced.err);
        let in_place = traced.err.contains("is in its place");
        assert!(traced.status.code() == Some(i32::from(!traced.status.success())), "{told}");
        assert!(!(in_place && traced.status.success()), "{told}");
        let expected = if traced.status.success() || in_place { &new } else { &old };
        assert!(content(&store, &key) == *expected, "{told}");
        if in_place {
            // What was there before is kept, whatever becomes of the rename.
            assert!(before.iter().all(|old| generations(&store).contains(old)), "{told}");
        }
        (failed, late) = (failed + usize::from(!traced.status.success()), late + usize::from(in_place));
        run(&store, &ingest("crlf.csv", "other"));
        assert!(content(&store, &key) == *expected, "{told}");
        assert_eq!(tree(&store), clean(true), "{told}");
    }
    assert!(failed > 5 && late > 0, "{failed} {late}");
}

/// Asks a re-ingest to end before each of its steps in turn: it ends with the code of the signal or has done its work,
/// leaves nothing behind, and the old run or the new one is there.
#[test]
fn signal_before_any_step_of_a_re_ingest_leaves_the_old_run_or_the_new_one_and_nothing_else() {
    if !can_trace() {
        return;
    }
    let key = RunKey::new("nio", "2048");
    let (old, new) = (content_of("distributed.csv"), content_of("tab.jtl"));
    let mut stopped = 0;
    for nth in 0.. {
        let Some(ReIngest { store, at, traced, .. }) = re_ingest(nth, Turn::AskToEnd) else { break };
        let told = format!("{at:?}: {:?}: {}", traced.status, traced.err);
        let now = content(&store, &key);
        match traced.status.code() {
            Some(143) => assert!(now == old || now == new, "{told}"),
            Some(0) => assert!(now == new, "{told}"),
            _ => panic!("{told}"),
        }
        let kept = traced.err.contains("nothing was stored");
        assert!(!kept || now == old, "{told}");
        assert_eq!(store.leftovers(), [""; 0], "{told}");
        stopped += usize::from(traced.status.code() == Some(143));
    }
    assert!(stopped > 5, "{stopped}");
}

/// The folders of files that lie in the folder of `nio 2048`.
fn generations(store: &Store) -> Vec<std::path::PathBuf> {
    let run = Path::new(store.place()).join("runs/nio+2048");
    let entries = std::fs::read_dir(run).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).collect()
}

#[test]
fn search_for_sample_files_finds_one_of_a_run_at_most() {
    let store = Store::embedded();
    run(&store, &ingest("distributed.csv", "2048"));
    let arguments = ingest("tab.jtl", "2048");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    let traced = trace(&store.command(&arguments), |step| {
        let samples = generations(&store).into_iter().filter(|path| path.join("samples.parquet").exists());
        found.push((samples.count(), step.clone()));
        Turn::GoOn
    });
    let Ok(traced) = traced else { return };
    assert!(traced.status.success(), "{}", traced.err);
    assert!(found.iter().all(|(files, _)| *files <= 1), "{found:?}");
    // Between two renames there is none.
    let none: Vec<_> = found.iter().filter(|(files, _)| *files == 0).collect();
    assert!(none.len() == 1 && none.iter().all(|(_, step)| step.renames()), "{none:?}");
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
fn crash_before_any_step_of_a_re_ingest_leaves_the_old_run_or_the_new_one() {
    kill_at_each_step(
        |store| run(store, &ingest("distributed.csv", "2048")),
        &[content_of("distributed.csv"), content_of("tab.jtl")],
    );
}

#[test]
fn crash_before_any_step_of_a_first_ingest_leaves_no_run_or_a_whole_one() {
    kill_at_each_step(|_| {}, &[None, content_of("tab.jtl")]);
}
