//! Every value comes back out of both stores as it was put in.

// clippy.toml allows these in #[test] functions, but not in their helpers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test's helper fails by panicking"
)]

mod any;
mod contradictions;
#[path = "../parquet_store/example.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod example;
#[path = "../support/postgres.rs"]
mod postgres;
#[path = "../support/read_back.rs"]
mod read_back;
#[path = "../support/whole_run.rs"]
mod whole_run;

use perfpipe_ingest::Store;
use perfpipe_ingest::StoredRun;
use perfpipe_ingest::counts::CellTable;
use perfpipe_ingest::run::Replace;
use perfpipe_ingest::store::RunStore;
use perfpipe_ingest::store::RunWriter;
use perfpipe_ingest::store::parquet::ParquetStore;
use perfpipe_ingest::store::postgres::{PostgresConfig, PostgresStore};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use tokio::runtime::Runtime;

use any::{any_example, out_of_postgres, within_postgres};
use example::{Example, finish, write};
use postgres::TestServer;
use read_back::{named, rows};

async fn put(store: &impl RunStore<Writer: RunWriter>, run: &Example) {
    let mut writer = store.begin(Some(&run.info.key), true).await.unwrap();
    write(&mut writer, &run.batch).await.unwrap();
    finish(writer, run, Replace::Any).await.unwrap();
}

/// Finds the run that is expected, and drops it.
async fn check(store: &Store, expected: &Example) -> TestCaseResult {
    let key = &expected.info.key;
    let StoredRun { info, cells, cpu, errors, labels, .. } = store.read(key).await.unwrap();
    prop_assert_eq!(&info, &expected.info);
    let table =
        CellTable::new(expected.labels.clone(), expected.injectors.clone(), expected.cells.iter().cloned());
    prop_assert_eq!(named(&cells), named(&table));
    prop_assert_eq!((&cpu, &errors, &labels), (&expected.cpu, &expected.errors, &expected.label_counts));
    let (mut samples, mut rejects) = (Vec::new(), Vec::new());
    let mut add_samples = |batch| {
        samples.extend(rows(&batch));
        Ok(())
    };
    store.samples(key, &mut add_samples).await.unwrap();
    prop_assert_eq!(samples, rows(&expected.batch).collect::<Vec<_>>());
    let mut add_reject = |reject| {
        rejects.push(reject);
        Ok(())
    };
    store.rejects(key, &mut add_reject).await.unwrap();
    prop_assert_eq!(&rejects, &expected.rejects);
    prop_assert_eq!(store.runs().await.unwrap(), vec![info]);
    store.drop_run(key).await.unwrap();
    Ok(())
}

proptest! {
    // Each case waits for the disk.
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn whatever_is_put_into_a_folder_comes_back(run in any_example()) {
        let folder = tempfile::tempdir().unwrap();
        let store = ParquetStore::open(folder.path().join("data")).unwrap();
        example::block_on(async {
            put(&store, &run).await;
            check(&Store::from(store), &run).await
        })?;
    }
}

#[test]
fn whatever_is_put_into_a_database_comes_back() {
    let Some(server) = TestServer::shared() else { return };
    let config = PostgresConfig::resolve(&server.database(), &|_| None).unwrap();
    let runtime = Runtime::new().unwrap();
    let writable = runtime.block_on(PostgresStore::connect(&config)).unwrap();
    let store = runtime.block_on(Store::database(config)).unwrap();
    let cases = ProptestConfig::with_cases(60);
    proptest!(cases, |(run in any_example().prop_map(within_postgres))| {
        runtime.block_on(async {
            put(&writable, &run).await;
            check(&store, &out_of_postgres(run.clone())).await
        })?;
    });
}
