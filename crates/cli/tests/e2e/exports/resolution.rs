//! Runs with times finer than a ms, in both stores, in exports and in the database.

use std::fs::File;

use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::lake::engines::{assert_near, block, exported, has, printed};
use crate::postgres::psql;
use crate::support::*;

/// The successes' response times of the log, sorted, and its percentiles in ms by `percentile_cont`.
fn expected() -> (Vec<i64>, [f64; 3]) {
    let log = std::fs::read_to_string(fixture("other/h2load/failures.log")).unwrap();
    let fields = log.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let mut times: Vec<i64> =
        fields.filter(|fields| fields[1] == "200").map(|fields| fields[2].parse().unwrap()).collect();
    times.sort_unstable();
    let percentile = |share: f64| {
        let place = share * (times.len() - 1) as f64;
        let (low, high) = (times[place.floor() as usize] as f64, times[place.ceil() as usize] as f64);
        (low + (high - low) * place.fract()) / 1000.0
    };
    let percentiles = [0.5, 0.95, 0.99].map(percentile);
    (times, percentiles)
}

fn ingested(store: &Store) -> Key {
    let log = fixture("other/h2load/failures.log");
    let said = store.run(&["ingest", log.to_str().unwrap(), "--framework", "go", "--test", "t"]).said();
    assert_told(&said, &["p50 5.452 ms", "in units of 1us"]);
    Key::new("go", "t")
}

#[test]
fn exports_are_in_ms_and_exact_in_both_stores() {
    let (times, percentiles) = expected();
    for store in Store::each() {
        let key = ingested(&store);
        let summary = store.summary(&key, &[]);
        for (name, expected) in ["p50", "p95", "p99"].iter().zip(percentiles) {
            assert!((summary[name].as_f64().unwrap() - expected).abs() < 1e-9, "{name}: {summary}");
        }
        let ms = |time: i64| time as f64 / 1000.0;
        assert_eq!(summary["elapsed_min"], ms(times[0]));
        assert_eq!(summary["elapsed_max"], ms(times[times.len() - 1]));
        let samples = rows(&store.export(&key, "samples", "csv", &[]));
        let mut found: Vec<i64> = samples
            .iter()
            .filter(|row| row["success"] == "true")
            .map(|row| (row["elapsed"].parse::<f64>().unwrap() * 1000.0).round() as i64)
            .collect();
        found.sort_unstable();
        assert_eq!(found, times);
        let goal = store.summary(&key, &["--within", "5ms"]);
        let within = times.iter().filter(|time| **time <= 5000).count() as f64 / 899.0 * 100.0;
        assert!((goal["within_5ms_percent"].as_f64().unwrap() - within).abs() < 1e-9, "{goal}");
        store.run(&["verify"]).text();
    }
}

#[test]
fn stores_and_packed_runs_keep_the_unit() {
    const TABLES: [&str; 5] = ["seconds", "labels", "summary", "errors", "phases"];
    let here = Store::embedded();
    let key = ingested(&here);
    let all = |store: &Store| TABLES.map(|what| store.export(&key, what, "json", &[]));
    here.run(&["export", "go_t", "--what", "counts", "-o", "go.run"]).said();
    let packed = here.folder.path().join("go.run");
    for there in Store::each() {
        let to = if there.is_database() { "--to-database" } else { "--to" };
        assert_told(&here.run(&["copy", to, there.place()]).said(), &["read back the same"]);
        assert_eq!(all(&there), all(&here));
        assert_eq!(there.list(), here.list());
        let samples = |store: &Store| store.export(&key, "samples", "csv", &[]);
        assert!(samples(&there) == samples(&here));
    }
    let third = Store::embedded();
    third.run(&["ingest", packed.to_str().unwrap()]).said();
    assert_eq!(all(&third), all(&here));
}

