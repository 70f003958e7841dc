//! Ramp, hold and tail of real logs, as somebody who looked at their loads named them.

use crate::support::*;

/// The log, and the first and the last second of its hold. What is before it is the ramp, what is after it the tail.
const LABELLED: [(&str, u64, u64); 11] = [
    // Six steps of 10 s; the last second begins with all 60 threads, and ends with some of them gone.
    ("Results-2048-9000.csv", 50, 77),
    ("Results-flaky-8181.csv", 8, 20),
    ("Results-flaky-8181.semicolon.csv", 6, 16),
    ("Results-mix-8181.noheader.csv", 6, 16),
    ("Results-mix-8181.datefmt.csv", 6, 16),
    ("Results-vars-8181.csv", 6, 16),
    // Killed in its hold: no tail.
    ("Results-2048-8181.killed.csv", 2, 12),
    // The load goes on through an outage.
    ("outage.csv", 11, 73),
    ("distributed.csv", 4, 19),
    // One load from the start: no ramp.
    ("transactions.csv", 0, 11),
    ("two-headers.csv", 0, 27),
];

#[test]
fn phases_of_real_logs_are_those_that_people_see() {
    for store in Store::each() {
        for (name, first, last) in LABELLED {
            let fixture = Fixture::named(name);
            let files = fixture.files(&fixture.logs()[0]);
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            store.run(&[&["ingest"], &files[..], &["--framework", name, "--test", "t"]].concat()).said();
            let key = Key::new(name, "t");
            let found = rows(&store.export(&key, "phases", "csv", &[]));
            let seconds = count(&fixture.facts, "seconds") as u64;
            let mut expected = vec![("all", 0, seconds - 1), ("hold", first, last)];
            expected.extend((first > 0).then(|| ("ramp", 0, first - 1)));
            expected.extend((last + 1 < seconds).then_some(("tail", last + 1, seconds - 1)));
            let mut told: Vec<(&str, u64, u64)> = found
                .iter()
                .map(|row| (&*row["phase"], row["first"].parse().unwrap(), row["last"].parse().unwrap()))
                .collect();
            told.sort_unstable();
            expected.sort_unstable();
            assert_eq!(told, expected, "{name}");
            let counted = |phase: fn(&str) -> bool| -> u64 {
                let rows = found.iter().filter(|row| phase(&row["phase"]));
                rows.map(|row| row["successes"].parse::<u64>().unwrap()).sum()
            };
            assert_eq!(counted(|phase| phase != "all"), counted(|phase| phase == "all"), "{name}");
        }
    }
}

#[test]
fn phase_is_chosen_in_every_command() {
    for store in Store::each() {
        let key = Fixture::named("Results-2048-9000.csv").ingest_into(&store);
        for what in ["seconds", "summary", "labels", "errors", "cpu", "samples"] {
            let of_phase = store.export(&key, what, "csv", &["--phase", "hold"]);
            let of_seconds = store.export(&key, what, "csv", &["--from", "50", "--to", "77"]);
            assert!(of_phase == of_seconds, "{what}");
            assert!(what == "errors" || of_phase.lines().count() > 1, "{what}: {of_phase}");
        }
        let folder = store.folder.path().join("charts");
        let report = ["report", "--test", &key.test, "--out", folder.to_str().unwrap()];
        let league = store.run(&[&report[..], &["--phase", "hold", "--table", "csv"]].concat()).text();
        assert_eq!(rows(&league)[0]["throughput"].parse::<f64>().unwrap(), 48705.0 / 28.0);
        store.run(&report).text();
        let page = |name: &str| {
            let name = format!("{}_{}{name}.svg", key.framework.replace(':', "-"), key.test);
            std::fs::read_to_string(folder.join(name)).unwrap()
        };
        let (whole, hold) = (page(""), page("+hold"));
        for words in [">ramp<", ">hold<", "Hold  ·  throughput 1,739/s", "Hold: seconds 50 to 77"] {
            assert!(whole.contains(words), "{words}");
            assert!(!hold.contains(words), "{words}");
        }
        assert!(hold.contains("Shown: the hold, seconds 50 to 77"));
    }
}

#[test]
fn run_without_the_phase_is_named_and_hides_no_other() {
    let store = Store::embedded();
    let ingest = |framework: &str, name: &str| {
        let fixture = Fixture::named(name);
        let files = fixture.files(&fixture.logs()[0]);
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        store.run(&[&["ingest"], &files[..], &["--framework", framework, "--test", "t"]].concat()).said();
    };
    ingest("ramped", "Results-2048-9000.csv");
    // One load from the start.
    ingest("level", "transactions.csv");
    let report = ["report", "--test", "t", "--out", "charts", "--format", "svg", "--chart", "time,sweep"];
    let done = store.run(&[&report[..], &["--phase", "ramp", "--table", "csv"]].concat());
    assert_eq!(done.code, Some(0), "{}", done.err);
    let league = rows(std::str::from_utf8(&done.out).unwrap());
    assert_eq!((league.len(), &*league[0]["framework"]), (1, "ramped"));
    let told = done.err.lines().find(|line| line.contains("left out")).unwrap();
    assert!(told.starts_with("left out: ") && told.contains("ramp"), "{told}");
    assert_eq!(told.matches("level_t").count(), 1, "a run is named once: {told}");
    assert!(!store.folder.path().join("charts/level_t+ramp.svg").exists());
}

#[test]
fn phase_that_is_not_there_is_wrong_usage() {
    for store in Store::each() {
        let key = Fixture::named("transactions.csv").ingest_into(&store);
        let run = ["export", "--framework", &key.framework, "--test", &key.test];
        for what in ["summary", "seconds", "samples", "errors", "cpu", "labels", "phases"] {
            let complaint =
                store.run(&[&run[..], &["--what", what, "--phase", "ramp"]].concat()).complaint(2);
            assert_told(&complaint, &["ramp"]);
            assert!(complaint.contains("hold (seconds 0 to 11), tail (seconds 12 to 12)"), "{complaint}");
        }
        let report = ["report", "--test", &key.test, "--phase", "ramp"];
        assert_told(&store.run(&report).complaint(2), &["ramp"]);
        let both = store.run(&[&run[..], &["--phase", "hold", "--from", "2"]].concat()).complaint(2);
        assert!(both.contains("--phase") && both.contains("--from"), "{both}");
    }
}
