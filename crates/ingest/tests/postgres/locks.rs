//! Whoever waits for a lock in vain is told who holds it.

use std::process::Stdio;
use std::time::Duration;

use perfpipe_ingest::Result;

use crate::example::*;
use crate::support::{TestServer, psql, psql_command};

/// A session of psql that holds what a statement locks, until it is dropped.
struct Holder<'a>(&'a str, std::process::Child);

impl<'a> Holder<'a> {
    /// Waits until the lock is held, of which `kind` is the kind.
    fn new(url: &'a str, lock: &str, kind: &str) -> Self {
        let mut psql_of_it = psql_command(url);
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
#[track_caller]
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
async fn holder_of_a_locked_table_is_named() {
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
async fn holder_of_a_lock_on_names_is_named() {
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
