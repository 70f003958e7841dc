//! A run that was ingested in parts: merged, it is the run of all logs together, in each kind of store.

use std::future::Future;
use std::path::PathBuf;

use perfpipe_ingest::run::PartNumber;
use perfpipe_ingest::store::StoredParts;
use perfpipe_ingest::store::parquet::ParquetStore;
use perfpipe_ingest::store::postgres::PostgresConfig;
use perfpipe_ingest::{ErrorKind, IngestOptions, Ingested, MergeOptions, Result, RunKey, Store};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestCaseResult;
use tokio::runtime::Runtime;

use crate::agreement::{FILES, inputs, same};
use crate::postgres::TestServer;
use crate::read_back::rows;
use crate::support::{Desk, Stored, options, usual};

const T0: i64 = 1_795_203_738_000;

/// A store of a test's own, with files beside it.
struct Home {
    desk: Desk,
    store: Store,
    runtime: Runtime,
}

impl Home {
    fn folder() -> Self {
        let desk = Desk::new();
        Self { store: desk.store().into(), desk, runtime: Runtime::new().unwrap() }
    }

    fn bucket() -> Self {
        let desk = Desk::new();
        let url = format!("file://{}", desk.path("bucket").display());
        let store = ParquetStore::open_bucket(&url, &[]).unwrap().into();
        Self { store, desk, runtime: Runtime::new().unwrap() }
    }

    /// `None` where there is no server.
    fn database() -> Option<Self> {
        let config = PostgresConfig::resolve(&TestServer::shared()?.database(), &|_| None).unwrap();
        let runtime = Runtime::new().unwrap();
        let store = runtime.block_on(Store::database(config)).unwrap();
        Some(Self { desk: Desk::new(), store, runtime })
    }

    /// One of each kind that can be had here.
    fn each() -> Vec<Self> {
        [Self::folder(), Self::bucket()].into_iter().chain(Self::database()).collect()
    }

    fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    fn ingest_part(&self, part: (u32, u32), files: &[PathBuf], options: &IngestOptions) -> Result<Ingested> {
        let number = PartNumber::new(part.0, part.1)?;
        self.wait(self.store.ingest_part(files, options, number))
    }

    fn merge_at_most(&self, of: usize, max_rejects: u64) -> Result<Ingested> {
        let options = MergeOptions::default().with_max_rejects(max_rejects).with_memory(1 << 20);
        self.wait(self.store.merge(&key(), of as u32, &options))
    }

    fn merge(&self, of: usize) -> Result<Ingested> {
        self.merge_at_most(of, u64::MAX)
    }

    fn parts(&self) -> Vec<StoredParts> {
        self.wait(self.store.parts()).unwrap()
    }

    fn drop_parts(&self, numbers: &[u32]) -> Result<()> {
        self.wait(self.store.drop_parts(&key(), numbers))
    }

    /// All that the store has of a run, which has samples or not.
    fn read(&self, key: &RunKey, has_samples: bool) -> Stored {
        let (mut rejects, mut found) = (Vec::new(), Vec::new());
        let mut add_reject = |reject| {
            rejects.push(reject);
            Ok(())
        };
        let mut add_rows = |batch| {
            found.extend(rows(&batch));
            Ok(())
        };
        self.wait(self.store.rejects(key, &mut add_reject)).unwrap();
        if has_samples {
            self.wait(self.store.samples(key, &mut add_rows)).unwrap();
        }
        let mut run = self.wait(self.store.read(key)).unwrap();
        run.info.ingested_at.clear();
        Stored { run, rejects, rows: found }
    }

    /// The run of all logs together.
    fn whole(&self, files: &[PathBuf], options: &IngestOptions) -> Stored {
        let key = self.wait(self.store.ingest(files, options)).unwrap().info.key;
        self.read(&key, options.keep_samples)
    }

    /// What the store gives back of the merged run.
    fn merged(&self, of: usize, options: &IngestOptions) -> Stored {
        let done = self.merge(of).unwrap();
        self.assert_no_parts();
        let stored = self.read(&key(), options.keep_samples);
        assert_eq!(done.info.successes, stored.run.info.successes);
        let faults = self.wait(self.store.verify(&key(), &Default::default())).unwrap();
        assert_eq!(faults, [""; 0]);
        stored
    }

