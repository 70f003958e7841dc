//! Migrates an older layout to the newest one in one transaction, so that an interruption leaves the old layout or the
//! new one.
//!
//! Tables are altered in place, which keeps their owners, their grants, and the views of others on them.

use serde_json::{Map, Value};
use tokio_postgres::error::SqlState;

use super::layout::{self, CREATE_PAGES, CREATE_VIEWS, SET_COMMENTS, SchemaLayout, TABLES, table_exists};
use crate::connection::session::{Session, value};
use crate::postgres::copy::binary::whole;
use crate::postgres::transaction::{self, TransactionMode, begin, waiting};
use crate::postgres::{locks, series};
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::key::RunKey;

use super::engine::ServerEngine;
use super::names::{ALL, LOCK, in_schema, literal, quoted, run_text};
use super::rights;

/// The action that error messages name.
const WHAT: &str = "migrating the schema perfpipe";

/// The tables whose rows belong to a run, without `runs` itself.
const FACTS: [&str; 5] = ["seconds", "cpu", "errors", "labels", "rejects"];

/// All tables that are rewritten.
const SHARED: [&str; 6] = ["runs", "seconds", "cpu", "errors", "labels", "rejects"];

/// The oldest server version that can drop the expression of a generated column, and its version number.
const OLDEST: (&str, i32) = ("13", 130_000);

/// A description of what a migration would do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Migration {
    /// The present layout version.
    pub from: i32,
    /// The layout version after the migration.
    pub to: i32,
    /// The number of stored runs.
    pub runs: u64,
    /// The tables that are rewritten.
    pub tables: Vec<MigratedTable>,
    /// The number of runs whose samples go from the coordinator to the nodes of a Citus cluster.
    pub moved: u64,
}

/// A table that a migration rewrites.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MigratedTable {
    /// The name with the schema.
    pub name: String,
    /// The number of rows.
    pub rows: u64,
    /// The size in bytes, with indexes. The same amount is needed again until the migration has ended.
    pub bytes: u64,
}

/// Describes what a migration would do; `None` if the layout is the newest, or there is no store.
pub(crate) async fn plan(session: &Session) -> Result<Option<Migration>> {
    let what = "looking at what is to be migrated";
    let found = layout::open(session, what, TransactionMode::Snapshot, &SHARED).await?;
    let from = match found {
        None => return Ok(None),
        Some(SchemaLayout::NEWEST) => {
            session.end(what).await?;
            return Ok(None);
        }
        Some(older) => older,
    };
    check(session).await?;
    let mut tables = Vec::new();
    for table in SHARED {
        tables.push(measure(session, table).await?);
    }
    let engine = ServerEngine::ask(session, what).await?;
    let moved = on_coordinator(session, engine).await?.len() as u64;
    session.end(what).await?;
    rights::check_write(session).await?;
    let runs = tables.first().map_or(0, |runs| runs.rows);
    Ok(Some(Migration { from: from.version(), to: SchemaLayout::NEWEST.version(), runs, tables, moved }))
}

async fn measure(session: &Session, table: &str) -> Result<MigratedTable> {
    let name = in_schema(table);
    let sql = format!(
        "select (select count(*) from {name}) as rows, pg_catalog.pg_total_relation_size({}::pg_catalog.regclass) \
         as bytes",
        literal(&name)
    );
    let row = session.query_one("measuring what is to be migrated", &sql, &[]).await?;
    Ok(MigratedTable {
        name: format!("perfpipe.{table}"),
        rows: whole(value::<i64>(&row, "rows")?)?,
        bytes: whole(value::<i64>(&row, "bytes")?)?,
    })
}

/// Migrates an older layout to the newest one. Returns false if there is nothing to do.
pub(crate) async fn migrate(session: &Session) -> Result<bool> {
    if plan(session).await?.is_none() {
        return Ok(false);
    }
    begin(session, WHAT, TransactionMode::Writing).await?;
    transaction::wait_for_lock(session, WHAT, LOCK, "the lock on making the schema").await?;
    lock_tables(session).await?;
    rights::check_ownership(session, &ALL, true).await?;
    if layout::read(session).await? == SchemaLayout::NEWEST {
        session.end(WHAT).await?;
        return Ok(false);
    }
    check(session).await?;
    let statements = statements(session).await?;
    if let Err(error) = session.client().batch_execute(&statements).await {
        return Err(refused(session, &error));
    }
    session.run(WHAT, "commit").await?;
    Ok(true)
}

/// Locks the tables exclusively. Readers proceed while it waits.
async fn lock_tables(session: &Session) -> Result<()> {
    let names: Vec<String> = TABLES.iter().map(|table| in_schema(table)).collect();
    match locks::exclusively(session, WHAT, &names.join(", ")).await? {
        locks::ExclusiveLock::Held => {
            session.run(WHAT, "release savepoint swap").await?;
            session.run(WHAT, &waiting(session.patience())).await
        }
        _ => Err(transaction::exclusive_lock_error(session, WHAT, &TABLES).await),
    }
}

