//! What a report answers in a browser: the cross-hair, the part that is looked at, tables and schemes.

use serde_json::{Value, json};

use super::reader::Reader;
use super::{ingest_two, report};
use crate::support::*;

/// A number as the report's data have it.
fn rounded(value: &Value) -> Option<f64> {
    value.as_f64().map(|value| (value * 1000.0).round() / 1000.0)
}

/// The fixture has 79 seconds.
const END: f64 = 79.0;

#[test]
fn report_can_be_asked_in_a_browser() {
    let store = Store::embedded();
    ingest_two(&store);
    let Some(mut reader) = Reader::open(&report(&store, "2048")) else { return };
    let names = reader.browser.evaluate("[...document.querySelectorAll('h2')].map((h) => h.textContent)");
    let last = names.as_array().unwrap().iter().rev().take(3).rev().cloned().collect::<Vec<_>>();
    assert_eq!(last, ["2 frameworks – 2048", "nio 2048", "spring 2048"]);
    let run = 0;
    reader.see(1);
    cross_hair(&mut reader, &store, (1, "spring"), &[0, 7, 21]);
    failures(&mut reader, 1);
    failures_by_row(&mut reader, 1);
    reader.see(run);
    cross_hair(&mut reader, &store, (run, "nio"), &[0, 7, 41, 78]);
    part(&mut reader, &store, run);
    keyboard(&mut reader, run);
    by_percentile(&mut reader, &store, run);
    by_load(&mut reader, &store, run);
    keys_of_series(&mut reader, run);
    zoom(&mut reader, run);
    sorting(&mut reader);
    themes(&mut reader);
    let (complaints, requests) = reader.browser.complaints_and_requests();
    assert_eq!(complaints, [""; 0]);
    assert_eq!(requests, [reader.address.clone()]);
}

#[test]
fn time_of_day_is_told_at_the_cross_hair_and_on_axes_where_it_is_asked_for() {
    let store = Store::embedded();
    ingest_two(&store);
    let out = store.folder.path().join("clock");
    let zone = ["--axis", "clock", "--time-zone", "Asia/Kolkata", "--out", out.to_str().unwrap()];
    store.run(&[&["report", "--test", "2048", "--format", "html"], &zone[..]].concat()).text();
    let file = std::fs::read_dir(&out).unwrap().next().unwrap().unwrap().path();
    let Some(mut reader) = Reader::open(&file) else { return };
    reader.see(0);
    let (x, y) = reader.place(0, 41.5, END);
    reader.browser.pointer("mouseMoved", x, y, false);
    // The run began at 19:42:18 UTC.
    let told = reader.told(0);
    assert_eq!(text(&told, "second"), "second 41 · 01:12:59");
    let labels = "[...document.querySelectorAll('#live-0 svg')][0].querySelectorAll('text.across')";
    let labels = reader.browser.evaluate(&format!("[...{labels}].map((label) => label.textContent)"));
    let labels = labels.as_array().unwrap();
    assert!(labels.contains(&json!("01:12:30")) && labels.len() > 3, "{labels:?}");
}

/// The values at the cross-hair are those of the export.
fn cross_hair(reader: &mut Reader, store: &Store, (run, framework): (usize, &str), seconds: &[usize]) {
    let rows: Value =
        serde_json::from_str(&store.export(&Key::new(framework, "2048"), "seconds", "json", &[])).unwrap();
    for second in seconds {
        // Each run has a time axis of its own.
        let (x, y) = reader.place(run, *second as f64 + 0.5, rows.as_array().unwrap().len() as f64);
        reader.browser.pointer("mouseMoved", x, y, false);
        let (told, row) = (reader.told(run), &rows[second]);
        assert!(text(&told, "second").starts_with(&format!("second {second} ")), "{told}");
        for (name, column) in [
            ("successes/s", "successes"),
            ("failures/s", "failures"),
            ("load", "load"),
            ("CPU", "cpu"),
            ("p25", "p25"),
            ("p50", "p50"),
            ("p75", "p75"),
            ("p95", "p95"),
        ] {
            // A run without failures has no line for them.
            let shown = told[name].as_str().unwrap_or("0");
            assert_eq!(shown.parse().ok(), rounded(&row[column]), "{column} of second {second}: {told}");
        }
        // The line stands in all the charts of the page that are over time, at the same place.
        let hairs = reader.browser.evaluate(&format!(
            "[...document.querySelectorAll('#live-{run} svg.time .hair')].map((hair) => hair.getAttribute('d').split(' ')[0])"
        ));
        let hairs = hairs.as_array().unwrap();
        assert!(hairs.len() >= 5 && hairs.iter().all(|hair| *hair == hairs[0] && hair != ""), "{hairs:?}");
    }
}