    /// A part of one request.
    fn small(&self, number: u32, of: u32, content: &str) -> Result<Ingested> {
        let file = self.desk.file(&format!("{number}.csv"), content);
        self.ingest_part((number, of), &[file], &usual().with_origin(T0))
    }

    fn assert_empty(&self) {
        assert_eq!(self.wait(self.store.runs()).unwrap(), []);
        self.desk.assert_empty();
    }

    fn assert_no_parts(&self) {
        assert_eq!(self.parts(), []);
        assert!(!self.desk.path("data/parts").exists());
    }

    /// Nothing is stored, and the parts are what they were.
    fn refused(&self, of: usize, kind: ErrorKind) {
        let before = self.parts();
        let error = self.merge(of).unwrap_err();
        assert_eq!(error.kind(), kind, "{error:?}");
        assert_eq!(self.parts(), before);
        self.assert_empty();
    }
}

fn key() -> RunKey {
    RunKey::new("f", "t")
}

/// Logs with their CPU export, if there is one, and how they are read: workers, block size, how long before the first
/// record the run begins, and whether samples are kept.
type Made = ((Vec<Vec<u8>>, Option<String>), (usize, usize, i64, bool));

fn made() -> impl Strategy<Value = Made> {
    (inputs(), (1usize..=3, 1usize..3000, 0..2500i64, proptest::bool::weighted(0.8)))
}

fn parts_are_the_whole(
    [whole, parts]: [Home; 2],
    ((logs, cpu), (workers, block_size, before, keep_samples)): Made,
) -> TestCaseResult {
    let options = options(workers, block_size, 5000).with_max_rejects(1000).with_keep_samples(keep_samples);
    let mut files: Vec<PathBuf> =
        FILES.iter().zip(&logs).map(|(name, log)| whole.desk.file(name, log)).collect();
    files.extend(cpu.as_ref().map(|cpu| whole.desk.file("cpu.csv", cpu)));
    let t0_ms = whole.wait(whole.store.ingest(&files, &options)).unwrap().info.t0_ms;
    let options = options.with_origin(t0_ms - before);
    let whole = whole.whole(&files, &options);
    // In any order.
    for (at, name) in FILES.iter().take(logs.len()).enumerate().rev() {
        let mut options = options.clone();
        options.injector = (logs.len() > 1).then(|| (*name).to_owned());
        let own = [vec![files[at].clone()], files[logs.len()..].to_vec()].concat();
        parts.ingest_part((at as u32 + 1, logs.len() as u32), &own, &options).unwrap();
    }
    same(&whole, &parts.merged(logs.len(), &options))
}

proptest! {
    // Each case waits for the disk.
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn parts_of_made_up_logs_are_the_run_of_all_of_them(made in made()) {
        parts_are_the_whole([Home::folder(), Home::folder()], made)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn parts_of_made_up_logs_are_the_run_in_a_bucket(made in made()) {
        parts_are_the_whole([Home::bucket(), Home::bucket()], made)?;
    }

    #[test]
    fn parts_of_made_up_logs_are_the_run_in_a_database(made in made()) {
        if let Some((whole, parts)) = Home::database().zip(Home::database()) {
            parts_are_the_whole([whole, parts], made)?;
        }
    }
}

/// A record: when, of which label, with which message of a failure, from which host.
type Line = (i64, u16, Option<u16>, u8);

const HEADER: &str =
    "timeStamp,elapsed,label,responseCode,success,failureMessage,threadName,bytes,allThreads\n";

fn record((ms, label, message, host): &Line) -> String {
    let (success, code) = (message.is_none(), message.map_or(200, |message| 400 + message % 40));
    let message = message.map_or(String::new(), |message| format!("message {message}"));
    let time = if *host == 9 { "noon".to_owned() } else { (T0 + ms).to_string() };
    format!(
        "{time},{},label {label},{code},{success},{message},10.0.0.{host}-T 1-1,9,{host}\n",
        ms.rem_euclid(97)
    )
}

fn log(records: &[Line]) -> String {
    HEADER.to_owned() + &records.iter().map(record).collect::<String>()
}

/// Names few enough to have places of their own, or too many.
fn records() -> impl Strategy<Value = Vec<Line>> {
    let of = |labels: u16, messages: u16, count: std::ops::Range<usize>| {
        let message = proptest::option::weighted(0.7, 0..messages);
        vec((0..20_000i64, 0..labels, message, prop_oneof![9 => 0..4u8, 1 => Just(9u8)]), count)
    };
    prop_oneof![3 => of(5, 3, 2..60), 1 => of(500, 2500, 2000..4000)]
}

/// The pieces of records, each of which has one that can be taken.
fn pieces<'a>(records: &'a [Line], cuts: &[Index]) -> Vec<&'a [Line]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(records.len())).collect();
    cuts.sort_unstable();
    let (mut pieces, mut begin) = (Vec::new(), 0);
    let is_taken = |records: &[Line]| records.iter().any(|record| record.3 != 9);
    for cut in cuts {
        if is_taken(&records[begin..cut]) && is_taken(&records[cut..]) {
            pieces.push(&records[begin..cut]);
            begin = cut;
        }
    }
    pieces.push(&records[begin..]);
    pieces
}

