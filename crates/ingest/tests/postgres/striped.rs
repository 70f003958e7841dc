//! Runs whose samples are sent on several connections. A cluster takes them on one, so what is asked of several tables is
//! asked of a single server.

use perfpipe_ingest::SampleBatch;
use perfpipe_ingest::run::Replace;
use perfpipe_ingest::store::postgres::{PostgresConfig, PostgresStore, PostgresWriter};
use perfpipe_ingest::store::{BatchEncoder, RunStore as _, RunWriter as _};
use proptest::prelude::*;

use crate::example::*;
use crate::support::{TestServer, psql};

fn config(url: &str, connections: u16, stripe: u64) -> PostgresConfig {
    let config = PostgresConfig::resolve(url, &|_| None).unwrap();
    config.with_connections(connections).with_stripe(stripe)
}

async fn connect_with(url: &str, connections: u16, stripe: u64) -> PostgresStore {
    PostgresStore::connect(&config(url, connections, stripe)).await.unwrap()
}

/// Writes a run's samples in pieces of so many.
async fn write_pieces(writer: &mut PostgresWriter, example: &Example, size: usize) {
    let mut encoder = writer.encoder().unwrap();
    let mut at = 0;
    while at < example.batch.len() {
        let mut piece = SampleBatch { resolution: example.batch.resolution, ..SampleBatch::default() };
        (at..example.batch.len().min(at + size)).for_each(|at| push_sample(&mut piece, at));
        writer.write(encoder.encode(&piece).unwrap().unwrap()).await.unwrap();
        at += size;
    }
}

async fn store_pieces(store: &PostgresStore, example: &Example, size: usize) {
    let mut writer = store.begin(Some(&example.info.key), true).await.unwrap();
    write_pieces(&mut writer, example, size).await;
    finish(writer, example, Replace::Any).await.unwrap();
}

#[tokio::test]
async fn run_comes_back_in_the_order_of_the_log_at_any_number_of_connections() {
    let Some(server) = TestServer::single() else { return };
    let url = server.database();
    for (connections, stripe, samples) in
        [(1, 7, 500), (2, 1, 500), (3, 64, 2000), (4, 4096, 30_000), (4, 64, 100), (2, 64, 0), (3, 50, 150)]
    {
        let postgres = connect_with(&url, connections, stripe).await;
        let example = example(&key("go", "2048"), samples);
        store_pieces(&postgres, &example, 97).await;
        check_whole(&postgres, &example).await;
        let others = usize::from(connections - 1).min(samples.div_ceil(stripe as usize).saturating_sub(1));
        let named = (1..=others).map(|number| format!("go_2048_stripe{number}"));
        let expected: Vec<String> = std::iter::once("go_2048".to_owned()).chain(named).collect();
        assert_eq!(tables(&url), expected);
        let sql =
            "select count(*) from pg_indexes where schemaname = 'perfpipe' and indexdef like '%brin (t_ms)'";
        assert_eq!(psql(&url, sql), expected.len().to_string());
        assert_eq!(psql(&url, "select count(*) from perfpipe.go_2048"), samples.to_string());
    }
    let postgres = connect_with(&url, 1, 1).await;
    assert!(postgres.drop_run(&key("go", "2048")).await.unwrap());
    assert_eq!(tables(&url), Vec::<String>::new());
}

#[tokio::test]
async fn columns_read_as_those_of_a_run_on_one_connection() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    for (connections, test) in [(1, "one"), (3, "three")] {
        let postgres = connect_with(&url, connections, 10).await;
        store_pieces(&postgres, &example(&key("go", test), 300), 300).await;
    }
    let columns = |table: &str| {
        let sql = "select string_agg(column_name || ' ' || data_type || ' ' || is_nullable, ', ' order by \
                   ordinal_position) from information_schema.columns where table_name = ";
        psql(&url, &format!("{sql}'{table}'"))
    };
    assert_eq!(columns("go_three"), columns("go_one"));
    let rows = |table: &str| psql(&url, &format!("select * from perfpipe.{table} order by {table}::text"));
    assert_eq!(rows("go_three"), rows("go_one"));
}

#[tokio::test]
async fn times_of_a_finer_unit_are_wide_in_every_table() {
    let Some(server) = TestServer::single() else { return };
    let url = server.database();
    let postgres = connect_with(&url, 3, 10).await;
    let mut example = example(&key("go", "fine"), 200);
    example.info.resolution = 10_u32.try_into().unwrap();
    example.batch.resolution = example.info.resolution;
    store_pieces(&postgres, &example, 33).await;
    let sql = "select count(*) from information_schema.columns
               where table_name like 'go_fine%' and column_name = 'elapsed' and data_type = 'bigint'";
    assert_eq!(psql(&url, sql), "3");
    assert_eq!(samples(&postgres, &example.info.key).await.elapsed, example.batch.elapsed);
}

