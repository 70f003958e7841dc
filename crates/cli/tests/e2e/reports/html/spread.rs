//! What the report tells of the spread of times, of waits, bytes and rates, against the samples and the exports.

use std::collections::HashMap;

use serde_json::Value;

use super::asked::{measured, points};
use super::reader::Reader;
use super::{ingest_two, report};
use crate::support::*;

type Row = HashMap<String, String>;

/// The run with failures, the last of the league.
const RUN: usize = 1;

fn key() -> Key {
    Key::new("spring", "2048")
}

fn chart(heading: &str) -> String {
    format!("document.querySelector('#live-{RUN} [aria-label^=\"{heading}\"]')")
}

fn number(row: &Row, column: &str) -> i64 {
    row[column].parse().unwrap()
}

/// A text without separators of thousands.
fn plain(text: &Value) -> String {
    text.as_str().unwrap().replace(',', "")
}

/// Waits until a chart that is drawn when it comes near has a frame.
fn come_near(reader: &mut Reader, chart: &str) {
    reader.browser.evaluate(&format!(
        "new Promise((done) => {{
            const chart = {chart};
            chart.scrollIntoView();
            const look = () => chart.querySelector('.border') ? done(true) : setTimeout(look, 20);
            look();
        }})"
    ));
}

#[test]
fn spread_waits_bytes_and_rates_are_those_of_the_samples() {
    let store = Store::embedded();
    ingest_two(&store);
    let Some(mut reader) = Reader::open(&report(&store, "2048")) else { return };
    reader.see(RUN);
    let samples = rows(&store.export(&key(), "samples", "csv", &[]));
    histograms(&mut reader, &samples);
    rates(&mut reader, &store);
    over_time(&mut reader, &samples);
    of_one_label(&mut reader, &samples);
    table(&mut reader, &store);
    let (complaints, requests) = reader.browser.complaints_and_requests();
    assert_eq!(complaints, [""; 0]);
    assert_eq!(requests, [reader.address.clone()]);
}

/// Each bar counts the samples between its edges, and all bars together all of them.
fn histograms(reader: &mut Reader, samples: &[Row]) {
    for (heading, success) in [("Successes by response time", "true"), ("Failures by response time", "false")]
    {
        come_near(reader, &chart(heading));
        let own: Vec<i64> = samples
            .iter()
            .filter(|row| row["success"] == success)
            .map(|row| number(row, "elapsed"))
            .collect();
        let told = points(reader, &chart(heading));
        let mut counted = 0;
        for bar in &told {
            let (times, rest) = bar.split_once(" ms: ").unwrap();
            let (low, high) = times.split_once(" to ").unwrap_or((times, times));
            let within = low.parse::<i64>().unwrap()..=high.parse().unwrap();
            let (count, _) = rest.split_once(" requests ").unwrap();
            let count: usize = count.parse().unwrap();
            assert_eq!(own.iter().filter(|ms| within.contains(ms)).count(), count, "{bar}");
            counted += count;
        }
        assert!((10..=62).contains(&told.len()), "{told:?}");
        assert_eq!(counted, own.len(), "{heading}");
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
    let heading = "Response time (ms) by requests per second";
    come_near(reader, &chart(heading));
    let told = points(reader, &chart(heading));
    assert!(told.len() > 1, "{told:?}");
    for step in told {
        let (rates, rest) = step.split_once(" requests/s in ").unwrap();
        let (low, high) = rates.split_once(" to ").unwrap_or((rates, rates));
        let within = low.parse::<i64>().unwrap()..=high.parse().unwrap();
        let rate = |row: &&&Value| within.contains(&(count(row, "successes") + count(row, "failures")));
        let timed = seconds.iter().filter(rate).filter(|row| row["p50"].is_number());
        let own: Vec<&&Value> = timed.collect();
        let medians = ["p50", "p95"].map(|percentile| {
            let mut values: Vec<f64> = own.iter().map(|row| row[percentile].as_f64().unwrap()).collect();
            values.sort_by(f64::total_cmp);
            let last = values.len() - 1;
            format!(
                "{percentile} of a second {} ms",
                measured((values[last / 2] + values[last.div_ceil(2)]) / 2.0)
            )
        });
        assert_eq!(rest, format!("{} seconds: {}", own.len(), medians.join(" ")), "{step}");
    }
}

/// The values that the charts of waits and bytes of some requests tell of a second.
fn told(reader: &mut Reader, of: &str, second: usize) -> HashMap<String, String> {
    let all = reader.browser.evaluate(&format!(
        "new Promise(async (done) => {{
            const charts = [...document.querySelectorAll('#live-{RUN} .chart')].filter((chart) =>
                ['Mean times{of} (', 'Traffic{of} ('].some((heading) => chart.querySelector('h4').textContent.startsWith(heading)));
            for (const chart of charts) {{
                chart.scrollIntoView({{ block: 'center' }});
                while (!chart.querySelector('.border')) await new Promise((on) => setTimeout(on, 20));
            }}
            const scrub = document.querySelector('#live-{RUN} .scrub');
            scrub.value = {second};
            scrub.dispatchEvent(new Event('input'));
            const places = charts.flatMap((chart) => [...chart.querySelectorAll('[data-reading]')]);
            done(Object.fromEntries(places.map((place) => [place.dataset.reading, place.textContent])));
        }})"
    ));
    all.as_object().unwrap().iter().map(|(name, value)| (name.clone(), plain(value))).collect()
}

