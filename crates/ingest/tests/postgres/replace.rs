//! One run in the place of another: what readers and other writers see meanwhile.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use perfpipe_ingest::run::Replace;
use perfpipe_ingest::store::RunStore as _;
use perfpipe_ingest::{Error, SampleBatch};

use crate::example::*;
use crate::support::{TestServer, psql};

#[tokio::test]
async fn old_run_is_read_until_the_new_one_is_committed() {
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
    finish(writer, &new, Replace::Any).await.unwrap();
    check_whole(&other, &new).await;
    assert_eq!(tables(&url), ["spring_2048"]);
    assert_eq!(psql(&url, "select count(*) from perfpipe.runs"), "1");
    assert_eq!(
        psql(&url, "select indexname from pg_indexes where tablename = 'spring_2048'"),
        "spring_2048_t_ms"
    );
}

#[tokio::test]
async fn dropped_writer_leaves_nothing() {
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
async fn second_writer_of_a_key_is_told() {
    let Some(server) = TestServer::shared() else { return };
    let postgres = connect(&server.database()).await;
    let example = example(&key("a", "b"), 10);
    let mut first = postgres.begin(Some(&example.info.key), true).await.unwrap();
    let second = postgres.begin(Some(&example.info.key), true).await.map(drop);
    assert!(refusal(second).contains("writing the run a_b"));
    // One that learns its key only at the end is told then.
    let mut third = postgres.begin(None, true).await.unwrap();
    write(&mut third, &example).await;
    assert!(refusal(finish(third, &example, Replace::Any).await).contains("a_b"));
    // Another key is free.
    let other = postgres.begin(Some(&key("a", "c")), true).await.unwrap();
    write(&mut first, &example).await;
    finish(first, &example, Replace::Any).await.unwrap();
    drop(other);
    check_whole(&postgres, &example).await;
}

#[tokio::test]
async fn inferred_key_replaces_only_a_run_of_the_same_file() {
    let Some(server) = TestServer::shared() else { return };
    let postgres = connect(&server.database()).await;
    let old = example(&key("a", "b"), 10);
    store(&postgres, &old).await.unwrap();
    let mut other = example(&key("a", "b"), 20);
    other.info.sources[0].file = "another.csv".into();
    for (new, allowed) in [(&other, false), (&old, true)] {
        let mut writer = postgres.begin(None, true).await.unwrap();
        write(&mut writer, new).await;
        let result = finish(writer, new, Replace::SameFile).await;
        assert_eq!(result.is_ok(), allowed);
        check_whole(&postgres, &old).await;
    }
}

#[tokio::test]
async fn reader_of_samples_holds_up_the_swap_and_no_one_else() {
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
async fn reader_that_stops_early_does_no_harm() {
    let Some(server) = TestServer::shared() else { return };
    let postgres = connect(&server.database()).await;
    let example = example(&key("a", "b"), 20_000);
    store(&postgres, &example).await.unwrap();
    let mut each = |_| Err(Error::store("stopping", "enough"));
    assert_eq!(
        postgres.samples(&example.info.key, &mut each).await.unwrap_err().to_string(),
        "stopping: enough"
    );
    check_whole(&postgres, &example).await;
}

#[tokio::test]
async fn run_that_was_looked_at_is_not_dropped_once_another_has_replaced_it() {
    let Some(server) = TestServer::shared() else { return };
    let postgres = connect(&server.database()).await;
    let key = key("a", "b");
    let (old, new) = (example(&key, 200), example(&key, 300));
    store(&postgres, &old).await.unwrap();
    let looked_at = postgres.info(&key).await.unwrap().unwrap();
    store(&postgres, &new).await.unwrap();
    assert!(matches!(postgres.drop_run(&looked_at).await, Err(Error::Replaced { .. })));
    check_whole(&postgres, &new).await;
    let now = postgres.info(&key).await.unwrap().unwrap();
    assert!(postgres.drop_run(&now).await.unwrap());
    assert!(!postgres.drop_run(&now).await.unwrap(), "there is nothing any more");
}
