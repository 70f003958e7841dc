//! The HTML report: the same from both stores, and what it does in a browser.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::*;
use crate::tools::chromium::Chromium;

/// Two frameworks of one test, one with failures.
fn ingest_two(store: &Store) {
    for (framework, name) in [("spring", "Results-flaky-8181.csv"), ("nio", "Results-2048-9000.csv")] {
        let fixture = Fixture::named(name);
        let files = fixture.files(&fixture.logs()[0]);
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        store.run(&[&["ingest"], &files[..], &["--framework", framework, "--test", "2048"]].concat()).said();
    }
}

/// The report of a test, as a file.
fn report(store: &Store, test: &str) -> PathBuf {
    let folder = store.folder.path().join("html");
    let arguments = ["report", "--test", test, "--format", "html", "--out", folder.to_str().unwrap()];
    let said = store.run(&arguments).err;
    let path = folder.join(format!("report_{test}.html"));
    assert!(said.contains(&format!("wrote {}", path.display())), "{said}");
    path
}

#[test]
fn both_stores_give_the_same_report_and_it_is_small() {
    let mut all = Vec::new();
    for store in Store::each() {
        ingest_two(&store);
        let html = std::fs::read_to_string(report(&store, "2048")).unwrap();
        assert!(html.len() < 1_000_000, "{} bytes", html.len());
        for part in
            ["<title>All frameworks – 2048 – perfpipe</title>", "NoHttpResponseException", "Größe/配额 plain"]
        {
            assert!(html.contains(part), "{part}");
        }
        // The league's page, and for each run one over time and one over load.
        assert_eq!(html.matches("<svg xmlns").count(), 5);
        all.push(html);
    }
    assert!(all.iter().all(|one| *one == all[0]), "the stores give different reports");
}

#[test]
fn league_of_repeats_fits_the_page_and_says_what_its_figures_are() {
    let store = Store::embedded();
    let long = "127.0.0.1:9000-with-a-long-name";
    for (framework, name) in [
        (long, "Results-2048-9000.csv"),
        (long, "Results-2048-8181.killed.csv"),
        ("spring", "Results-flaky-8181.csv"),
        ("spring", "outage.csv"),
        ("go", "distributed.csv"),
    ] {
        let fixture = Fixture::named(name);
        let files = fixture.files(&fixture.logs()[0]);
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let key = ["--framework", framework, "--test", "2048", "--append-repeat"];
        store.run(&[&["ingest"], &files[..], &key].concat()).said();
    }
    let path = report(&store, "2048");
    let html = std::fs::read_to_string(&path).unwrap();
    for note in ["Figures are medians over a framework", "Not ranked, with &gt; 1 % failures: spring."] {
        assert!(html.contains(note), "{note}");
    }
    let league: Value =
        serde_json::from_str(&store.run(&["report", "--test", "2048", "--table", "json"]).text()).unwrap();
    let Some(mut browser) = Chromium::start() else { return };
    browser.open(&path);
    for row in league.as_array().unwrap() {
        let name = text(row, "framework");
        let range = [&row["throughput_min"], &row["throughput_max"]].map(|figure| figure.as_f64().unwrap());
        let cells = browser.evaluate(&format!(
            "[...document.querySelectorAll('.league tbody tr')].find((row) => row.textContent.includes('{name}')).textContent"
        ));
        let shown = format!("{:.1} – {:.1}", range[0], range[1]);
        assert!(cells.as_str().unwrap().replace(',', "").contains(&shown), "{cells}: {shown}");
    }
    for width in [1280, 1024] {
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        browser.call("Emulation.setDeviceMetricsOverride", size);
        let over = "document.querySelector('.league .wide').scrollWidth - document.querySelector('.league .wide').clientWidth";
        assert_eq!(browser.number(over), 0.0, "the league is wider than a page of {width} px");
    }
}

