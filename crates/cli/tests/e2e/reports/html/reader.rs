//! A browser with a report, and what a reader does with it.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::tools::chromium::Chromium;

/// The room beside the charts over time: of the axis of values, and of the list of values, in pixels.
const MARGIN: (f64, f64) = (46.0, 150.0);

/// A page with a report, and what is done with it.
pub(super) struct Reader {
    pub(super) browser: Chromium,
    /// The page's address.
    pub(super) address: String,
    /// The states of the runs, by framework.
    runs: Value,
}

/// Makes the window so many pixels wide.
pub(super) fn resize(browser: &mut Chromium, width: u32) {
    let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500 });
    browser.call("Emulation.setDeviceMetricsOverride", size);
}

/// A script that waits until something is true, and gives the value of an expression then.
fn until(condition: &str, value: &str) -> String {
    format!(
        "new Promise((done) => {{
            const look = () => {condition} ? done({value}) : setTimeout(look, 20);
            look();
        }})"
    )
}

/// What is true of the page of a run once its charts are drawn, and what else is said of a single second.
const DRAWN: &str = "document.querySelector('.run .tile-value')?.textContent";

impl Reader {
    /// Opens a report; `None` where there is no browser and none is demanded.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let mut browser = Chromium::start()?;
        let address = browser.open(path);
        browser.evaluate(&until("document.querySelector('main h1')", "true"));
        let links = "Object.fromEntries([...document.querySelectorAll('.league .row-link')].map((a) => [a.textContent, a.hash]))";
        let runs = browser.evaluate(links);
        Some(Self { browser, address, runs })
    }

    /// Goes to a state of the app.
    pub(super) fn go(&mut self, state: &str, drawn: &str) {
        self.browser.evaluate(&format!("location.hash = {}", json!(state)));
        self.wait(drawn);
    }

    /// Waits until something is there.
    pub(super) fn wait(&mut self, condition: &str) {
        self.browser.evaluate(&until(condition, "true"));
        self.browser.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))");
    }

    /// Waits until the page of a run is drawn.
    pub(super) fn see_run(&mut self) {
        self.wait(DRAWN);
    }

    /// Goes from the test, on which the report opened, to the median run of a framework.
    pub(super) fn see(&mut self, framework: &str) {
        let state = self.runs[framework].as_str().unwrap().to_owned();
        self.go(
            &state,
            &format!("document.querySelector('h1').textContent.includes({}) && {DRAWN}", json!(framework)),
        );
    }

    /// Goes back to the test.
    pub(super) fn see_test(&mut self) {
        let link = self.browser.evaluate("document.querySelectorAll('h1 a')[1].hash");
        self.go(link.as_str().unwrap(), "document.querySelector('.overlays figure')");
    }

    /// The place in the window of a second of the first chart, while the seconds from `from` to `to` are looked at.
    pub(super) fn place(&mut self, second: f64, (from, to): (f64, f64)) -> (f64, f64) {
        let rect = self.browser.evaluate(
            "(() => {
                const svg = document.querySelector('.time-charts svg.plot');
                svg.scrollIntoView({ block: 'center' });
                const { left, top } = svg.getBoundingClientRect();
                return { left, top, width: document.querySelector('.run').clientWidth };
            })()",
        );
        let of = |name: &str| rect[name].as_f64().unwrap();
        let width = of("width") - MARGIN.0 - MARGIN.1;
        (of("left") + MARGIN.0 + width * (second - from) / (to - from), of("top") + 60.0)
    }

    /// Points at a second of the charts.
    pub(super) fn point(&mut self, second: f64, window: (f64, f64)) {
        let (x, y) = self.place(second, window);
        self.browser.pointer("mouseMoved", x, y, false);
    }

    /// The second that is pointed at, in words.
    pub(super) fn second(&mut self) -> String {
        let words = self.browser.evaluate("document.querySelector('.window-at').textContent");
        words.as_str().unwrap().to_owned()
    }

    /// What the charts over time say, by name.
    pub(super) fn told(&mut self) -> HashMap<String, String> {
        self.values("document.querySelectorAll('.time-charts .chart-list > div')")
    }

    /// The texts of a list of names and values, without separators of thousands.
    pub(super) fn values(&mut self, list: &str) -> HashMap<String, String> {
        let found = self.browser.evaluate(&format!(
            "[...{list}].map((row) => [row.querySelector('dt').textContent, row.querySelector('dd').textContent])"
        ));
        let text = |value: &Value| value.as_str().unwrap().replace(',', "");
        found.as_array().unwrap().iter().map(|pair| (text(&pair[0]), text(&pair[1]))).collect()
    }

    /// What the tiles say of the window, by name.
    pub(super) fn tiles(&mut self) -> HashMap<String, String> {
        let found = self.browser.evaluate(
            "[...document.querySelectorAll('.tile')].map((tile) =>
                [tile.querySelector('.tile-name').textContent, tile.querySelector('.tile-value').textContent])",
        );
        let text = |value: &Value| value.as_str().unwrap().replace(',', "");
        found.as_array().unwrap().iter().map(|pair| (text(&pair[0]), text(&pair[1]))).collect()
    }

    /// Opens a folded part.
    pub(super) fn unfold(&mut self, id: &str) {
        self.browser.evaluate(&format!("document.getElementById('at-{id}').open = true"));
        self.wait(&format!("document.querySelector('#at-{id} .fold-body *, #at-{id} .fold-place *')"));
    }

    /// The exact values of a chart, as its table has them.
    pub(super) fn table(&mut self, title: &str) -> Vec<Vec<String>> {
        let rows = self.browser.evaluate(&format!(
            "(() => {{
                const chart = [...document.querySelectorAll('figure.chart')]
                    .find((chart) => chart.querySelector('h3').textContent.startsWith({}));
                const button = [...chart.querySelectorAll('.chart-buttons button')].at(-1);
                button.click();
                const rows = [...chart.querySelectorAll('.chart-table tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent));
                button.click();
                return rows;
            }})()",
            json!(title)
        ));
        texts(&rows)
    }

    /// The cells of a table's body, without separators of thousands.
    pub(super) fn cells(&mut self, table: &str) -> Vec<Vec<String>> {
        let rows = self.browser.evaluate(&format!(
            "[...document.querySelectorAll('{table} tbody tr')].map((row) => [...row.cells].map((cell) => {{
                const copy = cell.cloneNode(true);
                copy.querySelectorAll('.pad, .hidden').forEach((part) => part.remove());
                return copy.textContent;
            }}))"
        ));
        texts(&rows)
    }

    pub(super) fn click(&mut self, element: &str) {
        self.browser.evaluate(&format!("{element}.click()"));
    }

    /// Chooses the whole run, a phase or a zoom by its button.
    pub(super) fn choose(&mut self, name: &str) {
        self.click(&format!(
            "[...document.querySelectorAll('.window-line button')].find((button) => button.textContent === '{name}')"
        ));
    }

    pub(super) fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.browser.pointer("mouseMoved", from.0, from.1, false);
        self.browser.pointer("mousePressed", from.0, from.1, true);
        self.browser.pointer("mouseMoved", (from.0 + to.0) / 2.0, from.1, true);
        self.browser.pointer("mouseMoved", to.0, to.1, true);
        self.browser.pointer("mouseReleased", to.0, to.1, false);
    }

    /// Checks that the page complained of nothing, and asked for nothing but itself.
    pub(super) fn end(&self) {
        let (complaints, requests) = self.browser.complaints_and_requests();
        assert_eq!(complaints, [""; 0]);
        assert_eq!(requests, std::slice::from_ref(&self.address));
    }
}

fn texts(rows: &Value) -> Vec<Vec<String>> {
    let text = |cell: &Value| cell.as_str().unwrap().replace(',', "");
    let row = |row: &Value| row.as_array().unwrap().iter().map(text).collect();
    rows.as_array().unwrap().iter().map(row).collect()
}

/// Checks that a number is shown with as many digits as the text has.
#[track_caller]
pub(super) fn agrees(shown: &str, value: &Value) {
    let Some(value) = value.as_f64() else { return assert_eq!(shown, "–", "{value}") };
    let digits = shown.split_once('.').map_or(0, |(_, digits)| digits.len()) as i32;
    let number: f64 = shown
        .trim_start_matches("≈ ")
        .replace('−', "-")
        .parse()
        .unwrap_or_else(|_| panic!("{shown} for {value}"));
    assert!((number - value).abs() <= 0.500_001 * 10_f64.powi(-digits), "{shown} for {value}");
}
