//! A connection to the server, its statements, and the wording of its errors.
//!
//! The connection reads some KiB from its socket, hands them on, and waits until they are consumed. If its task is on
//! another thread than the reader, the two wake each other for every such piece, which takes longer than anything that
//! is done with the rows. So a reader of many rows polls the connection too (`PolledConnection`).

use std::error::Error as _;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::Stream;
use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Connection, Row};

use perfpipe_model::error::secrets::Secrets;
use perfpipe_model::error::{Error, ErrorKind, Result};

/// The remedy for a role that lacks rights.
pub(crate) const GRANTS: &str = "Use a role that has the grant: docs/reference/roles.md has those of one that ingests and of one that reads.";

/// A value of a statement with its type. With the type known, no prepared statement is needed; a pooler may give the
/// session that holds it to other clients.
pub type Value<'a> = (&'a (dyn ToSql + Sync), Type);

/// The default time that a session waits for a lock.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// The error of a cluster for whatever happens on a node while it is sent what the coordinator does, such as to lock a
/// table. A warning before it says what happened.
const NODE_FAILED: &str = "failure on connection marked as essential";

/// How the codes begin of errors of a server that an administrator stops.
const SHUT_DOWN: &str = "57P";

/// A connection and the task that drives it. Dropping it closes the connection and rolls back an open transaction.
pub struct Session {
    client: Client,
    wire: PolledConnection,
    patience: Duration,
    secrets: Secrets,
}

impl Session {
    /// Spawns the task that drives a connection. The secrets are those that the server was sent.
    pub(crate) fn drive<S, T>(client: Client, connection: Connection<S, T>, secrets: Secrets) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        Self { client, wire: PolledConnection::drive(connection), patience: PATIENCE, secrets }
    }

    /// Sets how long the session waits for a lock.
    pub(crate) fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Returns how long the session waits for a lock.
    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    /// Returns the client, for COPY.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns what drives the connection.
    pub(crate) fn wire(&self) -> &PolledConnection {
        &self.wire
    }

    /// Runs statements without rows and values.
    pub(crate) async fn run(&self, what: &str, sql: &str) -> Result<()> {
        self.client.batch_execute(sql).await.map_err(|e| self.error(what, &e))
    }

    /// Commits the transaction. If its answer is lost, the error says what may have been done by it: `perhaps` is as in "the
    /// run a_t may be dropped".
    pub(crate) async fn commit(&self, what: &str, perhaps: &str) -> Result<()> {
        let Err(error) = self.client.batch_execute("commit").await else { return Ok(()) };
        let lost = self.error(what, &error);
        // A server that says why has changed nothing, unless it was shut down meanwhile.
        if error.as_db_error().is_some_and(|said| !said.code().code().starts_with(SHUT_DOWN)) {
            return Err(lost);
        }
        let remedy = "See what is stored once the server answers, and run the command again if it is needed.";
        Err(Error::refused(
            ErrorKind::CommitUnknown,
            format!("{lost}; {perhaps}, since the answer to the commit was lost"),
            remedy,
        ))
    }

    /// Ends a transaction that only read.
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

    /// Returns an error that names the action and the cause in one sentence.
    pub(crate) fn error(&self, what: &str, error: &tokio_postgres::Error) -> Error {
        let why = if error.is_closed() {
            let cause = self.wire.cause().map_or_else(String::new, |cause| format!(" ({})", sentence(cause)));
            format!("the server closed the connection{cause}")
        } else {
            let warning = self.of_node(error).map_or_else(String::new, |why| format!(" ({})", why.message()));
            sentence(error) + &warning
        };
        let why = self.secrets.said(&why);
        match remedy(error) {
            Some(remedy) => Error::failed(ErrorKind::StoreFailed, what, why, remedy),
            None => Error::store(what, why),
        }
    }

    /// Returns the message of the server or the network, without the secrets that the server was sent.
    pub fn said(&self, error: &tokio_postgres::Error) -> String {
        self.secrets.said(&sentence(error))
    }

    /// Returns the server's code for an error, or for what happened on a node of a cluster.
    pub(crate) fn code(&self, error: &tokio_postgres::Error) -> Option<SqlState> {
        self.of_node(error).map(|why| why.code().clone()).or_else(|| error.code().cloned())
    }

    /// Returns what happened on a node of a cluster, if that is what the error is about.
    fn of_node(&self, error: &tokio_postgres::Error) -> Option<DbError> {
        let of_node = error.as_db_error().is_some_and(|said| said.message().starts_with(NODE_FAILED));
        self.wire.warning().filter(|_| of_node)
    }
}

/// Returns the message of the server or the network, without the layers that passed it on.
pub(crate) fn sentence(error: &tokio_postgres::Error) -> String {
    let Some(said) = error.as_db_error() else {
        return error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"));
    };
    // A node of a cluster is named by the context alone.
    let node = said.where_().filter(|context| context.starts_with("while executing command on"));
    let more = [said.detail(), said.hint(), node].into_iter().flatten();
    more.fold(said.message().to_owned(), |sentence, more| format!("{sentence} ({more})"))
}