#[test]
fn ingest_writes_its_report_too() {
    let store = Store::embedded();
    let log = fixture("crlf.csv");
    let folder = store.folder.path().join("html");
    let key = ["--framework", "go", "--test", "2048", "--page-format", "html,svg"];
    let out = ["--report", folder.to_str().unwrap()];
    store.run(&[&["ingest", log.to_str().unwrap()], &key[..], &out].concat()).said();
    let html = std::fs::read_to_string(folder.join("report_go_2048.html")).unwrap();
    assert!(html.contains("<h2>go 2048</h2>"));
    assert!(folder.join("go_2048.svg").is_file());
}

#[test]
fn reports_that_can_not_be_drawn_are_refused() {
    let store = Store::embedded();
    let complaint = store.run(&["compare", "a_1", "b_1", "--page-format", "html"]).complaint(2);
    assert!(complaint.contains("--page-format svg, pdf or png"), "{complaint}");
    for scale in ["0.4", "9", "x", "nan"] {
        let complaint =
            store.run(&["report", "--test", "2048", "--format", "png", "--scale", scale]).complaint(2);
        assert!(complaint.contains("from 0.5 to 8"), "{complaint}");
    }
    assert!(!std::path::Path::new(store.place()).exists());
}

#[test]
fn pictures_have_the_scale_that_was_asked_for() {
    let store = Store::embedded();
    let fixture = Fixture::named("crlf.csv");
    let key = fixture.ingest_into(&store);
    let folder = store.folder.path().join("png");
    for (scale, width) in [(&[][..], 1191), (&["--scale", "0.5"], 298)] {
        let out = ["report", "--test", &key.test, "--format", "png", "--palette", "viridis", "--out"];
        store.run(&[&out[..], &[folder.to_str().unwrap()], scale].concat()).text();
        let named = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().path();
        let paths: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(named).collect();
        let page = paths.iter().find(|path| !path.to_str().unwrap().contains("all-frameworks")).unwrap();
        let bytes = std::fs::read(page).unwrap();
        assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
        // The picture's head holds its width.
        assert_eq!(u32::from_be_bytes(bytes[16..20].try_into().unwrap()), width);
    }
}

/// A number as the report's data have it.
fn rounded(value: &Value) -> Option<f64> {
    value.as_f64().map(|value| (value * 1000.0).round() / 1000.0)
}

/// A page with the report of two frameworks, and what is done with it.
struct Reader {
    browser: Chromium,
}

impl Reader {
    /// The place in the window of a second of a run's first chart, while all of it is looked at.
    fn place(&mut self, run: usize, second: f64, end: f64) -> (f64, f64) {
        let chart = format!("document.querySelector('#live-{run} svg.time')");
        self.browser.evaluate(&format!("{chart}.scrollIntoView()"));
        let rect =
            self.browser.evaluate(&format!("JSON.parse(JSON.stringify({chart}.getBoundingClientRect()))"));
        let (left, top) = (rect["left"].as_f64().unwrap() + 64.0, rect["top"].as_f64().unwrap());
        let width = rect["width"].as_f64().unwrap() - 64.0 - 26.0;
        (left + width * second / end, top + 60.0)
    }

    /// What the cross-hair tells, by name.
    fn told(&mut self, run: usize) -> Value {
        self.browser.evaluate(&format!(
            "Object.fromEntries([...document.querySelectorAll('#live-{run} dd')]
                .map((place) => [place.dataset.reading, place.title || place.textContent]))"
        ))
    }

    /// The frameworks of the league, from top to bottom.
    fn league(&mut self) -> Value {
        let column =
            "[...table.tHead.rows[0].cells].findIndex((th) => th.textContent.startsWith('framework'))";
        let names = format!("[...table.tBodies[0].rows].map((row) => row.cells[{column}].textContent)");
        self.browser.evaluate(&format!("((table) => {names})(document.querySelectorAll('table')[0])"))
    }

    fn click(&mut self, element: &str) {
        self.browser.evaluate(&format!("{element}.click()"));
    }

    fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.browser.pointer("mouseMoved", from.0, from.1, false);
        self.browser.pointer("mousePressed", from.0, from.1, true);
        self.browser.pointer("mouseMoved", (from.0 + to.0) / 2.0, from.1, true);
        self.browser.pointer("mouseMoved", to.0, to.1, true);
        self.browser.pointer("mouseReleased", to.0, to.1, false);
    }

    /// The texts below a run's first chart.
    fn times(&mut self, run: usize) -> Value {
        let chart = format!("document.querySelector('#live-{run} svg.time')");
        self.browser
            .evaluate(&format!("[...{chart}.querySelectorAll('.across')].map((text) => text.textContent)"))
    }
}

