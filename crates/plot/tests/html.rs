//! The report as one HTML file: whole, small, repeatable, and nothing in it but what it should hold.

#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it should be")]

mod support;

use std::io::Read;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use perfpipe_analyze::breakdown::{
    Details, Distribution, ErrorKind, FailuresOverTime, HeatColumn, LabelOverTime, LabelStats,
    NetworkOverTime,
};
use perfpipe_analyze::{Finding, League, Second, Timeline, Verdict, View, check, diagnose};
use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
use perfpipe_plot::{Palette, Report, ReportRun, Style, html};
use serde_json::Value;

/// Details with so many different times in each second, and as many labels.
fn details(run: &Timeline, times: i32, labels: u64) -> Details {
    let mut dice = support::Dice::new(run.seconds.len() as u64);
    let column = |second: &Second| {
        let mut many = |ms: i32| {
            let usual = (-f64::from(ms - 40).powi(2) / 5000.0).exp();
            (ms, 1 + (100.0 * usual * dice.around(0.2)) as u64)
        };
        let mut column = HeatColumn::default();
        (column.second, column.counts) = (second.second, (5..5 + times).map(&mut many).collect());
        column
    };
    let mut details = Details::default();
    (details.heatmap.width, details.heatmap.exact) = (1, true);
    details.heatmap.columns = run.seconds.iter().map(column).collect();
    details.curve = (0..100).map(|percent| (f64::from(percent), f64::from(percent) * 3.5)).collect();
    details.successes = Distribution::new(&(0..times).collect());
    details.errors.push(failures());
    details.labels = vec![label("Get \"<x>\"", 7, 0), label("Post", 1, 3)];
    details.over_time.width = 2;
    details.over_time.labels = (0..labels).map(|at| label_over_time(run, at)).collect();
    details.network.all = network_over_time(run, 1, 0);
    // As many columns as a run of this length has.
    let width = (run.seconds.len() as u32).div_ceil((500 / labels as u32).min(150)).max(1);
    details.network.labels = (0..labels).map(|at| network_over_time(run, width, at)).collect();
    let mut failures = FailuresOverTime::default();
    (failures.label, failures.response_code) = ("</script>".to_owned(), "<503>".to_owned());
    failures.counts = vec![0; run.seconds.len() / 2];
    details.over_time.failures.push(failures);
    details.sweep = Some(support::sweep());
    details
}

fn failures() -> ErrorKind {
    let mut kind = ErrorKind::default();
    (kind.response_code, kind.message) = ("<503>".to_owned(), "</td></script>&".to_owned());
    (kind.count, kind.first, kind.last) = (12, 3, 9);
    kind.labels = vec![("<i>Get</i>".to_owned(), 11), ("Post".to_owned(), 1)];
    kind
}

fn label(name: &str, successes: u64, failures: u64) -> LabelStats {
    let mut stats = LabelStats::default();
    (stats.label, stats.successes, stats.failures) = (name.to_owned(), successes, failures);
    stats
}

fn label_over_time(run: &Timeline, at: u64) -> LabelOverTime {
    let columns = || 0..run.seconds.len() as u64 / 2;
    let mut label = LabelOverTime::default();
    label.label = format!("Get {at}");
    label.successes = columns().map(|column| (column * 7919 + at) % 900).collect();
    label.failures = columns().map(|_| 0).collect();
    label.p50 = columns().map(|column| Some(((column * 31 + at) % 90) as f64)).collect();
    label.p95 = columns().map(|column| Some(((column * 37 + at) % 190) as f64)).collect();
    label
}

/// Waits and bytes that differ in each column, as those of a real run.
fn network_over_time(run: &Timeline, width: u32, at: u64) -> NetworkOverTime {
    let mut dice = support::Dice::new(at);
    let columns = run.seconds.len() / width as usize;
    let mut waits =
        |around: f64| -> Vec<Option<f64>> { (0..columns).map(|_| Some(around * dice.around(0.2))).collect() };
    let mut network = NetworkOverTime::default();
    network.width = width;
    network.elapsed_mean = waits(60.0);
    network.latency_mean = waits(55.0);
    network.connect_mean = waits(0.3);
    network.bytes = waits(90_000.0).into_iter().flatten().map(|bytes| bytes as i64).collect();
    network.sent_bytes = waits(30_000.0).into_iter().flatten().map(|bytes| bytes as i64).collect();
    network
}