/// Failures have a colour that nothing else has, and a strip of their own.
fn failures(reader: &mut Reader, run: usize) {
    let fill = |what: &str| format!("getComputedStyle(document.querySelector('#live-{run} {what}')).fill");
    let failing = reader.browser.evaluate(&fill("[data-series=\"failures/s\"] path"));
    assert_eq!(failing, "rgb(200, 16, 46)");
    assert_eq!(reader.browser.evaluate(&fill(".strip rect")), failing);
    let others = format!(
        "[...document.querySelectorAll('#live-{run} [data-series=\"successes/s\"] path')].map((path) => getComputedStyle(path).fill)"
    );
    let others = reader.browser.evaluate(&others);
    assert!(
        !others.as_array().unwrap().is_empty() && !others.as_array().unwrap().contains(&failing),
        "{others}"
    );
    let headings =
        format!("[...document.querySelectorAll('#live-{run} h4')].map((heading) => heading.textContent)");
    let headings = reader.browser.evaluate(&headings);
    for by in ["response code", "label"] {
        let heading = json!(format!("Failures per second by {by}"));
        assert!(headings.as_array().unwrap().contains(&heading), "{headings}");
    }
}

/// The lines of failures by label and code add up to all failures of a second, and are of the seconds that are shown.
fn failures_by_row(reader: &mut Reader, run: usize) {
    let at = |second: u32| {
        format!(
            "new Promise((done) => {{
                const host = document.getElementById('failing-{run}');
                host.scrollIntoView();
                const read = () => {{
                    if (!host.querySelector('.border')) return setTimeout(read, 20);
                    const scrub = document.querySelector('#live-{run} .scrub');
                    scrub.value = {second};
                    scrub.dispatchEvent(new Event('input'));
                    done({{
                        rows: Object.fromEntries([...host.querySelectorAll('[data-reading]')].map((place) => [place.dataset.reading, Number(place.title)])),
                        all: Number(document.querySelector('#live-{run} [data-reading=\"failures/s\"]').title),
                    }});
                }};
                read();
            }})"
        )
    };
    for second in [1, 7, 20] {
        let told = reader.browser.evaluate(&at(second));
        let rows = told["rows"].as_object().unwrap();
        assert!(rows.contains_key("Flaky \"contains\": 500") && rows.len() <= 11, "{told}");
        let sum: f64 = rows.values().filter_map(Value::as_f64).sum();
        assert_eq!(Some(sum), told["all"].as_f64(), "second {second}: {told}");
    }
}

/// The bar tells the figures of the part that is looked at, as `perfpipe` exports them for it.
fn part(reader: &mut Reader, store: &Store, run: usize) {
    let told = |summary: &Value, span: &str| {
        let number = |name: &str| summary[name].as_f64().unwrap();
        let requests = number("successes") + number("failures");
        let times = ["p50", "p95", "p99"].map(|name| format!("{name} {} ms", measured(number(name))));
        let [p50, p95, p99] = times;
        let throughput = measured(number("throughput"));
        format!("{span} · {requests} requests · {throughput}/s · none failed · {p50} · {p95} · {p99}")
    };
    let key = Key::new("nio", "2048");
    assert_eq!(reader.part(run), told(&store.summary(&key, &[]), "Whole 0:00–1:19"));
    let (from, to) = (reader.place(run, 20.5, END), reader.place(run, 39.5, END));
    reader.drag(from, to);
    let chosen = store.summary(&key, &["--from", "20", "--to", "39"]);
    assert_eq!(reader.part(run), told(&chosen, "Part 0:20–0:40"));
    let phases = format!("document.querySelectorAll('#live-{run} .bar .tools button')");
    reader.click(&format!("[...{phases}].find((button) => button.textContent === 'Hold')"));
    let hold = store.summary(&key, &["--phase", "hold"]);
    let expected = told(&hold, "");
    assert!(reader.part(run).ends_with(&expected) && reader.part(run).starts_with("Hold "), "{expected}");
    reader.click(&format!("document.querySelector('#live-{run} .whole')"));
}