#[test]
fn database_tells_the_unit_and_its_views_ms() {
    let Some(store) = Store::database() else { return };
    let key = ingested(&store);
    let ask = |sql: &str| psql(store.place(), sql);
    assert_eq!(ask("select resolution_us from perfpipe.runs"), "1");
    let types = "select string_agg(format_type(atttypid, atttypmod), ' ') from pg_attribute
       where attrelid = 'perfpipe.go_t'::regclass and attname in ('elapsed', 'latency', 'connect')";
    assert_eq!(ask(types), "bigint bigint bigint");
    let percentiles = |of: &str, from: &str| {
        let sql = format!(
            "select percentile_cont(array[0.5, 0.95, 0.99]) within group (order by {of}) from {from} where success"
        );
        let text = ask(&sql);
        let numbers = text.trim_matches(['{', '}']).split(',').map(|number| number.parse::<f64>().unwrap());
        numbers.collect::<Vec<_>>()
    };
    let counted = percentiles("elapsed_ms", "perfpipe.elapsed_counts, generate_series(1, count)");
    let sampled = percentiles("elapsed / (1000.0 / resolution_us)", "perfpipe.go_t, perfpipe.runs");
    let summary = store.summary(&key, &[]);
    for (at, name) in ["p50", "p95", "p99"].iter().enumerate() {
        let ours = summary[name].as_f64().unwrap();
        assert!((counted[at] - ours).abs() < 1e-9 && (sampled[at] - ours).abs() < 1e-9, "{name}");
    }
    let mean: f64 = ask("select sum(successes * elapsed_mean) / sum(successes) from perfpipe.per_second")
        .parse()
        .unwrap();
    assert!((mean - summary["elapsed_mean"].as_f64().unwrap()).abs() < 1e-9);
}

/// A schema that lacks the column and has the views of before gets both with the next run.
#[test]
fn earlier_schema_gets_the_column_and_the_views() {
    let Some(store) = Store::database() else { return };
    let older = Fixture::named("outage.csv").ingest_into(&store);
    let before = store.export(&older, "summary", "csv", &[]);
    let views = "drop view perfpipe.elapsed_counts, perfpipe.per_second;
        alter table perfpipe.runs drop column resolution_us;
        create view perfpipe.elapsed_counts as select r.framework, r.test, r.repeat, s.second, s.label, s.success,
          s.transaction, pair.elapsed, pair.count, s.run from perfpipe.runs r join perfpipe.seconds s using (run)
          cross join lateral unnest(s.elapsed, s.counts) as pair (elapsed, count)";
    psql(store.place(), views);
    assert_eq!(store.export(&older, "summary", "csv", &[]), before, "it is read as it is");
    ingested(&store);
    let units = psql(
        store.place(),
        "select string_agg(coalesce(resolution_us::text, '-'), ' ' order by t0) from perfpipe.runs",
    );
    assert_eq!(units.split(' ').filter(|unit| *unit == "1").count(), 1, "{units}");
    assert_eq!(
        psql(store.place(), "select count(*) > 0 from perfpipe.elapsed_counts where elapsed_ms < 10"),
        "t"
    );
    assert_eq!(store.export(&older, "summary", "csv", &[]), before);
}

/// Logs of each unit of times: file, unit in µs, flags.
const UNITS: [(&str, &str, &[&str]); 4] = [
    ("Results-flaky-8181.csv", "1000", &[]),
    ("other/hey/clean.csv", "100", &[]),
    ("other/k6/metrics.csv.gz", "10", &["--resolution", "10us"]),
    ("other/k6/metrics.csv.gz", "1", &[]),
];

/// A store with a run of each unit: the framework is `in` and the unit.
fn all_units(store: &Store) -> Vec<Key> {
    let ingest = |(log, unit, flags): (&str, &str, &[&str])| {
        let (log, key) = (fixture(log), Key::new(&format!("in{unit}"), "t"));
        let run = ["ingest", log.to_str().unwrap(), "--framework", &key.framework, "--test", &key.test];
        store.run(&[&run[..], flags].concat()).said();
        key
    };
    UNITS.into_iter().map(ingest).collect()
}

/// The modules that the scripts of `docs/reference/parquet.md` need, the first line of each, and how it names a run of the
/// test `t`.
const SCRIPTS: [(&str, &str, &str); 2] =
    [("duckdb", "import duckdb", ",t,1,"), ("polars", "import polars as pl", "+t,")];

#[test]
fn queries_of_a_folder_are_in_ms_for_runs_of_every_unit() {
    let page = include_str!("../../../../../docs/reference/parquet.md");
    let store = Store::embedded();
    let keys = all_units(&store);
    for (module, first, test) in SCRIPTS {
        if !has(module) {
            continue;
        }
        let script = block(page, first).replace("perfpipe-data", store.place());
        let rows = printed(&format!("{script}\nfor row in rows: print(*row, sep=',')\n"), &[]);
        for key in &keys {
            let begin = format!("{}{test}", key.framework);
            let of_run = rows.lines().filter_map(|row| row.strip_prefix(&begin));
            let found: Vec<Vec<f64>> =
                of_run.map(|row| row.split(',').map(|value| value.parse().unwrap()).collect()).collect();
            assert!(found.len() > 1);
            assert_near(&format!("{module} {begin}"), &found, &exported(&store, key));
        }
    }
}

