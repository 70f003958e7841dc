//! Several writers at once: one whole run a key, whoever wins, and all tables have the same of it.

use super::tables::{filled, generations};
use crate::support::*;
use crate::tools::answers::Answers;

/// The number of writers.
const WRITERS: usize = 6;

/// A log of so many requests.
fn log(store: &Store, requests: usize) -> String {
    let line = |at: usize| format!("{},{},Get,true\n", 1_795_203_738_615_usize + 100 * at, 5 + at);
    let lines: String = (0..requests).map(line).collect();
    store.file(&format!("{requests}.csv"), format!("timeStamp,elapsed,label,success\n{lines}"))
}

/// Lets writers begin at once, each with a run of its own number of requests, and returns what they left behind.
fn race(store: &Store, flags: impl Fn(usize) -> Vec<String>) -> Vec<Done> {
    let begin = |writer: usize| {
        let (log, flags) = (log(store, 1 + writer), flags(writer));
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        store.spawn(&[&["ingest", &log][..], &flags].concat())
    };
    let writers: Vec<_> = (0..WRITERS).map(begin).collect();
    writers.into_iter().map(finish).collect()
}

#[test]
fn one_whole_run_is_left_of_writers_of_one_key() {
    for store in Store::lakes() {
        for round in 0..3 {
            let done = race(&store, |_| ["--framework", "go", "--test", "a"].map(str::to_owned).into());
            let stored = done.iter().filter(|done| done.code == Some(0)).count();
            assert!(stored >= 1, "{round}: {done:?}");
            for refused in done.into_iter().filter(|done| done.code != Some(0)) {
                assert_told(&refused.complaint(1), &["go_a", "another perfpipe"]);
            }
            assert_eq!(store.keys(), ["go a"], "{round}");
            store.run(&["verify"]).text();
            if store.place().starts_with("file://") {
                let shown = generations(&store, "runs");
                for table in filled() {
                    assert_eq!(generations(&store, table), shown, "{round}: {table}");
                }
            }
        }
    }
}

#[test]
fn writers_of_several_keys_do_not_hinder_each_other() {
    for store in Store::lakes() {
        let done = race(&store, |writer| {
            ["--framework", "go", "--test", &format!("t{writer}")].map(str::to_owned).into()
        });
        done.into_iter().for_each(|done| drop(done.said()));
        assert_eq!(store.list().len(), WRITERS);
        store.run(&["verify"]).text();
    }
}

/// Every fifth answer to a request that writes is lost, after the server has done what was asked.
#[test]
fn run_is_stored_although_answers_are_lost() {
    let Some(server) = BucketServer::shared() else { return };
    let answers = Answers::new(&server.host, 5);
    let flag = ["--store".to_owned(), format!("s3://{}/runs", server.new_bucket())];
    let store = Store { environment: bucket_environment(&answers.host), ..Store::at(flag) };
    for requests in [5, 7] {
        store.run(&["ingest", &log(&store, requests), "--framework", "go", "--test", "a"]).said();
        assert_eq!(store.samples(&Key::new("go", "a"), &[]).len(), 1 + requests);
    }
    assert!(answers.lost() > 2);
    store.run(&["verify"]).text();
}

#[test]
fn killed_writer_leaves_the_run_that_was_there() {
    for store in Store::lakes() {
        let key = Key::new("go", "a");
        store.run(&["ingest", &log(&store, 5), "--framework", "go", "--test", "a"]).said();
        let endless = endless_log(&store, "endless.csv");
        let mut writer = store.spawn(&["ingest", &endless, "--framework", "go", "--test", "a"]);
        wait_for("the writer reads", || read_by(writer.id()) > 1 << 20);
        signal("KILL", writer.id());
        writer.wait().unwrap();
        assert_eq!(store.samples(&key, &[]).len(), 1 + 5);
        store.run(&["ingest", &log(&store, 7), "--framework", "go", "--test", "a"]).said();
        assert_eq!(store.samples(&key, &[]).len(), 1 + 7);
        store.run(&["verify"]).text();
    }
}
