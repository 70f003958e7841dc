//! Notes on standard error: what is told of a run, and what remains of it with `--quiet`.

use crate::support::*;

#[test]
fn quiet_command_prints_nothing_but_warnings_and_errors() {
    let store = Store::embedded();
    let killed = fixture("Results-2048-8181.killed.csv");
    let ingest = ["ingest", killed.to_str().unwrap(), "--framework", "go", "--test", "t", "--out", "charts"];
    let said = store.run(&ingest).said();
    assert_told(&said, &["run  go_t", "wrote charts/go_t.{svg,pdf}", "warning: 1 record was rejected"]);
    assert_told(&said, &["perfpipe export go_t --what rejects"]);
    let said = store.run(&[&ingest[..], &["--quiet"]].concat()).said();
    assert_eq!(said, "warning: 1 record was rejected: see `perfpipe export go_t --what rejects`\n");
    let report = store.run(&["-q", "report", "--test", "t"]);
    assert_eq!((report.code, report.err.as_str()), (Some(0), ""));
    assert!(!report.out.is_empty(), "the league is data");
    let complaint = store.run(&["drop", "-q", "nio_t"]).complaint(1);
    assert_told(&complaint, &["nio_t", "go_t"]);
    assert_eq!(store.run(&["-q", "drop", "go_t"]).said(), "");
}

#[test]
fn summary_tells_when_and_how_long_the_test_was_and_how_many_injectors_sent_it() {
    for store in Store::each() {
        let logs =
            ["distributed.csv", "distributed.cpu.csv"].map(|name| fixture(name).to_str().unwrap().to_owned());
        let ingest = ["ingest", &logs[0], &logs[1], "--framework", "go", "--test", "t"];
        let said = store.run(&ingest).said();
        let run = &store.list()[0];
        let line =
            |name: &str| said.lines().find_map(|line| line.trim_start().strip_prefix(&format!("{name}  ")));
        let started = line("started").unwrap();
        let t0: jiff::Timestamp = started.replace(" UTC", "Z").parse().unwrap();
        assert_eq!(t0.as_second(), run["t0_ms"].as_i64().unwrap().div_euclid(1000), "{started}");
        let summary = store.summary(&Key::new("go", "t"), &[]);
        let duration = format!("{:.1} s", summary["duration"].as_f64().unwrap());
        assert_eq!(line("duration"), Some(&*duration), "{said}");
        assert!(line("injectors").unwrap().parse::<u32>().unwrap() > 1, "{said}");
        let said = store.run(&[&ingest[..], &["--injectors", "7"]].concat()).said();
        assert_told(&said, &["injectors  7, by --injectors"]);
    }
}