/// A run of a hundred requests a second of 12 ms, but none from second 20 to second 24.
fn stalled() -> StoredRun {
    let cell = Cell { elapsed: vec![(12, 100)], ..Cell::default() };
    let key = |second| CellKey { second, label: 0, success: true, transaction: false };
    let cells = (0..60).filter(|at| !(20..25).contains(at)).map(|at| (key(at), cell.clone()));
    let info = RunInfo::new(RunKey::new("<a>", "2048"), 0, 59_900);
    StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], cells))
}

/// What stands out in each run.
fn findings() -> Vec<Finding> {
    diagnose(&stalled(), &View::default(), None).unwrap()
}

/// The verdicts of rules on each run.
fn verdicts(rules: &[&str]) -> Vec<Verdict> {
    let rules: Vec<_> = rules.iter().map(|rule| rule.parse().unwrap()).collect();
    check(&rules, &stalled(), &View::default(), None).unwrap()
}

fn report_with(runs: &[Timeline], style: &Style, verdicts: &[Verdict]) -> String {
    let details: Vec<Details> = runs.iter().map(|run| details(run, 5, 3)).collect();
    report_of(runs, &details, style, verdicts)
}

fn report_of(runs: &[Timeline], details: &[Details], style: &Style, verdicts: &[Verdict]) -> String {
    let (league, findings) = (League::new(runs).unwrap(), findings());
    let run = |(timeline, details)| ReportRun { timeline, details, findings: &findings };
    let runs = runs.iter().zip(details).map(run).collect();
    html(&Report { test: "2048", runs, league: &league, verdicts }, style).unwrap()
}

fn report(runs: &[Timeline]) -> String {
    report_with(runs, &Style::default(), &[])
}

/// What stands between two marks, the first time.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}

/// The packed data of an element.
fn unpacked(html: &str, id: &str) -> Value {
    let text = between(html, &format!("id=\"{id}\">"), "</script>");
    let mut json = String::new();
    let bytes = BASE64_STANDARD.decode(text).unwrap();
    flate2::read::ZlibDecoder::new(&bytes[..]).read_to_string(&mut json).unwrap();
    serde_json::from_str(&json).unwrap()
}

/// The second repeat of a run.
fn again(mut run: Timeline, repeat: u32) -> Timeline {
    run.info.key.repeat = repeat;
    run.summary.throughput += f64::from(repeat);
    run
}

#[test]
fn size_of_a_run_of_seven_minutes_is_as_documented() {
    let runs = [support::ramp("perfectnio")];
    // A busy run.
    let details = [details(&runs[0], 250, 30)];
    let html = report_of(&runs, &details, &Style::default(), &[]);
    // The documentation promises 0.3 MB.
    assert!(html.len() < 310_000, "{} bytes", html.len());
    assert_eq!(html, report_of(&runs, &details, &Style::default(), &[]));
}

#[test]
fn file_names_nothing_that_could_be_loaded() {
    let html = report(&support::field());
    for part in ["http:", "https:", "url(", "@import", "src=", "<link", "<base", "<iframe"] {
        // The name space of SVG is a name, and is never asked for.
        let rest = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!rest.contains(part), "{part}");
    }
    let policy = between(&html, "Content-Security-Policy\" content=\"", "\"");
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("self"), "{policy}");
}

#[test]
fn texts_of_users_are_escaped() {
    let mut run = support::short(5);
    run.info.key.framework = "<img src=x onerror=alert(1)></script>\u{0}".to_owned();
    let html = report_with(&[run], &Style::default(), &verdicts(&["p50 < 5ms"]));
    assert!(!html.contains("<img") && !html.contains('\u{0}'));
    for part in [
        "&lt;img src=x onerror=alert(1)&gt;",
        ">&lt;503&gt;</td>",
        ">&lt;/td&gt;&lt;/script&gt;&amp;</td>",
        ">&lt;i&gt;Get&lt;/i&gt; (11), Post (1)</td>",
        ">Get &quot;&lt;x&gt;&quot;</td>",
        ">&lt;a&gt;_2048</td>",
        ">p50 &lt; 5ms</td>",
    ] {
        assert!(html.contains(part), "{part}");
    }
    // The ends of the index, the seconds, the details and the program, and no other.
    assert_eq!(html.matches("</script>").count(), 4);
}

