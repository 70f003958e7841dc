//! Sends encoded rows to a table and receives the rows of a query, by binary COPY.

pub(crate) mod binary;
pub(crate) mod facts;
pub(crate) mod samples;
pub(crate) mod seconds;

use std::pin::Pin;

use bytes::Bytes;
use futures_util::SinkExt;
use tokio_postgres::{CopyInSink, CopyOutStream};

use perfpipe_model::error::{Error, Result};

use self::binary::{CHUNK, HEADER, RowDecoder, RowEncoder, RowFields, Rows, TRAILER};
use crate::connection::session::Session;

/// A COPY to a table in progress. If dropped, it is rolled back with its transaction.
pub(super) struct CopyIn {
    sink: Pin<Box<CopyInSink<Bytes>>>,
    what: String,
    sent: u64,
}

impl CopyIn {
    /// Begins a COPY into a table and columns, both given as SQL.
    pub(super) async fn begin(
        session: &Session,
        what: &str,
        table: &str,
        columns: &str,
        options: &str,
    ) -> Result<Self> {
        let sql = format!("copy {table} ({columns}) from stdin (format binary{options})");
        let sink = session.client().copy_in(&sql).await.map_err(|e| session.error(what, &e))?;
        let mut copy = Self { sink: Box::pin(sink), what: what.to_owned(), sent: 0 };
        copy.feed(session, Bytes::from_static(HEADER)).await?;
        Ok(copy)
    }

    /// Sends encoded rows.
    pub(super) async fn send(&mut self, session: &Session, rows: Rows) -> Result<()> {
        self.sent += rows.rows;
        self.feed(session, rows.bytes).await
    }

    /// Sends the encoder's rows if they fill a chunk.
    pub(super) async fn send_full(&mut self, session: &Session, encoder: &mut RowEncoder) -> Result<()> {
        if encoder.len() < CHUNK { Ok(()) } else { self.send(session, encoder.take()?).await }
    }

    /// Ends the COPY and returns the number of rows.
    ///
    /// # Errors
    /// If the server stored another number of rows than was sent, or fails.
    pub(super) async fn finish(mut self, session: &Session) -> Result<u64> {
        self.feed(session, Bytes::from_static(TRAILER)).await?;
        let stored = self.sink.as_mut().finish().await.map_err(|e| session.error(&self.what, &e))?;
        if stored != self.sent {
            let problem = format!("{} rows were sent, and the server stored {stored}", self.sent);
            return Err(Error::store(self.what, problem));
        }
        Ok(stored)
    }

    async fn feed(&mut self, session: &Session, bytes: Bytes) -> Result<()> {
        self.sink.send(bytes).await.map_err(|e| session.error(&self.what, &e))
    }
}

/// A COPY of a query's rows in progress.
pub(super) struct CopyOut<'a> {
    session: &'a Session,
    stream: Pin<Box<CopyOutStream>>,
    decoder: RowDecoder,
    what: &'a str,
}

impl<'a> CopyOut<'a> {
    /// Begins a COPY of the rows of `query`.
    pub(super) async fn begin(session: &'a Session, what: &'a str, query: &str) -> Result<Self> {
        let sql = format!("copy ({query}) to stdout (format binary)");
        let stream = session.client().copy_out(&sql).await.map_err(|e| session.error(what, &e))?;
        Ok(Self { session, stream: Box::pin(stream), decoder: RowDecoder::default(), what })
    }

    /// Passes every row to a function, in order.
    pub(super) async fn each(
        mut self,
        mut row: impl FnMut(&mut RowFields<'_>) -> Result<()> + Send,
    ) -> Result<()> {
        let (wire, _turn) = (self.session.wire(), self.session.wire().turn());
        while let Some(piece) = wire.next(self.stream.as_mut()).await {
            let piece = piece.map_err(|e| self.session.error(self.what, &e))?;
            self.decoder.feed(&piece);
            while let Some(mut fields) = self.decoder.next_row()? {
                row(&mut fields)?;
            }
        }
        if self.decoder.ended() {
            return Ok(());
        }
        Err(Error::store(self.what, "the server stopped in the middle of the rows"))
    }

    /// Collects the results of a function for all rows.
    pub(super) async fn gather<T: Send>(
        self,
        mut row: impl FnMut(&mut RowFields<'_>) -> Result<T> + Send,
    ) -> Result<Vec<T>> {
        let mut gathered = Vec::new();
        self.each(|fields| {
            gathered.push(row(fields)?);
            Ok(())
        })
        .await?;
        Ok(gathered)
    }
}
