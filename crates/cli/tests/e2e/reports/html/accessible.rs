//! The report on every screen, on paper, by touch, and for those who can't see it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::reader::{Reader, resize};
use super::{ingest_two, report};
use crate::postgres::required::skip;
use crate::support::*;

/// A report of two frameworks, with a second repeat of one of them.
fn repeated(store: &Store) -> PathBuf {
    ingest_two(store);
    let fixture = Fixture::named("outage.csv");
    let files = fixture.files(&fixture.logs()[0]);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let key = ["--framework", "spring", "--test", "2048", "--append-repeat"];
    store.run(&[&["ingest"], &files[..], &key].concat()).said();
    report(store, "2048")
}

/// What is looked at: the test, a run with all that is folded, the comparison and the list of runs.
fn states(reader: &mut Reader, mut look: impl FnMut(&mut Reader, &str)) {
    look(reader, "the test");
    reader.see("spring");
    reader.browser.evaluate(
        "document.querySelectorAll('main details:not(.menu)').forEach((part) => (part.open = true))",
    );
    reader.wait("document.querySelector('#at-figures dl')");
    look(reader, "a run");
    reader.go("#/", "document.querySelectorAll('.runs .tick input').length === 3");
    look(reader, "the list");
    reader.browser.evaluate(
        "[...document.querySelectorAll('.runs .tick input')].slice(0, 2).forEach((box) => box.click())",
    );
    let link = reader.browser.evaluate("document.querySelector('.basket a').hash");
    reader.go(link.as_str().unwrap(), "document.querySelectorAll('main table tbody tr').length > 3");
    look(reader, "a comparison");
    reader.browser.evaluate("localStorage.clear()");
}

#[test]
fn page_fits_the_window_at_any_width() {
    let store = Store::embedded();
    let path = repeated(&store);
    for width in [320, 390, 768, 1024, 1280, 1920] {
        let Some(mut reader) = Reader::open(&path) else { return };
        resize(&mut reader.browser, width);
        states(&mut reader, |reader, what| {
            let wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth === 0 ? [] :
                [...document.querySelectorAll('main *')].filter((e) => !e.closest('.scroll, svg, .bar-figures'))
                    .filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth)
                    .map((e) => e.outerHTML.slice(0, 100))";
            assert_eq!(reader.browser.evaluate(wide), json!([]), "{what} at {width} px");
            let small = "[...document.querySelectorAll('body *')]
                .filter((e) => [...e.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()))
                .filter((e) => parseFloat(getComputedStyle(e).fontSize) < 11).map((e) => e.textContent)";
            assert_eq!(reader.browser.evaluate(small), json!([]), "{what} at {width} px");
        });
        reader.end();
    }
}

#[test]
fn tap_reads_the_charts() {
    let store = Store::embedded();
    let Some(mut reader) = Reader::open(&repeated(&store)) else { return };
    resize(&mut reader.browser, 390);
    reader.see("nio");
    let rect = reader.browser.evaluate(
        "(() => {
            const svg = document.querySelector('.time-charts svg.plot');
            svg.scrollIntoView({ block: 'center' });
            const { left, top, width } = svg.getBoundingClientRect();
            return [left + width / 2, top + 60];
        })()",
    );
    let place = json!([{ "x": rect[0], "y": rect[1] }]);
    for (what, points) in [("touchStart", place), ("touchEnd", json!([]))] {
        reader.browser.call("Input.dispatchTouchEvent", json!({ "type": what, "touchPoints": points }));
    }
    let second = reader.second();
    assert!(second.starts_with("at second 3") || second.starts_with("at second 4"), "{second}");
    assert_ne!(reader.told()["successes"], "");
}

