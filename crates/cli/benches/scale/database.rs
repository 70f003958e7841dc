//! A database of many runs, without samples or with them.

use crate::postgres::{TestServer, psql};
use crate::{Bench, Store};

/// The server: a cluster if one is named, or else one of its own.
pub(crate) fn server() -> Option<TestServer> {
    match std::env::var("PERFPIPE_TEST_CITUS_URL") {
        Ok(coordinator) => Some(TestServer::at(coordinator, true)),
        Err(_) => TestServer::durable(),
    }
}

/// Makes a store of so many runs without samples.
pub(crate) fn make(bench: &Bench, server: &TestServer, runs: u64) -> Store {
    with_counts(bench, server, runs, &["--no-samples"])
}

/// Makes a store of so many runs with samples, of each of which they are a table.
pub(crate) fn make_with_samples(bench: &Bench, server: &TestServer, runs: u64) -> Store {
    let store = with_counts(bench, server, runs, &[]);
    let (last, whole) =
        (runs - 1, "create_distributed_table(format('perfpipe.%I', name), null, colocate_with => 'none')");
    let place = if server.is_cluster() { format!("perform {whole};") } else { String::new() };
    // A transaction of all would lock more tables than a server has room for.
    psql(
        &store.1,
        &format!(
            "do $$
            declare name text;
            begin
              for i in 1..{last} loop
                name := format('f%s_t%s', i % 10, i / 10);
                execute format('create table perfpipe.%I (like perfpipe.f0_t0 including all)', name);
                {place}
                execute format('insert into perfpipe.%I select * from perfpipe.f0_t0', name);
                if i % 100 = 0 then commit; end if;
              end loop;
            end $$"
        ),
    );
    store
}

/// Makes a store of so many runs without the tables of their samples, but for the first.
fn with_counts(bench: &Bench, server: &TestServer, runs: u64, options: &[&str]) -> Store {
    let store = ("--database", server.database());
    bench.seed.ingest(&store, 0, options);
    let last = runs - 1;
    // Keys are those that the first run has, so foreign keys need no check.
    psql(
        &store.1,
        &format!(
            "set session_replication_role = replica;
            insert into perfpipe.runs overriding system value
              select (jsonb_populate_record(r, jsonb_build_object('run', format('f%s_t%s', i % 10, i / 10),
                'framework', 'f' || i % 10, 'test', 't' || i / 10, 'generation', r.generation + i,
                'table_name', case when r.samples_stored then format('f%s_t%s', i % 10, i / 10) end))).*
              from perfpipe.runs r, generate_series(1, {last}) i;
            do $$
            declare facts text; columns text;
            begin
              foreach facts in array array['seconds', 'cpu', 'errors', 'labels'] loop
                select string_agg(quote_ident(column_name), ', ') into columns from information_schema.columns
                  where table_schema = 'perfpipe' and table_name = facts and column_name <> 'run';
                execute format('insert into perfpipe.%1$I (run, %2$s)
                  select format(''f%%s_t%%s'', i %% 10, i / 10), %2$s
                  from generate_series(1, {last}) i, (select * from perfpipe.%1$I where run = ''f0_t0'') f',
                  facts, columns);
              end loop;
            end $$;
            analyze perfpipe.runs, perfpipe.seconds, perfpipe.cpu, perfpipe.errors, perfpipe.labels;"
        ),
    );
    store
}