/// The fixture has 79 seconds.
const END: f64 = 79.0;

#[test]
fn report_can_be_asked_in_a_browser() {
    let Some(browser) = Chromium::start() else { return };
    let store = Store::embedded();
    ingest_two(&store);
    let path = report(&store, "2048");
    let mut reader = Reader { browser };
    let address = reader.browser.open(&path);
    let names =
        reader.browser.evaluate("[...document.querySelectorAll('section h2')].map((h) => h.textContent)");
    assert_eq!(names, json!(["All frameworks – 2048", "nio 2048", "spring 2048"]));
    let run = 0;
    cross_hair(&mut reader, &store, run);
    keyboard(&mut reader, run);
    by_percentile(&mut reader, &store, run);
    by_load(&mut reader, &store, run);
    keys_of_series(&mut reader, run);
    zoom(&mut reader, run);
    sorting(&mut reader);
    themes(&mut reader);
    let (complaints, requests) = reader.browser.complaints_and_requests();
    assert_eq!(complaints, [""; 0]);
    assert_eq!(requests, [address]);
}

/// The values at the cross-hair are those of the export.
fn cross_hair(reader: &mut Reader, store: &Store, run: usize) {
    let rows: Value =
        serde_json::from_str(&store.export(&Key::new("nio", "2048"), "seconds", "json", &[])).unwrap();
    for second in [0, 7, 41, 78] {
        let (x, y) = reader.place(run, second as f64 + 0.5, END);
        reader.browser.pointer("mouseMoved", x, y, false);
        let (told, row) = (reader.told(run), &rows[second]);
        assert!(text(&told, "second").starts_with(&format!("{second} (")), "{told}");
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
            let shown: Option<f64> = text(&told, name).parse().ok();
            assert_eq!(shown, rounded(&row[column]), "{column} of second {second}: {told}");
        }
        // The line stands in all the charts of the page that are over time, at the same place.
        let hairs = reader.browser.evaluate(&format!(
            "[...document.querySelectorAll('#live-{run} svg.time .hair')].map((hair) => hair.getAttribute('d').split(' ')[0])"
        ));
        let hairs = hairs.as_array().unwrap();
        assert!(hairs.len() >= 5 && hairs.iter().all(|hair| *hair == hairs[0] && hair != ""), "{hairs:?}");
    }
}

