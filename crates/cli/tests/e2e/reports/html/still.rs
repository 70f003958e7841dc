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
        for framework in ["spring", "nio"] {
            reader.see(framework);
            reader.unfold("load");
            reader.unfold("network");
            hover(&mut reader, width);
            reader.see_test();
            hover(&mut reader, width);
        }
    }
}

/// Moves over all charts that are seen.
fn hover(reader: &mut Reader, width: u32) {
    let pictures = "[...document.querySelectorAll('.chart svg.plot')].filter((svg) => svg.clientWidth > 0)";
    let count = reader.browser.evaluate(&format!("{pictures}.length")).as_u64().unwrap();
    assert!(count > 3);
    for at in 0..count {
        let rect: Value = reader.browser.evaluate(&format!(
            "(() => {{
                const picture = {pictures}[{at}];
                picture.scrollIntoView({{ block: 'center' }});
                const {{ left, top, width, height }} = picture.getBoundingClientRect();
                return {{ left, top, width, height }};
            }})()"
        ));
        let of = |name: &str| rect[name].as_f64().unwrap();
        reader.browser.pointer("mouseMoved", 1.0, 1.0, false);
        let before = reader.browser.evaluate(TOPS);
        for share in [0.2, 0.5, 0.9] {
            let (x, y) = (of("left") + share * of("width"), of("top") + of("height") / 2.0);
            reader.browser.pointer("mouseMoved", x, y, false);
            let title = format!("{pictures}[{at}].closest('figure').querySelector('h3').textContent");
            let title = reader.browser.evaluate(&title);
            assert_eq!(reader.browser.evaluate(TOPS), before, "at {width} px, {title}");
        }
    }
}
