//! What the server read of itself while load tools ran, which the time before each command tells.

use super::output;
use crate::support::*;

/// By concurrency, the greatest memory of the server while wrk ran, in bytes, as another program reckoned it.
const GREATEST: [(&str, &str); 9] = [
    ("50", "13492224"),
    ("100", "15216640"),
    ("200", "18640896"),
    ("400", "24801280"),
    ("600", "30945280"),
    ("800", "37048320"),
    ("1000", "42958848"),
    ("1200", "49668096"),
    ("1400", "57335808"),
];

#[test]
fn memory_is_told_by_level_from_files_and_from_both_stores() {
    let memory = format!("memory={}", output("wrk/ladder-memory.csv"));
    let (log, of_memory) = (output("wrk/ladder.log"), ["--series", &memory, "--unit", "bytes"]);
    let mut tables = Vec::new();
    for store in Store::each() {
        let given = [&[log.as_str(), "--framework", "vapor"], &of_memory[..]].concat();
        let of_files = store.run(&[&["sweep", "--format", "csv"], &given[..]].concat()).text();
        store.run(&[&["ingest"], &given[..]].concat()).said();
        let stored = store.run(&["sweep", "--test", "/fib", "--format", "csv"]).text();
        assert_eq!(stored, of_files);
        let levels = rows(&stored);
        for (concurrency, greatest) in GREATEST {
            let level = levels.iter().find(|level| level["concurrency"] == concurrency).unwrap();
            assert_eq!(level["memory_max"], greatest, "{concurrency}");
            assert!(level["memory_mean"].parse::<f64>().unwrap() < greatest.parse().unwrap());
        }
        let point = rows(&super::points(&store, "/fib")).remove(0);
        assert!(
            point["server"].starts_with("memory: mean 1") && point["server"].ends_with(" bytes"),
            "{point:?}"
        );
        let charts = store.folder.path().join("charts");
        let out = charts.to_str().unwrap();
        store.run(&["sweep", "--test", "/fib", "--out", out, "--page-format", "svg", "--quiet"]).text();
        let mut pages = std::fs::read_dir(&charts).unwrap().map(|entry| entry.unwrap().path());
        let page = pages.find(|path| path.display().to_string().contains("vapor_")).unwrap();
        assert!(std::fs::read_to_string(page).unwrap().contains("memory of the server (MiB)"));
        tables.push(stored);
    }
    assert!(tables.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn readings_that_can_not_be_assigned_are_told() {
    let store = Store::embedded();
    let memory = format!("memory={}", output("wrk/ladder-memory.csv"));
    let sweep = |log: &str, more: &[&str]| {
        let given = ["sweep", log, "--framework", "f", "--series", &memory, "--unit", "bytes"];
        store.run(&[&given[..], more].concat())
    };
    let timeless = sweep(&output("wrk/sweep/alpha_c8_r1.txt"), &[]).complaint(1);
    assert_told(&timeless, &["at which its tool started", "date +%s.%N"]);
    // A run at another time, and one that gave up, have no readings.
    let text = std::fs::read_to_string(output("wrk/ladder.log")).unwrap();
    let later = text.replacen("### 17953489", "### 17953999", 1);
    let log = store.file(
        "ladder.log",
        later + "### 1795349030.0 wrk -c 5 http://127.0.0.1:8180/fib\nunable to connect\n",
    );
    let done = sweep(&log, &["--format", "csv"]);
    assert_told(&done.err, &["2 of 10 points have no reading of --series"]);
    assert_eq!(rows(&done.text()).iter().filter(|row| row["memory_max"].is_empty()).count(), 2);
    let idle = store.run(&["sweep", "--test", "/fib", "--series", &memory, "--unit", "bytes"]).complaint(2);
    assert_told(&idle, &["--series", "no FILE is given"]);
}

/// The server's memory grows from 7.8 MB to 57.3 MB over the whole ladder.
#[test]
fn memory_is_inspected_from_its_least_to_its_greatest() {
    let store = Store::embedded();
    let memory = format!("memory={}", output("wrk/ladder-memory.csv"));
    let log = fixture("Results-flaky-8181.csv");
    let given =
        ["inspect", log.to_str().unwrap(), "--series", &memory, "--unit", "bytes", "--format", "json"];
    let series = &store.run(&given).json()["series"][0];
    assert_eq!((&series["min"], &series["max"]), (&7_798_784.0.into(), &57_335_808.0.into()), "{series}");
}
