//! Every value comes back as it was stored.

use perfpipe_ingest::ErrorKind;
use std::collections::BTreeMap;

use parquet::file::reader::{FileReader, SerializedFileReader};
use perfpipe_ingest::SampleBatch;
use perfpipe_ingest::run::{Reject, Replace};
use perfpipe_ingest::series::TimeSeries;
use perfpipe_ingest::store::RunStore;
use perfpipe_ingest::store::{BatchEncoder, RunWriter};

use crate::example::{Example, Place, assert_stored, block_on, commit, example, store, stored_rows};

#[test]
fn run_can_be_stored_without_its_samples() {
    let place = Place::new();
    let mut run = example(3, 50);
    run.info.samples_stored = false;
    store(&place.store, &run).unwrap();
    assert_eq!(place.store.read(&run.info.key).unwrap().unwrap().info, run.info);
    let refused = stored_rows(&place.store, &run.info.key).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NoSamples, "{refused}");
}

#[test]
fn run_of_nothing_can_be_stored() {
    let place = Place::new();
    let mut run = example(0, 0);
    run.cells.clear();
    run.cpu = TimeSeries::default();
    run.errors.clear();
    run.label_counts.clear();
    run.rejects.clear();
    run.info.rejects = 0;
    store(&place.store, &run).unwrap();
    assert_stored(&place.store, &run);
}

#[test]
fn samples_that_were_not_all_stored_are_noticed() {
    let place = Place::new();
    let mut run = example(3, 50);
    run.info.successes += 1;
    run.label_counts[0].successes += 1;
    let failed = store(&place.store, &run).unwrap_err();
    assert!(failed.to_string().contains("it has 47 successes in its samples"), "{failed}");
    assert_eq!(place.store.runs().unwrap(), []);
}

/// Rows that are written to make a row group, about.
const ROW_GROUP: u64 = 256 << 10;

#[test]
fn row_groups_are_bounded_and_all_but_the_last_are_full() {
    const BATCH: usize = 10_000;
    const BATCHES: u64 = 60;
    let place = Place::new();
    let batch = example(0, BATCH).batch;
    let run = Example { batch, ..example(0, BATCHES as usize * BATCH) };
    let writer = block_on(async {
        let mut writer = place.store.begin(None, true).await.unwrap();
        let mut encoder = writer.encoder().unwrap();
        for _ in 0..BATCHES {
            if let Some(rows) = encoder.encode(&run.batch).unwrap() {
                writer.write(rows).await.unwrap();
            }
        }
        writer
    });
    commit(writer, &run, Replace::Any).unwrap();
    let file = std::fs::File::open(place.generation().join("samples.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let groups: Vec<u64> =
        reader.metadata().row_groups().iter().map(|group| group.num_rows() as u64).collect();
    let (last, full) = groups.split_last().unwrap();
    assert_eq!((full.len(), groups.iter().sum::<u64>()), (2, run.info.successes));
    assert!(
        *last < ROW_GROUP && full.iter().all(|rows| (ROW_GROUP..ROW_GROUP + BATCH as u64).contains(rows))
    );
    let (mut batches, mut stored) = (0, Vec::new());
    let mut each = |batch: SampleBatch| {
        batches += 1;
        stored.extend(batch.bytes.values().iter().map(|bytes| *bytes as usize));
        Ok(())
    };
    place.store.samples(&run.info.key, &mut each).unwrap();
    assert!(batches > 30, "samples are read in pieces");
    assert!(stored.iter().enumerate().all(|(at, bytes)| at % BATCH == *bytes), "in the order of the log");
}

#[test]
fn files_can_be_read_by_people_and_by_other_tools() {
    let place = Place::new();
    let run = example(3, 50);
    store(&place.store, &run).unwrap();
    let manifest = std::fs::read_to_string(place.run().join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let manifest = &manifest["run"];
    let generation = place.generation();
    assert_eq!(manifest["generation"].as_str(), generation.file_name().and_then(|name| name.to_str()));
    assert_eq!(
        (manifest["framework"].as_str(), manifest["test"].as_str()),
        (Some("perfectnio"), Some("2048"))
    );
    assert_eq!((manifest["failures"].as_u64(), manifest["t0_ms"].as_i64()), (Some(3), Some(run.info.t0_ms)));
    let files = ["cpu", "errors", "labels", "samples", "seconds"].map(|name| format!("{name}.parquet"));
    let expected: BTreeMap<String, i64> = files.into_iter().zip([90, 1, 1, 50, 81]).collect();
    let rows = |name: &String| {
        let file = std::fs::File::open(generation.join(name)).unwrap();
        SerializedFileReader::new(file).unwrap().metadata().file_metadata().num_rows()
    };
    let found: BTreeMap<String, i64> = crate::example::names(&generation)
        .into_iter()
        .filter(|name| name.ends_with(".parquet"))
        .map(|name| (name.clone(), rows(&name)))
        .collect();
    assert_eq!(found, expected);
    let rejects = std::fs::read_to_string(generation.join("rejects.jsonl")).unwrap();
    assert_eq!(serde_json::from_str::<Reject>(rejects.trim_end()).unwrap(), run.rejects[0]);
}
