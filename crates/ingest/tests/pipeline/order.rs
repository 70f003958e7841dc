//! The same log gives the same bytes, in the order of the log, whichever worker was faster.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use perfpipe_ingest::IngestOptions;

use crate::agreement::all_fixtures;
use crate::log::NOON;
use crate::read_back::Row;
use crate::support::{Desk, options, usual};

/// Five ingests, each of another number of workers.
const WORKERS: [usize; 5] = [1, 2, 3, 5, 16];

/// The files of the one run that a store holds, but for its manifest, which says when it was stored.
fn tables(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(tables(&path));
        } else if path.extension().is_some_and(|ending| ending == "parquet" || ending == "jsonl") {
            assert!(found.insert(name, std::fs::read(&path).unwrap()).is_none());
        }
    }
    found
}

/// The files that an ingest leaves, and the rows in the order in which they are stored.
fn stored(files: &[PathBuf], options: &IngestOptions) -> (BTreeMap<String, Vec<u8>>, Vec<Row>) {
    let desk = Desk::new();
    let rows = desk.stored(files, options).rows;
    let tables = tables(&desk.path("data"));
    assert!(tables.contains_key("samples.parquet"), "{:?}", tables.keys());
    (tables, rows)
}

/// Five ingests of the files leave the same bytes.
fn check(name: &str, files: &[PathBuf], block_size: usize) {
    let of = |workers| stored(files, &options(workers, block_size, 1 << 20));
    let (first, rows) = of(WORKERS[0]);
    for workers in &WORKERS[1..] {
        let (other, other_rows) = of(*workers);
        assert!(rows == other_rows, "{name}: {workers} workers store the rows in another order");
        for (table, bytes) in &first {
            assert!(*bytes == other[table], "{name}: {workers} workers store another {table}");
        }
        assert_eq!(first.len(), other.len(), "{name}");
    }
}

#[test]
fn five_ingests_of_each_fixture_store_the_same_bytes() {
    for (path, cpu) in all_fixtures() {
        let name = path.display().to_string();
        let files: Vec<PathBuf> = [path].into_iter().chain(cpu).collect();
        check(&name, &files, 16 << 10);
    }
}

/// A log of more rows than a row group holds; what its records say changes as it goes on.
fn long_log(records: usize) -> String {
    let mut log = "timeStamp,elapsed,label,success\n".to_owned();
    for at in 0..records {
        let (second, label) = (at / 1000, at / 50_000 + at % 3);
        writeln!(log, "{},{},l{label},true", NOON + at as i64, second + at % 7).unwrap();
    }
    log
}

#[test]
fn five_ingests_of_several_row_groups_store_the_same_bytes_in_the_order_of_the_log() {
    let records = 300_000;
    let desk = Desk::new();
    let files = [desk.file("long.csv", long_log(records))];
    check("long.csv", &files, 256 << 10);
    let (_, rows) = stored(&files, &usual());
    let in_order = rows.iter().enumerate().all(|(at, row)| row.starts_with(&format!("({at}, ")));
    assert!(in_order && rows.len() == records, "in the order of the log");
}

#[test]
fn logs_of_few_records_share_row_groups() {
    let desk = Desk::new();
    let log = |at: usize| desk.file(&format!("{at:02}.csv"), long_log(100));
    let files: Vec<PathBuf> = (0..40).map(log).collect();
    let desk = Desk::new();
    let mut options = options(5, 1000, 0);
    options.sizes = options.sizes.with_reader_bytes(1 << 20);
    desk.stored(&files, &options);
    let samples = tables(&desk.path("data")).remove("samples.parquet").unwrap();
    let reader = parquet::file::reader::SerializedFileReader::new(bytes::Bytes::from(samples)).unwrap();
    let groups = parquet::file::reader::FileReader::metadata(&reader).num_row_groups();
    assert_eq!(groups, 1);
}
