//! The table `series`, which the first run with another series than the CPU creates.

use tokio_postgres::error::SqlState;

use super::copy::CopyOut;
use super::copy::facts;
use super::holders;
use super::schema::engine::Engine;
use super::schema::names::LOCK;
use super::schema::ownership;
use super::schema::version::{Layout, RowsOf};
use crate::connection::session::{Session, value};
use crate::error::{Error, ErrorKind, Result};
use crate::series::server::ServerSeries;
use crate::store::series_rows::SeriesRows;

/// Its name.
pub(super) const TABLE: &str = "series";

/// Returns the statements that create the table.
fn made(layout: Layout) -> String {
    let run = match layout {
        Layout::Numbered => "run_id bigint",
        Layout::Keyed => "run text collate \"C\"",
    };
    let column = run.split(' ').next().unwrap_or_default();
    format!(
        "create table perfpipe.series ({run} not null references perfpipe.runs on delete cascade, \
         name text not null, unit text not null, clock bigint not null, value float8 not null, \
         primary key ({column}, name, clock)); \
         comment on table perfpipe.series is 'Readings of the server other than its CPU, by name.'; \
         comment on column perfpipe.series.unit is 'The unit of the values, as given at the ingest.'; \
         comment on column perfpipe.series.clock is 'Epoch second, as exported.'"
    )
}

/// Creates the table if it does not exist, before others of the transaction are locked.
pub(super) async fn ensure(session: &Session, what: &str, layout: Layout, engine: Engine) -> Result<()> {
    if exists(session, what).await? {
        return Ok(());
    }
    holders::wait_for(session, what, LOCK, "the lock on making the schema").await?;
    if exists(session, what).await? {
        return Ok(());
    }
    let sql = made(layout) + &engine.by_run(TABLE);
    let Err(error) = session.client().batch_execute(&sql).await else { return Ok(()) };
    Err(match error.code() {
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Error::refused(
            ErrorKind::Privileges,
            "no run of the database has another series than the CPU yet, and this role may not make the table for them",
            format!("Let the schema's owner store a run with --series once, or run: {sql}."),
        ),
        Some(&SqlState::LOCK_NOT_AVAILABLE) => holders::of_tables(session, what, &["runs"], true).await,
        _ => session.error(what, &error),
    })
}

/// Returns true if the table exists. The catalogue's rows are read, since `to_regclass` goes by what the session
/// remembers: having found no table once, it would not see that another session has made it meanwhile.
pub(super) async fn exists(session: &Session, what: &str) -> Result<bool> {
    let sql = "select exists (select from pg_catalog.pg_class c \
               join pg_catalog.pg_namespace n on n.oid = c.relnamespace \
               where n.nspname = 'perfpipe' and c.relname = 'series') as there";
    value(&session.query_one(what, sql, &[]).await?, "there")
}

/// Reads the series of a run.
pub(super) async fn read(session: &Session, run: &RowsOf) -> Result<Vec<ServerSeries>> {
    let what = "reading a run";
    if !exists(session, what).await? {
        return Ok(Vec::new());
    }
    ownership::check(session, &[TABLE], false).await?;
    let query = format!("select {} from perfpipe.series where {}", facts::SERIES, run.condition());
    let mut rows = SeriesRows::default();
    CopyOut::begin(session, what, &query).await?.each(|row| facts::get_series(row, &mut rows)).await?;
    Ok(rows.finish())
}
