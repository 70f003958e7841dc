//! How transactions begin, and wait for locks.
//!
//! The settings for looking up names, for visibility and for waiting end with the transaction, since a pooler may give the
//! server session to another client afterwards. What other clients left in such a session is removed ([`clear_pooled`]). An
//! error names the holder of a lock that was not released in time.

use std::time::Duration;

use futures_util::future::join;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::schema::names::quoted;
use crate::connection::session::{Session, value};
use perfpipe_model::error::{Error, ErrorKind, Result};

type Outcome = std::result::Result<(), tokio_postgres::Error>;

/// The maximum time that a reader waits for a lock.
const READING: Duration = Duration::from_secs(30);

/// The purpose of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionMode {
    /// Reads everything in one snapshot.
    Snapshot,
    /// Reads the present state at each statement.
    Reading,
    /// Writes.
    Writing,
}

/// Settings of every transaction. Names refer to the catalogue, even if other objects have the same name. Rows that row
/// security would hide are an error. Rows come in the order in which they were written, even while another session
/// scans the table.
const PINNED: &str = "set local search_path = pg_catalog, pg_temp; set local row_security = off; \
     set local synchronize_seqscans = off";

/// Then disables the time limits for queries, which must not end a long load. Older servers lack some of them.
const NO_LIMITS: &str = "; select pg_catalog.set_config(name, '0', true) from pg_catalog.pg_settings where name in \
     ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')";

/// Returns the statements that begin a transaction, without the limit of waiting.
fn sql(mode: TransactionMode) -> String {
    let (level, limits) = match mode {
        TransactionMode::Snapshot => ("repeatable read read only", ""),
        TransactionMode::Reading => ("read committed read only", ""),
        TransactionMode::Writing => ("read committed read write", NO_LIMITS),
    };
    format!("begin isolation level {level}; {PINNED}{limits}")
}

/// Returns the statement that limits the time to wait for a lock in a transaction of this purpose.
fn limit(session: &Session, mode: TransactionMode) -> String {
    waiting(match mode {
        TransactionMode::Snapshot | TransactionMode::Reading => session.patience().min(READING),
        TransactionMode::Writing => session.patience(),
    })
}

/// Returns the statement that limits the time to wait for a lock, to at least 1 s.
pub(super) fn waiting(patience: Duration) -> String {
    let ms = patience.max(Duration::from_secs(1)).as_millis().min(i32::MAX as u128);
    format!("set local lock_timeout = {ms}")
}

/// Makes the settings of a transaction that come later hold on the nodes of a cluster too; other servers ignore it. Each
/// comes by itself, since a node is sent the text that it comes in.
const ON_NODES: &str = "set local citus.propagate_set_commands = 'local'";

/// Begins a transaction.
pub(super) async fn begin(session: &Session, what: &str, mode: TransactionMode) -> Result<()> {
    begun(session, mode).await.map_err(|error| session.error(what, &error))
}

/// Begins a transaction, and runs a statement in it. All is sent at once.
pub(super) async fn begin_with(session: &Session, mode: TransactionMode, statement: &str) -> Outcome {
    let (begun, done) = join(begun(session, mode), session.client().batch_execute(statement)).await;
    begun.and(done)
}

async fn begun(session: &Session, mode: TransactionMode) -> Outcome {
    let (begin, limit) = (format!("{}; {ON_NODES}", sql(mode)), limit(session, mode));
    let client = session.client();
    let (begun, limited) = join(client.batch_execute(&begin), client.batch_execute(&limit)).await;
    begun.and(limited)
}

/// Holders of locks of the modes `$2` (any mode if null) on the schema's tables `$1`.
const OF_TABLES: &str = "
  select l.pid, a.usename::text as role, a.application_name as application, c.relname::text as held
  from pg_catalog.pg_locks l
    join pg_catalog.pg_class c on c.oid = l.relation
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    left join pg_catalog.pg_stat_activity a on a.pid = l.pid
  where l.granted and l.locktype = 'relation' and n.nspname = 'perfpipe' and c.relname::text = any ($1)
    and l.database = (select oid from pg_catalog.pg_database where datname = current_database())
    and ($2 is null or l.mode = any ($2))
  order by l.mode, l.pid";

/// Holders of the advisory lock named by the text `$1`.
const OF_TEXT: &str = "
  select l.pid, a.usename::text as role, a.application_name as application, null::text as held
  from pg_catalog.pg_locks l left join pg_catalog.pg_stat_activity a on a.pid = l.pid
  where l.granted and l.locktype = 'advisory' and l.objsubid = 1 and l.pid <> pg_catalog.pg_backend_pid()
    and l.database = (select oid from pg_catalog.pg_database where datname = current_database())
    and (l.classid::bigint << 32) | l.objid::bigint = pg_catalog.hashtextextended($1, 0::bigint)";

