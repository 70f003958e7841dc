//! How transactions begin: the settings for looking up names, for visibility and for waiting. They end with the
//! transaction, since a pooler may give the server session to another client afterwards.

use std::time::Duration;

use crate::error::Result;

use crate::connection::session::Session;

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

/// Disables the time limits for queries, which must not end a long load. Older servers lack some of them.
const NO_LIMITS: &str = "select pg_catalog.set_config(name, '0', true) from pg_catalog.pg_settings where name in \
     ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout'); ";

/// Returns the statements that begin a transaction.
pub(super) fn sql(mode: Mode, patience: Duration) -> String {
    let (level, limits, patience) = match mode {
        Mode::Snapshot => ("repeatable read read only", "", patience.min(READING)),
        Mode::Reading => ("read committed read only", "", patience.min(READING)),
        Mode::Writing => ("read committed read write", NO_LIMITS, patience),
    };
    format!("begin isolation level {level}; {PINNED}; {limits}{}", waiting(patience))
}

/// Returns the statement that limits the time to wait for a lock, to at least 1 s.
pub(super) fn waiting(patience: Duration) -> String {
    let ms = patience.max(Duration::from_secs(1)).as_millis().min(i32::MAX as u128);
    format!("set local lock_timeout = {ms}")
}

/// Begins a transaction.
pub(super) async fn begin(session: &Session, what: &str, mode: Mode) -> Result<()> {
    session.run(what, &sql(mode, session.patience())).await
}
