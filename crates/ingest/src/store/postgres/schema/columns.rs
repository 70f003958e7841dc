//! Columns that older schemas of the present layouts lack. The first write adds them; until then they are null.

use tokio_postgres::error::SqlState;

use crate::connection::session::{Session, value};
use crate::error::{Error, ErrorKind, Result};
use crate::store::postgres::holders;
use crate::store::postgres::transaction::{Mode, begin};

use super::names::{ALL, LOCK};
use super::ownership;
use super::statements::{CREATE_VIEWS, SET_COMMENTS};
use super::version::SchemaLayout;

/// The added columns: table, name and type. They are null for earlier runs.
const ADDED: [(&str, &str, &str); 5] = [
    ("runs", "last_end_ms", "bigint"),
    ("runs", "transactions_end_ms", "bigint"),
    ("rejects", "code", "text"),
    ("runs", "resolution_us", "int"),
    ("runs", "stripes", "jsonb"),
];

/// Adds the missing columns to the tables that all runs share, and with them what the views tell.
pub(super) async fn add_columns(session: &Session, layout: SchemaLayout) -> Result<()> {
    let what = "adding columns to the tables of perfpipe";
    begin(session, what, Mode::Reading).await?;
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
    begin(session, what, Mode::Writing).await?;
    holders::wait_for_lock(session, what, LOCK, "the lock on making the schema").await?;
    ownership::check_ownership(session, &ALL, true).await?;
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
                holders::holder_of_tables(session, what, &tables, true).await
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
