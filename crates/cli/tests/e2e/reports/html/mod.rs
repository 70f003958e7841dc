//! The HTML report: the same from both stores, and what it does in a browser.

mod accessible;
mod asked;
mod axes;
mod figures;
mod reader;
mod series;
mod spread;
mod still;

use std::path::PathBuf;

use serde_json::json;

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
        // The page of all frameworks, and for each run one over time and one over load.
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
    let league = store.run(&["report", "--test", "2048", "--table", "json"]).rows();
    let Some(mut browser) = Chromium::start() else { return };
    browser.open(&path);
    for row in &league {
        let name = text(row, "framework");
        let range = [&row["throughput_min"], &row["throughput_max"]].map(|figure| figure.as_f64().unwrap());
        let cells = browser.evaluate(&format!(
            "[...document.querySelectorAll('.league tbody tr')].find((row) => row.textContent.includes('{name}')).textContent"
        ));
        let shown = format!("{:.1} – {:.1}", range[0], range[1]);
        assert!(cells.as_str().unwrap().replace(',', "").contains(&shown), "{cells}: {shown}");
    }
    let name = "[...document.querySelectorAll('.league tbody a')].find((a) => a.textContent.includes('127'))";
    for width in [1920, 1280, 1024] {
        reader::resize(&mut browser, width);
        let lines = format!("{name}.getClientRects().length");
        assert_eq!(browser.number(&lines), 1.0, "the name is broken on a page of {width} px");
    }
}

#[test]
fn ingest_writes_its_report_too() {
    let store = Store::embedded();
    let log = fixture("crlf.csv");
    let folder = store.folder.path().join("html");
    let key = ["--framework", "go", "--test", "2048", "--page-format", "html,svg"];
    let out = ["--out", folder.to_str().unwrap()];
    store.run(&[&["ingest", log.to_str().unwrap()], &key[..], &out].concat()).said();
    let html = std::fs::read_to_string(folder.join("report_go_2048.html")).unwrap();
    assert!(html.contains("</i>go 2048</h2>"));
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
    let heading = browser.evaluate("document.querySelector('.run h2').textContent");
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
    browser.evaluate("document.querySelector('.sheet-slot button').click()");
    assert_eq!(browser.number(heights), 1.0);
    browser.call("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    browser.load("Page.reload", json!({}));
    assert_eq!(browser.number(heights), 5.0);
    assert_eq!(
        browser.number(
            "[...document.querySelectorAll('.tool, .interactive, .help')].filter((e) => e.offsetHeight > 0).length"
        ),
        0.0
    );
}

#[test]
fn rules_are_told_on_the_first_screen() {
    let store = Store::embedded();
    ingest_two(&store);
    let rules = "rules = [\"p50 < 1s\", \"failures < 1%\", \"p50 of \\\"nothing\\\" < 1s\"]\n";
    let rules = store.file("rules.toml", rules);
    let folder = store.folder.path().join("html");
    let flags = ["report", "--test", "2048", "--format", "html", "--phase", "hold", "--rules", &rules];
    store.run(&[&flags[..], &["--out", folder.to_str().unwrap()]].concat()).text();
    let html = std::fs::read_to_string(folder.join("report_2048+hold.html")).unwrap();
    for part in ["✗ 3 of 6 rules failed.", "✓ passed", "no label", "<b>Chosen:</b> phase hold<"] {
        assert!(html.contains(part), "{part}");
    }
    let flags = ["report", "--test", "2048", "--format", "svg", "--rules", &rules];
    let complaint = store.run(&flags).complaint(2);
    assert!(complaint.contains("--format html"), "{complaint}");
    let rules = store.file("rules.toml", "rules = [\"p95 < baseline * 1.1\"]\n");
    let flags = ["report", "--test", "2048", "--format", "html", "--rules", &rules];
    let complaint = store.run(&flags).complaint(2);
    assert!(complaint.contains("perfpipe check --baseline"), "{complaint}");
}
