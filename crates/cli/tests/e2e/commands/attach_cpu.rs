//! CPU exports that are attached: one that says less of the run than what there is, or nothing, is refused.

use crate::support::*;

/// A run of 60 s with readings for each second.
fn store_with_run(store: Store) -> Store {
    let mut log = "timeStamp,elapsed,label,success\n".to_owned();
    log.extend((0..600).map(|at| format!("{},12,Get,true\n", 1_795_203_738_000_i64 + at * 100)));
    let log = store.file("log.csv", log);
    let cpu = store.file("cpu.csv", readings(1_795_203_738, 60));
    store.run(&["ingest", &log, &cpu, "--framework", "nio", "--test", "t"]).said();
    store
}

fn readings(from: i64, seconds: i64) -> String {
    let rows = (from..from + seconds).map(|clock| format!("{clock},{}\n", clock % 90));
    std::iter::once("clock,value\n".to_owned()).chain(rows).collect()
}

fn coverage(store: &Store) -> f64 {
    store.summary(&Key::new("nio", "t"), &[])["cpu_coverage"].as_f64().unwrap()
}

#[test]
fn export_without_a_second_in_common_is_refused_with_the_times_and_the_offset_that_fits() {
    for store in Store::each().into_iter().map(store_with_run) {
        let before = store.export(&Key::new("nio", "t"), "cpu", "csv", &[]);
        let apart = store.file("apart.csv", readings(1_795_203_738 - 7200, 60));
        let complaint = store.run(&["attach-cpu", "nio_t", &apart]).complaint(1);
        for part in [
            "nio_t",
            "2026-11-20 17:42:18 UTC",
            "2026-11-20 19:42:18 UTC",
            "--cpu-offset 7200, 60 of 60 seconds",
            "--replace",
        ] {
            assert!(complaint.contains(part), "{part} is not in: {complaint}");
        }
        let other_day = store.file("day.csv", readings(1_795_203_738 - 300_000, 60));
        let complaint = store.run(&["attach-cpu", "nio_t", &other_day]).complaint(1);
        assert!(complaint.contains("Check --cpu-offset"), "{complaint}");
        assert_eq!(store.export(&Key::new("nio", "t"), "cpu", "csv", &[]), before);

        // The remedies help.
        let said = store.run(&["attach-cpu", "nio_t", &apart, "--cpu-offset", "7200"]).said();
        assert!(said.contains("100.0 % of the seconds have a reading, 100.0 % had one before"), "{said}");
        assert_eq!(coverage(&store), 1.0);
        let said = store.run(&["attach-cpu", "nio_t", &other_day, "--cpu-offset", "0", "--replace"]).said();
        assert!(said.contains("0.0 % of the seconds have a reading, 100.0 % had one before"), "{said}");
        assert_eq!(coverage(&store), 0.0);
    }
}

#[test]
fn export_that_covers_less_of_the_run_is_refused_and_one_that_covers_as_much_is_not() {
    let store = store_with_run(Store::embedded());
    let less = store.file("less.csv", readings(1_795_203_738, 30));
    let complaint = store.run(&["attach-cpu", "nio_t", &less, "--cpu-lookback", "0"]).complaint(1);
    assert!(complaint.contains("50.0 %") && complaint.contains("100.0 % now"), "{complaint}");
    assert_eq!(coverage(&store), 1.0);
    let other = store.file("other.csv", readings(1_795_203_730, 80));
    store.run(&["attach-cpu", "nio_t", &other]).said();
    store.run(&["attach-cpu", "nio_t", &less, "--cpu-lookback", "0", "--replace"]).said();
    assert_eq!(coverage(&store), 0.5);
    // Where there is less already, more is welcome.
    store.run(&["attach-cpu", "nio_t", &other]).said();
}

/// hey's log has times since hey began only.
#[test]
fn export_is_refused_for_a_run_without_a_clock_and_joined_once_its_begin_is_told() {
    let begin = 1_795_347_884_603_i64;
    for store in Store::each() {
        let hey = fixture("other/hey/clean.csv").display().to_string();
        let cpu = store.file("cpu.csv", readings(begin / 1000, 5));
        let key = ["--framework", "nio", "--test", "t"];
        let complaint = store.run(&[&["ingest", &hey, &cpu], &key[..]].concat()).complaint(2);
        assert!(
            complaint.contains("hey/clean.csv has no clock") && complaint.contains("--origin"),
            "{complaint}"
        );
        let said = store.run(&[&["ingest", &hey], &key[..]].concat()).said();
        assert_told(&said, &["1970-01-01 00:00:00", "without an answer", "has no clock", "p50 9.300 ms"]);
        let complaint = store.run(&["attach-cpu", "nio_t", &cpu]).complaint(1);
        assert!(complaint.contains("has no clock") && complaint.contains("--origin"), "{complaint}");
        let origin = begin.to_string();
        let told = ["--origin", &origin, "--replace"];
        let said = store.run(&[&["ingest", &hey, &cpu], &key[..], &told].concat()).said();
        assert_told(&said, &["2026-11-22 11:44:44", "100.0 % of the seconds have a reading"]);
        assert_eq!(coverage(&store), 1.0);
    }
}
