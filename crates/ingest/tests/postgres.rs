//! The Postgres store against a real server.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "tests")]

#[path = "support/postgres.rs"]
mod support;

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use perfpipe_ingest::store::postgres::Rows;
use perfpipe_ingest::store::{
    BatchEncoder, CommitStage, FinishedRun, PostgresConfig, PostgresStore, PostgresWriter, RunWriter,
};
use perfpipe_ingest::{
    Cell, CellKey, CpuSeries, Damage, Error, ErrorCount, InjectorLoad, LabelCount, Nullable, Reject,
    RejectSpool, Replace, Result, RunInfo, RunKey, RunStore as _, SampleBatch, SourceFile, Spread,
};
use support::{TestServer, Tls, psql};

/// Everything of a run, made up but consistent.
#[derive(Clone)]
struct Example {
    info: RunInfo,
    batch: SampleBatch,
    labels: Vec<String>,
    injectors: Vec<String>,
    cells: Vec<(CellKey, Cell)>,
    cpu: CpuSeries,
    errors: Vec<ErrorCount>,
    label_counts: Vec<LabelCount>,
    rejects: Vec<Reject>,
}

fn key(framework: &str, test: &str) -> RunKey {
    RunKey::new(framework, test)
}

const ODD_LABELS: [&str; 4] =
    ["Größe/配额 plain", "Flaky, \"contains\"\r\n\t\\N", "", "'); drop table perfpipe.runs; --"];

/// A run of `samples` samples, some of them failed, some transactions, with nulls in every column that takes them.
fn example(key: &RunKey, samples: usize) -> Example {
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
    let info = RunInfo {
        key: key.clone(),
        t0_ms: 1_795_203_738_609,
        last_ms: 1_795_203_816_638,
        last_end_ms: Some(1_795_203_817_001),
        transactions_end_ms: None,
        seconds: 79,
        successes: count(true, false),
        failures,
        transactions,
        rejects: 2,
        samples_stored: true,
        inferred: true,
        sources: vec![source("Results-2048-9000.csv.zip", "log"), source("cpu 'x'.csv", "cpu")],
        cpu_offset: -7200,
        cpu_lookback: 3,
        options: BTreeMap::from([("time-zone".into(), "Europe/Berlin \"'".into())]),
        tool_version: "0.1.0".into(),
        ingested_at: "2026-11-20T21:48:00.123456Z".into(),
        damage: vec![Damage {
            file: "Results-2048-9000.csv.zip".into(),
            problem: "the file was cut short: \"'x'".into(),
            bytes: 1 << 40,
            packed_read: Some(7),
            ..Damage::default()
        }],
    };
    Example {
        cells: cells(&batch),
        batch,
        errors: errors(failures, failed),
        label_counts: label_counts(&info),
        info,
        labels: ODD_LABELS.map(String::from).to_vec(),
        injectors: vec!["127.0.0.2:1100".into(), String::new()],
        cpu: CpuSeries::new(vec![
            (1_795_203_735, 0.1 + 0.2),
            (1_795_203_736, f64::MIN_POSITIVE),
            (-5, 7200.0),
        ]),
        rejects: rejects(),
    }
}

