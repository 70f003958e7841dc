//! How transactions begin: the settings for looking up names, for visibility and for waiting. They end with the
//! transaction, since a pooler may give the server session to another client afterwards.

use std::time::Duration;

use futures_util::future::join;

use crate::error::Result;

use crate::connection::session::Session;

type Outcome = std::result::Result<(), tokio_postgres::Error>;

/// The maximum time that a reader waits for a lock.
const READING: Duration = Duration::from_secs(30);

/// The purpose of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
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
fn sql(mode: Mode) -> String {
    let (level, limits) = match mode {
        Mode::Snapshot => ("repeatable read read only", ""),
        Mode::Reading => ("read committed read only", ""),
        Mode::Writing => ("read committed read write", NO_LIMITS),
    };
    format!("begin isolation level {level}; {PINNED}{limits}")
}

/// Returns the statement that limits the time to wait for a lock in a transaction of this purpose.
fn limit(session: &Session, mode: Mode) -> String {
    waiting(match mode {
        Mode::Snapshot | Mode::Reading => session.patience().min(READING),
        Mode::Writing => session.patience(),
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
pub(super) async fn begin(session: &Session, what: &str, mode: Mode) -> Result<()> {
    begun(session, mode).await.map_err(|error| session.error(what, &error))
}

/// Begins a transaction, and runs a statement in it. All is sent at once.
pub(super) async fn begin_with(session: &Session, mode: Mode, statement: &str) -> Outcome {
    let (begun, done) = join(begun(session, mode), session.client().batch_execute(statement)).await;
    begun.and(done)
}

async fn begun(session: &Session, mode: Mode) -> Outcome {
    let (begin, limit) = (format!("{}; {ON_NODES}", sql(mode)), limit(session, mode));
    let client = session.client();
    let (begun, limited) = join(client.batch_execute(&begin), client.batch_execute(&limit)).await;
    begun.and(limited)
}
