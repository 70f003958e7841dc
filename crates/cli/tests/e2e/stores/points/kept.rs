//! Points that are copied from store to store, and what damage and killed writers do to them.

use std::path::{Path, PathBuf};

use super::{output, points};
use crate::postgres::psql;
use crate::postgres::required::skip;
use crate::support::*;
use crate::tools::tracer::kill_before_change;

/// The flags that name a store to copy to.
fn to(store: &Store) -> [&str; 2] {
    [if store.is_database() { "--to-database" } else { "--to" }, store.place()]
}

/// Copies from a store to another, with these flags.
fn copy(from: &Store, there: &Store, flags: &[&str]) -> Done {
    from.run(&[&["copy"], flags, &to(there)].concat())
}

/// Ingests all summaries of ab: 24 points of each of two frameworks.
fn fill(store: &Store) {
    let ports = store.file("ports.toml", "8100 = \"alpha\"\n8101 = \"beta\"\n");
    store.run(&["ingest", &output("ab/jempower"), "--frameworks", &ports]).said();
}

#[test]
fn points_are_the_same_in_the_other_store_and_back() {
    let here = Store::embedded();
    fill(&here);
    let all = points(&here, "/hello");
    for there in Store::each().into_iter().chain([Store::lake()]) {
        let said = copy(&here, &there, &[]).said();
        assert_told(&said, &["copied 48 points", "read back the same"]);
        assert_eq!(points(&there, "/hello"), all);
        assert!(copy(&here, &there, &[]).said().contains("48 points already in"));
        let back = Store::embedded();
        copy(&there, &back, &["--test", "/hello", "--framework", "beta", "--repeat", "2"]).said();
        let some: Vec<_> =
            rows(&all).into_iter().filter(|row| row["framework"] == "beta" && row["repeat"] == "2").collect();
        assert_eq!(rows(&points(&back, "/hello")), some);
        assert_told(&copy(&there, &back, &[]).said(), &["copied 40 points", "8 points already there"]);
        assert_eq!(points(&back, "/hello"), all);
    }
}

#[test]
fn other_figures_of_a_key_are_replaced_only_on_demand() {
    let here = Store::embedded();
    fill(&here);
    for there in Store::each() {
        let text = std::fs::read_to_string(output("ab/jempower/1.8101")).unwrap();
        let log = there.file("1.8101", text.replace("2.165 seconds", "3.165 seconds"));
        there.run(&["ingest", &log, "--framework", "beta"]).said();
        let before = points(&there, "/hello");
        let complaint = copy(&here, &there, &[]).complaint(1);
        assert_told(&complaint, &["beta /hello by ab at c1,", "no point was copied", "--replace"]);
        assert_eq!(points(&there, "/hello"), before);
        copy(&here, &there, &["--replace"]).said();
        assert_eq!(points(&there, "/hello"), points(&here, "/hello"));
    }
}

#[test]
fn runs_that_are_named_are_copied_without_points() {
    let here = Store::embedded();
    fill(&here);
    let log = fixture("crlf.csv");
    here.run(&["ingest", log.to_str().unwrap(), "--framework", "go", "--test", "2048"]).said();
    let there = Store::embedded();
    assert!(!copy(&here, &there, &["go_2048"]).said().contains("points"));
    assert_told(&copy(&here, &there, &["--test", "/helo"]).complaint(1), &["no run of the test /helo"]);
    let said = copy(&here, &there, &["--test", "/hello"]).said();
    assert!(said.contains("48 points") && !said.contains("go_2048"), "{said}");
    let said = copy(&here, &there, &["--test", "2048"]).said();
    assert!(!said.contains("points"), "{said}");
}

