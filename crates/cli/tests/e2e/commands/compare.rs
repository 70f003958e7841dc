//! Two runs side by side: what changed, and whether more than by chance.

use serde_json::Value;

use crate::support::*;

fn compare(store: &Store, arguments: &[&str]) -> Vec<Value> {
    let flags = [&["compare", "--format", "json"], arguments].concat();
    store.run(&flags).rows()
}

fn name(key: &Key) -> String {
    format!("{}_{}", key.framework, key.test)
}

/// The figures of a run as `export` tells them.
fn summary(store: &Store, key: &Key, flags: &[&str]) -> Value {
    let run = ["export", "--framework", &key.framework, "--test", &key.test, "--what", "summary"];
    store.run(&[&run[..], &["--format", "json"], flags].concat()).json()[0].clone()
}

fn row<'a>(rows: &'a [Value], part: &str, measure: &str) -> &'a Value {
    rows.iter().find(|row| row["part"] == part && row["measure"] == measure).unwrap()
}

#[test]
fn same_run_has_not_changed_and_a_slower_one_has() {
    let mut both = Vec::new();
    let plain = zip_text(&fixture("Results-2048-9000.csv.zip"));
    // The same requests, each 10 ms slower in the log's own words.
    let slower: String = plain.lines().map(|line| slower(line) + "\n").collect();
    for store in Store::each() {
        let key = Fixture::named("Results-2048-9000.csv").ingest_into(&store);
        let a = name(&key);
        let same = compare(&store, &[&a, &a]);
        assert!(same.iter().all(|row| row["outcome"] == "not shown"), "{same:?}");

        let log = store.file("slower.csv", &slower);
        store.run(&["ingest", &log, "--framework", "slower", "--test", "2048"]).said();
        let changed = compare(&store, &[&a, "slower_2048"]);
        for part in ["run", "hold"] {
            assert_eq!(row(&changed, part, "throughput")["outcome"], "not shown", "{changed:?}");
            assert_eq!(row(&changed, part, "cpu_mean")["outcome"], "unknown", "there is no CPU export");
        }
        let mean = row(&changed, "hold", "elapsed_mean");
        assert_eq!(mean["outcome"], "worse (these runs)", "{mean}");
        assert!((mean["b"].as_f64().unwrap() - mean["a"].as_f64().unwrap() - 10.0).abs() < 1e-6, "{mean}");
        let back = compare(&store, &["slower_2048", &a]);
        assert_eq!(row(&back, "hold", "elapsed_mean")["outcome"], "better (these runs)");
        for (part, flags) in [("run", &[][..]), ("hold", &["--phase", "hold"])] {
            let summary = summary(&store, &key, flags);
            for measure in ["throughput", "elapsed_mean", "p50", "p95"] {
                assert_eq!(row(&changed, part, measure)["a"], summary[measure], "{part} {measure}");
            }
        }
        both.push(changed);
    }
    assert!(both.iter().all(|one| *one == both[0]), "the stores compare differently");
}

fn slower(line: &str) -> String {
    let mut fields: Vec<String> = line.split(',').map(str::to_owned).collect();
    if let Ok(elapsed) = fields[1].parse::<u64>() {
        fields[1] = (elapsed + 10).to_string();
    }
    fields.join(",")
}

fn zip_text(path: &std::path::Path) -> String {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
    std::io::read_to_string(archive.by_index(0).unwrap()).unwrap()
}

#[test]
fn runs_of_two_stores_are_compared_and_drawn() {
    let released = Store::embedded();
    let key = Fixture::named("Results-2048-9000.csv").ingest_into(&released);
    let a = name(&key);
    for store in Store::each() {
        Fixture::named("outage.csv").ingest_into(&store);
        let b = store.list()[0].clone();
        let b = format!("{}_{}", text(&b, "framework"), text(&b, "test"));
        let out = store.folder.path().join("pages");
        let flags = ["compare", &a, &b, "--baseline-store", released.place(), "--out", out.to_str().unwrap()];
        let done = store.run(&flags);
        assert!(done.err.contains("wrote "), "{}", done.err);
        assert!(done.text().contains("failures"));
        let mut names: Vec<String> =
            std::fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        // The page says by its name that A is of another store, where a run of the same name may be another one.
        let page = format!("{b}_against_{a}+baseline-").replace(':', "-");
        assert_eq!(names.len(), 2, "{names:?}");
        for (name, ending) in names.iter().zip([".pdf", ".svg"]) {
            assert!(name.starts_with(&page) && name.ends_with(ending), "{name}");
        }
        let complaint = store.run(&["compare", "nobody_1", &b]).complaint(1);
        assert_told(&complaint, &["nobody_1", &b]);
    }
}

