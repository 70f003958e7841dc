//! Inputs and stores that fail: the exit code, the place, the remedy, and nothing stored.

use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use crate::support::*;

const HEADER: &str = "timeStamp,elapsed,label,success\n";

#[test]
fn files_that_can_not_be_opened_or_do_not_fit_together_are_named() {
    let store = Store::embedded();
    let complaint = store.run(&["ingest", "nowhere.zip"]).complaint(1);
    assert!(complaint.contains("nowhere.zip"), "{complaint}");
    let cpu = fixture("outage.cpu.csv");
    let cpu = cpu.to_str().unwrap();
    let complaint = store.run(&["ingest", cpu]).complaint(2);
    assert_told(&complaint, &["outage.cpu.csv"]);
    let log = fixture("crlf.csv");
    let log = log.to_str().unwrap();
    let complaint = store.run(&["ingest", log, log]).complaint(2);
    assert!(complaint.contains("crlf.csv"), "{complaint}");
    let other = fixture("distributed.cpu.csv");
    let complaint = store.run(&["ingest", log, cpu, other.to_str().unwrap()]).complaint(2);
    assert!(complaint.contains("cpu.csv"), "{complaint}");
    assert!(store.list().is_empty());
}

/// A log of 20 records, of which the last 5 are rejects.
fn with_rejects() -> String {
    let record = |at: u64| match at {
        0..15 => format!("{},12,Get,true\n", 1_795_203_738_615 + at),
        _ => format!("{},soon,Get,true\n", 1_795_203_738_615 + at),
    };
    HEADER.to_owned() + &(0..20).map(record).collect::<String>()
}

#[test]
fn rejects_are_kept_until_they_are_too_many() {
    for store in Store::each() {
        let path = store.file("nio_bad.csv", with_rejects());
        let complaint = store.run(&["ingest", &path, "--max-rejects", "4"]).complaint(3);
        assert_told(&complaint, &["nio_bad.csv", "line 21", "soon", " 4", "--max-rejects"]);
        let complaint = store.run(&["ingest", &path, "--strict"]).complaint(3);
        assert!(complaint.contains("line 17"), "{complaint}");
        assert!(store.list().is_empty() && store.leftovers().is_empty());

        let said = store.run(&["ingest", &path, "--max-rejects", "5"]).said();
        assert!(said.contains("--what rejects"), "{said}");
        let run = &store.list()[0];
        assert_eq!((count(run, "requests"), count(run, "rejects")), (15, 5));
        let rejects = rows(&store.export(&store.only_key(), "rejects", "csv", &[]));
        assert_eq!(rejects[4]["record"], "1795203738634,soon,Get,true");
        assert_eq!((rejects[0]["file"].as_str(), rejects[0]["line"].as_str()), ("nio_bad.csv", "17"));
    }
}

