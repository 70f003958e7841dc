//! The same result as the slow reader's, by every way through the pipeline.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use perfpipe_ingest::counts::Cell;
use perfpipe_ingest::{IngestOptions, Ingested, StoredRun};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use crate::expected::{Expected, places};
use crate::log::{NOON, log};
use crate::memory::in_memory;
use crate::oracle::{OracleRun, read_cpu};
use crate::read_back::{NamedCells, named};
use crate::support::{Desk, Stored, ascending, fixtures, options, streamed, usual};

pub(crate) const FILES: [&str; 3] = ["a.csv", "b.csv", "c.csv"];

const BLOCK_SIZES: [usize; 7] = [1, 2, 3, 7, 64, 1000, 1 << 20];

fn counts(done: &Ingested) -> (i64, i64, u32, [u64; 4]) {
    let info = &done.info;
    (info.t0_ms, info.last_ms, info.seconds, [info.successes, info.failures, info.transactions, info.rejects])
}

fn expected_counts(run: &OracleRun) -> (i64, i64, u32, [u64; 4]) {
    let (t0, last) = (run.t0_ms(), run.last_ms());
    let transactions = run.samples.iter().filter(|sample| sample.transaction).count();
    let successes = run.samples.iter().filter(|sample| sample.success && !sample.transaction).count();
    let failures = run.samples.len() - transactions - successes;
    let seconds = ((last - t0) / 1000 + 1) as u32;
    (t0, last, seconds, [successes, failures, transactions, run.rejects.len()].map(|count| count as u64))
}

/// What is stored, and what reaches a sink, is what the slow reader found.
fn check(
    stored: &Stored,
    files: &[PathBuf],
    options: &IngestOptions,
    expected: &Expected<'_>,
) -> TestCaseResult {
    let (kept, done) = streamed(files, options).unwrap();
    let rows = expected.rows();
    prop_assert_eq!(&kept.rows, &rows, "in the order of the logs");
    prop_assert_eq!(&stored.rows, &rows, "in the order of the logs");
    prop_assert_eq!(counts(&done), expected_counts(expected.run));
    let mut info = stored.run.info.clone();
    info.ingested_at.clone_from(&done.info.ingested_at);
    prop_assert_eq!(&done.info, &info);
    prop_assert_eq!(places(&stored.rejects), expected.rejects());
    prop_assert_eq!(named(&stored.run.cells), expected.cells());
    prop_assert_eq!(&stored.run.errors, &expected.errors());
    prop_assert_eq!(&stored.run.labels, &expected.labels());
    let cpu: Vec<(i64, f64)> = expected.cpu.iter().map(|(clock, value)| (*clock, *value)).collect();
    prop_assert_eq!(stored.run.cpu.readings(), cpu);
    Ok(())
}

fn cpu_file() -> impl Strategy<Value = String> {
    let reading = (-5..12i64, 0..2000u32)
        .prop_map(|(second, tenths)| format!("{},{}\n", NOON / 1000 + second, f64::from(tenths) / 10.0));
    vec(reading, 1..12).prop_map(|readings| format!("clock,value\n{}", readings.concat()))
}

/// Logs and perhaps a CPU export, checked with what `store` makes of them.
fn check_logs(
    (logs, cpu): &(Vec<Vec<u8>>, Option<String>),
    options: &IngestOptions,
    store: impl Fn(&Desk, &[PathBuf], &IngestOptions) -> Stored,
) -> TestCaseResult {
    let desk = Desk::new();
    let contents: Vec<&[u8]> = logs.iter().map(Vec::as_slice).collect();
    let run = OracleRun::read(&contents);
    let mut files: Vec<PathBuf> = FILES.iter().zip(logs).map(|(name, log)| desk.file(name, log)).collect();
    files.extend(cpu.as_ref().map(|cpu| desk.file("cpu.csv", cpu)));
    let cpu = cpu.as_ref().map(|cpu| read_cpu(cpu.as_bytes())).unwrap_or_default();
    let expected = Expected { run: &run, files: &FILES[..logs.len()], cpu: &cpu };
    check(&store(&desk, &files, options), &files, options, &expected)
}

