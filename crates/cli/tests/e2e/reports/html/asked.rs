//! What a report answers in a browser: the cursor, the window that is looked at, charts, tables and schemes.

use serde_json::{Value, json};

use super::reader::{Reader, agrees};
use super::{ingest_two, report};
use crate::support::*;

/// The fixture has 79 seconds, the last of them cut.
const WHOLE: (f64, f64) = (0.0, 78.0);

#[test]
fn report_can_be_asked_in_a_browser() {
    let store = Store::embedded();
    ingest_two(&store);
    let Some(mut reader) = Reader::open(&report(&store, "2048")) else { return };
    let heading = reader.browser.evaluate("document.querySelector('h1').textContent");
    assert_eq!(heading, "Report › 2048");
    let league = reader
        .browser
        .evaluate("[...document.querySelectorAll('.league .row-link')].map((a) => a.textContent)");
    assert_eq!(league, json!(["nio", "spring"]));
    reader.see("spring");
    cursor(&mut reader, &store, "spring", &[0, 7, 20], (0.0, 22.0));
    failures(&mut reader, &store);
    reader.see("nio");
    cursor(&mut reader, &store, "nio", &[0, 7, 41, 77], WHOLE);
    windows(&mut reader, &store);
    keyboard(&mut reader);
    by_percentile(&mut reader, &store);
    by_load(&mut reader, &store);
    themes(&mut reader);
    compared(&mut reader, &store);
    reader.end();
}

#[test]
fn time_of_day_is_on_axes_and_cpu_gives_the_colours_where_that_is_asked_for() {
    let store = Store::embedded();
    ingest_two(&store);
    let path = store.folder.path().join("clock.html");
    let zone =
        ["--axis", "clock", "--time-zone", "Asia/Kolkata", "--color-by", "cpu", "-o", path.to_str().unwrap()];
    store.run(&[&["report", "nio_2048"], &zone[..]].concat()).text();
    let Some(mut reader) = Reader::open(&path) else { return };
    reader.see_run();
    reader.point(41.5, WHOLE);
    // The run began at 19:42:18 UTC.
    assert_eq!(reader.second(), "at second 41, 01:12:59");
    let labels = reader
        .browser
        .evaluate("[...document.querySelectorAll('.time-charts text.tick')].map((text) => text.textContent)");
    let labels = labels.as_array().unwrap();
    assert!(labels.contains(&json!("01:12:30")), "{labels:?}");
    let told = reader.told();
    let rows: Value =
        serde_json::from_str(&store.export(&Key::new("nio", "2048"), "seconds", "json", &[])).unwrap();
    agrees(&told["% CPU"], &rows[41]["cpu"]);
    agrees(&told["load"], &rows[41]["load"]);
    reader.end();
}

#[test]
fn choices_of_the_command_are_said_and_the_figures_are_theirs() {
    let store = Store::embedded();
    ingest_two(&store);
    let path = store.folder.path().join("part.html");
    let chosen = ["--from", "5", "--to", "14", "--label", "Flaky, equals", "--include-failures"];
    store.run(&[&["report", "spring_2048", "-o", path.to_str().unwrap()], &chosen[..]].concat()).text();
    let Some(mut reader) = Reader::open(&path) else { return };
    reader.see_run();
    let facts = reader.browser.evaluate("document.querySelector('.facts').textContent");
    let said = "Chosen: seconds 5 to 14, label Flaky, equals, times and CPU include failures, load is that of all labels. ";
    assert!(facts.as_str().unwrap().starts_with(said), "{facts}");
    tiles_are(&mut reader, &store.summary(&Key::new("spring", "2048"), &chosen));
    let notes = reader.browser.evaluate(
        "[...document.querySelectorAll('.time-charts .chart-note')].map((note) => note.textContent)",
    );
    assert!(notes.as_array().unwrap().contains(&json!("of all requests")), "{notes}");
    reader.end();
}