#[test]
fn failed_ingest_leaves_the_run_before_it() {
    for store in Store::each() {
        let key = ["--framework", "nio", "--test", "bad"];
        let good = fixture("crlf.csv");
        store.run(&[&["ingest", good.to_str().unwrap()], &key[..]].concat()).said();
        let bad = store.file("bad.csv", with_rejects());
        store.run(&[&["ingest", &bad, "--strict"], &key[..]].concat()).complaint(3);
        assert_eq!(count(&store.list()[0], "requests"), 200);
        assert_eq!(store.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn run_that_is_not_there_is_named_with_the_way_to_see_those_that_are() {
    for store in Store::each() {
        let log = fixture("crlf.csv");
        let other = ["--framework", "nio", "--test", "other"];
        store.run(&[&["ingest", log.to_str().unwrap()], &other[..]].concat()).said();
        let key = ["--framework", "nio", "--test", "2048"];
        for what in ["seconds", "samples", "errors", "cpu", "summary", "labels", "rejects"] {
            let complaint = store.run(&[&["export", "--what", what], &key[..]].concat()).complaint(1);
            assert_told(&complaint, &["nio_2048", "the tests other"]);
        }
        store.run(&[&["drop"], &key[..]].concat()).complaint(1);
        store.run(&[&["drop"], &other[..]].concat()).said();
        let list = store.run(&["list"]);
        assert!(list.err.contains("perfpipe ingest"), "{}", list.err);
    }
}

#[test]
fn run_without_samples_says_so_and_has_all_else() {
    for store in Store::each() {
        let log = fixture("crlf.csv");
        store.run(&["ingest", log.to_str().unwrap(), "--no-samples"]).said();
        let key = store.only_key();
        assert_eq!(store.list()[0]["samples_stored"], false);
        assert_eq!(store.export(&key, "seconds", "csv", &[]).lines().count(), 12);
        let run = ["export", "--framework", &key.framework, "--test", &key.test];
        for format in ["csv", "json", "parquet"] {
            let arguments = [&run[..], &["--what", "samples", "--format", format]].concat();
            let complaint = store.run(&arguments).complaint(1);
            assert!(complaint.contains("--no-samples"), "{complaint}");
        }
    }
}

#[test]
fn export_that_fails_leaves_no_file() {
    let store = Store::embedded();
    let arguments = ["export", "--framework", "a", "--test", "b", "-o", "seconds.csv"];
    store.run(&arguments).complaint(1);
    assert_eq!(std::fs::read_dir(store.folder.path()).unwrap().count(), 0);
    let path = "nowhere/seconds.csv";
    let complaint = store.run(&["export", "--framework", "a", "--test", "b", "-o", path]).complaint(1);
    assert!(complaint.contains(path), "{complaint}");
}

#[test]
fn stores_that_can_not_be_are_refused() {
    let store = Store::embedded();
    store.file("store/thesis.txt", "mine");
    for command in ["ingest run.csv", "list", "report --test 2048"] {
        let arguments: Vec<&str> = command.split(' ').collect();
        store.file("run.csv", with_rejects());
        let complaint = store.run(&arguments).complaint(1);
        assert!(complaint.contains("--store"), "{complaint}");
    }
    assert_eq!(std::fs::read_dir(store.place()).unwrap().count(), 1);
    let nobody = ["list", "--database", "postgres://x@127.0.0.1:1/y"];
    let complaint = done(perfpipe().args(nobody)).complaint(1);
    assert!(complaint.contains("127.0.0.1"), "{complaint}");
    let odd = ["list", "--database", "mysql://x@127.0.0.1/y"];
    done(perfpipe().args(odd)).complaint(2);
}

#[test]
fn store_is_named_by_the_environment_without_a_flag_and_else_by_the_folder() {
    let store = Store::embedded();
    let folder = store.folder.path();
    let log = fixture("crlf.csv");
    let ingest = |variable: Option<&str>| {
        let mut command = perfpipe();
        command.arg("ingest").arg(&log).current_dir(folder);
        // Another project's variable is never looked at.
        command
            .env("DATABASE_URL", "postgres://x@127.0.0.1:1/y")
            .envs(variable.map(|url| ("PERFPIPE_DATABASE_URL", url)));
        done(&mut command).said()
    };
    ingest(None);
    assert!(folder.join("perfpipe-data/perfpipe.json").is_file());
    if let Some(database) = Store::database() {
        let said = ingest(Some(database.place()));
        assert_told(&said, &["postgres"]);
        assert_eq!(database.list().len(), 1);
        // A flag is stronger than the variable.
        let mut list = store.command(&["list"]);
        let complaint = done(list.env("PERFPIPE_DATABASE_URL", database.place())).complaint(1);
        assert_told(&complaint, &[store.place()]);
    }
}

#[test]
fn reader_that_has_seen_enough_is_no_error() {
    for store in Store::each() {
        let key = Fixture::named("Results-2048-9000.csv").ingest_into(&store);
        for format in ["csv", "json", "text", "md", "parquet"] {
            let run = ["export", "--framework", &key.framework, "--test", &key.test];
            let mut command = store.command(&[&run[..], &["--what", "samples", "--format", format]].concat());
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let mut first = [0; 4];
            child.stdout.take().unwrap().read_exact(&mut first).unwrap();
            let done = finish(child);
            assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{format}");
        }
    }
}

#[test]
fn data_and_sentences_do_not_mix() {
    for store in Store::each() {
        let key = Fixture::named("Results-2048-8181.killed.csv").ingest_into(&store);
        let run = ["export", "--framework", &key.framework, "--test", &key.test];
        for what in ["seconds", "samples", "rejects"] {
            let done = store.run(&[&run[..], &["--what", what]].concat());
            assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{what}");
        }
        let path = store.folder.path().join("out.csv");
        let done = store.run(&[&run[..], &["-o", path.to_str().unwrap()]].concat());
        assert!(done.out.is_empty() && done.code == Some(0), "{}", done.err);
        assert_eq!(std::fs::read(&path).unwrap(), store.export(&key, "seconds", "csv", &[]).as_bytes());
        assert!(!Path::new(&store.folder.path().join("perfpipe-data")).exists());
    }
}