fn push_sample(batch: &mut SampleBatch, at: usize) {
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
fn cells(batch: &SampleBatch) -> Vec<(CellKey, Cell)> {
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

fn source(file: &str, kind: &str) -> SourceFile {
    SourceFile {
        file: file.into(),
        member: Some("a/b.csv".into()),
        kind: kind.into(),
        bytes: 1 << 50,
        crc32: u32::MAX,
    }
}

/// So many failures of requests, and of transactions.
fn errors(failures: u64, failed: u64) -> Vec<ErrorCount> {
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

fn label_counts(info: &RunInfo) -> Vec<LabelCount> {
    let part = |total: u64, at: u64| total / 5 + u64::from(at < total % 5);
    let count = |(label, at): (&str, u64)| LabelCount {
        label: label.into(),
        successes: part(info.successes, at),
        failures: part(info.failures, at),
        transactions: part(info.transactions, at),
    };
    ["", "(other)", "Z", "a", "Ä"].into_iter().zip(0..).map(count).collect()
}

fn rejects() -> Vec<Reject> {
    let reject = |line| Reject {
        file: "Results-2048-9000.csv.zip".into(),
        member: (line == 1).then(|| "a/b.csv".into()),
        line,
        byte: 1 << 40,
        reason: "5 fields in the place of 17".into(),
        record: "1795204401587,\"17\n\u{FFFD}\\.".into(),
    };
    vec![reject(9), reject(1)]
}

/// Encodes a batch as the pipeline would, in pieces.
fn encode(writer: &PostgresWriter, batch: &SampleBatch) -> Vec<Rows> {
    let mut encoder = writer.encoder().unwrap();
    encoder.encode(batch).unwrap().into_iter().collect()
}

async fn write(writer: &mut PostgresWriter, example: &Example) {
    for chunk in encode(writer, &example.batch) {
        writer.write(chunk).await.unwrap();
    }
}

async fn commit(writer: PostgresWriter, example: &Example, replace: Replace) -> Result<()> {
    let mut rejects = RejectSpool::default();
    example.rejects.iter().for_each(|reject| rejects.push(reject).unwrap());
    let run = FinishedRun {
        info: &example.info,
        labels: &example.labels,
        injectors: &example.injectors,
        cells: &mut example.cells.iter().cloned().map(Ok),
        cpu: &example.cpu,
        errors: &example.errors,
        label_counts: &example.label_counts,
        rejects: &mut rejects,
        replace,
        stage: &CommitStage::default(),
    };
    writer.commit(run).await
}

async fn store(store: &PostgresStore, example: &Example) -> Result<()> {
    let keep = example.info.samples_stored;
    let mut writer = store.begin(Some(&example.info.key), keep).await?;
    write(&mut writer, example).await;
    commit(writer, example, Replace::Any).await
}

async fn connect(url: &str) -> PostgresStore {
    try_connect(url).await.unwrap()
}

async fn try_connect(url: &str) -> Result<PostgresStore> {
    PostgresStore::connect(&PostgresConfig::resolve(url, &|_| None)?).await
}

async fn samples(store: &PostgresStore, key: &RunKey) -> SampleBatch {
    let mut all = SampleBatch::default();
    let mut each = |batch: SampleBatch| {
        append(&mut all, &batch);
        Ok(())
    };
    store.samples(key, &mut each).await.unwrap();
    all
}

fn append(all: &mut SampleBatch, batch: &SampleBatch) {
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

async fn check_whole(store: &PostgresStore, example: &Example) {
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
fn tables(url: &str) -> Vec<String> {
    let shared = "'layout', 'runs', 'seconds', 'cpu', 'errors', 'labels', 'rejects'";
    let sql = format!(
        "select tablename from pg_tables where schemaname = 'perfpipe' and tablename not in ({shared}) order by 1"
    );
    psql(url, &sql).lines().map(str::to_owned).collect()
}

fn refusal(result: Result<()>) -> String {
    match result.unwrap_err() {
        error @ Error::Refused { .. } => error.to_string(),
        other => panic!("not a refusal: {other}"),
    }
}

#[tokio::test]
async fn cells_that_are_not_those_of_the_run_are_a_fault_that_is_told_and_nothing_is_stored() {
    let Some(server) = TestServer::shared() else { return };
    let postgres = connect(&server.database()).await;
    for kept in [true, false] {
        let mut old = example(&key("go", "counts"), 300);
        old.info.samples_stored = kept;
        store(&postgres, &old).await.unwrap();
        let mut less = old.clone();
        less.cells.pop();
        let mut other = old.clone();
        other.cells[0].0.success = !other.cells[0].0.success;
        for wrong in [less, other] {
            let failed = store(&postgres, &wrong).await.unwrap_err();
            assert!(failed.to_string().contains("checking the counts"), "{failed}");
            assert!(failed.remedy().unwrap().contains("please report it"), "{failed:?}");
        }
        assert_eq!(postgres.read(&old.info.key).await.unwrap().unwrap().info, old.info);
    }
}

#[tokio::test]
async fn a_run_comes_back_as_it_was_stored() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let postgres = connect(&url).await;
    let example = example(&key("perfectnio", "2048"), 30_000);
    assert!(postgres.runs().await.unwrap().is_empty());
    assert!(postgres.read(&example.info.key).await.unwrap().is_none());
    assert!(!postgres.drop_run(&example.info.key).await.unwrap());
    store(&postgres, &example).await.unwrap();
    check_whole(&postgres, &example).await;
    assert_eq!(postgres.runs().await.unwrap(), std::slice::from_ref(&example.info));
    assert_eq!(tables(&url), ["perfectnio_2048"]);
    assert_eq!(psql(&url, "select relpersistence from pg_class where relname = 'perfectnio_2048'"), "p");
    assert!(postgres.drop_run(&example.info.key).await.unwrap());
    assert_eq!(tables(&url), Vec::<String>::new());
    assert_eq!(psql(&url, "select count(*) from perfpipe.seconds"), "0");
}

#[tokio::test]
async fn an_empty_run_and_one_without_samples_can_be_stored() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let postgres = connect(&url).await;
    let empty = example(&key("a", "empty"), 0);
    store(&postgres, &empty).await.unwrap();
    check_whole(&postgres, &empty).await;
    let mut bare = example(&key("a", "bare"), 100);
    bare.info.samples_stored = false;
    store(&postgres, &bare).await.unwrap();
    assert_eq!(tables(&url), ["a_empty"]);
    assert_eq!(
        postgres
            .read(&bare.info.key)
            .await
            .unwrap()
            .unwrap()
            .cells
            .iter()
            .map(Result::unwrap)
            .collect::<Vec<_>>(),
        bare.cells
    );
    let error = postgres.samples(&bare.info.key, &mut |_| Ok(())).await;
    assert!(refusal(error).contains("without its samples"));
    let error = postgres.samples(&key("a", "none"), &mut |_| Ok(())).await;
    assert!(refusal(error).contains("no run a_none"));
    let names: Vec<String> = postgres.runs().await.unwrap().iter().map(|run| run.key.to_string()).collect();
    assert_eq!(names, ["a_bare", "a_empty"]);
}

#[tokio::test]
async fn the_old_run_is_read_until_the_new_one_is_committed() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let (postgres, other) = (connect(&url).await, connect(&url).await);
    let key = key("spring", "2048");
    let (old, new) = (example(&key, 500), example(&key, 700));
    store(&postgres, &old).await.unwrap();
    let mut writer = postgres.begin(Some(&key), true).await.unwrap();
    write(&mut writer, &new).await;
    check_whole(&other, &old).await;
    assert_eq!(tables(&url), ["spring_2048"]);
    commit(writer, &new, Replace::Any).await.unwrap();
    check_whole(&other, &new).await;
    assert_eq!(tables(&url), ["spring_2048"]);
    assert_eq!(psql(&url, "select count(*) from perfpipe.runs"), "1");
    assert_eq!(
        psql(&url, "select indexname from pg_indexes where tablename = 'spring_2048'"),
        "spring_2048_t_ms"
    );
}

#[tokio::test]
async fn a_dropped_writer_leaves_nothing() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let postgres = connect(&url).await;
    let example = example(&key("spring", "2048"), 20_000);
    let mut writer = postgres.begin(Some(&example.info.key), true).await.unwrap();
    write(&mut writer, &example).await;
    drop(writer);
    // The server learns of it a moment later.
    for _ in 0..200 {
        match postgres.begin(Some(&example.info.key), true).await {
            Ok(_) => break,
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
    assert!(postgres.runs().await.unwrap().is_empty());
    assert_eq!(tables(&url), Vec::<String>::new());
    store(&postgres, &example).await.unwrap();
    check_whole(&postgres, &example).await;
}

#[tokio::test]
async fn the_second_writer_of_a_key_is_told() {
    let Some(server) = TestServer::shared() else { return };
    let postgres = connect(&server.database()).await;
    let example = example(&key("a", "b"), 10);
    let mut first = postgres.begin(Some(&example.info.key), true).await.unwrap();
    let second = postgres.begin(Some(&example.info.key), true).await.map(drop);
    assert!(refusal(second).contains("at this moment writing the run a_b"));
    // One that learns its key only at the end is told then.
    let mut third = postgres.begin(None, true).await.unwrap();
    write(&mut third, &example).await;
    assert!(refusal(commit(third, &example, Replace::Any).await).contains("a_b"));
    // Another key is free.
    let other = postgres.begin(Some(&key("a", "c")), true).await.unwrap();
    write(&mut first, &example).await;
    commit(first, &example, Replace::Any).await.unwrap();
    drop(other);
    check_whole(&postgres, &example).await;
}

#[tokio::test]
async fn an_inferred_key_replaces_only_a_run_of_the_same_file() {
    let Some(server) = TestServer::shared() else { return };
    let postgres = connect(&server.database()).await;
    let old = example(&key("a", "b"), 10);
    store(&postgres, &old).await.unwrap();
    let mut other = example(&key("a", "b"), 20);
    other.info.sources[0].file = "another.csv".into();
    for (new, allowed) in [(&other, false), (&old, true)] {
        let mut writer = postgres.begin(None, true).await.unwrap();
        write(&mut writer, new).await;
        let result = commit(writer, new, Replace::SameFile).await;
        assert_eq!(result.is_ok(), allowed);
        check_whole(&postgres, &old).await;
    }
}

#[tokio::test]
async fn samples_are_whole_however_many_copies_they_take() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let postgres = connect(&url).await;
    let mut example = example(&key("a", "b"), 20_000);
    let mut writer = postgres.begin(None, true).await.unwrap();
    let chunks = encode(&writer, &example.batch);
    let times = 50;
    for chunk in (0..times).flat_map(|_| &chunks) {
        writer.write(chunk.clone()).await.unwrap();
    }
    for count in [&mut example.info.successes, &mut example.info.failures, &mut example.info.transactions] {
        *count *= times;
    }
    example.cells.iter_mut().flat_map(|(_, cell)| &mut cell.elapsed).for_each(|(_, count)| *count *= times);
    example.errors.iter_mut().for_each(|error| error.count *= times);
    for label in &mut example.label_counts {
        for count in [&mut label.successes, &mut label.failures, &mut label.transactions] {
            *count *= times;
        }
    }
    commit(writer, &example, Replace::Any).await.unwrap();
    let expected = format!(
        "{}|{}",
        20_000 * times,
        times * example.batch.elapsed.iter().map(|ms| *ms as u64).sum::<u64>()
    );
    assert_eq!(psql(&url, "select count(*), sum(elapsed) from perfpipe.a_b"), expected);
    assert_eq!(samples(&postgres, &example.info.key).await.len() as u64, 20_000 * times);
}

#[tokio::test]
async fn a_copy_that_the_server_gives_up_is_noticed_on_the_way() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let postgres = connect(&url).await;
    let example = example(&key("a", "b"), 20_000);
    let mut writer = postgres.begin(None, true).await.unwrap();
    write(&mut writer, &example).await;
    let cancel = "select pg_cancel_backend(pid) from pg_stat_activity \
                  where query like 'copy%' and datname = current_database()";
    assert_eq!(psql(&url, cancel), "t");
    let error = keep_writing(&mut writer, &example).await.to_string();
    assert!(error.contains("canceling statement"), "{error}");
}

#[tokio::test]
async fn samples_that_were_not_all_stored_are_noticed() {
    let Some(server) = TestServer::shared() else { return };
    let postgres = connect(&server.database()).await;
    let mut example = example(&key("a", "b"), 10);
    example.info.successes += 1;
    let error = store(&postgres, &example).await.unwrap_err();
    assert!(error.to_string().contains("11 samples were counted, and 10 were stored"), "{error}");
    assert!(postgres.runs().await.unwrap().is_empty());
}

#[tokio::test]
async fn any_name_gets_a_table_of_its_own() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let postgres = connect(&url).await;
    let long = "ü".repeat(60);
    let keys = [
        ("per", "second"),
        ("elapsed", "counts"),
        ("seconds", "run"),
        ("a_b", "c"),
        ("a", "b_c"),
        (long.as_str(), "1"),
        (long.as_str(), "2"),
        ("Größe 配额", "\"quoted\""),
        ("x\"; drop table perfpipe.runs; --", "'y' \\ %s $1 {table}"),
        ("loading 1", "1"),
        ("", ""),
    ];
    let examples: Vec<Example> =
        keys.iter().zip(3..).map(|((framework, test), size)| example(&key(framework, test), size)).collect();
    for example in examples.iter().chain(&examples) {
        store(&postgres, example).await.unwrap();
    }
    for example in &examples {
        check_whole(&postgres, example).await;
    }
    assert_eq!(tables(&url).len(), keys.len());
    assert_eq!(psql(&url, "select count(distinct table_name) from perfpipe.runs"), keys.len().to_string());
    let named = "select table_name from perfpipe.runs where framework = 'a_b'";
    assert_eq!(psql(&url, named), "a_b_c");
    for example in &examples {
        assert!(postgres.drop_run(&example.info.key).await.unwrap());
    }
    assert_eq!(tables(&url), Vec::<String>::new());
}

