//! Series of the server beside its CPU, in both stores: read, copied, packed, dropped, replaced and refused.

use std::path::Path;

use crate::support::*;
use crate::zips::deflated;

const T0: i64 = 1_795_203_720;

/// A log of ten seconds.
fn log(store: &Store) -> String {
    let mut log = "timeStamp,elapsed,label,success,allThreads\n".to_owned();
    log.extend((0..100).map(|at| format!("{},12,Get,true,1\n", T0 * 1000 + at * 100)));
    store.file("log.csv", log)
}

/// An export of the memory: a reading at each of the ten seconds, and one before them.
fn memory(store: &Store) -> String {
    let rows = (-1..10).map(|second| format!("{},{}\n", T0 + second, 7_798_784 + second * 4096));
    store.file("memory.csv", format!("clock,value\n{}", rows.collect::<String>()))
}

fn key() -> Key {
    Key::new("go", "t")
}

/// Ingests the log with these flags.
fn ingest(store: &Store, flags: &[&str]) -> Done {
    let log = log(store);
    store.run(&[&["ingest", &log, "--framework", "go", "--test", "t", "--replace"], flags].concat())
}

fn series(store: &Store) -> String {
    store.export(&key(), "series", "csv", &[])
}

/// What the export of the memory should be.
fn expected() -> String {
    let row = |second: i64| {
        let of_run = if second < 0 { String::new() } else { second.to_string() };
        format!("memory,bytes,{},{of_run},{}\n", T0 + second, 7_798_784 + second * 4096)
    };
    format!("name,unit,clock,second,value\n{}", (-1..10).map(row).collect::<String>())
}

#[test]
fn series_are_exported_as_they_were_given_and_go_with_their_run() {
    for store in Store::each() {
        let given = format!("memory={}", memory(&store));
        let heat = store.file("heat.csv", format!("{T0},-3.5\n"));
        let heat = format!("heat={heat}");
        ingest(&store, &["--series", &given, "--unit", "bytes"]).said();
        assert_eq!(series(&store), expected());
        let window = store.export(&key(), "series", "csv", &["--from", "2", "--to", "4"]);
        assert_eq!(rows(&window).len(), 3, "{window}");
        let shifted = store.export(&key(), "series", "csv", &["--cpu-offset", "1"]);
        assert_eq!(rows(&shifted)[0]["second"], "0");
        store.run(&["verify", "go_t"]).text();
        // A copy of the run has them too, and so has a packed one.
        let copy = Store::embedded();
        store.run(&["copy", "go_t", "--to", copy.place()]).said();
        assert_eq!(series(&copy), expected());
        let packed = store.folder.path().join("go.run");
        store.run(&["export", "go_t", "--what", "counts", "-o", packed.to_str().unwrap()]).said();
        let taken = Store::embedded();
        taken.run(&["ingest", packed.to_str().unwrap()]).said();
        assert_eq!(series(&taken), expected());
        taken.run(&["verify", "go_t"]).text();
        // Several, each with its unit; then none.
        let both = ["--series", &given, "--unit", "bytes", "--series", &heat, "--unit", "°C"];
        let said = ingest(&store, &both).said();
        assert_told(&said, &["memory  100.0 % of the seconds", "heat  40.0 % of the seconds"]);
        let text = series(&store);
        assert_eq!(text.lines().nth(1).unwrap(), format!("heat,°C,{T0},0,-3.5"));
        assert_eq!(rows(&text).len(), 12);
        store.run(&["rename", "go_t", "--framework", "nio"]).said();
        assert_eq!(store.export(&Key::new("nio", "t"), "series", "csv", &[]), text);
        store.run(&["drop", "nio_t"]).said();
        ingest(&store, &[]).said();
        assert_eq!(series(&store).lines().count(), 1);
        assert_eq!(store.leftovers(), [""; 0]);
    }
}

#[test]
fn attached_cpu_leaves_the_series_and_their_files() {
    let store = Store::embedded();
    let memory = memory(&store);
    ingest(&store, &["--series", &format!("memory={memory}"), "--unit", "bytes"]).said();
    let cpu = store.file("cpu.csv", format!("clock,value\n{T0},50\n"));
    store.run(&["attach-cpu", "go_t", &cpu]).said();
    assert_eq!(series(&store), expected());
    let run = store.export(&key(), "run", "json", &[]);
    assert_told(&run, &["memory.csv", "\"series\"", "cpu.csv"]);
}

