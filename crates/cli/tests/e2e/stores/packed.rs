//! A run travels as one file, without its samples, and gives the same figures in another store.

use crate::support::*;

const TABLES: [&str; 7] = ["seconds", "errors", "cpu", "labels", "rejects", "summary", "phases"];

fn all_of(store: &Store, key: &Key) -> Vec<String> {
    TABLES.map(|what| store.export(key, what, "json", &[])).into()
}

/// A store of a run with samples, CPU readings and a reject, and the file that it is packed into.
fn packed(store: Store) -> (Store, Key, String) {
    let files = ["Results-2048-8181.killed.csv.zip", "Results-2048-8181.killed.cpu.csv"];
    let files = files.map(|file| fixture(file).to_str().unwrap().to_owned());
    let ingest = ["ingest", &files[0], &files[1], "--framework", "go", "--test", "t", "--tag", "branch=main"];
    store.run(&ingest).said();
    store.run(&["export", "go_t", "--what", "counts", "-o", "go.run"]).said();
    let path = store.folder.path().join("go.run").to_str().unwrap().to_owned();
    (store, Key::new("go", "t"), path)
}

#[test]
fn packed_run_gives_equal_exports_in_another_store() {
    for (here, key, file) in Store::each().into_iter().map(packed) {
        let piped = here.run(&["export", "go_t", "--what", "counts"]);
        assert_eq!(piped.code, Some(0), "{}", piped.err);
        // What is piped is as good as the file.
        let from_pipe = here.file("piped.run", &piped.out);
        let third = Store::embedded();
        third.run(&["ingest", &from_pipe]).said();
        assert_eq!(all_of(&third, &key), all_of(&here, &key));
        for there in Store::each() {
            assert_told(&there.run(&["ingest", &file]).said(), &["stored go_t", "counts only"]);
            assert_eq!(all_of(&there, &key), all_of(&here, &key));
            let (mut own, mut other) = (here.list().remove(0), there.list().remove(0));
            assert_eq!(
                (own["samples_stored"].take(), other["samples_stored"].take()),
                (true.into(), false.into())
            );
            assert_eq!(own, other);
            assert_told(&there.run(&["ingest", &file]).said(), &["is already in"]);
            assert_eq!(there.run(&["verify"]).code, Some(0));
            assert_eq!(there.leftovers(), [""; 0]);
            // And on from there.
            there.run(&["export", "go_t", "--what", "counts", "-o", "again.run"]).said();
            let again = Store::embedded();
            again.run(&["ingest", there.folder.path().join("again.run").to_str().unwrap()]).said();
            assert_eq!(all_of(&again, &key), all_of(&here, &key));
        }
        // The samples of the run are not given up for its counts.
        let complaint = here.run(&["ingest", &file]).complaint(1);
        assert_told(&complaint, &["go_t", "--replace"]);
        assert_eq!(here.list()[0]["samples_stored"], true);
        here.run(&["ingest", &file, "--replace"]).said();
        assert_eq!(here.list()[0]["samples_stored"], false);
    }
}

#[test]
fn packed_run_takes_no_flags_and_a_damaged_one_is_refused() {
    let (here, _, file) = packed(Store::embedded());
    let there = Store::embedded();
    for flags in [&["--framework", "x"][..], &["--no-samples"], &["--cpu-offset", "1"], &["--tag", "a=b"]] {
        let complaint = there.run(&[&["ingest", &file], flags].concat()).complaint(2);
        assert_told(&complaint, &["go.run", "--replace", "perfpipe rename"]);
    }
    here.run(&["export", "go_t", "--what", "counts", "--format", "csv"]).complaint(2);
    here.run(&["export", "go_t", "--what", "counts", "--from", "3"]).complaint(2);
    let whole = std::fs::read(&file).unwrap();
    for cut in [60, whole.len() / 2, whole.len() - 1] {
        let path = there.file("cut.run", &whole[..cut]);
        assert_told(&there.run(&["ingest", &path]).complaint(3), &["cut.run", "damaged"]);
    }
    for at in (100..whole.len()).step_by(whole.len() / 60) {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        let path = there.file("flipped.run", &bytes);
        let done = there.run(&["ingest", &path]);
        assert!(!done.err.contains("panicked"), "{at}: {}", done.err);
        match done.code {
            // A byte that says nothing, such as a date in the zip's directory.
            Some(0) => {
                assert_eq!(all_of(&there, &Key::new("go", "t")), all_of(&here, &Key::new("go", "t")), "{at}")
            }
            _ => assert!(there.list().is_empty(), "{at}: {}", done.err),
        }
        if done.code == Some(0) {
            there.run(&["drop", "go_t"]).said();
        }
    }
}