#[tokio::test]
async fn first_writers_may_come_at_once() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let postgres = connect(&url).await;
    let examples: Vec<Example> = (0..4).map(|at| example(&key("same", &at.to_string()), 50)).collect();
    let [a, b, c, d] = [0, 1, 2, 3].map(|at| store(&postgres, &examples[at]));
    let (a, b, c, d) = tokio::join!(a, b, c, d);
    a.and(b).and(c).and(d).unwrap();
    for example in &examples {
        check_whole(&postgres, example).await;
    }
}

#[tokio::test]
async fn whoever_looks_while_the_schema_is_made_sees_no_runs_or_those_that_there_are() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let (writer, reader) = (connect(&url).await, connect(&url).await);
    for _ in 0..20 {
        let made = AtomicBool::new(false);
        let look = async {
            while !made.load(Ordering::Relaxed) {
                assert!(reader.runs().await.unwrap().len() <= 1);
            }
        };
        let make = async {
            store(&writer, &example(&key("a", "b"), 1)).await.unwrap();
            made.store(true, Ordering::Relaxed);
        };
        tokio::join!(look, make);
        psql(&url, "drop schema perfpipe cascade");
    }
}

#[tokio::test]
async fn a_reader_of_samples_holds_up_the_swap_and_no_one_else() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let (hasty, reader) = (connect(&url).await.patience(Duration::ZERO), connect(&url).await);
    let (old, new) = (example(&key("a", "b"), 20_000), example(&key("a", "b"), 5));
    store(&hasty, &old).await.unwrap();
    let (reached, wait) = mpsc::channel();
    let (go, gone) = mpsc::channel();
    let key = old.info.key.clone();
    let reading = std::thread::spawn(move || {
        let rows = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&rows);
        let mut each = move |batch: SampleBatch| {
            if rows.fetch_add(batch.len(), Ordering::Relaxed) == 0 {
                reached.send(()).unwrap();
                gone.recv().unwrap();
            }
            Ok(())
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { connect(&url).await.samples(&key, &mut each).await.unwrap() });
        counted.load(Ordering::Relaxed)
    });
    wait.recv().unwrap();
    assert!(refusal(store(&hasty, &new).await).contains("still being read"));
    check_whole(&reader, &old).await;
    go.send(()).unwrap();
    assert_eq!(reading.join().unwrap(), 20_000);
    store(&hasty, &new).await.unwrap();
    check_whole(&reader, &new).await;
}

