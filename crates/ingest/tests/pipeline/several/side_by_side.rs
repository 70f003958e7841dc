//! Several logs read side by side give what one reader makes of them, one after another.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use perfpipe_ingest::run::Replace;
use perfpipe_ingest::{IngestOptions, Ingested, Progress, RunKey, Store};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;

use crate::log::{NOON, log};
use crate::memory::passes;
use crate::read_back;
use crate::support::{Desk, by_readers, options, usual};

const READERS: [usize; 4] = [1, 2, 3, 7];

const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,success,threadName,Hostname\n";

fn files(desk: &Desk, logs: &[impl AsRef<[u8]>]) -> Vec<PathBuf> {
    logs.iter().enumerate().map(|(at, log)| desk.file(&format!("{at:02}.csv"), log)).collect()
}

/// What an ingest tells, or its error, and all that the store then holds.
fn outcome(files: &[PathBuf], options: &IngestOptions) -> Result<(Ingested, String), String> {
    let desk = Desk::new();
    let mut done = desk.ingest(files, options).map_err(|error| format!("{error:?}"))?;
    done.info.ingested_at.clear();
    // Where one of many logs begins earlier than was looked ahead, how often all are read depends on who came first.
    done.read_twice = false;
    Ok((done, format!("{:?}", desk.stored(files, options))))
}

