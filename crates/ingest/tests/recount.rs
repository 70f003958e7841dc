//! Counting a stored run's samples again gives what was counted at its ingest.

#![allow(clippy::unwrap_used, reason = "a test's helper fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use perfpipe_ingest::IngestOptions;
use perfpipe_ingest::Store;
use perfpipe_ingest::counts::{Cell, CellTable};

type Key = (u32, String, bool, bool);
type Load = (String, u64, i64);

/// The cells by names, since indices go by which name came first.
fn named(table: &CellTable) -> BTreeMap<Key, (Cell, Vec<Load>)> {
    let name = |names: &[String], index: u32| names[index as usize].clone();
    let cell = |cell: Cell| {
        let loads = cell.injectors.iter();
        let mut loads: Vec<Load> =
            loads.map(|l| (name(&table.injectors, l.injector), l.samples, l.threads)).collect();
        loads.sort();
        (Cell { injectors: Vec::new(), ..cell }, loads)
    };
    let key =
        |label, second, success, transaction| (second, name(&table.labels, label), success, transaction);
    table
        .iter()
        .map(Result::unwrap)
        .map(|(k, c)| (key(k.label, k.second, k.success, k.transaction), cell(c)))
        .collect()
}

#[tokio::test]
async fn samples_give_the_counts_that_were_stored() {
    for file in
        ["Results-flaky-8181.csv", "Results-2048-8181.killed.csv", "distributed.csv", "transactions.csv"]
    {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::folder(folder.path().join("store")).unwrap();
        let files: Vec<PathBuf> = vec![Path::new("../../fixtures").join(file)];
        let done = store.ingest(&files, &IngestOptions::default()).await.unwrap();
        let mut run = store.read(&done.info.key).await.unwrap();
        let at_ingest = named(&run.cells);
        let label = run.cells.labels[0].clone();
        store.recount(&mut run, &label).await.unwrap();
        assert_eq!(named(&run.cells), at_ingest, "{file}");
    }
}
