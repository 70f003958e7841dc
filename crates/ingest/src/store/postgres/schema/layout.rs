//! The schema `perfpipe`, which is created on the first write and checked before every use.

use tokio_postgres::error::SqlState;

use crate::error::{Error, ErrorKind, Result};

use super::engine::Engine;
use super::names::{ALL, LOCK};
use super::statements::{CREATE_PAGES, CREATE_TABLES, CREATE_VIEWS, SET_COMMENTS};
use super::version::SchemaLayout;
use super::{columns, ownership};
use crate::connection::session::{Session, value};
use crate::store::postgres::holders;
use crate::store::postgres::pooled;
use crate::store::postgres::transaction::{Mode, begin, begin_with};

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
    mode: Mode,
    tables: &[&str],
) -> Result<Option<SchemaLayout>> {
    let tables = [&["layout"], tables].concat();
    let names: Vec<String> = tables.iter().map(|table| format!("perfpipe.{table}")).collect();
    let lock = format!("lock table {} in access share mode", names.join(", "));
    for last in [false, false, true] {
        let Err(error) = begin_with(session, mode, &lock).await else {
            ownership::check_ownership(session, &tables, false).await?;
            let layout = read(session).await?;
            pooled::clear_pooled(session).await?;
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
            return Err(holders::holder_of_tables(session, what, tables, false).await);
        }
        Some(_) => {}
    }
    session.run(what, "rollback").await?;
    begin(session, what, Mode::Reading).await?;
    ownership::check_ownership(session, tables, false).await?;
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
pub(crate) async fn ensure(session: &Session, engine: Engine) -> Result<()> {
    if let Some(layout) = check(session).await? {
        return columns::add_columns(session, layout).await;
    }
    let what = "making the schema perfpipe";
    begin(session, what, Mode::Writing).await?;
    check_server(session).await?;
    holders::wait_for_lock(session, what, LOCK, "the lock on making the schema").await?;
    if !schema_exists(session, what).await? {
        // A schema created by hand may belong to a role that can't create schemas.
        let sql = "select exists (select from pg_catalog.pg_namespace where nspname = 'perfpipe') as there";
        if !value::<bool>(&session.query_one(what, sql, &[]).await?, "there")? {
            session.run(what, "create schema perfpipe").await?;
        }
        ownership::check_ownership(session, &ALL, true).await?;
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
    begin(session, what, Mode::Reading).await?;
    ownership::check_ownership(session, &ALL, true).await?;
    let there = schema_exists(session, what).await?;
    session.end(what).await?;
    if !there {
        return Ok(None);
    }
    let layout = open(session, what, Mode::Reading, &[]).await?;
    if layout.is_some() {
        session.end(what).await?;
    }
    Ok(layout)
}

/// Locks the shared tables for writing until the transaction ends, against changes of their definition, and checks
/// them.
pub(crate) async fn hold(session: &Session, what: &str) -> Result<SchemaLayout> {
    let names: Vec<String> = TABLES.iter().skip(1).map(|table| format!("perfpipe.{table}")).collect();
    let sql = format!(
        "lock table perfpipe.layout in access share mode; lock table {} in row exclusive mode",
        names.join(", ")
    );
    if let Err(error) = session.client().batch_execute(&sql).await {
        return Err(match session.code(&error).as_ref() {
            Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                holders::holder_of_tables(session, what, &TABLES, true).await
            }
            _ => session.error(what, &error),
        });
    }
    ownership::check_ownership(session, &ALL, true).await?;
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
