//! One connection to the server, with its transaction and the words for what goes wrong on it.

use std::error::Error as _;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Connection, Row};

use crate::error::{Error, Result};

/// Where the grants are found that a role may lack.
pub(crate) const GRANTS: &str = "Use a role that has the grant: docs/reference/roles.md has those of one that ingests and of one that reads.";

/// A value of a statement, and its type: told, it needs no prepared statement, which would belong to a session that a
/// pooler may share.
pub(crate) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

/// How long a session waits for whoever holds a lock, unless told otherwise.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// A connection and the task that drives it. Dropped, it is closed, and an open transaction undone.
pub(crate) struct Session {
    client: Client,
    /// Why the connection ended; set before anyone waiting on it is told.
    ended: Arc<OnceLock<String>>,
    patience: Duration,
}

impl Session {
    /// Starts the task that drives a connection.
    pub(crate) fn drive<S, T>(client: Client, mut connection: Connection<S, T>) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let ended = Arc::new(OnceLock::new());
        let cause = Arc::clone(&ended);
        tokio::spawn(async move {
            if let Err(error) = (&mut connection).await {
                let _ = cause.set(sentence(&error));
            }
        });
        Self { client, ended, patience: PATIENCE }
    }

    /// The same, of other patience.
    pub(crate) fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// How long it waits for a lock.
    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    /// The client, for COPY.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Runs statements that give no rows and take no values.
    pub(crate) async fn run(&self, what: &str, sql: &str) -> Result<()> {
        self.client.batch_execute(sql).await.map_err(|e| self.error(what, &e))
    }

    /// Ends a transaction that has only read.
    pub(crate) async fn end(&self, what: &str) -> Result<()> {
        self.run(what, "rollback").await
    }

    /// Runs a statement and returns its rows.
    pub(crate) async fn query(&self, what: &str, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>> {
        self.client.query_typed(sql, values).await.map_err(|e| self.error(what, &e))
    }

    /// Runs a statement that returns one row.
    pub(crate) async fn query_one(&self, what: &str, sql: &str, values: &[Value<'_>]) -> Result<Row> {
        self.client.query_typed_one(sql, values).await.map_err(|e| self.error(what, &e))
    }

    /// What was being done, and why it failed, as one sentence.
    pub(crate) fn error(&self, what: &str, error: &tokio_postgres::Error) -> Error {
        let why = if error.is_closed() {
            let cause = self.ended.get().map_or_else(String::new, |cause| format!(" ({cause})"));
            format!("the server closed the connection{cause}")
        } else {
            sentence(error)
        };
        match remedy(error) {
            Some(remedy) => Error::failed(what, why, remedy),
            None => Error::store(what, why),
        }
    }
}

/// What the server or the network said, without the layers that passed it on.
pub(crate) fn sentence(error: &tokio_postgres::Error) -> String {
    let Some(said) = error.as_db_error() else {
        return error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"));
    };
    let more = [said.detail(), said.hint()].into_iter().flatten();
    more.fold(said.message().to_owned(), |sentence, more| format!("{sentence} ({more})"))
}

/// What the user can do about it, where the server's code says so.
fn remedy(error: &tokio_postgres::Error) -> Option<&'static str> {
    let Some(code) = error.code() else {
        return Some("See whether the server runs and what its log says, then run the command again.");
    };
    match *code {
        SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN | SqlState::CANNOT_CONNECT_NOW => {
            Some("See why the server ended the connection (its log says so), then run the command again.")
        }
        SqlState::QUERY_CANCELED => {
            Some("Where nobody cancelled it, raise the role's statement_timeout; then run the command again.")
        }
        SqlState::DISK_FULL => Some("Make room on the server's disk, then run the command again."),
        SqlState::INSUFFICIENT_PRIVILEGE => Some(GRANTS),
        SqlState::DUPLICATE_PSTATEMENT | SqlState::INVALID_SQL_STATEMENT_NAME => Some(
            "A pooler gives one session of the server to several clients: name the server itself in the URL, or have \
             the pooler's pool_mode at session.",
        ),
        _ => None,
    }
}

/// A value of a row, by the column's name.
pub(crate) fn value<'a, T: tokio_postgres::types::FromSql<'a>>(row: &'a Row, column: &str) -> Result<T> {
    row.try_get(column).map_err(|e| Error::store("reading from Postgres", sentence(&e)))
}
