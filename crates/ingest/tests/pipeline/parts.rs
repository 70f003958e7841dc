//! A run that was ingested in parts: merged, it is the run of all logs together.

use std::path::{Path, PathBuf};

use perfpipe_ingest::run::PartNumber;
use perfpipe_ingest::store::parquet::ParquetStore;
use perfpipe_ingest::{ErrorKind, IngestOptions, Ingested, MergeOptions, Result, RunKey, Store};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::agreement::{FILES, inputs, same};
use crate::support::{Desk, Stored, block_on, options, usual};

const T0: i64 = 1_795_203_738_000;

/// The store of a desk, which may have parts.
fn store(desk: &Desk) -> Store {
    desk.store().into()
}

fn key() -> RunKey {
    RunKey::new("f", "t")
}

fn ingest_part(
    desk: &Desk,
    part: (u32, u32),
    files: &[PathBuf],
    options: &IngestOptions,
) -> Result<Ingested> {
    let number = PartNumber::new(part.0, part.1)?;
    block_on(store(desk).ingest_part(files, options, number))
}

fn merge(desk: &Desk, of: usize) -> Result<Ingested> {
    let options = MergeOptions::default().with_max_rejects(u64::MAX).with_memory(1 << 20);
    block_on(store(desk).merge(&key(), of as u32, &options))
}

/// What the store gives back of the merged run.
fn merged(desk: &Desk, of: usize, options: &IngestOptions) -> Stored {
    let done = merge(desk, of).unwrap();
    assert_no_parts(desk);
    let stored = desk.read(&key(), options.keep_samples);
    assert_eq!(done.info.successes, stored.run.info.successes);
    stored
}

proptest! {
    // Each case waits for the disk.
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn parts_of_made_up_logs_are_the_run_of_all_of_them(
        (logs, cpu) in inputs(), workers in 1usize..=3, block_size in 1usize..3000, before in 0..2500i64,
        keep_samples in proptest::bool::weighted(0.8),
    ) {
        let whole = Desk::new();
        let options = options(workers, block_size, 5000).with_max_rejects(1000).with_keep_samples(keep_samples);
        let mut files: Vec<PathBuf> = FILES.iter().zip(&logs).map(|(name, log)| whole.file(name, log)).collect();
        files.extend(cpu.as_ref().map(|cpu| whole.file("cpu.csv", cpu)));
        let t0_ms = whole.ingest(&files, &options).unwrap().info.t0_ms;
        let options = options.with_origin(t0_ms - before);
        let whole = whole.stored(&files, &options);
        let parts = Desk::new();
        // In any order.
        for (at, name) in FILES.iter().take(logs.len()).enumerate().rev() {
            let mut options = options.clone();
            options.injector = (logs.len() > 1).then(|| (*name).to_owned());
            let own = [vec![files[at].clone()], files[logs.len()..].to_vec()].concat();
            ingest_part(&parts, (at as u32 + 1, logs.len() as u32), &own, &options).unwrap();
        }
        same(&whole, &merged(&parts, logs.len(), &options))?;
    }
}

/// A record: when, of which label, with which message of a failure, from which host.
type Made = (i64, u16, Option<u16>, u8);

const HEADER: &str =
    "timeStamp,elapsed,label,responseCode,success,failureMessage,threadName,bytes,allThreads\n";

fn record((ms, label, message, host): &Made) -> String {
    let (success, code) = (message.is_none(), message.map_or(200, |message| 400 + message % 40));
    let message = message.map_or(String::new(), |message| format!("message {message}"));
    let time = if *host == 9 { "noon".to_owned() } else { (T0 + ms).to_string() };
    format!("{time},{},label {label},{code},{success},{message},10.0.0.{host}-T 1-1,9,{host}\n", ms % 97)
}

fn log(records: &[Made]) -> String {
    HEADER.to_owned() + &records.iter().map(record).collect::<String>()
}

/// Names few enough to have places of their own, or too many.
fn records() -> impl Strategy<Value = Vec<Made>> {
    let of = |labels: u16, messages: u16, count: std::ops::Range<usize>| {
        let message = proptest::option::weighted(0.7, 0..messages);
        vec((0..20_000i64, 0..labels, message, prop_oneof![9 => 0..4u8, 1 => Just(9u8)]), count)
    };
    prop_oneof![3 => of(5, 3, 2..60), 1 => of(500, 2500, 2000..4000)]
}

