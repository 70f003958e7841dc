//! Summaries of load tools in both stores: ingested, listed, swept, exported, replaced and dropped.

mod compared;
mod facts;
mod files;
mod inspected;
mod kept;
mod oracles;
mod readings;

use crate::support::*;

/// The path of an output of a load tool.
fn output(name: &str) -> String {
    fixture(&format!("other/{name}")).to_str().unwrap().to_owned()
}

/// The columns that an export of points begins with.
const COLUMNS: &str = "tool,framework,test,concurrency,workers,repeat,duration,requests,successes,failures,timeouts,\
                       throughput,answers_per_second,mean_ms,p50_ms,p90_ms,p99_ms,latency_source,little_ms,aborted";

fn points(store: &Store, test: &str) -> String {
    store.run(&["export", "--test", test, "--what", "points"]).text()
}

#[test]
fn points_are_the_same_in_all_stores() {
    let mut exports = Vec::new();
    for store in Store::each().into_iter().chain(Store::lakes()) {
        let ports = store.file("ports.toml", "8100 = \"alpha\"\n8101 = \"beta\"\n");
        let folder = output("ab/jempower");
        let said = store.run(&["ingest", &folder, "--frameworks", &ports]).said();
        assert!(said.contains("48 points: stored in"), "{said}");
        let csv = points(&store, "/hello");
        assert!(csv.starts_with(COLUMNS), "{csv}");
        let found = rows(&csv);
        assert_eq!(found.len(), 48);
        let shed = found
            .iter()
            .find(|row| row["framework"] == "beta" && row["concurrency"] == "64" && row["repeat"] == "1")
            .unwrap();
        let told = ["requests", "successes", "failures", "answers_per_second", "timeouts", "latency_source"];
        assert_eq!(told.map(|name| shed[name].as_str()), ["4000", "195", "3805", "16567.06", "", "printed"]);
        // The same again replaces, and adds nothing.
        store.run(&["ingest", &folder, "--frameworks", &ports]).said();
        assert_eq!(points(&store, "/hello"), csv);
        exports.push(csv);
        let sweep =
            store.run(&["sweep", "--test", "/hello", "--framework", "beta", "--format", "csv"]).text();
        let knee: Vec<String> = rows(&sweep)
            .into_iter()
            .filter(|row| row["knee"] == "true")
            .map(|row| row["concurrency"].clone())
            .collect();
        assert_eq!(knee, ["4"], "{sweep}");
        store.run(&["drop", "--points", "--test", "/hello", "--framework", "beta", "--yes"]).said();
        assert_eq!(rows(&points(&store, "/hello")).len(), 24);
    }
    assert!(exports.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn names_of_files_make_keys_and_other_names_are_refused() {
    let store = Store::embedded();
    let logs: Vec<String> =
        [1, 2, 4].iter().map(|workers| output(&format!("wrk/workers/result_w{workers}_1.log"))).collect();
    let files: Vec<&str> = logs.iter().map(String::as_str).collect();
    let ingest = |pattern: &str| {
        store.run(&[&["ingest"], &files[..], &["--framework", "tiny", "--name", pattern]].concat())
    };
    let complaint = ingest("run_{workers}.log").complaint(2);
    assert!(complaint.contains("result_w1_1.log") && complaint.contains("--name"), "{complaint}");
    assert!(ingest("result").complaint(2).contains("none of the fields"));
    ingest("result_w{workers}_{repeat}.log").said();
    let sweep = store.run(&["sweep", "--test", "/json", "--tool", "wrk", "--format", "csv"]).text();
    let levels: Vec<String> = rows(&sweep).into_iter().map(|row| row["workers"].clone()).collect();
    assert_eq!(levels, ["1", "2", "4"], "workers vary, so the sweep goes by them");
    assert!(store.run(&["sweep", "--test", "/jsn"]).complaint(1).contains("Did you mean /json?"));
}

#[test]
fn aborted_runs_are_points_and_lone_files_are_refused() {
    let store = Store::embedded();
    let aborted = output("ab/drop-abort.txt");
    let keyed = ["--framework", "f", "--test", "t", "--concurrency", "16"];
    let said = store.run(&[&["ingest", &aborted], &keyed[..]].concat()).said();
    assert!(said.contains("no figures: ab gave up after 49 requests"), "{said}");
    let row = rows(&points(&store, "t")).remove(0);
    assert_eq!((row["aborted"].is_empty(), row["requests"].as_str()), (false, ""));
    let lone = store.run(&["ingest", &output("ab/http500.tsv"), "--framework", "f"]).complaint(1);
    assert!(lone.contains("does not say which requests failed"), "{lone}");
    let said = store
        .run(&["ingest", &output("ab/http500.txt"), &output("ab/http500.tsv"), "--framework", "f"])
        .said();
    assert!(said.contains("latencies are counted from ab's -g"), "{said}");
    let nameless = store.run(&["ingest", &output("hey/clean-summary.out")]).complaint(2);
    assert!(nameless.contains("--framework"), "{nameless}");
    let log = fixture("Results-flaky-8181.csv");
    let mixed = store.run(&["ingest", &aborted, log.to_str().unwrap()]).complaint(2);
    assert!(mixed.contains("is the summary of a load tool, and"), "{mixed}");
    assert_eq!(rows(&points(&store, "t")).len(), 1, "nothing else was stored");
}

#[test]
fn pages_of_a_sweep_are_written_and_idle_flags_are_refused() {
    let store = Store::embedded();
    store.run(&["ingest", &output("wrk/sweep"), "--name", "{framework}_c{concurrency}_r{repeat}.txt"]).said();
    let table = store.file("table.txt", "");
    let (charts, others) = (format!("{table}-charts"), format!("{table}-others"));
    let sweep = |more: &[&str]| store.run(&[&["sweep", "--test", "/hello"], more].concat());
    let said = sweep(&["-o", &table, "--out", &charts, "--page-format", "svg,pdf,png"]).said();
    let mut names: Vec<String> = std::fs::read_dir(&charts)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 9, "{names:?}");
    assert!(names.iter().all(|name| name.contains("+by-concurrency")), "{names:?}");
    assert!(said.contains("wrote 9 files"), "{said}");
    assert!(
        names.iter().any(|name| name.starts_with("alpha_") && name.ends_with("+tool-wrk.svg")),
        "{names:?}"
    );
    let overview =
        names.iter().find(|name| name.starts_with("all-frameworks") && name.ends_with("svg")).unwrap();
    let svg = std::fs::read_to_string(format!("{charts}/{overview}")).unwrap();
    assert!(svg.contains("knees: alpha at 8, beta at 4"), "{svg}");
    // Nothing is written where a flag is refused.
    assert!(sweep(&["--page-format", "png"]).complaint(2).contains("no pages are drawn"));
    assert!(sweep(&["--out", &others, "--page-format", "html"]).complaint(2).contains("--format html"));
    assert!(sweep(&["--out", &others, "--scale", "2"]).complaint(2).contains("--scale has no effect"));
    assert!(!std::path::Path::new(&others).exists());
    let html = sweep(&["--format", "html"]).text();
    assert!(html.contains("<svg") && html.contains("alpha"), "{}", html.len());
}

/// The hold of a stored run stands beside the points of summaries, with the figures that an export of the hold has.
#[test]
fn stored_runs_are_points_too() {
    for store in Store::each().into_iter().chain(Store::lakes()) {
        let (log, short) = (fixture("Results-2048-9000.csv.zip"), output("gatling/3.9.5.log"));
        let keyed = ["--framework", "nio", "--test", "2048"];
        store.run(&[&["ingest", log.to_str().unwrap()], &keyed[..]].concat()).said();
        let wrk = output("wrk/http500.txt");
        store.run(&["ingest", &wrk, "--framework", "go", "--test", "2048", "--concurrency", "16"]).said();
        let done = store.run(&["export", "--test", "2048", "--what", "points"]);
        let found = rows(&done.text());
        assert_eq!(found.iter().map(|row| row["tool"].as_str()).collect::<Vec<_>>(), ["wrk", "jmeter"]);
        let hold = store.run(&["export", "nio_2048", "--what", "summary", "--phase", "hold"]).text();
        let (hold, point) = (&rows(&hold)[0], &found[1]);
        for (of_hold, of_point) in [
            ("successes", "successes"),
            ("failures", "failures"),
            ("throughput", "throughput"),
            ("elapsed_mean", "mean_ms"),
            ("p50", "p50_ms"),
            ("p99", "p99_ms"),
            ("elapsed_max", "max_ms"),
        ] {
            assert_eq!(hold[of_hold], point[of_point], "{of_point}");
        }
        assert_eq!((point["concurrency"].as_str(), point["latency_source"].as_str()), ("60", "exact"));
        let little = 60.0 / point["answers_per_second"].parse::<f64>().unwrap() * 1000.0;
        assert!((point["little_ms"].parse::<f64>().unwrap() - little).abs() < 1e-9);
        assert!(point["notes"].contains("seconds 50 to 77"), "{point:?}");
        store.run(&["ingest", &short, "--framework", "go", "--test", "2048"]).said();
        let sweep = store.run(&["sweep", "--test", "2048", "--format", "csv"]);
        assert!(
            sweep.err.contains("go_2048 has no hold, so it is not a point of the sweep"),
            "{}",
            sweep.err
        );
        assert_eq!(rows(&sweep.text()).len(), 2);
        let listed = store.run(&["list", "--points", "--format", "csv"]).text();
        assert_eq!(rows(&listed).len(), 1, "only summaries are stored as points");
    }
}

/// A run is by the tool that wrote its log.
#[test]
fn tool_of_a_run_is_that_of_its_log() {
    let store = Store::embedded();
    let log = output("gatling/3.9.5.log");
    store.run(&["ingest", &log, "--framework", "f", "--test", "t"]).said();
    let json = store.run(&["export", "f_t", "--what", "run"]).json();
    assert_eq!(json["sources"][0]["tool"], "gatling");
    let xml = output("jmeter/min.xml");
    store.run(&["ingest", &xml, "--framework", "g", "--test", "t"]).said();
    let json = store.run(&["export", "g_t", "--what", "run"]).json();
    assert!(json["sources"][0].get("tool").is_none());
}
