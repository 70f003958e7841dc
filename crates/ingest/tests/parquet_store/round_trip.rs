//! Every value comes back as it was stored.

use std::collections::BTreeMap;

use parquet::file::reader::{FileReader, SerializedFileReader};
use perfpipe_ingest::store::{BatchEncoder, RunWriter};
use perfpipe_ingest::{
    Cell, CellKey, CpuSeries, ErrorCount, InjectorLoad, LabelCount, Reject, Replace, RunInfo, RunKey,
    RunStore, SampleBatch, SourceFile, Spread,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

use crate::example::{Example, Place, assert_stored, block_on, commit, example, store, stored_rows};

/// What is counted, up to the largest that fits.
fn count() -> impl Strategy<Value = u64> {
    prop_oneof![0..9u64, 0..=i64::MAX as u64, Just(i64::MAX as u64)]
}

fn second() -> impl Strategy<Value = u32> {
    prop_oneof![0..9u32, 0..=i32::MAX as u32]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-c]", any::<String>(), Just("two\r\nlines\t\"é\"\u{0}".into())]
}

type Sample = (
    (i64, i32, [bool; 2]),
    (Option<Vec<u8>>, Option<String>, Option<String>),
    ([Option<i64>; 2], [Option<i32>; 4], Option<f64>),
);

fn sample() -> impl Strategy<Value = Sample> {
    let t_ms = prop_oneof![0..5000i64, 0..=i64::from(i32::MAX)];
    let texts = (option::of(vec(any::<u8>(), 0..6)), option::of(text()), option::of(text()));
    (
        (t_ms, any::<i32>(), any::<[bool; 2]>()),
        texts,
        any::<([Option<i64>; 2], [Option<i32>; 4], Option<f64>)>(),
    )
}

fn push(batch: &mut SampleBatch, ((t_ms, elapsed, flags), texts, (large, small, cpu)): Sample) {
    batch.t_ms.push(t_ms);
    batch.elapsed.push(elapsed);
    let columns = [&mut batch.label, &mut batch.response_code, &mut batch.injector];
    let texts = [texts.0, texts.1.map(String::into_bytes), texts.2.map(String::into_bytes)];
    for (column, text) in columns.into_iter().zip(texts) {
        match text {
            Some(text) => column.push(&text),
            None => column.push_null(),
        }
    }
    batch.success.push(flags[0]);
    batch.transaction.push(flags[1]);
    batch.bytes.push(large[0]);
    batch.sent_bytes.push(large[1]);
    batch.all_threads.push(small[0]);
    batch.latency.push(small[1]);
    batch.idle_time.push(small[2]);
    batch.connect.push(small[3]);
    batch.cpu.push(cpu);
}

prop_compose! {
    fn cell()(
        elapsed in btree_map(any::<i32>(), count(), 0..5), n in count(), sums in any::<[i64; 4]>(),
        (min, max) in any::<(i32, i32)>(), before_boundary in count(),
        loads in btree_map(0..3u32, (count(), any::<i64>()), 0..4),
    ) -> Cell {
        let load = |(injector, (samples, threads))| InjectorLoad { injector, samples, threads };
        Cell {
            elapsed: elapsed.into_iter().collect(),
            latency: Spread { n, sum: sums[0], min, max },
            connect: sums[1],
            bytes: sums[2],
            sent_bytes: sums[3],
            before_boundary,
            injectors: loads.into_iter().map(load).collect(),
        }
    }
}

prop_compose! {
    fn cell_key()(second in second(), label in 0..3u32, success in any::<bool>(), transaction in any::<bool>())
        -> CellKey { CellKey { second, label, success, transaction } }
}

prop_compose! {
    fn error()(second in second(), texts in any::<[String; 3]>(), transaction in any::<bool>(), count in count())
        -> ErrorCount {
        let [label, response_code, message] = texts;
        ErrorCount { second, label, response_code, message, transaction, count }
    }
}

prop_compose! {
    fn reject()(file in text(), member in option::of(text()), line in any::<u64>(), byte in any::<u64>(),
        reason in text(), record in text()) -> Reject {
        Reject { file, member, line, byte, reason, record }
    }
}

prop_compose! {
    fn info()(
        (framework, test) in ("[a-z_./:%é]{1,9}", "[a-z_./:+é]{1,200}"), times in any::<[i64; 2]>(),
        seconds in any::<u32>(), rejects in any::<u64>(), inferred in any::<bool>(),
        sources in vec((text(), option::of(text()), text(), any::<u64>(), any::<u32>()), 0..3),
        cpu in any::<(i64, u32)>(), options in btree_map(text(), text(), 0..3), words in any::<[String; 2]>(),
    ) -> RunInfo {
        let source = |(file, member, kind, bytes, crc32)| SourceFile { file, member, kind, bytes, crc32 };
        let [tool_version, ingested_at] = words;
        RunInfo {
            seconds, rejects, inferred, tool_version, ingested_at, options,
            samples_stored: true,
            sources: sources.into_iter().map(source).collect(),
            cpu_offset: cpu.0,
            cpu_lookback: cpu.1,
            ..RunInfo::new(RunKey::new(framework, test), times[0], times[1])
        }
    }
}

