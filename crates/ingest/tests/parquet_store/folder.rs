//! Folders that are no store, or not one of this version, or can't be written.

use std::fs;

use perfpipe_ingest::Error;
use perfpipe_ingest::store::ParquetStore;

use crate::example::{Place, assert_stored, example, store};

#[test]
fn another_layout_is_refused() {
    let place = Place::new();
    store(&place.store, &example(1, 50)).unwrap();
    fs::write(place.path().join("perfpipe.json"), "{\"layout\": 4}").unwrap();
    let told = ParquetStore::open(place.path()).unwrap_err();
    assert!(matches!(told, Error::Refused { .. }) && told.to_string().contains("layout 4"), "{told}");
    assert!(told.remedy().unwrap().contains("--store"));
}

#[test]
fn a_folder_of_something_else_is_refused_and_left_alone() {
    let place = Place::new();
    fs::create_dir(place.path()).unwrap();
    fs::write(place.path().join("thesis.tex"), "x").unwrap();
    let told = ParquetStore::open(place.path()).unwrap_err();
    assert!(told.to_string().contains("not a perfpipe store"), "{told}");
    assert_eq!(crate::example::names(&place.path()), ["thesis.tex"]);
}

#[test]
fn a_marker_or_manifest_that_is_damaged_is_named() {
    let place = Place::new();
    store(&place.store, &example(1, 50)).unwrap();
    let manifest = place.run().join("manifest.json");
    for damaged in ["", "{", "[]", "{\"generation\": 5}", "\u{0}\u{0}"] {
        fs::write(&manifest, damaged).unwrap();
        let told = place.store.runs().unwrap_err();
        assert!(told.to_string().contains("manifest.json"), "{told}");
        assert!(place.store.read(&crate::example::key()).is_err());
    }
    fs::write(place.path().join("perfpipe.json"), "{}").unwrap();
    let told = ParquetStore::open(place.path()).unwrap_err();
    assert!(told.to_string().contains("perfpipe.json"), "{told}");
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
fn a_folder_that_cannot_be_made_is_named() {
    let place = Place::new();
    fs::write(place.path(), "a file").unwrap();
    for path in [place.path(), place.path().join("below")] {
        let told = ParquetStore::open(&path).and_then(|made| store(&made, &example(1, 50))).unwrap_err();
        assert!(told.to_string().contains(&*path.to_string_lossy()), "{told}");
    }
}

#[cfg(unix)]
#[test]
fn a_read_only_store_can_be_read_and_says_why_it_cannot_be_written() {
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
