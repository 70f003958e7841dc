//! The states in which a process that is killed can leave the folder, each made by hand.

use std::fs;
use std::path::Path;

use perfpipe_ingest::store::parquet::ParquetStore;

use crate::example::{Place, assert_stored, begin, edit_manifest, example, generations, key, names, store};

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for name in names(from) {
        let (from, to) = (from.join(&name), to.join(&name));
        if from.is_dir() { copy(&from, &to) } else { _ = fs::copy(&from, &to).unwrap() }
    }
}

/// A store of `old`, and beside it the files of `new` as they are once it is whole.
fn old_and_new() -> (Place, tempfile::TempDir) {
    let (place, other) = (Place::new(), Place::new());
    store(&place.store, &example(1, 50)).unwrap();
    store(&other.store, &example(2, 60)).unwrap();
    let aside = tempfile::tempdir().unwrap();
    copy(&other.generation(), &aside.path().join("generation"));
    let manifest = aside.path().join("manifest.json");
    fs::copy(other.run().join("manifest.json"), &manifest).unwrap();
    edit_manifest(&manifest, |run| run["generation"] = "run-killed".into());
    (place, aside)
}

/// The store holds the old run, and takes a further one that leaves no trace of what was killed.
fn assert_old_and_usable(place: &Place) {
    assert_stored(&place.store, &example(1, 50));
    assert_next_is_clean(place);
}

fn assert_next_is_clean(place: &Place) {
    let next = example(3, 70);
    store(&ParquetStore::open(place.path()).unwrap(), &next).unwrap();
    assert_stored(&place.store, &next);
    assert_eq!(names(&place.path().join("staging")), [""; 0]);
    let left: Vec<String> = names(&place.run()).into_iter().filter(|name| name != ".lock").collect();
    assert_eq!(left.len(), 2, "the manifest and one generation: {left:?}");
    assert_eq!(names(&place.path()), [".lock", "perfpipe.json", "runs", "staging"]);
}

#[test]
fn writer_killed_while_it_was_writing() {
    let (place, aside) = old_and_new();
    let staged = place.path().join("staging/run-killed");
    copy(&aside.path().join("generation"), &staged);
    fs::write(staged.join(".lock"), "").unwrap();
    fs::write(staged.join("seconds.parquet"), "half").unwrap();
    assert_old_and_usable(&place);
}

#[test]
fn writer_killed_after_its_staging_lost_its_lock() {
    let (place, aside) = old_and_new();
    copy(&aside.path().join("generation"), &place.path().join("staging/run-killed"));
    assert_old_and_usable(&place);
}

#[test]
fn writer_killed_after_the_generation_moved() {
    let (place, aside) = old_and_new();
    copy(&aside.path().join("generation"), &place.run().join("run-killed"));
    assert_old_and_usable(&place);
}

#[test]
fn writer_killed_while_it_wrote_the_manifest() {
    let (place, aside) = old_and_new();
    copy(&aside.path().join("generation"), &place.run().join("run-killed"));
    fs::write(place.run().join(".new-x1"), "{\"generation\": \"run-k").unwrap();
    assert_old_and_usable(&place);
}

#[test]
fn writer_killed_before_the_old_generation_went() {
    let (place, aside) = old_and_new();
    copy(&aside.path().join("generation"), &place.run().join("run-killed"));
    fs::copy(aside.path().join("manifest.json"), place.run().join("manifest.json")).unwrap();
    assert_eq!(generations(&place.run()).len(), 2);
    assert_stored(&place.store, &example(2, 60));
    assert_next_is_clean(&place);
}

#[test]
fn writer_killed_while_the_old_generation_went() {
    let (place, aside) = old_and_new();
    fs::remove_file(place.generation().join("cpu.parquet")).unwrap();
    copy(&aside.path().join("generation"), &place.run().join("run-killed"));
    fs::copy(aside.path().join("manifest.json"), place.run().join("manifest.json")).unwrap();
    assert_stored(&place.store, &example(2, 60));
    assert_next_is_clean(&place);
}

#[test]
fn writer_killed_before_the_new_generation_moved_in() {
    for old_is_there in [true, false] {
        let (place, aside) = old_and_new();
        copy(&aside.path().join("generation"), &place.path().join("staging/run-killed"));
        fs::write(place.path().join("staging/run-killed/.lock"), "").unwrap();
        if !old_is_there {
            fs::remove_dir_all(place.generation()).unwrap();
        }
        fs::copy(aside.path().join("manifest.json"), place.run().join("manifest.json")).unwrap();
        assert_stored(&place.store, &example(2, 60));
        // A writer of another run moves it in.
        let mut other = example(4, 20);
        other.info.key = perfpipe_ingest::RunKey::new("another", "2048");
        store(&place.store, &other).unwrap();
        assert!(place.store.drop_run(&other.info.key).unwrap());
        assert_stored(&place.store, &example(2, 60));
        assert_eq!(generations(&place.run()), ["run-killed"]);
        assert_next_is_clean(&place);
    }
}

#[test]
fn run_whose_files_were_not_moved_in_is_replaced_and_leaves_nothing() {
    let (place, aside) = old_and_new();
    copy(&aside.path().join("generation"), &place.path().join("staging/run-killed"));
    fs::copy(aside.path().join("manifest.json"), place.run().join("manifest.json")).unwrap();
    assert_next_is_clean(&place);
}

