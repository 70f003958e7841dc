//! Other programs read the tables: the percentiles of each second are those that perfpipe exports.

use std::collections::HashMap;
use std::process::Command;

use super::tables::folder;
use crate::postgres::required::skip;
use crate::support::*;

/// The queries of the documentation, each with the program that runs it.
const PAGE: &str = include_str!("../../../../../docs/guide/lake.md");

/// Loads DuckDB's extension from its package, not from the network.
const LOADED: &str = "import duckdb, duckdb_extension_delta, pathlib
folder = pathlib.Path(duckdb_extension_delta.__file__).parent
duckdb.load_extension(str(next(folder.rglob('delta.duckdb_extension'))))
";

/// The programs: the first line of the block of each on the page, the modules that it needs, and what loads them.
pub(super) const ENGINES: [(&str, (&str, &str)); 2] = [
    ("import duckdb", ("duckdb, duckdb_extension_delta", LOADED)),
    ("import polars as pl", ("polars, deltalake", "")),
];

/// Returns the block of the page that begins with this line, without its fences.
fn block(first: &str) -> &'static str {
    let (_, rest) =
        PAGE.split_once(&format!("\n{first}\n")).unwrap_or_else(|| panic!("no block begins with {first}"));
    rest.split_once("\n```").unwrap().0
}

/// Runs a script of the page on the tables; `None` where the program is not installed.
pub(super) fn run(store: &Store, first: &str, (module, before): (&str, &str)) -> Option<Vec<Vec<f64>>> {
    let is_there = Command::new("python3").args(["-c", &format!("import {module}")]).output();
    if !is_there.is_ok_and(|done| done.status.success()) {
        skip("LAKE_ENGINES", format!("Python has no module {module}"));
        return None;
    }
    let script = block(first).replace("s3://bucket/runs", folder(store).to_str().unwrap());
    let script = format!("{before}{first}\n{script}\nfor row in rows: print(*row, sep=',')\n");
    Some(numbers(&script, &[]))
}

/// Runs a script of Python, and returns the numbers that it prints, by lines.
fn numbers(script: &str, arguments: &[&str]) -> Vec<Vec<f64>> {
    let done = Command::new("python3").args(["-c", script]).args(arguments).output().unwrap();
    assert!(done.status.success(), "{}\n{script}", String::from_utf8_lossy(&done.stderr));
    let rows = String::from_utf8(done.stdout).unwrap();
    rows.lines().map(|line| line.split(',').map(|value| value.parse().unwrap()).collect()).collect()
}

/// The seconds of a run with their percentiles, as perfpipe exports them; those without a success are left out.
pub(super) fn exported(store: &Store, key: &Key) -> Vec<Vec<f64>> {
    let seconds = rows(&store.export(key, "seconds", "csv", &["--percentiles", "50,95"]));
    let row = |row: &HashMap<String, String>| -> Option<Vec<f64>> {
        ["second", "p50", "p95"].iter().map(|column| row[*column].parse().ok()).collect()
    };
    seconds.iter().filter_map(row).collect()
}

/// Runs SQL of the page in Spark.
const SPARK: &str = concat!(
    include_str!("spark.py"),
    "import sys
rows = session('local[1]', {}).sql(sys.argv[1].rstrip(';')).collect()
for row in rows: print(*row, sep=',')
"
);

/// Runs SQL of the page in ClickHouse.
const CLICKHOUSE: &str = "import sys, json, chdb
for line in chdb.query(sys.argv[1], 'JSONCompactEachRow').bytes().decode().splitlines():
    second, percentiles = json.loads(line)
    print(second, *percentiles, sep=',')
";

/// The lake of the tests of this file, and what perfpipe exports of its run `go_flaky`.
fn filled(store: &Store) -> Vec<Vec<f64>> {
    Fixture::named("outage.csv").ingest_into(store);
    let log = "timeStamp,elapsed,label,success\n1795203738615,12,Get,true\n";
    let log = store.file("log.csv", log);
    let ingest = ["ingest", &log, "--framework", "o'dd +%20", "--test", "a/b=c"];
    // An earlier generation is no part of any table.
    store.run(&ingest).said();
    store.run(&ingest).said();
    let flaky = fixture("Results-flaky-8181.csv");
    store.run(&["ingest", flaky.to_str().unwrap(), "--framework", "go", "--test", "flaky"]).said();
    let expected = exported(store, &Key::new("go", "flaky"));
    assert!(expected.len() > 10);
    expected
}

fn assert_near(engine: &str, found: &[Vec<f64>], expected: &[Vec<f64>]) {
    assert_eq!(found.len(), expected.len(), "{engine}");
    for (found, expected) in found.iter().zip(expected) {
        let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3);
        assert!(near, "{engine}: {found:?} and {expected:?}");
    }
}

#[test]
fn percentiles_of_each_second_are_those_of_perfpipe() {
    // polars does not find tables in a folder with a space in its path.
    let home = tempfile::tempdir().unwrap();
    let store = Store::at(["--store".into(), format!("file://{}/store", home.path().display())]);
    let expected = filled(&store);
    for (first, engine) in ENGINES {
        let Some(found) = run(&store, first, engine) else { continue };
        assert_near(first, &found, &expected);
    }
}

#[test]
#[ignore = "needs Spark, ClickHouse and versitygw: .ci/long bucket"]
fn percentiles_by_spark_and_clickhouse_are_those_of_perfpipe() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::at(["--store".into(), format!("file://{}/store", home.path().display())]);
    let expected = filled(&store);
    let first = "SELECT second, percentile(elapsed, 0.5, n) AS p50, percentile(elapsed, 0.95, n) AS p95";
    let sql =
        format!("{first}\n{}", block(first)).replace("s3a://bucket/runs", folder(&store).to_str().unwrap());
    assert_near("Spark", &numbers(SPARK, &[&sql]), &expected);
    let server = BucketServer::versitygw();
    let place = format!("{}/runs", server.new_bucket());
    let flag = ["--store".into(), format!("s3://{place}")];
    let store = Store { environment: server.environment(), ..Store::at(flag) };
    assert_eq!(filled(&store), expected);
    let first = "SELECT intDiv(t_ms, 1000) AS second, quantilesExactInclusive(0.5, 0.95)(elapsed)";
    let url = |table: &str| format!("'https://bucket.s3.amazonaws.com/runs/{table}'");
    let keys = "'key-of-the-tests', 'secret-of-the-tests'";
    let own = |table: &str| format!("'http://{}/{place}/{table}', {keys}", server.host);
    let mut sql = format!("{first}\n{}", block(first));
    for table in ["samples", "runs"] {
        sql = sql.replace(&url(table), &own(table));
    }
    assert_near("ClickHouse", &numbers(CLICKHOUSE, &[&sql]), &expected);
}