#[tokio::test]
async fn a_reader_that_stops_early_does_no_harm() {
    let Some(server) = TestServer::shared() else { return };
    let postgres = connect(&server.database()).await;
    let example = example(&key("a", "b"), 20_000);
    store(&postgres, &example).await.unwrap();
    let mut each = |_| Err(Error::usage("enough", "none"));
    assert_eq!(postgres.samples(&example.info.key, &mut each).await.unwrap_err().to_string(), "enough");
    check_whole(&postgres, &example).await;
}

/// A session of psql that holds what a statement locks, until it is dropped.
struct Holder<'a>(&'a str, std::process::Child);

impl<'a> Holder<'a> {
    /// Waits until the lock is held, of which `kind` is the kind.
    fn new(url: &'a str, lock: &str, kind: &str) -> Self {
        let mut psql_of_it = support::psql_command(url);
        let sql = format!("begin; {lock}; select pg_sleep(100)");
        let child =
            psql_of_it.args(["-c", &sql]).env("PGAPPNAME", "the holder").stdout(Stdio::null()).spawn();
        let held = format!(
            "select count(*) from pg_locks l join pg_stat_activity a using (pid) where application_name = 'the holder' \
             and l.database = (select oid from pg_database where datname = current_database()) \
             and granted and {kind}"
        );
        while psql(url, &held) == "0" {
            std::thread::sleep(Duration::from_millis(20));
        }
        Self(url, child.unwrap())
    }
}

