//! The per-second table against Postgres's own arithmetic over the stored samples.

use crate::postgres::psql;
use crate::support::*;

/// Copies of what is asked of, for the session: a cluster joins no table of samples with those of all runs.
const COPIES: &str = "
  create temp table runs as table perfpipe.runs;
  create temp table cpu as table perfpipe.cpu;
  create temp table counts as table perfpipe.elapsed_counts;
  create temp table samples as table perfpipe.{table};";

/// Every second of the run from its samples alone, in the columns of the per-second table.
///
/// The tables are copies, see [`COPIES`].
const SECONDS: &str = "
  with run as (select * from runs),
  requests as (select t_ms / 1000 as second, * from samples where not transaction),
  every as (select generate_series(0, (select seconds - 1 from run)) as second),
  heard as (
    select injector, second, avg(all_threads) as threads from requests where all_threads is not null group by 1, 2
  ),
  -- What an injector reported holds until it reports again, and ends with its last report.
  held as (
    select *, coalesce(lead(second) over (partition by injector order by second), second + 1) as until from heard
  ),
  loads as (
    select every.second, sum(threads) as load
    from every join held on every.second >= held.second and every.second < held.until group by 1
  ),
  sums as (
    select second,
      count(*) filter (where success) as successes,
      count(*) filter (where not success) as failures,
      avg(elapsed) filter (where success) as elapsed_mean,
      min(elapsed) filter (where success) as elapsed_min,
      max(elapsed) filter (where success) as elapsed_max,
      avg(latency) filter (where success) as latency_mean,
      min(latency) filter (where success) as latency_min,
      max(latency) filter (where success) as latency_max,
      percentile_cont(array[0.25, 0.5, 0.75, 0.95]) within group (order by elapsed)
        filter (where success) as p,
      avg(cpu) filter (where success) as cpu
    from requests group by second
  )
  select second, coalesce(successes, 0), coalesce(failures, 0), load, elapsed_mean, elapsed_min, elapsed_max,
    latency_mean, latency_min, latency_max, p[1], p[2], p[3], p[4],
    case when successes > 0 then sums.cpu else (
      select value from cpu, run
      where clock between run.t0_ms / 1000 + second - 3 and run.t0_ms / 1000 + second
      order by clock desc limit 1
    ) end
  from every
  left join sums using (second) left join loads using (second)
  order by second";

/// Pairs of elapsed and count that the samples and the view of exact counts do not share. Where there are none, the
/// counts of each second add up to its samples.
const DIFFERENCES: &str = "
  with counted as (
    select second, label, success, transaction, elapsed, sum(count) as n from counts
    group by 1, 2, 3, 4, 5
  ),
  sampled as (
    select t_ms / 1000 as second, label, success, transaction, elapsed, count(*)::numeric as n
    from samples group by 1, 2, 3, 4, 5
  )
  select count(*) from ((table counted except table sampled) union all (table sampled except table counted))
    as differences";

#[test]
fn seconds_of_every_fixture_are_what_postgres_computes() {
    for fixture in Fixture::all() {
        let Some(store) = Store::database() else { return };
        let key = fixture.ingest_into(&store);
        let table = psql(store.place(), "select quote_ident(table_name) from perfpipe.runs");
        let ask = |sql: &str| psql(store.place(), &format!("{}{sql}", COPIES.replace("{table}", &table)));
        let theirs = ask(SECONDS);
        let ours = store.export(&key, "seconds", "csv", &[]);
        assert_eq!(ours.lines().count(), theirs.lines().count() + 1, "{}", fixture.name());
        for (ours, theirs) in ours.lines().skip(1).zip(theirs.lines()) {
            assert_same(ours, &theirs.replace('|', ","), fixture.name());
        }
        assert_eq!(ask(DIFFERENCES), "0", "{}", fixture.name());
        check_run_row(&store, &fixture);
    }
}

/// Two rows of numbers and gaps, equal to 1e-9.
fn assert_same(ours: &str, theirs: &str, name: &str) {
    let fields = |row: &str| -> Vec<Option<f64>> {
        row.split(',').map(|field| (!field.is_empty()).then(|| field.parse().unwrap())).collect()
    };
    let (one, other) = (fields(ours), fields(theirs));
    let close = |(one, other): (&Option<f64>, &Option<f64>)| match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() < 1e-9,
        (one, other) => one.is_none() && other.is_none(),
    };
    assert!(
        one.len() == other.len() && one.iter().zip(&other).all(close),
        "{name}\n   ours: {ours}\ntheirs: {theirs}"
    );
}

/// The run's own row says how many samples its table holds.
fn check_run_row(store: &Store, fixture: &Fixture) {
    let row = psql(
        store.place(),
        "select successes, failures, transactions, rejects, requests, seconds, t0_ms, last_ms,
           (extract(epoch from t0) * 1000)::bigint = t0_ms from perfpipe.runs",
    );
    let fact = |name: &str| count(&fixture.facts, name);
    let expected = [
        fact("successes"),
        fact("failures"),
        fact("transactions"),
        fact("rejects"),
        fact("successes") + fact("failures"),
        fact("seconds"),
        fact("t0_ms"),
        fact("last_ms"),
    ];
    let expected: Vec<String> = expected.iter().map(i64::to_string).collect();
    assert_eq!(row, format!("{}|t", expected.join("|")), "{}", fixture.name());
    let rejects = psql(store.place(), "select count(*) from perfpipe.rejects");
    assert_eq!(rejects, fact("rejects").to_string(), "{}", fixture.name());
}

#[test]
fn rows_of_a_table_stand_in_the_order_of_the_log() {
    let Some(store) = Store::database() else { return };
    let mut log = "timeStamp,elapsed,success,bytes\n".to_owned();
    for record in 0..200_000 {
        log += &format!("{},{},true,{record}\n", 1_795_203_738_000_i64 + record % 977, record % 50);
    }
    store.run(&["ingest", &store.file("nio_order.csv", log)]).said();
    let table = psql(store.place(), "select quote_ident(table_name) from perfpipe.runs");
    let count = |rows: &str| psql(store.place(), &format!("select count(*) from {rows}"));
    let numbered =
        format!("(select bytes, row_number() over (order by ctid) as n from perfpipe.{table}) as numbered");
    assert_eq!(count(&numbered), "200000");
    assert_eq!(count(&format!("{numbered} where bytes <> n - 1")), "0");
}
