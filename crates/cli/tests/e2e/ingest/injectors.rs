//! Several logs as the injectors of one run.

use std::fmt::Write as _;

use perfpipe_analyze::table::Format;
use perfpipe_analyze::{Timeline, View};
use perfpipe_ingest::RunKey;
use perfpipe_ingest::store::parquet::ParquetStore;

use crate::support::*;
use crate::zips::deflated;

/// A log of requests at 100, 200, ... 5,900 ms with this many threads each.
fn log(start_ms: i64, threads: u32) -> String {
    let mut text = "timeStamp,elapsed,label,success,allThreads\n".to_owned();
    for at in (100..6000).step_by(100) {
        writeln!(text, "{},{},Get,true,{threads}", start_ms + at, at % 7).unwrap();
    }
    text
}

/// The load and the successes of each second.
fn loads(store: &Store) -> Vec<(f64, u32)> {
    let rows = rows(&store.export(&store.only_key(), "seconds", "csv", &[]));
    rows.iter().map(|row| (row["load"].parse().unwrap(), row["successes"].parse().unwrap())).collect()
}

#[test]
fn loads_of_several_logs_add_up() {
    const T0: i64 = 1_795_203_738_000;
    for store in Store::each() {
        let one = store.file("one.csv", log(T0, 10));
        // The earliest record of the run is in the second log.
        let two = store.file("two.csv", log(T0 - 100, 7));
        let zip = store.file("three.zip", deflated(&[("three.csv", log(T0, 5).as_bytes())]));
        store.run(&["ingest", &one, &two, &zip, "--framework", "nio", "--test", "all"]).said();
        let run = &store.list()[0];
        assert_eq!((count(run, "t0_ms"), count(run, "requests")), (T0, 3 * 59));
        let loads = loads(&store);
        assert!(loads[..5].iter().all(|second| second.0 == 22.0), "{loads:?}");
        assert_eq!(loads.iter().map(|second| second.1).sum::<u32>(), 3 * 59);
    }
}

#[test]
fn zip_can_hold_a_log_for_each_injector() {
    for store in Store::each() {
        let (one, two) = (log(1_795_203_738_000, 10), log(1_795_203_738_000, 7));
        let members = [("a.csv", one.as_bytes()), ("b.csv", two.as_bytes())];
        let path = store.file("nio_all.zip", deflated(&members));
        // The label would do for a test, but the zip's name is asked first.
        store.run(&["ingest", &path]).said();
        assert_eq!(store.keys(), ["nio all"]);
        assert_eq!(loads(&store)[1], (17.0, 20));
        store.pipe(&deflated(&members), &["ingest", "-", "--framework", "nio", "--test", "all"]).said();
        assert_eq!(loads(&store)[1], (17.0, 20), "through a pipe");
    }
}

#[test]
fn injectors_told_at_ingest_hold_for_every_view() {
    for store in Store::each() {
        let path = store.file("nio_all.csv", log(1_795_203_738_000, 10));
        store.run(&["ingest", &path, "--injectors", "3"]).said();
        assert_eq!(loads(&store)[1].0, 30.0);
        let csv = store.export(&store.only_key(), "seconds", "csv", &["--injectors", "2"]);
        assert_eq!(rows(&csv)[1]["load"], "20");
    }
}

#[test]
fn library_looks_at_a_run_as_the_command_does() {
    let store = Store::embedded();
    let path = store.file("nio_all.csv", log(1_795_203_738_000, 10));
    let cpu = store.file("cpu.csv", "clock,value\n1795203735,10\n1795203738,40\n1795203741,90\n");
    let told = ["--injectors", "3", "--cpu-offset", "1", "--cpu-lookback", "1"];
    store.run(&[&["ingest", &path, &cpu], &told[..]].concat()).said();
    let run = ParquetStore::open(store.place()).unwrap().read(&RunKey::new("nio", "all")).unwrap().unwrap();
    let of_library = |view: &View| {
        let mut csv = Vec::new();
        Timeline::new(&run, view).unwrap().table().write(Format::Csv, &mut csv).unwrap();
        String::from_utf8(csv).unwrap()
    };
    let of_command = store.export(&store.only_key(), "seconds", "csv", &[]);
    assert_eq!(of_library(&View::of(&run.info)), of_command);
    assert_ne!(of_library(&View::default()), of_command, "nothing was told that makes a difference");
}
