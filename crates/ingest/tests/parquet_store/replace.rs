//! One run in the place of another: whole, at once, and by one writer.

use perfpipe_ingest::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};

use perfpipe_ingest::run::Replace;
use perfpipe_ingest::store::parquet::ParquetStore;
use perfpipe_ingest::{Error, RunKey};

use crate::example::{
    Place, assert_stored, begin, commit, example, generations, key, names, source, store, stored_rejects,
    stored_rows,
};
use crate::read_back::rows;

#[test]
fn old_run_is_read_until_the_new_one_is_committed() {
    let place = Place::new();
    let (old, new) = (example(1, 200), example(2, 300));
    store(&place.store, &old).unwrap();
    let writer = begin(&place.store, &new).unwrap();
    assert_stored(&place.store, &old);
    commit(writer, &new, Replace::Any).unwrap();
    assert_stored(&place.store, &new);
    assert_eq!(generations(&place.run()).len(), 1);
    assert_eq!(names(&place.path().join("staging")), [""; 0]);
}

#[test]
fn reader_of_samples_finishes_though_the_run_is_replaced_meanwhile() {
    let place = Place::new();
    let (old, new) = (example(1, 40_000), example(2, 50));
    store(&place.store, &old).unwrap();
    let mut found = Vec::new();
    let mut batches = 0;
    let mut each = |batch: perfpipe_ingest::SampleBatch| {
        if batches == 0 {
            store(&place.store, &new).unwrap();
        }
        batches += 1;
        found.extend(rows(&batch));
        Ok(())
    };
    place.store.samples(&key(), &mut each).unwrap();
    assert!(batches > 1 && found == rows(&old.batch).collect::<Vec<_>>());
    assert_stored(&place.store, &new);
}

#[test]
fn readers_see_one_run_whole_while_others_take_its_place() {
    let place = Place::new();
    store(&place.store, &example(0, 10)).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let read = || {
            while !done.load(Ordering::Relaxed) {
                let run = place.store.read(&key()).unwrap().unwrap();
                let mark = run.info.failures;
                assert_eq!((run.errors[0].count, run.labels[0].failures), (mark, mark));
                assert!(run.cpu.readings()[0].1 == mark as f64 / 3.0);
                assert!(run.cells.iter().all(|cell| cell.unwrap().1.injectors[0].samples == mark));
                assert_eq!(stored_rejects(&place.store, &key()).unwrap().len(), 1);
                assert!(stored_rows(&place.store, &key()).unwrap().len() >= 10);
                assert_eq!(place.store.runs().unwrap().len(), 1);
            }
        };
        let readers = [scope.spawn(read), scope.spawn(read)];
        (1..15).for_each(|mark| store(&place.store, &example(mark, 20)).unwrap());
        done.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}

#[test]
fn dropped_writer_leaves_nothing() {
    let place = Place::new();
    drop(begin(&place.store, &example(1, 50)).unwrap());
    assert_eq!(place.store.runs().unwrap(), []);
    assert!(place.store.read(&key()).unwrap().is_none());
    assert_eq!(names(&place.path().join("staging")), [""; 0]);
    assert_eq!(names(&place.path().join("runs")), [""; 0]);
    let old = example(2, 60);
    store(&place.store, &old).unwrap();
    drop(begin(&place.store, &example(3, 50)).unwrap());
    assert_stored(&place.store, &old);
    assert_eq!(generations(&place.run()).len(), 1);
}

#[test]
fn run_that_was_looked_at_is_not_dropped_once_another_has_replaced_it() {
    let place = Place::new();
    let (old, new) = (example(1, 200), example(2, 300));
    store(&place.store, &old).unwrap();
    let looked_at = place.store.info(&key()).unwrap().unwrap();
    store(&place.store, &new).unwrap();
    assert!(matches!(place.store.drop_run(&looked_at), Err(Error::Replaced { .. })));
    assert_stored(&place.store, &new);
    let now = place.store.info(&key()).unwrap().unwrap();
    assert!(place.store.drop_run(&now).unwrap());
    assert!(!place.store.drop_run(&now).unwrap(), "there is nothing any more");
}

#[test]
fn second_writer_of_a_key_is_told_and_writers_of_others_are_not() {
    let place = Place::new();
    let (one, two) = (example(1, 50), example(2, 60));
    let mut other = example(3, 70);
    other.info.key = RunKey::new("perfectnio", "4096");
    let first = begin(&place.store, &one).unwrap();
    // Another process would have a store of its own.
    let second_store = ParquetStore::open(place.path()).unwrap();
    let told = begin(&second_store, &two).err().unwrap();
    assert!(told.kind() == ErrorKind::RunBusy && told.to_string().contains("perfectnio_2048"), "{told}");
    assert!(told.remedy().is_some());
    let beside = begin(&second_store, &other).unwrap();
    assert!(matches!(second_store.drop_run(&key()), Ok(false)), "there is nothing yet");
    commit(beside, &other, Replace::Any).unwrap();
    commit(first, &one, Replace::Any).unwrap();
    assert_stored(&place.store, &one);
    assert_stored(&place.store, &other);
    begin(&second_store, &two).unwrap();
}

