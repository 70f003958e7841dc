//! The axes of the charts.

use super::reader::Reader;
use super::report;
use crate::support::*;

/// A log of a minute with 40 requests a second of up to 40 ms, and two of 2,490 ms in the last second.
fn with_tail() -> String {
    let start = 1_795_203_738_000_i64;
    let even = (0..2400).map(|at| format!("{},{},Get,true\n", start + at * 25, 20 + at % 21));
    let tail = (0..2).map(|at| format!("{},2490,Get,true\n", start + 60_000 + at));
    "timeStamp,elapsed,label,success\n".to_owned() + &even.chain(tail).collect::<String>()
}

#[test]
fn axis_follows_the_seconds_with_enough_requests_and_marks_what_lies_beyond() {
    let store = Store::embedded();
    let log = store.file("tail.csv", with_tail());
    store.run(&["ingest", &log, "--framework", "go", "--test", "tail"]).said();
    let Some(mut reader) = Reader::open(&report(&store, "tail")) else { return };
    reader.see(0);
    let charts = "[...document.querySelectorAll('#live-0 .chart')]";
    let chart = format!(
        "{charts}.find((chart) => chart.querySelector('h4').textContent.startsWith('Response time (ms)'))"
    );
    let texts = reader.browser.evaluate(&format!(
        "new Promise((done) => {{
            const chart = {chart};
            chart.scrollIntoView();
            const of = (kind) => [...chart.querySelectorAll(kind)].map((text) => text.textContent);
            const look = () => chart.querySelector('.border') ? done([of('text.up'), of('text.end'), chart.querySelectorAll('.beyond').length]) : setTimeout(look, 20);
            look();
        }})"
    ));
    // A phase's name stands upright too.
    let ticks = texts[0].as_array().unwrap().iter().filter_map(|text| text.as_str().unwrap().parse().ok());
    let ticks: Vec<f64> = ticks.collect();
    assert!(ticks.iter().all(|tick| *tick <= 100.0) && ticks.contains(&40.0), "{texts}");
    assert_eq!(texts[1], serde_json::json!(["▲ few requests, up to 2,490"]));
    assert!(texts[2].as_u64() > Some(0));
}

#[test]
fn chart_of_requests_has_the_line_of_the_average() {
    let store = Store::embedded();
    let log = store.file("tail.csv", with_tail());
    store.run(&["ingest", &log, "--framework", "go", "--test", "tail"]).said();
    let summary = rows(&store.export(&Key::new("go", "tail"), "summary", "csv", &[])).remove(0);
    let throughput: f64 = summary["throughput"].parse().unwrap();
    let Some(mut reader) = Reader::open(&report(&store, "tail")) else { return };
    reader.see(0);
    let average = reader.browser.evaluate(
        "(() => {
            const line = document.querySelector('#live-0 path.average');
            const told = [...line.closest('svg').querySelectorAll('text')].map((text) => text.textContent);
            return told.find((text) => text.startsWith('average '));
        })()",
    );
    let average = average.as_str().unwrap();
    let told: f64 = average.trim_start_matches("average ").trim_end_matches("/s").parse().unwrap();
    assert!((told - throughput).abs() < 0.01 * throughput, "{average}, {throughput}");
}
