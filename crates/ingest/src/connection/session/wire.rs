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
use tokio_postgres::{Connection, Error};

/// A connection that is polled by its own task and by readers.
#[derive(Clone)]
pub(crate) struct Wire {
    driven: Arc<Mutex<Driven>>,
    /// The error with which the connection ended. It is set before any waiting caller is notified.
    ended: Arc<OnceLock<Error>>,
}

struct Driven {
    /// `None` once it has ended.
    connection: Option<BoxFuture<'static, Result<(), Error>>>,
    /// Wakes the connection's own task.
    task: Option<Waker>,
}

impl Wire {
    /// Spawns the connection's own task.
    pub(super) fn drive<S, T>(connection: Connection<S, T>) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let driven = Driven { connection: Some(Box::pin(connection)), task: None };
        let wire = Self { driven: Arc::new(Mutex::new(driven)), ended: Arc::default() };
        let of_task = wire.clone();
        tokio::spawn(poll_fn(move |context| {
            of_task.lock().task = Some(context.waker().clone());
            of_task.poll(context)
        }));
        wire
    }

    /// The error with which the connection ended.
    pub(super) fn cause(&self) -> Option<&Error> {
        self.ended.get()
    }

    /// Polls the connection, which then wakes this task and no other. Ready once it has ended.
    fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut driven = self.lock();
        let Some(connection) = &mut driven.connection else { return Poll::Ready(()) };
        let Poll::Ready(end) = connection.as_mut().poll(context) else { return Poll::Pending };
        if let Err(error) = end {
            let _ = self.ended.set(error);
        }
        driven.connection = None;
        Poll::Ready(())
    }

    fn lock(&self) -> MutexGuard<'_, Driven> {
        self.driven.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next item of a stream that the connection feeds, and drives the connection meanwhile. The caller
    /// holds a [`Turn`].
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
    pub(crate) fn turn(&self) -> Turn {
        Turn(self.clone())
    }
}

/// A reader's turn of driving a connection. When it is dropped, the connection's own task takes over again.
pub(crate) struct Turn(Wire);

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(task) = &self.0.lock().task {
            task.wake_by_ref();
        }
    }
}