impl Drop for Holder<'_> {
    fn drop(&mut self) {
        // The server would not notice that its client has gone.
        let of_it =
            "from pg_stat_activity where application_name = 'the holder' and datname = current_database()";
        psql(self.0, &format!("select pg_terminate_backend(pid) {of_it}"));
        self.1.wait().unwrap();
        while psql(self.0, &format!("select count(*) {of_it}")) != "0" {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The refusal names who holds the lock.
fn assert_named(url: &str, result: Result<()>, part: &str) {
    let error = result.unwrap_err();
    let sentence = error.to_string();
    let who = psql(url, "select pid from pg_stat_activity where application_name = 'the holder'");
    assert!(who.lines().any(|pid| sentence.contains(&format!("process {pid} "))), "{who}: {sentence}");
    for part in ["of the role postgres", "application \"the holder\"", part] {
        assert!(sentence.contains(part), "{part} is not in: {sentence}");
    }
    assert!(error.remedy().is_some());
}

#[tokio::test]
async fn whoever_waits_for_a_locked_table_is_told_who_holds_it() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let hasty = connect(&url).await.patience(Duration::ZERO);
    let example = example(&key("a", "b"), 50);
    let key = &example.info.key;
    store(&hasty, &example).await.unwrap();
    for table in ["runs", "seconds", "rejects", "a_b"] {
        let lock = format!("lock table perfpipe.{table} in access exclusive mode");
        let holder = Holder::new(&url, &lock, "mode = 'AccessExclusiveLock'");
        let locked = format!("perfpipe.{table} is locked");
        if table == "runs" {
            assert_named(&url, hasty.runs().await.map(drop), &locked);
            assert_named(&url, hasty.repeats("a", "b").await.map(drop), &locked);
            assert_named(&url, hasty.drop_run(key).await.map(drop), &locked);
        }
        if ["runs", "seconds"].contains(&table) {
            assert_named(&url, hasty.read(key).await.map(drop), &locked);
            assert_named(&url, store(&hasty, &example).await, &locked);
        }
        if ["runs", "rejects"].contains(&table) {
            assert_named(&url, hasty.rejects(key, &mut |_| Ok(())).await, &locked);
        }
        if ["runs", "a_b"].contains(&table) {
            assert_named(&url, hasty.samples(key, &mut |_| Ok(())).await, &locked);
        }
        drop(holder);
    }
    let holder = Holder::new(&url, "lock table perfpipe.cpu in share mode", "mode = 'ShareLock'");
    check_whole(&hasty, &example).await;
    assert_named(&url, store(&hasty, &example).await, "perfpipe.cpu is locked");
    drop(holder);
    store(&hasty, &example).await.unwrap();
    check_whole(&hasty, &example).await;
}

#[tokio::test]
async fn whoever_holds_one_of_the_locks_on_names_is_named() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let hasty = connect(&url).await.patience(Duration::ZERO);
    let example = example(&key("a", "b"), 50);
    let held = |text: &str| {
        let lock = format!("select pg_advisory_xact_lock(hashtextextended('{text}', 0::bigint))");
        Holder::new(&url, &lock, "locktype = 'advisory'")
    };
    let holder = held("perfpipe layout");
    assert_named(&url, store(&hasty, &example).await, "the lock on making the schema");
    drop(holder);
    store(&hasty, &example).await.unwrap();
    let holder = held("perfpipe names");
    assert_named(&url, store(&hasty, &example).await, "the lock on the names of tables");
    drop(holder);
    let holder = held("perfpipe run a\u{1f}b\u{1f}1");
    assert_named(&url, store(&hasty, &example).await, "writing the run a_b");
    drop(holder);
    check_whole(&hasty, &example).await;
}