#[test]
fn query_of_a_database_is_in_ms_for_runs_of_every_unit() {
    let page = include_str!("../../../../../docs/reference/postgres.md");
    let Some(store) = Store::database() else { return };
    let first = "select percentile_cont(array[0.5, 0.95, 0.99]) within group (order by elapsed / (1000 / coalesce(resolution_us, 1000))::float8)";
    let asked = block(page, first);
    psql(
        store.place(),
        block(page, "create or replace function samples_ms(of_run text)")
            .split_inclusive("$$;")
            .next()
            .unwrap(),
    );
    let by_function = "select percentile_cont(array[0.5, 0.95, 0.99]) within group (order by elapsed_ms)
        from samples_ms('perfectnio_2048') where success and not transaction";
    for (key, (_, unit, _)) in all_units(&store).iter().zip(UNITS) {
        let table = format!("{}_{}", key.framework, key.test);
        let summary = store.summary(key, &[]);
        let expected = ["p50", "p95", "p99"].map(|name| summary[name].as_f64().unwrap());
        for sql in [&asked, by_function] {
            let found = psql(store.place(), &sql.replace("perfectnio_2048", &table));
            let found: Vec<f64> =
                found.trim_matches(['{', '}']).split(',').map(|value| value.parse().unwrap()).collect();
            assert_near(&table, &[found], &[expected.to_vec()]);
        }
        let comment = format!("select col_description('perfpipe.{table}'::regclass, 2)");
        let told = psql(store.place(), &comment);
        let is_told = told.contains(&format!("in units of {unit} µs: divided by "));
        assert_eq!(is_told, unit != "1000", "{told}");
    }
}

/// The metadata of a Parquet file that is perfpipe's own.
fn notes(path: &std::path::Path) -> Vec<(String, String)> {
    let file = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let notes = file.metadata().file_metadata().key_value_metadata().cloned().unwrap_or_default();
    let own = notes.into_iter().filter(|note| note.key.starts_with("perfpipe."));
    own.map(|note| (note.key, note.value.unwrap())).collect()
}

/// All Parquet files in a folder and those below.
fn parquet_files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, mut files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    files.retain(|path| path.extension().is_some_and(|ending| ending == "parquet"));
    files.extend(folders.iter().flat_map(|folder| parquet_files(folder)));
    files
}

#[test]
fn every_parquet_file_tells_its_run_and_its_unit() {
    for store in [Store::embedded(), Store::lake()] {
        for key in all_units(&store) {
            store.run(&["rename", &format!("{}_t", key.framework), "--test", "new"]).said();
        }
        let place = std::path::PathBuf::from(store.place().trim_start_matches("file://"));
        let files = parquet_files(&place);
        assert!(files.len() >= UNITS.len() * 5, "{files:?}");
        let mut seen = 0;
        for path in files {
            let told = notes(&path);
            let [framework, test, repeat, t0_ms, unit] = told.as_slice() else {
                panic!("{path:?}: {told:?}")
            };
            assert_eq!(framework.1, format!("in{}", unit.1));
            assert_eq!((&*repeat.0, &*repeat.1, &*t0_ms.0), ("perfpipe.repeat", "1", "perfpipe.t0_ms"));
            // In a lake the files of the run by its former name stay for a while.
            seen += usize::from(test.1 == "new");
            let runs = store.list();
            let run = runs.iter().find(|run| text(run, "framework") == framework.1).unwrap();
            assert_eq!(count(run, "t0_ms").to_string(), t0_ms.1);
        }
        assert!(seen >= UNITS.len() * 5);
        let out = store.folder.path().join("out.parquet");
        for what in ["samples", "seconds"] {
            store
                .run(&[
                    "export",
                    "in1_new",
                    "--what",
                    what,
                    "--format",
                    "parquet",
                    "-o",
                    out.to_str().unwrap(),
                ])
                .said();
            assert_eq!(notes(&out), [("perfpipe.resolution_us".to_owned(), "1000".to_owned())], "{what}");
        }
    }
}
