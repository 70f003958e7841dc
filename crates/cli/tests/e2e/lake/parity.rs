//! A bucket gives the same exports as a folder, byte for byte.

use crate::support::*;

/// Every export whose rows have an order.
const EXPORTS: [&str; 7] = ["seconds", "errors", "cpu", "summary", "labels", "rejects", "samples"];

/// Fixtures with much to tell apart: failures, rejects, injectors, an outage, transactions.
const TELLING: [&str; 5] =
    ["Results-flaky-8181.csv", "distributed.csv", "outage.csv", "transactions.csv", "two-headers.csv"];

fn assert_same(embedded: &Store, lake: &Store, key: &Key) {
    for what in EXPORTS {
        let ours = lake.export(key, what, "csv", &[]);
        assert!(ours == embedded.export(key, what, "csv", &[]), "{what} of {key:?} in {}", lake.place());
    }
}

#[test]
fn every_export_is_that_of_a_folder() {
    for name in TELLING {
        let fixture = Fixture::named(name);
        let embedded = Store::embedded();
        let key = fixture.ingest_into(&embedded);
        for lake in Store::lakes() {
            assert_eq!(fixture.ingest_into(&lake), key);
            assert_same(&embedded, &lake, &key);
            lake.run(&["verify"]).text();
            let listed = |store: &Store| -> Vec<String> {
                store.list().iter().map(|run| format!("{} {}", run["requests"], run["rejects"])).collect()
            };
            assert_eq!(listed(&lake), listed(&embedded));
        }
    }
}

#[test]
fn runs_with_fine_times_or_without_samples_or_with_series_are_the_same() {
    let log = "timeStamp,elapsed,label,success\n1795203738615,12,Get,true\n1795203739000,7,Put,false\n";
    let memory = "clock,value\n1795203738,5.5\n1795203739,6\n";
    let vegeta = "1795203738615000000,200,1234567,10,20,,,a,0\n1795203739615000000,200,987654,10,20,,,a,1\n";
    for lake in Store::lakes() {
        let embedded = Store::embedded();
        for store in [&embedded, &lake] {
            let (log, memory, vegeta) = (
                store.file("log.csv", log),
                store.file("memory.csv", memory),
                store.file("vegeta.csv", vegeta),
            );
            let series = format!("memory={memory}");
            let few = ["--framework", "go", "--test", "series", "--no-samples", "--unit", "bytes"];
            store.run(&[&["ingest", &log, "--series", &series], &few[..]].concat()).said();
            store.run(&["ingest", &vegeta, "--framework", "go", "--test", "fine"]).said();
        }
        let (series, fine) = (Key::new("go", "series"), Key::new("go", "fine"));
        for what in ["seconds", "series", "errors"] {
            assert!(
                embedded.export(&series, what, "csv", &[]) == lake.export(&series, what, "csv", &[]),
                "{what}"
            );
        }
        assert_same(&embedded, &lake, &fine);
        lake.run(&["export", "go_series", "--what", "samples"]).complaint(1);
        lake.run(&["verify"]).text();
    }
}

#[test]
fn reports_comparisons_and_checks_read_a_bucket() {
    for lake in Store::lakes() {
        let key = Fixture::named("Results-flaky-8181.csv").ingest_into(&lake);
        let run = format!("{}_{}", key.framework, key.test);
        lake.run(&["report", "--test", &key.test, "--out", "pages"]).text();
        assert!(lake.folder.path().join("pages").read_dir().unwrap().count() > 0);
        lake.run(&["compare", &run, &run]).text();
        lake.run(&["check", "--test", &key.test, "p95 < 5s"]).text();
        lake.run(&["diagnose", &run]).text();
    }
}
