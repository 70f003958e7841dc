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
    assert_eq!(report(&["go_t", "a_b_t"]), report(&["--test", "t"]));
    assert_eq!(report(&["go_t#2"]), report(&["--test", "t", "--framework", "go", "--repeat", "2"]));
    let check =
        |flags: &[&str]| store.run(&[&["check", "requests > 1", "--format", "csv"], flags].concat()).text();
    assert_eq!(check(&["go_t#2"]), check(&["--test", "t", "--framework", "go", "--repeat", "2"]));
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
    let mixed = store.run(&["report", "go_t", "go_u", "--table", "csv", "--format", "svg"]).complaint(2);
    assert_told(&mixed, &["2 tests: t, u"]);
}

#[test]
fn name_that_matches_no_run_or_two_is_told() {
    let store = filled(Store::embedded());
    for (command, flags) in [("export", &[][..]), ("drop", &[]), ("verify", &[]), ("report", &[])] {
        let told = store.run(&[&[command, "go_x"], flags].concat()).complaint(1);
        assert_told(&told, &["go_x", "go_t#1, go_t#2"]);
        let told = store.run(&[&[command, "go_t@c64"], flags].concat()).complaint(1);
        assert!(told.contains("are reserved"), "{told}");
    }
    let log = fixture("crlf.csv");
    store.run(&["ingest", log.to_str().unwrap(), "--framework", "a", "--test", "b_t"]).said();
    for command in
        [&["export"][..], &["drop"], &["verify"], &["report"], &["diagnose"], &["check", "mean > 0"]]
    {
        let told = store.run(&[command, &["a_b_t"]].concat()).complaint(2);
        assert!(told.contains("a_b/t") && told.contains("a/b_t"), "{told}");
        assert_eq!(store.keys().len(), 4);
    }
    store.run(&["export", "a/b_t"]).text();
}

#[test]
fn what_is_missing_of_a_command_line_is_told_as_it_can_be_given() {
    let store = filled(Store::embedded());
    for line in [&["export"][..], &["export", "--framework", "go"], &["diagnose"], &["check", "mean > 0"]] {
        assert_told(&store.run(line).complaint(2), &["no run is named", "perfpipe list", "--test"]);
    }
    for line in [&["attach-cpu"][..], &["attach-cpu", "go_t"], &["attach-cpu", "--test", "t"]] {
        let told = ["attach-cpu go_2048 cpu.csv", "--test chooses runs", "--cpu-from asks"];
        assert_told(&store.run(line).complaint(2), &told);
    }
    // A rule without an operator is no name.
    assert_told(&store.run(&["check", "go_t", "mean 200ms"]).complaint(2), &["[rule]", "mean 200ms"]);
    assert_told(&store.run(&["check", "go_x", "mean > 0"]).complaint(1), &["go_x", "go_t#1, go_t#2"]);
}

/// What a command prints, by run.
fn by_run(table: &str) -> Vec<String> {
    let mut runs: Vec<String> = rows(table).iter().map(|row| row["run"].to_string()).collect();
    runs.dedup();
    runs
}