/// Fails if the migration would: the role may not alter the tables, the server is too old, or views use a removed
/// column.
async fn check(session: &Session) -> Result<()> {
    let what = "asking whether the schema can be migrated";
    let sql =
        "select pg_catalog.current_setting('server_version_num')::int as version, current_user::text as role";
    let row = session.query_one(what, sql, &[]).await?;
    if value::<i32>(&row, "version")? < OLDEST.1 {
        return Err(Error::refused(
            ErrorKind::ServerTooOld,
            format!("a server older than PostgreSQL {} can't migrate the schema perfpipe", OLDEST.0),
            "Leave the schema as it is: it is read and written in its own layout.",
        ));
    }
    let role: String = value(&row, "role")?;
    if let Some(row) = session.query(what, NOT_OWNED, &[]).await?.first() {
        let (table, owner): (String, String) = (value(row, "name")?, value(row, "owner")?);
        return Err(Error::refused(
            ErrorKind::Privileges,
            format!("the role {role} may not change perfpipe.{table}, which belongs to the role {owner}"),
            format!(
                "Migrate as the role {owner} or a member of it; PGOPTIONS='-c role={owner}' sets it, where you may."
            ),
        ));
    }
    match session.query(what, VIEWS_OF_NUMBERS, &[]).await?.first() {
        Some(row) => Err(blocked_by_view(&value::<String>(row, "view")?)),
        None => Ok(()),
    }
}

/// Objects that belong to a role of which the present one is no member.
const NOT_OWNED: &str = "
  select c.relname::text as name, r.rolname::text as owner
  from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    join pg_catalog.pg_roles r on r.oid = c.relowner
  where n.nspname = 'perfpipe'
    and c.relname in ('layout', 'runs', 'seconds', 'cpu', 'errors', 'labels', 'rejects', 'series', 'elapsed_counts', 'per_second')
    and not pg_catalog.pg_has_role(c.relowner, 'usage')
  order by c.relname limit 1";

/// Views of others on the run number, which the migration removes.
const VIEWS_OF_NUMBERS: &str = "
  select v.oid::pg_catalog.regclass::text as view
  from pg_catalog.pg_depend d
    join pg_catalog.pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
    join pg_catalog.pg_class t on t.oid = a.attrelid
    join pg_catalog.pg_namespace n on n.oid = t.relnamespace
    join pg_catalog.pg_rewrite w on w.oid = d.objid
    join pg_catalog.pg_class v on v.oid = w.ev_class
  where d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
    and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    and n.nspname = 'perfpipe' and a.attname = 'run_id'
    and (v.relnamespace <> n.oid or v.relname not in ('elapsed_counts', 'per_second'))
  order by v.oid limit 1";

fn blocked_by_view(view: &str) -> Error {
    Error::refused(
        ErrorKind::MigrationBlocked,
        format!("{WHAT}: the view {view} uses the column run_id, which the newest layout does not have"),
        "Drop the view, migrate, and create it again with the column run.",
    )
}

/// Returns the error for failed statements. The transaction is rolled back.
fn refused(session: &Session, error: &tokio_postgres::Error) -> Error {
    match error.code() {
        Some(&(SqlState::FEATURE_NOT_SUPPORTED | SqlState::DEPENDENT_OBJECTS_STILL_EXIST)) => Error::refused(
            ErrorKind::MigrationBlocked,
            format!("{WHAT}: {}; nothing was changed", session.said(error)),
            "Remove from the table what prevents the change, migrate, and add it again with the column run.",
        ),
        _ => session.error(&format!("{WHAT} (nothing was changed)"), error),
    }
}

/// Returns the statements that change layout 3 into layout 4.
async fn statements(session: &Session) -> Result<String> {
    let keys = keys(session).await?;
    let retype = |table: &str| {
        let table = in_schema(table);
        format!(
            "alter table {table} alter column run_id type text collate \"C\" using ({keys} ->> run_id::text);
             alter table {table} rename column run_id to run;"
        )
    };
    let mut sql = UNTIED_VIEWS.to_owned();
    sql += &unbound(session).await?;
    sql += &layout::column_additions();
    sql += RUNS_BEFORE;
    sql += &retype("runs");
    sql += &format!(
        "alter table perfpipe.runs alter column generation set not null,
           alter column generation add generated always as identity (start with {});",
        next_number(session).await?
    );
    let series = table_exists(session, WHAT, series::TABLE).await?.then_some(series::TABLE);
    for table in FACTS.into_iter().chain(series) {
        sql += &retype(table);
        let table = in_schema(table);
        sql +=
            &format!("alter table {table} add foreign key (run) references perfpipe.runs on delete cascade;");
    }
    sql += &format!("update perfpipe.layout set version = {};", SchemaLayout::NEWEST.version());
    // Nodes know no view of tables that they do not know.
    Ok(sql + CREATE_PAGES + &distribution(session).await? + CREATE_VIEWS + SET_COMMENTS)
}

/// Selects the tables that a database has only once they are needed.
const LATER: &str = "
  select c.relname::text as name from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'perfpipe' and c.relname in ('series', 'points', 'parts', 'partfiles')
  order by c.relname = 'partfiles'";