/// The values at the cursor are those of the export, in all charts.
fn cursor(reader: &mut Reader, store: &Store, framework: &str, seconds: &[usize], window: (f64, f64)) {
    let flags = ["--percentiles", "50,95,99"];
    let rows: Value =
        serde_json::from_str(&store.export(&Key::new(framework, "2048"), "seconds", "json", &flags)).unwrap();
    for second in seconds {
        reader.point(*second as f64 + 0.5, window);
        let said = reader.second();
        assert!(said.starts_with(&format!("at second {second}, ")), "{said}");
        let (told, row) = (reader.told(), &rows[second]);
        for (name, column) in [
            ("successes", "successes"),
            ("failures", "failures"),
            ("threads", "load"),
            ("CPU", "cpu"),
            ("p50", "p50"),
            ("p95", "p95"),
            ("p99", "p99"),
        ] {
            // A run without failures has no line for them, nor one without CPU.
            match told.get(name) {
                Some(shown) => agrees(shown, &row[column]),
                None => assert!(row[column].is_null() || row[column] == 0, "{name}: {told:?}"),
            }
        }
        let lines = "[...document.querySelectorAll('.time-charts .cursor-line')].map((line) => line.getAttribute('d').split(' ')[0])";
        let lines = reader.browser.evaluate(lines);
        let lines = lines.as_array().unwrap();
        assert!(lines.len() >= 2 && lines.iter().all(|line| *line == lines[0]), "{lines:?}");
    }
}

/// Failures have a colour that nothing else has, and a table by code and message.
fn failures(reader: &mut Reader, store: &Store) {
    let fail =
        reader.browser.evaluate("getComputedStyle(document.querySelector('.time-charts .failed')).fill");
    let others = "[...document.querySelectorAll('.time-charts [class^=load-]')].map((path) => getComputedStyle(path).fill)";
    let others = reader.browser.evaluate(others);
    let others = others.as_array().unwrap();
    assert!(!others.is_empty() && !others.contains(&fail), "{others:?}");
    reader.unfold("kinds");
    let shown = reader.cells("#at-kinds table:not(.chart-table table)");
    let errors: Value =
        serde_json::from_str(&store.export(&Key::new("spring", "2048"), "errors", "json", &[])).unwrap();
    let mut counts: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new();
    for row in &shown {
        *counts.entry(row[0].trim_start_matches("✗ ").to_owned()).or_default() +=
            row[3].parse::<u64>().unwrap();
    }
    let mut expected: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new();
    for row in errors.as_array().unwrap() {
        let count = row["count"].as_u64().unwrap();
        *expected.entry(text(row, "response_code").to_owned()).or_default() += count;
    }
    assert_eq!(counts, expected);
    let codes = reader.cells("#at-failures table.codes");
    assert_eq!(codes.len(), expected.len());
    for row in codes {
        assert_eq!(expected[row[0].trim_start_matches("✗ ")].to_string(), row[2], "{row:?}");
    }
}

/// The tiles have the figures of a summary.
fn tiles_are(reader: &mut Reader, summary: &Value) {
    let tiles = reader.tiles();
    for (name, column) in [("Throughput", "throughput"), ("p50", "p50"), ("p95", "p95"), ("p99", "p99")] {
        agrees(&tiles[name], &summary[column]);
    }
    let (failures, successes) =
        (summary["failures"].as_f64().unwrap(), summary["successes"].as_f64().unwrap());
    agrees(&tiles["Failures"], &json!(100.0 * failures / (failures + successes)));
}

/// The tiles say the figures of the window that is looked at, as `perfpipe` exports them for it.
fn windows(reader: &mut Reader, store: &Store) {
    let key = Key::new("nio", "2048");
    tiles_are(reader, &store.summary(&key, &[]));
    let (from, to) = (reader.place(20.5, WHOLE), reader.place(39.5, WHOLE));
    reader.drag(from, to);
    tiles_are(reader, &store.summary(&key, &["--from", "20", "--to", "39"]));
    assert!(reader.browser.evaluate("location.hash").as_str().unwrap().ends_with("?from=20&to=40"));
    for (place, second) in [(20.3, "at second 20, "), (39.7, "at second 39, ")] {
        reader.point(place, (20.0, 40.0));
        let said = reader.second();
        assert!(said.starts_with(second), "{said}");
    }
    reader.choose("Hold");
    tiles_are(reader, &store.summary(&key, &["--phase", "hold"]));
    reader.choose("Whole");
    tiles_are(reader, &store.summary(&key, &[]));
    // What a link says of the window is shown.
    let run = reader.browser.evaluate("location.hash").as_str().unwrap().to_owned();
    reader.go(
        &format!("{run}?from=20&to=40"),
        "document.querySelector('.window-text').textContent.startsWith('0:20 to 0:40')",
    );
    tiles_are(reader, &store.summary(&key, &["--from", "20", "--to", "39"]));
    reader.browser.key("Escape");
    tiles_are(reader, &store.summary(&key, &[]));
}