/// Returns the remedy for the server's error code, if there is one.
fn remedy(error: &tokio_postgres::Error) -> Option<&'static str> {
    let Some(code) = error.code() else {
        return Some("Check that the server runs and what its log says, then try again.");
    };
    match *code {
        SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN | SqlState::CANNOT_CONNECT_NOW => {
            Some("Find out from the server's log why it ended the connection, then try again.")
        }
        SqlState::QUERY_CANCELED => {
            Some("If nobody cancelled it, raise the role's statement_timeout; then try again.")
        }
        SqlState::DISK_FULL => Some("Make room on the server's disk, then try again."),
        SqlState::INSUFFICIENT_PRIVILEGE => Some(GRANTS),
        SqlState::DUPLICATE_PSTATEMENT | SqlState::INVALID_SQL_STATEMENT_NAME => Some(
            "A pooler gives one session of the server to several clients: name the server itself in the URL, \
             or set the pooler's pool_mode to session.",
        ),
        _ => None,
    }
}

/// Returns a value of a row by column name.
pub(crate) fn value<'a, T: tokio_postgres::types::FromSql<'a>>(row: &'a Row, column: &str) -> Result<T> {
    row.try_get(column).map_err(|e| Error::store("reading from Postgres", sentence(&e)))
}

/// A connection that is polled by its own task and by readers.
#[derive(Clone)]
pub(crate) struct PolledConnection {
    driven: Arc<Mutex<DrivenConnection>>,
    /// The error with which the connection ended. It is set before any waiting caller is notified.
    ended: Arc<OnceLock<tokio_postgres::Error>>,
    /// What the server warned of last.
    warned: Arc<Mutex<Option<DbError>>>,
}

struct DrivenConnection {
    /// `None` once it has ended.
    connection: Option<BoxFuture<'static, ()>>,
    /// Wakes the connection's own task.
    task: Option<Waker>,
}

impl PolledConnection {
    /// Spawns the connection's own task.
    fn drive<S, T>(mut connection: Connection<S, T>) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (ended, warned) = (Arc::new(OnceLock::new()), Arc::new(Mutex::new(None)));
        let (of_end, of_warning) = (Arc::clone(&ended), Arc::clone(&warned));
        let connection = async move {
            while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
                match message {
                    Ok(AsyncMessage::Notice(notice))
                        if notice.parsed_severity() == Some(Severity::Warning) =>
                    {
                        *locked(&of_warning) = Some(notice);
                    }
                    Ok(_) => {}
                    // This block drops the connection, which notifies who waits, before its caller learns of its end.
                    Err(error) => {
                        let _ = of_end.set(error);
                        break;
                    }
                }
            }
        };
        let driven = DrivenConnection { connection: Some(Box::pin(connection)), task: None };
        let wire = Self { driven: Arc::new(Mutex::new(driven)), ended, warned };
        let of_task = wire.clone();
        tokio::spawn(poll_fn(move |context| {
            of_task.lock().task = Some(context.waker().clone());
            of_task.poll(context)
        }));
        wire
    }

    /// The error with which the connection ended.
    fn cause(&self) -> Option<&tokio_postgres::Error> {
        self.ended.get()
    }

    /// What the server warned of last.
    fn warning(&self) -> Option<DbError> {
        locked(&self.warned).clone()
    }

    /// Polls the connection, which then wakes this task and no other. Ready once it has ended.
    fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut driven = self.lock();
        let Some(connection) = &mut driven.connection else { return Poll::Ready(()) };
        if connection.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        driven.connection = None;
        Poll::Ready(())
    }

    fn lock(&self) -> MutexGuard<'_, DrivenConnection> {
        locked(&self.driven)
    }

    /// Waits for the next item of a stream that the connection feeds, and drives the connection meanwhile. The caller
    /// has a [`PollTurn`].
    pub(crate) async fn next<S: Stream>(&self, mut stream: Pin<&mut S>) -> Option<S::Item> {
        poll_fn(|context| {
            if let Poll::Ready(item) = stream.as_mut().poll_next(context) {
                return Poll::Ready(item);
            }
            let _ = self.poll(context);
            stream.as_mut().poll_next(context)
        })
        .await
    }

    /// Begins a turn of driving the connection.
    pub(crate) fn turn(&self) -> PollTurn {
        PollTurn(self.clone())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A reader's turn of driving a connection. When it is dropped, the connection's own task takes over again.
pub(crate) struct PollTurn(PolledConnection);

impl Drop for PollTurn {
    fn drop(&mut self) {
        if let Some(task) = &self.0.lock().task {
            task.wake_by_ref();
        }
    }
}
