//! What a reader chose on a live page stays while it is drawn anew.

use serde_json::json;

use super::same::NAMED;
use super::served::{free, until_it_shows};
use super::writer::{Watching, Writer, log, records};
use crate::support::*;
use crate::tools::chromium::Chromium;

/// The records of a second, some of another label.
fn both(second: i64) -> String {
    let all = records(second..second + 1, "");
    let of = |(number, line): (usize, &str)| match number % 5 {
        0 => line.replace(",Get,", ",Put,") + "\n",
        _ => line.to_owned() + "\n",
    };
    all.lines().enumerate().map(of).collect()
}

/// The order of the labels, those that are picked, the open parts, and where the page stands.
const CHOSEN: &str = "JSON.stringify([
    [...document.querySelectorAll('main th[aria-sort]')].map((head) => [head.textContent, head.getAttribute('aria-sort')]),
    [...document.querySelectorAll('main table button[aria-pressed=true]')].map((button) => button.textContent.trim()),
    [...document.querySelectorAll('main details')].map((part) => part.open),
    document.activeElement.textContent,
    [scrollY, location.hash],
])";

#[test]
fn order_of_labels_and_picked_ones_and_open_parts_and_the_place_stay_when_the_page_is_drawn_anew() {
    let Some(mut browser) = Chromium::start() else { return };
    let (store, address) = (Store::embedded(), free());
    let mut writer = Writer::new(&store, "run.jtl");
    let mut watching = Watching::begin(&store, &[&["run.jtl", "--serve", &address], &NAMED[..]].concat());
    writer.write(&log(0..1));
    (1..6).for_each(|second| writer.write(&both(second)));
    watching.until(4);
    let window = json!({ "width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": false });
    browser.call("Emulation.setDeviceMetricsOverride", window);
    browser.visit(&format!("http://{address}/"));
    until_it_shows(&mut browser, 5);
    browser.evaluate(
        "{
            document.querySelectorAll('main details.fold').forEach((fold) => (fold.open = true));
            const heads = [...document.querySelectorAll('main table.labels th button.sort')];
            heads.find(({ textContent }) => textContent.startsWith('Label')).click();
            const named = () => [...document.querySelectorAll('main table.labels tbody button')];
            named().find(({ textContent }) => textContent.trim() === 'Put').click();
        }",
    );
    // Parts are drawn after they have opened.
    browser.evaluate(
        "new Promise((done) => setTimeout(() => {
            scrollTo(0, 500);
            const named = [...document.querySelectorAll('main table.labels tbody button')];
            named.find(({ textContent }) => textContent.trim() === 'Get').focus({ preventScroll: true });
            done();
        }, 300))",
    );
    let chosen = browser.evaluate(CHOSEN).as_str().unwrap().to_owned();
    assert_told(&chosen, &["Label", "ascending", "Put", "true", "Get", "[500,\"#/run/live"]);
    for second in 6..9 {
        writer.write(&both(second));
        until_it_shows(&mut browser, u32::try_from(second).unwrap());
        assert_eq!(browser.evaluate(CHOSEN).as_str().unwrap(), chosen, "{second}");
    }
    // A page that is paused stays as it is, until it goes on.
    let pause = "[...document.querySelectorAll('.actions button')].find(({ textContent }) => /Pause|Go on/.test(textContent)).click()";
    browser.evaluate(pause);
    writer.write(&both(9));
    watching.until(8);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    until_it_shows(&mut browser, 8);
    browser.evaluate(pause);
    until_it_shows(&mut browser, 9);
    // A chosen window stays, though the run goes on.
    browser.evaluate("document.activeElement.blur()");
    browser.key("+");
    let shown = "document.querySelector('.window-text').textContent";
    let window = browser.evaluate(shown).as_str().unwrap().to_owned();
    assert!(!window.starts_with("0:00 to"), "{window}");
    writer.write(&both(10));
    watching.until(9);
    browser.evaluate(
        "new Promise((done) => {
            const look = () => document.querySelector('.pill').textContent === 'live, 0:10' ? done(true) : setTimeout(look, 20);
            look();
        })",
    );
    assert_eq!(browser.evaluate(shown).as_str().unwrap(), window);
    watching.end("INT");
}
