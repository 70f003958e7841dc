//! Folders that are no store, or not one of this version, or can't be written.

use perfpipe_ingest::ErrorKind;
use std::fs;

use perfpipe_ingest::store::parquet::ParquetStore;
use perfpipe_ingest::{Error, RunKey};

use crate::example::{Place, assert_stored, example, store};

#[test]
fn another_layout_is_refused() {
    let place = Place::new();
    store(&place.store, &example(1, 50)).unwrap();
    fs::write(place.path().join("perfpipe.json"), "{\"layout\": 4}").unwrap();
    let told = ParquetStore::open(place.path()).unwrap_err();
    assert_eq!(told.kind(), ErrorKind::StoreLayout, "{told}");
    assert!(matches!(told, Error::Refused { .. }) && told.to_string().contains("layout 4"), "{told}");
}

#[test]
fn folder_of_something_else_is_refused_and_left_alone() {
    let place = Place::new();
    fs::create_dir(place.path()).unwrap();
    fs::write(place.path().join("thesis.tex"), "x").unwrap();
    let told = ParquetStore::open(place.path()).unwrap_err();
    assert_eq!(told.kind(), ErrorKind::NotAStore, "{told}");
    assert_eq!(crate::example::names(&place.path()), ["thesis.tex"]);
}

#[test]
fn marker_or_manifest_that_is_damaged_is_named() {
    let place = Place::new();
    store(&place.store, &example(1, 50)).unwrap();
    let manifest = place.run().join("manifest.json");
    let whole = fs::read(&manifest).unwrap();
    for damaged in ["", "{", "[]", "{\"generation\": 5}", "\u{0}\u{0}"] {
        fs::write(&manifest, damaged).unwrap();
        let told = place.store.runs().unwrap_err();
        assert!(told.to_string().contains("manifest.json"), "{told}");
        assert!(place.store.read(&crate::example::key()).is_err());
    }
    fs::write(&manifest, whole).unwrap();
    for damaged in [Some("{}"), Some(""), None] {
        let marker = place.path().join("perfpipe.json");
        damaged.map_or_else(|| fs::remove_file(&marker), |damaged| fs::write(&marker, damaged)).unwrap();
        // The runs say themselves what they are.
        let opened = ParquetStore::open(place.path()).unwrap();
        let told = opened.runs().unwrap_err();
        assert!(told.to_string().contains("perfpipe.json"), "{told}");
        assert_eq!(told.kind(), ErrorKind::MarkerDamaged, "{told}");
        assert_stored(&opened, &example(1, 50));
        assert_eq!(opened.look().unwrap().runs, [example(1, 50).info]);
        if damaged.is_some() {
            assert!(store(&opened, &example(2, 50)).unwrap_err().to_string().contains("perfpipe.json"));
        }
    }
}

#[test]
fn opening_and_reading_make_nothing() {
    let place = Place::new();
    assert_eq!(place.store.runs().unwrap(), []);
    assert!(place.store.read(&crate::example::key()).unwrap().is_none());
    assert!(!place.store.drop_run(&crate::example::key()).unwrap());
    assert!(!place.path().exists());
}

#[test]
fn folder_that_cannot_be_made_is_named() {
    let place = Place::new();
    fs::write(place.path(), "a file").unwrap();
    for path in [place.path(), place.path().join("below")] {
        let told = ParquetStore::open(&path).and_then(|made| store(&made, &example(1, 50))).unwrap_err();
        assert!(told.to_string().contains(&*path.to_string_lossy()), "{told}");
    }
}

#[cfg(unix)]
#[test]
fn read_only_store_can_be_read_and_says_why_it_cannot_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    store(&place.store, &example(1, 50)).unwrap();
    let folders = ["", "runs", "staging"].map(|name| place.path().join(name));
    let set =
        |mode| folders.iter().for_each(|f| fs::set_permissions(f, fs::Permissions::from_mode(mode)).unwrap());
    set(0o555);
    let opened = ParquetStore::open(place.path()).unwrap();
    assert_stored(&opened, &example(1, 50));
    let mut other = example(2, 60);
    other.info.key.test = "4096".into();
    let stored = store(&opened, &other);
    set(0o755);
    // The administrator may write anywhere.
    match stored {
        Ok(()) => assert_stored(&opened, &other),
        Err(told) => {
            assert!(matches!(&told, Error::Io { .. }) && told.to_string().contains("denied"), "{told}")
        }
    }
}

/// An example of another key.
fn example_of(framework: &str, test: &str, mark: u64) -> crate::example::Example {
    let mut example = example(mark, 50);
    example.info.key = RunKey::new(framework, test);
    example
}

#[test]
fn folder_that_was_copied_or_renamed_by_hand_is_no_run_and_is_left_alone() {
    let place = Place::new();
    let run = example_of("go", "flaky", 3);
    store(&place.store, &run).unwrap();
    let runs = place.path().join("runs");
    for name in ["go+flaky.bak", "go+flaky+2", "go+other", "%47o+flaky"] {
        crate::crash::copy(&runs.join("go+flaky"), &runs.join(name));
        let told = place.store.runs().unwrap_err().to_string();
        assert!(told.contains(name) && told.contains("go_flaky"), "{told}");
        assert_eq!(place.store.repeats("go", "flaky").unwrap(), [1], "{name}");
        let before = crate::example::names(&runs.join(name));
        for (framework, test, repeat) in [("go", "flaky", 2), ("go", "other", 1), ("Go", "flaky", 1)] {
            let mut other = example_of(framework, test, 5);
            other.info.key.repeat = repeat;
            let is_its = matches!(
                (name, framework, test),
                ("go+flaky+2", "go", "flaky") | ("go+other", _, "other") | ("%47o+flaky", "Go", _)
            );
            if !is_its {
                continue;
            }
            for told in [
                place.store.read(&other.info.key).map(drop).unwrap_err(),
                place.store.drop_run(&other.info.key).map(drop).unwrap_err(),
                store(&place.store, &other).unwrap_err(),
            ] {
                assert!(told.to_string().contains("go_flaky") && told.to_string().contains(name), "{told}");
                assert_eq!(told.kind(), ErrorKind::RunMoved, "{told}");
            }
        }
        assert_eq!(crate::example::names(&runs.join(name)), before);
        fs::remove_dir_all(runs.join(name)).unwrap();
    }
    assert_stored(&place.store, &run);
}

