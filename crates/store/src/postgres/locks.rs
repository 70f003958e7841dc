//! The locks of runs' keys, and the replacement of tables without blocking readers for long.

use std::time::{Duration, Instant};

use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use crate::parts::being_merged;
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::key::{LAST_REPEAT, RunKey};

use super::runs;
use super::samples::read::SampleTables;
use super::schema::layout;
use super::schema::names::{candidates, in_schema, lock_text, quoted};
use super::transaction::{self, waiting};
use crate::connection::session::{Session, value};

/// The duration of one attempt to lock a table, during which new readers have to wait.
const TRY: Duration = Duration::from_secs(1);

/// The pause between two attempts, in which readers proceed.
const PAUSE: Duration = Duration::from_millis(500);

/// How long a writer waits for another one, whose session may be ending, and the pause between two looks.
const MOMENT: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(100);

/// Name of the lock on the names of tables.
const NAMES: &str = "perfpipe names";

/// What is being done while a run's key is locked.
const CLAIMING: &str = "claiming the run";

/// Undoes an attempt to lock a table.
const GIVE_UP: &str = "rollback to savepoint swap; release savepoint swap";

/// Returns the name of the lock on a run's key.
pub(super) fn lock_of(key: &RunKey) -> String {
    format!("perfpipe run {}", lock_text(key))
}

/// Returns the name of the lock on all parts of a run. Those who write one share it.
pub(super) fn lock_of_parts(key: &RunKey) -> String {
    format!("perfpipe parts {}", lock_text(key))
}

/// Returns the name of the lock on a part of a run.
pub(super) fn lock_of_part(key: &RunKey, number: u32) -> String {
    format!("perfpipe part {number} {}", lock_text(key))
}

/// Locks a part of a run for this transaction.
///
/// # Errors
/// If another writer holds it, or the parts of the run are being merged.
pub(super) async fn claim_part(session: &Session, key: &RunKey, number: u32) -> Result<()> {
    let what = "claiming the part of a run";
    if !try_advisory(session, what, "try_advisory_xact_lock_shared", &lock_of_parts(key)).await? {
        return Err(being_merged(key));
    }
    if lock_in_a_moment(session, what, &lock_of_part(key, number)).await? {
        return Ok(());
    }
    Err(Error::refused(
        ErrorKind::RunBusy,
        format!("part {number} of {key} is being written by another perfpipe"),
        "Wait until it is done, or give this part its own number.",
    ))
}

/// Locks a run's key for this transaction.
///
/// # Errors
/// If another writer holds it.
pub(super) async fn claim(session: &Session, key: &RunKey) -> Result<()> {
    if lock_in_a_moment(session, CLAIMING, &lock_of(key)).await? {
        return Ok(());
    }
    let holder = transaction::holder_of_text(session, &lock_of(key)).await?;
    let holder = holder.map_or_else(String::new, |holder| format!(" ({holder} holds its lock)"));
    Err(Error::refused(
        ErrorKind::RunBusy,
        format!("another perfpipe is writing the run {key}{holder}"),
        "Wait until it is done, or give this run another framework or test.",
    ))
}

/// Locks a run's key for this transaction; returns false if another writer holds it.
async fn try_claim(session: &Session, key: &RunKey) -> Result<bool> {
    try_lock(session, CLAIMING, &lock_of(key)).await
}