fn keyboard(reader: &mut Reader, run: usize) {
    let group = format!("document.querySelector('#live-{run} .scrub')");
    reader.browser.evaluate(&format!("{group}.focus()"));
    for (key, second) in
        [("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("PageUp", 11), ("End", 78)]
    {
        reader.browser.key(key);
        assert_eq!(reader.browser.evaluate(&format!("{group}.value")), second.to_string());
    }
    let words = reader.browser.evaluate(&format!("{group}.getAttribute('aria-valuetext')"));
    assert!(words.as_str().unwrap().starts_with("second 78 (1:18) · 19:43:36, successes/s "), "{words}");
    let outline = "getComputedStyle(document.activeElement).outlineStyle";
    assert_eq!(reader.browser.evaluate(outline), "solid", "the focus is not seen");
    let all = reader.times(run);
    reader.browser.key("+");
    let zoomed = reader.times(run);
    assert_ne!(zoomed, all);
    reader.browser.key("-");
    assert_eq!(reader.times(run), all);
}

/// A number as the charts tell it.
pub(super) fn measured(value: f64) -> String {
    let digits = if value.abs() >= 99.95 || value == 0.0 { 0 } else { 1 + usize::from(value.abs() < 9.995) };
    format!("{value:.digits$}")
}

/// What a chart tells of its points, as the arrow keys go over them from the first to the last.
pub(super) fn points(reader: &mut Reader, chart: &str) -> Vec<String> {
    reader.browser.evaluate(&format!("{chart}.focus()"));
    let told = format!("{chart}.querySelector('output').textContent");
    let mut all = Vec::new();
    reader.browser.key("Home");
    loop {
        let now = reader.browser.evaluate(&told).as_str().unwrap().replace(',', "");
        if all.last() == Some(&now) {
            break;
        }
        all.push(now);
        reader.browser.key("ArrowRight");
    }
    let outline = "getComputedStyle(document.activeElement).outlineStyle";
    assert_eq!(reader.browser.evaluate(outline), "solid", "the focus is not seen");
    reader.browser.key("Escape");
    assert_eq!(reader.browser.evaluate(&told), "");
    all
}

/// The curve by percentile tells the percentiles of the export.
fn by_percentile(reader: &mut Reader, store: &Store, run: usize) {
    let chart =
        format!("document.querySelector('#live-{run} [aria-label^=\"Response time by percentile\"]')");
    let told = points(reader, &chart);
    assert!(told.first().unwrap().starts_with("p0: ") && told.last().unwrap().starts_with("p99.99: "));
    let flags = ["--percentiles", "50,90,99,99.9"];
    let summary = store.summary(&Key::new("nio", "2048"), &flags);
    for percent in ["50", "90", "99", "99.9"] {
        let exported = measured(summary[format!("p{percent}")].as_f64().unwrap());
        assert!(told.contains(&format!("p{percent}: nio {exported} ms")), "{exported}: {told:?}");
    }
}

/// The charts over load tell the steps of the export.
fn by_load(reader: &mut Reader, store: &Store, run: usize) {
    let steps: Value =
        serde_json::from_str(&store.export(&Key::new("nio", "2048"), "sweep", "json", &[])).unwrap();
    let number = |step: &Value, name: &str| measured(step[name].as_f64().unwrap());
    let expected = |of: &dyn Fn(&Value) -> String| -> Vec<String> {
        let steps = steps.as_array().unwrap().iter();
        steps.map(|step| format!("{} threads: {}", number(step, "load"), of(step))).collect()
    };
    for (heading, expected) in [
        ("Successes", expected(&|step| format!("successes/s {}/s", number(step, "throughput")))),
        (
            "Response time",
            expected(&|step| {
                let told =
                    ["25", "50", "75", "95"].map(|p| format!("p{p} {} ms", number(step, &format!("p{p}"))));
                told.join(" ")
            }),
        ),
        ("CPU", expected(&|step| format!("CPU {} %", number(step, "cpu_mean")))),
    ] {
        let chart = format!("document.querySelector('#load-{run} [aria-label^=\"{heading}\"]')");
        assert_eq!(points(reader, &chart), expected);
    }
    let knees = format!("document.querySelectorAll('#load-{run} .knee').length");
    assert_eq!(reader.browser.number(&knees), 3.0);
}

fn keys_of_series(reader: &mut Reader, run: usize) {
    let series = format!("document.querySelectorAll('#live-{run} [data-series=\"p95\"]').length");
    let button = format!(
        "[...document.querySelectorAll('#live-{run} .charts .key button')].find((key) => key.querySelector('.name').textContent === 'p95')"
    );
    assert_eq!(reader.browser.number(&series), 1.0);
    reader.click(&button);
    assert_eq!(reader.browser.number(&series), 0.0);
    assert_eq!(reader.browser.evaluate(&format!("{button}.getAttribute('aria-pressed')")), "false");
    reader.click(&button);
    assert_eq!(reader.browser.number(&series), 1.0);
}

fn zoom(reader: &mut Reader, run: usize) {
    let all = reader.times(run);
    for way_back in ["key", "button", "double click"] {
        let (from, to) = (reader.place(run, 20.5, END), reader.place(run, 39.5, END));
        reader.drag(from, to);
        // Of 20 seconds, the first and the last are where the chart begins and ends.
        for (place, second) in [(0.02, "second 20 "), (19.98, "second 39 ")] {
            let (x, y) = reader.place(run, place, 20.0);
            reader.browser.pointer("mouseMoved", x, y, false);
            let told = reader.told(run);
            assert!(text(&told, "second").starts_with(second), "{told}");
        }
        assert_ne!(reader.times(run), all);
        match way_back {
            "key" => {
                reader.browser.evaluate(&format!("document.querySelector('#live-{run} .scrub').focus()"));
                reader.browser.key("Escape");
            }
            "button" => reader.click(&format!("document.querySelector('#live-{run} .whole')")),
            _ => {
                let double = "new MouseEvent('dblclick', { bubbles: true })";
                reader.browser.evaluate(&format!(
                    "document.querySelector('#live-{run} svg.time').dispatchEvent({double})"
                ));
            }
        }
        assert_eq!(reader.times(run), all, "{way_back}");
    }
}

/// The first click on a heading puts the best first, the second the worst.
fn sorting(reader: &mut Reader) {
    assert_eq!(reader.league(), json!(["nio", "spring"]));
    let heading = |name: &str| {
        format!(
            "[...document.querySelector('.league').tHead.rows[0].cells].find((th) => th.textContent.startsWith('{name}'))"
        )
    };
    for (name, best) in [("failures", "ascending"), ("throughput", "descending"), ("rank", "ascending")] {
        let order = format!("{}.getAttribute('aria-sort')", heading(name));
        reader.click(&format!("{}.firstChild", heading(name)));
        assert_eq!(
            (reader.league(), reader.browser.evaluate(&order)),
            (json!(["nio", "spring"]), json!(best))
        );
    }
    let order = format!("{}.getAttribute('aria-sort')", heading("failures"));
    reader.click(&format!("{}.firstChild", heading("failures")));
    reader.browser.evaluate(&format!("{}.firstChild.focus()", heading("failures")));
    for (what, text) in [("keyDown", "\r"), ("keyUp", "")] {
        let params = json!({ "type": what, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": text });
        reader.browser.call("Input.dispatchKeyEvent", params);
    }
    assert_eq!(
        (reader.league(), reader.browser.evaluate(&order)),
        (json!(["spring", "nio"]), json!("descending"))
    );
}

fn themes(reader: &mut Reader) {
    let ground = "getComputedStyle(document.body).backgroundColor";
    let dark = |scheme: &str| json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
    for (scheme, before, after) in [
        ("dark", "rgb(22, 25, 29)", "rgb(255, 255, 255)"),
        ("light", "rgb(255, 255, 255)", "rgb(22, 25, 29)"),
    ] {
        reader.browser.evaluate("delete document.documentElement.dataset.theme");
        reader.browser.call("Emulation.setEmulatedMedia", dark(scheme));
        assert_eq!(reader.browser.evaluate(ground), before);
        reader.click("document.getElementById('theme')");
        assert_eq!(reader.browser.evaluate(ground), after);
    }
}
