//! The schema `perfpipe`, which is created on the first write and checked before every use: its statements, the versions of
//! its layout that are supported, the columns that older schemas of these layouts lack (the first write adds them; until then
//! they are null), and the tables that exist only once they are needed ([`LaterTables`]).

use tokio_postgres::error::SqlState;

use super::engine::ServerEngine;
use super::names::{ALL, LOCK, literal, run_text};
use super::rights;
use crate::connection::session::{Session, value};
use crate::postgres::copy::binary::RowEncoder;
use crate::postgres::transaction::{self, TransactionMode, begin, begin_with};
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::key::RunKey;

/// The tables that all runs share.
pub(super) const TABLES: [&str; 7] = ["layout", "runs", "seconds", "cpu", "errors", "labels", "rejects"];

/// Returns true if a name belongs to the layout itself, so that no run's table can have it.
pub(crate) fn is_own(table: &str) -> bool {
    ALL.contains(&table)
}

/// Begins a transaction that locks these tables and `layout` against changes of their definition, and checks them.
/// Without a store it returns `None`, and the transaction is ended.
pub(crate) async fn open(
    session: &Session,
    what: &str,
    mode: TransactionMode,
    tables: &[&str],
) -> Result<Option<SchemaLayout>> {
    let tables = [&["layout"], tables].concat();
    let names: Vec<String> = tables.iter().map(|table| format!("perfpipe.{table}")).collect();
    let lock = format!("lock table {} in access share mode", names.join(", "));
    for last in [false, false, true] {
        let Err(error) = begin_with(session, mode, &lock).await else {
            rights::check_ownership(session, &tables, false).await?;
            let layout = read(session).await?;
            transaction::clear_pooled(session).await?;
            return Ok(Some(layout));
        };
        match not_held(session, what, &tables, &error).await? {
            NotHeld::NoStore => return Ok(None),
            // The store was created meanwhile.
            NotHeld::JustMade if !last => {}
            NotHeld::JustMade => return Err(session.error(what, &error)),
        }
    }
    Ok(None)
}

/// The reason why tables could not be locked.
enum NotHeld {
    NoStore,
    /// The store was created after the attempt to lock its tables.
    JustMade,
}

/// Returns why tables could not be locked, if the reason is no error.
async fn not_held(
    session: &Session,
    what: &str,
    tables: &[&str],
    error: &tokio_postgres::Error,
) -> Result<NotHeld> {
    match session.code(error).as_ref() {
        None => return Err(session.error(what, error)),
        Some(&SqlState::LOCK_NOT_AVAILABLE) => {
            return Err(transaction::table_lock_error(session, what, tables, false).await);
        }
        Some(_) => {}
    }
    session.run(what, "rollback").await?;
    begin(session, what, TransactionMode::Reading).await?;
    rights::check_ownership(session, tables, false).await?;
    let there = schema_exists(session, what).await?;
    session.end(what).await?;
    let absent = [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME];
    match session.code(error).is_some_and(|code| absent.contains(&code)) {
        true if there => Ok(NotHeld::JustMade),
        true => Ok(NotHeld::NoStore),
        false => Err(session.error(what, error)),
    }
}

/// Returns true if the table `layout` exists. A query of the catalogue sees what others have just committed.
async fn schema_exists(session: &Session, what: &str) -> Result<bool> {
    let sql = "select exists (select from pg_catalog.pg_tables where schemaname = 'perfpipe' \
               and tablename = 'layout') as there";
    value(&session.query_one(what, sql, &[]).await?, "there")
}

/// Returns the layout of the schema, which must exist, as the transaction sees it.
pub(crate) async fn read(session: &Session) -> Result<SchemaLayout> {
    let rows = session.query("reading the layout", "select version from perfpipe.layout", &[]).await?;
    let found = rows.first().map(|row| value::<i32>(row, "version")).transpose()?;
    found.and_then(SchemaLayout::of).ok_or_else(|| other_layout(found))
}