#[test]
fn name_means_all_repeats_in_every_command_and_by_every_door() {
    for store in Store::each().into_iter().map(filled) {
        let parts = ["--framework", "go", "--test", "t"];
        for command in [
            &["export"][..],
            &["export", "--what", "summary"],
            &["export", "--what", "samples"],
            &["export", "--what", "errors", "--format", "json"],
            &["diagnose", "--format", "csv"],
            &["verify", "--format", "csv"],
            &["report", "--format", "svg", "--table", "csv"],
            &["check", "mean > 0", "--format", "csv"],
        ] {
            let named = |name: &str| store.run(&[command, &[name]].concat());
            let all = named("go_t").text();
            assert_eq!(all, store.run(&[command, &parts].concat()).text(), "{command:?}");
            assert_eq!(all, named("go/t").text(), "{command:?}");
            let one = named("go_t#1").text();
            assert_ne!(all, one, "{command:?}");
            assert_eq!(one, store.run(&[command, &parts, &["--repeat", "1"]].concat()).text(), "{command:?}");
        }
        // What is printed of the first of several repeats means it alone.
        for command in [
            &["verify", "--format", "csv", "go_t"][..],
            &["check", "mean > 0", "--format", "csv", "go_t"],
            &["diagnose", "--format", "csv", "go_t"],
        ] {
            assert_eq!(by_run(&store.run(command).text()), ["go_t#1", "go_t#2"], "{command:?}");
        }
        for command in
            [&["export", "go_t"][..], &["report", "go_t", "--format", "svg"], &["diagnose", "go_t"]]
        {
            let done = store.run(command);
            assert!(done.err.contains("2 repeats of go_t"), "{command:?}: {}", done.err);
        }
        store.run(&["drop", "go_t#1"]).said();
        assert_told(&store.run(&["drop", "go_t#1"]).complaint(1), &["no run go_t#1", "go_t#2"]);
        assert_eq!(store.keys(), ["a_b t", "go t"]);
        // All that is left is the second, which is not what `go_t` is the name of.
        assert_told(&store.run(&["drop", "go_t"]).complaint(2), &["1 run would be dropped: go_t#2", "--yes"]);
        store.run(&["export", "go_t"]).text();
        store.run(&["drop", "go_t", "--yes"]).said();
        assert_told(&store.run(&["drop", "go_t", "--yes"]).complaint(1), &["no run go_t"]);
        assert_eq!(store.keys(), ["a_b t"]);
    }
}

#[test]
fn what_changes_several_runs_asks_and_changes_all() {
    let cpu = fixture("Results-2048-8181.killed.cpu.csv");
    let cpu = cpu.to_str().unwrap();
    for store in Store::each().into_iter().map(filled) {
        let series = format!("memory={cpu}");
        let before = store.list();
        for command in [
            &["drop", "go_t"][..],
            &["rename", "go_t", "--framework", "rust"],
            &["attach-cpu", "go_t", cpu, "--replace"],
            &["attach-series", "go_t", "--series", &series, "--unit", "bytes"],
        ] {
            let complaint = store.run(command).complaint(2);
            assert_told(&complaint, &["2 runs would be", "go_t#1, go_t#2", "--yes"]);
            assert_eq!(store.list(), before, "{command:?}");
        }
        // Where a series does not fit one of them, none gets it.
        let twice = store.file("twice.csv", b"clock,value\n1795000001,1\n1795000002,2\n");
        let of_one = format!("heap={twice}");
        store.run(&["attach-series", "go_t#2", "--series", &of_one, "--unit", "bytes"]).said();
        let all = ["attach-series", "go_t", "--series", &of_one, "--unit", "bytes", "--yes"];
        assert_told(&store.run(&all).complaint(1), &["has a series heap already"]);
        store.run(&["attach-series", "go_t#1", "--series", &of_one, "--unit", "bytes"]).said();
        let said = store.run(&["attach-cpu", "go_t", cpu, "--replace", "--yes"]).said();
        assert_told(&said, &["readings to go_t#1", "readings to go_t#2"]);
        let said = store.run(&["rename", "go_t", "--framework", "rust", "--yes"]).said();
        assert_told(&said, &["renamed go_t#1 to rust_t", "renamed go_t#2 to rust_t#2"]);
        assert_eq!(store.keys(), ["a_b t", "rust t", "rust t"]);
        assert_told(
            &store.run(&["rename", "rust_t", "--repeat", "3", "--yes"]).complaint(2),
            &["rust_t#1, rust_t#2"],
        );
        // Where one of them can't get its name, none does.
        let log = fixture("crlf.csv");
        let taken = ["--framework", "nio", "--test", "t", "--repeat", "2", "--no-samples"];
        store
            .run(
                &[&["ingest", fixture("Results-2048-8181.killed.csv.zip").to_str().unwrap()], &taken[..]]
                    .concat(),
            )
            .said();
        let complaint = store.run(&["rename", "rust_t", "--framework", "nio", "--yes"]).complaint(1);
        assert_told(&complaint, &["nio_t#2", "nothing was renamed", "--replace"]);
        assert_eq!(store.keys(), ["a_b t", "nio t", "rust t", "rust t"]);
        let copy = Store::embedded();
        let said = store.run(&["copy", "rust_t", "--to", copy.place()]).said();
        assert_told(&said, &["copied rust_t#1", "copied rust_t#2"]);
        assert_eq!(copy.keys(), ["rust t", "rust t"]);
        // What is there already is not replaced, and two other runs only after a confirmation.
        store.run(&["copy", "rust_t", "--to", copy.place(), "--replace"]).said();
        for repeat in ["1", "2"] {
            let other = fixture("Results-flaky-8181.csv");
            let name = ["--framework", "rust", "--test", "t", "--repeat", repeat, "--replace"];
            copy.run(&[&["ingest", other.to_str().unwrap()], &name[..]].concat()).said();
        }
        let there = copy.list();
        let replace = ["copy", "rust_t", "--to", copy.place(), "--replace"];
        assert_told(
            &store.run(&replace).complaint(2),
            &["2 runs would be replaced: rust_t#1, rust_t#2", "--yes"],
        );
        assert_eq!(copy.list(), there);
        store.run(&[&replace[..], &["--yes"]].concat()).said();
        assert_ne!(copy.list(), there);
        store.run(&["drop", "rust_t", "nio_t#2", "--yes"]).said();
        let said = store.run(&["ingest", log.to_str().unwrap(), "--framework", "go", "--test", "t"]).said();
        assert!(said.contains("go_t\n"), "alone, it needs no number: {said}");
        assert_eq!(store.leftovers(), [""; 0]);
    }
}

