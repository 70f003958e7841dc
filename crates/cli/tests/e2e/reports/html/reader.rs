//! A browser with a report, and what a reader does with it.

use std::path::Path;

use serde_json::{Value, json};

use crate::tools::chromium::Chromium;

/// The room beside a chart's frame, in pixels.
const MARGIN: (f64, f64) = (58.0, 18.0);

/// A page with the report of two frameworks, and what is done with it.
pub(super) struct Reader {
    pub(super) browser: Chromium,
    /// The page's address.
    pub(super) address: String,
}

/// Makes the window so many pixels wide.
pub(super) fn resize(browser: &mut Chromium, width: u32) {
    let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500 });
    browser.call("Emulation.setDeviceMetricsOverride", size);
}

impl Reader {
    /// Opens a report; `None` where there is no browser and none is demanded.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let mut browser = Chromium::start()?;
        let address = browser.open(path);
        Some(Self { browser, address })
    }

    /// Scrolls to a run until its charts are drawn: charts above it that are drawn as it scrolls can move it
    /// out of the window again, where its own are not.
    pub(super) fn see(&mut self, run: usize) {
        let built = format!(
            "new Promise((done) => {{
                const host = document.getElementById('live-{run}');
                const look = () => {{
                    host.scrollIntoView();
                    host.querySelector('svg.time .border') && host.classList.contains('built') ? done(true) : setTimeout(look, 20);
                }};
                look();
            }})"
        );
        self.browser.evaluate(&built);
    }

    /// The place in the window of a second of a run's first chart, while `end` seconds of it are looked at.
    pub(super) fn place(&mut self, run: usize, second: f64, end: f64) -> (f64, f64) {
        let rect = self.rest(run);
        let (left, top) = (rect["left"].as_f64().unwrap() + MARGIN.0, rect["top"].as_f64().unwrap());
        let width = rect["width"].as_f64().unwrap() - MARGIN.0 - MARGIN.1;
        (left + width * second / end, top + 60.0)
    }

    /// Scrolls a run's first chart to the middle, and gives its place once the page rests there: charts
    /// near the window are drawn as it scrolls, and move what stands below them.
    fn rest(&mut self, run: usize) -> Value {
        let rest = format!(
            "new Promise((done) => {{
                const chart = () => document.querySelector('#live-{run} svg.time');
                let [last, still] = ['', 0];
                const look = () => {{
                    chart().scrollIntoView({{ block: 'center' }});
                    const rect = JSON.stringify(chart().getBoundingClientRect());
                    still = rect === last ? still + 1 : 0;
                    last = rect;
                    still < 5 ? requestAnimationFrame(() => setTimeout(look, 10)) : done(JSON.parse(rect));
                }};
                look();
            }})"
        );
        self.browser.evaluate(&rest)
    }

    /// What the cross-hair tells, by name.
    pub(super) fn told(&mut self, run: usize) -> Value {
        self.browser.evaluate(&format!(
            "Object.fromEntries([...document.querySelectorAll('#live-{run} [data-reading]')]
                .map((place) => [place.dataset.reading, place.title || place.textContent]))"
        ))
    }

    /// What the bar above the charts tells of the part that is shown, without separators of thousands.
    pub(super) fn part(&mut self, run: usize) -> String {
        let bar = format!("document.querySelector('#live-{run} .bar')");
        let parts = "['.part', '.figures span']";
        let text = format!(
            "{parts}.flatMap((part) => [...{bar}.querySelectorAll(part)]).map((part) => part.textContent).join(' · ')"
        );
        self.browser.evaluate(&text).as_str().unwrap().replace(',', "")
    }

    /// The frameworks of the league, from top to bottom.
    pub(super) fn league(&mut self) -> Value {
        self.browser
            .evaluate("[...document.querySelectorAll('.league tbody a')].map((name) => name.textContent)")
    }

    pub(super) fn click(&mut self, element: &str) {
        self.browser.evaluate(&format!("{element}.click()"));
    }

    pub(super) fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.browser.pointer("mouseMoved", from.0, from.1, false);
        self.browser.pointer("mousePressed", from.0, from.1, true);
        self.browser.pointer("mouseMoved", (from.0 + to.0) / 2.0, from.1, true);
        self.browser.pointer("mouseMoved", to.0, to.1, true);
        self.browser.pointer("mouseReleased", to.0, to.1, false);
    }

    /// The texts below a run's first chart.
    pub(super) fn times(&mut self, run: usize) -> Value {
        let chart = format!("document.querySelector('#live-{run} svg.time')");
        self.browser
            .evaluate(&format!("[...{chart}.querySelectorAll('.across')].map((text) => text.textContent)"))
    }
}
