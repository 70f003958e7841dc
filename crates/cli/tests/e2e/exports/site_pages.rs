//! The figures that the pages of a site give, read in a browser, against those of the commands.

use std::collections::HashMap;

use crate::support::*;
use crate::tools::chromium::Chromium;

/// Keeps the files that a page offers, instead of saving them.
const KEEP: &str =
    "window.kept = []; URL.createObjectURL = (blob) => { kept.push(blob.text()); return '#kept'; };
    HTMLAnchorElement.prototype.click = () => {};";

/// A log of 100 seconds with some 60 requests in each, which take about `elapsed` ms; some fail.
fn log(start_ms: i64, elapsed: f64, seed: u64) -> String {
    let mut chance = fastrand::Rng::with_seed(seed);
    let mut text = "timeStamp,elapsed,label,responseCode,success,allThreads\n".to_owned();
    for second in 0..100_i64 {
        let threads = (1 + second / 4).min(12);
        for _ in 0..chance.i64(55..65) * threads / 12 {
            let took = (elapsed * (0.5 + chance.f64() + chance.f64().powi(6))) as i64;
            let (label, fails) = (chance.u32(0..3), chance.u32(0..200) == 0);
            let code = if fails { 503 } else { 200 };
            let at = start_ms + second * 1000 + chance.i64(0..1000);
            text += &format!("{at},{took},req{label},{code},{},{threads}\n", !fails);
        }
    }
    text
}

/// Six commits of two frameworks, with a CPU export each; one of them gets slower.
fn filled() -> Store {
    let store = Store::embedded();
    for run in 0..12_i64 {
        let (framework, commit) = (["go", "node"][run as usize % 2], run / 2);
        let elapsed = if framework == "node" && commit > 2 { 95.0 } else { 70.0 + 7.0 * (run % 2) as f64 };
        let start = 1_795_000_000_000 + run * 3_600_000;
        let log = store.file("run.csv", log(start, elapsed, run as u64));
        let reading = |second: i64| format!("{} {}\n", start / 1000 + second, 20 + (second * 7 + run) % 50);
        let cpu = store.file("cpu.txt", (0..100).map(reading).collect::<String>());
        let tag = format!("commit=c{commit}");
        let name = ["--framework", framework, "--test", "shop", "--append-repeat", "--tag", &tag];
        store.run(&[&["ingest", &log, &cpu], &name[..]].concat()).said();
    }
    store
}

/// Rows by the names of their columns.
type Rows = Vec<HashMap<String, String>>;

/// The pages of a site, and how many of their figures were compared.
struct Pages {
    chromium: Chromium,
    site: String,
    compared: usize,
}

impl Pages {
    /// Opens a page, and waits for what it is made of.
    fn open(&mut self, fragment: &str, ready: &str) {
        // All pages together take longer than a browser may that hangs.
        self.chromium.goes_on();
        self.chromium.visit("about:blank");
        self.chromium.visit(&format!("file://{}/index.html{fragment}", self.site));
        let drawn = format!(
            "new Promise((done) => {{ const look = () => document.querySelector({ready:?}) ? done(true) : setTimeout(look, 20); look(); }})"
        );
        self.chromium.evaluate(&drawn);
    }

    /// Takes the file that a choice of the page's menu offers.
    fn export(&mut self, choice: &str) -> Rows {
        self.chromium.evaluate(KEEP);
        let click = format!(
            "[...document.querySelectorAll('.menu-list button')].find((one) => one.textContent === {choice:?}).click()"
        );
        self.chromium.evaluate(&click);
        let kept = "new Promise((done) => { const look = () => kept[0] ? done(kept[0]) : setTimeout(look, 20); look(); })";
        rows(self.chromium.evaluate(kept).as_str().unwrap())
    }