/// What the charts should tell of some samples of a second.
fn expected(own: &[&Row]) -> HashMap<String, String> {
    let sum = |column: &str| own.iter().map(|row| number(row, column)).sum::<i64>() as f64;
    let mean = |column: &str| format!("{} ms", measured(sum(column) / own.len() as f64));
    let rate = |column: &str| format!("{} kB/s", measured(sum(column) / 1000.0));
    [
        ("elapsed", mean("elapsed")),
        ("latency", mean("latency")),
        ("connect", mean("connect")),
        ("received", rate("bytes")),
        ("sent", rate("sent_bytes")),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

fn succeeded_in(samples: &[Row], second: usize) -> impl Iterator<Item = &Row> {
    samples.iter().filter(move |row| row["success"] == "true" && number(row, "t_ms") / 1000 == second as i64)
}

fn over_time(reader: &mut Reader, samples: &[Row]) {
    for second in [0, 7, 20] {
        let own: Vec<&Row> = succeeded_in(samples, second).collect();
        alike(&told(reader, "", second), &expected(&own), 0.001);
    }
}

/// The label that is picked has these charts too; told to three digits.
fn of_one_label(reader: &mut Reader, samples: &[Row]) {
    let label = reader.browser.evaluate(&format!(
        "(() => {{
            const select = document.querySelector('#live-{RUN} .picker select');
            select.value = 1;
            select.dispatchEvent(new Event('change'));
            return select.selectedOptions[0].textContent;
        }})()"
    ));
    let label = label.as_str().unwrap();
    let own: Vec<&Row> = succeeded_in(samples, 7).filter(|row| row["label"] == label).collect();
    let (found, mut expected) = (told(reader, &format!(" of {label}"), 7), expected(&own));
    // Its response times have a chart of their own.
    expected.remove("elapsed");
    alike(&found, &expected, 0.006);
    assert_eq!(requests_told(reader, label), (measured(own.len() as f64), median(&own)));
}

/// What the two charts of the picked label tell of the second: its successes per second, and its p50.
fn requests_told(reader: &mut Reader, label: &str) -> (String, String) {
    let reading = |heading: &str, name: &str| format!("told('{heading} {label}', '{name}')");
    let (rate, p50) = (reading("Requests per second of", "successes/s"), reading("Response time of", "p50"));
    let told = reader.browser.evaluate(&format!(
        "(() => {{
            const charts = [...document.querySelectorAll('#live-{RUN} .chart')];
            const told = (heading, name) => charts.find((chart) => chart.querySelector('h4').textContent.startsWith(heading))
                .querySelector('[data-reading=\"' + name + '\"]').textContent.replace(/\\/s$/, '');
            return [{rate}, {p50}];
        }})()"
    ));
    (plain(&told[0]), plain(&told[1]))
}

/// The median as the report tells it.
fn median(own: &[&Row]) -> String {
    let mut times: Vec<i64> = own.iter().map(|row| number(row, "elapsed")).collect();
    times.sort_unstable();
    let half = times.len() / 2;
    let middle =
        if times.len() % 2 == 1 { times[half] as f64 } else { (times[half - 1] + times[half]) as f64 / 2.0 };
    format!("{} ms", measured(middle))
}

/// Holds texts such as `12.3 ms` to others, whose last digit may differ.
fn alike(found: &HashMap<String, String>, expected: &HashMap<String, String>, share: f64) {
    assert_eq!(found.len(), expected.len(), "{found:?} for {expected:?}");
    for (name, value) in expected {
        let (unit, number) = (
            |text: &str| text.split(' ').nth(1).map(str::to_owned),
            |text: &str| text.split(' ').next().unwrap().parse::<f64>().unwrap(),
        );
        assert_eq!(unit(&found[name]), unit(value), "{name}");
        let far = (number(&found[name]) - number(value)).abs();
        assert!(far <= share * number(value) + 0.0101, "{name}: {found:?} for {expected:?}");
    }
}

/// The second table of labels has the figures of the export, and those of all labels below them.
fn table(reader: &mut Reader, store: &Store) {
    let labels: Value = serde_json::from_str(&store.export(&key(), "labels", "json", &[])).unwrap();
    let summary = store.summary(&key(), &[]);
    let shown = reader.browser.evaluate(&format!(
        "[...[...document.querySelectorAll('#run-{RUN} .labels')].at(-1).querySelectorAll('tr')].slice(1)
            .map((row) => [...row.cells].map((cell) => cell.dataset.value ?? cell.textContent))"
    ));
    let shown = shown.as_array().unwrap();
    let duration = summary["duration"].as_f64().unwrap();
    let rate = |row: &Value, column: &str| row[column].as_f64().unwrap() / 1000.0 / duration;
    let figure = |cells: &Value, at: usize| cells[at].as_str().unwrap().parse::<f64>().unwrap();
    for (cells, row) in shown.iter().zip(labels.as_array().unwrap()) {
        assert_eq!(cells[0], row["label"]);
        let names = ["elapsed_min", "elapsed_max", "elapsed_sd", "p90", "latency_mean", "connect_mean"];
        for (at, name) in names.iter().enumerate() {
            assert!((figure(cells, at + 1) - row[name].as_f64().unwrap()).abs() < 1e-9, "{name}: {cells}");
        }
        for (at, name) in [(7, "bytes"), (8, "sent_bytes")] {
            assert!((figure(cells, at) - rate(row, name)).abs() < 1e-9, "{name}: {cells}");
        }
    }
    let total = &shown[3];
    assert_eq!(total[0], "All labels");
    assert_eq!(figure(total, 1), summary["elapsed_min"].as_f64().unwrap());
    assert!((figure(total, 5) - summary["latency_mean"].as_f64().unwrap()).abs() < 1e-9, "{total}");
    assert!((figure(total, 7) - rate(&summary, "bytes")).abs() < 1e-9, "{total}");
}
