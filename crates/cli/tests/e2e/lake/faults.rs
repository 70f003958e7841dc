//! Buckets that can't be used: a sentence with a remedy, without a secret, and nothing is changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::tables::folder;
use crate::support::*;
use crate::tools::altered::{Altered, Change};

/// A command that reads, and one that writes.
fn commands(store: &Store) -> [Vec<String>; 2] {
    let log = store.file("log.csv", "timeStamp,elapsed,label,success\n1795203738615,12,Get,true\n");
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    [words(&["list"]), words(&["ingest", &log, "--framework", "go", "--test", "a"])]
}

fn assert_refused(store: &Store, facts: &[&str]) {
    for command in commands(store) {
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let complaint = store.run(&command).complaint(1);
        assert_told(&complaint, facts);
        assert!(!complaint.contains("secret-of-the-tests"), "{complaint}");
    }
}

/// A store in a bucket of a server that answers every request so.
fn store_of(status: u16, body: &'static str) -> Store {
    let server = Monitor::new(move |_| Reply::Text(status, String::new(), body.to_owned()));
    let flag = ["--store".into(), "s3://bucket/runs".into()];
    Store { environment: bucket_environment(&server.host), ..Store::at(flag) }
}

#[test]
fn bucket_that_denies_is_told_with_what_to_do() {
    let denied = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>";
    assert_refused(&store_of(403, denied), &["s3://bucket/runs", "AccessDenied", "AWS_ACCESS_KEY_ID"]);
    let unknown = "<Error><Code>InvalidAccessKeyId</Code><Message>no such key</Message></Error>";
    assert_refused(&store_of(403, unknown), &["InvalidAccessKeyId", "AWS_ACCESS_KEY_ID"]);
    let expired = "<Error><Code>ExpiredToken</Code><Message>too old</Message></Error>";
    assert_refused(&store_of(400, expired), &["credentials have expired", "Renew"]);
    let skewed = "<Error><Code>RequestTimeTooSkewed</Code><Message>off</Message></Error>";
    assert_refused(&store_of(403, skewed), &["clock", "Set the clock"]);
}

#[test]
fn bucket_that_is_not_there_is_told() {
    let missing = "<Error><Code>NoSuchBucket</Code><Message>no</Message></Error>";
    assert_refused(&store_of(404, missing), &["s3://bucket/runs", "no such bucket"]);
    let Some(mut store) = Store::bucket() else { return };
    store.flag[1] = "s3://nowhere/runs".to_owned();
    assert_refused(&store, &["s3://nowhere/runs", "no such bucket"]);
}

#[test]
fn server_that_is_not_there_is_told() {
    let mut store = store_of(200, "");
    store.environment = bucket_environment("127.0.0.1:1");
    assert_refused(&store, &["s3://bucket/runs", "network"]);
}

/// All files below a folder, with what is in them.
fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(content(&path)),
            false => _ = found.insert(path.clone(), std::fs::read(&path).unwrap()),
        }
    }
    found
}

