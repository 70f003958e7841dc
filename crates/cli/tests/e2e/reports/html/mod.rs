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

use self::reader::{Reader, agrees};

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

/// A report without the figures that comparisons are made of: they have the time of the ingest.
fn without_figures(html: &str) -> String {
    let mut parts = html.split("<script>perfpipe.run(");
    let first = parts.next().unwrap().split_once("</head>").unwrap().1.to_owned();
    let run = |part: &str| {
        let (shown, rest) = part.rsplit_once("\",\"").unwrap();
        format!("{shown}{}", rest.split_once("</script>").unwrap().1)
    };
    first + &parts.map(run).collect::<String>()
}

#[test]
fn both_stores_give_the_same_report_and_it_is_small() {
    let mut all = Vec::new();
    for store in Store::each() {
        ingest_two(&store);
        let html = std::fs::read_to_string(report(&store, "2048")).unwrap();
        assert!(html.len() < 1_000_000, "{} bytes", html.len());
        for part in ["<title>2048 – perfpipe</title>", "\"nio\"", "<td>spring 2048 #1"] {
            assert!(html.contains(part), "{part}");
        }
        all.push(without_figures(&html));
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
    let league = store.run(&["report", "--test", "2048", "--table", "json"]).rows();
    let Some(mut reader) = Reader::open(&path) else { return };
    let notes = reader.browser.evaluate("document.querySelector('.plain-list').textContent");
    for note in ["Figures are medians over a framework", "Not ranked, with > 1 % failures: spring."] {
        assert!(notes.as_str().unwrap().contains(note), "{note}: {notes}");
    }
    let cells = reader.cells(".league");
    assert_eq!(cells.len(), league.len());
    for row in &league {
        let name = text(row, "framework");
        let shown = cells.iter().find(|cells| cells[1].starts_with(name)).unwrap();
        agrees(&shown[3], &row["throughput"]);
        match shown[4].split_once(" to ") {
            Some((least, greatest)) => {
                agrees(least, &row["throughput_min"]);
                agrees(greatest, &row["throughput_max"]);
            }
            None => assert_eq!(row["repeats"], 1, "{shown:?}"),
        }
    }
    let name = "[...document.querySelectorAll('.league tbody a')].find((a) => a.textContent.includes('127'))";
    for width in [1920, 1280, 1024] {
        reader::resize(&mut reader.browser, width);
        let height = format!("{name}.getBoundingClientRect().height");
        assert!(reader.browser.number(&height) < 30.0, "the name is broken on a page of {width} px");
    }
    reader.end();
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
    assert!(html.contains("<title>go 2048 #1 – perfpipe</title>"));
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
    if Chromium::start().is_none() {
        return;
    }
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
    let mut pages = vec![report(&store, "2048")];
    store
        .run(&["ingest", &file, "--framework", "other", "--test", "2048", "--tag", "version=</script>"])
        .said();
    pages.push(report(&store, "2048"));
    for path in pages {
        let mut browser = Chromium::start().unwrap();
        let address = browser.open(&path);
        for state in ["", "#/", "#/compare", "#/trend"] {
            browser.evaluate(&format!("location.hash = '{state}'"));
            browser.evaluate("new Promise((done) => setTimeout(done, 300))");
            let (complaints, requests) = browser.complaints_and_requests();
            assert_eq!((complaints, requests), (Vec::new(), vec![address.clone()]), "{state}");
            assert_eq!(browser.evaluate("typeof window.hurt"), "undefined");
            assert_eq!(browser.number("document.images.length"), 0.0);
        }
        let shown = browser.evaluate("document.querySelector('nav').textContent");
        assert!(shown.as_str().unwrap().contains("2048"), "{shown}");
    }
}

#[test]
fn pages_without_scripts_have_a_table_of_the_runs() {
    let Some(mut browser) = Chromium::start() else { return };
    let store = Store::embedded();
    ingest_two(&store);
    let path = report(&store, "2048");
    browser.open(&path);
    browser.call("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    browser.load("Page.reload", json!({}));
    let rows = browser
        .evaluate("[...document.querySelectorAll('table tr')].map((row) => row.cells[0].textContent.trim())");
    assert_eq!(rows, json!(["Run", "spring 2048 #1", "nio 2048 #1"]));
    assert_eq!(browser.number("document.querySelectorAll('button, svg, input').length"), 0.0);
}

/// A link to anywhere else, a picture, a style or a program that came into the page would not be asked for.
#[test]
fn policy_lets_nothing_be_asked_for() {
    let store = Store::embedded();
    ingest_two(&store);
    let Some(mut reader) = Reader::open(&report(&store, "2048")) else { return };
    let tried = reader.browser.evaluate(
        "(async () => {
            const refused = [];
            addEventListener('securitypolicyviolation', ({ effectiveDirective }) => refused.push(effectiveDirective));
            const add = (tag, attributes) => document.body.append(Object.assign(document.createElement(tag), attributes));
            add('img', { src: 'http://127.0.0.1:9/x' });
            add('script', { src: 'http://127.0.0.1:9/x' });
            add('script', { textContent: 'window.hurt = 1' });
            add('link', { rel: 'stylesheet', href: 'http://127.0.0.1:9/x' });
            add('iframe', { src: 'http://127.0.0.1:9/x' });
            await fetch('http://127.0.0.1:9/x').catch(() => {});
            await new Promise((done) => setTimeout(done, 300));
            return [refused.sort(), typeof window.hurt];
        })()",
    );
    let refused =
        ["connect-src", "frame-src", "img-src", "script-src-elem", "script-src-elem", "style-src-elem"];
    assert_eq!(tried, json!([refused, "undefined"]));
}

