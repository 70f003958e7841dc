//! A server that fails in the middle.

use perfpipe_ingest::store::RunStore as _;

use crate::example::*;
use crate::support::{TestServer, psql};

#[tokio::test]
async fn copy_that_the_server_gives_up_is_noticed_on_the_way() {
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
async fn server_that_goes_away_leaves_the_old_run_whole() {
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