/// Lock modes that prevent others from writing to a table; the first one also prevents reading.
const EXCLUDING: [&str; 4] = ["AccessExclusiveLock", "ExclusiveLock", "ShareRowExclusiveLock", "ShareLock"];

/// Returns the error for a transaction that waited too long to read tables of the schema, or to write to them. Rolls
/// the transaction back.
pub(super) async fn table_lock_error(session: &Session, what: &str, tables: &[&str], write: bool) -> Error {
    lock_error(session, what, tables, Some(if write { &EXCLUDING } else { &EXCLUDING[..1] })).await
}

/// Returns the error for a transaction that waited too long for exclusive access to tables of the schema. Rolls it
/// back.
pub(super) async fn exclusive_lock_error(session: &Session, what: &str, tables: &[&str]) -> Error {
    lock_error(session, what, tables, None).await
}

async fn lock_error(session: &Session, what: &str, tables: &[&str], modes: Option<&[&str]>) -> Error {
    let values = [(&tables as _, Type::TEXT_ARRAY), (&modes as _, Type::TEXT_ARRAY)];
    let asked = async {
        session.run(what, "rollback").await?;
        begin(session, what, TransactionMode::Reading).await?;
        let rows = session.query(what, OF_TABLES, &values).await?;
        session.end(what).await?;
        let Some(row) = rows.first() else { return Ok((None, None)) };
        Ok((Some(holder_name(row)?), value::<Option<String>>(row, "held")?))
    };
    match asked.await {
        Ok((holder, table)) => {
            let table = table
                .map_or_else(|| "a table of the schema perfpipe".into(), |name| format!("perfpipe.{name}"));
            holder_refusal(what, &format!("{table} is locked"), holder)
        }
        Err(error) => error,
    }
}

/// Returns the holder of the advisory lock named by a text, if it is visible.
pub(super) async fn holder_of_text(session: &Session, text: &str) -> Result<Option<String>> {
    let rows = session.query("asking who holds a lock", OF_TEXT, &[(&text as _, Type::TEXT)]).await?;
    rows.first().map(holder_name).transpose()
}

/// Returns the error for a transaction that waited too long for the advisory lock named by a text. Rolls it back.
async fn lock_refusal(session: &Session, what: &str, text: &str, lock: &str) -> Error {
    let asked = async {
        session.run(what, "rollback").await?;
        begin(session, what, TransactionMode::Reading).await?;
        let holder = holder_of_text(session, text).await?;
        session.end(what).await?;
        Ok(holder)
    };
    match asked.await {
        Ok(holder) => holder_refusal(what, &format!("another session has {lock}"), holder),
        Err(error) => error,
    }
}

/// Describes a session so that it can be found on the server.
fn holder_name(row: &tokio_postgres::Row) -> Result<String> {
    let Some(process) = value::<Option<i32>>(row, "pid")? else { return Ok("a prepared transaction".into()) };
    let role: Option<String> = value(row, "role")?;
    let application: Option<String> = value(row, "application")?;
    let role = role.map_or_else(String::new, |role| format!(" of the role {role}"));
    let application = application.filter(|name| !name.is_empty());
    let application = application.map_or_else(String::new, |name| format!(", application {name:?}"));
    Ok(format!("process {process}{role}{application}"))
}

fn holder_refusal(what: &str, problem: &str, holder: Option<String>) -> Error {
    let holder =
        holder.unwrap_or_else(|| "a session that has just ended, or that this role can't see".into());
    Error::refused(
        ErrorKind::TableLocked,
        format!("{what}: {problem}, and did not become free in time; the holder is {holder}"),
        "Wait until that session has ended, or end it with select pg_terminate_backend(PROCESS); then try \
         again.",
    )
}

/// Waits for the advisory lock named by `text`, up to the transaction's lock timeout. `lock` describes it in errors.
pub(crate) async fn wait_for_lock(session: &Session, what: &str, text: &str, lock: &str) -> Result<()> {
    let sql = "select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($1, 0::bigint))";
    let Err(error) = session.client().query_typed(sql, &[(&text, Type::TEXT)]).await else { return Ok(()) };
    Err(match session.code(&error).as_ref() {
        Some(&SqlState::LOCK_NOT_AVAILABLE) => lock_refusal(session, what, text, lock).await,
        _ => session.error(what, &error),
    })
}

/// Selects prepared statements with the names that this client uses. Its own ones are gone when a transaction begins.
const LEFT: &str = "select name from pg_catalog.pg_prepared_statements where name ~ '^s[0-9]+$'";

/// Deallocates prepared statements whose names this transaction needs.
pub(crate) async fn clear_pooled(session: &Session) -> Result<()> {
    let what = "looking for what other clients of a pooler left";
    let mut sql = String::new();
    for row in session.query(what, LEFT, &[]).await? {
        sql += &format!("deallocate {};", quoted(value(&row, "name")?));
    }
    if sql.is_empty() { Ok(()) } else { session.run(what, &sql).await }
}