/// Any number of readers makes of the files what one makes of them.
fn check(files: &[PathBuf], options: &IngestOptions) -> TestCaseResult {
    let expected = outcome(files, &by_readers(options.clone(), 1));
    for readers in READERS {
        let found = outcome(files, &by_readers(options.clone(), readers));
        match (&found, &expected) {
            (Ok(found), Ok(expected)) => {
                prop_assert_eq!(&found.0, &expected.0, "{} readers", readers);
                prop_assert!(found.1 == expected.1, "{} readers store something else", readers);
            }
            _ => prop_assert_eq!(found.err(), expected.as_ref().err().cloned(), "{} readers", readers),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn readers_make_no_difference(
        logs in vec(log(), 1..8), workers in 1usize..=4, block_size in select(vec![1, 7, 60, 1000, 1 << 20]),
        look_ahead in select(vec![0, 300, 1 << 20]), least in select(vec![0, 500, 3000]),
    ) {
        let desk = Desk::new();
        let files = files(&desk, &logs);
        let (first, _, _) = passes(&files, &usual());
        for readers in READERS {
            let mut options = by_readers(options(workers, block_size, look_ahead), readers);
            options.sizes = options.sizes.with_reader_bytes(least);
            let (stored, _, _) = passes(&files, &options);
            prop_assert_eq!(&stored, &first, "{} readers", readers);
        }
    }
}

/// A log of records, each with its number in the names: label, code, message and host.
fn named(numbers: impl Iterator<Item = usize>) -> String {
    numbers.fold(HEADER.to_owned(), |mut log, at| {
        let (time, success) = (NOON + at as i64 % 5000, at % 3 == 0);
        writeln!(log, "{time},{},l{at},c{at},m{at},{success},t 1-1,h{at}", at % 90).unwrap();
        log
    })
}

#[test]
fn names_beyond_the_limits_are_those_of_one_reader() {
    // Of 200 labels each log names some for the first time, and repeats some of others'.
    for (step, length) in [(30, 60), (150, 180), (90, 260), (0, 250), (700, 1300)] {
        let logs: Vec<String> = (0..5).map(|at| named((at * step)..(at * step + length))).collect();
        let desk = Desk::new();
        let files = files(&desk, &logs);
        for (block_size, samples) in [(1 << 20, true), (700, true), (700, false)] {
            check(&files, &options(3, block_size, 1 << 20).with_keep_samples(samples)).unwrap();
        }
    }
}

/// A log of which each record listed is bad.
fn with_bad(bad: &[usize], records: usize) -> String {
    (0..records).fold(HEADER.to_owned(), |mut log, at| {
        match bad.contains(&at) {
            true => writeln!(log, "bad {at}").unwrap(),
            false => writeln!(log, "{},5,a,200,OK,true,t 1-1,", NOON + at as i64).unwrap(),
        }
        log
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn the_same_reject_is_one_too_many(
        bad in vec(vec(0usize..60, 0..4), 2..6), most in 0u64..8, block_size in select(vec![1, 100, 1 << 20]),
    ) {
        let logs: Vec<String> = bad.iter().map(|bad| with_bad(bad, 60)).collect();
        let desk = Desk::new();
        check(&files(&desk, &logs), &options(2, block_size, 1 << 20).with_max_rejects(most))?;
    }
}

#[test]
fn what_is_wrong_with_a_later_log_is_told_in_its_turn() {
    let other_header = format!("{}label,elapsed,timeStamp,success\n", named(0..50));
    let swallowed = format!("{HEADER}{NOON},5,\"a\n{NOON},5,b,200,OK,true,t 1-1,\n\",200,OK,true,t 1-1,h\n");
    let cut = "a\"b,".repeat(40);
    let good = named(0..40);
    let lists: [Vec<&str>; 4] = [
        vec![&good, &other_header, &good],
        vec![&good, &good, &swallowed, &other_header],
        vec![&good, &cut, &good],
        vec![&other_header, &other_header, &good, &good],
    ];
    for logs in lists {
        let desk = Desk::new();
        for most in [0, 1000] {
            check(&files(&desk, &logs), &options(2, 300, 1 << 20).with_max_rejects(most)).unwrap();
        }
    }
}

fn gzip(text: &str) -> Vec<u8> {
    use std::io::Write;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    gzip.finish().unwrap()
}

#[test]
fn damage_is_told_and_salvaged_as_by_one_reader() {
    let desk = Desk::new();
    let log = |first: usize| named((0..20_000).map(|at| first + at % 70));
    let mut damaged = gzip(&log(5));
    damaged.truncate(damaged.len() / 2);
    let files = [
        desk.file("a.csv", log(0)),
        desk.file("b.csv.gz", &damaged),
        desk.file("c.csv", log(9)),
        desk.file("d.csv.gz", &damaged),
    ];
    let mut options = options(2, 50_000, 1 << 20);
    check(&files, &options).unwrap();
    options.source.salvage = true;
    check(&files, &options).unwrap();
}

/// The names of the files of samples in a store of one run.
fn pieces(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = entries
        .flat_map(|path| match path.is_dir() {
            true => pieces(&path),
            false => vec![path.file_name().unwrap().to_string_lossy().into_owned()],
        })
        .filter(|name| name.starts_with("samples"))
        .collect();
    names.sort();
    names
}

#[test]
fn samples_of_several_logs_are_files_in_the_order_of_their_names() {
    let desk = Desk::new();
    let logs: Vec<String> = (0..12).map(|at| named(at * 10..at * 10 + 10)).collect();
    let files = files(&desk, &logs);
    let rows = desk.stored(&files, &by_readers(options(2, 1 << 20, 0), 1)).rows;
    assert_eq!(pieces(&desk.path("data")), ["samples.parquet"]);
    assert_eq!(desk.stored(&files, &options(2, 1 << 20, 0)).rows, rows);
    let names = pieces(&desk.path("data"));
    assert_eq!((names.len(), &*names[0], &*names[11]), (12, "samples.parquet", "samples_012.parquet"));
    // One log, of which no other is read at the same time.
    desk.stored(&files[..1], &options(2, 1 << 20, 0));
    assert_eq!(pieces(&desk.path("data")), ["samples.parquet"]);
}

#[test]
fn run_of_several_files_is_verified_and_copied() {
    let desk = Desk::new();
    let logs: Vec<String> = (0..4).map(|at| named(at * 90..at * 90 + 120)).collect();
    let files = files(&desk, &logs);
    let rows = desk.stored(&files, &options(2, 1000, 0)).rows;
    let key = RunKey::new("f", "t");
    let store = |name: &str| Store::folder(desk.path(name)).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (own, other) = (store("data"), store("other"));
        assert_eq!(own.verify(&key, &Progress::default()).await.unwrap(), [] as [String; 0]);
        own.copy(&key, &other, Replace::Nothing).await.unwrap();
        let mut copied = Vec::new();
        let mut add = |batch| {
            copied.extend(read_back::rows(&batch));
            Ok(())
        };
        other.samples(&key, &mut add).await.unwrap();
        assert_eq!(copied, rows);
    });
    let path = find(&desk.path("data"), "samples_003.parquet").unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let faults = runtime.block_on(store("data").verify(&key, &Progress::default())).unwrap();
    assert!(faults.len() == 1 && faults[0].contains("samples_003.parquet"), "{faults:?}");
    std::fs::remove_file(path).unwrap();
    let faults = runtime.block_on(store("data").verify(&key, &Progress::default()));
    assert!(faults.is_err() || !faults.unwrap().is_empty());
}

/// The file of this name in a folder or in one of its folders.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    std::fs::read_dir(folder).unwrap().find_map(|entry| {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => find(&path, name),
            false => path.ends_with(name).then_some(path),
        }
    })
}

#[test]
fn first_log_without_samples_leaves_a_file_without_rows() {
    let desk = Desk::new();
    // The first records judge all others by their times.
    let bad = with_bad(&(0..40).collect::<Vec<_>>(), 40);
    let files = files(&desk, &[bad, named(0..300)]);
    let stored = desk.stored(&files, &options(2, 100, 0));
    assert_eq!((stored.rows.len(), stored.rejects.len()), (300, 40));
    assert_eq!(pieces(&desk.path("data")), ["samples.parquet", "samples_002.parquet"]);
}
