//! A run that gets another name keeps all else, and no other run is lost for it.

use crate::support::*;

fn all_of(store: &Store, key: &Key) -> Vec<String> {
    ["samples", "seconds", "errors", "cpu", "labels", "rejects"]
        .map(|what| store.export(key, what, "csv", &[]))
        .into()
}

fn ingest(store: &Store, framework: &str, files: &[&str]) {
    let files: Vec<String> = files.iter().map(|file| fixture(file).to_str().unwrap().to_owned()).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    store.run(&[&["ingest", "--framework", framework, "--test", "2048"], &files[..]].concat()).said();
}

const KILLED: [&str; 2] = ["Results-2048-8181.killed.csv.zip", "Results-2048-8181.killed.cpu.csv"];

#[test]
fn renamed_run_is_the_same_under_another_name() {
    for store in Store::each() {
        ingest(&store, "go", &KILLED);
        let before = all_of(&store, &Key::new("go", "2048"));
        assert_told(
            &store.run(&["rename", "go_2048", "--framework", "Go_1.25"]).said(),
            &["go_2048", "Go_1.25_2048"],
        );
        assert_eq!(store.keys(), ["Go_1.25 2048"]);
        assert_eq!(all_of(&store, &Key::new("Go_1.25", "2048")), before);
        store.run(&["rename", "Go_1.25_2048", "--framework", "go", "--test", "old", "--repeat", "3"]).said();
        let list = store.list();
        assert_eq!((list.len(), count(&list[0], "repeat"), text(&list[0], "test")), (1, 3, "old"));
        assert_eq!(store.run(&["verify"]).code, Some(0));
        assert_eq!(store.leftovers(), [""; 0]);
        store.run(&["rename", "go_old#3", "--repeat", "3"]).complaint(2);
        store.run(&["rename", "go_old#3"]).complaint(2);
        assert_told(
            &store.run(&["rename", "go_new#3", "--repeat", "1"]).complaint(1),
            &["Did you mean go_old#3?"],
        );
    }
}

#[test]
fn run_that_has_the_name_is_replaced_only_on_demand() {
    for store in Store::each() {
        ingest(&store, "go", &KILLED);
        // From a file of the same name, and yet another run.
        ingest(&store, "nio", &["crlf.csv"]);
        ingest(&store, "spring", &KILLED[..1]);
        let of = |framework: &str| all_of(&store, &Key::new(framework, "2048"));
        let (go, nio) = (of("go"), of("nio"));
        for other in ["nio", "spring"] {
            let complaint = store.run(&["rename", "go_2048", "--framework", other]).complaint(1);
            assert_told(&complaint, &[&format!("{other}_2048"), "--replace"]);
        }
        assert_eq!((of("go"), of("nio")), (go.clone(), nio));
        store.run(&["rename", "go_2048", "--framework", "nio", "--replace"]).said();
        assert_eq!(store.keys(), ["nio 2048", "spring 2048"]);
        assert_eq!(of("nio"), go);
        assert_eq!(store.leftovers(), [""; 0]);
    }
}

#[test]
fn rename_that_was_interrupted_is_completed_by_another() {
    for store in Store::each() {
        ingest(&store, "go", &KILLED);
        let (aside, go) = (Store::embedded(), all_of(&store, &Key::new("go", "2048")));
        let to = if store.is_database() { "--to-database" } else { "--to" };
        store.run(&["copy", "--to", aside.place()]).said();
        // As after an interruption: the run is there by both names.
        aside.run(&["rename", "go_2048", "--framework", "nio"]).said();
        aside.run(&["copy", to, store.place()]).said();
        assert_eq!(store.keys(), ["go 2048", "nio 2048"]);
        store.run(&["rename", "go_2048", "--framework", "nio"]).said();
        assert_eq!(store.keys(), ["nio 2048"]);
        assert_eq!(all_of(&store, &Key::new("nio", "2048")), go);
    }
}
