//! Both stores give the same exports, byte for byte, however the run is looked at.

use crate::support::*;

/// Every export whose rows have an order.
const TABLES: [&str; 6] = ["seconds", "errors", "cpu", "summary", "labels", "rejects"];

/// Fixtures with much to tell apart: failures, injectors, an outage, transactions, silence.
const TELLING: [&str; 5] =
    ["Results-flaky-8181.csv", "distributed.csv", "outage.csv", "transactions.csv", "two-headers.csv"];

/// The same run in both stores; `None` where there is no Postgres.
fn pair(fixture: &Fixture) -> Option<(Store, Store, Key)> {
    let (embedded, database) = (Store::embedded(), Store::database()?);
    let key = fixture.ingest_into(&embedded);
    assert_eq!(fixture.ingest_into(&database), key);
    Some((embedded, database, key))
}

#[test]
fn every_export_of_every_fixture_is_the_same() {
    for fixture in Fixture::all() {
        let Some((embedded, database, key)) = pair(&fixture) else { return };
        for what in TABLES {
            for format in ["csv", "json"] {
                let ours = embedded.export(&key, what, format, &[]);
                assert!(ours == database.export(&key, what, format, &[]), "{what} of {}", fixture.name());
                assert!(!ours.is_empty(), "{what} of {}", fixture.name());
            }
        }
        let samples = |store: &Store| store.export(&key, "samples", "csv", &[]);
        assert!(samples(&embedded) == samples(&database), "samples of {}", fixture.name());
    }
}

/// The database numbers injectors in the order of the log, the folder in that of the seconds. A sum of thirds depends on
/// the order in its last digit.
#[test]
fn loads_of_many_injectors_are_the_same() {
    const T0: i64 = 1_795_203_738_000;
    let line = |at: i64, injector: &str, threads: u32| {
        format!("{},5,Get,true,{threads},{injector}-Users 1-1\n", T0 + at)
    };
    let mut log = "timeStamp,elapsed,label,success,allThreads,threadName\n".to_owned();
    let threads = [("10.0.0.3", [1, 1, 2]), ("10.0.0.1", [0, 0, 1]), ("10.0.0.2", [0, 0, 1])];
    for (injector, threads) in threads {
        log.extend(threads.map(|threads| line(1000, injector, threads)));
    }
    // These ended late.
    log.extend(["10.0.0.1", "10.0.0.2"].map(|injector| line(0, injector, 1)));
    let (embedded, Some(database)) = (Store::embedded(), Store::database()) else { return };
    let [ours, theirs] = [embedded, database].map(|store| {
        let path = store.file("go_a.csv", &log);
        store.run(&["ingest", &path]).said();
        store.export(&store.only_key(), "seconds", "csv", &[])
    });
    assert_eq!(ours, theirs);
}

#[test]
fn every_view_is_the_same() {
    let views: [&[&str]; 9] = [
        &["--percentiles", "50,90,99.9"],
        &["--from", "3", "--to", "9"],
        &["--transactions"],
        &["--include-failures"],
        &["--transactions", "--include-failures", "--percentiles", "0,100"],
        &["--injectors", "3"],
        &["--cpu-offset", "-2"],
        &["--cpu-lookback", "0"],
        &["--cpu-offset", "1", "--cpu-lookback", "10", "--from", "5"],
    ];
    for fixture in TELLING.map(Fixture::named) {
        let Some((embedded, database, key)) = pair(&fixture) else { return };
        let labels = rows(&embedded.export(&key, "labels", "csv", &[]));
        let label = ["--label", labels[0]["label"].as_str()];
        for view in views.iter().copied().chain([&label[..]]) {
            for what in TABLES {
                // What does nothing to a table is refused.
                let of = |store: &Store| {
                    let run = ["export", "--framework", &key.framework, "--test", &key.test, "--what", what];
                    let done = store.run(&[&run[..], view].concat());
                    assert!(
                        matches!(done.code, Some(0 | 2)),
                        "{what} {view:?} of {}: {}",
                        fixture.name(),
                        done.err
                    );
                    done.out
                };
                assert!(of(&embedded) == of(&database), "{view:?} of {}", fixture.name());
            }
        }
    }
}

#[test]
fn views_do_what_they_say() {
    let store = Store::embedded();
    let key = Fixture::named("distributed.csv").ingest_into(&store);
    let seconds = |flags: &[&str]| rows(&store.export(&key, "seconds", "csv", flags));
    let all = seconds(&[]);
    assert_eq!(seconds(&["--from", "3", "--to", "9"]), all[3..=9]);
    assert_eq!(seconds(&["--from", "20"]), all[20..]);
    // The log tells its injectors apart, so there is nothing to multiply.
    assert_eq!(seconds(&["--injectors", "3"]), all);
    let asked = store.export(&key, "seconds", "csv", &["--percentiles", "50,90,99.9"]);
    assert!(header(&asked).ends_with("latency_max,p50,p90,p99.9,cpu"), "{}", header(&asked));

    let plain = Store::embedded();
    let key = Fixture::named("Results-flaky-8181.csv").ingest_into(&plain);
    let load = |flags: &[&str]| -> Vec<f64> {
        let rows = rows(&plain.export(&key, "seconds", "csv", flags));
        rows.iter().map(|row| row["load"].parse().unwrap()).collect()
    };
    let tripled: Vec<f64> = load(&[]).iter().map(|load| load * 3.0).collect();
    assert_eq!(load(&["--injectors", "3"]), tripled);
    let label = "Flaky \"contains\"";
    let of_label = plain.summary(&key, &["--label", label]);
    assert_eq!((count(&of_label, "successes"), count(&of_label, "failures")), (1610, 119));
}

#[test]
fn transactions_are_counted_only_when_asked_for() {
    for store in Store::each() {
        let fixture = Fixture::named("transactions.csv");
        let key = fixture.ingest_into(&store);
        let requests = |flags: &[&str]| {
            let summary = store.summary(&key, flags);
            count(&summary, "successes") + count(&summary, "failures")
        };
        let transactions = count(&fixture.facts, "transactions");
        assert!(transactions > 0);
        assert_eq!(requests(&["--transactions"]), requests(&[]) + transactions);
    }
}
