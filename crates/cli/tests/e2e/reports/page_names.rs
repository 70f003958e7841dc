//! Names of pages' files: what is chosen is in them, and nothing that was written is written over by something else.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::*;

/// The files of a folder, and what is in them.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn pages_of_different_views_have_different_names() {
    let store = Store::embedded();
    let fixture = Fixture::named("transactions.csv");
    let key = fixture.ingest_into(&store);
    let key_of_other = ["--framework", "other", "--test", &key.test];
    store.run(&[&["ingest", &fixture.logs()[0]], &key_of_other[..]].concat()).said();
    let label = rows(&store.export(&key, "labels", "csv", &[]))[0]["label"].clone();
    // With the number of new files: page and sweep of each run, the overview and the report. A page of one run does not
    // tell which runs of the test were chosen beside it.
    let views: [(&[&str], usize); 20] = [
        (&[], 6),
        (&["--from", "1"], 6),
        (&["--to", "1"], 6),
        (&["--from", "1", "--to", "3"], 6),
        (&["--phase", "hold"], 6),
        (&["--label", &label], 6),
        (&["--transactions"], 6),
        (&["--include-failures"], 6),
        (&["--injectors", "3"], 6),
        (&["--injectors", "4"], 6),
        (&["--cpu-offset", "-1"], 6),
        (&["--cpu-lookback", "0"], 6),
        (&["--percentiles", "50,99.9"], 6),
        (&["--framework", &key.framework], 1),
        (&["--framework", &key.framework, "--framework", "other"], 2),
        (&["--repeat", "1"], 2),
        // An overview has neither colours of a measure nor times of one run.
        (&["--color-by", "throughput"], 3),
        (&["--axis", "clock"], 3),
        (&["--axis", "clock", "--time-zone", "Europe/Warsaw"], 3),
        (&["--log-scale"], 6),
    ];
    let folder = store.folder.path().join("pages");
    let mut before = BTreeMap::new();
    for (view, new) in views {
        let report = ["report", "--test", &key.test, "--out", folder.to_str().unwrap()];
        let chart = ["--chart", "time,sweep", "--format", "svg,html"];
        store.run(&[&report[..], &chart, view].concat()).text();
        let after = files(&folder);
        for (name, bytes) in &before {
            assert!(after[name] == *bytes, "{view:?} wrote over {name}");
        }
        assert_eq!(after.len(), before.len() + new, "{view:?}: {:?}", after.keys());
        before = after;
    }
    let plain = format!("{}_{}.svg", key.framework.replace(':', "-"), key.test);
    assert!(before.contains_key(&plain), "{plain} is not in {:?}", before.keys());
}

#[test]
fn pages_of_runs_with_names_that_read_alike_are_kept_apart() {
    let store = Store::embedded();
    let log = fixture("crlf.csv");
    for (framework, test) in [("a_b", "c"), ("a", "b_c"), ("x y", "c"), ("x-y", "c"), ("go", "c")] {
        let key = ["--framework", framework, "--test", test];
        store.run(&[&["ingest", log.to_str().unwrap()], &key[..]].concat()).said();
    }
    let folder = store.folder.path().join("pages");
    let report = |test: &str| {
        let flags = ["--format", "svg", "--out", folder.to_str().unwrap()];
        let done = store.run(&[&["report", "--test", test], &flags[..]].concat());
        assert_eq!(done.code, Some(0), "{}", done.err);
        files(&folder)
    };
    assert_eq!(report("c").len(), 5, "{:?}", files(&folder).keys());
    let written = report("b_c");
    assert_eq!(written.len(), 6, "{:?}", written.keys());
    assert!(files(&folder).contains_key("go_c.svg"));
}
