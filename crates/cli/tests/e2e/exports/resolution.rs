//! Runs with times finer than a ms, in both stores, in exports and in the database.

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