#[test]
fn generation_that_a_manifest_names_is_not_swept_though_another_can_not_be_read() {
    let (place, aside) = old_and_new();
    copy(&aside.path().join("generation"), &place.path().join("staging/run-killed"));
    fs::copy(aside.path().join("manifest.json"), place.run().join("manifest.json")).unwrap();
    fs::remove_dir_all(place.generation()).unwrap();
    let whole = fs::read(place.run().join("manifest.json")).unwrap();
    fs::write(place.run().join("manifest.json"), "{").unwrap();
    let mut other = example(4, 20);
    other.info.key = perfpipe_ingest::RunKey::new("another", "2048");
    store(&place.store, &other).unwrap();
    assert!(place.path().join("staging/run-killed").is_dir());
    assert!(place.store.drop_run(&other.info.key).unwrap());
    fs::write(place.run().join("manifest.json"), whole).unwrap();
    assert_stored(&place.store, &example(2, 60));
}

#[test]
fn manifest_whose_files_are_missing_costs_no_other_files() {
    let (place, aside) = old_and_new();
    fs::copy(aside.path().join("manifest.json"), place.run().join("manifest.json")).unwrap();
    let old = generations(&place.run());
    assert!(place.store.read(&key()).is_err());
    let mut other = example(4, 20);
    other.info.key = perfpipe_ingest::RunKey::new("another", "2048");
    store(&place.store, &other).unwrap();
    assert!(place.store.drop_run(&other.info.key).unwrap());
    assert_eq!(generations(&place.run()), old);
}

#[test]
fn writer_killed_at_the_first_run_of_a_key() {
    let (place, aside) = old_and_new();
    fs::remove_file(place.run().join("manifest.json")).unwrap();
    copy(&aside.path().join("generation"), &place.run().join("run-killed"));
    assert_eq!(place.store.runs().unwrap(), []);
    assert!(place.store.read(&key()).unwrap().is_none());
    assert!(!place.store.drop_run(&key()).unwrap());
    assert_next_is_clean(&place);
}

#[test]
fn writer_killed_while_the_store_was_being_made() {
    for made in
        [&[][..], &[".lock", ".new-a"], &[".lock", ".new-a", "perfpipe.json"], &["perfpipe.json", "runs/"]]
    {
        let place = Place::new();
        fs::create_dir(place.path()).unwrap();
        for name in made {
            match name.strip_suffix('/') {
                Some(folder) => fs::create_dir(place.path().join(folder)).unwrap(),
                None => fs::write(place.path().join(name), "{\"layout\": 3}").unwrap(),
            }
        }
        let opened = ParquetStore::open(place.path()).unwrap();
        assert_eq!(opened.runs().unwrap(), [], "{made:?}");
        store(&opened, &example(3, 70)).unwrap();
        assert_stored(&opened, &example(3, 70));
        assert_eq!(names(&place.path()), [".lock", "perfpipe.json", "runs", "staging"]);
    }
}

#[test]
fn leftovers_of_dead_writers_are_swept_and_nothing_else() {
    let place = Place::new();
    let alive = begin(&place.store, &example(1, 50)).unwrap();
    let staging = place.path().join("staging");
    let living = names(&staging);
    fs::create_dir_all(staging.join("run-dead")).unwrap();
    fs::write(staging.join("run-dead/samples.parquet"), "x").unwrap();
    fs::create_dir_all(staging.join("mine")).unwrap();
    fs::write(staging.join("note.txt"), "x").unwrap();
    let mut other = example(2, 60);
    other.info.key.test = "4096".into();
    store(&place.store, &other).unwrap();
    let mut expected = [living, vec!["mine".into(), "note.txt".into()]].concat();
    expected.sort();
    assert_eq!(names(&staging), expected);
    crate::example::commit(alive, &example(1, 50), perfpipe_ingest::run::Replace::Any).unwrap();
    assert_stored(&place.store, &example(1, 50));
}

#[test]
fn leftovers_of_any_run_are_removed_by_the_ingest_of_another() {
    let (place, aside) = old_and_new();
    let runs = place.path().join("runs");
    let run = place.run();
    copy(&aside.path().join("generation"), &run.join("run-killed"));
    fs::write(run.join(".new-x1"), "{").unwrap();
    copy(&aside.path().join("generation"), &runs.join("first+one/run-killed"));
    fs::write(runs.join("first+one/.lock"), "").unwrap();
    fs::create_dir_all(runs.join("mine")).unwrap();
    fs::write(runs.join("mine/run-notes.txt"), "x").unwrap();
    let mut other = example(2, 60);
    other.info.key.test = "4096".into();
    store(&place.store, &other).unwrap();
    assert_eq!(names(&runs), ["mine", "perfectnio+2048", "perfectnio+4096"]);
    assert_eq!(names(&runs.join("mine")), ["run-notes.txt"]);
    assert_eq!(names(&run).len(), 3, "the lock, the manifest and one generation");
    assert_stored(&place.store, &example(1, 50));
    assert_stored(&place.store, &other);
}
