//! Runs that move from store to store and back, and stored runs that get other CPU readings.

use crate::postgres::psql;
use crate::support::*;

/// All that there is of a run, as its exports tell it.
fn all_of(store: &Store, key: &Key) -> Vec<String> {
    ["samples", "seconds", "errors", "cpu", "labels", "rejects", "summary"]
        .map(|what| exported(store, key, what))
        .into()
}

fn exported(store: &Store, key: &Key, what: &str) -> String {
    store.run(&["export", "--framework", &key.framework, "--test", &key.test, "--what", what]).text()
}

/// The flags that name a store to copy to.
fn to(store: &Store) -> [&str; 2] {
    [if store.is_database() { "--to-database" } else { "--to" }, store.place()]
}

#[test]
fn runs_are_the_same_in_the_other_store_and_back() {
    let here = Store::embedded();
    let keys: Vec<Key> = [
        ("killed", &["Results-2048-8181.killed.csv.zip", "Results-2048-8181.killed.cpu.csv"][..]),
        ("outage", &["outage.csv.zip", "outage.cpu.csv"]),
        ("three", &["distributed.csv", "distributed.cpu.csv"]),
        ("flaky", &["Results-flaky-8181.csv"]),
    ]
    .map(|(framework, files)| {
        let files: Vec<String> =
            files.iter().map(|file| fixture(file).to_str().unwrap().to_owned()).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        here.run(&[&["ingest", "--framework", framework, "--test", "2048"], &files[..]].concat()).said();
        Key::new(framework, "2048")
    })
    .into();
    let originals: Vec<_> = keys.iter().map(|key| all_of(&here, key)).collect();
    let others: Vec<Store> = std::iter::once(Store::embedded()).chain(Store::database()).collect();
    for there in &others {
        let said = here.run(&[&["copy"][..], &to(there)].concat()).said();
        assert_eq!(said.matches("read back the same").count(), keys.len(), "{said}");
        let back = Store::embedded();
        there.run(&[&["copy"][..], &to(&back)].concat()).said();
        for (key, original) in keys.iter().zip(&originals) {
            assert_eq!(all_of(there, key), *original);
            assert_eq!(all_of(&back, key), *original);
        }
        assert_eq!(there.list(), here.list());
        assert_eq!(back.list(), here.list());
        assert_eq!(there.leftovers(), [""; 0]);

        // What is there already is not copied again, unless it is damaged.
        let before = there.list();
        let said = here.run(&[&["copy"][..], &to(there)].concat()).said();
        assert_eq!(said.matches("is already in").count(), keys.len(), "{said}");
        assert_eq!(there.list(), before);
    }

    // Another run of the same key is not replaced without a word.
    let name = format!("{}_{}", keys[0].framework, keys[0].test);
    let other = fixture("crlf.csv");
    let flags = ["--framework", &keys[0].framework, "--test", &keys[0].test, "--replace"];
    here.run(&[&["ingest", other.to_str().unwrap()], &flags[..]].concat()).said();
    for there in &others {
        let complaint = here.run(&[&["copy", &name][..], &to(there)].concat()).complaint(1);
        assert!(complaint.contains(&name) && complaint.contains("--replace"), "{complaint}");
        here.run(&[&["copy", &name, "--replace"][..], &to(there)].concat()).said();
        assert_eq!(all_of(there, &keys[0]), all_of(&here, &keys[0]));
    }
}

#[test]
fn every_fixture_goes_from_a_database_to_a_folder_and_to_another_database() {
    let (Some(here), there, Some(back)) = (Store::database(), Store::embedded(), Store::database()) else {
        return;
    };
    let fixtures = Fixture::all();
    let keys: Vec<Key> = (0..fixtures.len()).map(|at| Key::new(&format!("f{at}"), "t")).collect();
    for (fixture, key) in fixtures.iter().zip(&keys) {
        let files = fixture.files(&fixture.logs()[0]);
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        here.run(&[&["ingest", "--framework", &key.framework, "--test", "t"], &files[..]].concat()).said();
    }
    for (from, into) in [(&here, &there), (&there, &back)] {
        let said = from.run(&[&["copy"][..], &to(into)].concat()).said();
        assert_eq!(said.matches("read back the same").count(), keys.len(), "{said}");
    }
    for key in &keys {
        let original = all_of(&here, key);
        assert!(all_of(&there, key) == original && all_of(&back, key) == original, "{key:?}");
    }
}

#[test]
fn counts_alone_are_copied_too_and_what_can_not_be_is_refused() {
    let (here, there) = (Store::embedded(), Store::embedded());
    let log = fixture("crlf.csv");
    let log = log.to_str().unwrap();
    here.run(&["ingest", log, "--framework", "go", "--test", "counts", "--no-samples"]).said();
    here.run(&[&["copy", "go_counts"][..], &to(&there)].concat()).said();
    let key = Key::new("go", "counts");
    assert_eq!(exported(&there, &key, "seconds"), exported(&here, &key, "seconds"));
    let complaint = here.run(&[&["copy", "nobody_1"][..], &to(&there)].concat()).complaint(1);
    assert_told(&complaint, &["nobody_1"]);
    here.run(&["copy"]).complaint(2);
    here.run(&[&["copy"][..], &to(&here)].concat()).complaint(2);
}

