//! Several runs of one test of one framework: stored beside each other, named one by one, compared as one.

use std::io::Write;
use std::time::Duration;

use serde_json::Value;

use crate::postgres::psql;
use crate::support::*;

const TOLD: [&str; 4] = ["--framework", "nio", "--test", "2048"];

/// A log of so many requests, ten a second, the last few of them failures.
fn log(requests: usize, failures: usize) -> String {
    let mut text = "timeStamp,elapsed,label,success,allThreads\n".to_owned();
    for at in 0..requests {
        let success = at + failures < requests;
        text.push_str(&format!("{},{},Get,{success},4\n", 1_795_203_738_000 + at * 100, 10 + at % 7));
    }
    text
}

/// Stores a log of so many requests, with these flags; says what was said.
fn ingest(store: &Store, requests: usize, flags: &[&str]) -> String {
    let path = store.file("run.csv", log(requests, 0));
    store.run(&[&["ingest", &path], &TOLD[..], flags].concat()).said()
}

/// The repeats that are stored, and the requests of each.
fn stored(store: &Store) -> Vec<(i64, i64)> {
    store.list().iter().map(|run| (count(run, "repeat"), count(run, "requests"))).collect()
}

fn command<'a>(command: &'a str, flags: &[&'a str]) -> Vec<&'a str> {
    [&[command], &TOLD[..], flags].concat()
}

#[test]
fn repeats_stand_beside_each_other_and_each_replaces_its_own_number() {
    for store in Store::each() {
        ingest(&store, 100, &[]);
        ingest(&store, 200, &["--repeat", "3"]);
        let said = ingest(&store, 300, &["--append-repeat"]);
        assert!(said.contains("nio_2048#2"), "{said}");
        assert_eq!(stored(&store), [(1, 100), (2, 300), (3, 200)]);
        ingest(&store, 110, &[]);
        ingest(&store, 310, &["--repeat", "2"]);
        ingest(&store, 400, &["--append-repeat", "--no-samples"]);
        assert_eq!(stored(&store), [(1, 110), (2, 310), (3, 200), (4, 400)]);
        store.run(&command("drop", &["--repeat", "1"])).said();
        ingest(&store, 120, &["--append-repeat"]);
        assert_eq!(stored(&store), [(1, 120), (2, 310), (3, 200), (4, 400)]);
        assert_eq!(store.leftovers(), Vec::<String>::new());
        if store.is_database() {
            let tables =
                "select string_agg(coalesce(table_name, '-'), ' ' order by repeat) from perfpipe.runs";
            assert_eq!(psql(store.place(), tables), "nio_2048 nio_2048_r2 nio_2048_r3 -");
        }
    }
}

#[test]
fn repeat_of_its_own_holds_all_that_its_log_gives_alone() {
    for store in Store::each() {
        let alone = Store::embedded();
        for (name, repeat) in
            [("Results-2048-8181.killed.csv", "1"), ("Results-flaky-8181.csv", "2"), ("outage.csv", "3")]
        {
            let fixture = Fixture::named(name);
            let files = fixture.files(&fixture.logs()[0]);
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            store.run(&[&["ingest"], &files[..], &TOLD, &["--repeat", repeat]].concat()).said();
            alone.run(&[&["ingest"], &files[..], &TOLD].concat()).said();
            let key = Key::new("nio", "2048");
            for what in ["seconds", "errors", "cpu", "labels", "rejects", "samples"] {
                let ours = store.export(&key, what, "csv", &["--repeat", repeat]);
                assert!(ours == alone.export(&key, what, "csv", &[]), "{what} of repeat {repeat}");
            }
            let mut summary = store.summary(&key, &["--repeat", repeat]);
            assert_eq!(std::mem::replace(&mut summary["repeat"], 1.into()).to_string(), repeat);
            assert_eq!(summary, alone.summary(&key, &[]));
            let findings = |store: &Store, flags: &[&str]| store.run(&command("diagnose", flags)).text();
            assert_eq!(findings(&store, &["--repeat", repeat]), findings(&alone, &[]));
        }
    }
}

#[test]
fn repeats_are_meant_together_where_none_is_named() {
    for store in Store::each() {
        ingest(&store, 50, &["--repeat", "2"]);
        // The only one needs no name.
        let alone = store.run(&command("export", &[])).text();
        assert_eq!(alone, store.run(&command("export", &["--repeat", "2"])).text());
        ingest(&store, 60, &["--repeat", "5"]);
        let both = store.run(&command("export", &[])).text();
        let one = store.run(&command("export", &["--repeat", "5"])).text();
        assert_eq!(both.lines().count() + 1, alone.lines().count() + one.lines().count());
        let complaint = store.run(&command("drop", &[])).complaint(2);
        assert_told(&complaint, &["nio_2048#2, nio_2048#5", "--yes", "number"]);
        for what in ["samples", "rejects", "summary"] {
            let complaint = store.run(&command("export", &["--what", what, "--repeat", "3"])).complaint(1);
            assert!(
                complaint.contains("repeat 3") && complaint.contains("nio_2048#2, nio_2048#5"),
                "{complaint}"
            );
        }
        let complaint = store.run(&["compare", "nio_2048", "nio_2048#5"]).complaint(2);
        assert_told(&complaint, &["a run in common", "number"]);
        let table = store.run(&["compare", "nio_2048#2", "nio_2048#5", "--format", "csv"]).text();
        assert!(table.contains("throughput"), "{table}");
        assert_eq!(stored(&store), [(2, 50), (5, 60)]);
        let said = store.run(&command("drop", &["--repeat", "5"])).said();
        assert!(said.contains("dropped nio_2048#5"), "{said}");
        store.run(&command("drop", &["--yes"])).said();
        assert!(store.list().is_empty());
        assert_eq!(store.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn runs_whose_names_read_alike_are_told_apart_by_a_slash() {
    for store in Store::each() {
        for (framework, test, requests) in [("a_b", "t", 50), ("a", "b_t", 60)] {
            let path = store.file("run.csv", log(requests, 0));
            store.run(&["ingest", &path, "--framework", framework, "--test", test]).said();
        }
        let complaint = store.run(&["compare", "a_b_t", "a/b_t"]).complaint(2);
        assert!(complaint.contains("a/b_t") && complaint.contains("a_b/t"), "{complaint}");
        let copy = Store::embedded();
        let said = store.run(&["copy", "a_b/t", "--to", copy.place()]).said();
        let copied: Vec<_> = copy.list().iter().map(|run| count(run, "requests")).collect();
        assert_eq!(copied, [50], "{said}");
        for name in ["a_b/t#1", "a/b_t"] {
            store.run(&["compare", name, "a/b_t#1", "--format", "csv"]).text();
        }
    }
}

#[test]
fn report_and_a_check_take_the_repeats_that_are_asked_for() {
    for store in Store::each() {
        ingest(&store, 50, &[]);
        ingest(&store, 60, &["--repeat", "2"]);
        ingest(&store, 70, &["--repeat", "3"]);
        let out = store.folder.path().join("charts");
        let report = ["report", "--test", "2048", "--format", "svg", "--out", out.to_str().unwrap()];
        let league =
            store.run(&[&report[..], &["--repeat", "1", "--repeat", "3", "--table", "csv"]].concat());
        assert_eq!(rows(&league.text())[0]["repeats"], "2");
        let mut pages: Vec<String> =
            std::fs::read_dir(&out).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
        pages.sort_unstable();
        assert_eq!(
            pages,
            ["nio_2048.svg", "nio_2048_r3.svg"],
            "there is nothing to lay over a single framework"
        );
        let check = ["check", "requests >= 60", "--test", "2048"];
        assert_eq!(store.run(&check).code, Some(4));
        store.run(&[&check[..], &["--repeat", "2", "--repeat", "3"]].concat()).text();
        let complaint = store.run(&[&report[..], &["--repeat", "4"]].concat()).complaint(1);
        assert_told(&complaint, &["repeat 4", "2048", "nio_2048#1, nio_2048#2, nio_2048#3"]);
    }
}

#[test]
fn list_has_the_repeat_where_it_tells_something() {
    for store in Store::each() {
        ingest(&store, 50, &[]);
        let list = |format: &str| store.run(&["list", "--format", format]).text();
        assert!(!list("text").contains("repeat") && !list("md").contains("repeat"), "{}", list("text"));
        assert!(header(&list("csv")).starts_with("framework,test,repeat,t0_ms"), "{}", list("csv"));
        ingest(&store, 60, &["--append-repeat"]);
        assert!(list("text").contains("repeat") && list("md").contains("repeat"), "{}", list("text"));
    }
}

#[test]
fn inferred_key_can_have_repeats_too() {
    for store in Store::each() {
        let one = store.file("nio_2048.csv", log(10, 0));
        let other = store.file("elsewhere/nio_2048.v2.csv", log(20, 0));
        store.run(&["ingest", &one]).said();
        let complaint = store.run(&["ingest", &other]).complaint(1);
        assert!(complaint.contains("--append-repeat"), "{complaint}");
        store.run(&["ingest", &other, "--append-repeat"]).said();
        assert_eq!(store.keys(), ["nio 2048", "nio 2048"]);
        assert_eq!(stored(&store), [(1, 10), (2, 20)]);
        // The same number again is another's place still.
        let complaint = store.run(&["ingest", &one, "--repeat", "2"]).complaint(1);
        assert!(complaint.contains("nio_2048#2") && complaint.contains("nio_2048.v2.csv"), "{complaint}");
        assert_eq!(stored(&store), [(1, 10), (2, 20)]);
    }
}

#[test]
fn repeats_that_come_at_once_get_a_number_each() {
    for store in Store::each() {
        let logs: Vec<String> =
            (1..=4).map(|at| store.file(&format!("{at}.csv"), log(1000 * at, 0))).collect();
        for keep in ["--append-repeat", "--no-samples"] {
            let flags = ["--append-repeat", keep];
            let flags = if keep == "--no-samples" { &flags[..] } else { &flags[..1] };
            let children: Vec<_> =
                logs.iter().map(|log| store.spawn(&[&["ingest", log], &TOLD[..], flags].concat())).collect();
            for child in children {
                finish(child).said();
            }
        }
        let (numbers, mut requests): (Vec<i64>, Vec<i64>) = stored(&store).into_iter().unzip();
        requests.sort_unstable();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(requests, [1000, 1000, 2000, 2000, 3000, 3000, 4000, 4000]);
        assert_eq!(store.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn number_that_another_ingest_holds_is_left_to_it() {
    for store in Store::each() {
        ingest(&store, 10, &[]);
        let mut slow = store.spawn(&[&["ingest", "-"], &TOLD[..], &["--repeat", "2"]].concat());
        let log = log(20_000, 0);
        slow.stdin.as_mut().unwrap().write_all(log.as_bytes()).unwrap();
        // It holds its number from before the first record on.
        wait_for("a writer holds repeat 2", || match store.is_database() {
            true => psql(store.place(), "select count(*) from pg_locks where locktype = 'advisory'") != "0",
            false => std::path::Path::new(store.place()).join("runs/nio+2048+2/.lock").exists(),
        });
        let path = store.file("x.csv", &log);
        let refused = [&["ingest", &path], &TOLD[..], &["--repeat", "2"]].concat();
        let complaint = store.run(&refused).complaint(1);
        assert!(complaint.contains("nio_2048#2") && complaint.contains("another perfpipe"), "{complaint}");
        ingest(&store, 30, &["--append-repeat"]);
        assert_eq!(stored(&store), [(1, 10), (3, 30)]);
        drop(slow.stdin.take());
        finish(slow).said();
        assert_eq!(stored(&store), [(1, 10), (2, 20_000), (3, 30)]);
        assert_eq!(store.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn repeat_and_a_test_of_its_name_are_different_runs() {
    for store in Store::each() {
        ingest(&store, 10, &["--repeat", "2"]);
        let path = store.file("other.csv", log(20, 0));
        store.run(&["ingest", &path, "--framework", "nio", "--test", "2048_r2"]).said();
        store.run(&["ingest", &path, "--framework", "nio", "--test", "2048+2"]).said();
        store.run(&["ingest", &path, "--framework", "nio", "--test", "2048#2"]).said();
        let tests: Vec<String> = store.list().iter().map(|run| text(run, "test").to_owned()).collect();
        assert_eq!(tests, ["2048", "2048#2", "2048+2", "2048_r2"]);
        assert_eq!(rows(&store.run(&command("export", &["--what", "samples"])).text()).len(), 10);
        assert_eq!(store.leftovers(), Vec::<String>::new());
    }
}

/// Frameworks, and the fixtures that are their repeats.
const FIELD: [(&str, &[&str]); 3] = [
    ("nio", &["two-headers.csv", "Results-2048-8181.killed.csv", "distributed.csv"]),
    ("go", &["distributed.csv", "Results-2048-9000.csv"]),
    ("spring", &["Results-2048-9000.csv"]),
];

fn ingest_field(store: &Store) {
    for (framework, names) in FIELD {
        for name in names {
            let fixture = Fixture::named(name);
            let files = fixture.files(&fixture.logs()[0]);
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            let key = ["--framework", framework, "--test", "2048", "--append-repeat"];
            store.run(&[&["ingest"], &files[..], &key].concat()).said();
        }
    }
}

/// The median of what the summaries of a framework's repeats say; absent where none says it.
fn median(summaries: &[Value], of: impl Fn(&Value) -> Option<f64>) -> Option<f64> {
    let mut values: Vec<f64> = summaries.iter().filter_map(of).collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[odd / 2]),
        even => Some(values[even / 2 - 1] + (values[even / 2] - values[even / 2 - 1]) / 2.0),
    }
}

/// Checks a row of the league against the summaries of the framework's repeats.
fn check_standing(row: &Value, summaries: &[Value]) {
    // Reading JSON may cost the last bit.
    let same = |name: &str, expected: Option<f64>| match (row[name].as_f64(), expected) {
        (Some(one), Some(other)) => {
            assert!((one - other).abs() <= 1e-12 * other, "{name}, {other}, of {row}")
        }
        (one, other) => assert_eq!(one, other, "{name} of {row}"),
    };
    let number = |name: &'static str| move |summary: &Value| summary[name].as_f64();
    for name in ["throughput", "p50", "p95", "p99", "cpu_mean", "load_max"] {
        same(name, median(summaries, number(name)));
    }
    let throughputs = || summaries.iter().map(|summary| summary["throughput"].as_f64().unwrap());
    same("throughput_min", throughputs().reduce(f64::min));
    same("throughput_max", throughputs().reduce(f64::max));
    assert_eq!(count(row, "repeats"), summaries.len() as i64);
    let sum = |name: &str| summaries.iter().map(|summary| count(summary, name)).sum::<i64>() as f64;
    same("failures_percent", Some(sum("failures") / (sum("failures") + sum("successes")) * 100.0));
    let per_cpu =
        |summary: &Value| Some(summary["throughput"].as_f64()? / (summary["cpu_mean"].as_f64()? / 100.0));
    same("requests_per_cpu_second", median(summaries, per_cpu));
}

#[test]
fn league_has_the_medians_of_the_repeats() {
    for store in Store::each() {
        ingest_field(&store);
        let league = |flags: &[&str]| {
            let report =
                ["report", "--test", "2048", "--out", "charts", "--format", "svg", "--table", "json"];
            store.run(&[&report[..], flags].concat()).rows()
        };
        let rows = league(&[]);
        for (framework, names) in FIELD {
            let row = rows.iter().find(|row| row["framework"] == framework).unwrap();
            let key = Key::new(framework, "2048");
            let summaries: Vec<Value> =
                (1..=names.len()).map(|at| store.summary(&key, &["--repeat", &at.to_string()])).collect();
            check_standing(row, &summaries);
        }
        // The repeats of each are different logs: they tell nothing apart.
        for row in &rows {
            assert_eq!((count(row, "rank_low"), count(row, "rank_high")), (1, 3), "{row}");
        }
        let names = |rows: &[Value]| -> Vec<String> {
            rows.iter().map(|row| text(row, "framework").to_owned()).collect()
        };
        assert_eq!(names(&rows), ["spring", "go", "nio"]);
        assert_eq!(names(&league(&["--order-by", "framework"])), ["go", "nio", "spring"]);
        let only = league(&["--framework", "go", "--framework", "nio", "--framework", "go"]);
        assert_eq!(only.iter().map(|row| count(row, "repeats")).sum::<i64>(), 5);
        let complaint = store.run(&["report", "--test", "2048", "--order-by", "p999"]).complaint(2);
        for part in ["p999", "requests_per_cpu_second", "--order-by"] {
            assert!(complaint.contains(part), "{complaint}");
        }
    }
}

#[test]
fn each_repeat_has_its_page_and_the_middle_one_stands_for_its_framework() {
    let mut both = Vec::new();
    for store in Store::each() {
        ingest_field(&store);
        let flags =
            ["report", "--test", "2048", "--out", "charts", "--format", "svg", "--chart", "time,sweep"];
        let league = store.run(&flags).text();
        assert!(league.contains("least (1/s)  greatest (1/s)"), "{league}");
        for part in [" 1–3  spring", "\nA rank is an interval", "\nA framework that ran once is assumed to"]
        {
            assert!(league.contains(part), "{league}");
        }
        let folder = store.folder.path().join("charts");
        let mut pages: Vec<(String, String)> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| {
                (entry.file_name().into_string().unwrap(), std::fs::read_to_string(entry.path()).unwrap())
            })
            .collect();
        pages.sort();
        let mut names = vec!["all-frameworks_2048.svg".to_owned()];
        for (framework, repeats) in FIELD {
            for repeat in 1..=repeats.len() {
                let ending = if repeat == 1 { String::new() } else { format!("_r{repeat}") };
                names.extend(["", "_sweep"].map(|page| format!("{framework}_2048{ending}{page}.svg")));
            }
        }
        names.sort();
        assert!(pages.iter().map(|page| &page.0).eq(&names), "{names:?}");
        let page = |name: &str| &pages.iter().find(|page| page.0 == name).unwrap().1;
        assert!(page("nio_2048_r2.svg").contains("nio 2048 #2") && !page("nio_2048.svg").contains("2048 #"));
        let all = page("all-frameworks_2048.svg");
        assert!(
            all.contains("3 frameworks") && all.contains("Several repeats: line at their median"),
            "{all}"
        );
        both.push((league, pages));
    }
    assert!(both.iter().all(|one| *one == both[0]), "the stores give different pages");
}

#[test]
fn every_repeat_is_judged_and_each_can_be_compared_with() {
    for store in Store::each() {
        ingest(&store, 100, &[]);
        ingest(&store, 205, &["--append-repeat"]);
        let check = |flags: &[&str]| {
            let done = store.run(&[&["check", "--test", "2048", "--format", "json"], flags].concat());
            let verdicts = done.rows_anyway();
            let of_run =
                |verdict: &Value| (text(verdict, "run").to_owned(), verdict["passed"].as_bool().unwrap());
            (done.code, verdicts.iter().map(of_run).collect::<Vec<_>>())
        };
        let both = |one, two| vec![("nio_2048#1".to_owned(), one), ("nio_2048#2".to_owned(), two)];
        assert_eq!(check(&["requests < 150"]), (Some(4), both(true, false)));
        let against = ["--baseline", "nio_2048#2", "requests == baseline"];
        assert_eq!(check(&against), (Some(4), both(false, true)));
        let own = ["check", "--test", "2048", "--baseline", "nio_2048", against[2]];
        assert_told(&store.run(&own).complaint(2), &["2 repeats", "one of which is checked"]);
        assert_eq!(check(&["--baseline", "nio_2048#1", against[2]]), (Some(4), both(true, false)));
        let flags = ["--out", "charts", "--page-format", "svg"];
        let table = store.run(&[&["compare", "nio_2048#1", "nio_2048#2"], &flags[..]].concat()).text();
        let back = store.run(&["compare", "nio_2048#2", "nio_2048#1"]).text();
        assert_ne!(table, back);
        assert!(store.folder.path().join("charts/nio_2048_r2_against_nio_2048.svg").is_file());
        let complaint = store.run(&["compare", "nio_2048#1", "nio_2048#3"]).complaint(1);
        assert!(
            complaint.contains("nio_2048#3") && complaint.contains("nio_2048#1, nio_2048#2"),
            "{complaint}"
        );
    }
}

#[test]
fn killed_ingest_of_a_further_repeat_leaves_none_and_takes_no_number() {
    for store in Store::each() {
        ingest(&store, 100, &[]);
        let path = store.file("long.csv", log(5_000, 0));
        let append = [&["ingest", &path], &TOLD[..], &["--append-repeat"]].concat();
        let mut whole = 1;
        for wait in (0..16).map(|step| Duration::from_millis(step * 6)) {
            let mut child = store.spawn(&append);
            std::thread::sleep(wait);
            child.kill().unwrap();
            child.wait().unwrap();
            store.wait_for_killed_writers();
            let now = stored(&store);
            assert!(now.len() - whole <= 1 && now.iter().skip(1).all(|run| run.1 == 5_000), "{now:?}");
            whole = now.len();
        }
        store.run(&append).said();
        let numbers: Vec<i64> = stored(&store).iter().map(|run| run.0).collect();
        assert_eq!(numbers, (1..=whole as i64 + 1).collect::<Vec<_>>());
        assert_eq!(store.leftovers(), Vec::<String>::new());
    }
}
