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
use perfpipe_analyze::{
    Finding, Goal, League, Measured, RunFigures, Second, Timeline, Verdict, View, check, diagnose,
};
use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
use perfpipe_plot::{ColorBy, HtmlReport, ReportRun, Style, figures_of_script};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

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
    let measured = Measured::new(&stalled(), &View::default()).unwrap();
    let mut report = HtmlReport::new(style);
    for (timeline, details) in runs.iter().zip(details) {
        let run = ReportRun { timeline, details, findings: &findings, verdicts };
        report.add(&run, &RunFigures::bytes(timeline, &measured).unwrap()).unwrap();
    }
    report.texts(&league, runs, &[], "day").unwrap().concat()
}

fn report(runs: &[Timeline]) -> String {
    report_with(runs, &Style::default(), &[])
}

/// What stands between two marks, the first time.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}

/// All scripts of a file, the program first.
fn scripts(html: &str) -> Vec<&str> {
    html.split("<script>").skip(1).map(|part| part.split_once("</script>").unwrap().0).collect()
}

/// The arguments of a call of the data.
fn arguments<'a>(html: &'a str, call: &str) -> &'a str {
    let script =
        scripts(html).into_iter().find_map(|script| script.strip_prefix(&format!("perfpipe.{call}(")));
    script.unwrap().strip_suffix(");\n").unwrap()
}

/// The list of all runs.
fn index(html: &str) -> Value {
    serde_json::from_str(arguments(html, "store")).unwrap()
}

/// The test.
fn test_of(html: &str) -> Value {
    serde_json::from_str::<Value>(&format!("[{}]", arguments(html, "test"))).unwrap()[1].take()
}

/// What is shown of the first run.
fn unpacked(html: &str) -> Value {
    let arguments: Value = serde_json::from_str(&format!("[{}]", arguments(html, "run"))).unwrap();
    let bytes = BASE64_STANDARD.decode(arguments[1].as_str().unwrap()).unwrap();
    let mut json = String::new();
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
    // The documentation promises 0.5 MB.
    assert!(html.len() < 500_000, "{} bytes", html.len());
    assert_eq!(html, report_of(&runs, &details, &Style::default(), &[]));
}

