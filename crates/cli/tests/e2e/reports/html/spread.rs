//! What the report says of the spread of times, of waits, bytes and rates, against the samples and the exports.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::reader::{Reader, agrees};
use super::{ingest_two, report};
use crate::support::*;

type Row = HashMap<String, String>;

/// The run with failures.
fn key() -> Key {
    Key::new("spring", "2048")
}

fn number(row: &Row, column: &str) -> i64 {
    row[column].parse().unwrap()
}

#[test]
fn spread_waits_bytes_and_rates_are_those_of_the_samples() {
    let store = Store::embedded();
    ingest_two(&store);
    let Some(mut reader) = Reader::open(&report(&store, "2048")) else { return };
    reader.see("spring");
    let samples = rows(&store.export(&key(), "samples", "csv", &[]));
    for fold in ["label", "load", "network", "kinds", "figures"] {
        reader.unfold(fold);
    }
    histograms(&mut reader, &samples);
    rates(&mut reader, &store);
    over_time(&mut reader, &samples);
    of_labels(&mut reader, &samples);
    table(&mut reader, &store);
    reader.end();
}

/// Each bar counts the samples between its edges, and all bars together all of them.
fn histograms(reader: &mut Reader, samples: &[Row]) {
    for (title, success) in [("Requests by response time", "true"), ("Failures by response time", "false")] {
        let own: Vec<f64> = samples
            .iter()
            .filter(|row| row["success"] == success)
            .map(|row| number(row, "elapsed") as f64)
            .collect();
        let bars = reader.table(title);
        let mut counted = 0;
        for bar in &bars {
            let low: f64 = bar[0].parse().unwrap();
            let high: f64 = bar[1].parse().unwrap_or(f64::INFINITY);
            let count: usize = bar[2].parse().unwrap();
            assert_eq!(own.iter().filter(|ms| (low..high).contains(ms)).count(), count, "{title}: {bar:?}");
            counted += count;
        }
        assert!((10..=62).contains(&bars.len()), "{bars:?}");
        assert_eq!(counted, own.len(), "{title}");
    }
}

/// The steps of requests per second have the medians of their seconds.
fn rates(reader: &mut Reader, store: &Store) {
    let seconds: Value = serde_json::from_str(&store.export(&key(), "seconds", "json", &[])).unwrap();
    let mut seconds: Vec<&Value> = seconds.as_array().unwrap().iter().collect();
    if store.summary(&key(), &[])["duration"].as_f64().unwrap() < seconds.len() as f64 {
        // The run ends within its last second.
        seconds.pop();
    }
    let steps = reader.table("Response time by requests per second");
    assert!(steps.len() > 1, "{steps:?}");
    for step in steps {
        let edge = |at: usize| step[at].parse::<i64>().unwrap();
        let within = edge(0)..edge(1);
        let rate = |row: &&&Value| within.contains(&(count(row, "successes") + count(row, "failures")));
        let own: Vec<&&Value> = seconds.iter().filter(rate).filter(|row| row["p50"].is_number()).collect();
        assert_eq!(own.len().to_string(), step[2], "{step:?}");
        for (at, percentile) in [(3, "p25"), (4, "p50"), (6, "p95")] {
            let mut values: Vec<f64> = own.iter().map(|row| row[percentile].as_f64().unwrap()).collect();
            values.sort_by(f64::total_cmp);
            let last = values.len() - 1;
            agrees(&step[at], &json!((values[last / 2] + values[last.div_ceil(2)]) / 2.0));
        }
    }
}

fn succeeded_in(samples: &[Row], second: usize) -> impl Iterator<Item = &Row> {
    samples.iter().filter(move |row| row["success"] == "true" && number(row, "t_ms") / 1000 == second as i64)
}

/// The values of the charts in a fold of a second, in their order.
fn course(reader: &mut Reader, fold: &str, second: usize) -> HashMap<String, String> {
    reader.point(second as f64 + 0.5, (0.0, 22.0));
    assert!(reader.second().starts_with(&format!("at second {second}, ")));
    reader.values(&format!("document.querySelectorAll('#at-{fold} .chart-list > div')"))
}