#[test]
fn tables_of_others_are_left_alone() {
    let meta = |configuration: &str| {
        let schema = r#"{\"type\":\"struct\",\"fields\":[]}"#;
        format!(
            "{{\"metaData\":{{\"id\":\"x\",\"format\":{{\"provider\":\"parquet\",\"options\":{{}}}},\
             \"schemaString\":\"{schema}\",\"partitionColumns\":[],\"configuration\":{configuration}}}}}\n"
        )
    };
    let protocol = |reader: u32| {
        format!("{{\"protocol\":{{\"minReaderVersion\":{reader},\"minWriterVersion\":{}}}}}\n", reader.max(2))
    };
    for (entry, fact) in [
        (protocol(1) + &meta("{}"), "perfpipe did not make it"),
        (protocol(3) + &meta(r#"{"perfpipe.layout":"1"}"#), "version 3"),
        (protocol(1) + &meta(r#"{"perfpipe.layout":"2"}"#), "layout is 2"),
        ("{\"protocol\"".to_owned(), "00000000000000000000.json"),
    ] {
        let store = Store::lake();
        let log = folder(&store).join("runs/_delta_log");
        std::fs::create_dir_all(&log).unwrap();
        std::fs::write(log.join("00000000000000000000.json"), entry).unwrap();
        let before = content(&folder(&store));
        assert_refused(&store, &["runs", fact]);
        assert_eq!(content(&folder(&store)), before);
    }
    let store = Store::lake();
    std::fs::create_dir_all(folder(&store)).unwrap();
    std::fs::write(folder(&store).join("thesis.txt"), "x").unwrap();
    assert_refused(&store, &["not a perfpipe store"]);
}

#[test]
fn missing_store_is_told_and_not_made() {
    for store in Store::lakes() {
        assert_told(&store.run(&["list"]).complaint(1), &["no store", store.place()]);
        assert_told(&store.run(&["drop", "--framework", "a", "--test", "b"]).complaint(1), &["no store"]);
    }
}

/// A store in a bucket behind a way that changes requests and answers, and the same without it.
fn altered(change: impl Fn(&str) -> Change + Send + Sync + 'static) -> Option<(Store, Store)> {
    let server = BucketServer::shared()?;
    let way = Altered::new(&server.host, change);
    let flag = ["--store".to_owned(), format!("s3://{}/runs", server.new_bucket())];
    let store = Store { environment: bucket_environment(&way.host), ..Store::at(flag.clone()) };
    Some((store, Store { environment: bucket_environment(&server.host), ..Store::at(flag) }))
}

fn ingest(store: &Store, test: &str) -> Done {
    let log = store.file("log.csv", "timeStamp,elapsed,label,success\n1795203738615,12,Get,true\n");
    store.run(&["ingest", &log, "--framework", "go", "--test", test])
}

#[test]
fn bucket_that_writes_an_object_again_is_refused() {
    let Some((store, direct)) = altered(|_| Change::Unconditional) else { return };
    for _ in 0..2 {
        let facts = ["s3://bucket", "If-None-Match", "conditional writes", "No run was changed"];
        assert_told(&ingest(&store, "a").complaint(1), &facts);
        assert_told(&direct.run(&["list"]).complaint(1), &["no store"]);
    }
    // Each process asks before its first commit, and not only who makes the store.
    ingest(&direct, "a").said();
    for command in
        [&["drop", "--framework", "go", "--test", "a"][..], &["rename", "go_a", "--test", "b"], &["list"]]
    {
        let done = store.run(command);
        assert_eq!(done.code == Some(0), command == ["list"], "{done:?}");
        assert_eq!(direct.keys(), ["go a"]);
    }
    direct.run(&["verify"]).text();
}

/// True for a request that writes an entry of the table of runs other than the first.
fn is_commit(line: &str) -> bool {
    line.starts_with("PUT ") && line.contains("/runs/runs/_delta_log/") && !line.contains("00000.json")
}

#[test]
fn errors_after_the_commit_say_that_the_run_is_stored() {
    // The commit is made, and then nothing more may be done.
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let way = altered(move |line| match over.load(Ordering::SeqCst) {
        true => Change::Denied,
        false => {
            over.store(is_commit(line), Ordering::SeqCst);
            Change::Nothing
        }
    });
    let Some((store, direct)) = way else { return };
    assert_told(&ingest(&store, "a").complaint(1), &["the run go_a is stored", "the bucket denies it"]);
    assert_eq!(direct.keys(), ["go a"]);
    direct.run(&["verify"]).text();
    is_over.store(false, Ordering::SeqCst);
    let said = store.run(&["drop", "--framework", "go", "--test", "a"]).complaint(1);
    assert_told(&said, &["the run go_a is dropped", "the bucket denies it"]);
    assert!(direct.list().is_empty());
    direct.run(&["repair"]).said();
    assert_told(&direct.run(&["repair"]).said(), &["nothing is damaged"]);
}

#[test]
fn errors_of_a_commit_whose_answer_was_lost_say_what_is_known() {
    // The commit is made, its answer is lost, and the bucket can't be asked.
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let way = altered(move |line| match over.load(Ordering::SeqCst) {
        true => Change::Denied,
        false if is_commit(line) => {
            over.store(true, Ordering::SeqCst);
            Change::Lost
        }
        false => Change::Nothing,
    });
    let Some((store, direct)) = way else { return };
    assert_told(&ingest(&store, "a").complaint(1), &["the run go_a may be stored", "look at what is stored"]);
    assert_eq!(direct.keys(), ["go a"]);
    is_over.store(false, Ordering::SeqCst);
    let said = store.run(&["rename", "go_a", "--test", "b"]).complaint(1);
    assert_told(&said, &["the run go_b may be stored"]);
    is_over.store(false, Ordering::SeqCst);
    let said = store.run(&["drop", "--framework", "go", "--test", "a"]).complaint(1);
    assert_told(&said, &["the run go_a may be dropped"]);
    assert_eq!(direct.keys(), ["go b"]);
    // If the commit itself is denied, nothing is said of a run that is stored.
    let Some((store, direct)) =
        altered(|line| if is_commit(line) { Change::Denied } else { Change::Nothing })
    else {
        return;
    };
    let complaint = ingest(&store, "a").complaint(1);
    assert!(complaint.contains("AccessDenied") && !complaint.contains("stored"), "{complaint}");
    assert!(direct.list().is_empty());
}

#[test]
fn empty_answers_are_damage() {
    let is_on = Arc::new(AtomicBool::new(false));
    let on = Arc::clone(&is_on);
    let way = altered(move |line| match on.load(Ordering::SeqCst) && line.starts_with("GET ") {
        true if line.contains(".json") => Change::Empty,
        _ => Change::Nothing,
    });
    let Some((store, _)) = way else { return };
    ingest(&store, "a").said();
    is_on.store(true, Ordering::SeqCst);
    assert_told(&store.run(&["list"]).complaint(1), &["_delta_log", "it is empty"]);
    assert_eq!(store.run(&["verify"]).code, Some(3));
}