fn keyboard(reader: &mut Reader, run: usize) {
    let group = format!("document.querySelector('#live-{run} .charts')");
    reader.browser.evaluate(&format!("{group}.focus()"));
    for (key, second) in
        [("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("PageUp", 11), ("End", 78)]
    {
        reader.browser.key(key);
        assert_eq!(
            reader.browser.evaluate(&format!("{group}.getAttribute('aria-valuenow')")),
            second.to_string()
        );
    }
    let words = reader.browser.evaluate(&format!("{group}.getAttribute('aria-valuetext')"));
    assert!(words.as_str().unwrap().starts_with("second 78 (1:18), successes/s "), "{words}");
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
fn measured(value: f64) -> String {
    let digits = if value.abs() >= 99.95 || value == 0.0 { 0 } else { 1 + usize::from(value.abs() < 9.995) };
    format!("{value:.digits$}")
}

/// What a chart tells of its points, as the arrow keys go over them from the first to the last.
fn points(reader: &mut Reader, chart: &str) -> Vec<String> {
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
        "[...document.querySelectorAll('#live-{run} .charts .key button')].find((key) => key.textContent === 'p95')"
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
        for (place, second) in [(0.02, "20 ("), (19.98, "39 (")] {
            let (x, y) = reader.place(run, place, 20.0);
            reader.browser.pointer("mouseMoved", x, y, false);
            let told = reader.told(run);
            assert!(text(&told, "second").starts_with(second), "{told}");
        }
        assert_ne!(reader.times(run), all);
        match way_back {
            "key" => {
                reader.browser.evaluate(&format!("document.querySelector('#live-{run} .charts').focus()"));
                reader.browser.key("Escape");
            }
            "button" => reader.click("document.getElementById('whole')"),
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

fn sorting(reader: &mut Reader) {
    assert_eq!(reader.league(), json!(["nio", "spring"]));
    let heading = "[...document.querySelectorAll('table')[0].tHead.rows[0].cells].find((th) => th.textContent.startsWith('failures'))";
    let order = format!("{heading}.getAttribute('aria-sort')");
    // By click, then by keyboard.
    reader.click(&format!("{heading}.firstChild"));
    assert_eq!(
        (reader.league(), reader.browser.evaluate(&order)),
        (json!(["spring", "nio"]), json!("descending"))
    );
    reader.browser.evaluate(&format!("{heading}.firstChild.focus()"));
    for (what, text) in [("keyDown", "\r"), ("keyUp", "")] {
        let params = json!({ "type": what, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": text });
        reader.browser.call("Input.dispatchKeyEvent", params);
    }
    assert_eq!(
        (reader.league(), reader.browser.evaluate(&order)),
        (json!(["nio", "spring"]), json!("ascending"))
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

#[test]
fn names_and_messages_of_users_do_nothing_in_a_browser() {
    let Some(mut browser) = Chromium::start() else { return };
    let store = Store::embedded();
    let evil = "</script><script>window.hurt=1</script><img src=http://127.0.0.1:9/x onerror=window.hurt=1>\u{2028}'&amp;";
    let mut log = "timeStamp,elapsed,label,responseCode,responseMessage,success\n".to_owned();
    for at in 0..3000 {
        let success = at % 7 != 0;
        log += &format!(
            "{},{},\"{evil}\",\"<b>5\",\"{evil}\",{success}\n",
            1_795_203_738_615_i64 + at,
            5 + at % 40
        );
    }
    let file = store.file("evil.csv", log);
    store.run(&["ingest", &file, "--framework", evil, "--test", "2048"]).said();
    let path = report(&store, "2048");
    let address = browser.open(&path);
    let (complaints, requests) = browser.complaints_and_requests();
    assert_eq!((complaints, requests), (Vec::new(), vec![address]));
    assert_eq!(browser.evaluate("typeof window.hurt"), "undefined");
    assert_eq!(browser.number("document.images.length"), 0.0);
    let heading = browser.evaluate("document.querySelectorAll('section h2')[1].textContent");
    assert!(heading.as_str().unwrap().starts_with("</script><script>window.hurt=1"), "{heading}");
}

#[test]
fn pages_without_scripts_show_the_printed_charts() {
    let Some(mut browser) = Chromium::start() else { return };
    let store = Store::embedded();
    ingest_two(&store);
    let path = report(&store, "2048");
    let heights = "[...document.querySelectorAll('.sheet svg')].filter((svg) => svg.getBoundingClientRect().height > 300).length";
    browser.open(&path);
    assert_eq!(browser.number(heights), 0.0, "charts take the pages' place");
    browser.evaluate("document.querySelector('.sheet-switch').click()");
    assert_eq!(browser.number(heights), 1.0);
    browser.call("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    browser.load("Page.reload", json!({}));
    assert_eq!(browser.number(heights), 5.0);
    assert_eq!(
        browser.number(
            "[...document.querySelectorAll('.tool, .interactive')].filter((e) => e.offsetHeight > 0).length"
        ),
        0.0
    );
}
