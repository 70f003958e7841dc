//! A run has one throughput and one duration, wherever they are shown.

use perfpipe_analyze::format::{decimals, lasting};
use serde_json::Value;

use crate::support::*;

/// Numbers that look random.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as i64 % end
    }
}

/// A log of a random run, with what it is known to hold.
struct Random {
    log: String,
    successes: u64,
    /// In ms.
    lasted: i64,
}

impl Random {
    /// A run of up to two minutes, whose last answer comes at any time of a second, or long after the last start.
    fn new(seed: u64) -> Self {
        let mut chance = Chance(seed);
        let t0 = 1_795_203_000_000 + chance.below(1_000_000);
        let (seconds, rate) = (1 + chance.below(120), 1 + chance.below(30));
        let mut log = "timeStamp,elapsed,label,responseCode,success,allThreads,Latency\n".to_owned();
        let (mut successes, mut last_end) = (0, 0);
        for at in (0..seconds * 1000).step_by((1000 / rate) as usize) {
            let elapsed = 1 + chance.below(if at + 2000 > seconds * 1000 { 9000 } else { 400 });
            let good = at == 0 || chance.below(100) < 98;
            successes += u64::from(good);
            last_end = last_end.max(at + elapsed);
            let (code, threads) = (if good { 200 } else { 500 }, 1 + (at / 1000).min(8));
            log += &format!("{},{elapsed},Get,{code},{good},{threads},{elapsed}\n", t0 + at);
        }
        Self { log, successes, lasted: last_end }
    }

    fn duration(&self) -> f64 {
        self.lasted as f64 / 1000.0
    }

    fn throughput(&self) -> f64 {
        self.successes as f64 / self.duration()
    }
}

fn json(store: &Store, arguments: &[&str]) -> Vec<Value> {
    store.run(arguments).rows()
}

fn near(found: &Value, expected: f64) -> bool {
    found.as_f64().is_some_and(|found| (found - expected).abs() <= 1e-9 * expected)
}

#[test]
fn tables_and_pages_have_one_throughput_and_one_duration_of_a_run() {
    for seed in 1..=12 {
        let (run, store) = (Random::new(seed), Store::embedded());
        let (throughput, duration) = (run.throughput(), run.duration());
        let log = store.file("run.csv", &run.log);
        let said = store.run(&["ingest", &log, "--framework", "go", "--test", "t"]).said();
        let (in_words, rate) = (lasting(duration), decimals(throughput, 1));
        assert_told(&said, &[&format!("duration  {in_words}"), &format!("throughput  {rate} successes/s")]);
        assert!(near(&store.list()[0]["duration"], duration), "seed {seed}");
        let listed = store.run(&["list", "--format", "md"]).text();
        assert!(listed.contains(&format!("| {in_words} |")), "seed {seed}: {in_words} in {listed}");

        let summary = store.summary(&Key::new("go", "t"), &[]);
        assert!(
            near(&summary["duration"], duration) && near(&summary["throughput"], throughput),
            "{summary}"
        );
        let league = json(&store, &["report", "--test", "t", "--table", "json"]);
        assert!(near(&league[0]["throughput"], throughput), "seed {seed}: {league:?}");
        let trend = json(&store, &["trend", "--test", "t", "--by", "run", "--format", "json"]);
        assert!(near(&trend[0]["throughput"], throughput), "seed {seed}: {trend:?}");
        let checked = json(&store, &["check", "go_t", "throughput > 0", "--format", "json"]);
        assert!(near(&checked[0]["value"], throughput), "seed {seed}: {checked:?}");
        compared(&store, &summary, &league[0]);
        pages(&store, throughput, &in_words);
    }
}

#[test]
fn comparison_and_trend_have_the_figures_of_the_summary_of_every_fixture() {
    for fixture in Fixture::all() {
        let (store, name) = (Store::embedded(), fixture.name().to_owned());
        let key = fixture.ingest_into(&store);
        let run = format!("{}_{}", key.framework, key.test);
        let rows = json(&store, &["compare", &run, &run, "--format", "json"]);
        let trend = json(&store, &["trend", "--test", &key.test, "--by", "run", "--format", "json"]);
        let mut compared = 0;
        for (part, flags) in [("run", &[][..]), ("hold", &["--phase", "hold"])] {
            let of_part: Vec<&Value> = rows.iter().filter(|row| row["part"] == part).collect();
            if of_part.is_empty() {
                continue;
            }
            let summary = store.summary(&key, flags);
            for row in of_part {
                let measure = text(row, "measure");
                let known = match measure {
                    "failures_percent" => summary["failure_share"].as_f64().map(|share| share * 100.0),
                    _ => summary[measure].as_f64(),
                };
                let is_known = |found: &Value| known.map_or(found.is_null(), |known| near(found, known));
                assert!(is_known(&row["a"]) && is_known(&row["b"]), "{name} {part}: {row}, not {known:?}");
                assert!(part == "hold" || is_known(&trend[0][measure]), "{name} {measure}: {trend:?}");
                compared += usize::from(known.is_some());
            }
        }
        assert!(compared >= 6, "{name}: {compared}");
    }
}

/// A comparison has the figures of the summary and the league.
fn compared(store: &Store, summary: &Value, league: &Value) {
    let changes = json(store, &["compare", "go_t", "go_t", "--format", "json"]);
    let of_run = |measure: &str| {
        let found = changes.iter().find(|change| change["part"] == "run" && change["measure"] == measure);
        found.unwrap_or_else(|| panic!("no {measure} in {changes:?}"))
    };
    for (measure, known) in [
        ("throughput", &summary["throughput"]),
        ("elapsed_mean", &summary["elapsed_mean"]),
        ("p95", &league["p95"]),
        ("failures_percent", &league["failures_percent"]),
    ] {
        let change = of_run(measure);
        assert!(change["a"] == change["b"], "{change}");
        let (one, other) = (change["a"].as_f64().unwrap(), known.as_f64().unwrap());
        assert!((one - other).abs() <= 1e-9 * other.abs(), "{measure}: {one} and {other}");
    }
}

/// The pages have the same figures, with as many digits as they show.
fn pages(store: &Store, throughput: f64, in_words: &str) {
    let shown = decimals(
        throughput,
        if throughput >= 99.95 {
            0
        } else if throughput >= 9.995 {
            1
        } else {
            2
        },
    );
    let out = store.folder.path().join("pages");
    for format in ["svg", "html"] {
        let arguments = ["report", "--test", "t", "--format", format, "--out", out.to_str().unwrap()];
        store.run(&arguments).text();
    }
    let mut read = 0;
    for file in std::fs::read_dir(&out).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.display();
        assert!(
            text.contains(&format!("{shown}/s")) || text.contains(&format!(">{shown}<")),
            "{shown} in {name}"
        );
        let is_of_run = text.contains("Duration ") || text.contains("<html");
        assert!(!is_of_run || text.contains(in_words), "{in_words} in {name}");
        read += 1;
    }
    assert_eq!(read, 2, "a page of the run, and the report");
}
