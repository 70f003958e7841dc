//! What a reader chose on a live page stays while it is drawn anew.

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

/// The order of the tables, the hidden lines and the picked label.
const CHOSEN: &str = "JSON.stringify([
    [...document.querySelectorAll('main th[aria-sort]')].map((heading) => [heading.textContent, heading.getAttribute('aria-sort')]),
    [...document.querySelectorAll('main .key button[aria-pressed=false]')]
        .map((button) => [button.closest('.chart').querySelector('h4').textContent, button.querySelector('.name').textContent]),
    [...document.querySelectorAll('main select')].map((select) => select.selectedOptions[0].text),
    [...document.querySelectorAll('main table')].map((table) => table.tBodies[0].rows[0].cells[0].textContent),
])";

#[test]
fn order_of_tables_and_hidden_lines_and_the_label_stay_when_the_page_is_drawn_anew() {
    let Some(mut browser) = Chromium::start() else { return };
    let (store, address) = (Store::embedded(), free());
    let mut writer = Writer::new(&store, "run.jtl");
    let mut watching = Watching::begin(&store, &[&["run.jtl", "--serve", &address], &NAMED[..]].concat());
    writer.write(&log(0..1));
    (1..6).for_each(|second| writer.write(&both(second)));
    watching.until(4);
    browser.visit(&format!("http://{address}/"));
    until_it_shows(&mut browser, 5);
    browser.evaluate(
        "new Promise((done) => {
            document.querySelectorAll('main details').forEach((details) => (details.open = true));
            const look = () => document.querySelector('main .built') ? done(true) : setTimeout(look, 20);
            look();
        })",
    );
    browser.evaluate(
        "{
            const select = document.querySelector('main select');
            select.selectedIndex = [...select.options].findIndex(({ text }) => text === 'Put');
            select.dispatchEvent(new Event('change'));
            for (const table of document.querySelectorAll('main table')) {
                const button = table.querySelectorAll('thead th button')[0];
                button.click();
                button.click();
            }
            const lines = [...document.querySelectorAll('main .key button')];
            lines.filter((button) => ['p50', 'load'].includes(button.querySelector('.name').textContent)).forEach((button) => button.click());
            document.activeElement.blur();
        }",
    );
    let chosen = browser.evaluate(CHOSEN).as_str().unwrap().to_owned();
    assert_told(&chosen, &["Put", "p50", "load", "Response time of Put (ms)", "descending"]);
    for second in 6..9 {
        writer.write(&both(second));
        until_it_shows(&mut browser, u32::try_from(second).unwrap());
        assert_eq!(browser.evaluate(CHOSEN).as_str().unwrap(), chosen, "{second}");
    }
    // A part that is looked at holds the page; what was chosen stays when it goes on.
    browser.evaluate("document.querySelector('main .key button').focus()");
    writer.write(&both(9));
    watching.until(8);
    browser.key("Escape");
    until_it_shows(&mut browser, 9);
    assert_eq!(browser.evaluate(CHOSEN).as_str().unwrap(), chosen);
    watching.end("INT");
}