/// Leaves the transaction of a writer open that has begun to send samples on several connections.
async fn writer_at_work(postgres: &PostgresStore) -> PostgresWriter {
    let example = example(&key("go", "at-work"), 500);
    let mut writer = postgres.begin(Some(&example.info.key), true).await.unwrap();
    write_pieces(&mut writer, &example, 500).await;
    writer
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_a_killed_writer_are_dropped_by_the_next_one_and_by_drop_and_no_others() {
    let Some(server) = TestServer::single() else { return };
    let url = server.database();
    let postgres = connect_with(&url, 2, 10).await;
    let old = example(&key("go", "old"), 300);
    store_pieces(&postgres, &old, 300).await;
    let writer = writer_at_work(&postgres).await;
    // Of this database alone: other tests run on the same server.
    let number =
        "select min(backend_xid::text::bigint) from pg_stat_activity where datname = current_database()";
    let living = format!("loading {} 7", psql(&url, number));
    let kept = ["go_old", "go_old_stripe1", "loading 9 x", "loading 900000000000000000 1", "my loading 3 1"];
    let dead = ["loading 3 1", "loading 3 2"];
    for table in kept[2..].iter().chain(&dead).copied().chain([living.as_str()]) {
        psql(&url, &format!("create table perfpipe.\"{table}\" ()"));
    }
    let with_living = || {
        let mut tables: Vec<String> = kept.map(String::from).to_vec();
        tables.push(living.clone());
        tables.sort();
        tables
    };
    let sorted = || {
        let mut found = tables(&url);
        found.sort();
        found
    };
    store_pieces(&postgres, &old, 300).await;
    assert_eq!(sorted(), with_living());
    psql(&url, "create table perfpipe.\"loading 4 1\" ()");
    assert!(!postgres.drop_run(&key("go", "none")).await.unwrap());
    assert_eq!(sorted(), with_living());
    drop(writer);
    let open = "select count(*) from pg_stat_activity
                where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null";
    while psql(&url, open) != "0" {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    store_pieces(&postgres, &old, 300).await;
    let mut kept = kept.to_vec();
    kept.sort_unstable();
    assert_eq!(sorted(), kept);
    check_whole(&postgres, &old).await;
}

#[tokio::test]
async fn dropped_writer_leaves_nothing() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let postgres = connect_with(&url, 3, 10).await;
    writer_at_work(&postgres).await.give_up().await.unwrap();
    assert_eq!(tables(&url), Vec::<String>::new());
    assert!(postgres.runs().await.unwrap().is_empty());
}

#[tokio::test]
async fn server_with_fewer_connections_to_give_takes_the_run_on_those() {
    let Some(server) = TestServer::start(None) else { return };
    let url = server.database();
    server.psql("create role few login connection limit 2");
    psql(&url, "create schema perfpipe authorization few");
    let few = url.replace("//postgres@", "//few@");
    assert_ne!(few, url);
    let postgres = connect_with(&few, 4, 10).await;
    let example = example(&key("go", "few"), 300);
    store_pieces(&postgres, &example, 100).await;
    assert_eq!(tables(&url), ["go_few"]);
    check_whole(&postgres, &example).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn table_that_another_attached_is_refused_and_a_stripe_that_is_gone_is_told() {
    let Some(server) = TestServer::single() else { return };
    let url = server.database();
    let postgres = connect_with(&url, 2, 10).await;
    let one = example(&key("go", "one"), 300);
    store_pieces(&postgres, &one, 300).await;
    psql(&url, "create table perfpipe.intruder () inherits (perfpipe.go_one)");
    let error = postgres.samples(&one.info.key, &mut |_| Ok(())).await.unwrap_err().to_string();
    assert!(error.contains("intruder"), "{error}");
    psql(&url, "drop table perfpipe.intruder");
    psql(
        &url,
        "delete from perfpipe.go_one_stripe1 where ctid = (select min(ctid) from perfpipe.go_one_stripe1)",
    );
    assert!(postgres.samples(&one.info.key, &mut |_| Ok(())).await.is_err());
    psql(&url, "drop table perfpipe.go_one_stripe1");
    assert!(postgres.samples(&one.info.key, &mut |_| Ok(())).await.is_err());
    store_pieces(&postgres, &one, 300).await;
    check_whole(&postgres, &one).await;
    psql(&url, "drop table perfpipe.go_one cascade");
    assert!(postgres.drop_run(&one.info.key).await.unwrap());
    assert_eq!(tables(&url), Vec::<String>::new());
}

#[test]
fn order_is_kept_by_any_connections_stripes_and_pieces() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let numbers = (1_u16..6, 1_u64..300, 1_usize..400, 0_usize..900);
    proptest!(ProptestConfig::with_cases(24), |((connections, stripe, piece, count) in numbers)| {
        let example = example(&key("go", "any"), count);
        let found = runtime.block_on(async {
            let postgres = connect_with(&url, connections, stripe).await;
            store_pieces(&postgres, &example, piece).await;
            samples(&postgres, &example.info.key).await
        });
        prop_assert!(found == example.batch);
    });
}
