//! `site`: what it writes, again after a change, and what it refuses.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::*;

/// A store of two frameworks, one of them with two repeats.
fn filled() -> Store {
    let store = Store::embedded();
    for (framework, repeat) in [("go", "1"), ("go", "2"), ("node", "1")] {
        ingest(&store, framework, repeat, "crlf.csv");
    }
    store
}

/// A path in the folder of the test.
fn path(store: &Store, name: &str) -> PathBuf {
    Path::new(&store.file("beside", "")).with_file_name(name)
}

fn ingest(store: &Store, framework: &str, repeat: &str, log: &str) {
    let log = fixture(log);
    let name = ["--framework", framework, "--test", "a/b", "--repeat", repeat, "--replace"];
    store.run(&[&["ingest", log.to_str().unwrap()], &name[..]].concat()).said();
}

/// The files of a folder and of those within it, with their contents.
fn files(folder: &Path) -> BTreeSet<(PathBuf, Vec<u8>)> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let text = fs::read(&path).unwrap();
            found.insert((path, text));
        }
    }
    found
}

/// The list of all runs of a site.
fn index(folder: &Path) -> serde_json::Value {
    let text = fs::read_to_string(folder.join("runs.js")).unwrap();
    let json = text.strip_prefix("perfpipe.store(").unwrap().strip_suffix(");\n").unwrap();
    serde_json::from_str(json).unwrap()
}

#[test]
fn site_has_the_figures_of_the_command_and_only_what_changed_is_written_again() {
    let store = filled();
    let site = path(&store, "site");
    let folder = site.to_str().unwrap();
    let done = store.run(&["site", folder, "--format", "json"]);
    assert_told(&done.err, &["3 runs of 1 test", "3 written, 0 removed", "index.html"]);
    assert_eq!(done.rows().len(), 3);
    let list = index(&site);
    let runs = list["runs"].as_array().unwrap();
    for run in runs {
        let name = format!("{}_a/b#{}", run["framework"].as_str().unwrap(), run["repeat"]);
        let export = ["export", &name, "--what", "summary", "--format", "json"];
        let exported: serde_json::Value = serde_json::from_str(&store.run(&export).text()).unwrap();
        let figures = &exported[0];
        for (own, theirs) in [("p50", "p50"), ("p95", "p95"), ("p99", "p99"), ("throughput", "throughput")] {
            assert_eq!(run[own], figures[theirs], "{name} {own}: {figures}");
        }
        assert!(site.join(run["file"].as_str().unwrap()).is_file());
    }
    assert!(site.join(list["tests"][0]["file"].as_str().unwrap()).is_file());

    let before = files(&site);
    assert_told(&store.run(&["site", folder]).err, &["0 written, 0 removed"]);
    assert_eq!(files(&site), before);

    // Another log under the name of one, one run less, and one of another test.
    ingest(&store, "go", "2", "distributed.csv");
    store.run(&["drop", "node_a/b"]).said();
    let log = fixture("crlf.csv");
    store.run(&["ingest", log.to_str().unwrap(), "--framework", "spring", "--test", "c"]).said();
    assert_told(&store.run(&["site", folder]).err, &["3 runs of 2 tests", "2 written, 1 removed"]);
    let after = files(&site);
    let kept = runs[0]["file"].as_str().unwrap();
    let unchanged =
        before.iter().filter(|file| file.0.starts_with(site.join("runs")) && after.contains(file));
    assert_eq!(unchanged.count(), 1, "{kept}");
    assert_eq!(fs::read_dir(site.join("runs")).unwrap().count(), 3);
    assert_eq!(fs::read_dir(site.join("tests")).unwrap().count(), 2);
    let slots: Vec<_> = index(&site)["frameworks"].as_array().unwrap().clone();
    let slots: Vec<_> = slots.iter().map(|slot| (slot["name"].as_str().unwrap(), &slot["slot"])).collect();
    assert_eq!(slots, [("go", &0.into()), ("node", &1.into()), ("spring", &2.into())]);
}

#[test]
fn store_of_sweeps_alone_is_not_said_to_be_empty() {
    let store = Store::embedded();
    let ports = store.file("ports.toml", "8100 = \"alpha\"\n8101 = \"beta\"\n");
    let points = fixture("other/ab/jempower");
    store.run(&["ingest", points.to_str().unwrap(), "--frameworks", &ports]).said();
    let site = path(&store, "site");
    let folder = site.to_str().unwrap();
    assert_told(&store.run(&["site", folder]).err, &["0 runs of 0 tests"]);
    assert_eq!(index(&site)["points"], 48);
    ingest(&store, "go", "1", "crlf.csv");
    store.run(&["site", folder]).said();
    assert_eq!(index(&site)["points"], 48);
}