/// The pieces of records, each of which has one that can be taken.
fn pieces<'a>(records: &'a [Made], cuts: &[Index]) -> Vec<&'a [Made]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(records.len())).collect();
    cuts.sort_unstable();
    let (mut pieces, mut begin) = (Vec::new(), 0);
    let is_taken = |records: &[Made]| records.iter().any(|record| record.3 != 9);
    for cut in cuts {
        if is_taken(&records[begin..cut]) && is_taken(&records[cut..]) {
            pieces.push(&records[begin..cut]);
            begin = cut;
        }
    }
    pieces.push(&records[begin..]);
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_split_of_a_log_is_the_log(
        records in records(), cuts in vec(any::<Index>(), 1..5), before in 0..5000i64,
    ) {
        prop_assume!(records.iter().any(|record| record.3 != 9));
        let options = usual().with_max_rejects(100_000).with_origin(T0 - before);
        let whole = Desk::new();
        let mut whole = whole.stored(&[whole.file("log.csv", log(&records))], &options);
        let parts = Desk::new();
        let pieces = pieces(&records, &cuts);
        for (number, piece) in (1..).zip(&pieces) {
            let file = parts.file(&format!("piece-{number}.csv"), log(piece));
            ingest_part(&parts, (number, pieces.len() as u32), &[file], &options).unwrap();
        }
        let mut merged = merged(&parts, pieces.len(), &options);
        for stored in [&mut whole, &mut merged] {
            // The pieces have other names, lines and bytes.
            stored.run.info.sources.clear();
            for reject in &mut stored.rejects {
                (reject.file, reject.line, reject.byte) = (String::new(), 0, 0);
            }
        }
        same(&whole, &merged)?;
    }
}

/// A part of one request.
fn small(desk: &Desk, number: u32, of: u32, content: &str) -> Result<Ingested> {
    let file = desk.file(&format!("{number}.csv"), content);
    ingest_part(desk, (number, of), &[file], &usual().with_origin(T0))
}

fn one(ms: i64) -> String {
    log(&[(ms, 0, None, 1)])
}

/// Nothing is stored, and the parts are what they were.
fn refused(desk: &Desk, of: usize, kind: ErrorKind) {
    let before = block_on(store(desk).parts()).unwrap();
    let error = merge(desk, of).unwrap_err();
    assert_eq!(error.kind(), kind, "{error:?}");
    assert_eq!(block_on(store(desk).parts()).unwrap(), before);
    desk.assert_empty();
}

#[test]
fn parts_that_are_missing_or_too_many_are_told() {
    let desk = Desk::new();
    refused(&desk, 3, ErrorKind::NoParts);
    small(&desk, 1, 3, &one(1)).unwrap();
    refused(&desk, 3, ErrorKind::PartsMissing);
    refused(&desk, 1, ErrorKind::PartsDiffer);
    small(&desk, 3, 3, &one(2)).unwrap();
    let error = merge(&desk, 3).unwrap_err().to_string();
    assert!(error.ends_with("1 are missing: 2"), "{error}");
    small(&desk, 2, 3, &one(3)).unwrap();
    assert_eq!(merge(&desk, 3).unwrap().info.successes, 3);
    assert_no_parts(&desk);
}

fn assert_no_parts(desk: &Desk) {
    assert_eq!(block_on(store(desk).parts()).unwrap(), []);
    assert!(!desk.path("data/parts").exists());
}

#[test]
fn part_that_can_not_be_taken_leaves_nothing() {
    let desk = Desk::new();
    for (content, kind) in [
        (String::new(), ErrorKind::Empty),
        (HEADER.to_owned(), ErrorKind::NoRecords),
        (log(&[(1, 0, None, 9)]), ErrorKind::NoValidRecord),
        (one(-1), ErrorKind::Origin),
    ] {
        let error = small(&desk, 1, 2, &content).unwrap_err();
        assert_eq!(error.kind(), kind, "{error:?}");
        assert_no_parts(&desk);
    }
    let without = ingest_part(&desk, (1, 2), &[desk.file("a.csv", one(1))], &usual()).unwrap_err();
    assert_eq!(without.kind(), ErrorKind::PartIncomplete);
    let hey = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n\
               0.0012,0.0001,0.0000,0.0000,0.0010,0.0000,200,0.0001\n";
    assert_eq!(small(&desk, 1, 2, hey).unwrap_err().kind(), ErrorKind::PartWithoutClock);
    assert_no_parts(&desk);
}