#[test]
fn pages_on_paper_are_full() {
    let store = Store::embedded();
    let Some(mut reader) = Reader::open(&repeated(&store)) else { return };
    reader.wait("document.querySelector('.overlays figure')");
    let Some(test) = printed(&mut reader, &store) else { return };
    assert!((1..=3).contains(&test.len()), "{} pages", test.len());
    let charts = ["League", "Successes per second", "p95, ms", "Response time by percentile, ms", "CPU, %"];
    let tables = ["Framework", "Message", "Get multi lengths"];
    for part in charts.iter().chain(&tables) {
        assert!(test.iter().any(|page| page.contains(part)), "{part}: {test:?}");
    }
    reader.see("spring");
    let run = printed(&mut reader, &store).unwrap();
    assert!((3..=6).contains(&run.len()), "{} pages", run.len());
    let sections =
        ["Requests per second", "Labels", "Load steps", "All failures", "All figures", "NoHttpResponse"];
    // A heading says nothing of its table.
    let tables =
        ["p50, p95, p99", "Search, page 4", "Mostly in", "Failures/s", "% of all requests", "Received, B"];
    for part in sections.iter().chain(&tables) {
        assert!(run.iter().any(|page| page.contains(part)), "{part}: {run:?}");
    }
    let (first, last) = (&run[0], run.last().unwrap());
    assert!(first.contains(&format!("1 of {}", run.len())) && last.contains("perfpipe "), "{run:?}");
    assert!(last.trim_start().lines().next().unwrap().contains("spring"), "{last}");
    for page in test.iter().chain(&run) {
        let lines = page.lines().filter(|line| !line.trim().is_empty()).count();
        assert!(lines > 4, "a page of {lines} lines: {page}");
        assert!(!page.contains("Copy link") && !page.contains("Export"), "the controls are printed: {page}");
    }
}

/// The texts of the pages of what is shown, on paper; `None` where they can't be read.
fn printed(reader: &mut Reader, store: &Store) -> Option<Vec<String>> {
    let pdf = reader.browser.call("Page.printToPDF", json!({ "preferCSSPageSize": true }));
    let file = store.folder.path().join("report.pdf");
    std::fs::write(&file, base64(pdf["data"].as_str().unwrap())).unwrap();
    let output = std::process::Command::new("pdftotext").arg("-layout").arg(&file).arg("-").output();
    let Ok(output) = output else {
        skip("PDFTOTEXT", "pdftotext is not installed");
        return None;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.trim_end_matches('\u{c}').split('\u{c}').map(str::to_owned).collect())
}

/// The bytes of a text in base64.
fn base64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u32> = text.bytes().filter(|c| *c != b'=').map(|c| digit(c).into()).collect();
    let bytes = |group: &[u32]| {
        let bits = group.iter().enumerate().fold(0, |bits, (at, digit)| bits | digit << (18 - 6 * at));
        bits.to_be_bytes()[1..group.len()].to_vec()
    };
    digits.chunks(4).flat_map(bytes).collect()
}

#[test]
fn landmarks_are_there_and_no_control_lies_within_another() {
    let store = Store::embedded();
    let Some(mut reader) = Reader::open(&repeated(&store)) else { return };
    states(&mut reader, |reader, what| {
        for landmark in ["header", "nav", "main"] {
            let number = format!("document.querySelectorAll('body > {landmark}').length");
            assert_eq!(reader.browser.number(&number), 1.0, "{landmark} of {what}");
        }
        let controls = "button, a, input, select, [role=slider], [role=button]";
        let nested = format!(
            "[...document.querySelectorAll('{controls}')].filter((e) => e.parentElement.closest('{controls}')).length"
        );
        assert_eq!(reader.browser.number(&nested), 0.0, "{what}");
    });
}

/// The checks of axe-core, which `npm ci` brings into the folder of the app.
fn axe() -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plot/app/node_modules/axe-core");
    std::fs::read_to_string(folder.join("axe.min.js")).ok()
}

#[test]
fn axe_has_no_finding() {
    let Some(axe) = axe() else {
        return skip("AXE", "axe-core is not installed: run npm ci in crates/plot/app");
    };
    let store = Store::embedded();
    let path = repeated(&store);
    for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 390)] {
        let Some(mut reader) = Reader::open(&path) else { return };
        resize(&mut reader.browser, width);
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        reader.browser.call("Emulation.setEmulatedMedia", features);
        reader.browser.evaluate(&format!("{axe}; 1"));
        states(&mut reader, |reader, what| {
            let found = reader.browser.evaluate(
                "axe.run(document).then(({ violations }) => violations
                    .map(({ id, nodes }) => [id, nodes.length, nodes[0].html.slice(0, 200), nodes[0].failureSummary]))",
            );
            let found: &Vec<Value> = found.as_array().unwrap();
            assert!(found.is_empty(), "{what}, {scheme}, {width} px: {found:#?}");
        });
    }
}