#[test]
fn readings_that_are_attached_are_as_if_they_had_been_there() {
    for store in Store::each() {
        let (log, cpu) = (fixture("outage.csv.zip"), fixture("outage.cpu.csv"));
        let (log, cpu) = (log.to_str().unwrap(), cpu.to_str().unwrap());
        let join = ["--cpu-offset", "1", "--cpu-lookback", "2"];
        let ingest = |framework: &str, files: &[&str]| {
            store.run(&[&["ingest", "--framework", framework, "--test", "2048"], files].concat()).said();
        };
        ingest("with", &[&[log, cpu], &join[..]].concat());
        ingest("without", &[log]);
        let (with, without) = (Key::new("with", "2048"), Key::new("without", "2048"));
        assert_ne!(exported(&store, &without, "seconds"), exported(&store, &with, "seconds"));
        let said = store.run(&[&["attach-cpu", "without_2048", cpu], &join[..]].concat()).said();
        assert_told(&said, &["without_2048"]);
        for what in ["samples", "seconds", "cpu", "labels"] {
            assert!(exported(&store, &without, what) == exported(&store, &with, what), "{what}");
        }
        assert_eq!(store.leftovers(), [""; 0]);

        let complaint = store.run(&["attach-cpu", "without_2048", log]).complaint(2);
        assert_told(&complaint, &["outage.csv.zip"]);
        assert_eq!(exported(&store, &without, "seconds"), exported(&store, &with, "seconds"));
    }
}

#[test]
fn notes_on_former_readings_go_with_them() {
    for store in Store::each() {
        let (log, cpu) = (fixture("Results-flaky-8181.csv.zip"), fixture("Results-flaky-8181.cpu.csv"));
        let (log, cpu) = (log.to_str().unwrap(), cpu.to_str().unwrap());
        let zipped = std::fs::read(fixture("Results-flaky-8181.cpu.csv.zip")).unwrap();
        let cut = store.file("cut.cpu.csv.zip", &zipped[..zipped.len() - 30]);
        let key = ["--framework", "go", "--test", "flaky"];
        store.run(&[&["ingest", log, &cut, "--salvage", "--cpu-item", "28504"], &key[..]].concat()).said();
        let key = Key::new("go", "flaky");
        let partial_and_item = || (store.summary(&key, &[])["partial"].clone(), notes_an_item(&store));
        assert_eq!(partial_and_item(), (true.into(), true));
        store.run(&["attach-cpu", "go_flaky", cpu]).said();
        assert_eq!(partial_and_item(), (false.into(), false));
    }
}

/// Whether the only run notes which Zabbix item was taken.
fn notes_an_item(store: &Store) -> bool {
    let options = match store.is_database() {
        true => psql(store.place(), "select options from perfpipe.runs"),
        false => {
            std::fs::read_to_string(std::path::Path::new(store.place()).join("runs/go+flaky/manifest.json"))
                .unwrap()
        }
    };
    options.contains("cpu-item")
}

#[test]
fn short_runs_say_why_nothing_can_be_told() {
    let store = Store::embedded();
    let log = "timeStamp,elapsed,success\n1795203738615,12,true\n";
    for name in ["a", "b"] {
        let path = store.file("x.csv", log);
        store.run(&["ingest", &path, "--framework", name, "--test", "t"]).said();
    }
    let compared = store.run(&["compare", "a_t", "b_t"]);
    assert_eq!(compared.code, Some(0));
    let said = compared.err;
    assert!(said.contains("the run is too short to estimate its noise"), "{said}");
}

#[test]
fn damaged_copy_is_made_anew() {
    let (here, there) = (Store::embedded(), Store::embedded());
    let log = fixture("crlf.csv");
    here.run(&["ingest", log.to_str().unwrap(), "--framework", "go", "--test", "t"]).said();
    let copy = || here.run(&[&["copy"][..], &to(&there)].concat()).said();
    assert_told(&copy(), &["read back the same"]);
    let runs = std::path::Path::new(there.place()).join("runs/go+t");
    let generation = |entry: std::fs::DirEntry| entry.path().join("samples.parquet");
    let samples = std::fs::read_dir(&runs).unwrap().map(|entry| generation(entry.unwrap()));
    let samples = samples.into_iter().find(|path| path.is_file()).unwrap();
    let mut bytes = std::fs::read(&samples).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&samples, bytes).unwrap();
    assert_told(&copy(), &["copied go_t", "read back the same"]);
    assert_told(&copy(), &["is already in"]);
    assert_eq!(there.run(&["verify"]).code, Some(0));
}