#[test]
fn several_runs_are_exported_with_the_run_of_each_row() {
    for store in Store::each().into_iter().map(filled) {
        for what in ["seconds", "samples", "labels", "phases", "codes", "percentiles"] {
            let export = |run: &str, format: &str| {
                store.run(&["export", run, "--what", what, "--format", format]).text()
            };
            let all = export("go_t", "csv");
            let mut expected = String::new();
            for repeat in ["1", "2"] {
                let one = export(&format!("go_t#{repeat}"), "csv");
                let (header, body) = one.split_once('\n').unwrap();
                if expected.is_empty() {
                    expected = format!("framework,test,repeat,{header}\n");
                }
                body.lines().for_each(|line| expected.push_str(&format!("go,t,{repeat},{line}\n")));
            }
            assert_eq!(all, expected, "{what}");
            let json: serde_json::Value = serde_json::from_str(&export("go_t", "json")).unwrap();
            assert_eq!(json.as_array().unwrap().len(), all.lines().count() - 1, "{what}");
            assert!(export("go_t", "text").starts_with("framework  test  "), "{what}");
        }
        let summary = |runs: &[&str]| store.run(&[&["export", "--what", "summary"], runs].concat()).text();
        assert_eq!(summary(&["--test", "t"]).lines().count(), 4);
        for what in ["run", "counts", "statistics", "hgrm"] {
            let complaint = store.run(&["export", "go_t", "--what", what, "-o", "out"]).complaint(2);
            assert_told(&complaint, &["go_t#1, go_t#2", "with its number"]);
        }
        let metrics = |run: &str| store.run(&["export", run, "--format", "openmetrics"]).text();
        let (all, one) = (metrics("go_t"), metrics("go_t#1"));
        let types = |text: &str| {
            text.lines().filter(|line| line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(types(&all), types(&one), "each metric is declared once");
        assert_eq!(all.lines().count(), 2 * one.lines().count() - types(&one).len());
    }
}

#[test]
fn printed_output_goes_into_a_file_too() {
    let store = filled(Store::embedded());
    let log = fixture("crlf.csv");
    for command in [
        &["list", "--format", "csv"][..],
        &["diagnose", "go_t#1", "--format", "csv"],
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
        (&["export", "go_tt"][..], "Did you mean go_t#"),
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