#[test]
fn run_that_lies_where_another_belongs_is_not_replaced() {
    // As on a file system that does not tell capital letters apart, and with names whose hashes are the same.
    for (one, other) in [("go", "Go"), (&*format!("{}a", "x".repeat(200)), &*format!("{}b", "x".repeat(200)))]
    {
        let (place, elsewhere) = (Place::new(), Place::new());
        let (first, second) = (example_of(one, "api", 3), example_of(other, "api", 4));
        store(&elsewhere.store, &second).unwrap();
        let name = crate::example::names(&elsewhere.path().join("runs")).remove(0);
        store(&place.store, &first).unwrap();
        let runs = place.path().join("runs");
        let first_name = crate::example::names(&runs).remove(0);
        fs::rename(runs.join(first_name), runs.join(&name)).unwrap();
        let told = store(&place.store, &second).unwrap_err();
        assert!(matches!(told, Error::Refused { .. }), "{told}");
        let generation = crate::example::generations(&runs.join(&name)).remove(0);
        assert!(runs.join(&name).join(generation).join("samples.parquet").exists());
    }
}

#[test]
fn folder_with_capital_letters_of_an_earlier_build_stays_the_run_s() {
    let place = Place::new();
    let run = example_of("Go", "API", 3);
    store(&place.store, &run).unwrap();
    let runs = place.path().join("runs");
    assert_eq!(crate::example::names(&runs), ["%47o+%41%50%49"]);
    fs::rename(runs.join("%47o+%41%50%49"), runs.join("Go+API")).unwrap();
    assert_stored(&place.store, &run);
    assert_eq!(place.store.runs().unwrap(), std::slice::from_ref(&run.info));
    assert_eq!(place.store.repeats("Go", "API").unwrap(), [1]);
    let new = example_of("Go", "API", 4);
    store(&place.store, &new).unwrap();
    assert_stored(&place.store, &new);
    assert_eq!(crate::example::names(&runs), ["Go+API"]);
    assert!(place.store.drop_run(&new.info.key).unwrap());
    store(&place.store, &new).unwrap();
    assert_eq!(crate::example::names(&runs), ["%47o+%41%50%49"]);
}

#[cfg(unix)]
#[test]
fn links_within_a_store_lead_nowhere() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    let elsewhere = Place::new();
    store(&elsewhere.store, &example(1, 50)).unwrap();
    let precious = outside.path().join("run-precious");
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join("thesis.tex"), "x").unwrap();
    fs::write(outside.path().join(".new-thesis"), "x").unwrap();
    fs::write(outside.path().join(".lock"), "").unwrap();
    let next = example_of("next", "2048", 2);
    for name in
        ["runs/link", "staging/run-link", "runs/perfectnio+2048", "runs", "staging", "runs/next+2048/run-x"]
    {
        let place = Place::new();
        store(&place.store, &next).unwrap();
        let link = place.path().join(name);
        let _ = fs::remove_dir_all(&link);
        let target = if name.contains("perfectnio") { elsewhere.run() } else { outside.path().to_owned() };
        symlink(&target, &link).unwrap();
        // Refused or done, but nothing is read or changed beyond the link.
        let _ = store(&place.store, &next);
        let _ = store(&place.store, &example_of("another", "2048", 2));
        if name.contains("perfectnio") {
            let told = place.store.read(&crate::example::key()).unwrap_err();
            assert_eq!(told.kind(), ErrorKind::LinkInStore, "{told}");
            assert_eq!(store(&place.store, &example(5, 50)).unwrap_err().kind(), ErrorKind::LinkInStore);
            assert!(place.store.drop_run(&crate::example::key()).is_err());
        }
        assert_eq!(crate::example::names(outside.path()), [".lock", ".new-thesis", "run-precious"], "{name}");
        assert_eq!(crate::example::names(&precious), ["thesis.tex"], "{name}");
        assert_stored(&elsewhere.store, &example(1, 50));
    }
}

#[cfg(unix)]
#[test]
fn files_of_a_run_that_are_links_are_refused() {
    let place = Place::new();
    store(&place.store, &example(1, 50)).unwrap();
    for path in
        [place.generation().join("samples.parquet"), place.generation(), place.run().join("manifest.json")]
    {
        let aside = place.path().join("aside");
        fs::rename(&path, &aside).unwrap();
        std::os::unix::fs::symlink(&aside, &path).unwrap();
        let told = crate::example::stored_rows(&place.store, &crate::example::key()).unwrap_err();
        assert_eq!(told.kind(), ErrorKind::LinkInStore, "{told}");
        fs::remove_file(&path).unwrap();
        fs::rename(&aside, &path).unwrap();
    }
    assert_stored(&place.store, &example(1, 50));
}
