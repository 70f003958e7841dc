//! A run that is made up but consistent, and what is done with it.

use std::collections::BTreeMap;

use perfpipe_ingest::counts::{Cell, CellKey, ErrorCount, InjectorLoad, LabelCount, Spread};
use perfpipe_ingest::run::{Damage, Reject, Replace, SourceFile};
use perfpipe_ingest::sample::Nullable;
use perfpipe_ingest::series::TimeSeries;
use perfpipe_ingest::store::RunStore as _;
use perfpipe_ingest::store::postgres::Rows;
use perfpipe_ingest::store::postgres::{PostgresConfig, PostgresStore, PostgresWriter};
use perfpipe_ingest::store::{BatchEncoder, RunWriter};
use perfpipe_ingest::{Error, Result, RunInfo, RunKey, SampleBatch};

use crate::support::psql;
pub(crate) use crate::whole_run::{Example, finish};

pub(crate) fn key(framework: &str, test: &str) -> RunKey {
    RunKey::new(framework, test)
}

pub(crate) const ODD_LABELS: [&str; 4] =
    ["Größe/配额 plain", "Flaky, \"contains\"\r\n\t\\N", "", "'); drop table perfpipe.runs; --"];

/// A run of `samples` samples, some of them failed, some transactions, with nulls in every column that takes them.
pub(crate) fn example(key: &RunKey, samples: usize) -> Example {
    let mut batch = SampleBatch::default();
    for at in 0..samples {
        push_sample(&mut batch, at);
    }
    let count = |success: bool, transaction: bool| {
        let of = |at: &usize| (batch.success[*at], batch.transaction[*at]) == (success, transaction);
        (0..samples).filter(of).count() as u64
    };
    let (failures, failed) = (count(false, false), count(false, true));
    let transactions = count(true, true) + failed;
    let damage = Damage {
        file: "Results-2048-9000.csv.zip".into(),
        problem: "the file was cut short: \"'x'".into(),
        bytes: 1 << 40,
        packed_read: Some(7),
        ..Damage::default()
    };
    let mut info = RunInfo::new(key.clone(), 1_795_203_738_609, 1_795_203_816_638);
    info.last_end_ms = Some(1_795_203_817_001);
    (info.successes, info.failures, info.transactions) = (count(true, false), failures, transactions);
    (info.rejects, info.samples_stored, info.inferred) = (2, true, true);
    info.sources = vec![source("Results-2048-9000.csv.zip", "log"), source("cpu 'x'.csv", "cpu")];
    (info.cpu_offset, info.cpu_lookback) = (-7200, 3);
    info.options.time_zone = Some("Europe/Berlin \"'".into());
    info.tool_version = "0.1.0".into();
    info.ingested_at = "2026-11-20T21:48:00.123456Z".into();
    info.damage = vec![damage];
    Example {
        cells: cells(&batch),
        batch,
        errors: errors(failures, failed),
        label_counts: label_counts(&info),
        info,
        labels: ODD_LABELS.map(String::from).to_vec(),
        injectors: vec!["127.0.0.2:1100".into(), String::new()],
        cpu: TimeSeries::new(vec![
            (1_795_203_735, 0.1 + 0.2),
            (1_795_203_736, f64::MIN_POSITIVE),
            (-5, 7200.0),
        ]),
        rejects: rejects(),
    }
}

pub(crate) fn push_sample(batch: &mut SampleBatch, at: usize) {
    let some = |every: usize| !at.is_multiple_of(every);
    batch.t_ms.push((at * 7 % 79_000) as i64);
    if some(11) {
        batch.label.push(ODD_LABELS[at % 4].as_bytes())
    } else {
        batch.label.push_null()
    }
    batch.elapsed.push((at * 13 % 250) as i32);
    if some(7) {
        batch.response_code.push(b"200")
    } else {
        batch.response_code.push_null()
    }
    batch.success.push(some(5));
    batch.bytes.push(some(3).then_some(i64::MAX - at as i64));
    batch.sent_bytes.push(some(4).then_some(121));
    batch.all_threads.push(some(6).then_some(at as i32 % 60));
    batch.latency.push(some(8).then_some(at as i32 % 100));
    batch.idle_time.push(some(2).then_some(0));
    batch.connect.push(some(9).then_some(i32::MAX));
    batch.cpu.push(some(10).then_some(at as f64 / 3.0));
    if some(3) {
        batch.injector.push(b"127.0.0.2:1100")
    } else {
        batch.injector.push_null()
    }
    batch.transaction.push(at % 12 == 1);
}