// A connection that is given up is closed while psql waits for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_column_of_another_type_is_an_error_and_never_another_figure() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let postgres = connect(&url).await;
    let example = example(&key("a", "b"), 50);
    let key = &example.info.key;
    store(&postgres, &example).await.unwrap();
    for (column, other, own) in [
        ("cpu alter column value", "bigint using 5", "float8"),
        ("errors alter column count", "float8", "bigint"),
        ("a_b alter column elapsed", "real", "int"),
        ("rejects alter column line", "float8", "bigint"),
    ] {
        psql(&url, &format!("alter table perfpipe.{column} type {other}"));
        let read = match column {
            "a_b alter column elapsed" => postgres.samples(key, &mut |_| Ok(())).await,
            "rejects alter column line" => postgres.rejects(key, &mut |_| Ok(())).await,
            _ => postgres.read(key).await.map(drop),
        };
        assert!(refusal(read).contains("another type"), "{column}");
        psql(&url, &format!("alter table perfpipe.{column} type {own}"));
    }
    store(&postgres, &example).await.unwrap();
    check_whole(&postgres, &example).await;
}

#[tokio::test]
async fn a_row_that_can_not_be_read_is_named_and_gives_way() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let postgres = connect(&url).await;
    let (one, other) = (example(&key("a", "b"), 50), example(&key("a", "c"), 50));
    store(&postgres, &other).await.unwrap();
    for change in ["sources = '{}'", "labels = '{null}'", "seconds = -1"] {
        store(&postgres, &one).await.unwrap();
        psql(&url, &format!("update perfpipe.runs set {change} where test = 'b'"));
        let found = postgres.look().await.unwrap();
        assert_eq!(found.runs, std::slice::from_ref(&other.info));
        let [error] = found.unread.as_slice() else { panic!("{change}") };
        assert!(error.to_string().contains("the row of the run a_b"), "{error}");
        assert!(postgres.read(&one.info.key).await.is_err() && postgres.runs().await.is_err());
        store(&postgres, &one).await.unwrap();
        check_whole(&postgres, &one).await;
        psql(&url, &format!("update perfpipe.runs set {change} where test = 'b'"));
        assert!(postgres.drop_run(&one.info.key).await.unwrap());
        assert_eq!(tables(&url), ["a_c"]);
    }
}

#[tokio::test]
async fn a_layouts_own_table_is_never_dropped_with_a_run() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let postgres = connect(&url).await;
    let example = example(&key("a", "b"), 50);
    store(&postgres, &example).await.unwrap();
    for table in ["cpu", "runs", "per_second"] {
        psql(&url, &format!("update perfpipe.runs set table_name = '{table}'"));
        assert!(
            refusal(postgres.drop_run(&example.info.key).await.map(drop)).contains("which all runs share")
        );
        assert!(refusal(store(&postgres, &example).await).contains("which all runs share"));
        assert!(postgres.samples(&example.info.key, &mut |_| Ok(())).await.is_err());
    }
    psql(&url, "update perfpipe.runs set table_name = 'a_b'");
    check_whole(&postgres, &example).await;
}

#[tokio::test]
async fn another_layout_is_refused() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let postgres = connect(&url).await;
    store(&postgres, &example(&key("a", "b"), 5)).await.unwrap();
    psql(&url, "update perfpipe.layout set version = 99");
    assert!(refusal(postgres.runs().await.map(drop)).contains("layout 99"));
    assert!(refusal(postgres.begin(None, true).await.map(drop)).contains("layout 99"));
}