#[test]
fn key_known_late_is_told_at_the_end_that_another_writes_it() {
    use perfpipe_ingest::store::RunStore;
    let place = Place::new();
    let (one, two) = (example(1, 50), example(0, 0));
    let first = begin(&place.store, &one).unwrap();
    let late = crate::example::block_on(place.store.begin(None, true)).unwrap();
    let told = commit(late, &two, Replace::Any).unwrap_err();
    assert!(matches!(told, Error::Refused { .. }), "{told}");
    commit(first, &one, Replace::Any).unwrap();
    assert_stored(&place.store, &one);
    assert_eq!(names(&place.path().join("staging")), [""; 0]);
}

#[test]
fn writers_of_different_keys_work_at_once() {
    let place = Place::new();
    let examples: Vec<_> = (1..6u64)
        .map(|mark| {
            let mut example = example(mark, 500);
            example.info.key = RunKey::new("f", mark.to_string());
            example
        })
        .collect();
    std::thread::scope(|scope| {
        for example in &examples {
            scope.spawn(|| store(&ParquetStore::open(place.path()).unwrap(), example).unwrap());
        }
    });
    examples.iter().for_each(|example| assert_stored(&place.store, example));
    let tests: Vec<String> = place.store.runs().unwrap().into_iter().map(|run| run.key.test).collect();
    assert_eq!(tests, ["1", "2", "3", "4", "5"]);
}

#[test]
fn inferred_key_replaces_only_a_run_of_the_same_files() {
    let place = Place::new();
    let old = example(1, 50);
    store(&place.store, &old).unwrap();
    let mut other = example(2, 60);
    other.info.sources[0] = source("monday.csv", "log");
    let told = commit(begin(&place.store, &other).unwrap(), &other, Replace::SameFile).unwrap_err();
    assert!(told.to_string().contains("perfectnio_2048") && told.to_string().contains("run.csv"), "{told}");
    assert_eq!(told.kind(), ErrorKind::KeyTaken);
    assert_stored(&place.store, &old);
    assert_eq!(names(&place.path().join("staging")), [""; 0]);
    let mut same = example(3, 70);
    same.info.sources[1] = source("another-cpu.csv", "cpu");
    commit(begin(&place.store, &same).unwrap(), &same, Replace::SameFile).unwrap();
    assert_stored(&place.store, &same);
    commit(begin(&place.store, &other).unwrap(), &other, Replace::Any).unwrap();
    assert_stored(&place.store, &other);
}

#[test]
fn run_that_is_dropped_is_gone_unless_it_is_being_written() {
    let place = Place::new();
    store(&place.store, &example(1, 50)).unwrap();
    let writer = begin(&place.store, &example(2, 60)).unwrap();
    assert!(matches!(place.store.drop_run(&key()), Err(Error::Refused { .. })));
    drop(writer);
    assert!(place.store.drop_run(&key()).unwrap());
    assert!(!place.store.drop_run(&key()).unwrap());
    assert!(place.store.read(&key()).unwrap().is_none());
    assert_eq!(names(&place.path().join("runs")), [""; 0]);
    let told = stored_rows(&place.store, &key()).unwrap_err();
    assert!(matches!(&told, Error::NoRun { key: missing } if *missing == key()), "{told}");
    store(&place.store, &example(3, 70)).unwrap();
}

#[test]
fn writers_and_droppers_of_one_key_at_once_do_their_work_or_are_told() {
    let place = Place::new();
    let told = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for mark in 1..5 {
            let (place, told) = (&place, &told);
            scope.spawn(move || {
                let opened = ParquetStore::open(place.path()).unwrap();
                for _ in 0..25 {
                    let done = match mark % 2 {
                        0 => opened.drop_run(&key()).map(|_| ()),
                        _ => begin(&opened, &example(mark, 10)).map(drop).and_then(|()| {
                            if mark == 3 { Ok(()) } else { store(&opened, &example(mark, 10)) }
                        }),
                    };
                    told.lock().unwrap().extend(done.err());
                }
            });
        }
    });
    let told = told.into_inner().unwrap();
    assert!(told.iter().all(|told| matches!(told, Error::Refused { .. })), "{told:?}");
    let _ = place.store.drop_run(&key()).unwrap();
    assert_eq!(names(&place.path().join("runs")), [""; 0]);
    store(&place.store, &example(9, 20)).unwrap();
    assert_stored(&place.store, &example(9, 20));
}

#[cfg(unix)]
#[test]
fn writer_that_is_gone_holds_nothing_though_processes_are_started_meanwhile() {
    let place = Place::new();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let start = || {
            while !done.load(Ordering::Relaxed) {
                assert!(std::process::Command::new("true").status().unwrap().success());
            }
        };
        (0..3).for_each(|_| _ = scope.spawn(start));
        let told: Vec<String> = (0..400)
            .filter_map(|_| begin(&place.store, &example(0, 0)).err())
            .map(|error| error.to_string())
            .collect();
        done.store(true, Ordering::Relaxed);
        assert_eq!(told, [""; 0]);
    });
}
