//! What is stored comes back, whole, under any name, and in SQL.

use perfpipe_ingest::ErrorKind;
use perfpipe_ingest::run::Replace;
use perfpipe_ingest::store::RunStore as _;
use perfpipe_ingest::store::RunWriter as _;

use crate::example::*;
use crate::support::{TestServer, psql};

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
            assert!(failed.to_string().contains("can't be stored"), "{failed}");
            assert_eq!(failed.kind(), ErrorKind::RunContradictory, "{failed:?}");
        }
        assert_eq!(postgres.read(&old.info.key).await.unwrap().unwrap().info, old.info);
    }
}

#[tokio::test]
async fn run_comes_back_as_it_was_stored() {
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
async fn empty_run_and_one_without_samples_can_be_stored() {
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
    assert_eq!(error.unwrap_err().kind(), ErrorKind::NoSamples);
    let error = postgres.samples(&key("a", "none"), &mut |_| Ok(())).await;
    assert!(
        matches!(error, Err(perfpipe_ingest::Error::NoRun { key: missing }) if missing == key("a", "none"))
    );
    let names: Vec<String> = postgres.runs().await.unwrap().iter().map(|run| run.key.to_string()).collect();
    assert_eq!(names, ["a_bare", "a_empty"]);
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
    finish(writer, &example, Replace::Any).await.unwrap();
    let expected = format!(
        "{}|{}",
        20_000 * times,
        times * example.batch.elapsed.iter().map(|ms| *ms as u64).sum::<u64>()
    );
    assert_eq!(psql(&url, "select count(*), sum(elapsed) from perfpipe.a_b"), expected);
    assert_eq!(samples(&postgres, &example.info.key).await.len() as u64, 20_000 * times);
}

#[tokio::test]
async fn samples_that_were_not_all_stored_are_noticed() {
    let Some(server) = TestServer::shared() else { return };
    let postgres = connect(&server.database()).await;
    let mut example = example(&key("a", "b"), 10);
    example.info.successes += 1;
    example.label_counts[0].successes += 1;
    let error = store(&postgres, &example).await.unwrap_err();
    assert!(
        error.to_string().contains("it has 7 successes in its samples, but its own row says 8"),
        "{error}"
    );
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
async fn counts_read_in_sql_as_the_samples_do() {
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
    // A cluster joins no table of samples, which is on one node, with those by run: each is taken by itself.
    let means = "create temp table means as table perfpipe.per_second; create temp table samples as table perfpipe.a_b; \
                 select count(*) from means p join (select t_ms / 1000 as second, \
                 count(*) filter (where success) as successes, count(*) filter (where not success) as failures, \
                 avg(elapsed) filter (where success) as mean from samples where not transaction group by 1) s \
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