/// Numbers below a limit that look like chance (Lehmer, with the multiplier of Park and Miller 1988).
fn chance(state: &mut u64, limit: u64) -> u64 {
    *state = *state * 48_271 % 2_147_483_647;
    *state % limit
}

/// A log of some seconds with this many requests in each on average, and about this elapsed.
fn scattered(state: &mut u64, seconds: u64, rate: u64, elapsed: u64) -> String {
    let mut log = String::from("timeStamp,elapsed,label,responseCode,success,allThreads\n");
    for second in 0..seconds {
        let number = rate - 5 + chance(state, 11);
        let mut stamps: Vec<u64> = (0..number).map(|_| chance(state, 1000)).collect();
        stamps.sort_unstable();
        for stamp in stamps {
            let (stamp, elapsed) =
                (1_700_000_000_000 + second * 1000 + stamp, elapsed + chance(state, elapsed));
            log += &format!("{stamp},{elapsed},Get,200,true,5\n");
        }
    }
    log
}

fn ingest(store: &Store, framework: &str, log: &str, flags: &[&str]) {
    let path = store.file("run.csv", log);
    store.run(&[&["ingest", &path, "--framework", framework, "--test", "t"], flags].concat()).said();
}

#[test]
fn repeats_are_compared_as_one_and_several_runs_each_with_the_first() {
    for store in Store::each() {
        let mut state = 5;
        for repeat in ["1", "2", "3"] {
            ingest(&store, "old", &scattered(&mut state, 40, 40, 20), &["--repeat", repeat]);
            ingest(&store, "new", &scattered(&mut state, 40, 40, 30), &["--repeat", repeat]);
        }
        ingest(&store, "one", &scattered(&mut state, 40, 40, 20), &[]);
        let done = store.run(&["compare", "--format", "json", "old_t", "new_t", "one_t"]);
        let rows = done.rows_anyway();
        let of = |run: &str| -> Vec<Value> { rows.iter().filter(|row| row["run"] == run).cloned().collect() };
        assert_eq!(rows.len(), of("new_t").len() + of("one_t").len());
        assert!(rows.iter().any(|row| row["noise"] == "repeats"), "{rows:?}");
        assert!(done.err.contains("old_t: 3 repeats"), "{}", done.err);
        assert_eq!(done.err.matches("their means are compared").count(), 2, "{}", done.err);
        let slower = of("new_t");
        assert_eq!(row(&slower, "run", "elapsed_mean")["outcome"], "worse", "{slower:?}");
        assert_eq!(row(&slower, "run", "throughput")["outcome"], "not shown", "{slower:?}");
        assert_eq!(row(&of("one_t"), "run", "elapsed_mean")["outcome"], "not shown");
        let adjusted = |row: &Value| row["p_adjusted"].as_f64() >= row["p"].as_f64();
        assert!(rows.iter().all(adjusted), "{rows:?}");
        let could =
            ["new_t: changes of throughput below ", "could not have been shown", "repeats of each show 5 %"];
        assert_told(&done.err, &could);
        decided(&store);
        // One that is named by its number is that one alone.
        let two = compare(&store, &["old_t#2", "new_t#3"]);
        assert!(two.iter().all(|row| row["noise"] == "seconds" && row["run"] == "new_t#3"), "{two:?}");
        let complaint = store.run(&["compare", "old_t"]).complaint(2);
        assert!(complaint.contains("<B>"), "{complaint}");
    }
}

