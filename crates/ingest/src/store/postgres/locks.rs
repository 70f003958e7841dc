//! Who may write a run, and how a new table takes the place of an old one without holding readers up for long.

use std::time::{Duration, Instant};

use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use crate::error::{Error, Result};
use crate::run::key::{LAST_REPEAT, RunKey};

use super::connection::session::{Session, value};
use super::schema::layout;
use super::schema::names::{candidates, in_schema, lock_text, quoted};
use super::transaction::waiting;
use super::{holders, runs};

/// How long one try for a lock may hold up readers that come after it.
const TRY: Duration = Duration::from_secs(1);

/// How long readers have between two tries.
const PAUSE: Duration = Duration::from_millis(500);

/// What the lock on the names of tables is named by.
const NAMES: &str = "perfpipe names";

/// Undoes a try for a lock.
const GIVE_UP: &str = "rollback to savepoint swap; release savepoint swap";

/// What the lock that the writer of a key holds is named by.
pub(super) fn lock_of(key: &RunKey) -> String {
    format!("perfpipe run {}", lock_text(key))
}

/// Makes this transaction the only writer of a key, or says that there is another.
pub(super) async fn claim(session: &Session, key: &RunKey) -> Result<()> {
    if try_claim(session, key).await? {
        return Ok(());
    }
    let holder = holders::of_text(session, &lock_of(key)).await?;
    let holder = holder.map_or_else(String::new, |holder| format!(" ({holder} holds its lock)"));
    Err(Error::refused(
        format!("another perfpipe is at this moment writing the run {key}{holder}"),
        "Wait until it has ended, or name this run with --framework and --test.",
    ))
}

/// Makes this transaction the only writer of a key; false if there is another.
async fn try_claim(session: &Session, key: &RunKey) -> Result<bool> {
    let sql =
        "select pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtextextended($1, 0::bigint)) as claimed";
    value(&session.query_one("claiming the run", sql, &[(&lock_of(key), Type::TEXT)]).await?, "claimed")
}

/// Makes this transaction the only writer of the lowest repeat of a key that is neither stored nor claimed by another.
pub(super) async fn claim_next(session: &Session, key: RunKey) -> Result<RunKey> {
    let stored = runs::repeats(session, &key.framework, &key.test).await?;
    for repeat in (1..=LAST_REPEAT).filter(|repeat| stored.binary_search(repeat).is_err()) {
        let key = key.clone().with_repeat(repeat);
        if !try_claim(session, &key).await? {
            continue;
        }
        // Whoever had claimed it may have stored it before it was free.
        let stored = runs::repeats(session, &key.framework, &key.test).await?;
        if stored.binary_search(&repeat).is_err() {
            return Ok(key);
        }
    }
    Err(Error::store("looking for a free repeat", format!("all repeats of {key} are taken")))
}

/// Drops the table of a run's samples, waiting for its readers as long as the session's patience lasts.
pub(super) async fn drop_table(session: &Session, table: &str) -> Result<()> {
    let what = "dropping the old samples";
    if layout::is_own(table) {
        return Err(Error::refused(
            format!(
                "the run's row names perfpipe.{} as the table of its samples, which all runs share",
                quoted(table)
            ),
            "Somebody has changed the row: set its table_name in perfpipe.runs to null, then try again.",
        ));
    }
    match exclusively(session, what, &in_schema(table)).await? {
        Exclusive::Held => {
            session.run(what, &format!("drop table {}; release savepoint swap", in_schema(table))).await
        }
        // Somebody dropped the table by hand.
        Exclusive::Gone => Ok(()),
        Exclusive::Busy => Err(still_read(table)),
    }
}

/// What came of trying to keep all others from tables.
pub(super) enum Exclusive {
    /// They are locked, within the savepoint `swap`.
    Held,
    /// Others were at work on them as long as the session's patience lasted.
    Busy,
    /// A table is not there.
    Gone,
}

/// Keeps all others from tables, waiting for those at work on them as long as the session's patience lasts; whoever
/// comes later gets a turn between the tries.
pub(super) async fn exclusively(session: &Session, what: &str, tables: &str) -> Result<Exclusive> {
    let until = Instant::now() + session.patience();
    let lock = format!("savepoint swap; {}; lock table {tables} in access exclusive mode", waiting(TRY));
    loop {
        let Err(error) = session.client().batch_execute(&lock).await else { return Ok(Exclusive::Held) };
        let gone = match error.code() {
            Some(code) if *code == SqlState::LOCK_NOT_AVAILABLE => false,
            Some(code) if *code == SqlState::UNDEFINED_TABLE => true,
            _ => return Err(session.error(what, &error)),
        };
        session.run(what, GIVE_UP).await?;
        if gone {
            return Ok(Exclusive::Gone);
        }
        if Instant::now() >= until {
            return Ok(Exclusive::Busy);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn still_read(table: &str) -> Error {
    Error::refused(
        format!(
            "the old samples in perfpipe.{} are still being read, so they could not be replaced",
            quoted(table)
        ),
        "Let the readers end (see pg_stat_activity), then try again.",
    )
}

/// Gives the loaded table and its index their final names, and returns the table's.
pub(super) async fn rename(session: &Session, key: &RunKey, loaded: &str) -> Result<String> {
    let what = "naming the run's table";
    session.run(what, &waiting(session.patience())).await?;
    holders::wait_for(session, what, NAMES, "the lock on the names of tables").await?;
    let table = free_name(session, key, "").await?;
    let rename = format!("alter table {} rename to {}", in_schema(loaded), quoted(&table));
    session.run(what, &rename).await?;
    let index = free_name(session, key, "_t_ms").await?;
    let rename = format!("alter index {} rename to {}", in_schema(&index_of(loaded)), quoted(&index));
    session.run(what, &rename).await?;
    Ok(table)
}

/// The name of a table's index while it is being loaded.
pub(super) fn index_of(loaded: &str) -> String {
    format!("{loaded} t_ms")
}

/// The first candidate that nothing in the schema has.
async fn free_name(session: &Session, key: &RunKey, ending: &str) -> Result<String> {
    let sql = "select exists (select from pg_catalog.pg_class c join pg_catalog.pg_namespace n \
               on n.oid = c.relnamespace where n.nspname = 'perfpipe' and c.relname = $1::name) as taken";
    for name in candidates(key, ending) {
        let row = session.query_one("looking for a free name", sql, &[(&name, Type::TEXT)]).await?;
        if !value::<bool>(&row, "taken")? {
            return Ok(name);
        }
    }
    Err(Error::store("looking for a free name", format!("all names for {key} are taken")))
}
