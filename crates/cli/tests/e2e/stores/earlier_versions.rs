//! Stores that earlier builds wrote: read, and written to, as if this one had.

use std::path::Path;

use crate::lake::tables::folder as folder_of;
use crate::postgres::{TestServer, psql_command};
use crate::support::*;

/// The runs of the stores in `fixtures/stores`: framework, test, repeat, and how each was ingested.
fn runs() -> Vec<(String, &'static str, &'static str, Vec<&'static str>)> {
    let run = |framework: &str, test, repeat, files: &[&'static str]| {
        (framework.to_owned(), test, repeat, files.to_vec())
    };
    vec![
        run("go", "2048", "1", &["distributed.csv", "distributed.cpu.csv"]),
        run("go", "2048", "2", &["crlf.csv"]),
        run("Go", "API", "1", &["transactions.csv"]),
        run("go", "counts", "1", &["tab.jtl", "--no-samples"]),
        run(&"x".repeat(150), "long", "1", &["two-headers.csv"]),
        run("go", "partial", "1", &["cut.csv.zip", "--salvage"]),
        run("go", "rejects", "1", &["bad/numbers.csv"]),
    ]
}

/// The same runs, ingested now.
fn fresh() -> Store {
    let store = Store::embedded();
    let whole = std::fs::read(fixture("Results-mix-8181.datefmt.csv.zip")).unwrap();
    let cut = store.file("cut.csv.zip", &whole[..9000]);
    for (framework, test, repeat, arguments) in runs() {
        let arguments: Vec<String> = arguments
            .into_iter()
            .map(|argument| match argument {
                "cut.csv.zip" => cut.clone(),
                flag if flag.starts_with("--") => flag.to_owned(),
                file => fixture(file).to_str().unwrap().to_owned(),
            })
            .collect();
        let mut all = vec!["ingest", "--framework", &framework, "--test", test, "--repeat", repeat];
        all.extend(arguments.iter().map(String::as_str));
        store.run(&all).said();
    }
    store
}

/// A copy of each of the old stores that can be had here.
fn old() -> Vec<Store> {
    let folder = Store::embedded();
    copy(&fixture("stores/2c4bb3d"), Path::new(folder.place()));
    let database = TestServer::shared().map(|server| {
        let url = server.database();
        let restored = psql_command(&url).arg("-f").arg(fixture("stores/2c4bb3d.sql")).output().unwrap();
        assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
        Store::at(["--database".into(), url])
    });
    std::iter::once(folder).chain(database).collect()
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() { copy(&from, &to) } else { _ = std::fs::copy(&from, &to).unwrap() }
    }
}

/// Every export of a run; samples, which earlier builds stored in another order, are sorted.
fn exports(store: &Store, framework: &str, test: &str, repeat: &str) -> Vec<String> {
    let told = ["--framework", framework, "--test", test, "--repeat", repeat];
    let with_samples = test != "counts";
    let mut all = crate::stores::determinism::exports(store, &told, with_samples);
    let at = crate::stores::determinism::EXPORTS.iter().position(|what| *what == "samples");
    if let Some(samples) = at.and_then(|at| all.get_mut(at)).filter(|_| with_samples) {
        let mut lines: Vec<&str> = samples.lines().collect();
        lines.sort_unstable();
        *samples = lines.join("\n");
    }
    all
}

/// Rejects without their reasons: they are in the words of the version that stored them, which stored no codes.
fn without_reasons(rejects: &str, then: bool) -> Vec<std::collections::HashMap<String, String>> {
    let mut rejects = rows(rejects);
    for reject in &mut rejects {
        let code = reject.remove("code").unwrap();
        assert_eq!(code.is_empty(), then, "{reject:?}");
        assert!(!reject.remove("reason").unwrap().is_empty(), "{reject:?}");
    }
    rejects
}

/// What `list` says of each run, but for when it was ingested.
fn listed(store: &Store) -> Vec<serde_json::Value> {
    let mut runs = store.list();
    for run in &mut runs {
        run.as_object_mut().unwrap().remove("ingested_at");
        // How long a run lasted was not stored then: it is computed from the samples where these are read.
        for name in ["duration", "throughput"] {
            run.as_object_mut().unwrap().remove(name);
        }
        // Times below 0 were taken then, and numbers with a fraction of zero were not.
        if run["test"] == "rejects" {
            ["seconds", "t0_ms"].iter().for_each(|name| _ = run.as_object_mut().unwrap().remove(*name));
        }
        // What was damaged had no code then.
        let damage = run["damage"].as_array_mut().into_iter().flatten();
        damage.for_each(|damage| _ = damage.as_object_mut().unwrap().remove("code"));
    }
    runs
}