#[test]
fn perfmon_log_gives_the_metric_that_the_series_is_named_after() {
    let store = Store::embedded();
    let line = |label: &str, value: i64| format!("{},{value},{label},,,true\n", T0 * 1000);
    let head = "timeStamp,elapsed,label,responseCode,threadName,success\n";
    let labels = [line("db CPU", 42_500), line("db Memory", 61_250), line("db Network I/O", 7000)].concat();
    let log = store.file("perfmon.csv", format!("{head}{labels}"));
    for (name, value) in [("memory", "61.25"), ("network-io", "7"), ("db-cpu", "42.5")] {
        ingest(&store, &["--series", &format!("{name}={log}"), "--unit", "%"]).said();
        let text = series(&store);
        assert_eq!(text.lines().nth(1).unwrap(), format!("{name},%,{T0},0,{value}"));
    }
    // Without the CPU, it would be a log of requests beside the log.
    let bare = store.file("bare.csv", format!("{head}{}", line("db Memory", 61_250)));
    ingest(&store, &["--series", &format!("rss={bare}"), "--unit", "%"]).said();
    assert!(series(&store).contains("rss,%"));
    let complaint = ingest(&store, &["--series", &format!("rss={log}"), "--unit", "%"]).complaint(3);
    assert_told(&complaint, &["db Memory", "several series", "Name it"]);
    assert!(series(&store).contains("rss,%"), "the stored run stays");
}

#[test]
fn series_that_can_not_be_told_are_refused() {
    let store = Store::embedded();
    let (memory, log) = (memory(&store), log(&store));
    let items = store.file("items.csv", format!("itemid,clock,value\n1,{T0},5\n2,{T0},6\n"));
    let odd = store.file("odd.csv", "what is this\n");
    let given = |name: &str, file: &str| format!("{name}={file}");
    for (flags, code, told) in [
        (vec!["--series", &memory, "--unit", "bytes"], 2, "NAME=FILE"),
        (vec!["--series", &given("memory", &memory)], 2, "--unit"),
        (vec!["--unit", "bytes"], 2, "--series"),
        (vec!["--series", &given("cpu", &memory), "--unit", "bytes"], 2, "not a --series: name their file"),
        (vec!["--series", &given("a b", &memory), "--unit", "bytes"], 2, "letters"),
        (vec!["--series", &given("m", &memory), "--unit", " "], 2, "--unit"),
        (vec!["--series", &given("m", &memory), "--unit", "a", "--unit", "b"], 2, "one unit"),
        (
            vec!["--series", &given("m", &memory), "--series", &given("m", &memory), "--unit", "b"],
            2,
            "two series",
        ),
        (vec!["--series", &given("m", &log), "--unit", "bytes"], 3, "is a log of requests"),
        (vec!["--series", &given("m", &items), "--unit", "bytes"], 3, "items: 1"),
        (vec!["--series", &given("m", &items), "--unit", "bytes"], 3, "--series NAME:ID=FILE"),
        (
            vec!["--series", &given("m:3", &items), "--unit", "bytes"],
            3,
            "no item 3; it has 1 (1 readings), 2",
        ),
        (vec!["--series", &given("m:1", &memory), "--unit", "bytes"], 3, "Leave out the number"),
        (vec!["--series", &given("m:x", &items), "--unit", "bytes"], 2, "not the number of an item"),
        (vec!["--series", &given("m", &odd), "--unit", "bytes"], 3, "odd.csv"),
        (vec!["--series", &given("m", "absent.csv"), "--unit", "bytes"], 1, "absent.csv"),
    ] {
        assert_told(&ingest(&store, &flags).complaint(code), &[told]);
    }
    assert!(store.list().is_empty());
    let folder = Path::new(&log).parent().unwrap().to_str().unwrap();
    let night = ["ingest", folder, "--series", &given("m", &memory), "--unit", "bytes"];
    assert_told(&store.run(&night).complaint(2), &["one run"]);
    // Memory that is given as the CPU is refused, and the remedy is to name it.
    assert_told(
        &ingest(&store, &[&store.file("big.csv", format!("{T0},7798784\n"))]).complaint(3),
        &["--series memory"],
    );
    let early = store.file("early.csv", format!("{},1\n", T0 - 90_000));
    let said = ingest(&store, &["--series", &given("m", &early), "--unit", "bytes"]).said();
    assert_told(&said, &["no reading of the series m"]);
}

#[test]
fn item_of_a_series_is_chosen_by_its_number() {
    let store = Store::embedded();
    let items = format!("itemid,clock,value\n1,{T0},5\n2,{T0},6\n3,{T0},7\n2,{},8\n", T0 + 1);
    let items = store.file("items.csv", items);
    let (memory, swap) = (format!("memory:2={items}"), format!("swap:3={items}"));
    // The CPU's item is another matter.
    ingest(&store, &["--series", &memory, "--series", &swap, "--unit", "bytes", "--cpu-item", "1"]).said();
    let rows = format!("memory,bytes,{T0},0,6\nmemory,bytes,{},1,8\nswap,bytes,{T0},0,7\n", T0 + 1);
    assert_eq!(series(&store), format!("name,unit,clock,second,value\n{rows}"));
}

