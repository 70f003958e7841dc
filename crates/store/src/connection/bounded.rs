//! Bounds the messages of a server: the client buffers a message whole, whatever length it announces.
//!
//! The format of messages: <https://www.postgresql.org/docs/current/protocol-message-formats.html>.

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};

/// The maximum length of a message with rows, in bytes: the counts of a second take less.
const LARGEST: u64 = 64 << 20;
/// The maximum length of an error, a notice, a notification and a parameter's value, which are copied and printed.
const LARGEST_TEXT: u64 = 1 << 20;
/// The types of those messages.
const TEXTS: &[u8] = b"ENSA";
/// The bytes before a message's content: its type, and the length of the length and the content.
const HEAD: usize = 5;

/// A stream of messages, of which a too long one is an error before its content is read.
pub(crate) struct BoundedStream<S> {
    stream: S,
    binding: fn(&S) -> ChannelBinding,
    /// The bytes of the next message's head so far.
    head: [u8; HEAD],
    filled: usize,
    /// The bytes of the current message that are still to come.
    left: u64,
}

impl<S> BoundedStream<S> {
    fn new(stream: S, binding: fn(&S) -> ChannelBinding) -> Self {
        Self { stream, binding, head: [0; HEAD], filled: 0, left: 0 }
    }

    /// Follows the messages through the bytes that were read.
    fn follow(&mut self, mut bytes: &[u8]) -> Result<()> {
        while let Some((first, rest)) = bytes.split_first() {
            if self.left > 0 {
                let passed = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.left -= passed as u64;
                bytes = bytes.get(passed..).unwrap_or_default();
                continue;
            }
            bytes = rest;
            if let Some(byte) = self.head.get_mut(self.filled) {
                *byte = *first;
                self.filled += 1;
            }
            if self.filled == HEAD {
                self.filled = 0;
                self.left = content(self.head)?;
            }
        }
        Ok(())
    }
}

/// Returns the length of a message's content.
fn content([kind, length @ ..]: [u8; HEAD]) -> Result<u64> {
    let length = u64::from(u32::from_be_bytes(length));
    let largest = if TEXTS.contains(&kind) { LARGEST_TEXT } else { LARGEST };
    if length > largest {
        let problem = format!(
            "the server sends a message of {length} bytes, and at most {largest} are read: it is no PostgreSQL, or it is damaged"
        );
        return Err(Error::new(ErrorKind::InvalidData, problem));
    }
    Ok(length.saturating_sub(4))
}

impl<S: AsyncRead + Unpin> AsyncRead for BoundedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        Poll::Ready(self.follow(buffer.filled().get(before..).unwrap_or_default()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for BoundedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for BoundedStream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        (self.binding)(&self.stream)
    }
}

/// Bounds the messages within another connector's encryption.
#[derive(Clone)]
pub(crate) struct EncryptedConnect<C>(pub(crate) C);

impl<S, C: MakeTlsConnect<S>> MakeTlsConnect<S> for EncryptedConnect<C>
where
    C::Stream: 'static,
    <C::TlsConnect as TlsConnect<S>>::Future: Send + 'static,
{
    type Stream = BoundedStream<C::Stream>;
    type TlsConnect = EncryptedConnect<C::TlsConnect>;
    type Error = C::Error;

    fn make_tls_connect(&mut self, domain: &str) -> std::result::Result<Self::TlsConnect, Self::Error> {
        self.0.make_tls_connect(domain).map(EncryptedConnect)
    }
}

impl<S, C: TlsConnect<S>> TlsConnect<S> for EncryptedConnect<C>
where
    C::Stream: 'static,
    C::Future: Send + 'static,
{
    type Stream = BoundedStream<C::Stream>;
    type Error = C::Error;
    type Future = Pin<Box<dyn Future<Output = std::result::Result<Self::Stream, Self::Error>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        let connected = self.0.connect(stream);
        Box::pin(async {
            connected.await.map(|stream| BoundedStream::new(stream, TlsStream::channel_binding))
        })
    }
}

/// Bounds the messages of a connection without encryption. It is given in place of an encryption that begins at once,
/// since the client gives no other way to its stream.
#[derive(Clone)]
pub(crate) struct PlainConnect;

impl<S: AsyncRead + AsyncWrite + Unpin> MakeTlsConnect<S> for PlainConnect {
    type Stream = BoundedStream<S>;
    type TlsConnect = Self;
    type Error = Infallible;

    fn make_tls_connect(&mut self, _: &str) -> std::result::Result<Self, Infallible> {
        Ok(Self)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsConnect<S> for PlainConnect {
    type Stream = BoundedStream<S>;
    type Error = Infallible;
    type Future = Ready<std::result::Result<Self::Stream, Infallible>>;

    fn connect(self, stream: S) -> Self::Future {
        ready(Ok(BoundedStream::new(stream, |_| ChannelBinding::none())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, content: usize) -> Vec<u8> {
        [&[kind][..], &(content as u32 + 4).to_be_bytes(), &vec![0; content]].concat()
    }

    #[test]
    fn messages_are_followed_however_they_are_split() {
        let bytes: Vec<u8> =
            [0, 1, 4, 5, 300, 0].iter().flat_map(|length| message(b'D', *length)).chain([b'E']).collect();
        for size in 1..bytes.len() {
            let mut stream = BoundedStream::new((), |()| ChannelBinding::none());
            for piece in bytes.chunks(size) {
                stream.follow(piece).unwrap();
            }
            assert_eq!((stream.filled, stream.left), (1, 0), "{size}");
        }
    }

    #[test]
    fn message_that_is_too_long_is_an_error_by_its_head() {
        for (kind, largest) in [(b'D', LARGEST), (b'd', LARGEST), (b'E', LARGEST_TEXT), (b'N', LARGEST_TEXT)]
        {
            let head = |length: u64| {
                let [a, b, c, d] = u32::try_from(length).unwrap().to_be_bytes();
                [kind, a, b, c, d]
            };
            assert_eq!(content(head(largest)).unwrap(), largest - 4);
            let error = content(head(largest + 1)).unwrap_err();
            assert!(error.to_string().contains(&format!("{} bytes", largest + 1)), "{error}");
        }
        assert_eq!(content([b'Z', 0, 0, 0, 0]).unwrap(), 0);
        assert!(content([0xff; HEAD]).is_err());
    }
}
