//! Parquet exports: files that another reader opens, with the rows of the CSV exports.

use std::fs::File;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};

use crate::support::*;

/// Exports into a Parquet file and reads that back: the columns' names, and the rows.
fn exported(store: &Store, key: &Key, what: &str, flags: &[&str]) -> (Vec<String>, Vec<Row>) {
    let path = store.folder.path().join(format!("{what}.parquet"));
    let output = ["-o", path.to_str().unwrap()];
    assert_eq!(store.export(key, what, "parquet", &[flags, &output].concat()), "", "data on standard output");
    let file = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let columns = file.metadata().file_metadata().schema_descr().columns();
    let names = columns.iter().map(|column| column.name().to_owned()).collect();
    (names, file.get_row_iter(None).unwrap().map(Result::unwrap).collect())
}

/// A row as the CSV export writes it.
fn fields(row: &Row) -> Vec<String> {
    let field = |field: &Field| match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Double(number) => number.to_string(),
        other => other.to_string(),
    };
    row.get_column_iter().map(|(_, value)| field(value)).collect()
}

#[test]
fn every_export_has_the_rows_of_its_csv() {
    for store in Store::each() {
        let key = Fixture::named("outage.csv").ingest_into(&store);
        for what in ["seconds", "errors", "cpu", "summary", "labels", "rejects", "samples"] {
            let (names, rows) = exported(&store, &key, what, &[]);
            let csv = store.export(&key, what, "csv", &[]);
            let mut reader = csv::Reader::from_reader(csv.as_bytes());
            assert_eq!(names, reader.headers().unwrap().iter().collect::<Vec<_>>(), "{what}");
            let expected: Vec<Vec<String>> = reader.deserialize().map(Result::unwrap).collect();
            let rows: Vec<Vec<String>> = rows.iter().map(fields).collect();
            assert!(rows == expected, "{what} in {}", store.flag[0]);
        }
    }
}

#[test]
fn samples_are_those_of_the_seconds_and_the_label_asked_for() {
    for store in Store::each() {
        let key = Fixture::named("Results-flaky-8181.csv").ingest_into(&store);
        let view = ["--from", "2", "--to", "5", "--label", "Größe/配额 plain"];
        let (names, rows) = exported(&store, &key, "samples", &view);
        assert_eq!(names[..3], ["t_ms", "label", "elapsed"]);
        let seconds = store.export(&key, "seconds", "csv", &view);
        let requests: usize = crate::support::rows(&seconds)
            .iter()
            .map(|row| row["successes"].parse::<usize>().unwrap() + row["failures"].parse::<usize>().unwrap())
            .sum();
        assert_eq!(rows.len(), requests);
        for row in rows.iter().map(fields) {
            let t_ms: i64 = row[0].parse().unwrap();
            assert!((2000..6000).contains(&t_ms) && row[1] == "Größe/配额 plain", "{row:?}");
        }
    }
}

#[test]
fn parquet_file_goes_to_standard_output_too() {
    let store = Store::embedded();
    let key = Fixture::named("crlf.csv").ingest_into(&store);
    let run = ["export", "--framework", &key.framework, "--test", &key.test];
    let done = store.run(&[&run[..], &["--what", "samples", "--format", "parquet"]].concat());
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.out.starts_with(b"PAR1") && done.out.ends_with(b"PAR1"));
}