/// Figures that are named decide, and come first; the others are exploratory.
fn decided(store: &Store) {
    let done = store.run(&["compare", "old_t", "new_t", "--decide", "p95,throughput", "--format", "json"]);
    let rows = done.rows_anyway();
    let names: Vec<&str> = rows.iter().map(|row| text(row, "measure")).take(3).collect();
    assert_eq!(names, ["p95", "throughput", "failures_percent"]);
    assert_eq!((text(&rows[0], "outcome"), text(&rows[1], "outcome")), ("worse", "not shown"));
    // Two decide.
    let p = |name: &str| rows[0][name].as_f64().unwrap();
    assert!((p("p_adjusted") - 2.0 * p("p")).abs() < 1e-12, "{}", rows[0]);
    for row in &rows[2..] {
        assert!(row["outcome"] == "exploratory" || row["outcome"] == "unknown", "{row}");
        assert!(
            row["p_adjusted"].is_null() && (row["p"].is_number() || row["measure"] == "cpu_mean"),
            "{row}"
        );
    }
    assert_told(&done.err, &["changes of p95 below ", "changes of throughput below "]);
    let unknown = store.run(&["compare", "old_t", "new_t", "--decide", "p96"]).complaint(2);
    assert_told(&unknown, &["no figure p96", "throughput, failures_percent", "--percentiles"]);
    let failures = compare(store, &["old_t", "new_t", "--decide", "failures"]);
    assert_eq!(text(&failures[0], "measure"), "failures_percent");
}

#[test]
fn change_in_percent_has_its_interval_beside_it() {
    let store = Store::embedded();
    let mut state = 7;
    ingest(&store, "old", &scattered(&mut state, 60, 40, 20), &[]);
    ingest(&store, "new", &scattered(&mut state, 60, 40, 30), &[]);
    let rows = compare(&store, &["old_t", "new_t"]);
    let mean = row(&rows, "run", "elapsed_mean");
    let of = |name: &str| mean[name].as_f64().unwrap();
    let (low, high) = (of("change_percent_low"), of("change_percent_high"));
    assert!(low < of("change_percent") && of("change_percent") < high && low > 0.0, "{mean}");
    // Each second has its own part in it, so it is near that of the difference in percent of the baseline.
    let near = |percent: f64, difference: f64| (percent - difference / of("a") * 100.0).abs() < 2.0;
    assert!(near(low, of("difference_low")) && near(high, of("difference_high")), "{mean}");
    let shown = store.run(&["compare", "old_t", "new_t"]).text();
    assert_told(&shown, &["99 % from (%)", "< 0.0001", "worse (these runs)"]);
    assert!(!shown.contains("0.0000"), "{shown}");
}

#[test]
fn rows_of_chosen_seconds_are_named_for_them() {
    let store = Store::embedded();
    let key = Fixture::named("Results-2048-9000.csv").ingest_into(&store);
    let a = name(&key);
    for (flags, parts) in [
        (&[][..], &["run", "hold"][..]),
        (&["--phase", "hold"], &["hold"]),
        (&["--phase", "tail"], &["tail"]),
        (&["--from", "2"], &["window", "hold"]),
        (&["--from", "2", "--to", "5"], &["window"]),
    ] {
        let rows = compare(&store, &[&[&*a, &*a], flags].concat());
        let mut found: Vec<&str> = rows.iter().map(|row| row["part"].as_str().unwrap()).collect();
        found.dedup();
        assert_eq!(found, parts, "{flags:?}");
    }
}

/// A log whose load climbs in steps for 30 s, and is held for 60 s, with so many requests a second of each thread.
fn stepped(rate: i64, repeat: i64) -> String {
    let mut log = "timeStamp,elapsed,label,responseCode,success,allThreads,Latency\n".to_owned();
    let mut chance: u64 = 7 + repeat as u64 * 1_000 + rate as u64;
    for second in 0..90 {
        let threads = (1 + second / 3).min(10);
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let requests = threads * rate + (chance >> 33) as i64 % 5;
        for at in 0..requests {
            let stamp = 1_795_203_738_000 + second * 1000 + at * 1000 / requests;
            log += &format!("{stamp},{},Get,200,true,{threads},5\n", 10 + at % 7);
        }
    }
    log
}