/// Checks a shown number, of which data keep so many digits.
fn near(shown: &str, value: f64, share: f64) {
    let number: f64 = shown.parse().unwrap_or_else(|_| panic!("{shown} for {value}"));
    // Times of 10 ms and more are shown without decimals.
    let digits = shown.split_once('.').map_or(0, |(_, digits)| digits.len()) as i32;
    assert!((number - value).abs() <= share * value + 0.51 * 10_f64.powi(-digits), "{shown} for {value}");
}

/// Waits are means over the successes of a second, traffic is their bytes.
fn waits_are(told: &HashMap<String, String>, own: &[&Row], share: f64) {
    let sum = |column: &str| own.iter().map(|row| number(row, column)).sum::<i64>() as f64;
    for name in ["elapsed", "latency", "connect"] {
        // The course of a label has its response times instead.
        if let Some(shown) = told.get(name) {
            near(shown, sum(name) / own.len() as f64, share);
        }
    }
    near(&told["received"], sum("bytes") / 1000.0, share);
    near(&told["sent"], sum("sent_bytes") / 1000.0, share);
}

fn over_time(reader: &mut Reader, samples: &[Row]) {
    for second in [0, 7, 20] {
        let own: Vec<&Row> = succeeded_in(samples, second).collect();
        waits_are(&course(reader, "network", second), &own, 0.001);
    }
}

/// Each label has its requests, times, waits and bytes, told to three digits.
fn of_labels(reader: &mut Reader, samples: &[Row]) {
    for at in [0, 1] {
        let label = reader.browser.evaluate(&format!(
            "(() => {{
                const select = document.getElementById('label-shown');
                select.value = select.options[{at}].value;
                select.dispatchEvent(new Event('change'));
                return select.selectedOptions[0].textContent;
            }})()"
        ));
        let own: Vec<&Row> =
            succeeded_in(samples, 7).filter(|row| row["label"] == *label.as_str().unwrap()).collect();
        let told = course(reader, "label", 7);
        waits_are(&told, &own, 0.006);
        assert_eq!(told["successes"].parse::<f64>().unwrap(), own.len() as f64);
        near(&told["p50"], median(&own), 0.0);
    }
}

fn median(own: &[&Row]) -> f64 {
    let mut times: Vec<f64> = own.iter().map(|row| number(row, "elapsed") as f64).collect();
    times.sort_by(f64::total_cmp);
    let last = times.len() - 1;
    (times[last / 2] + times[last.div_ceil(2)]) / 2.0
}

/// The tables of labels have the figures of the export, and those of all labels below them.
fn table(reader: &mut Reader, store: &Store) {
    let labels: Value = serde_json::from_str(&store.export(&key(), "labels", "json", &[])).unwrap();
    let summary = store.summary(&key(), &[]);
    let all = reader.cells("#at-figures .scroll:nth-of-type(2) table");
    let first = reader.cells("#at-labels table");
    let of = |rows: &[Vec<String>], name: &str| rows.iter().find(|row| row[0] == name).unwrap().clone();
    for row in labels.as_array().unwrap() {
        let cells = of(&all, &text(row, "label").replace(',', ""));
        let names = [
            "elapsed_mean",
            "elapsed_sd",
            "elapsed_min",
            "p90",
            "elapsed_max",
            "latency_mean",
            "connect_mean",
            "bytes",
            "sent_bytes",
        ];
        for (at, name) in names.iter().enumerate() {
            agrees(&cells[at + 2], &row[*name]);
        }
        let cells = of(&first, &text(row, "label").replace(',', ""));
        for (at, name) in [(4, "p50"), (5, "p95"), (6, "p99"), (7, "elapsed_max")] {
            agrees(&cells[at], &row[name]);
        }
    }
    let total = of(&all, "All");
    for (at, name) in [(1, "throughput"), (4, "elapsed_min"), (7, "latency_mean"), (9, "bytes")] {
        agrees(&total[at], &summary[name]);
    }
}