/// Creates the schema if it does not exist, and adds missing columns to an older one. Concurrent calls are serialized.
pub(crate) async fn ensure(session: &Session, engine: ServerEngine) -> Result<()> {
    if let Some(layout) = check(session).await? {
        return add_columns(session, layout).await;
    }
    let what = "making the schema perfpipe";
    begin(session, what, TransactionMode::Writing).await?;
    check_server(session).await?;
    transaction::wait_for_lock(session, what, LOCK, "the lock on making the schema").await?;
    if !schema_exists(session, what).await? {
        // A schema created by hand may belong to a role that can't create schemas.
        let sql = "select exists (select from pg_catalog.pg_namespace where nspname = 'perfpipe') as there";
        if !value::<bool>(&session.query_one(what, sql, &[]).await?, "there")? {
            session.run(what, "create schema perfpipe").await?;
        }
        rights::check_ownership(session, &ALL, true).await?;
        session
            .run(
                what,
                &[CREATE_TABLES, CREATE_PAGES, engine.distribution(), CREATE_VIEWS, SET_COMMENTS].concat(),
            )
            .await?;
    }
    session.run(what, "commit").await
}

/// Returns the layout of the schema if it exists. It is an error if it can't be written to.
async fn check(session: &Session) -> Result<Option<SchemaLayout>> {
    let what = "looking at the schema perfpipe";
    begin(session, what, TransactionMode::Reading).await?;
    rights::check_ownership(session, &ALL, true).await?;
    let there = schema_exists(session, what).await?;
    session.end(what).await?;
    if !there {
        return Ok(None);
    }
    let layout = open(session, what, TransactionMode::Reading, &[]).await?;
    if layout.is_some() {
        session.end(what).await?;
    }
    Ok(layout)
}

/// Locks the shared tables for writing until the transaction ends, against changes of their definition, and checks
/// them.
pub(crate) async fn lock_schema(session: &Session, what: &str) -> Result<SchemaLayout> {
    let names: Vec<String> = TABLES.iter().skip(1).map(|table| format!("perfpipe.{table}")).collect();
    let sql = format!(
        "lock table perfpipe.layout in access share mode; lock table {} in row exclusive mode",
        names.join(", ")
    );
    if let Err(error) = session.client().batch_execute(&sql).await {
        return Err(match session.code(&error).as_ref() {
            Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                transaction::table_lock_error(session, what, &TABLES, true).await
            }
            _ => session.error(what, &error),
        });
    }
    rights::check_ownership(session, &ALL, true).await?;
    read(session).await
}

/// The oldest server version that supports the SQL of the layout, and its version number.
const OLDEST: (&str, i32) = ("12", 120_000);

/// Checks that the server is new enough, and that the database's encoding can hold every label and message.
async fn check_server(session: &Session) -> Result<()> {
    let sql = "select pg_catalog.current_setting('server_encoding') as encoding, \
               pg_catalog.current_setting('server_version_num')::int as version";
    let row = session.query_one("asking for the database's encoding", sql, &[]).await?;
    let encoding: String = value(&row, "encoding")?;
    if encoding != "UTF8" {
        return Err(Error::refused(
            ErrorKind::DatabaseEncoding,
            format!("the database is encoded in {encoding}, which cannot store every label"),
            "Make one with: create database NAME encoding 'UTF8' template template0.",
        ));
    }
    if value::<i32>(&row, "version")? < OLDEST.1 {
        return Err(Error::refused(
            ErrorKind::ServerTooOld,
            format!("the server is older than PostgreSQL {}", OLDEST.0),
            "Use a newer server, or name no database to store the run in a folder.",
        ));
    }
    Ok(())
}

fn other_layout(found: Option<i32>) -> Error {
    let found = found.map_or_else(|| "no layout".to_owned(), |version| format!("layout {version}"));
    Error::refused(
        ErrorKind::StoreLayout,
        format!(
            "the database's schema perfpipe has {found}, and this version of perfpipe knows layouts {} and {}",
            SchemaLayout::Numbered.version(),
            SchemaLayout::Keyed.version(),
        ),
        "Use the version of perfpipe that stored its runs, or another database.",
    )
}

