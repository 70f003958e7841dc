//! The server's series beside its CPU in a comparison.

use serde_json::Value;

use crate::support::*;

const T0: i64 = 1_795_203_720;
const MIB: i64 = 1_048_576;

/// A log of 60 seconds.
fn log(store: &Store) -> String {
    let mut log = "timeStamp,elapsed,label,success,allThreads\n".to_owned();
    log.extend((0..600).map(|at| format!("{},{},Get,true,1\n", T0 * 1000 + at * 100, 12 + at % 7)));
    store.file("log.csv", log)
}

/// An export with a reading every `step` seconds, which scatters about `level` by a tenth of it.
fn export(store: &Store, name: &str, level: i64, step: i64) -> String {
    let scatter = |second: i64| level / 100 * ((second * second * 7 + second * 3) % 11 - 5);
    let rows = (0..60).step_by(step as usize);
    let rows = rows.map(|second| format!("{},{}\n", T0 + second, level + scatter(second)));
    store.file(name, rows.collect::<String>())
}

/// Ingests a run with these series: name, unit and file.
fn ingest(store: &Store, framework: &str, series: &[(&str, &str, &str)], flags: &[&str]) {
    let log = log(store);
    let mut all: Vec<String> =
        ["ingest", &log, "--framework", framework, "--test", "t"].map(str::to_owned).into();
    for (name, unit, file) in series {
        all.extend([
            "--series".to_owned(),
            format!("{name}={file}"),
            "--unit".to_owned(),
            (*unit).to_owned(),
        ]);
    }
    all.extend(flags.iter().map(|flag| (*flag).to_owned()));
    store.run(&all.iter().map(String::as_str).collect::<Vec<_>>()).said();
}

fn row<'a>(rows: &'a [Value], measure: &str, unit: &str) -> &'a Value {
    let mut found = rows.iter().filter(|row| row["measure"] == measure && row["unit"] == unit);
    let row = found.next().unwrap_or_else(|| panic!("no {measure} in {unit}: {rows:?}"));
    assert!(found.next().is_none(), "{measure} is there twice: {rows:?}");
    row
}

#[test]
fn series_of_both_are_compared_and_those_of_one_are_named() {
    let mut both = Vec::new();
    for store in Store::each() {
        let small = export(&store, "small.csv", 10 * MIB, 1);
        let large = export(&store, "large.csv", 13 * MIB, 1);
        let heat = export(&store, "heat.csv", 40, 1);
        let rare = export(&store, "rare.csv", 100, 10);
        let disk = export(&store, "disk.csv", 7000, 1);
        ingest(&store, "go", &[("memory", "bytes", &small), ("heat", "C", &heat), ("rare", "%", &rare)], &[]);
        let of_b = [
            ("memory", "bytes", &*large),
            ("heat", "K", &heat),
            ("rare", "%", &rare),
            ("disk", "B/s", &disk),
        ];
        ingest(&store, "nio", &of_b, &[]);
        let rows = store.run(&["compare", "go_t", "nio_t", "--format", "json"]).rows();
        let mean = row(&rows, "series memory", "bytes");
        assert_eq!((text(mean, "outcome"), text(mean, "noise")), ("more (these runs)", "seconds"), "{mean}");
        let percent = mean["change_percent"].as_f64().unwrap();
        assert!((percent - 30.0).abs() < 0.1, "{mean}");
        let low = mean["difference_low"].as_f64().unwrap();
        assert!(low > 2.5 * MIB as f64 && low < 3.0 * MIB as f64, "{mean}");
        // The greatest value is told, but the seconds of one run do not tell how it scatters.
        let most = row(&rows, "series_max memory", "bytes");
        let greatest = |level: i64| (level * MIB + level * MIB / 100 * 5) as f64;
        assert_eq!((most["a"].as_f64(), most["b"].as_f64()), (Some(greatest(10)), Some(greatest(13))));
        assert_eq!((text(most, "outcome"), &most["p"]), ("unknown", &Value::Null));
        // Six readings do not show their scatter.
        let few = row(&rows, "series rare", "%");
        assert_eq!((text(few, "outcome"), few["change_percent"].as_f64()), ("unknown", Some(0.0)));
        // What is not on both sides stands there, without a value on one of them.
        for (measure, unit, there) in
            [("series heat", "C", "a"), ("series_max heat", "K", "b"), ("series disk", "B/s", "b")]
        {
            let row = row(&rows, measure, unit);
            let values = (row["a"].is_number(), row["b"].is_number());
            assert_eq!(values, (there == "a", there == "b"), "{row}");
            assert_eq!(text(row, "outcome"), "unknown");
        }
        let told = store.run(&["compare", "go_t", "nio_t"]).err;
        assert_told(
            &told,
            &[
                "series heat in C is not compared with nio_t: not in all runs of nio_t",
                "series heat in K is not compared with nio_t: not in all runs of go_t",
                "series disk in B/s",
                "12 readings",
            ],
        );
        let html = store.run(&["compare", "go_t", "nio_t", "--format", "html"]).text();
        assert_told(&html, &["series memory", "MiB", "not in all runs of go_t"]);
        both.push(rows);
    }
    assert!(both.iter().all(|one| *one == both[0]), "the stores compare differently");
}

#[test]
fn repeats_tell_how_a_greatest_value_scatters() {
    let store = Store::embedded();
    for (framework, levels) in [("go", [100, 101]), ("nio", [130, 131])] {
        for level in levels {
            let memory = export(&store, "memory.csv", level * MIB, 1);
            ingest(&store, framework, &[("memory", "bytes", &memory)], &["--append-repeat"]);
        }
    }
    let rows = store.run(&["compare", "go_t", "nio_t", "--format", "json"]).rows();
    for measure in ["series memory", "series_max memory"] {
        let row = row(&rows, measure, "bytes");
        assert_eq!((text(row, "noise"), text(row, "outcome")), ("repeats", "more"), "{row}");
    }
    // A repeat without the series: the side has no mean of it.
    ingest(&store, "nio", &[], &["--append-repeat"]);
    let rows = store.run(&["compare", "go_t", "nio_t", "--format", "json"]).rows();
    let row = row(&rows, "series memory", "bytes");
    assert_eq!((row["a"].is_number(), row["b"].is_number(), text(row, "outcome")), (true, false, "unknown"));
}
