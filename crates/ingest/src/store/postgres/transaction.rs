//! How each transaction begins: what its names mean, what it may see, and how long it waits. None of it outlives the
//! transaction, since a pooler may give the server's session to somebody else after it.

use std::time::Duration;

use crate::error::Result;

use super::connection::session::Session;

/// The longest that a reader waits for whoever keeps a table from being read.
const READING: Duration = Duration::from_secs(30);

/// What a transaction is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Reads all as of one moment.
    Snapshot,
    /// Reads what there is at each statement.
    Reading,
    /// Writes.
    Writing,
}

/// Names are those of the catalogue, whatever somebody has made of the same name; rows that row security would hide are
/// an error; and rows come in the order in which they were written, though somebody else be scanning the table already.
const PINNED: &str = "set local search_path = pg_catalog, pg_temp; set local row_security = off; \
     set local synchronize_seqscans = off";

/// Time limits, meant for people's queries, that must not end a long load; older servers lack some of them.
const NO_LIMITS: &str = "select pg_catalog.set_config(name, '0', true) from pg_catalog.pg_settings where name in \
     ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout'); ";

/// The statements that begin a transaction.
pub(super) fn sql(mode: Mode, patience: Duration) -> String {
    let (level, limits, patience) = match mode {
        Mode::Snapshot => ("repeatable read read only", "", patience.min(READING)),
        Mode::Reading => ("read committed read only", "", patience.min(READING)),
        Mode::Writing => ("read committed read write", NO_LIMITS, patience),
    };
    format!("begin isolation level {level}; {PINNED}; {limits}{}", waiting(patience))
}

/// The statement that says how long a lock is waited for: never without end.
pub(super) fn waiting(patience: Duration) -> String {
    let ms = patience.max(Duration::from_secs(1)).as_millis().min(i32::MAX as u128);
    format!("set local lock_timeout = {ms}")
}

/// Begins a transaction.
pub(super) async fn begin(session: &Session, what: &str, mode: Mode) -> Result<()> {
    session.run(what, &sql(mode, session.patience())).await
}
