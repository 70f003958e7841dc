//! What reading a run would refuse is refused when it is stored, in each kind of store.

use perfpipe_ingest::counts::CellKey;
use perfpipe_ingest::run::Replace;
use perfpipe_ingest::store::parquet::ParquetStore;
use perfpipe_ingest::store::postgres::{PostgresConfig, PostgresStore};
use perfpipe_ingest::store::{RunStore, RunWriter};
use perfpipe_ingest::{ErrorKind, Store};
use tokio::runtime::Runtime;

use crate::example::{self, Example, finish, write};
use crate::postgres::TestServer;

/// A way in which a run can contradict itself, and what the error says of it.
type Contradiction = (fn(&mut Example), &'static str);

const CONTRADICTIONS: [Contradiction; 20] = [
    (|run| run.errors.clear(), "0 failures by message, but its own row says 3"),
    (|run| run.errors[0].transaction = true, "failures by message"),
    (|run| run.errors[0].second = 80, "failures of second 80, and has 80 seconds"),
    (
        |run| {
            let more = run.errors[0].clone();
            run.errors.push(more);
            run.errors[1].transaction = true;
        },
        "failed transactions by message differ",
    ),
    (|run| run.label_counts.clear(), "0 successes in its counts by label"),
    (|run| run.label_counts.push(run.label_counts[0].clone()), "do not ascend by label"),
    (|run| run.rejects.clear(), "0 rejects, but its own row says 1"),
    (|run| run.info.successes += 1, "but its own row says"),
    (|run| run.info.seconds = 79, "it has 79 seconds"),
    (|run| run.info.last_ms -= 1_000_000, "before its beginning"),
    (|run| run.info.key.repeat = 0, "the repeat is 0"),
    (|run| run.info.key.framework = "a\0b".into(), "has a NUL"),
    (|run| _ = run.info.options.tags.insert("a b".into(), "c".into()), "the key of a tag"),
    (|run| run.cells.swap(3, 4), "do not ascend"),
    (|run| run.cells.push(run.cells[80].clone()), "do not ascend"),
    (|run| run.cells[80].0.second = 80, "counts of second 80, and has 80 seconds"),
    (|run| run.labels.truncate(1), "of label 1, and there are 1"),
    (|run| run.injectors.truncate(1), "of injector 1, and there are 1"),
    (|run| run.batch.success[0] = true, "successes in its samples"),
    (
        |run| {
            let key = run.cells[0].0;
            run.cells[0].0 = CellKey { transaction: true, ..key };
        },
        "in its counts by second",
    ),
];

async fn refused(store: &impl RunStore<Writer: RunWriter>, all: &Store) {
    for (number, (contradict, told)) in CONTRADICTIONS.into_iter().enumerate() {
        let mut run = example::example(3, 900);
        run.info.ingested_at = "2026-11-20T21:48:00Z".into();
        // The server may hold the key of a writer for a while after it was dropped.
        run.info.key.test = format!("t{number}");
        let key = run.info.key.clone();
        contradict(&mut run);
        let mut writer = store.begin(Some(&key), true).await.unwrap();
        write(&mut writer, &run.batch).await.unwrap();
        let error = finish(writer, &run, Replace::Any).await.unwrap_err();
        assert!(error.to_string().contains(told), "{told} is not in {error}");
        assert_eq!(error.kind(), ErrorKind::RunContradictory, "{error:?}");
        assert_eq!(all.runs().await.unwrap(), [], "{told}");
    }
    let mut run = example::example(3, 900);
    run.info.ingested_at = "2026-11-20T21:48:00Z".into();
    let mut writer = store.begin(Some(&run.info.key), true).await.unwrap();
    write(&mut writer, &run.batch).await.unwrap();
    finish(writer, &run, Replace::Any).await.unwrap();
    all.read(&run.info.key).await.unwrap();
}

#[test]
fn run_that_contradicts_itself_is_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let stores = [
        ParquetStore::open(folder.path().join("data")).unwrap(),
        ParquetStore::open_bucket(&format!("file://{}/lake", folder.path().display()), &[]).unwrap(),
    ];
    for store in stores {
        runtime.block_on(refused(&store, &Store::from(store.clone())));
    }
    let Some(server) = TestServer::shared() else { return };
    let config = PostgresConfig::resolve(&server.database(), &|_| None).unwrap();
    runtime.block_on(async {
        let store = PostgresStore::connect(&config).await.unwrap();
        refused(&store, &Store::database(config).await.unwrap()).await;
    });
}