#[test]
fn table_of_changes_does_not_contradict_itself() {
    let store = Store::embedded();
    for (framework, rate) in [("go", 53), ("node", 47)] {
        for repeat in 1..=3 {
            let log = store.file(&format!("{framework}{repeat}.csv"), stepped(rate, repeat));
            let of = ["--framework", framework, "--test", "mix", "--repeat"];
            store.run(&[&["ingest", &log], &of[..], &[&repeat.to_string()]].concat()).said();
        }
    }
    let done = store.run(&["compare", "go_mix", "node_mix", "--format", "json"]);
    let said = done.err.clone();
    let rows = done.rows();
    let league = store.run(&["report", "--test", "mix", "--table", "json"]).rows();
    assert_eq!((text(&rows[0], "part"), text(&rows[0], "measure")), ("run", "throughput"), "{rows:?}");
    // The first row is that of the league: the mean of the repeats.
    let of_league = |framework: &str| -> f64 {
        let of = league.iter().find(|row| row["framework"] == framework);
        of.unwrap()["throughput"].as_f64().unwrap()
    };
    for (column, framework) in [("a", "go"), ("b", "node")] {
        let shown = rows[0][column].as_f64().unwrap();
        assert!((shown / of_league(framework) - 1.0).abs() < 1e-3, "{shown} {league:?}");
    }
    let throughput = row(&rows, "hold", "throughput");
    assert_eq!(throughput["outcome"], "worse", "{rows:?}");
    // The repeats scatter by a thousandth, and the ramp by all it climbs.
    let of_run = row(&rows, "run", "throughput");
    assert_eq!(of_run["noise"], "seconds", "{of_run}");
    assert!(said.contains("by seconds: the repeats scatter less than the seconds within them"), "{said}");
    for row in &rows {
        let ends = |low: &str, high: &str| [&row[low], &row[high]].map(Value::as_f64);
        for ends in
            [ends("difference_low", "difference_high"), ends("change_percent_low", "change_percent_high")]
        {
            let [Some(low), Some(high)] = ends else { continue };
            let excludes_zero = low > 0.0 || high < 0.0;
            assert_eq!(excludes_zero, row["p"].as_f64().unwrap() < 0.01, "{row}");
            assert!(excludes_zero || row["outcome"] == "not shown", "{row}");
        }
    }
}

/// What a command prints on a terminal of so many columns.
fn on_terminal(store: &Store, columns: u32, command: &str) -> String {
    let perfpipe = env!("CARGO_BIN_EXE_perfpipe");
    let line = format!("stty cols {columns} rows 40; exec {perfpipe} {command} --store '{}'", store.place());
    let mut script = std::process::Command::new("script");
    script.args(["-qefc", &line, "/dev/null"]).current_dir(store.folder.path());
    script.env("TERM", "xterm").env_remove("PERFPIPE_DATABASE_URL").stdin(std::process::Stdio::null());
    String::from_utf8(done(&mut script).out).unwrap().replace('\r', "")
}

#[test]
fn narrow_terminal_keeps_the_verdict() {
    let store = Store::embedded();
    for (name, framework) in [("Results-2048-9000.csv", "go"), ("Results-2048-8181.killed.csv", "node")] {
        let zip = fixture(&format!("{name}.zip"));
        let key = ["--framework", framework, "--test", "t", "-q"];
        store.run(&[&["ingest", zip.to_str().unwrap()], &key[..]].concat());
    }
    for columns in [80, 60] {
        let command = "compare go_t node_t --color never";
        let compared = on_terminal(&store, columns, command);
        let heading = compared.lines().next().unwrap();
        assert!(["measure", "b is"].iter().all(|name| heading.contains(name)), "{columns}: {compared}");
        let failures = compared.lines().find(|line| line.contains("failures")).unwrap();
        assert!(!failures.contains("failures_") && failures.contains("unknown"), "{columns}: {compared}");
        let league = on_terminal(&store, columns, "report --test t --format svg --color never");
        let heading = league.lines().next().unwrap();
        assert!(
            ["framework", "throughput", "p95", "p99", "failures"].iter().all(|name| heading.contains(name)),
            "{columns}: {league}"
        );
        // Notes are sentences, which the terminal wraps.
        let tables = compared.lines().chain(league.lines()).filter(|line| line.contains("  "));
        let wide: Vec<&str> = tables.filter(|line| line.chars().count() > columns as usize).collect();
        assert!(wide.is_empty(), "{columns}: {wide:?}");
    }
}