fn split_is_the_whole(
    [whole, parts]: [Home; 2],
    records: &[Line],
    cuts: &[Index],
    before: i64,
) -> TestCaseResult {
    prop_assume!(records.iter().any(|record| record.3 != 9));
    let options = usual().with_max_rejects(100_000).with_origin(T0 - before);
    let mut whole = whole.whole(&[whole.desk.file("log.csv", log(records))], &options);
    let pieces = pieces(records, cuts);
    for (number, piece) in (1..).zip(&pieces) {
        let file = parts.desk.file(&format!("piece-{number}.csv"), log(piece));
        parts.ingest_part((number, pieces.len() as u32), &[file], &options).unwrap();
    }
    let mut merged = parts.merged(pieces.len(), &options);
    for stored in [&mut whole, &mut merged] {
        // The pieces have other names, lines and bytes.
        stored.run.info.sources.clear();
        for reject in &mut stored.rejects {
            (reject.file, reject.line, reject.byte) = (String::new(), 0, 0);
        }
    }
    same(&whole, &merged)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_split_of_a_log_is_the_log(
        records in records(), cuts in vec(any::<Index>(), 1..5), before in 0..5000i64,
    ) {
        split_is_the_whole([Home::folder(), Home::folder()], &records, &cuts, before)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn any_split_of_a_log_is_the_log_in_all_stores(
        records in records(), cuts in vec(any::<Index>(), 1..5), before in 0..5000i64,
    ) {
        for homes in Home::each().into_iter().zip(Home::each()) {
            split_is_the_whole(homes.into(), &records, &cuts, before)?;
        }
    }
}

fn one(ms: i64) -> String {
    log(&[(ms, 0, None, 1)])
}

#[test]
fn parts_that_are_missing_or_too_many_are_told() {
    for home in Home::each() {
        home.refused(3, ErrorKind::NoParts);
        home.small(1, 3, &one(1)).unwrap();
        home.refused(3, ErrorKind::PartsMissing);
        home.refused(1, ErrorKind::PartsDiffer);
        home.small(3, 3, &one(2)).unwrap();
        let error = home.merge(3).unwrap_err().to_string();
        assert!(error.starts_with("part 2 of ") && error.ends_with(" is missing"), "{error}");
        home.small(2, 3, &one(3)).unwrap();
        assert_eq!(home.merge(3).unwrap().info.successes, 3);
        home.assert_no_parts();
    }
}

#[test]
fn part_that_can_not_be_taken_leaves_nothing() {
    for home in Home::each() {
        for (content, kind) in [
            (String::new(), ErrorKind::Empty),
            (HEADER.to_owned(), ErrorKind::NoRecords),
            (log(&[(1, 0, None, 9)]), ErrorKind::NoValidRecord),
            (one(-1), ErrorKind::Origin),
        ] {
            let error = home.small(1, 2, &content).unwrap_err();
            assert_eq!(error.kind(), kind, "{error:?}");
            home.assert_no_parts();
        }
        let without = home.ingest_part((1, 2), &[home.desk.file("a.csv", one(1))], &usual()).unwrap_err();
        assert_eq!(without.kind(), ErrorKind::PartIncomplete);
        let hey = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n\
                   0.0012,0.0001,0.0000,0.0000,0.0010,0.0000,200,0.0001\n";
        assert_eq!(home.small(1, 2, hey).unwrap_err().kind(), ErrorKind::PartWithoutClock);
        home.assert_no_parts();
    }
}

#[test]
fn part_is_replaced_by_files_of_the_same_names_only() {
    for home in Home::each() {
        home.small(1, 1, &one(1)).unwrap();
        home.small(1, 1, &log(&[(1, 0, None, 1), (2, 0, None, 1)])).unwrap();
        let other = home.desk.file("other.csv", one(5));
        let options = usual().with_origin(T0);
        let error = home.ingest_part((1, 1), std::slice::from_ref(&other), &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PartTaken, "{error:?}");
        assert_eq!(home.parts()[0].requests, 2);
        home.ingest_part((1, 1), &[other], &options.with_replace(true)).unwrap();
        assert_eq!(home.merge(1).unwrap().info.successes, 1);
    }
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
    for home in Home::each() {
        home.small(1, 2, &one(1)).unwrap();
        for (what, change) in changes {
            let mut options = usual().with_origin(T0).with_replace(true);
            change(&mut options);
            let mut files = vec![home.desk.file("2.csv", one(2))];
            files.extend((what == "cpu export").then(|| home.desk.file("cpu.csv", cpu)));
            home.ingest_part((2, 2), &files, &options).unwrap();
            let error = home.merge(2).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::PartsDiffer, "{error:?}");
            assert!(error.to_string().contains(what), "{what}: {error}");
            home.assert_empty();
        }
    }
}