fn keyboard(reader: &mut Reader) {
    reader.browser.pointer("mouseMoved", 1.0, 1.0, false);
    reader.browser.evaluate("document.activeElement.blur()");
    for (key, second) in [("ArrowRight", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1)] {
        reader.browser.key(key);
        let said = reader.second();
        assert!(said.starts_with(&format!("at second {second}, ")), "{said}");
    }
    let spoken = "document.querySelector('.run > [aria-live]').textContent";
    reader.wait(&format!("{spoken}.startsWith('0:01: successes ')"));
    reader.browser.key("+");
    assert!(reader.browser.evaluate("location.hash").as_str().unwrap().contains("?from="));
    reader.browser.key("Escape");
    reader.browser.key("Escape");
    assert!(!reader.browser.evaluate("location.hash").as_str().unwrap().contains("?from="));
}

/// The curve by percentile has the percentiles of the export.
fn by_percentile(reader: &mut Reader, store: &Store) {
    let rows = reader.table("Response time by percentile");
    assert_eq!((&*rows[0][0], &*rows.last().unwrap()[0]), ("0", "99.99"));
    let summary = store.summary(&Key::new("nio", "2048"), &["--percentiles", "50,90,99,99.9"]);
    for percent in ["50", "90", "99", "99.9"] {
        let row = rows.iter().find(|row| row[0] == percent).unwrap();
        agrees(&row[1], &summary[format!("p{percent}")]);
    }
}

/// The load steps are those of the export.
fn by_load(reader: &mut Reader, store: &Store) {
    reader.unfold("load");
    let steps: Value =
        serde_json::from_str(&store.export(&Key::new("nio", "2048"), "sweep", "json", &[])).unwrap();
    let steps = steps.as_array().unwrap();
    let shown = reader.cells("#at-load .scroll table");
    assert_eq!(shown.len(), steps.len());
    for (cells, step) in shown.iter().zip(steps) {
        for (at, column) in
            [(0, "load"), (1, "throughput"), (4, "p25"), (5, "p50"), (7, "p95"), (8, "cpu_mean")]
        {
            agrees(&cells[at], &step[column]);
        }
        let failed = step["failures"].as_f64().unwrap() / step["seconds"].as_f64().unwrap();
        agrees(&cells[3], &failed.into());
    }
    let exact = reader.table("Successes per second, by threads");
    for (row, step) in exact.iter().zip(steps) {
        agrees(&row[1], &step["throughput"]);
    }
}

fn themes(reader: &mut Reader) {
    let ground = "getComputedStyle(document.documentElement).backgroundColor";
    let (light, dark) = ("rgb(255, 255, 255)", "rgb(21, 25, 30)");
    for (scheme, expected) in [("dark", dark), ("light", light)] {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        reader.browser.call("Emulation.setEmulatedMedia", features);
        reader.wait(&format!("{ground} === '{expected}'"));
    }
    reader.go("#/?theme=dark", "document.querySelector('.runs')");
    assert_eq!(reader.browser.evaluate(ground), dark);
    reader.go("#/?theme=auto", "document.querySelector('.runs')");
    assert_eq!(reader.browser.evaluate(ground), light);
}

/// Two runs are compared within the file, as `perfpipe compare` does it.
fn compared(reader: &mut Reader, store: &Store) {
    reader.go("#/", "document.querySelectorAll('.runs .tick input').length === 2");
    reader
        .browser
        .evaluate("[...document.querySelectorAll('.runs .tick input')].forEach((box) => box.click())");
    let link = reader.browser.evaluate("document.querySelector('.basket a').hash");
    let link = link.as_str().unwrap().to_owned();
    reader.go(&link, "document.querySelectorAll('main table tbody tr').length > 3");
    let page = reader.browser.evaluate("document.querySelector('main').textContent");
    let rows = store.run(&["compare", "spring_2048", "nio_2048", "--format", "json"]).rows();
    // Both have a hold, which is what is compared first.
    let is_shown = |row: &&Value| row["measure"] == "throughput" && row["part"] == "hold";
    let throughput = rows.iter().find(is_shown).unwrap();
    for side in ["a", "b"] {
        let shown = format!("{:.0}", throughput[side].as_f64().unwrap());
        assert!(page.as_str().unwrap().replace(',', "").contains(&shown), "{shown}: {page}");
    }
}
