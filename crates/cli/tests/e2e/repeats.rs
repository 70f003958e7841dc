//! Several runs of one test of one framework: stored beside each other, named one by one, compared as one.

use std::io::Write;

use crate::postgres::psql;
use crate::support::*;

const TOLD: [&str; 4] = ["--framework", "nio", "--test", "2048"];

/// A log of so many requests, ten a second, the last few of them failures.
fn log(requests: usize, failures: usize) -> String {
    let mut text = "timeStamp,elapsed,label,success,allThreads\n".to_owned();
    for at in 0..requests {
        let success = at + failures < requests;
        text.push_str(&format!("{},{},Get,{success},4\n", 1_795_203_738_000 + at * 100, 10 + at % 7));
    }
    text
}

/// Stores a log of so many requests, with these flags; says what was said.
fn ingest(store: &Store, requests: usize, flags: &[&str]) -> String {
    let path = store.file("run.csv", log(requests, 0));
    store.run(&[&["ingest", &path], &TOLD[..], flags].concat()).said()
}

/// The repeats that are stored, and the requests of each.
fn stored(store: &Store) -> Vec<(i64, i64)> {
    store.list().iter().map(|run| (count(run, "repeat"), count(run, "requests"))).collect()
}

fn command<'a>(command: &'a str, flags: &[&'a str]) -> Vec<&'a str> {
    [&[command], &TOLD[..], flags].concat()
}

#[test]
fn repeats_stand_beside_each_other_and_each_replaces_its_own_number() {
    for store in Store::each() {
        ingest(&store, 100, &[]);
        ingest(&store, 200, &["--repeat", "3"]);
        let said = ingest(&store, 300, &["--append-repeat"]);
        assert!(said.contains("nio_2048#2"), "{said}");
        assert_eq!(stored(&store), [(1, 100), (2, 300), (3, 200)]);
        ingest(&store, 110, &[]);
        ingest(&store, 310, &["--repeat", "2"]);
        ingest(&store, 400, &["--append-repeat", "--no-samples"]);
        assert_eq!(stored(&store), [(1, 110), (2, 310), (3, 200), (4, 400)]);
        store.run(&command("drop", &["--repeat", "1"])).said();
        ingest(&store, 120, &["--append-repeat"]);
        assert_eq!(stored(&store), [(1, 120), (2, 310), (3, 200), (4, 400)]);
        assert_eq!(store.leftovers(), Vec::<String>::new());
        if store.is_database() {
            let tables =
                "select string_agg(coalesce(table_name, '-'), ' ' order by repeat) from perfpipe.runs";
            assert_eq!(psql(store.place(), tables), "nio_2048 nio_2048_r2 nio_2048_r3 -");
        }
    }
}

#[test]
fn a_repeat_of_its_own_holds_all_that_its_log_gives_alone() {
    for store in Store::each() {
        let alone = Store::embedded();
        for (name, repeat) in
            [("Results-2048-9000.csv", "1"), ("Results-flaky-8181.csv", "2"), ("outage.csv", "3")]
        {
            let fixture = Fixture::named(name);
            let files = fixture.files(&fixture.logs()[0]);
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            store.run(&[&["ingest"], &files[..], &TOLD, &["--repeat", repeat]].concat()).said();
            alone.run(&[&["ingest"], &files[..], &TOLD].concat()).said();
            let key = Key::new("nio", "2048");
            for what in ["seconds", "summary", "errors", "cpu", "labels", "rejects"] {
                let ours = store.export(&key, what, "csv", &["--repeat", repeat]);
                assert!(ours == alone.export(&key, what, "csv", &[]), "{what} of repeat {repeat}");
            }
            assert!(
                store.samples(&key, &["--repeat", repeat]) == alone.samples(&key, &[]),
                "repeat {repeat}"
            );
            let findings = |store: &Store, flags: &[&str]| store.run(&command("diagnose", flags)).text();
            assert_eq!(findings(&store, &["--repeat", repeat]), findings(&alone, &[]));
        }
    }
}

#[test]
fn where_there_are_several_repeats_one_has_to_be_named() {
    for store in Store::each() {
        ingest(&store, 50, &["--repeat", "2"]);
        // The only one needs no name.
        let alone = store.run(&command("export", &[])).text();
        assert_eq!(alone, store.run(&command("export", &["--repeat", "2"])).text());
        ingest(&store, 60, &["--repeat", "5"]);
        for name in ["export", "diagnose", "drop"] {
            let complaint = store.run(&command(name, &[])).complaint(2);
            for part in ["nio_2048#2, nio_2048#5", "--repeat 5"] {
                assert!(complaint.contains(part), "{name}: {complaint}");
            }
        }
        for what in ["samples", "rejects", "summary"] {
            let complaint = store.run(&command("export", &["--what", what, "--repeat", "3"])).complaint(1);
            assert!(complaint.contains("nio_2048#3") && complaint.contains("perfpipe list"), "{complaint}");
        }
        assert_eq!(stored(&store), [(2, 50), (5, 60)]);
        let said = store.run(&command("drop", &["--repeat", "5"])).said();
        assert!(said.contains("dropped nio_2048#5"), "{said}");
        store.run(&command("drop", &[])).said();
        assert!(store.list().is_empty());
        assert_eq!(store.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn the_list_has_the_repeat_where_it_tells_something() {
    for store in Store::each() {
        ingest(&store, 50, &[]);
        let list = |format: &str| store.run(&["list", "--format", format]).text();
        assert!(!list("text").contains("repeat") && !list("md").contains("repeat"), "{}", list("text"));
        assert!(header(&list("csv")).starts_with("framework,test,repeat,t0_ms"), "{}", list("csv"));
        ingest(&store, 60, &["--append-repeat"]);
        assert!(list("text").contains("repeat") && list("md").contains("repeat"), "{}", list("text"));
    }
}

#[test]
fn an_inferred_key_can_have_repeats_too() {
    for store in Store::each() {
        let one = store.file("nio_2048.csv", log(10, 0));
        let other = store.file("elsewhere/nio_2048.v2.csv", log(20, 0));
        store.run(&["ingest", &one]).said();
        let complaint = store.run(&["ingest", &other]).complaint(1);
        assert!(complaint.contains("--append-repeat"), "{complaint}");
        store.run(&["ingest", &other, "--append-repeat"]).said();
        assert_eq!(store.keys(), ["nio 2048", "nio 2048"]);
        assert_eq!(stored(&store), [(1, 10), (2, 20)]);
        // The same number again is another's place still.
        let complaint = store.run(&["ingest", &one, "--repeat", "2"]).complaint(1);
        assert!(complaint.contains("nio_2048#2") && complaint.contains("nio_2048.v2.csv"), "{complaint}");
        assert_eq!(stored(&store), [(1, 10), (2, 20)]);
    }
}

#[test]
fn repeats_that_come_at_once_get_a_number_each() {
    for store in Store::each() {
        let logs: Vec<String> =
            (1..=4).map(|at| store.file(&format!("{at}.csv"), log(1000 * at, 0))).collect();
        for keep in ["--append-repeat", "--no-samples"] {
            let flags = ["--append-repeat", keep];
            let flags = if keep == "--no-samples" { &flags[..] } else { &flags[..1] };
            let children: Vec<_> =
                logs.iter().map(|log| store.spawn(&[&["ingest", log], &TOLD[..], flags].concat())).collect();
            for child in children {
                finish(child).said();
            }
        }
        let (numbers, mut requests): (Vec<i64>, Vec<i64>) = stored(&store).into_iter().unzip();
        requests.sort_unstable();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(requests, [1000, 1000, 2000, 2000, 3000, 3000, 4000, 4000]);
        assert_eq!(store.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn a_number_that_another_ingest_holds_is_left_to_it() {
    for store in Store::each() {
        ingest(&store, 10, &[]);
        let mut slow = store.spawn(&[&["ingest", "-"], &TOLD[..], &["--repeat", "2"]].concat());
        let log = log(20_000, 0);
        slow.stdin.as_mut().unwrap().write_all(log.as_bytes()).unwrap();
        // It holds its number from before the first record on.
        wait_for("a writer holds repeat 2", || match store.is_database() {
            true => psql(store.place(), "select count(*) from pg_locks where locktype = 'advisory'") != "0",
            false => std::path::Path::new(store.place()).join("runs/nio+2048+2/.lock").exists(),
        });
        let path = store.file("x.csv", &log);
        let refused = [&["ingest", &path], &TOLD[..], &["--repeat", "2"]].concat();
        let complaint = store.run(&refused).complaint(1);
        assert!(complaint.contains("nio_2048#2") && complaint.contains("another perfpipe"), "{complaint}");
        ingest(&store, 30, &["--append-repeat"]);
        assert_eq!(stored(&store), [(1, 10), (3, 30)]);
        drop(slow.stdin.take());
        finish(slow).said();
        assert_eq!(stored(&store), [(1, 10), (2, 20_000), (3, 30)]);
        assert_eq!(store.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn a_repeat_and_a_test_of_its_name_are_different_runs() {
    for store in Store::each() {
        ingest(&store, 10, &["--repeat", "2"]);
        let path = store.file("other.csv", log(20, 0));
        store.run(&["ingest", &path, "--framework", "nio", "--test", "2048_r2"]).said();
        store.run(&["ingest", &path, "--framework", "nio", "--test", "2048+2"]).said();
        store.run(&["ingest", &path, "--framework", "nio", "--test", "2048#2"]).said();
        let tests: Vec<String> = store.list().iter().map(|run| text(run, "test").to_owned()).collect();
        assert_eq!(tests, ["2048", "2048#2", "2048+2", "2048_r2"]);
        assert_eq!(rows(&store.run(&command("export", &["--what", "samples"])).text()).len(), 10);
        assert_eq!(store.leftovers(), Vec::<String>::new());
    }
}