#[test]
fn runs_stand_best_first_as_in_the_league() {
    let names = ["slow", "fast", "middling"];
    let runs: Vec<Timeline> = names
        .iter()
        .zip([10.0, 900.0, 80.0])
        .map(|(name, rate)| support::steady(name, rate, 0.1, 9))
        .collect();
    let html = report(&runs);
    let order = ["</i>fast 2048</h2>", "</i>middling 2048</h2>", "</i>slow 2048</h2>"]
        .map(|name| html.find(name).unwrap());
    assert!(order.is_sorted());
    let index = between(&html, "id=\"index\">", "</script>");
    assert!(index.find("\"fast\"").unwrap() < index.find("\"slow\"").unwrap());
    // A run alone is compared with nothing, and has no section for that.
    let alone = report(&runs[..1]);
    assert!(html.contains("id=\"compare\"") && !alone.contains("id=\"compare\""));
    assert!(html.contains("<h2>3 frameworks – 2048</h2>") && !alone.contains("All frameworks"));
}

#[test]
fn repeats_share_the_colour_and_the_section_of_their_framework() {
    let fast = support::steady("fast", 900.0, 0.1, 9);
    let runs = [
        support::steady("slow", 10.0, 0.1, 9),
        again(fast.clone(), 2),
        again(fast.clone(), 3),
        again(fast, 1),
    ];
    let html = report(&runs);
    let index: Value = serde_json::from_str(between(&html, "id=\"index\">", "</script>")).unwrap();
    let heads = index["runs"].as_array().unwrap();
    let told = |head: &Value| {
        (head["name"].as_str().unwrap().to_owned(), head["color"].as_u64(), head["median"].as_bool())
    };
    let expected = [("fast#1", 0, false), ("fast#2", 0, true), ("fast#3", 0, false), ("slow", 1, true)];
    let expected = expected.map(|(name, color, median)| (name.to_owned(), Some(color), Some(median)));
    assert_eq!(heads.iter().map(told).collect::<Vec<_>>(), expected);
    let order = [
        "<h2><i class=\"swatch of-0\"></i>fast</h2>",
        "<h3>fast 2048 #1</h3>",
        "<h3>fast 2048 #2 <small>median",
        "</i>slow 2048</h2>",
    ]
    .map(|name| html.find(name).unwrap_or_else(|| panic!("{name}")));
    assert!(order.is_sorted());
    // The contents and the league lead to them.
    assert!(html.contains("<a href=\"#framework-0\">fast</a> <a href=\"#run-0\">#1</a>"));
    assert!(
        html.contains(
            "<span class=\"short\"><i class=\"swatch of-1\"></i><a href=\"#run-3\">slow</a></span>"
        )
    );
}

#[test]
fn first_screen_says_what_was_tested_and_what_came_of_it() {
    let mut run = support::outage();
    (run.view.from, run.view.to, run.view.label) = (Some(3), Some(99), Some("Get".to_owned()));
    let verdicts = verdicts(&["p50 < 20ms", "p95 < 10ms"]);
    let html = report_with(&[run], &Style::default(), &verdicts);
    let head = between(&html, "<header>", "</header>");
    for part in [
        "<dt>Started</dt><dd>20 November 2026, 19:42 UTC</dd>",
        "<dt>Duration</dt><dd>2 min</dd>",
        "<dt>Requests</dt>",
        "<div class=\"failing\"><dt>Failures</dt><dd>✗ ",
        "<dt>Peak load</dt><dd>600 threads</dd>",
        "<dt>p95</dt>",
        "<b>Chosen:</b> seconds 3 to 99  ·  label Get",
    ] {
        assert!(head.contains(part), "{part}: {head}");
    }
    assert!(html.contains("✗ 1 of 2 rules failed."));
    let broken = between(&html, "<table class=\"verdicts\">", "</table>");
    assert!(broken.contains("p95 &lt; 10ms") && !broken.contains("p50 &lt; 20ms"), "{broken}");
    assert!(
        between(&html, "<details class=\"held\"><summary>✓ 1 of 2 passed", "</details>")
            .contains("p50 &lt; 20ms")
    );
    assert!(
        html.contains("<b>pause</b> <a href=\"#run-0\" data-from=\"20\" data-to=\"24\">0:20–0:24</a> "),
        "{html}"
    );
    // Nothing is told of rules or choices where there are none.
    let plain = report(&[support::short(5)]);
    assert!(!plain.contains("Chosen:") && !plain.contains("rules failed"));
}