/// Returns the statements that distribute all tables over the nodes of a cluster, where there are any.
async fn distribution(session: &Session) -> Result<String> {
    let engine = ServerEngine::ask(session, WHAT).await?;
    let mut sql = engine.distribution().to_owned();
    let mut tables = SHARED.map(str::to_owned).to_vec();
    for row in session.query(WHAT, LATER, &[]).await? {
        let name: String = value(&row, "name")?;
        sql += &match name.as_str() {
            "points" => engine.on_one_node("points"),
            by_run => engine.by_run(by_run),
        };
        tables.push(name);
    }
    let samples = on_coordinator(session, engine).await?;
    let names: Vec<&str> = samples.iter().map(String::as_str).collect();
    rights::check_ownership(session, &names, true).await?;
    sql.extend(samples.iter().map(|table| engine.on_one_node(table)));
    tables.extend(samples);
    sql.extend(tables.iter().map(|table| engine.without_former_rows(table)));
    Ok(sql + ";")
}

/// Selects the tables of samples that the nodes do not know. Those with children can't be distributed, and those of others
/// may not.
const ON_COORDINATOR: &str = "
  select c.relname::text as name from perfpipe.runs r
    join pg_catalog.pg_class c on c.relname = r.table_name::name
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'perfpipe' and c.relkind = 'r' and pg_catalog.pg_has_role(c.relowner, 'usage')
    and not exists (select from pg_catalog.pg_inherits i where i.inhparent = c.oid)
    and not exists (select from pg_catalog.pg_dist_partition d where d.logicalrelid = c.oid)
  order by 1";

/// Returns the tables of samples that can go from the coordinator of a cluster to its nodes.
async fn on_coordinator(session: &Session, engine: ServerEngine) -> Result<Vec<String>> {
    if engine == ServerEngine::Postgres {
        return Ok(Vec::new());
    }
    session.query(WHAT, ON_COORDINATOR, &[]).await?.iter().map(|row| value(row, "name")).collect()
}

/// Detaches the views from the tables, which could not be altered otherwise. The views keep the grants of others.
const UNTIED_VIEWS: &str = "
  create or replace view perfpipe.elapsed_counts as
    select null::text as framework, null::text as test, null::int as repeat, null::int as second, null::text as label,
      null::boolean as success, null::boolean as transaction, null::int as elapsed, null::int as count;
  create or replace view perfpipe.per_second as
    select null::text as framework, null::text as test, null::int as repeat, null::int as second,
      null::bigint as successes, null::bigint as failures, null::float8 as elapsed_mean;";

/// Changes to `runs` before its number is replaced by the key. The number is kept in `generation`, since present
/// readers of a run identify it by that.
const RUNS_BEFORE: &str = "
  alter table perfpipe.runs add column generation bigint;
  update perfpipe.runs set generation = run_id;
  alter table perfpipe.runs alter column run_id drop identity, alter column t0 drop expression,
    alter column requests drop expression;";

/// Returns an SQL object that maps each run's number to its key as text.
async fn keys(session: &Session) -> Result<String> {
    let sql = "select run_id, framework, test, repeat from perfpipe.runs";
    let mut keys = Map::new();
    for row in session.query(WHAT, sql, &[]).await? {
        let key = RunKey::new(value::<String>(&row, "framework")?, value::<String>(&row, "test")?)
            .with_repeat(whole(value::<i32>(&row, "repeat")?)?);
        keys.insert(value::<i64>(&row, "run_id")?.to_string(), Value::String(run_text(&key)));
    }
    Ok(format!("{}::jsonb", literal(&Value::Object(keys).to_string())))
}

/// Returns the statements that drop foreign keys to `runs`, and its unique constraints except for the primary key.
async fn unbound(session: &Session) -> Result<String> {
    let sql = "
      select t.relname::text as name, c.conname::text as bond
      from pg_catalog.pg_constraint c
        join pg_catalog.pg_class t on t.oid = c.conrelid
        join pg_catalog.pg_namespace n on n.oid = t.relnamespace
      where n.nspname = 'perfpipe'
        and (c.contype = 'f' and c.confrelid = 'perfpipe.runs'::pg_catalog.regclass
          or c.contype = 'u' and c.conrelid = 'perfpipe.runs'::pg_catalog.regclass)
      order by 1, 2";
    let drop = |row: &tokio_postgres::Row| {
        let (table, bond): (String, String) = (value(row, "name")?, value(row, "bond")?);
        Ok(format!("alter table {} drop constraint {};", in_schema(&table), quoted(&bond)))
    };
    session.query(WHAT, sql, &[]).await?.iter().map(drop).collect()
}

/// Returns the number of the next run, which no run has had yet.
async fn next_number(session: &Session) -> Result<i64> {
    let sql = "select coalesce(pg_catalog.pg_sequence_last_value(pg_catalog.pg_get_serial_sequence('perfpipe.runs', \
               'run_id')::pg_catalog.regclass), 0) + 1 as next";
    value(&session.query_one(WHAT, sql, &[]).await?, "next")
}