/// Cells whose elapsed times are those of the batch, by second and verdict; all else of them is made up.
pub(crate) fn cells(batch: &SampleBatch) -> Vec<(CellKey, Cell)> {
    let mut found: BTreeMap<CellKey, BTreeMap<i32, u64>> = BTreeMap::new();
    for row in 0..batch.len() {
        let second = (batch.t_ms[row] / 1000) as u32;
        let label = (row % 4) as u32;
        let key = CellKey { second, label, success: batch.success[row], transaction: batch.transaction[row] };
        *found.entry(key).or_default().entry(batch.elapsed[row]).or_default() += 1;
    }
    let cell = |(key, elapsed): (CellKey, BTreeMap<i32, u64>)| {
        let some = key.second % 2 == 0;
        let cell = Cell {
            elapsed: elapsed.into_iter().collect(),
            latency: if some { Spread { n: 3, sum: 30, min: -1, max: 21 } } else { Spread::default() },
            connect: 5,
            bytes: i64::MAX,
            sent_bytes: 7,
            before_boundary: 1,
            injectors: (0..u32::from(some) * 2)
                .map(|injector| InjectorLoad { injector, samples: 9, threads: 1 << 40 })
                .collect(),
        };
        (key, cell)
    };
    found.into_iter().map(cell).collect()
}

pub(crate) fn source(file: &str, kind: &str) -> SourceFile {
    let mut source = SourceFile::new(file, kind.to_owned().into(), 1 << 50, u32::MAX);
    source.member = Some("a/b.csv".into());
    source
}

/// So many failures of requests, and of transactions.
pub(crate) fn errors(failures: u64, failed: u64) -> Vec<ErrorCount> {
    let error = |second, label: &str, message: &str, count| ErrorCount {
        second,
        label: label.into(),
        response_code: "Non HTTP response code: java.net.SocketTimeoutException".into(),
        message: message.into(),
        transaction: second == 1,
        count,
    };
    let (some, rest) = (failed / 2, failed - failed / 2);
    vec![
        error(0, "Ä", "a\nb", failures),
        error(1, "a", "x", some),
        error(1, "a", "é", 0),
        error(1, "Ä", "x", rest),
    ]
}

pub(crate) fn label_counts(info: &RunInfo) -> Vec<LabelCount> {
    let part = |total: u64, at: u64| total / 5 + u64::from(at < total % 5);
    let count = |(label, at): (&str, u64)| LabelCount {
        label: label.into(),
        successes: part(info.successes, at),
        failures: part(info.failures, at),
        transactions: part(info.transactions, at),
    };
    ["", "(other)", "Z", "a", "Ä"].into_iter().zip(0..).map(count).collect()
}

pub(crate) fn rejects() -> Vec<Reject> {
    let reject = |line| {
        let record = "1795204401587,\"17\n\u{FFFD}\\.";
        let mut reject = Reject::new("Results-2048-9000.csv.zip", line, 1 << 40, "5 fields", record);
        reject.member = (line == 1).then(|| "a/b.csv".into());
        reject.code = Some("field-count".into());
        reject
    };
    vec![reject(9), reject(1)]
}

/// Encodes a batch as the pipeline would, in pieces.
pub(crate) fn encode(writer: &PostgresWriter, batch: &SampleBatch) -> Vec<Rows> {
    let mut encoder = writer.encoder().unwrap();
    encoder.encode(batch).unwrap().into_iter().collect()
}

pub(crate) async fn write(writer: &mut PostgresWriter, example: &Example) {
    for chunk in encode(writer, &example.batch) {
        writer.write(chunk).await.unwrap();
    }
}

