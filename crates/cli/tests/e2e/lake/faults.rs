//! Buckets that can't be used: a sentence with a remedy, without a secret, and nothing is changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::tables::folder;
use crate::support::*;

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