#[test]
fn rules_are_checked_and_folders_of_others_are_refused() {
    let store = filled();
    let site = path(&store, "site");
    let folder = site.to_str().unwrap();
    let rules = store.file("rules.toml", "rules = [\"p95 < 1ms\", \"failures < 100%\"]\n");
    store.run(&["site", folder, "--rules", &rules, "--title", "</script>"]).said();
    let list = index(&site);
    assert_eq!(list["name"], "</script>");
    assert_eq!(list["runs"][0]["verdict"], serde_json::json!({"passed": 1, "failed": 1}));
    let points = store.file("points.toml", "rules = [\"p95 not worse than baseline\"]\n");
    assert_told(&store.run(&["site", folder, "--rules", &points]).complaint(2), &["baseline"]);

    let other = path(&store, "other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("notes.txt"), "mine").unwrap();
    let refused = store.run(&["site", other.to_str().unwrap()]).complaint(2);
    assert_told(&refused, &["not empty", "not a site of perfpipe", "Name another folder"]);
    assert_eq!(fs::read_dir(&other).unwrap().count(), 1);

    let piped = path(&store, "piped");
    fs::create_dir(&piped).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(piped.join("runs.js")).status().unwrap();
    assert!(pipe.success());
    assert_told(&store.run(&["site", piped.to_str().unwrap()]).complaint(1), &["no plain file"]);

    // A list that somebody else wrote names files outside of the site: they stay.
    let list = fs::read_to_string(site.join("runs.js")).unwrap();
    let victim = path(&store, "victim.js");
    fs::write(&victim, "mine").unwrap();
    let file = index(&site)["runs"][0]["file"].as_str().unwrap().to_owned();
    fs::write(site.join("runs.js"), list.replace(&file, "runs/../../victim.js")).unwrap();
    store.run(&["site", folder]).said();
    assert_eq!(fs::read_to_string(victim).unwrap(), "mine");
}

#[test]
fn two_at_once_leave_the_site_to_one() {
    let store = filled();
    let site = path(&store, "site");
    store.run(&["site", site.to_str().unwrap()]).said();
    let lock = fs::File::open(site.join("site.lock")).unwrap();
    lock.lock().unwrap();
    let refused = store.run(&["site", site.to_str().unwrap()]).complaint(1);
    assert_told(&refused, &["another process writes the site"]);
}

#[test]
fn versions_are_those_of_a_tag_or_of_what_is_asked_for() {
    let store = Store::embedded();
    let log = fixture("crlf.csv");
    for commit in ["a", "b"] {
        let tag = format!("commit={commit}");
        let name = ["--framework", "go", "--test", "t", "--append-repeat", "--tag", &tag];
        store.run(&[&["ingest", log.to_str().unwrap()], &name[..]].concat()).said();
    }
    let site = path(&store, "site");
    let folder = site.to_str().unwrap();
    let test = |arguments: &[&str]| {
        store.run(&[&["site", folder], arguments].concat()).said();
        index(&site)["tests"][0].clone()
    };
    let by_tag = test(&[]);
    assert_eq!(by_tag["by"], "tag:commit");
    let trend = fs::read_to_string(site.join(by_tag["trend"].as_str().unwrap())).unwrap();
    assert!(trend.starts_with("perfpipe.trend(") && trend.contains("\"name\":\"b\""), "{trend}");
    // Both began on one day, so that there is one version, and no trend.
    let by_day = test(&["--by", "day"]);
    assert_eq!((&by_day["by"], &by_day["trend"]), (&"day".into(), &serde_json::Value::Null));
    assert_eq!(fs::read_dir(site.join("tests")).unwrap().count(), 1);
    assert_eq!(test(&[]), by_tag);
}

#[test]
fn damaged_figures_are_computed_again_and_a_pipe_is_not_waited_for() {
    let store = filled();
    let site = path(&store, "site");
    let folder = site.to_str().unwrap();
    store.run(&["site", folder]).said();
    let before = files(&site);
    let runs = fs::read_dir(site.join("runs")).unwrap().map(|entry| entry.unwrap().path());
    let runs: Vec<PathBuf> = runs.collect();
    fs::write(&runs[0], "perfpipe.run(\"x\",\"\",\"\");\n").unwrap();
    // What stands there is looked at where a run of the test is new.
    ingest(&store, "go", "3", "crlf.csv");
    store.run(&["site", folder]).said();
    let after = files(&site);
    let of_runs = before.iter().filter(|(path, _)| path.starts_with(site.join("runs")));
    assert!(of_runs.into_iter().all(|file| after.contains(file)));

    fs::remove_file(&runs[1]).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&runs[1]).status().unwrap().success());
    assert_told(&store.run(&["site", folder]).complaint(1), &["no plain file", "Remove it"]);
}

