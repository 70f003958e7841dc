//! The schema: made by the first writer, and refused where it is not what perfpipe made.

use std::sync::atomic::{AtomicBool, Ordering};

use perfpipe_ingest::store::RunStore as _;

use crate::example::*;
use crate::support::{TestServer, psql};

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
async fn readers_see_no_runs_or_all_while_the_schema_is_made() {
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

// A connection that is given up is closed while psql waits for it.
#[tokio::test(flavor = "multi_thread")]
async fn column_of_another_type_is_an_error_and_never_another_figure() {
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
async fn row_that_can_not_be_read_is_named_and_gives_way() {
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
async fn layouts_own_table_is_never_dropped_with_a_run() {
    let Some(server) = TestServer::shared() else { return };
    let url = server.database();
    let postgres = connect(&url).await;
    let example = example(&key("a", "b"), 50);
    store(&postgres, &example).await.unwrap();
    for table in ["cpu", "runs", "per_second"] {
        psql(&url, &format!("update perfpipe.runs set table_name = '{table}'"));
        assert!(refusal(postgres.drop_run(&example.info.key).await.map(drop)).contains("all runs share"));
        assert!(refusal(store(&postgres, &example).await).contains("all runs share"));
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
async fn database_that_cannot_hold_every_label_is_refused() {
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