#[tokio::test]
async fn the_counts_read_in_sql_as_the_samples_do() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let postgres = connect(&url).await;
    store(&postgres, &example(&key("a", "b"), 5000)).await.unwrap();
    let from_samples = "select t_ms / 1000 as second, success, transaction, elapsed, count(*) from perfpipe.a_b \
                        group by 1, 2, 3, 4";
    let from_counts = "select second, success, transaction, elapsed, sum(count)::bigint from perfpipe.elapsed_counts \
                       where (framework, test) = ('a', 'b') group by 1, 2, 3, 4";
    let different = format!(
        "select count(*) from (({from_samples} except {from_counts}) union all ({from_counts} except {from_samples})) x"
    );
    assert_eq!(psql(&url, &different), "0");
    let means = "select count(*) from perfpipe.per_second p join (select t_ms / 1000 as second, \
                 count(*) filter (where success) as successes, count(*) filter (where not success) as failures, \
                 avg(elapsed) filter (where success) as mean from perfpipe.a_b where not transaction group by 1) s \
                 using (second) where p.successes = s.successes and p.failures = s.failures \
                 and abs(p.elapsed_mean - s.mean) < 1e-9";
    let seconds = psql(&url, "select count(distinct t_ms / 1000) from perfpipe.a_b");
    assert_eq!(psql(&url, means), seconds);
    let bare = "select count(*) from pg_attribute a join pg_class c on c.oid = a.attrelid where attnum > 0 \
                and relnamespace = 'perfpipe'::regnamespace and relkind in ('r', 'v') \
                and col_description(attrelid, attnum) is null";
    assert_eq!(psql(&url, bare), "0");
    assert_eq!(psql(&url, "select t0 at time zone 'UTC' from perfpipe.runs"), "2026-11-20 19:42:18.609");
}

#[tokio::test]
async fn a_server_that_goes_away_leaves_the_old_run_whole() {
    let Some(server) = TestServer::start(None) else { return };
    let url = server.database();
    let postgres = connect(&url).await;
    let old = example(&key("a", "b"), 3000);
    store(&postgres, &old).await.unwrap();
    let mut writer = postgres.begin(Some(&old.info.key), true).await.unwrap();
    let new = example(&key("a", "b"), 20_000);
    write(&mut writer, &new).await;
    server.crash();
    let error = keep_writing(&mut writer, &new).await.to_string();
    assert!(error.contains("copying samples to Postgres (the run is not stored): "), "{error}");
    drop(writer);
    assert!(postgres.runs().await.is_err());
    server.restart();
    check_whole(&postgres, &old).await;
    assert_eq!(tables(&url), ["a_b"]);
    store(&postgres, &new).await.unwrap();
    check_whole(&postgres, &new).await;
}

/// Writes until it fails.
async fn keep_writing(writer: &mut PostgresWriter, example: &Example) -> Error {
    loop {
        for chunk in encode(writer, &example.batch) {
            if let Err(error) = writer.write(chunk).await {
                return error;
            }
        }
    }
}

const TLS: Tls =
    Tls { certificate: include_str!("support/tls/server.pem"), key: include_str!("support/tls/server.key") };

#[tokio::test]
async fn passwords_come_from_the_url_or_the_password_file_and_are_never_shown() {
    let Some(server) = TestServer::start(Some(TLS)) else { return };
    server.psql("create role guarded login password 'hunter2: \\x'");
    let url = format!("host=127.0.0.1 port={} user=guarded dbname=postgres sslmode=require", server.port());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), r"127.0.0.1:*:postgres:guarded:hunter2\: \\x").unwrap();
    let good = [
        format!("{url} channel_binding=require passfile={}", file.path().display()),
        format!(r"{url} password='hunter2: \\x'"),
        format!("postgres://guarded:hunter2%3A%20%5Cx@127.0.0.1:{}/postgres?sslmode=require", server.port()),
    ];
    for url in good {
        assert!(try_connect(&url).await.is_ok(), "{url}");
    }
    for (url, why) in [
        (format!("{url} password=hunter3"), "password authentication failed"),
        (url.clone(), "asks for a password, and none is known"),
    ] {
        let error = try_connect(&url).await.err().unwrap();
        assert!(error.to_string().contains(why), "{error}");
        assert!(!format!("{error} {error:?}").contains("hunter"));
    }
}

#[tokio::test]
async fn a_database_that_cannot_hold_every_label_is_refused() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let name = psql(&url, "select current_database()");
    let latin = format!("{name}_latin");
    let sql =
        format!("create database {latin} encoding 'LATIN1' template template0 lc_collate 'C' lc_ctype 'C'");
    psql(&url, &sql);
    let postgres = connect(&url.replace(&name, &latin)).await;
    assert!(refusal(postgres.begin(None, true).await.map(drop)).contains("encoded in LATIN1"));
}