#[test]
fn what_is_deleted_is_what_was_meant() {
    let store = filled();
    let site = path(&store, "site");
    let folder = site.to_str().unwrap();
    store.run(&["site", folder, "--title", "nightly"]).said();
    let before = files(&site);

    // The title stays, remains of a writer that was stopped go, and what was cut short is written again.
    let runs: Vec<PathBuf> =
        fs::read_dir(site.join("runs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    fs::write(site.join("runs/gone-2048-1-0a1b2c3d4e5f.js"), "perfpipe.run();\n").unwrap();
    fs::write(site.join("runs/notes.txt"), "mine").unwrap();
    fs::write(&runs[0], "perfpipe.ru").unwrap();
    for remains in [".perfpipe-a1B2c3", "runs/.perfpipe-a1B2c3"] {
        fs::write(site.join(remains), "perfpipe.st").unwrap();
    }
    let others = ["runs/notes.txt", "tests/login.js", ".perfpipe-notes-of-mine", "CNAME"];
    others.iter().for_each(|other| fs::write(site.join(other), "mine").unwrap());
    store.run(&["site", folder]).said();
    for other in others {
        assert_eq!(fs::read_to_string(site.join(other)).unwrap(), "mine");
        fs::remove_file(site.join(other)).unwrap();
    }
    assert_eq!(files(&site), before);

    // A store whose disk is gone looks like one without runs.
    let kept = path(&store, "kept");
    let stored = store.folder.path().join("store");
    fs::rename(stored.join("runs"), &kept).unwrap();
    assert_told(&store.run(&["site", folder]).complaint(1), &["has no runs", "Check the store"]);
    fs::rename(&kept, stored.join("runs")).unwrap();
    assert_eq!(files(&site), before);

    // A first writer that was stopped left no list yet.
    fs::remove_file(site.join("runs.js")).unwrap();
    store.run(&["site", folder, "--title", "nightly"]).said();
    assert_eq!(files(&site), before);

    // Nothing is written or removed behind a link.
    let victim = path(&store, "victim");
    fs::create_dir(&victim).unwrap();
    fs::write(victim.join("important.js"), "mine").unwrap();
    fs::remove_dir_all(site.join("runs")).unwrap();
    std::os::unix::fs::symlink(&victim, site.join("runs")).unwrap();
    assert_told(&store.run(&["site", folder]).complaint(1), &["is a link"]);
    assert_eq!(fs::read_dir(&victim).unwrap().count(), 1);
}

#[test]
fn runs_without_the_tag_are_counted_and_one_tagged_run_changes_no_trend() {
    let store = filled();
    let log = fixture("crlf.csv");
    let name = ["--framework", "go", "--test", "a/b", "--append-repeat", "--tag", "commit=x"];
    store.run(&[&["ingest", log.to_str().unwrap()], &name[..]].concat()).said();
    let site = path(&store, "site");
    let folder = site.to_str().unwrap();
    store.run(&["site", folder]).said();
    assert_eq!(index(&site)["tests"][0]["by"], "day");
    let told = store.run(&["site", folder, "--by", "tag:commit"]).said();
    assert_told(&told, &["3 of 4 runs lack the tag commit"]);
}

/// The second in which nearly nothing fails comes first in the run, and says less of it than the outage.
#[test]
fn list_names_the_most_harmful_finding_of_a_kind_first() {
    let store = Store::embedded();
    let log = fixture("outage.csv.zip");
    store.run(&["ingest", log.to_str().unwrap(), "--framework", "go", "--test", "2048"]).said();
    let site = path(&store, "site");
    store.run(&["site", site.to_str().unwrap()]).said();
    let findings = index(&site)["runs"][0]["findings"].clone();
    let failures: Vec<&str> = findings
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["kind"] == "failures")
        .map(|finding| finding["what"].as_str().unwrap())
        .collect();
    assert!(failures.len() > 1 && failures[0].contains("2,973 of 2,973"), "{failures:?}");
}

/// A project has folders of these names, too, and a file to lock is nobody's sign.
#[test]
fn folders_of_others_are_no_site() {
    let store = filled();
    for others in
        [&["tests/login.js"][..], &["runs/results-1.js", "tests/README.md"], &["site.lock", "tests/login.js"]]
    {
        let project = path(&store, "project");
        for file in others {
            store.file(&format!("project/{file}"), "mine");
        }
        let before = files(&project);
        let refused = store.run(&["site", project.to_str().unwrap()]).complaint(2);
        assert_told(&refused, &["is not empty, and not a site of perfpipe"]);
        assert_eq!(files(&project), before, "{others:?}");
        fs::remove_dir_all(project).unwrap();
    }
}
