//! `capacity`: the levels of stepped runs, of sweeps and of points, and what it refuses.

use crate::support::*;

const SLO: [&str; 2] = ["--slo", "within 200ms >= 99%"];

/// A log with a level for each number of threads: a request each 20 ms for so many seconds, of which a share is slow.
pub(super) fn log(levels: &[(u32, i64, i64)]) -> String {
    let mut text = "timeStamp,elapsed,label,responseCode,success,allThreads\n".to_owned();
    let mut begin = 1_795_000_000_000_i64;
    for (threads, seconds, slow_percent) in levels {
        for request in 0..seconds * 50 {
            // Every hundredth request in the order of an odd step, so that slow ones do not come together.
            let is_slow = request * 37 % 100 < *slow_percent;
            let elapsed = if is_slow { 300 } else { 50 + request % 7 };
            let label = if request % 2 == 0 { "Get" } else { "Put" };
            text += &format!("{},{elapsed},{label},200,true,{threads}\n", begin + request * 20);
        }
        begin += seconds * 1000;
    }
    text
}

fn ingest(store: &Store, framework: &str, levels: &[(u32, i64, i64)]) {
    let file = store.file("run.csv", log(levels));
    store.run(&["ingest", &file, "--framework", framework, "--test", "t", "--append-repeat"]).said();
}

fn capacity(store: &Store, flags: &[&str]) -> Done {
    store.run(&[&["capacity"], flags].concat())
}

fn states(rows: &[serde_json::Value]) -> Vec<(f64, String)> {
    let of =
        |row: &serde_json::Value| (row["level"].as_f64().unwrap(), row["state"].as_str().unwrap().to_owned());
    rows.iter().map(of).collect()
}

#[test]
fn steps_of_one_run_are_its_levels() {
    let store = Store::embedded();
    ingest(&store, "go", &[(10, 60, 0), (20, 60, 0), (30, 60, 10), (40, 12, 50)]);
    let done = capacity(&store, &[&["go_t", "--format", "json"], &SLO[..]].concat());
    let said = done.err.clone();
    let rows = done.rows();
    let expected = [(10.0, "met"), (20.0, "met"), (30.0, "failed"), (40.0, "unknown")];
    assert_eq!(states(&rows), expected.map(|(level, state)| (level, state.to_owned())));
    assert_told(&said, &["level 20 (50/s) meets it, level 30 (50/s) does not; 1 level is unknown"]);
    assert_eq!(rows[3]["why"], "less than 30 s");
    assert_eq!(rows[0]["within_percent"], 100.0);
    assert!((rows[2]["within_percent"].as_f64().unwrap() - 90.0).abs() < 0.5, "{rows:?}");
    let text = capacity(&store, &[&["go_t"], &SLO[..]].concat());
    assert_told(&text.text(), &["level", "throughput (1/s)", "met", "failed"]);
}

#[test]
fn runs_of_a_test_are_levels_and_their_labels_are_judged_by_themselves() {
    let store = Store::embedded();
    for (threads, slow) in [(10, 0), (20, 0), (40, 20)] {
        ingest(&store, "go", &[(threads, 40, slow)]);
    }
    let flags = ["--test", "t", "--by-label", "--slo", "failures < 1%", "--format", "csv"];
    let done = capacity(&store, &[&flags, &SLO[..]].concat());
    let said = done.err.clone();
    let table = done.text();
    assert_eq!(table.lines().count(), 7, "{table}");
    assert_told(&said, &["go by jmeter, Get: failures < 1% and within 200ms >= 99% holds", "jmeter, Put"]);
    let met = capacity(&store, &[&["--test", "t", "--repeat", "1", "--repeat", "2"], &SLO[..]].concat());
    assert_told(&met.err, &["at least", "no load beyond it was measured"]);
}

#[test]
fn points_are_levels_by_what_their_tool_printed() {
    let store = Store::embedded();
    let wrk = |concurrency: u32, p99: &str| {
        let text = format!(
            "Running 40s test @ http://127.0.0.1:8080/hello\n  2 threads and {concurrency} connections\n  \
             Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     2.00ms    1.00ms  90.00ms   90.00%\n    \
             Req/Sec     1.00k    50.00     1.10k    70.00%\n  Latency Distribution\n     50%    1.00ms\n     75%    2.00ms\n     \
             90%    3.00ms\n     99%    {p99}\n  40000 requests in 40.00s, 5.00MB read\nRequests/sec:   1000.00\n\
             Transfer/sec:    128.00KB\n"
        );
        let file = store.file(&format!("c{concurrency}.txt"), text);
        store.run(&["ingest", &file, "--framework", "beta"]).said();
    };
    wrk(8, "10.00ms");
    wrk(16, "80.00ms");
    let done = capacity(&store, &["--test", "/hello", "--slo", "p99 < 50ms"]);
    let said = done.err.clone();
    assert_told(&done.text(), &["met", "failed"]);
    assert_told(
        &said,
        &["beta by wrk: p99 < 50ms holds", "level 8 (1,000/s) meets it, level 16 (1,000/s) does not"],
    );
    let other = capacity(&store, &["--test", "/hello", "--slo", "p95 < 5ms"]);
    assert_eq!(other.code, Some(3), "{}", other.err);
    assert_told(&other.err, &["no-level", "no percentile that the tool reports tells"]);
    let rate = capacity(&store, &["--test", "/hello", "--slo", "p99 < 50ms", "--by", "rate"]);
    assert_eq!(rate.code, Some(1), "{}", rate.err);
    assert_told(&rate.err, &["points of summaries have neither labels"]);
}

#[test]
fn what_is_no_objective_and_what_no_run_shows_is_refused() {
    let store = Store::embedded();
    ingest(&store, "go", &[(10, 10, 0)]);
    for (slo, why) in [
        ("throughput > 100", "not about a share of the requests"),
        ("p95 < baseline * 1.1", "not about a baseline"),
        ("p95 not worse than baseline", "not about a baseline"),
        ("p95 of \"Get\" < 1s", "Leave out `of`"),
        ("p95 < 1s at 32", "Leave out `at`"),
        ("within 200ms >= NaN%", "no number"),
        ("nonsense", "there is no measure"),
    ] {
        assert_told(&capacity(&store, &["go_t", "--slo", slo]).complaint(2), &["[rule]", why]);
    }
    assert_told(&capacity(&store, &["go_t"]).complaint(2), &["--slo"]);
    let idle = capacity(&store, &[&["go_t", "--include-failures"], &SLO[..]].concat());
    assert_told(&idle.complaint(2), &["--include-failures has no effect"]);
    let short = capacity(&store, &[&["go_t"], &SLO[..]].concat());
    assert_eq!(short.code, Some(3), "{}", short.err);
    assert_told(&short.err, &["no level of go can be judged: less than 30 s"]);
    assert_told(
        &capacity(&store, &[&["--test", "x"], &SLO[..]].concat()).complaint(1),
        &["no run of the test x"],
    );
}