#[test]
fn log_that_is_in_two_parts_is_told() {
    for home in Home::each() {
        let options = usual().with_origin(T0);
        let file = [home.desk.file("1.csv", one(1))];
        for part in 1..=2 {
            home.ingest_part((part, 2), &file, &options).unwrap();
        }
        home.refused(2, ErrorKind::PartsDoubled);
        home.drop_parts(&[2]).unwrap();
        home.small(2, 2, &one(1)).unwrap();
        let merged = home.merge(2).unwrap().info;
        assert_eq!(merged.successes, 2, "the same requests, but from another file");
    }
}

#[test]
fn rejects_of_all_parts_together_are_judged() {
    for home in Home::each() {
        for number in 1..=2 {
            home.small(number, 2, &log(&[(1, 0, None, 1), (2, 0, None, 9), (3, 0, None, 9)])).unwrap();
        }
        let error = home.merge_at_most(2, 3).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooManyRejects);
        assert!(error.to_string().starts_with("2.csv, line 4 (byte "), "{error}");
        home.assert_empty();
        assert_eq!(home.merge_at_most(2, 4).unwrap().info.rejects, 4);
    }
}

#[test]
fn part_that_is_dropped_is_missing() {
    for home in Home::each() {
        for number in 1..=2 {
            home.small(number, 2, &one(number.into())).unwrap();
        }
        assert_eq!(home.drop_parts(&[1, 3]).unwrap_err().kind(), ErrorKind::NoParts);
        home.drop_parts(&[1]).unwrap();
        assert_eq!(home.parts()[0].numbers, [2]);
        home.drop_parts(&[2]).unwrap();
        home.assert_no_parts();
    }
}

#[test]
fn run_is_replaced_by_its_parts_and_other_runs_stay() {
    for home in Home::each() {
        for (name, options) in [("old.csv", usual()), ("other.csv", usual().with_test("other"))] {
            home.wait(home.store.ingest(&[home.desk.file(name, one(7))], &options)).unwrap();
        }
        let runs = || home.wait(home.store.runs()).unwrap();
        for replaced in 0..2 {
            home.small(1, 2, &log(&[(1, 0, None, 1), (2, 0, None, 2)])).unwrap();
            home.small(2, 2, &one(3)).unwrap();
            assert_eq!(runs().len(), 2, "a part is no run");
            home.merge(2).unwrap();
            assert_eq!(runs().iter().map(|run| run.requests()).collect::<Vec<_>>(), [1, 3], "{replaced}");
        }
        home.wait(home.store.drop_run(&key())).unwrap();
        assert_eq!(runs().len(), 1);
    }
}

#[test]
fn parts_in_a_folder_are_not_all_that_is_left_of_it() {
    let home = Home::folder();
    home.small(1, 1, &one(1)).unwrap();
    home.merge(1).unwrap();
    assert!(ParquetStore::open(home.desk.path("data")).is_ok_and(|store| store.is_there()));
}
