//! Drives a connection: by a task of its own, or by a reader of many rows.
//!
//! The connection reads some KiB from its socket, hands them on, and waits until they are taken. If its task is on
//! another thread than the reader, the two wake each other for every such piece, which takes longer than anything that
//! is done with the rows. So who reads many rows polls the connection too.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_util::Stream;
use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::error::{DbError, Severity};
use tokio_postgres::{AsyncMessage, Connection};

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
    pub(super) fn drive<S, T>(mut connection: Connection<S, T>) -> Self
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
    pub(super) fn cause(&self) -> Option<&tokio_postgres::Error> {
        self.ended.get()
    }

    /// What the server warned of last.
    pub(super) fn warning(&self) -> Option<DbError> {
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
    /// holds a [`PollTurn`].
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
