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

#[test]
fn page_fits_the_window_at_any_width() {
    let store = Store::embedded();
    let Some(mut reader) = Reader::open(&repeated(&store)) else { return };
    for width in [390, 768, 1024, 1280, 1440, 1920] {
        resize(&mut reader.browser, width);
        (0..3).for_each(|run| reader.see(run));
        let wide = format!(
            "[...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > {width} + 0.5)
                .map((e) => e.tagName + '.' + e.className)"
        );
        assert_eq!(reader.browser.evaluate(&wide), json!([]), "at {width} px");
    }
    let gaps = "[...document.querySelectorAll('.run > .interactive')].filter((e) => e.childElementCount > 0)
        .map((e) => e.getBoundingClientRect().bottom - e.lastElementChild.getBoundingClientRect().bottom)
        .filter((gap) => gap > 60)";
    assert_eq!(reader.browser.evaluate(gaps), json!([]), "nothing is left empty below charts");
    resize(&mut reader.browser, 390);
    let beside = "document.querySelector('h1').getBoundingClientRect().top
        - document.getElementById('theme').getBoundingClientRect().top";
    let apart = reader.browser.number(beside);
    assert!(apart.abs() < 10.0, "the button stands {apart} px above the title");
    // A row is a card on a phone: each cell says which column it is of.
    resize(&mut reader.browser, 390);
    let cell = "getComputedStyle(document.querySelector('.league tbody td.number'), '::before').content";
    assert_eq!(reader.browser.evaluate(cell), "\"rank\"");
}

#[test]
fn tap_reads_and_the_bar_is_small() {
    let store = Store::embedded();
    let Some(mut reader) = Reader::open(&repeated(&store)) else { return };
    resize(&mut reader.browser, 390);
    reader.see(0);
    let (x, y) = reader.place(0, 41.5, 79.0);
    for (what, points) in [("touchStart", json!([{ "x": x, "y": y }])), ("touchEnd", json!([]))] {
        reader.browser.call("Input.dispatchTouchEvent", json!({ "type": what, "touchPoints": points }));
    }
    let told = reader.told(0);
    assert!(text(&told, "second").starts_with("second 41 · "), "{told}");
    assert!(!text(&told, "successes/s").is_empty(), "{told}");
    let share = reader.browser.number("document.querySelector('#live-0 .bar').offsetHeight / innerHeight");
    assert!(share < 0.2, "the bar takes {share} of the window");
}

#[test]
fn pages_on_paper_are_full() {
    let store = Store::embedded();
    let Some(mut reader) = Reader::open(&repeated(&store)) else { return };
    let drawn = "new Promise((done) => {
        const look = () => document.querySelector('#compare.built') ? done(true) : setTimeout(look, 20);
        look();
    })";
    reader.browser.evaluate(drawn);
    // The run's own page has its title: a heading above it would stand alone on a page of another kind.
    reader.browser.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    let headings = "[...document.querySelectorAll('[id^=framework-] > h2, .run > h2')]
        .filter((heading) => heading.offsetHeight > 0).map((heading) => heading.textContent)";
    assert_eq!(reader.browser.evaluate(headings), json!([]));
    let pdf = reader.browser.call("Page.printToPDF", json!({ "preferCSSPageSize": true }));
    let file = store.folder.path().join("report.pdf");
    std::fs::write(&file, base64(pdf["data"].as_str().unwrap())).unwrap();
    let output = std::process::Command::new("pdftotext").arg("-layout").arg(&file).arg("-").output();
    let Ok(output) = output else { return skip("PDFTOTEXT", "pdftotext is not installed") };
    let text = String::from_utf8(output.stdout).unwrap();
    let pages: Vec<&str> = text.trim_end_matches('\u{c}').split('\u{c}').collect();
    // The first, the frameworks drawn by the browser and as printed, and for each run two pages and its tables, which
    // take up to three.
    assert!((3 + 3 * 3..=3 + 3 * 5).contains(&pages.len()), "{} pages", pages.len());
    let overlay = pages[1];
    for part in
        ["Successes per second", "p95 (ms)", "CPU utilisation (%)", "Response time by percentile (ms)"]
    {
        assert!(overlay.contains(part), "{part}: {overlay}");
    }
    assert!(!overlay.contains("Whole"), "the controls are printed: {overlay}");
    for page in pages {
        let lines = page.lines().filter(|line| !line.trim().is_empty()).count();
        assert!(lines > 4, "a page of {lines} lines: {page}");
    }
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
    (0..3).for_each(|run| reader.see(run));
    for landmark in ["header", "nav", "main", "footer"] {
        let number = format!("document.querySelectorAll('body > {landmark}').length");
        assert_eq!(reader.browser.number(&number), 1.0, "{landmark}");
    }
    let controls = "button, a, input, select, [role=slider], [role=button]";
    let nested = format!(
        "[...document.querySelectorAll('{controls}')].filter((e) => e.parentElement.closest('{controls}')).length"
    );
    assert_eq!(reader.browser.number(&nested), 0.0);
}

/// The checks of axe-core, which `npm ci` brings into the folder of the scripts.
fn axe() -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plot/src/html/scripts/node_modules/axe-core");
    std::fs::read_to_string(folder.join("axe.min.js")).ok()
}

#[test]
fn axe_has_no_serious_finding() {
    let Some(axe) = axe() else {
        return skip("AXE", "axe-core is not installed: run npm ci beside the scripts");
    };
    let store = Store::embedded();
    let Some(mut reader) = Reader::open(&repeated(&store)) else { return };
    (0..3).for_each(|run| reader.see(run));
    reader.browser.evaluate(&format!("{axe}; 1"));
    for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 390)] {
        resize(&mut reader.browser, width);
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        reader.browser.call("Emulation.setEmulatedMedia", features);
        let found = reader.browser.evaluate(
            "axe.run(document).then(({ violations }) => violations
                .filter(({ impact }) => impact === 'serious' || impact === 'critical')
                .map(({ id, nodes }) => [id, nodes.length, nodes[0].html.slice(0, 200)]))",
        );
        let found: &Vec<Value> = found.as_array().unwrap();
        assert!(found.is_empty(), "{scheme}, {width} px: {found:#?}");
    }
}
