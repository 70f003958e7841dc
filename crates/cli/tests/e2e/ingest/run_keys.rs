//! What a run is called, and which run may take another's place.

use crate::support::*;
use crate::zips::deflated;

/// A log of one request to each URL, and with each label.
fn log(urls: &[&str], labels: &[&str]) -> String {
    let mut text = "timeStamp,elapsed,label,success,URL\n".to_owned();
    for (at, (url, label)) in urls.iter().zip(labels.iter().cycle()).enumerate() {
        text.push_str(&format!("{},12,{label},true,{url}\n", 1_795_203_738_000 + at));
    }
    text
}

#[test]
fn keys_are_inferred_from_urls_names_and_labels_and_said() {
    let one_path = log(&["http://10.0.0.7:8080/api/2048?x=1", "http://10.0.0.7:8080/api/2048"], &["a", "b"]);
    let many_paths = log(&["http://10.0.0.7:8080/a", "http://10.0.0.7:8080/b"], &["a", "b"]);
    let one_label = log(&["http://10.0.0.7:8080/a", "http://10.0.0.7:8080/b"], &["Search"]);
    let no_urls = log(&["", ""], &["a", "b"]);
    for (name, log, key) in [
        ("monday.csv", &one_path, "10.0.0.7:8080 2048"),
        ("perfectnio_2048.csv", &one_path, "perfectnio 2048"),
        ("perfectnio_4096.csv", &one_path, "10.0.0.7:8080 2048"),
        ("perfectnio_heavy_2048.csv", &many_paths, "perfectnio heavy_2048"),
        ("Results-mixed-8080.csv", &many_paths, "10.0.0.7:8080 mixed"),
        ("monday.csv", &one_label, "10.0.0.7:8080 Search"),
        ("monday.jtl", &many_paths, "10.0.0.7:8080 monday"),
        ("monday.csv", &no_urls, "monday monday"),
    ] {
        for store in Store::each() {
            let zip = store.file(&format!("{name}.zip"), deflated(&[(name, log.as_bytes())]));
            let said = store.run(&["ingest", &zip]).said();
            assert_eq!(store.keys(), [key], "{name}");
            for (what, value) in ["framework", "test"].iter().zip(key.split(' ')) {
                assert!(said.contains(&format!("inferred {what} `{value}`")), "{said}");
            }
        }
    }
}

#[test]
fn name_told_is_taken_and_the_other_inferred() {
    let store = Store::embedded();
    let path = store.file("perfectnio_2048.csv", log(&["http://a:1/2048"], &["x"]));
    let said = store.run(&["ingest", &path, "--framework", "spring"]).said();
    assert!(!said.contains("inferred framework") && said.contains("inferred test"), "{said}");
    let said = store.run(&["ingest", &path, "--framework", "go", "--test", "4096"]).said();
    assert!(!said.contains("inferred"), "{said}");
    assert_eq!(store.keys(), ["spring 2048", "go 4096"]);
}

/// The number of requests of each run.
fn requests(store: &Store) -> Vec<i64> {
    store.list().iter().map(|run| count(run, "requests")).collect()
}

#[test]
fn inferred_key_replaces_only_a_run_of_the_same_file() {
    let url = "http://a:1/2048";
    let (short, long) = (log(&[url], &["x"]), log(&[url, url], &["x"]));
    for store in Store::each() {
        let path = store.file("one/run.csv", &short);
        store.run(&["ingest", &path]).said();
        store.file("one/run.csv", &long);
        store.run(&["ingest", &path]).said();
        assert_eq!(requests(&store), [2], "the same file again replaces");

        let other = store.file("other.csv", &short);
        let complaint = store.run(&["ingest", &other]).complaint(1);
        for part in ["a:1_2048", "run.csv", "--framework", "--test", "--replace"] {
            assert!(complaint.contains(part), "{part} is not in: {complaint}");
        }
        assert_eq!(requests(&store), [2], "a refused run changes nothing");

        store.run(&["ingest", &other, "--replace"]).said();
        assert_eq!(requests(&store), [1], "--replace replaces");
        store.run(&["ingest", &path, "--framework", "a:1", "--test", "2048"]).said();
        assert_eq!(requests(&store), [2], "a told key replaces");
        assert_eq!(store.keys(), ["a:1 2048"]);
    }
}

#[test]
fn inferred_key_of_a_pipe_replaces_only_the_same_content() {
    let url = "http://a:1/2048";
    let (short, long) = (log(&[url], &["x"]), log(&[url, url], &["x"]));
    for store in Store::each() {
        for _ in 0..2 {
            store.pipe(short.as_bytes(), &["ingest", "-"]).said();
        }
        let complaint = store.pipe(long.as_bytes(), &["ingest", "-"]).complaint(1);
        assert!(complaint.contains("made from standard input"), "{complaint}");
        assert_eq!(requests(&store), [1]);
        store.pipe(long.as_bytes(), &["ingest", "-", "--replace"]).said();
        assert_eq!(requests(&store), [2]);
    }
}

#[test]
fn replaced_run_leaves_nothing_behind() {
    for store in Store::each() {
        let fixture = Fixture::named("Results-flaky-8181.csv");
        fixture.ingest_into(&store);
        let before = store.export(&store.only_key(), "seconds", "csv", &[]);
        let key = fixture.ingest_into(&store);
        assert_eq!(store.export(&key, "seconds", "csv", &[]), before);
        assert_eq!(store.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn dropped_run_is_gone_and_the_others_stay() {
    for store in Store::each() {
        let path = store.file("run.csv", log(&["http://a:1/2048"], &["x"]));
        for framework in ["nio", "spring"] {
            store.run(&["ingest", &path, "--framework", framework]).said();
        }
        let said = store.run(&["drop", "--framework", "nio", "--test", "2048"]).said();
        assert!(said.contains("nio_2048"), "{said}");
        assert_eq!(store.keys(), ["spring 2048"]);
        let complaint = store.run(&["drop", "--framework", "nio", "--test", "2048"]).complaint(1);
        assert_told(&complaint, &["no run of nio for the test 2048", "the frameworks spring"]);
        assert_eq!(store.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn ingest_says_which_run_of_other_files_it_replaced() {
    for store in Store::each() {
        let key = ["--framework", "nio", "--test", "2048"];
        let ingest = |file: &str| {
            let log = fixture(file);
            store.run(&[&["ingest", log.to_str().unwrap()], &key[..]].concat()).said()
        };
        let first = ingest("Results-flaky-8181.csv");
        let again = ingest("Results-flaky-8181.csv");
        let other = ingest("crlf.csv");
        for said in [first, again] {
            assert!(!said.contains("replaced"), "{said}");
        }
        let told = "replaced an earlier run nio_2048 of 5,187 requests";
        assert!(other.contains(told) && other.contains("other files: Results-flaky-8181.csv"), "{other}");
    }
}

#[test]
fn another_run_of_the_same_name_is_not_replaced_without_a_word() {
    let store = Store::embedded();
    let night = |begin: &str| {
        let log = std::fs::read_to_string(fixture("crlf.csv")).unwrap().replace("17950000", begin);
        store.file("nights/go_shop.csv", log);
        let folder = store.folder.path().join("nights");
        store.run(&["ingest", folder.to_str().unwrap()])
    };
    assert_eq!(night("17950000").code, Some(0));
    assert!(!night("17950000").err.contains("replaced"));
    let told = night("17950864").err;
    assert_told(&told, &["_2048 of 2026-11-18", "was replaced by another run", "--append-repeat"]);
}