pub(crate) fn inputs() -> impl Strategy<Value = (Vec<Vec<u8>>, Option<String>)> {
    (vec(log(), 1..4), proptest::option::of(cpu_file()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn made_up_logs_are_read_as_the_slow_reader_reads_them(
        inputs in inputs(), workers in 1usize..=4, block_size in 1usize..3000, look_ahead in 0usize..6000,
    ) {
        let options = options(workers, block_size, look_ahead);
        check_logs(&inputs, &options, |_, files, options| in_memory(files, options))?;
    }
}

proptest! {
    // Each case waits for the disk.
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn made_up_logs_come_back_from_the_embedded_store(inputs in inputs(), workers in 1usize..=4) {
        check_logs(&inputs, &options(workers, 500, 5000), Desk::stored)?;
    }
}

/// The samples of a run stored by other sizes are those of `first`, and so is all else, to the bit.
pub(crate) fn same(first: &Stored, other: &Stored) -> TestCaseResult {
    prop_assert_eq!(&first.run, &other.run);
    prop_assert_eq!(&first.rejects, &other.rejects);
    prop_assert_eq!(&first.rows, &other.rows);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn sizes_and_workers_make_no_difference(
        logs in vec(log(), 1..3), workers in 1usize..=4, window in prop_oneof![Just(0usize), 1..9000usize],
    ) {
        let desk = Desk::new();
        let files: Vec<PathBuf> = FILES.iter().zip(&logs).map(|(name, log)| desk.file(name, log)).collect();
        let first = in_memory(&files, &usual());
        for block_size in BLOCK_SIZES {
            same(&first, &in_memory(&files, &options(workers, block_size, window)))?;
        }
        for window in [0, 1, 100, 1 << 30] {
            same(&first, &in_memory(&files, &options(5 - workers, 50, window)))?;
        }
    }

    #[test]
    fn order_of_the_logs_makes_no_difference(
        logs in vec(log(), 2..4), block_size in 1usize..3000,
    ) {
        let desk = Desk::new();
        let files: Vec<PathBuf> = FILES.iter().zip(&logs).map(|(name, log)| desk.file(name, log)).collect();
        let first = in_memory(&files, &usual());
        let cells: NamedCells = named(&first.run.cells);
        let mut turned = files.clone();
        turned.rotate_left(1);
        let reversed: Vec<PathBuf> = files.into_iter().rev().collect();
        for files in [turned, reversed] {
            let other = in_memory(&files, &options(2, block_size, 100));
            prop_assert_eq!(&named(&other.run.cells), &cells);
            prop_assert_eq!(ascending(&other.rows), ascending(&first.rows));
            let StoredRun { errors, labels, .. } = other.run;
            prop_assert_eq!((&errors, &labels), (&first.run.errors, &first.run.labels));
            prop_assert_eq!(other.rejects.len(), first.rejects.len());
        }
    }
}

/// The content of a fixture, plain or out of its zip.
fn content(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    if path.extension().is_none_or(|ending| ending != "zip") {
        return bytes;
    }
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    let mut content = Vec::new();
    zip.by_index(0).unwrap().read_to_end(&mut content).unwrap();
    content
}

/// Every fixture, in each of its forms, with its CPU export.
pub(crate) fn all_fixtures() -> Vec<(PathBuf, Option<PathBuf>)> {
    let facts = std::fs::read(fixtures().join("facts.json")).unwrap();
    let facts: serde_json::Value = serde_json::from_slice(&facts).unwrap();
    let mut all = Vec::new();
    for fact in facts.as_array().unwrap() {
        let file = fact["file"].as_str().unwrap();
        let cpu = fact["cpu"]["file"].as_str().map(|cpu| fixtures().join(cpu));
        let forms = [file.to_owned(), format!("{file}.zip")].map(|name| fixtures().join(name));
        all.extend(forms.into_iter().filter(|path| path.exists()).map(|path| (path, cpu.clone())));
    }
    assert!(all.len() > 13);
    all
}

#[test]
fn every_fixture_is_read_as_the_slow_reader_reads_it() {
    for (path, cpu) in all_fixtures() {
        let bytes = content(&path);
        let run = OracleRun::read(&[&bytes]);
        let readings = cpu.as_ref().map(|cpu| read_cpu(&content(cpu))).unwrap_or_default();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let expected = Expected { run: &run, files: &[&name], cpu: &readings };
        let files: Vec<PathBuf> = [path.clone()].into_iter().chain(cpu).collect();
        if let Err(error) = check(&Desk::new().stored(&files, &usual()), &files, &usual(), &expected) {
            let told: String = error.to_string().chars().take(2000).collect();
            panic!("{name}: {told}");
        }
    }
}

#[test]
fn fixtures_are_read_the_same_in_small_pieces() {
    let no_cpu = BTreeMap::new();
    for name in
        ["transactions.csv", "crlf.csv", "two-headers.csv", "distributed.csv", "Results-vars-8181.csv"]
    {
        let path = fixtures().join(name);
        let run = OracleRun::read(&[&content(&path)]);
        let expected = Expected { run: &run, files: &[name], cpu: &no_cpu };
        for (workers, block_size, look_ahead) in [(4, 1, 0), (3, 300, 1000), (1, 7000, 100_000)] {
            let files = [path.clone()];
            let options = options(workers, block_size, look_ahead);
            if let Err(error) = check(&in_memory(&files, &options), &files, &options, &expected) {
                let told: String = error.to_string().chars().take(2000).collect();
                panic!("{name}: {told}");
            }
        }
    }
}

fn any_cell() -> impl Strategy<Value = Cell> {
    use perfpipe_ingest::counts::{InjectorLoad, Spread};
    let elapsed = proptest::collection::btree_map(-5..20i32, 1..9u64, 0..8);
    let loads = proptest::collection::btree_map(0..5u32, (1..9u64, 0..90i64), 0..4);
    let latency = vec(-5..50i32, 0..5);
    (elapsed, loads, latency, 0..99i64, 0..99i64, 0..99i64, 0..9u64).prop_map(
        |(elapsed, loads, latencies, connect, bytes, sent_bytes, before_boundary)| {
            let mut latency = Spread::default();
            latencies.into_iter().for_each(|ms| latency.add(ms));
            let load = |(injector, (samples, threads))| InjectorLoad { injector, samples, threads };
            Cell {
                elapsed: elapsed.into_iter().collect(),
                latency,
                connect,
                bytes,
                sent_bytes,
                before_boundary,
                injectors: loads.into_iter().map(load).collect(),
            }
        },
    )
}

fn merged<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Cell {
    cells.into_iter().fold(Cell::default(), |mut all, cell| {
        all.merge(cell);
        all
    })
}

proptest! {
    #[test]
    fn cells_merge_in_any_order_and_grouping(cells in vec(any_cell(), 0..6), cut in 0usize..6) {
        let all = merged(&cells);
        let (head, tail) = cells.split_at(cut.min(cells.len()));
        prop_assert_eq!(&merged([&merged(head), &merged(tail)]), &all);
        prop_assert_eq!(&merged([&merged(tail), &merged(head)]), &all);
        prop_assert_eq!(&merged(cells.iter().rev()), &all);
        prop_assert_eq!(all.samples(), cells.iter().map(Cell::samples).sum::<u64>());
        prop_assert!(all.elapsed.is_sorted_by(|a, b| a.0 < b.0));
        prop_assert!(all.injectors.is_sorted_by(|a, b| a.injector < b.injector));
    }

    #[test]
    fn tables_are_the_same_from_cells_in_any_order(
        cells in vec((0..3u32, 0..2u32, any::<bool>(), any_cell()), 0..9).prop_shuffle(), turn in 0usize..9,
    ) {
        use perfpipe_ingest::counts::{CellKey, CellTable};
        let keyed = |(second, label, success, cell): &(u32, u32, bool, Cell)| {
            (CellKey { second: *second, label: *label, success: *success, transaction: false }, cell.clone())
        };
        let table = |cells: &[(u32, u32, bool, Cell)]| {
            CellTable::new(vec!["a".into(), "b".into()], vec![], cells.iter().map(keyed))
        };
        let mut turned = cells.clone();
        turned.rotate_left(turn.min(cells.len()));
        let (whole, turned) = (table(&cells), table(&turned));
        prop_assert_eq!(&whole, &turned);
        prop_assert!(whole.iter().map(Result::unwrap).is_sorted_by(|a, b| a.0 < b.0));
        let again = CellTable::new(whole.labels.clone(), vec![], whole.iter().map(Result::unwrap));
        prop_assert_eq!(again, whole);
    }
}

#[test]
fn sums_beyond_all_bounds_stop_at_them() {
    let cell = Cell {
        elapsed: vec![(1, u64::MAX)],
        latency: perfpipe_ingest::counts::Spread { n: u64::MAX, sum: i64::MAX, min: 0, max: 1 },
        connect: i64::MIN,
        bytes: i64::MAX,
        sent_bytes: i64::MAX,
        before_boundary: u64::MAX,
        injectors: vec![perfpipe_ingest::counts::InjectorLoad {
            injector: 0,
            samples: u64::MAX,
            threads: i64::MAX,
        }],
    };
    assert_eq!(merged([&cell, &cell]), cell);
    let twice = Cell { elapsed: vec![(1, u64::MAX), (2, 1)], ..cell };
    assert_eq!(twice.samples(), u64::MAX);
}