/// A layout of the tables that all runs share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaLayout {
    /// Layout 3: a run's rows have the run's number.
    Numbered,
    /// Layout 4: a run's rows have its key as text.
    Keyed,
}

impl SchemaLayout {
    /// The layout of new schemas.
    pub(crate) const NEWEST: Self = Self::Keyed;

    /// Returns the layout with this version number, if it is supported.
    fn of(version: i32) -> Option<Self> {
        [Self::Numbered, Self::Keyed].into_iter().find(|layout| layout.version() == version)
    }

    /// Returns the version number.
    pub(crate) fn version(self) -> i32 {
        match self {
            Self::Numbered => 3,
            Self::Keyed => 4,
        }
    }

    /// Returns the column of `runs` with a number that is unique among all runs, including replaced and dropped ones.
    pub(crate) fn number_column(self) -> &'static str {
        match self {
            Self::Numbered => "run_id",
            Self::Keyed => "generation",
        }
    }

    /// Returns the identification of the rows of the run with this key and number.
    pub(crate) fn rows_of(self, key: &RunKey, number: i64) -> RowsOf {
        match self {
            Self::Numbered => RowsOf::Number(number),
            Self::Keyed => RowsOf::Key(run_text(key)),
        }
    }
}

/// The identification of one run's rows in the shared tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RowsOf {
    /// The run's number.
    Number(i64),
    /// The run's key as text.
    Key(String),
}

impl RowsOf {
    /// Returns the column that holds it, the first one of each table.
    pub(crate) fn column(&self) -> &'static str {
        match self {
            Self::Number(_) => "run_id",
            Self::Key(_) => "run",
        }
    }

    /// Returns the SQL condition that selects the rows.
    pub(crate) fn condition(&self) -> String {
        let value = match self {
            Self::Number(number) => number.to_string(),
            Self::Key(text) => literal(text),
        };
        format!("{} = {value}", self.column())
    }

    /// Encodes it as a row's first field.
    pub(crate) fn put(&self, rows: &mut RowEncoder) {
        match self {
            Self::Number(number) => rows.i64(*number),
            Self::Key(text) => rows.any_text(text),
        }
    }
}

/// The added columns: table, name and type. They are null for earlier runs.
const ADDED: [(&str, &str, &str); 5] = [
    ("runs", "last_end_ms", "bigint"),
    ("runs", "transactions_end_ms", "bigint"),
    ("rejects", "code", "text"),
    ("runs", "resolution_us", "int"),
    ("runs", "stripes", "jsonb"),
];

/// Adds the missing columns to the tables that all runs share, and to the views.
async fn add_columns(session: &Session, layout: SchemaLayout) -> Result<()> {
    let what = "adding columns to the tables of perfpipe";
    begin(session, what, TransactionMode::Reading).await?;
    let mut lacking = Vec::new();
    for (table, column, kind) in ADDED {
        if !has_column(session, what, table, column).await? {
            lacking.push((table, column_addition(table, column, kind)));
        }
    }
    session.end(what).await?;
    if lacking.is_empty() {
        return Ok(());
    }
    begin(session, what, TransactionMode::Writing).await?;
    transaction::wait_for_lock(session, what, LOCK, "the lock on making the schema").await?;
    rights::check_ownership(session, &ALL, true).await?;
    let sql = lacking.iter().map(|(_, sql)| sql.as_str()).collect::<Vec<_>>().join("; ");
    let views =
        if layout == SchemaLayout::NEWEST { [CREATE_VIEWS, SET_COMMENTS].concat() } else { String::new() };
    match session.client().batch_execute(&format!("{sql}; {views}")).await {
        Ok(()) => session.run(what, "commit").await,
        Err(error) => Err(match session.code(&error).as_ref() {
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Error::refused(
                ErrorKind::Privileges,
                "the schema perfpipe was made by an earlier perfpipe, and this role may not add the columns that its \
                 tables lack",
                format!("Let its owner store a run once, or run: {sql}."),
            ),
            Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                let tables: Vec<&str> = lacking.iter().map(|(table, _)| *table).collect();
                transaction::table_lock_error(session, what, &tables, true).await
            }
            _ => session.error(what, &error),
        }),
    }
}