/// Takes the advisory lock named by a text for this transaction; returns false if another session keeps it. The session of a
/// writer that has just failed keeps it until the server has noticed.
async fn lock_in_a_moment(session: &Session, what: &str, text: &str) -> Result<bool> {
    let begun = Instant::now();
    while !try_lock(session, what, text).await? {
        if begun.elapsed() >= MOMENT {
            return Ok(false);
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(true)
}

/// Takes the advisory lock named by a text for this transaction; returns false if another session holds it.
pub(super) async fn try_lock(session: &Session, what: &str, text: &str) -> Result<bool> {
    try_advisory(session, what, "try_advisory_xact_lock", text).await
}

async fn try_advisory(session: &Session, what: &str, kind: &str, text: &str) -> Result<bool> {
    let sql = format!("select pg_catalog.pg_{kind}(pg_catalog.hashtextextended($1, 0::bigint)) as taken");
    value(&session.query_one(what, &sql, &[(&text, Type::TEXT)]).await?, "taken")
}

/// Locks the lowest repeat of a key that is neither stored nor locked by another writer.
pub(super) async fn claim_next(session: &Session, key: RunKey) -> Result<RunKey> {
    let stored = runs::repeats(session, &key.framework, &key.test).await?;
    for repeat in (1..=LAST_REPEAT).filter(|repeat| stored.binary_search(repeat).is_err()) {
        let key = key.clone().with_repeat(repeat);
        if !try_claim(session, &key).await? {
            continue;
        }
        // The former holder of the lock may have stored the run just before releasing it.
        let stored = runs::repeats(session, &key.framework, &key.test).await?;
        if stored.binary_search(&repeat).is_err() {
            return Ok(key);
        }
    }
    Err(Error::store("looking for a free repeat", format!("all repeats of {key} are taken")))
}

/// Drops the tables of a run's samples. Waits for their readers up to the session's patience.
pub(super) async fn drop_tables(session: &Session, tables: &SampleTables) -> Result<()> {
    let what = "dropping the old samples";
    let names = tables.names();
    if let Some(table) = names.iter().find(|table| layout::is_own(table)) {
        return Err(Error::refused(
            ErrorKind::SamplesTable,
            format!(
                "the run's row names perfpipe.{} as the table of its samples, but all runs share that table",
                quoted(table)
            ),
            "The row was changed by hand: set its table_name in perfpipe.runs to null, then try again.",
        ));
    }
    loop {
        // Others may have been dropped by hand.
        let there = existing(session, what, &names).await?;
        if there.is_empty() {
            return Ok(());
        }
        let listed = there.iter().map(|table| in_schema(table)).collect::<Vec<_>>().join(", ");
        match exclusively(session, what, &listed).await? {
            ExclusiveLock::Held => {
                return session.run(what, &format!("drop table {listed}; release savepoint swap")).await;
            }
            ExclusiveLock::Gone => {}
            ExclusiveLock::Busy => return Err(still_read(&tables.own)),
        }
    }
}

/// Returns those of the names that are relations of the schema.
async fn existing(session: &Session, what: &str, names: &[&str]) -> Result<Vec<String>> {
    let sql = "select c.relname::text as name from pg_catalog.pg_class c join pg_catalog.pg_namespace n \
               on n.oid = c.relnamespace where n.nspname = 'perfpipe' and c.relname::text = any ($1)";
    let rows = session.query(what, sql, &[(&names as _, Type::TEXT_ARRAY)]).await?;
    rows.iter().map(|row| value(row, "name")).collect()
}

/// Result of trying to lock tables exclusively.
pub(super) enum ExclusiveLock {
    /// The tables are locked within the savepoint `swap`.
    Held,
    /// Others used the tables for the whole time.
    Busy,
    /// A table does not exist.
    Gone,
}

/// Locks tables exclusively. Waits for their users up to the session's patience; between the attempts, new users get
/// access.
pub(super) async fn exclusively(session: &Session, what: &str, tables: &str) -> Result<ExclusiveLock> {
    let until = Instant::now() + session.patience();
    let lock = format!("lock table {tables} in access exclusive mode");
    loop {
        session.run(what, "savepoint swap").await?;
        // By itself: a cluster sends the text that a setting comes in to its nodes, and the lock is not for them to take.
        session.run(what, &waiting(TRY)).await?;
        let Err(error) = session.client().batch_execute(&lock).await else { return Ok(ExclusiveLock::Held) };
        let gone = match session.code(&error).as_ref() {
            Some(code) if *code == SqlState::LOCK_NOT_AVAILABLE => false,
            Some(code) if *code == SqlState::UNDEFINED_TABLE => true,
            _ => return Err(session.error(what, &error)),
        };
        session.run(what, GIVE_UP).await?;
        if gone {
            return Ok(ExclusiveLock::Gone);
        }
        if Instant::now() >= until {
            return Ok(ExclusiveLock::Busy);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn still_read(table: &str) -> Error {
    Error::refused(
        ErrorKind::StillRead,
        format!(
            "the old samples in perfpipe.{} are still being read, so they could not be replaced",
            quoted(table)
        ),
        "Wait until the readers are done (see pg_stat_activity), then try again.",
    )
}

/// Gives a table of samples and its index their final names: those of the key with this ending. Returns the table's name.
pub(super) async fn rename(session: &Session, key: &RunKey, loaded: &str, ending: &str) -> Result<String> {
    let what = "naming the run's table";
    session.run(what, &waiting(session.patience())).await?;
    transaction::wait_for_lock(session, what, NAMES, "the lock on the names of tables").await?;
    let index = session.query(what, INDEX_OF, &[(&loaded, Type::TEXT)]).await?;
    let table = free_name(session, key, ending).await?;
    let rename = format!("alter table {} rename to {}", in_schema(loaded), quoted(&table));
    session.run(what, &rename).await?;
    if let Some(index) = index.first() {
        let name = free_name(session, key, &format!("{ending}_t_ms")).await?;
        let rename = format!("alter index {} rename to {}", in_schema(value(index, "name")?), quoted(&name));
        session.run(what, &rename).await?;
    }
    Ok(table)
}

/// Selects the index of a table of samples.
const INDEX_OF: &str = "select i.relname::text as name from pg_catalog.pg_index x \
     join pg_catalog.pg_class i on i.oid = x.indexrelid join pg_catalog.pg_class t on t.oid = x.indrelid \
     join pg_catalog.pg_namespace n on n.oid = t.relnamespace \
     where n.nspname = 'perfpipe' and t.relname = $1::name order by 1 limit 1";

/// Returns the name of a table's index while it is being loaded.
pub(super) fn index_of(loaded: &str) -> String {
    format!("{loaded} t_ms")
}

/// Returns the first candidate that is not used in the schema.
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
