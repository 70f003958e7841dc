//! The axes of the charts.

use super::reader::{Reader, agrees};
use super::report;
use crate::support::*;

/// A log of a minute with 40 requests a second of up to 40 ms, and two of 2,490 ms in the last second.
fn with_tail() -> String {
    let start = 1_795_203_738_000_i64;
    let even = (0..2400).map(|at| format!("{},{},Get,true\n", start + at * 25, 20 + at % 21));
    let tail = (0..2).map(|at| format!("{},2490,Get,true\n", start + 59_000 + at));
    "timeStamp,elapsed,label,success\n".to_owned() + &even.chain(tail).collect::<String>()
}

#[test]
fn axis_follows_most_seconds_and_marks_what_lies_beyond_and_the_average_is_drawn() {
    let store = Store::embedded();
    let log = store.file("tail.csv", with_tail());
    store.run(&["ingest", &log, "--framework", "go", "--test", "tail"]).said();
    let Some(mut reader) = Reader::open(&report(&store, "tail")) else { return };
    reader.see_run();
    let texts = reader.browser.evaluate(
        "(() => {
            const chart = [...document.querySelectorAll('.chart')].find((chart) => chart.querySelector('h3').textContent.startsWith('Response time, ms'));
            const of = (kind) => [...chart.querySelectorAll(kind)].map((text) => text.textContent);
            return [of('text.tick'), of('text.remark'), chart.querySelectorAll('.beyond').length];
        })()",
    );
    // The time axis has texts, too, with colons.
    let ticks = texts[0].as_array().unwrap().iter().filter_map(|text| text.as_str().unwrap().parse().ok());
    let ticks: Vec<f64> = ticks.collect();
    assert!(ticks.len() > 2 && ticks.iter().all(|tick| *tick <= 100.0), "{texts}");
    let remark = texts[1][0].as_str().unwrap();
    assert!(remark.starts_with("▲ beyond the axis: p99 to ") && texts[2] == 1, "{texts}");
    let summary = store.summary(&Key::new("go", "tail"), &[]);
    assert_eq!(
        reader.browser.number("document.querySelectorAll('.time-charts .plot path.average').length"),
        1.0
    );
    agrees(&reader.told()["successes"], &summary["throughput"]);
}
