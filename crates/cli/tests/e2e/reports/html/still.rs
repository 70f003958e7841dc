//! Nothing moves under the mouse.

use serde_json::Value;

use super::reader::{Reader, resize};
use super::{ingest_two, report};
use crate::support::*;

/// The widths of phones, tablets and screens, in pixels.
const WIDTHS: [u32; 5] = [390, 768, 1280, 1440, 1920];

/// The upper edges of all charts, in pixels of the page.
const TOPS: &str =
    "[...document.querySelectorAll('.chart')].map((chart) => chart.getBoundingClientRect().top + scrollY)";

#[test]
fn charts_stay_where_they_are_when_values_appear() {
    let store = Store::embedded();
    ingest_two(&store);
    let path = report(&store, "2048");
    let Some(mut reader) = Reader::open(&path) else { return };
    for width in WIDTHS {
        resize(&mut reader.browser, width);
        reader.browser.open(&path);
        for run in [1, 0] {
            reader.see(run);
            hover_over_seconds(&mut reader, run, width);
            hover_over_points(&mut reader, run, width);
        }
    }
}

/// Moves over the charts over time.
fn hover_over_seconds(reader: &mut Reader, run: usize, width: u32) {
    let places = [0.01, 0.1, 0.5, 0.99].map(|share| reader.place(run, share, 1.0));
    reader.browser.pointer("mouseMoved", 1.0, 1.0, false);
    let before = reader.browser.evaluate(TOPS);
    for (x, y) in places {
        reader.browser.pointer("mouseMoved", x, y, false);
        let told = reader.told(run);
        assert_ne!(text(&told, "second"), "", "at {width} px, {x}: {told}");
        assert_eq!(reader.browser.evaluate(TOPS), before, "at {width} px, {x}");
    }
}

/// Moves over the charts whose points are no seconds.
fn hover_over_points(reader: &mut Reader, run: usize, width: u32) {
    let pictures = format!(
        "[...document.querySelectorAll('#live-{run} .chart[tabindex] svg, #load-{run} .chart[tabindex] svg')]"
    );
    let count = reader.browser.evaluate(&format!("{pictures}.length")).as_u64().unwrap();
    assert!(count > 0);
    for at in 0..count {
        let place = format!(
            "new Promise((done) => {{
                const picture = {pictures}[{at}];
                picture.scrollIntoView({{ block: 'center' }});
                let [last, still] = ['', 0];
                const look = () => {{
                    const rect = JSON.stringify(picture.getBoundingClientRect());
                    still = rect === last ? still + 1 : 0;
                    last = rect;
                    still < 5 ? requestAnimationFrame(() => setTimeout(look, 10)) : done(JSON.parse(rect));
                }};
                look();
            }})"
        );
        let rect: Value = reader.browser.evaluate(&place);
        let of = |name: &str| rect[name].as_f64().unwrap();
        let before = reader.browser.evaluate(TOPS);
        for share in [0.2, 0.5, 0.9] {
            let (x, y) = (of("left") + share * of("width"), of("top") + of("height") / 2.0);
            reader.browser.pointer("mouseMoved", x, y, false);
            assert_eq!(reader.browser.evaluate(TOPS), before, "at {width} px, chart {at} of run {run}");
        }
    }
}