/// Labels, and injectors.
fn odd_names() -> Vec<String> {
    ["a", "", "two\r\nlines, \"é\""].map(String::from).to_vec()
}

fn any_example() -> impl Strategy<Value = Example> {
    let tables = (
        vec(sample(), 0..30),
        btree_map(cell_key(), cell(), 0..8),
        btree_map(any::<i64>(), any::<f64>(), 0..5),
        vec(error(), 0..5),
        btree_map(text(), [count(), count(), count()], 0..5),
        vec(reject(), 0..4),
    );
    (info(), tables).prop_map(|(mut info, (samples, cells, cpu, mut errors, labels, rejects))| {
        info.successes = samples.len() as u64;
        errors.sort();
        let label = |(label, [successes, failures, transactions]): (String, [u64; 3])| LabelCount {
            label,
            successes,
            failures,
            transactions,
        };
        let mut batch = SampleBatch::default();
        samples.into_iter().for_each(|sample| push(&mut batch, sample));
        Example {
            info,
            batch,
            labels: odd_names(),
            injectors: odd_names(),
            cells: cells.into_iter().collect(),
            cpu: CpuSeries::new(cpu.into_iter().collect()),
            errors,
            label_counts: labels.into_iter().map(label).collect(),
            rejects,
        }
    })
}

proptest! {
    // Each case waits for the disk.
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn whatever_is_stored_comes_back(example in any_example()) {
        let place = Place::new();
        store(&place.store, &example).unwrap();
        assert_stored(&place.store, &example);
        prop_assert_eq!(place.store.runs().unwrap(), vec![example.info]);
    }
}

#[test]
fn a_run_can_be_stored_without_its_samples() {
    let place = Place::new();
    let mut run = example(3, 50);
    run.info.samples_stored = false;
    store(&place.store, &run).unwrap();
    assert_eq!(place.store.read(&run.info.key).unwrap().unwrap().info, run.info);
    let refused = stored_rows(&place.store, &run.info.key).unwrap_err();
    assert!(refused.to_string().contains("without its samples"), "{refused}");
    assert!(refused.remedy().unwrap().contains("--no-samples"));
}

#[test]
fn a_run_of_nothing_can_be_stored() {
    let place = Place::new();
    let mut run = example(0, 0);
    run.cells.clear();
    run.cpu = CpuSeries::default();
    run.errors.clear();
    run.label_counts.clear();
    run.rejects.clear();
    store(&place.store, &run).unwrap();
    assert_stored(&place.store, &run);
}

#[test]
fn samples_that_were_not_all_stored_are_noticed() {
    let place = Place::new();
    let mut run = example(3, 50);
    run.info.successes += 1;
    let failed = store(&place.store, &run).unwrap_err();
    assert!(failed.to_string().contains("checking the samples"), "{failed}");
    assert_eq!(place.store.runs().unwrap(), []);
}

/// Rows that are written to make a row group, about.
const ROW_GROUP: u64 = 256 << 10;

#[test]
fn row_groups_are_bounded_and_all_but_the_last_are_full() {
    const BATCH: usize = 10_000;
    const BATCHES: u64 = 60;
    let place = Place::new();
    let mut run = example(0, BATCH);
    run.info.successes = BATCHES * BATCH as u64;
    let writer = block_on(async {
        let mut writer = place.store.begin(None, true).await.unwrap();
        let mut encoder = writer.encoder().unwrap();
        for _ in 0..BATCHES {
            if let Some(group) = encoder.encode(&run.batch).unwrap() {
                writer.write(group).await.unwrap();
            }
        }
        let last = encoder.finish().unwrap().unwrap();
        writer.write(last).await.unwrap();
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
fn the_files_can_be_read_by_people_and_by_other_tools() {
    let place = Place::new();
    let run = example(3, 50);
    store(&place.store, &run).unwrap();
    let manifest = std::fs::read_to_string(place.run().join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let generation = place.generation();
    assert_eq!(manifest["generation"].as_str(), generation.file_name().and_then(|name| name.to_str()));
    assert_eq!(
        (manifest["framework"].as_str(), manifest["test"].as_str()),
        (Some("perfectnio"), Some("2048"))
    );
    assert_eq!((manifest["failures"].as_u64(), manifest["t0_ms"].as_i64()), (Some(3), Some(run.info.t0_ms)));
    let files = ["cpu", "errors", "labels", "samples", "seconds"].map(|name| format!("{name}.parquet"));
    let expected: BTreeMap<String, i64> = files.into_iter().zip([90, 1, 1, 50, 80]).collect();
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