#[tokio::test]
async fn tls_verifies_what_sslmode_asks_for() {
    let Some(server) = TestServer::start(Some(TLS)) else { return };
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/tls");
    let url = |host: &str, mode: &str, ca: &str| {
        let port = server.port();
        format!(
            "host={host} hostaddr=127.0.0.1 port={port} user=postgres sslmode={mode} sslrootcert='{folder}/{ca}'"
        )
    };
    for (host, mode, ca) in [
        ("localhost", "verify-full", "ca.pem"),
        ("db.example", "verify-ca", "ca.pem"),
        ("db.example", "require", "ca.pem"),
        ("db.example", "prefer", "other-ca.pem"),
        ("db.example", "allow", "other-ca.pem"),
    ] {
        let store = try_connect(&url(host, mode, ca)).await;
        assert!(store.is_ok(), "{host} {mode} {ca}: {}", store.err().unwrap());
    }
    let any = format!("host=127.0.0.1 port={} user=postgres sslmode=require", server.port());
    assert!(try_connect(&any).await.is_ok());
    for (host, mode, ca, why) in [
        ("db.example", "verify-full", "ca.pem", "not valid for name"),
        ("localhost", "verify-full", "other-ca.pem", "UnknownIssuer"),
        ("localhost", "verify-ca", "other-ca.pem", "UnknownIssuer"),
        ("localhost", "require", "other-ca.pem", "UnknownIssuer"),
        ("localhost", "disable", "ca.pem", "no encryption"),
        ("localhost", "verify-full", "server.key", "sslrootcert"),
        ("localhost", "verify-full", "missing.pem", "trusted certificates"),
    ] {
        let error = try_connect(&url(host, mode, ca)).await.err().unwrap().to_string();
        assert!(error.contains(why), "{host} {mode} {ca}: {error}");
    }
}

/// Tries a server that shows this certificate, whose key all of them share, with each `sslmode`; gives its errors.
async fn tried(certificate: &'static str, file: &str, modes: &[(&str, &str)]) -> Option<Vec<Option<String>>> {
    let server = TestServer::start(Some(Tls { certificate, key: TLS.key }))?;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/tls");
    let mut errors = Vec::new();
    for (host, mode) in modes {
        let port = server.port();
        let mut url = format!("host={host} hostaddr=127.0.0.1 port={port} user=postgres sslmode={mode}");
        if mode.starts_with("verify") {
            url += &format!(" sslrootcert='{folder}/{file}'");
        }
        errors.push(try_connect(&url).await.err().map(|error| error.to_string()));
    }
    Some(errors)
}

/// The server takes nothing that is not encrypted, so whoever comes in is.
#[tokio::test]
async fn certificates_of_any_form_encrypt_as_with_libpq() {
    const V1: &str = include_str!("support/tls/v1.pem");
    const OWN: &str = include_str!("support/tls/own-ca.pem");
    const NAMED: &str = include_str!("support/tls/named-ca.pem");
    const EXPIRED: &str = include_str!("support/tls/expired-ca.pem");
    let all = ["prefer", "require", "verify-ca", "verify-full"].map(|mode| ("localhost", mode));
    for (certificate, file) in [(V1, "v1.pem"), (OWN, "own-ca.pem")] {
        let Some(errors) = tried(certificate, file, &all).await else { return };
        assert_eq!(errors, [const { None::<String> }; 4], "{file}");
    }
    let elsewhere =
        [("db.example", "verify-ca"), ("db.example", "verify-full"), ("localhost", "verify-full")];
    for (certificate, file, right) in [(OWN, "own-ca.pem", 2), (NAMED, "named-ca.pem", 1)] {
        let errors = tried(certificate, file, &elsewhere).await.unwrap();
        for (at, error) in errors.into_iter().enumerate() {
            let wrong = at > 0 && at != right;
            assert_eq!(
                error.as_ref().map(|error| error.contains("not valid for name")),
                wrong.then_some(true),
                "{file}"
            );
        }
    }
    let errors = tried(EXPIRED, "expired-ca.pem", &all).await.unwrap();
    assert_eq!(errors[..2], [None, None]);
    for error in &errors[2..] {
        assert!(error.as_ref().unwrap().to_lowercase().contains("expired"), "{error:?}");
    }
    let strange = tried(OWN, "other-ca.pem", &[("localhost", "verify-ca"), ("localhost", "verify-full")])
        .await
        .unwrap();
    for error in strange {
        assert!(error.unwrap().contains("certificate"));
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let error =
        try_connect("host=/nonexistent,127.0.0.1 port=1 user=u password=hunter2").await.err().unwrap();
    let sentence = error.to_string();
    assert!(sentence.contains("/nonexistent:1: ") && sentence.contains("127.0.0.1:1: "), "{sentence}");
    assert!(!format!("{sentence} {error:?}").contains("hunter2"));
}