#[test]
fn all_damage_of_a_series_file_is_kept() {
    let store = Store::embedded();
    let other: String = (0..2000_i64).map(|at| format!("{}\n", at * at * 7919 % 100_003)).collect();
    let readings: String =
        (0..4000).map(|at| format!("{},{}\n", T0 + at, at * at * 7919 % 1_000_003)).collect();
    let mut zip = deflated(&[("other.csv", other.as_bytes()), ("memory.csv", readings.as_bytes())]);
    let name = |zip: &[u8], name: &[u8]| zip.windows(name.len()).position(|part| part == name).unwrap();
    let (first, second) = (name(&zip, b"other.csv") + 9, name(&zip, b"memory.csv") + 10);
    let directory = name(&zip, b"PK\x01\x02");
    let middle = (second + directory) / 2;
    for at in (first..first + 40).chain(middle..middle + 40) {
        zip[at] = 0xff;
    }
    let memory = format!("memory={}", store.file("memory.zip", zip));
    let flags = ["--series", &memory, "--unit", "bytes"];
    ingest(&store, &flags).complaint(3);
    assert!(store.list().is_empty());
    let said = ingest(&store, &[&flags[..], &["--salvage"]].concat()).said();
    let partial: Vec<&str> = said.lines().filter(|line| line.starts_with("warning: partial: ")).collect();
    let [other, memory] = partial.as_slice() else { panic!("{said}") };
    assert_told(other, &["member other.csv", "0 records"]);
    assert_told(memory, &["member memory.csv"]);
    // Both are stored with the run.
    store.run(&["report", "--test", "t", "--format", "svg", "--out", "charts"]).text();
    let page = std::fs::read_to_string(store.folder.path().join("charts/go_t.svg")).unwrap();
    assert_told(&page, &["memory.zip, member other.csv", "memory.zip, member memory.csv"]);
    let kept = rows(&series(&store)).len();
    assert!(kept > 500 && kept < 4000, "{kept}");
}

#[test]
fn several_runs_at_once_make_the_table_of_series() {
    for round in 0..6 {
        for store in Store::each() {
            let (log, memory) = (log(&store), format!("memory={}", memory(&store)));
            let of = |framework: &'static str| ["ingest", &log, "--framework", framework, "--test", "t"];
            // Every other time the schema is there, and only the table is not.
            if round % 2 == 1 {
                store.run(&of("first")).said();
                store.run(&["drop", "first_t"]).said();
            }
            let series = ["--series", &memory, "--unit", "bytes"];
            let frameworks = ["a", "b", "c", "d"];
            let children =
                frameworks.map(|framework| store.spawn(&[&of(framework)[..], &series[..]].concat()));
            for child in children {
                finish(child).said();
            }
            for framework in frameworks {
                let found = store.export(&Key::new(framework, "t"), "series", "csv", &[]);
                assert_eq!(found, expected(), "round {round}, {framework}");
            }
            assert_eq!(store.leftovers(), [""; 0]);
        }
    }
}

#[test]
fn series_are_attached_to_a_stored_run_as_if_given_at_its_ingest() {
    for store in Store::each() {
        let memory = format!("memory={}", memory(&store));
        ingest(&store, &[]).said();
        let samples = store.export(&key(), "samples", "csv", &[]);
        let attach = |flags: &[&str]| store.run(&[&["attach-series", "go_t"], flags].concat());
        let given = ["--series", &memory, "--unit", "bytes"];
        let said = attach(&given).said();
        assert_told(&said, &["attached memory to go_t: 100.0 % of the seconds"]);
        assert_eq!(series(&store), expected());
        assert_told(&store.export(&key(), "run", "json", &[]), &["memory.csv"]);
        // A second of the name is refused, and so is one of another day; a further one joins the first.
        assert_told(&attach(&given).complaint(1), &["has a series memory already", "--replace"]);
        let late = format!("late={}", store.file("late.csv", format!("{},1\n", T0 + 90_000)));
        assert_told(
            &attach(&["--series", &late, "--unit", "x"]).complaint(1),
            &["no reading of the series late"],
        );
        let heat = format!("heat={}", store.file("heat.csv", format!("{T0},-3.5\n")));
        attach(&["--series", &heat, "--unit", "°C"]).said();
        let both = format!("name,unit,clock,second,value\nheat,°C,{T0},0,-3.5\n");
        assert_eq!(series(&store), both.clone() + expected().split_once('\n').unwrap().1);
        attach(&["--series", &heat, "--unit", "°C", "--replace"]).said();
        assert_eq!(series(&store), both);
        assert!(!store.export(&key(), "run", "json", &[]).contains("memory.csv"));
        assert_eq!(store.export(&key(), "samples", "csv", &[]), samples);
        store.run(&["verify", "go_t"]).text();
        attach(&[]).complaint(2);
        assert_eq!(store.leftovers(), [""; 0]);
    }
}
