//! Other programs read the tables: the percentiles of each second are those that perfpipe exports.

use std::collections::HashMap;
use std::process::Command;

use super::tables::{columns, folder};
use crate::postgres::required::skip;
use crate::stores::earlier_versions::copy;
use crate::support::*;

/// The queries of the documentation, each with the program that runs it.
const PAGE: &str = include_str!("../../../../../docs/guide/lake.md");

/// Loads DuckDB's extension from its package, not from the network.
const LOADED: &str = "import duckdb, duckdb_extension_delta, pathlib
folder = pathlib.Path(duckdb_extension_delta.__file__).parent
duckdb.load_extension(str(next(folder.rglob('delta.duckdb_extension'))))
";

/// The programs: the first line of the block of each on the page, the modules that it needs, and what loads them.
pub(crate) const ENGINES: [(&str, (&str, &str)); 2] = [
    ("import duckdb", ("duckdb, duckdb_extension_delta", LOADED)),
    ("import polars as pl", ("polars, deltalake", "")),
];

/// Returns the block of a page that begins with this line, without its fences.
pub(crate) fn block(page: &str, first: &str) -> String {
    let (_, rest) =
        page.split_once(&format!("\n{first}\n")).unwrap_or_else(|| panic!("no block begins with {first}"));
    format!("{first}\n{}", rest.split_once("\n```").unwrap().0)
}

/// Returns true if Python has these modules; a test that needs them is skipped otherwise.
pub(crate) fn has(modules: &str) -> bool {
    let found = Command::new("python3").args(["-c", &format!("import {modules}")]).output();
    let is_there = found.is_ok_and(|done| done.status.success());
    if !is_there {
        skip("LAKE_ENGINES", format!("Python has no module {modules}"));
    }
    is_there
}

/// Runs a script of the page on the tables; `None` where the program is not installed.
pub(super) fn run(store: &Store, first: &str, engine: (&str, &str)) -> Option<Vec<Vec<f64>>> {
    run_for(store, ("go", "flaky"), first, engine)
}

/// The same for another run than the page's.
fn run_for(
    store: &Store,
    (framework, test): (&str, &str),
    first: &str,
    (module, before): (&str, &str),
) -> Option<Vec<Vec<f64>>> {
    let script = block(PAGE, first).replace("s3://bucket/runs", folder(store).to_str().unwrap());
    let script = script.replace("'go'", &format!("'{framework}'")).replace("'flaky'", &format!("'{test}'"));
    let script =
        script.replace("\"go\"", &format!("\"{framework}\"")).replace("\"flaky\"", &format!("\"{test}\""));
    let script = format!("{before}{script}\nfor row in rows: print(*row, sep=',')\n");
    has(module).then(|| numbers(&script, &[]))
}

/// Runs a script of Python, and returns the numbers that it prints, by lines.
fn numbers(script: &str, arguments: &[&str]) -> Vec<Vec<f64>> {
    let rows = printed(script, arguments);
    rows.lines().map(|line| line.split(',').map(|value| value.parse().unwrap()).collect()).collect()
}