#[test]
fn all_that_may_be_the_best_of_the_league_are_named() {
    let runs = |repeats: &[f64]| -> Vec<Timeline> {
        let rates = [("a", 80.0), ("b", 80.0), ("c", 10.0)];
        let all = repeats.iter().flat_map(|factor| rates.map(|(name, rate)| (name, factor * rate)));
        all.map(|(name, rate)| {
            let mut run = support::steady(name, rate, 0.0, 9);
            run.summary.throughput = rate;
            run
        })
        .collect()
    };
    let repeated = runs(&[0.99, 1.0, 1.01]);
    assert!(report(&repeated).contains("<dt>May be best</dt><dd>a 80.0/s, b 80.0/s</dd>"));
    assert!(report(&runs(&[1.0])[1..]).contains("<dt>Highest throughput</dt><dd>b 80.0/s</dd>"));
}

#[test]
fn labels_have_throughput_failures_and_a_total() {
    let html = report(&[support::short(5)]);
    let labels = between(&html, "<table class=\"labels\">", "</table>");
    for part in [
        "throughput (1/s)",
        "failures (%)",
        "<span class=\"failing\">75.00</span>",
        "<tfoot>",
        ">All labels</td>",
    ] {
        assert!(labels.contains(part), "{part}: {labels}");
    }
}

#[test]
fn spread_of_labels_names_what_the_log_does_not_record() {
    let run = support::short(5);
    let mut details = details(&run, 5, 3);
    let html = report_of(std::slice::from_ref(&run), &[details.clone()], &Style::default(), &[]);
    assert!(html.contains("Not in the log, or 0 throughout: latency, connect, received, sent.</p>"));
    for label in &mut details.labels {
        (label.elapsed_sd, label.p90, label.latency_mean) = (Some(1.25), Some(88.0), Some(7.5));
        label.bytes = Some(5_000_000);
    }
    details.total = details.labels[0].clone();
    let mut run = run;
    run.summary.duration = 5.0;
    let html = report_of(std::slice::from_ref(&run), &[details], &Style::default(), &[]);
    let spread = html.split_once("Labels: spread, latency and network</h4>").unwrap().1;
    let spread = spread.split_once("<h2>").map_or(spread, |(own, _)| own);
    let rate = "1000.00";
    for part in [
        ">standard deviation (ms)</th>",
        ">p90 (ms)</th>",
        ">mean latency (ms)</th>",
        &format!("data-column=\"received (kB/s)\">{rate}</td>"),
        ">All labels</td>",
        "All of successes.",
        "Not in the log, or 0 throughout: connect, sent.</p>",
    ] {
        assert!(spread.replace(',', "").contains(&part.replace(',', "")), "{part}: {spread}");
    }
    assert!(!spread.contains("sent (kB/s)"));
}

#[test]
fn packed_data_are_those_of_the_run() {
    let run = support::short(5);
    let html = report(std::slice::from_ref(&run));
    let series = unpacked(&html, "series-0");
    assert_eq!(series["successes"][2], run.seconds[2].successes);
    let detail = unpacked(&html, "detail-0");
    assert_eq!(detail["heat"]["columns"][0][0].as_array().unwrap()[..3], [5, 1, 1].map(Value::from));
    assert_eq!(detail["overTime"]["failures"][0]["label"], "</script>");
    assert_eq!(detail["successes"]["counts"].as_array().unwrap().len(), 5);
    assert_eq!(detail["failures"]["max"], Value::Null);
    let network = network_over_time(&run, 1, 0);
    let received = detail["network"]["all"]["received"][4].as_i64().unwrap();
    assert!(received % 10 == 0 && (received - network.bytes[4]).abs() <= 50, "{received}");
    // Four digits are enough for a chart, and three for that of a label.
    let label = network_over_time(&run, 1, 2).latency_mean[0].unwrap();
    assert_eq!(detail["network"]["labels"][2]["latency"][0], (label * 10.0).round() / 10.0);
}

#[test]
fn every_made_up_run_and_none_can_be_told() {
    for (name, run) in support::cases() {
        if name != "day" {
            let html = report_with(&[run], &Style::default().with_palette(Palette::Viridis), &[]);
            assert!(html.ends_with("</body>\n</html>\n") && !html.contains("NaN"), "{name}");
        }
    }
    assert!(report(&[]).contains("\"runs\":[]"));
}