#[test]
fn part_is_replaced_by_files_of_the_same_names_only() {
    let desk = Desk::new();
    small(&desk, 1, 1, &one(1)).unwrap();
    small(&desk, 1, 1, &log(&[(1, 0, None, 1), (2, 0, None, 1)])).unwrap();
    let other = desk.file("other.csv", one(5));
    let options = usual().with_origin(T0);
    let error = ingest_part(&desk, (1, 1), std::slice::from_ref(&other), &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PartTaken, "{error:?}");
    assert_eq!(block_on(store(&desk).parts()).unwrap()[0].requests, 2);
    ingest_part(&desk, (1, 1), &[other], &options.with_replace(true)).unwrap();
    assert_eq!(merge(&desk, 1).unwrap().info.successes, 1);
}

/// What is told of a part that was ingested with other options, and how they differ.
type Change = (&'static str, fn(&mut IngestOptions));

#[test]
fn parts_that_do_not_fit_together_are_told() {
    let cpu = "clock,value\n1795203738,7\n";
    let changes: [Change; 7] = [
        ("origin", |options| options.origin = Some(T0 - 1000)),
        ("maximum span", |options| options.max_span_ms -= 1),
        ("samples", |options| options.keep_samples = false),
        ("time-zone", |options| options.noted.time_zone = Some("Europe/Berlin".to_owned())),
        ("tag:commit", |options| _ = options.noted.tags.insert("commit".to_owned(), "a".to_owned())),
        ("CPU offset", |options| options.cpu.offset = 1),
        ("cpu export", |_| {}),
    ];
    for (what, change) in changes {
        let desk = Desk::new();
        small(&desk, 1, 2, &one(1)).unwrap();
        let mut options = usual().with_origin(T0);
        change(&mut options);
        let mut files = vec![desk.file("2.csv", one(2))];
        files.extend((what == "cpu export").then(|| desk.file("cpu.csv", cpu)));
        ingest_part(&desk, (2, 2), &files, &options).unwrap();
        let error = merge(&desk, 2).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PartsDiffer, "{error:?}");
        assert!(error.to_string().contains(what), "{what}: {error}");
        desk.assert_empty();
    }
}

#[test]
fn log_that_is_in_two_parts_is_told() {
    let desk = Desk::new();
    let options = usual().with_origin(T0);
    let file = [desk.file("1.csv", one(1))];
    for part in 1..=2 {
        ingest_part(&desk, (part, 2), &file, &options).unwrap();
    }
    refused(&desk, 2, ErrorKind::PartsDoubled);
    block_on(store(&desk).drop_parts(&key(), &[2])).unwrap();
    small(&desk, 2, 2, &one(1)).unwrap();
    assert_eq!(merge(&desk, 2).unwrap().info.successes, 2, "the same requests, but from another file");
}

#[test]
fn rejects_of_all_parts_together_are_judged() {
    let desk = Desk::new();
    for number in 1..=2 {
        small(&desk, number, 2, &log(&[(1, 0, None, 1), (2, 0, None, 9), (3, 0, None, 9)])).unwrap();
    }
    let merge = |limit| {
        let options = MergeOptions::default().with_max_rejects(limit);
        block_on(store(&desk).merge(&key(), 2, &options))
    };
    let error = merge(3).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooManyRejects);
    assert!(error.to_string().starts_with("2.csv, line 4 (byte "), "{error}");
    desk.assert_empty();
    assert_eq!(merge(4).unwrap().info.rejects, 4);
}

#[test]
fn part_that_is_dropped_is_missing() {
    let desk = Desk::new();
    for number in 1..=2 {
        small(&desk, number, 2, &one(number.into())).unwrap();
    }
    let drop = |numbers: &[u32]| block_on(store(&desk).drop_parts(&key(), numbers));
    assert_eq!(drop(&[1, 3]).unwrap_err().kind(), ErrorKind::NoParts);
    drop(&[1]).unwrap();
    assert_eq!(block_on(store(&desk).parts()).unwrap()[0].numbers, [2]);
    drop(&[2]).unwrap();
    assert_no_parts(&desk);
}

#[test]
fn run_is_replaced_by_its_parts_and_other_runs_stay() {
    let desk = Desk::new();
    desk.ingest(&[desk.file("old.csv", one(7))], &usual()).unwrap();
    desk.ingest(&[desk.file("other.csv", one(7))], &usual().with_test("other")).unwrap();
    small(&desk, 1, 1, &log(&[(1, 0, None, 1), (2, 0, None, 2)])).unwrap();
    assert_eq!(desk.store().runs().unwrap().len(), 2, "a part is no run");
    merge(&desk, 1).unwrap();
    let requests: Vec<u64> = desk.store().runs().unwrap().iter().map(|run| run.requests()).collect();
    assert_eq!(requests, [1, 2]);
    assert!(is_store(&desk.path("data")));
}

fn is_store(path: &Path) -> bool {
    ParquetStore::open(path).is_ok_and(|store| store.is_there())
}