/// Runs a script of Python, and returns what it prints.
pub(crate) fn printed(script: &str, arguments: &[&str]) -> String {
    let done = Command::new("python3").args(["-c", script]).args(arguments).output().unwrap();
    assert!(done.status.success(), "{}\n{script}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// The seconds of a run with their percentiles, as perfpipe exports them; those without a success are left out.
pub(crate) fn exported(store: &Store, key: &Key) -> Vec<Vec<f64>> {
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
    // Times in µs.
    let fine = fixture("other/k6/metrics.csv.gz");
    store.run(&["ingest", fine.to_str().unwrap(), "--framework", "k6", "--test", "flaky"]).said();
    let expected = exported(store, &Key::new("go", "flaky"));
    assert!(expected.len() > 10);
    expected
}

pub(crate) fn assert_near(engine: &str, found: &[Vec<f64>], expected: &[Vec<f64>]) {
    assert_eq!(found.len(), expected.len(), "{engine}");
    for (found, expected) in found.iter().zip(expected) {
        let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9 * b.abs().max(1.0));
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
        let fine = exported(&store, &Key::new("k6", "flaky"));
        assert_near(first, &run_for(&store, ("k6", "flaky"), first, engine).unwrap(), &fine);
    }
}

/// Prints the number of samples of each run by the unit that their own column has: by DuckDB, polars and delta-rs.
const BY_UNIT: &str = "
import os
from collections import Counter
import deltalake, polars as pl
runs = pl.scan_delta(f'{lake}/runs').select('generation', 'framework', 'test')
for table in ['samples', 'seconds']:
    unit = f\"SELECT framework, test, resolution_us FROM delta_scan('{lake}/{table}')\"
    found = [Counter(duckdb.sql(unit).fetchall())]
    scan = pl.scan_delta(f'{lake}/{table}').select('generation', 'resolution_us').join(runs, on='generation')
    found.append(Counter(scan.select('framework', 'test', 'resolution_us').collect().rows()))
    query = deltalake.QueryBuilder().register('rows', deltalake.DeltaTable(f'{lake}/{table}'))
    rows = query.execute('SELECT framework, test, resolution_us FROM rows').read_all()
    found.append(Counter(pl.DataFrame(rows).rows()))
    assert found[0] == found[1] == found[2], found
    print(table, sorted((*run, count > 0) for run, count in found[0].items()), flush=True)
# The threads of the three do not end well together.
os._exit(0)
";

/// What this version stores first gives the tables of an earlier one the unit of times; the rows of before have none
/// there, and the queries of the page are right for them too.
#[test]
fn lake_of_an_earlier_version_gets_the_unit_with_its_first_write() {
    let home = tempfile::tempdir().unwrap();
    let lake = Store::at(["--store".into(), format!("file://{}/store", home.path().display())]);
    copy(&fixture("stores/fc8d8c1e/lake"), &folder(&lake));
    for table in ["samples", "seconds"] {
        assert!(!columns(&lake, table).contains(&"resolution_us".to_owned()), "{table}");
    }
    let log = fixture("other/k6/metrics.csv.gz");
    lake.run(&["ingest", log.to_str().unwrap(), "--framework", "new", "--test", "json"]).said();
    for table in ["samples", "seconds"] {
        assert_eq!(columns(&lake, table).last().unwrap(), "resolution_us", "{table}");
    }
    lake.run(&["verify"]).text();
    for (first, engine) in ENGINES {
        for (framework, test) in [("go", "2048"), ("k6", "json"), ("new", "json")] {
            let Some(found) = run_for(&lake, (framework, test), first, engine) else { continue };
            assert_near(first, &found, &exported(&lake, &Key::new(framework, test)));
        }
    }
    if has("duckdb_extension_delta, polars, deltalake") {
        let script = format!("{LOADED}lake = '{}'{BY_UNIT}", folder(&lake).display());
        let of = |table: &str| {
            format!(
                "{table} [('go', '2048', None, True), ('k6', 'json', None, True), ('new', 'json', 1, True)]\n"
            )
        };
        assert_eq!(printed(&script, &[]), ["samples", "seconds"].map(of).concat());
    }
}

#[test]
#[ignore = "needs Spark, ClickHouse and versitygw: .ci/long bucket"]
fn percentiles_by_spark_and_clickhouse_are_those_of_perfpipe() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::at(["--store".into(), format!("file://{}/store", home.path().display())]);
    let expected = filled(&store);
    let first = "SELECT second, percentile(elapsed, 0.5, n) AS p50, percentile(elapsed, 0.95, n) AS p95";
    let sql = block(PAGE, first).replace("s3a://bucket/runs", folder(&store).to_str().unwrap());
    assert_near("Spark", &numbers(SPARK, &[&sql]), &expected);
    let fine = exported(&store, &Key::new("k6", "flaky"));
    assert_near("Spark", &numbers(SPARK, &[&sql.replace("'go'", "'k6'")]), &fine);
    let server = BucketServer::versitygw();
    let place = format!("{}/runs", server.new_bucket());
    let flag = ["--store".into(), format!("s3://{place}")];
    let store = Store { environment: server.environment(), ..Store::at(flag) };
    assert_eq!(filled(&store), expected);
    let first = "SELECT intDiv(t_ms, 1000) AS second, quantilesExactInclusive(0.5, 0.95)(elapsed / (1000 / r.resolution_us))";
    let url = |table: &str| format!("'https://bucket.s3.amazonaws.com/runs/{table}'");
    let keys = "'key-of-the-tests', 'secret-of-the-tests'";
    let own = |table: &str| format!("'http://{}/{place}/{table}', {keys}", server.host);
    let mut sql = block(PAGE, first);
    for table in ["samples", "runs"] {
        sql = sql.replace(&url(table), &own(table));
    }
    assert_near("ClickHouse", &numbers(CLICKHOUSE, &[&sql]), &expected);
    assert_near("ClickHouse", &numbers(CLICKHOUSE, &[&sql.replace("'go'", "'k6'")]), &fine);
}