    /// Compares a column of the page with one of the command, row by row.
    fn same(&mut self, of: &str, page: &Rows, own: &str, command: &Rows, theirs: &str) {
        assert_eq!(page.len(), command.len(), "{of}");
        for (one, other) in page.iter().zip(command) {
            let (one, other) = (&one[own], &other[theirs]);
            let is_same = match (one.parse::<f64>(), other.parse::<f64>()) {
                // Functions such as the logarithm differ in their last digit between processors.
                (Ok(a), Ok(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
                _ => one == other,
            };
            assert!(is_same, "{of}, {theirs}: {one} and {other}");
            self.compared += 1;
        }
    }
}

/// What a command writes as CSV.
fn table(store: &Store, arguments: &[&str]) -> Rows {
    let done = store.run(arguments);
    assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.err);
    rows(&String::from_utf8(done.out).unwrap())
}

#[test]
fn ten_thousand_figures_of_the_pages_are_those_of_the_commands() {
    let store = filled();
    let site = store.folder.path().join("public");
    store.run(&["site", site.to_str().unwrap()]).said();
    let Some(chromium) = Chromium::start() else { return };
    let mut pages = Pages { chromium, site: site.to_str().unwrap().to_owned(), compared: 0 };

    pages.open("", "table.runs");
    let home = pages.export("Runs as CSV");
    assert_eq!(home.len(), 12);
    for row in &home {
        let name = format!("{}_shop#{}", row["framework"], row["repeat"]);
        let summary = table(&store, &["export", &name, "--what", "summary", "--format", "csv"]);
        let row = vec![row.clone()];
        for (own, theirs) in [
            ("throughput (1/s)", "throughput"),
            ("p50 (ms)", "p50"),
            ("p95 (ms)", "p95"),
            ("p99 (ms)", "p99"),
            ("mean CPU (%)", "cpu_mean"),
            ("load max", "load_max"),
            ("failures", "failures"),
            ("duration (s)", "duration"),
        ] {
            pages.same(&name, &row, own, &summary, theirs);
        }
        pages.open(&format!("#/run/{}", row[0]["run"]), "#at-labels");
        let seconds = pages.export("Seconds (CSV)");
        let exported = table(&store, &["export", &name, "--what", "seconds", "--format", "csv"]);
        let columns = ["successes", "failures", "load", "cpu"].map(|name| (name, name));
        for (own, theirs) in columns.into_iter().chain([
            ("p25 ms", "p25"),
            ("p50 ms", "p50"),
            ("p75 ms", "p75"),
            ("p95 ms", "p95"),
        ]) {
            pages.same(&name, &seconds, own, &exported, theirs);
        }
    }

    let test = "[...document.querySelectorAll('a[href^=\"#/test/\"]')][0].getAttribute('href')";
    let test = pages.chromium.evaluate(test).as_str().unwrap().to_owned();
    pages.open(&test, ".menu-list button");
    let league = pages.export("League as CSV");
    let report = ["report", "--test", "shop", "--table", "csv", "--format", "svg"];
    let reported = table(&store, &report);
    for (own, theirs) in [
        ("rank low", "rank_low"),
        ("rank high", "rank_high"),
        ("throughput (1/s)", "throughput"),
        ("least (1/s)", "throughput_min"),
        ("greatest (1/s)", "throughput_max"),
        ("p50 (ms)", "p50"),
        ("p95 (ms)", "p95"),
        ("p99 (ms)", "p99"),
        ("failures (%)", "failures_percent"),
        ("mean CPU (%)", "cpu_mean"),
    ] {
        pages.same("league", &league, own, &reported, theirs);
    }

    let id = |name: &str, repeat: usize| {
        let is_it =
            |row: &&HashMap<String, String>| row["framework"] == name && row["repeat"] == repeat.to_string();
        home.iter().find(is_it).unwrap()["run"].clone()
    };
    let all = |name: &str| (1..=6).map(|repeat| id(name, repeat)).collect::<Vec<_>>().join(",");
    let mut pairs = vec![(all("go"), all("node"), "go_shop".to_owned(), "node_shop".to_owned())];
    for (one, other) in (1..=6).flat_map(|one| (1..=6).map(move |other| (one, other))) {
        pairs.push((
            id("go", one),
            id("node", other),
            format!("go_shop#{one}"),
            format!("node_shop#{other}"),
        ));
    }
    let (mut shown, mut hidden) = (0, 0);
    for (a, b, one, other) in pairs {
        pages.open(&format!("#/compare?a={a}&b={b}"), ".menu-list button");
        let changes = pages.export("Changes as CSV");
        let compared = table(&store, &["compare", &one, &other, "--format", "csv"]);
        for column in [
            "part",
            "measure",
            "unit",
            "a",
            "b",
            "change_percent",
            "change_percent_low",
            "change_percent_high",
            "difference_low",
            "difference_high",
            "outcome",
            "p",
            "p_adjusted",
            "noise",
        ] {
            pages.same(&format!("{one} and {other}"), &changes, column, &compared, column);
        }
        for change in &changes {
            let Ok(low) = change["joint_percent_low"].parse::<f64>() else { continue };
            let excludes_zero =
                low > 0.0 || change["joint_percent_high"].parse().unwrap_or(f64::INFINITY) < 0.0;
            let is_called =
                ["worse", "better", "more", "less"].iter().any(|word| change["outcome"].contains(word));
            assert_eq!(excludes_zero, is_called, "{change:?}");
            *(if is_called { &mut shown } else { &mut hidden }) += 1;
        }
    }
    assert!(shown > 50 && hidden > 50, "{shown} {hidden}");

    for framework in ["go", "node"] {
        pages.open(&format!("{}?framework={framework}", test.replace("/test/", "/trend/")), ".trend-point");
        let versions = pages.export("Versions as CSV");
        let trend =
            ["trend", "--test", "shop", "--framework", framework, "--by", "tag:commit", "--format", "csv"];
        let command = table(&store, &trend);
        for (own, theirs) in versions[0].keys().filter_map(|own| Some((own, trend_column(own)?))) {
            pages.same(framework, &versions, own, &command, theirs);
        }
    }
    let (complaints, requests) = pages.chromium.complaints_and_requests();
    assert!(complaints.is_empty(), "{complaints:?}");
    assert!(
        requests
            .iter()
            .all(|url| url.starts_with("file:") || url.starts_with("about:") || url.starts_with("data:")),
        "{requests:?}"
    );
    assert!(pages.compared >= 10_000, "{} figures", pages.compared);
    println!("{} figures of the pages are equal", pages.compared);
}

/// The command's column of one of the page.
fn trend_column(own: &str) -> Option<&'static str> {
    Some(match own.split(' ').next()? {
        "version" => "version",
        "throughput" => "throughput",
        "p25" => "p25",
        "p50" => "p50",
        "p75" => "p75",
        "p95" => "p95",
        "failures" => "failures_percent",
        "CPU" => "cpu_mean",
        _ => return None,
    })
}