#[test]
fn rules_are_told_with_their_figures() {
    let store = Store::embedded();
    ingest_two(&store);
    let rules = "rules = [\"p50 < 1s\", \"failures < 1%\", \"p50 of \\\"nothing\\\" < 1s\"]\n";
    let rules = store.file("rules.toml", rules);
    let folder = store.folder.path().join("html");
    let flags = ["report", "--test", "2048", "--format", "html", "--phase", "hold", "--rules", &rules];
    store.run(&[&flags[..], &["--out", folder.to_str().unwrap()]].concat()).text();
    let check =
        ["check", "--test", "2048", "--phase", "hold", "--format", "json", "p50 < 1s", "failures < 1%"];
    let checked = store.run(&check).rows_anyway();
    if let Some(mut reader) = Reader::open(&folder.join("report_2048+hold.html")) {
        let head = reader.browser.evaluate("document.querySelector('.page-head').textContent");
        assert_told(head.as_str().unwrap(), &["✗ 3 of 6 rules failed", "Chosen: phase hold."]);
        reader.wait("document.querySelectorAll('#at-rules tbody tr').length === 6");
        let shown = reader.cells("#at-rules table");
        assert_eq!(shown.iter().filter(|row| row[0].starts_with("✗ ")).count(), 3);
        for row in checked.iter().filter(|row| row["value"].is_number()) {
            let run = format!("{} #1", text(row, "run").split('_').next().unwrap());
            let own =
                shown.iter().find(|cells| cells[0].ends_with(text(row, "rule")) && cells[1] == run).unwrap();
            assert_eq!(own[0].starts_with("✓ "), row["passed"].as_bool().unwrap(), "{own:?}");
            agrees(own[2].split(' ').next().unwrap(), &row["value"]);
        }
        reader.see("spring");
        let failed = reader.cells(".rules table");
        assert_eq!(failed.len(), 2, "{failed:?}");
        assert!(failed.iter().any(|row| row.last().unwrap().contains("no label")), "{failed:?}");
        reader.end();
    }
    let flags = ["report", "--test", "2048", "--format", "svg", "--rules", &rules];
    let complaint = store.run(&flags).complaint(2);
    assert!(complaint.contains("--format html"), "{complaint}");
    let rules = store.file("rules.toml", "rules = [\"p95 < baseline * 1.1\"]\n");
    let flags = ["report", "--test", "2048", "--format", "html", "--rules", &rules];
    let complaint = store.run(&flags).complaint(2);
    assert!(complaint.contains("perfpipe check --baseline"), "{complaint}");
}