#[test]
fn old_stores_are_read_as_what_is_ingested_now() {
    let fresh = fresh();
    for old in old() {
        assert_eq!(listed(&old), listed(&fresh));
        assert_eq!(listed(&old).len(), runs().len());
        let durations: Vec<_> = old.list().iter().map(|run| run["duration"].as_f64()).collect();
        assert!(
            durations.iter().any(Option::is_some) && durations.iter().any(Option::is_none),
            "{durations:?}"
        );
        for (framework, test, repeat, _) in runs() {
            let (was, is) =
                (exports(&old, &framework, test, repeat), exports(&fresh, &framework, test, repeat));
            // Its records are not those that are taken now.
            if test == "rejects" {
                continue;
            }
            for ((what, was), is) in crate::stores::determinism::EXPORTS.iter().zip(was).zip(is) {
                if *what == "rejects" {
                    let (was, is) = (without_reasons(&was, true), without_reasons(&is, false));
                    assert_eq!(was, is, "{what} of {framework} {test} {repeat} in {}", old.place());
                    continue;
                }
                // How long a run without samples lasted was not stored then.
                if test != "counts" || !["summary", "phases"].contains(what) {
                    assert_eq!(was, is, "{what} of {framework} {test} {repeat} in {}", old.place());
                }
            }
        }
        let told =
            ["export", "--what", "summary", "--format", "csv", "--framework", "go", "--test", "counts"];
        let summary = &rows(&old.run(&told).text())[0];
        assert_eq!((&*summary["duration"], &*summary["duration_estimated"]), ("11", "true"));
    }
}

#[test]
fn old_stores_are_written_to() {
    let cpu = fixture("distributed.cpu.csv");
    for old in old() {
        for (framework, test, repeat, _) in runs() {
            let name = format!("{framework}_{test}#{repeat}");
            let told = ["--framework", &framework, "--test", test, "--repeat", repeat];
            // The readings are of another time than these.
            if !["partial", "rejects"].contains(&test) {
                old.run(&["attach-cpu", &name, cpu.to_str().unwrap()]).said();
                let readings = old.run(&[&["export", "--what", "cpu"], &told[..]].concat()).text();
                assert!(readings.lines().count() > 2, "{readings}");
            }
            let log = fixture("crlf.csv");
            old.run(&[&["ingest", log.to_str().unwrap(), "--replace"], &told[..]].concat()).said();
            assert_eq!(old.list().len(), runs().len(), "{name} took a place of its own");
            assert_eq!(old.leftovers(), [""; 0]);
        }
        assert!(old.list().iter().all(|run| count(run, "requests") == 200));
        for (framework, test, repeat, _) in runs() {
            old.run(&["drop", "--framework", &framework, "--test", test, "--repeat", repeat]).said();
        }
        assert!(old.list().is_empty());
        assert_eq!(old.leftovers(), [""; 0]);
    }
}

#[test]
fn report_says_once_that_another_version_stored_its_runs() {
    for store in Store::each() {
        for repeat in ["1", "2"] {
            let log = fixture("crlf.csv");
            let key = ["--framework", "go", "--test", "t", "--repeat", repeat];
            store.run(&[&["ingest", log.to_str().unwrap()], &key[..]].concat()).said();
        }
        let report = || store.run(&["report", "--test", "t", "--format", "svg", "--out", "charts"]);
        assert!(!report().err.contains("upgrade"), "{}", report().err);
        store.set("tool_version", "0.0.7");
        let told = report();
        assert_eq!((told.code, told.err.matches("upgrade").count()), (Some(0), 1), "{}", told.err);
        assert_told(&told.err, &["2 runs", "perfpipe 0.0.7"]);
        assert_eq!(store.run(&["-q", "report", "--test", "t", "--format", "svg", "--out", "charts"]).err, "");
    }
}

/// Copies of the stores of `fc8d8c1e`: a folder, and a lake on the disk.
fn of_fc8d8c1e() -> [Store; 2] {
    let folder = Store::embedded();
    copy(&fixture("stores/fc8d8c1e/folder"), Path::new(folder.place()));
    let lake = Store::lake();
    copy(&fixture("stores/fc8d8c1e/lake"), &folder_of(&lake));
    [folder, lake]
}

/// The runs of these stores: framework, test and log.
const OF_FC8D8C1E: [(&str, &str, &str); 2] =
    [("go", "2048", "crlf.csv"), ("k6", "json", "other/k6/metrics.csv.gz")];

#[test]
fn stores_with_times_of_two_units_are_read_and_written_to() {
    let fresh = Store::embedded();
    for (framework, test, log) in OF_FC8D8C1E {
        let log = fixture(log);
        fresh.run(&["ingest", log.to_str().unwrap(), "--framework", framework, "--test", test]).said();
    }
    for old in of_fc8d8c1e() {
        assert_eq!(listed(&old), listed(&fresh));
        let same = || {
            for (framework, test, _) in OF_FC8D8C1E {
                let of = |store| exports(store, framework, test, "1");
                assert_eq!(of(&old), of(&fresh), "{framework} {test} in {}", old.place());
            }
        };
        same();
        let log = fixture("other/k6/metrics.csv.gz");
        old.run(&["ingest", log.to_str().unwrap(), "--framework", "k6", "--test", "new"]).said();
        same();
        old.run(&["verify"]).text();
    }
}
