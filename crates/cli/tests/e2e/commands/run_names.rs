//! A run is named the same way in every command: as it is printed, or by its parts.

use crate::support::*;

/// A store of two repeats of go's test, and one of another framework's.
fn filled(store: Store) -> Store {
    let log = fixture("crlf.csv");
    for (framework, repeat) in [("go", "1"), ("go", "2"), ("a_b", "1")] {
        let name = ["--framework", framework, "--test", "t", "--repeat", repeat];
        store.run(&[&["ingest", log.to_str().unwrap()], &name[..]].concat()).said();
    }
    store
}

#[test]
fn run_is_taken_by_its_name_and_by_its_parts() {
    let cpu = fixture("crlf.csv");
    for store in Store::each().into_iter().map(filled) {
        let parts = ["--framework", "go", "--test", "t", "--repeat", "2"];
        for command in [&["export", "--what", "summary"][..], &["diagnose", "--format", "csv"]] {
            let by_name = store.run(&[command, &["go_t#2"]].concat()).text();
            assert_eq!(by_name, store.run(&[command, &parts].concat()).text(), "{command:?}");
            let both = store.run(&[command, &["go_t#2"], &parts].concat()).complaint(2);
            assert!(both.contains("cannot be used with"), "{both}");
        }
        let exported = store.run(&["export", "go_t#2", "--what", "summary"]).text();
        assert!(exported.lines().nth(1).unwrap().starts_with("go,t,2,"), "{exported}");
        for command in [&["verify", "--format", "csv"][..], &["repair", "--dry-run"]] {
            let by_parts = store.run(&[command, &parts].concat());
            let by_name = store.run(&[command, &["go_t#2"]].concat());
            assert_eq!((by_name.code, by_name.out, by_name.err), (by_parts.code, by_parts.out, by_parts.err));
        }
        let attach = |words: &[&str]| store.run(&[&["attach-cpu"], words].concat()).complaint(2);
        let file = cpu.to_str().unwrap();
        assert_eq!(attach(&["go_t#2", file]), attach(&[&parts[..], &[file]].concat()));
        store.run(&["drop", "go_t#2"]).said();
        assert_eq!(store.keys(), ["a_b t", "go t"]);
        store.run(&["drop", "a_b_t"]).said();
        assert_eq!(store.keys(), ["go t"]);
    }
}

#[test]
fn several_runs_are_taken_by_their_names_and_by_their_test() {
    let store = filled(Store::embedded());
    let report = |flags: &[&str]| {
        store.run(&[&["report", "--format", "svg", "--table", "csv"], flags].concat()).text()
    };
    assert_eq!(report(&["go_t", "go_t#2", "a_b_t"]), report(&["--test", "t"]));
    assert_eq!(report(&["go_t#2"]), report(&["--test", "t", "--framework", "go", "--repeat", "2"]));
    let check =
        |flags: &[&str]| store.run(&[&["check", "requests > 1", "--format", "csv"], flags].concat()).text();
    assert_eq!(check(&["--run", "go_t#2"]), check(&["--test", "t", "--framework", "go", "--repeat", "2"]));
    let compare = |flags: &[&str]| store.run(&[&["compare", "--format", "csv"], flags].concat()).text();
    assert_eq!(
        compare(&["go_t", "a_b_t"]),
        compare(&["--test", "t", "--framework", "go", "--framework", "a_b"])
    );
    let repeats = ["--test", "t", "--framework", "go", "--repeat", "1", "--repeat", "2"];
    assert_eq!(compare(&["go_t#1", "go_t#2"]), compare(&repeats));
    let alone = store.run(&["compare", "--test", "t", "--framework", "go"]).complaint(2);
    assert_told(&alone, &["two runs"]);
    let copy = Store::embedded();
    store.run(&["copy", "--test", "t", "--framework", "go", "--to", copy.place()]).said();
    assert_eq!(copy.keys(), ["go t", "go t"]);
    let other = ["compare", "--test", "t", "--framework", "go", "--baseline-store", copy.place()];
    let named = ["compare", "go_t", "go_t", "--baseline-store", copy.place()];
    assert_eq!(store.run(&other).text(), store.run(&named).text());
    let log = fixture("crlf.csv");
    store.run(&["ingest", log.to_str().unwrap(), "--framework", "go", "--test", "u"]).said();
    let mixed = store.run(&["report", "go_t", "go_u"]).complaint(2);
    assert_told(&mixed, &["2: t, u"]);
}

#[test]
fn name_that_matches_no_run_or_two_is_told() {
    let store = filled(Store::embedded());
    for (command, flags) in [("export", &[][..]), ("drop", &[]), ("verify", &[]), ("report", &[])] {
        let told = store.run(&[&[command, "go_x"], flags].concat()).complaint(1);
        assert_told(&told, &["go_x", "go_t, go_t#2"]);
        let told = store.run(&[&[command, "go_t@c64"], flags].concat()).complaint(1);
        assert!(told.contains("are reserved"), "{told}");
    }
    let log = fixture("crlf.csv");
    store.run(&["ingest", log.to_str().unwrap(), "--framework", "a", "--test", "b_t"]).said();
    for command in
        [&["export"][..], &["drop"], &["verify"], &["report"], &["diagnose"], &["check", "mean > 0", "--run"]]
    {
        let told = store.run(&[command, &["a_b_t"]].concat()).complaint(2);
        assert!(told.contains("a_b/t") && told.contains("a/b_t"), "{told}");
        assert_eq!(store.keys().len(), 4);
    }
    store.run(&["export", "a/b_t"]).text();
}

#[test]
fn printed_output_goes_into_a_file_too() {
    let store = filled(Store::embedded());
    let log = fixture("crlf.csv");
    for command in [
        &["list", "--format", "csv"][..],
        &["diagnose", "go_t", "--format", "csv"],
        &["check", "--test", "t", "mean > 0", "--format", "csv"],
        &["compare", "go_t", "a_b_t", "--format", "csv"],
        &["verify", "--format", "csv"],
        &["inspect", log.to_str().unwrap(), "--format", "json"],
    ] {
        let printed = store.run(command).out;
        let done = store.run(&[command, &["-o", "out"]].concat());
        assert!(done.out.is_empty() && done.code == Some(0), "{command:?}: {}", done.err);
        assert_eq!(std::fs::read(store.folder.path().join("out")).unwrap(), printed, "{command:?}");
    }
}

#[test]
fn name_that_was_probably_meant_is_told() {
    let store = filled(Store::embedded());
    for (command, meant) in [
        (&["export", "go_tt"][..], "Did you mean go_t?"),
        (&["report", "--test", "T"], "Did you mean t?"),
        (&["report", "--test", "t", "--framework", "goo"], "Did you mean go?"),
        (&["drop", "A_B_t"], "Did you mean a_b_t?"),
    ] {
        assert_told(&store.run(command).complaint(1), &[meant, "The store has the"]);
    }
    let complaint = store.run(&["export", "spring_2048"]).complaint(1);
    assert!(!complaint.contains("Did you mean"), "{complaint}");
    let complaint = store.run(&["export", "go_t", "--label", "get 2084"]).complaint(2);
    assert_told(&complaint, &["Did you mean \"Get 2048\"?"]);
}