pub(crate) async fn store(store: &PostgresStore, example: &Example) -> Result<()> {
    let keep = example.info.samples_stored;
    let mut writer = store.begin(Some(&example.info.key), keep).await?;
    write(&mut writer, example).await;
    finish(writer, example, Replace::Any).await
}

pub(crate) async fn connect(url: &str) -> PostgresStore {
    try_connect(url).await.unwrap()
}

pub(crate) async fn try_connect(url: &str) -> Result<PostgresStore> {
    PostgresStore::connect(&PostgresConfig::resolve(url, &|_| None)?).await
}

pub(crate) async fn samples(store: &PostgresStore, key: &RunKey) -> SampleBatch {
    let mut all = SampleBatch::default();
    let mut each = |batch: SampleBatch| {
        append(&mut all, &batch);
        Ok(())
    };
    store.samples(key, &mut each).await.unwrap();
    all
}

pub(crate) fn append(all: &mut SampleBatch, batch: &SampleBatch) {
    fn numbers<T: Copy + Default>(all: &mut Nullable<T>, batch: &Nullable<T>) {
        (0..batch.values().len()).for_each(|row| all.push(batch.get(row)));
    }
    all.t_ms.extend(&batch.t_ms);
    all.elapsed.extend(&batch.elapsed);
    all.success.extend(&batch.success);
    all.transaction.extend(&batch.transaction);
    for (all, batch) in [
        (&mut all.label, &batch.label),
        (&mut all.response_code, &batch.response_code),
        (&mut all.injector, &batch.injector),
    ] {
        for row in 0..batch.codes().len() {
            match batch.get(row) {
                Some(text) => all.push(text.as_bytes()),
                None => all.push_null(),
            }
        }
    }
    numbers(&mut all.bytes, &batch.bytes);
    numbers(&mut all.sent_bytes, &batch.sent_bytes);
    numbers(&mut all.all_threads, &batch.all_threads);
    numbers(&mut all.latency, &batch.latency);
    numbers(&mut all.idle_time, &batch.idle_time);
    numbers(&mut all.connect, &batch.connect);
    numbers(&mut all.cpu, &batch.cpu);
}

pub(crate) async fn check_whole(store: &PostgresStore, example: &Example) {
    let key = &example.info.key;
    let run = store.read(key).await.unwrap().unwrap();
    assert_eq!(run.info, example.info);
    assert_eq!(run.cells.labels, example.labels);
    assert_eq!(run.cells.injectors, example.injectors);
    assert_eq!(run.cells.iter().map(Result::unwrap).collect::<Vec<_>>(), example.cells);
    assert_eq!(run.cpu, example.cpu);
    assert_eq!(run.errors, example.errors);
    assert_eq!(run.labels, example.label_counts);
    assert!(samples(store, key).await == example.batch);
    let mut rejects = Vec::new();
    let mut each = |reject| {
        rejects.push(reject);
        Ok(())
    };
    store.rejects(key, &mut each).await.unwrap();
    assert_eq!(rejects, example.rejects);
}

/// The tables and indexes of the schema that are not those of all runs.
pub(crate) fn tables(url: &str) -> Vec<String> {
    let shared = "'layout', 'runs', 'seconds', 'cpu', 'errors', 'labels', 'rejects'";
    let sql = format!(
        "select tablename from pg_tables where schemaname = 'perfpipe' and tablename not in ({shared}) order by 1"
    );
    psql(url, &sql).lines().map(str::to_owned).collect()
}

pub(crate) fn refusal(result: Result<()>) -> String {
    match result.unwrap_err() {
        error @ Error::Refused { .. } => error.to_string(),
        other => panic!("not a refusal: {other}"),
    }
}

/// Writes until it fails.
pub(crate) async fn keep_writing(writer: &mut PostgresWriter, example: &Example) -> Error {
    loop {
        for chunk in encode(writer, &example.batch) {
            if let Err(error) = writer.write(chunk).await {
                return error;
            }
        }
    }
}
