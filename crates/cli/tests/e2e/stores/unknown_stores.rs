//! Stores that are none: URLs of other kinds, folders that are not there. Nothing is made of them.

use std::fs;

use crate::support::*;

/// Commands that read a store, with the flag that names it.
fn readers(flag: &'static str) -> Vec<Vec<&'static str>> {
    let key = ["--framework", "go", "--test", "2048"];
    let test = ["--test", "2048"];
    let mut all: Vec<Vec<&str>> = vec![
        vec!["list"],
        [&["report"], &test[..]].concat(),
        [&["export"], &key[..]].concat(),
        [&["export", "--what", "samples"], &key[..]].concat(),
        [&["diagnose"], &key[..]].concat(),
        [&["check", "p95 < 5s"], &test[..]].concat(),
        vec!["compare", "go_2048", "nio_2048"],
        vec!["attach-cpu", "go_2048", "cpu.csv"],
        [&["drop"], &key[..]].concat(),
        vec!["copy", "--to", "there"],
    ];
    all.iter_mut().for_each(|command| command.push(flag));
    all
}

/// What there is in the test's folder.
fn names(store: &Store) -> Vec<String> {
    let entries = fs::read_dir(store.folder.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn run_at(store: &Store, arguments: &[&str]) -> Done {
    done(perfpipe().args(arguments).current_dir(store.folder.path()))
}

#[test]
fn store_of_an_unknown_kind_is_wrong_usage_and_nothing_is_made() {
    let store = Store::embedded();
    let log = fixture("crlf.csv");
    let ingest = ["ingest", log.to_str().unwrap(), "--framework", "go", "--test", "2048", "--store"];
    let commands = readers("--store").into_iter().chain([ingest.to_vec()]);
    for command in commands {
        for (url, remedy) in [
            ("hdfs://bucket/x", "--database postgres://"),
            ("s3://user:key@bucket/x", "s3://bucket/folder"),
            ("postgres://x@127.0.0.1/y", "--database URL"),
        ] {
            let complaint = run_at(&store, &[&command[..], &[url]].concat()).complaint(2);
            assert!(complaint.contains(remedy), "{command:?} {url}: {complaint}");
            assert_eq!(names(&store), [""; 0], "{command:?} {url}");
        }
    }
}

#[test]
fn other_flags_that_name_a_store_take_no_unknown_kind_either() {
    let store = Store::embedded();
    let key = Fixture::named("crlf.csv").ingest_into(&store);
    let run = format!("{}_{}", key.framework, key.test);
    let before = names(&store);
    for arguments in [
        &["copy", "--to", "hdfs://bucket/x"][..],
        &["compare", &run, &run, "--baseline-store", "hdfs://bucket/x"],
        &[
            "check",
            "--test",
            &key.test,
            "p95 < baseline",
            "--baseline",
            &run,
            "--baseline-store",
            "hdfs://b/x",
        ],
    ] {
        let complaint = store.run(arguments).complaint(2);
        assert_told(&complaint, &["hdfs://"]);
        assert_eq!(names(&store), before, "{arguments:?}");
    }
    for (flag, url, told) in [
        ("--to", "postgres://u@h/d", &["--to: ", "--to-database URL"][..]),
        ("--to", "mysql://u:hunter2@h/d", &["mysql://", "--to DIR", "--to-database"]),
        ("--to", "gs:/bucket/x", &["gs://", "both slashes"]),
        ("--store", "s3:/bucket/x", &["--store: ", "both slashes"]),
        ("--baseline-store", "postgres://u@h/d", &["--baseline-store", "perfpipe copy"]),
    ] {
        let command = match flag {
            "--to" => store.run(&["copy", flag, url]),
            "--store" => run_at(&store, &["list", flag, url]),
            _ => store.run(&["compare", &run, &run, flag, url]),
        };
        let complaint = command.complaint(2);
        assert_told(&complaint, told);
        assert!(!complaint.contains("hunter2"), "{complaint}");
        assert_eq!(names(&store), before, "{flag} {url}");
    }
    let missing = store.run(&["compare", &run, &run, "--baseline-store", "nothing"]).complaint(1);
    assert_told(&missing, &["nothing"]);
    assert_eq!(names(&store), before);
}

#[test]
fn reader_of_a_store_that_is_not_there_says_so_and_makes_none() {
    let store = Store::embedded();
    for command in readers("--store") {
        let complaint = run_at(&store, &[&command[..], &["typo"]].concat()).complaint(1);
        assert_told(&complaint, &["typo"]);
        assert_eq!(names(&store), [""; 0], "{command:?}");
    }
    let complaint = run_at(&store, &["list"]).complaint(1);
    assert_told(&complaint, &["perfpipe-data", "ingest"]);
    fs::create_dir(store.folder.path().join("empty")).unwrap();
    let complaint = run_at(&store, &["list", "--store", "empty"]).complaint(1);
    assert_told(&complaint, &["empty"]);
    assert_eq!(fs::read_dir(store.folder.path().join("empty")).unwrap().count(), 0);

    // What lies beside it is named.
    Fixture::named("crlf.csv").ingest_into(&store);
    let complaint = run_at(&store, &["list", "--store", "stor"]).complaint(1);
    assert!(complaint.contains("Did you mean store?"), "{complaint}");
}

#[test]
fn environment_names_a_folder_unless_a_flag_or_a_database_does() {
    let store = Store::embedded();
    Fixture::named("crlf.csv").ingest_into(&store);
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = perfpipe();
        command.args(arguments).envs(variables.iter().copied()).current_dir(store.folder.path());
        done(&mut command)
    };
    let listed = |done: Done| done.rows().len();
    let list = ["list", "--format", "json"];
    assert_eq!(listed(run(&list, &[("PERFPIPE_STORE", "store")])), 1);
    let complaint = run(&list, &[("PERFPIPE_STORE", "stor")]).complaint(1);
    assert_told(&complaint, &["stor", "Did you mean store?"]);
    let both = [("PERFPIPE_STORE", "store"), ("PERFPIPE_DATABASE_URL", "postgres://nobody@127.0.0.1:1/x")];
    let complaint = run(&list, &both).complaint(2);
    assert_told(&complaint, &["PERFPIPE_STORE", "PERFPIPE_DATABASE_URL", "--store"]);
    let flag = [&list[..], &["--store", "store"]].concat();
    assert_eq!(listed(run(&flag, &both)), 1);
    assert_eq!(listed(run(&flag, &[("PERFPIPE_STORE", "other")])), 1);
    run(&list, &[("PERFPIPE_STORE", "")]).complaint(1);
}

#[test]
fn plain_path_of_a_lake_is_refused_with_its_url() {
    let store = Store::lake();
    let log = fixture("crlf.csv");
    let ingest = ["ingest", log.to_str().unwrap(), "--framework", "go", "--test", "2048"];
    store.run(&ingest).said();
    let (url, path) = (store.place(), store.place().strip_prefix("file://").unwrap());
    for command in readers("--store").into_iter().chain([[&ingest[..], &["--store"]].concat()]) {
        let complaint = run_at(&store, &[&command[..], &[path]].concat()).complaint(2);
        assert_told(&complaint, &[&format!("Name it as {url}")]);
    }
}
