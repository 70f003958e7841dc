//! The schema: made on the first write, and checked before every use.

use crate::error::{Error, Result};

use super::session::{Session, value};

/// The layout that this version reads and writes.
pub(super) const VERSION: i32 = 3;

/// What makes it.
const SQL: &str = include_str!("layout.sql");

/// Whether the schema is there, and of the layout known here.
pub(super) async fn present(session: &Session) -> Result<bool> {
    let what = "looking for the schema perfpipe";
    // A look into the catalogue sees what others have just committed; to_regclass may answer from a cache.
    let sql = "select exists (select from pg_tables where schemaname = 'perfpipe' and tablename = 'layout') as there";
    if !value::<bool>(&session.query_one(what, sql, &[]).await?, "there")? {
        return Ok(false);
    }
    let rows = session.query(what, "select version from perfpipe.layout", &[]).await?;
    let found = rows.first().map(|row| value::<i32>(row, "version")).transpose()?;
    match found {
        Some(VERSION) => Ok(true),
        _ => Err(other_layout(found)),
    }
}

/// Makes the schema where there is none. Two that come first at the same time do it one after the other.
pub(super) async fn ensure(session: &Session) -> Result<()> {
    if present(session).await? {
        return Ok(());
    }
    check_server(session).await?;
    let what = "making the schema perfpipe";
    session.run(what, "begin; select pg_advisory_xact_lock(hashtextextended('perfpipe layout', 0))").await?;
    if !present(session).await? {
        // One made by hand may belong to a role that may not make others.
        let sql = "select exists (select from pg_namespace where nspname = 'perfpipe') as there";
        if !value::<bool>(&session.query_one(what, sql, &[]).await?, "there")? {
            session.run(what, "create schema perfpipe").await?;
        }
        session.run(what, SQL).await?;
    }
    session.run(what, "commit").await
}

/// The oldest server whose SQL has all that the layout uses, and its number as the server tells it.
const OLDEST: (&str, i32) = ("12", 120_000);

/// Checks that the database can hold the layout, and every label and message, which are Unicode.
async fn check_server(session: &Session) -> Result<()> {
    let sql = "select current_setting('server_encoding') as encoding, \
               current_setting('server_version_num')::int as version";
    let row = session.query_one("asking for the database's encoding", sql, &[]).await?;
    let encoding: String = value(&row, "encoding")?;
    if encoding != "UTF8" {
        return Err(Error::refused(
            format!("the database is encoded in {encoding}, which cannot hold every label"),
            "Make one with: create database NAME encoding 'UTF8' template template0.",
        ));
    }
    if value::<i32>(&row, "version")? < OLDEST.1 {
        return Err(Error::refused(
            format!("the server is older than PostgreSQL {}", OLDEST.0),
            "Use a newer one, or leave the database out to store the run in a folder.",
        ));
    }
    Ok(())
}

fn other_layout(found: Option<i32>) -> Error {
    let found = found.map_or_else(|| "no layout".to_owned(), |version| format!("layout {version}"));
    Error::refused(
        format!(
            "the database's schema perfpipe has {found}, and this version of perfpipe knows layout {VERSION}"
        ),
        "Use the version of perfpipe that stored its runs, or another database.",
    )
}