#[test]
fn damaged_file_of_points_is_found_and_set_aside() {
    let store = Store::embedded();
    fill(&store);
    let all = points(&store, "/hello");
    assert!(store.run(&["verify"]).text().contains("(points)  yes"));
    let file = Path::new(store.place()).join("points.json");
    let log = fixture("crlf.csv");
    store.run(&["ingest", log.to_str().unwrap(), "--framework", "go", "--test", "2048"]).said();
    for aside in ["points.json", "points.json-2"] {
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replacen("230.94", "240.94", 1)).unwrap();
        for command in [&["sweep", "--test", "/hello"][..], &["list", "--points"]] {
            assert_told(&store.run(command).complaint(1), &["points.json", "checksum", "repair the store"]);
        }
        let done = store.run(&["verify", "--format", "csv"]);
        assert_eq!(done.code, Some(3), "{}", done.err);
        let found = rows(std::str::from_utf8(&done.out).unwrap());
        let told = |name: &str| found.iter().find(|row| row["run"] == name).unwrap().clone();
        assert_eq!(
            (told("go_2048")["whole"].as_str(), told("(points)")["whole"].as_str()),
            ("true", "false")
        );
        assert_told(&told("(points)")["faults"], &["points.json", "checksum"]);
        // The runs are copied all the same, and the points are told to be left out.
        let there = Store::embedded();
        let complaint = copy(&store, &there, &[]).complaint(1);
        assert_told(&complaint, &["copied go_2048", "left out", "points.json"]);
        let damaged = std::fs::read(&file).unwrap();
        assert_told(
            &store.run(&["repair", "--dry-run"]).said(),
            &["would be done", "points.json is set aside"],
        );
        assert_eq!(std::fs::read(&file).unwrap(), damaged);
        store.run(&["repair"]).said();
        let kept = Path::new(store.place()).join("set-aside").join(aside);
        assert_eq!(std::fs::read(kept).unwrap(), damaged);
        assert!(store.run(&["repair"]).said().contains("nothing is damaged"));
        fill(&store);
        assert_eq!(points(&store, "/hello"), all);
    }
}

#[test]
fn damaged_points_of_a_bucket_are_found_and_set_aside() {
    let store = Store::lake();
    fill(&store);
    let all = points(&store, "/hello");
    let home = Path::new(store.place().strip_prefix("file://").unwrap());
    let texts = |folder: &str| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(home.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|kind| kind == "json")).collect()
    };
    let [file] = texts("points").try_into().unwrap();
    let damaged = std::fs::read_to_string(&file).unwrap().replacen("230.94", "240.94", 1);
    std::fs::write(&file, &damaged).unwrap();
    assert_eq!(store.run(&["verify"]).code, Some(3));
    assert_told(&store.run(&["repair", "--dry-run"]).said(), &["would be done", "set aside"]);
    assert_told(&store.run(&["repair"]).said(), &["set aside in set-aside", "checksum"]);
    let [aside] = texts("set-aside").try_into().unwrap();
    assert_eq!(std::fs::read_to_string(aside).unwrap(), damaged);
    assert_told(&store.run(&["repair"]).said(), &["nothing is damaged"]);
    fill(&store);
    assert_eq!(points(&store, "/hello"), all);
}

#[test]
fn changed_rows_of_points_are_found() {
    let Some(store) = Store::database() else { return };
    fill(&store);
    store.run(&["verify"]).text();
    let change = "update perfpipe.points set successes = successes + 1 where framework = 'beta' and \
                  concurrency = 64 and repeat = 1";
    psql(store.place(), change);
    let done = store.run(&["verify"]);
    assert_eq!(done.code, Some(3), "{}", done.err);
    let table = String::from_utf8(done.out).unwrap();
    assert!(table.contains("the point beta /hello by ab"), "{table}");
    assert_told(&store.run(&["repair"]).complaint(1), &["left as it is", "ingest the summaries again"]);
    fill(&store);
    store.run(&["verify"]).text();
}

/// Kills an ingest of points before each of its changes: what is read then is the old points or the new ones, and a
/// repair removes what was left.
#[test]
fn leftovers_of_a_killed_ingest_of_points_are_removed() {
    let (mut seen, mut left) = ([0, 0], 0);
    for nth in 0.. {
        let store = Store::embedded();
        store.run(&["ingest", &output("ab/jempower/1.8101"), "--framework", "beta"]).said();
        let old = points(&store, "/hello");
        let file = output("ab/jempower/2.8101");
        let command = store.command(&["ingest", &file, "--framework", "beta"]);
        let (status, killed) = match kill_before_change(&command, nth) {
            Ok(ended) => ended,
            Err(error) => {
                skip("PTRACE", format!("no process can be traced here ({error})"));
                return;
            }
        };
        let now = points(&store, "/hello");
        assert_eq!(rows(&now).len() == 3, now == old, "before {killed:?}: {now}");
        assert!([3, 6].contains(&rows(&now).len()), "before {killed:?}: {now}");
        seen[usize::from(now != old)] += 1;
        let leftovers = store.leftovers();
        left += leftovers.len();
        let said = store.run(&["repair"]).said();
        assert!(leftovers.iter().all(|path| said.contains(path)), "{leftovers:?} {said}");
        assert_eq!((store.leftovers(), points(&store, "/hello")), (Vec::new(), now));
        store.run(&["verify"]).text();
        if killed.is_none() {
            assert!(status.success());
            break;
        }
    }
    assert!(seen.iter().all(|times| *times > 0) && left > 0, "{seen:?} {left}");
}
