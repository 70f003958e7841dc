//! Checkpoints of the tables' logs: perfpipe and others read the same tables by them.

use std::fs;
use std::path::PathBuf;

use super::engines::{ENGINES, exported, run};
use super::tables::{TABLES, folder};
use crate::support::*;

/// The number of commits after which a checkpoint is written.
const EVERY: u64 = 100;

fn entry(store: &Store, table: &str, version: u64) -> PathBuf {
    folder(store).join(table).join("_delta_log").join(format!("{version:020}.json"))
}

/// Returns the version of a table.
fn version(store: &Store, table: &str) -> u64 {
    (0..).find(|version| !entry(store, table, *version + 1).exists()).unwrap()
}

/// Makes the log of each table long, by commits that change nothing.
fn lengthen(store: &Store) {
    for table in TABLES {
        let created = fs::read_to_string(entry(store, table, 0)).unwrap();
        // Without the checksum of the lines that follow it there.
        let (said, _) = created.split_once(",\"perfpipe.crc32\"").unwrap();
        for version in version(store, table) + 1..EVERY {
            fs::write(entry(store, table, version), format!("{said}}}}}\n")).unwrap();
        }
    }
}

#[test]
fn tables_are_read_by_their_checkpoints() {
    // polars does not find tables in a folder with a space in its path.
    let home = tempfile::tempdir().unwrap();
    let store = Store::at(["--store".into(), format!("file://{}/store", home.path().display())]);
    Fixture::named("outage.csv").ingest_into(&store);
    let flaky = fixture("Results-flaky-8181.csv");
    let flaky = ["ingest", flaky.to_str().unwrap(), "--framework", "go", "--test", "flaky"];
    store.run(&flaky).said();
    // An earlier generation is no part of any table.
    store.run(&flaky).said();
    lengthen(&store);
    let log = store.file("log.csv", "timeStamp,elapsed,label,success\n1795203738615,12,Get,true\n");
    store.run(&["ingest", &log, "--framework", "o'dd +%20", "--test", "a/b=c"]).said();
    for table in TABLES {
        let last =
            fs::read_to_string(folder(&store).join(table).join("_delta_log/_last_checkpoint")).unwrap();
        let last: serde_json::Value = serde_json::from_str(&last).unwrap();
        let of = last["version"].as_u64().unwrap();
        assert!(of >= EVERY - 1, "{table}: {last}");
        // What is before the checkpoint is no longer needed, as after its retention.
        (0..of).for_each(|version| fs::remove_file(entry(&store, table, version)).unwrap());
    }
    let listed = store.run(&["list", "--format", "csv"]).text();
    assert_eq!(listed.lines().count(), 4, "{listed}");
    let expected = exported(&store, &Key::new("go", "flaky"));
    for (first, engine) in ENGINES {
        let Some(found) = run(&store, first, engine) else { continue };
        assert_eq!(found.len(), expected.len(), "{first}");
    }
    // The manifests are read from a pack of them.
    let manifests = folder(&store).join("manifests");
    assert_eq!(fs::read_dir(manifests.join("packs")).unwrap().count(), 1);
    let singles = fs::read_dir(&manifests).unwrap().map(|entry| entry.unwrap().path());
    let singles: Vec<PathBuf> = singles.filter(|path| path.is_file()).collect();
    let texts: Vec<Vec<u8>> = singles.iter().map(|path| fs::read(path).unwrap()).collect();
    singles.iter().for_each(|path| fs::write(path, "").unwrap());
    assert_eq!(store.run(&["list", "--format", "csv"]).text(), listed);
    singles.iter().zip(texts).for_each(|(path, text)| fs::write(path, text).unwrap());
    // The tables go on.
    store.run(&[&flaky, ["--append-repeat"].as_slice()].concat()).said();
    store.run(&["drop", "--framework", "o'dd +%20", "--test", "a/b=c"]).said();
    assert_eq!(store.run(&["list", "--format", "csv"]).text().lines().count(), 4);
}