#[test]
fn file_may_run_its_own_scripts_and_load_nothing() {
    for (runs, compares) in [(vec![support::short(5)], false), (support::field(), true)] {
        let html = report(&runs);
        let policy = between(&html, "Content-Security-Policy\" content=\"", "\"");
        let hash = |text: &str| format!(" 'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
        let hashes: String = scripts(&html).into_iter().map(hash).collect();
        let style = hash(between(&html, "<style>", "</style>"));
        let engine = if compares { " 'wasm-unsafe-eval'" } else { "" };
        assert_eq!(
            policy,
            format!(
                "default-src 'none'; script-src{hashes}{engine}; style-src{style}; img-src data: blob:; \
                base-uri 'none'; form-action 'none'"
            )
        );
        assert_eq!(html.matches("perfpipe.engine(\"").count(), usize::from(compares));
        // Between scripts and style nothing is named that could be loaded, but the icon, which is in the page.
        let texts = scripts(&html).into_iter().chain([between(&html, "<style>", "</style>")]);
        let markup = texts.fold(html.clone(), |markup, text| markup.replacen(text, "", 1));
        let markup = markup.replace(
            "<link rel=\"icon\" href=\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'",
            "",
        );
        for part in ["http:", "https:", "url(", "@import", "src=", "<link", "<base", "<iframe", "href="] {
            assert!(!markup.contains(part), "{part}: {markup}");
        }
        let style = between(&html, "<style>", "</style>");
        assert!(!style.contains("url(") && !style.contains("@import"));
    }
}

#[test]
fn texts_of_users_end_no_script_and_are_no_markup() {
    let mut run = support::short(5);
    run.info.key.framework = "<img src=x onerror=alert(1)></script><!--\u{0}".to_owned();
    run.info.options.tags.insert("a".to_owned(), "</script>".to_owned());
    let html = report_with(&[run.clone()], &Style::default(), &verdicts(&["p50 < 5ms"]));
    assert!(!html.contains("<img") && !html.contains("<!--") && !html.contains('\u{0}'));
    assert!(html.contains("&lt;img src=x onerror=alert(1)&gt;"), "without scripts, the runs are named");
    // The program, the list, the test and the run, and no other.
    assert_eq!((scripts(&html).len(), html.matches("</script>").count()), (4, 4));
    assert_eq!(index(&html)["runs"][0]["framework"], *run.info.key.framework);
    let data = unpacked(&html);
    let error = &data["errors"][0];
    let expected = json!({"code": "<503>", "message": "</td></script>&", "labels": "<i>Get</i> (11), Post (1)", "count": 12, "first": 3, "last": 9});
    assert_eq!(*error, expected);
    assert_eq!(data["rules"][0]["rule"], "p50 < 5ms");
}

#[test]
fn file_opens_on_its_run_or_on_the_test_of_several() {
    let field = support::field();
    let alone = report(&field[..1]);
    let list = index(&alone);
    assert_eq!(list["start"], format!("#/run/{}", list["runs"][0]["id"].as_str().unwrap()));
    let title = |html: &str| between(html, "<title>", "</title>").to_owned();
    assert!(title(&alone).ends_with(" #1 – perfpipe"), "{}", title(&alone));
    let all = report(&field);
    let list = index(&all);
    assert_eq!(list["start"], format!("#/test/{}", list["tests"][0]["id"].as_str().unwrap()));
    assert_eq!(title(&all), format!("{} – perfpipe", field[0].info.key.test));
    assert_eq!(list["runs"].as_array().unwrap().len(), field.len());
}

#[test]
fn league_has_the_best_first_and_the_median_run_of_repeats() {
    let fast = support::steady("fast", 900.0, 0.1, 9);
    let runs = [
        support::steady("slow", 10.0, 0.1, 9),
        again(fast.clone(), 2),
        again(fast.clone(), 3),
        again(fast, 1),
    ];
    let html = report(&runs);
    let list = index(&html);
    let repeat = |id: &Value| {
        let run = list["runs"].as_array().unwrap().iter().find(|run| run["id"] == *id).unwrap();
        run["repeat"].as_u64().unwrap()
    };
    let test = test_of(&html);
    let league = test["league"].as_array().unwrap();
    assert_eq!((&league[0]["framework"], &league[1]["framework"]), (&json!("fast"), &json!("slow")));
    let repeats: Vec<u64> = league[0]["runs"].as_array().unwrap().iter().map(repeat).collect();
    assert_eq!(repeats, [2, 1, 3]);
}

#[test]
fn choices_rules_findings_and_goals_are_in_the_data() {
    let mut run = support::outage();
    (run.view.from, run.view.to, run.view.label) = (Some(3), Some(99), Some("Get".to_owned()));
    (run.view.goals, run.summary.goals) = (vec![Goal::within("200ms").unwrap()], vec![Some(99.5)]);
    run.view.include_failures = true;
    let verdicts = verdicts(&["p50 < 20ms", "p95 < 10ms"]);
    let html = report_with(&[run], &Style::default(), &verdicts);
    let row = index(&html)["runs"][0].take();
    let chosen =
        ["seconds 3 to 99", "label Get", "times and CPU include failures", "load is that of all labels"];
    assert_eq!(row["chosen"], json!(chosen));
    assert_eq!(row["verdict"], json!({"passed": 1, "failed": 1}));
    assert_eq!(row["findings"][0]["kind"], "pause");
    let data = unpacked(&html);
    let rule = json!({"rule": "p95 < 10ms", "passed": false, "value": "12.00 ms", "limit": "10.00 ms", "span": null, "note": null});
    assert_eq!(data["rules"][1], rule);
    assert_eq!((&data["findings"][0]["first"], &data["findings"][0]["last"]), (&json!(20), &json!(24)));
    assert_eq!(data["head"]["includeFailures"], true);
    let test = test_of(&html);
    assert_eq!((&test["goals"][0]["unit"], &test["league"][0]["goals"][0]), (&json!("%"), &json!(99.5)));
    // Nothing is said of rules or choices where there are none.
    let plain = report(&[support::short(5)]);
    let row = index(&plain)["runs"][0].take();
    assert_eq!((row.get("chosen"), &row["verdict"]), (None, &Value::Null));
}

#[test]
fn style_gives_the_cpu_axis_and_the_colours() {
    let data = |style: &Style| unpacked(&report_with(&[support::short(5)], style, &[]))["head"].take();
    let plain = data(&Style::default());
    assert_eq!((&plain["colorBy"], &plain["clock"]), (&Value::Null, &Value::Null));
    let head = data(&Style::default().with_cores(16).with_color_by(ColorBy::Cpu));
    assert_eq!((&head["cpuTop"], &head["colorBy"]), (&json!(1600.0), &json!("cpu")));
}

#[test]
fn data_are_those_of_the_run() {
    let run = support::short(5);
    let html = report(std::slice::from_ref(&run));
    let data = unpacked(&html);
    assert_eq!(data["series"]["successes"][2], run.seconds[2].successes);
    let detail = &data["detail"];
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
    assert_eq!(
        (&data["labels"][0]["label"], &data["labels"][1]["failures"]),
        (&json!("Get \"<x>\""), &json!(3))
    );
    let script = format!("perfpipe.run({});\n", arguments(&html, "run"));
    assert_eq!(figures_of_script(&script).unwrap().timeline.info.key, run.info.key);
}

#[test]
fn every_made_up_run_can_be_shown() {
    for (name, run) in support::cases() {
        if name != "day" {
            let html = report(&[run]);
            assert!(
                html.ends_with("</body>\n</html>\n") && !arguments(&html, "store").contains("NaN"),
                "{name}"
            );
        }
    }
}