/// Returns the statement that adds a column if it is missing.
fn column_addition(table: &str, column: &str, kind: &str) -> String {
    format!("alter table perfpipe.{table} add column if not exists {column} {kind}")
}

/// Returns the statements that add all missing columns.
pub(super) fn column_additions() -> String {
    ADDED.map(|(table, column, kind)| column_addition(table, column, kind) + ";").concat()
}

/// Returns true if a table has a column. Must be called within a transaction, which determines where names and
/// operators are looked up.
pub(crate) async fn has_column(session: &Session, what: &str, table: &str, column: &str) -> Result<bool> {
    let sql = format!(
        "select exists (select from pg_catalog.pg_attribute where not attisdropped \
         and attrelid = 'perfpipe.{table}'::pg_catalog.regclass and attname = '{column}') as there"
    );
    value(&session.query_one(what, &sql, &[]).await?, "there")
}

/// Tables that are created in one step.
pub(crate) struct LaterTables {
    /// Their names. Each has the run in its rows.
    pub(crate) tables: &'static [&'static str],
    /// The statements that create them.
    pub(crate) made: String,
    /// What is said to a role that may not create them, and what their schema's owner can do.
    pub(crate) refusal: (&'static str, &'static str),
}

impl LaterTables {
    /// Creates the tables if they do not exist, before others of the transaction are locked.
    pub(crate) async fn ensure(&self, session: &Session, what: &str, engine: ServerEngine) -> Result<()> {
        let Some(first) = self.tables.first() else { return Ok(()) };
        if table_exists(session, what, first).await? {
            return Ok(());
        }
        transaction::wait_for_lock(session, what, LOCK, "the lock on making the schema").await?;
        if table_exists(session, what, first).await? {
            return Ok(());
        }
        let sql =
            self.made.clone() + &self.tables.iter().map(|table| engine.by_run(table)).collect::<String>();
        let Err(error) = session.client().batch_execute(&sql).await else { return Ok(()) };
        Err(match session.code(&error).as_ref() {
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                let (problem, remedy) = self.refusal;
                Error::refused(ErrorKind::Privileges, problem, format!("{remedy}, or run: {sql}."))
            }
            Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                transaction::table_lock_error(session, what, &["runs"], true).await
            }
            _ => session.error(what, &error),
        })
    }
}

/// Returns true if a table exists. The catalogue's rows are read, since `to_regclass` goes by what the session
/// remembers: having found no table once, it would not see that another session has made it meanwhile.
pub(crate) async fn table_exists(session: &Session, what: &str, table: &str) -> Result<bool> {
    let sql = format!(
        "select exists (select from pg_catalog.pg_class c \
         join pg_catalog.pg_namespace n on n.oid = c.relnamespace \
         where n.nspname = 'perfpipe' and c.relname = '{table}') as there"
    );
    value(&session.query_one(what, &sql, &[]).await?, "there")
}

/// Those that create the tables of the newest layout.
const CREATE_TABLES: &str = include_str!("sql/tables.sql");

/// The index of the rows of `seconds` that perfpipe reads, which databases of an earlier version lack.
pub(super) const CREATE_PAGES: &str = include_str!("sql/pages.sql");

/// Those that create its views, replacing those of an older layout.
pub(super) const CREATE_VIEWS: &str = include_str!("sql/views.sql");

/// Those that create the tables of parts.
pub(crate) const CREATE_PARTS: &str = include_str!("sql/parts.sql");

/// The comments on tables, views and columns.
pub(super) const SET_COMMENTS: &str = include_str!("sql/comments.sql");
