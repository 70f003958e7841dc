//! Runs that are named by their files: by `--name`, or where one server address gives one key to many logs.

use serde_json::Value;

use crate::support::*;

/// A log that begins at this minute, of ten requests to the address that all share.
fn log(minute: i64) -> String {
    let mut text = "timeStamp,elapsed,label,success,allThreads,URL\n".to_owned();
    for at in 0..10 {
        let ms = 1_795_200_000_000 + minute * 60_000 + at * 300;
        text.push_str(&format!("{ms},{},Get,true,4,http://10.0.0.1:9000/2048\n", 10 + at));
    }
    text
}

/// A store, and a folder of logs with these names.
fn night(names: &[&str]) -> Store {
    let store = Store::embedded();
    for (name, minute) in names.iter().zip(0..) {
        store.file(&format!("night/{name}"), log(minute));
    }
    store
}

/// The runs that an ingest of the folder stores.
fn runs(store: &Store, flags: &[&str]) -> Vec<String> {
    let rows = store.run(&[&["ingest", "night", "--format", "json"], flags].concat()).rows();
    let mut runs: Vec<String> = rows.iter().map(|row| text(row, "run").to_owned()).collect();
    runs.sort();
    runs
}

const PATTERN: &str = "{framework}_{test}_r{repeat}.csv";

#[test]
fn logs_behind_one_address_are_named_by_their_files_with_and_without_repeats() {
    let names = ["go_mix_r1.csv", "go_mix_r2.csv", "node_mix_r1.csv", "node_plain_r1.csv"];
    let all = ["go_mix#1", "go_mix#2", "node_mix", "node_plain"];
    for flags in [&[][..], &["--append-repeat"], &["--name", PATTERN]] {
        let store = night(&names);
        assert_eq!(runs(&store, flags), all, "{flags:?}");
        let again = store.run(&[&["ingest", "night"], flags].concat());
        assert!(again.err.contains("0 new, 0 changed, 4 unchanged"), "{}", again.err);
    }
}

#[test]
fn names_that_can_be_read_in_two_ways_are_refused_with_the_pattern_that_fits() {
    let store = night(&["spring_boot_mix_r1.csv", "spring_boot_mix_r2.csv", "go_mix_r1.csv"]);
    let refused = store.run(&["ingest", "night"]).complaint(2);
    assert_told(
        &refused,
        &["shared-key", "the pattern {framework}_{test}_r{repeat}.csv of file names", "--name"],
    );
    assert_eq!(store.list(), Vec::<Value>::new());
    let named = runs(&store, &["--name", PATTERN]);
    assert_eq!(named, ["go_mix", "spring_boot_mix#1", "spring_boot_mix#2"]);
}

/// Nights that are named by their dates are not tests of their own.
#[test]
fn tests_that_differ_by_a_date_alone_are_warned_of_with_what_makes_them_one() {
    let store = Store::embedded();
    for (at, framework) in ["go", "node"].into_iter().enumerate() {
        for night in 1..4 {
            let t0 = 1_795_203_738_615 + night * 86_400_000 + at as i64 * 600_000;
            let rows: String =
                (0..50).map(|row| format!("{},{},Get,200,true\n", t0 + row * 40, 5 + row)).collect();
            let log = "timeStamp,elapsed,label,responseCode,success\n".to_owned() + &rows;
            store.file(&format!("night/{framework}_mix_2026110{night}.csv"), log);
        }
    }
    let done = store.run(&["ingest", "night", "--dry-run", "--append-repeat"]);
    assert_told(&done.err, &["3 tests differ by a date alone, mix_20261101 to mix_20261103"]);
    let one = ["--append-repeat", "--name", "{framework}_{test}_{*}"];
    assert_told(&done.err, &["--append-repeat --name '{framework}_{test}_{*}'"]);
    let done = store.run(&[&["ingest", "night"], &one[..]].concat());
    assert!(done.code == Some(0) && !done.err.contains("date alone"), "{}", done.err);
    assert_eq!(
        runs(&store, &one),
        ["go_mix#1", "go_mix#2", "go_mix#3", "node_mix#1", "node_mix#2", "node_mix#3"]
    );
}

#[test]
fn log_whose_name_does_not_follow_the_pattern_fails_and_the_others_are_stored() {
    let store = night(&["go_mix_r1.csv", "notes.csv"]);
    let done = store.run(&["ingest", "night", "--name", PATTERN, "--format", "json"]);
    assert_eq!(done.code, Some(2), "{}", done.err);
    assert_told(&done.err, &["notes.csv: its name does not follow", "[file-name]", "--name"]);
    let rows = done.rows_anyway();
    let failed = rows.iter().find(|row| row["status"] == "failed").unwrap();
    assert_eq!(failed["code"], "file-name");
    assert_eq!(store.list().len(), 1);
}

#[test]
fn pattern_names_a_single_run_too_and_its_summary_is_json() {
    let store = night(&["go_mix_r3.csv"]);
    let file = "night/go_mix_r3.csv";
    let rows = store.run(&["ingest", file, "--name", PATTERN, "--format", "json", "-o", "stored.json"]);
    assert_eq!((rows.code, rows.out.len()), (Some(0), 0), "{}", rows.err);
    let written = std::fs::read(store.folder.path().join("stored.json")).unwrap();
    let document: Value = serde_json::from_slice(&written).unwrap();
    let rows = &document["rows"];
    assert_eq!(
        (text(&rows[0], "run"), count(&rows[0], "requests"), text(&rows[0], "status")),
        ("go_mix#3", 10, "new")
    );
    let again = store.run(&["ingest", file, "--name", PATTERN, "--format", "json"]).rows();
    assert_eq!(again[0]["status"], "changed");
    for (flags, part) in [
        (&["--name", "{test}.log"][..], "does not follow --name"),
        (&["--name", "{test"], "brace"),
        (
            &["--name", PATTERN, "--framework", "go"],
            "--framework is given, and --name has the field {framework}",
        ),
        (&["--name", PATTERN, "--append-repeat"], "{repeat}"),
        (&["--concurrency", "3"], "--concurrency is for summaries"),
    ] {
        let complaint = store.run(&[&["ingest", file], flags].concat()).complaint(2);
        assert!(complaint.contains(part), "{flags:?}: {complaint}");
    }
}
