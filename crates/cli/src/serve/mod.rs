//! A small server of pages for browsers: they can be read, and nothing can be changed by them.
//!
//! It answers GET and HEAD over HTTP/1, to whoever asks by a name of this machine. Its memory is bounded: connections,
//! headers and what is read ahead of files have limits, and each request has a connection of its own.

mod answer;
mod host;
pub(crate) mod site;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use futures_util::future::BoxFuture;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

pub(crate) use self::answer::Answer;
use self::answer::Body;
use crate::error::CliError;
use crate::output::warn;

/// The most connections at a time; others wait.
const CONNECTIONS: usize = 256;

/// The most bytes of a request.
const REQUEST: usize = 16 << 10;

/// How long a request may take to arrive.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a connection lasts. One that nobody reads holds its place no longer; a page that follows events connects again.
const LIFE: Duration = Duration::from_secs(60);

/// What a server shows.
pub(crate) trait Pages: Send + Sync + 'static {
    /// Answers a request for a path. For its headers alone (`is_head`), the body is not sent.
    fn answer<'a>(&'a self, path: &'a str, is_head: bool) -> BoxFuture<'a, Answer>;
}

/// An address at which pages will be served.
pub(crate) struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listening {
    /// Begins to listen at an address that a flag names, and warns if other machines can reach it. `what` is what they can
    /// read then.
    ///
    /// # Errors
    /// If the address can't be had.
    pub(crate) async fn begin(address: SocketAddr, flag: &str, what: &str) -> Result<Self> {
        let refused = |error: io::Error| refused(flag, address, &error);
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        if !address.ip().is_loopback() {
            let port = address.port();
            warn(&format!(
                "{flag} {address}: whoever reaches this machine can read {what}; {flag} 127.0.0.1:{port} keeps it to this \
                 machine, and ssh -L {port}:127.0.0.1:{port} HOST shows it elsewhere"
            ));
        }
        Ok(Self { listener, address })
    }

    /// The address, with the port that was free if none was asked for.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves pages until the command ends.
    pub(crate) fn serve(self, pages: Arc<impl Pages>) {
        tokio::spawn(serve(self.listener, pages));
    }
}

/// Parses the address of a server.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    let address = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let address = address.as_deref().unwrap_or(text).parse();
    address.map_err(|_| "expected an IP address and a port, such as 127.0.0.1:8090".to_owned())
}

/// The error of an address that can't be had.
fn refused(flag: &str, address: SocketAddr, error: &io::Error) -> CliError {
    let (problem, remedy) = match error.kind() {
        io::ErrorKind::AddrInUse => (
            "another program listens at this port".to_owned(),
            format!(
                "Give another port, or 0 for any that is free: {flag} {}.",
                SocketAddr::new(address.ip(), 0)
            ),
        ),
        io::ErrorKind::AddrNotAvailable => (
            "this machine has no such address".to_owned(),
            format!(
                "Give {flag} 127.0.0.1:{0} for browsers of this machine, or {flag} 0.0.0.0:{0} for those of others.",
                address.port()
            ),
        ),
        io::ErrorKind::PermissionDenied => (
            "this user may not listen at this port".to_owned(),
            format!("Give a port from 1024 on, as in {flag} {}.", SocketAddr::new(address.ip(), 8090)),
        ),
        _ => (error.to_string(), format!("Give an address of this machine, as in {flag} 127.0.0.1:8090.")),
    };
    CliError::refused(format!("{flag} {address}: {problem}"), remedy)
}

async fn serve(listener: TcpListener, pages: Arc<impl Pages>) {
    let free = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(place) = Arc::clone(&free).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let pages = Arc::clone(&pages);
                tokio::spawn(async move {
                    // A client that ends its connection early, or never reads, gets no page.
                    let _ = timeout(LIFE, talk(stream, pages)).await;
                    drop(place);
                });
            }
            // Too many files are open: some will be closed.
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}

/// Answers the request of a connection.
async fn talk(
    stream: TcpStream,
    pages: Arc<impl Pages>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let local = stream.local_addr()?.ip();
    let service = service_fn(move |request: Request<_>| {
        let pages = Arc::clone(&pages);
        let request = request.map(drop);
        async move { Ok::<_, Infallible>(answered(&request, local, &*pages).await) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(REQUEST).keep_alive(false);
    server.serve_connection(TokioIo::new(stream), service).await?;
    Ok(())
}

/// Returns the answer to a request that came in at a local address.
async fn answered(request: &Request<()>, local: IpAddr, pages: &impl Pages) -> Response<Body> {
    let answer = if !host::is_asked_by_own_name(request, local) {
        Answer::refusal(StatusCode::FORBIDDEN, "The Host header names no address of this machine.\n")
    } else if ![Method::GET, Method::HEAD].contains(request.method()) {
        Answer::only_read()
    } else {
        pages.answer(request.uri().path(), request.method() == Method::HEAD).await
    };
    answer.response()
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use http_body_util::BodyExt;
    use hyper::header;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// Answers with the path that was asked for.
    struct Echo;

    impl Pages for Echo {
        fn answer<'a>(&'a self, path: &'a str, _: bool) -> BoxFuture<'a, Answer> {
            async move { Answer::of("a.txt", path.to_owned()) }.boxed()
        }
    }

    async fn status(method: Method, uri: &str, host: &str) -> StatusCode {
        let request = Request::builder().method(method).uri(uri).header(header::HOST, host).body(()).unwrap();
        answered(&request, IpAddr::from([127, 0, 0, 1]), &Echo).await.status()
    }

    #[tokio::test]
    async fn only_reading_by_a_name_of_this_machine_is_answered() {
        assert_eq!(status(Method::GET, "/", "localhost:8090").await, StatusCode::OK);
        assert_eq!(status(Method::HEAD, "/", "127.0.0.1").await, StatusCode::OK);
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS, Method::CONNECT] {
            assert_eq!(status(method, "/", "localhost").await, StatusCode::METHOD_NOT_ALLOWED);
        }
        assert_eq!(status(Method::GET, "/", "evil.example").await, StatusCode::FORBIDDEN);
        let request = Request::builder().uri("/a?b=c").header(header::HOST, "localhost").body(()).unwrap();
        let answer = answered(&request, IpAddr::from([127, 0, 0, 1]), &Echo).await;
        assert_eq!(answer.headers()[header::CACHE_CONTROL], "no-store");
        assert_eq!(answer.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "/a", "without what is asked");
    }

    #[tokio::test]
    async fn long_headers_are_refused_and_headers_alone_have_no_body() {
        let listening = Listening::begin("127.0.0.1:0".parse().unwrap(), "--listen", "it").await.unwrap();
        let address = listening.address();
        listening.serve(Arc::new(Echo));
        let long = "x".repeat(20_000);
        for (request, begin, end) in [
            ("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(), "HTTP/1.1 200 ", "/a"),
            ("HEAD /a HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(), "HTTP/1.1 200 ", "\r\n\r\n"),
            (format!("GET / HTTP/1.1\r\nHost: localhost\r\nCookie: {long}\r\n\r\n"), "HTTP/1.1 431 ", ""),
            (format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"), "HTTP/1.1 4", ""),
            ("nonsense\r\n\r\n".to_owned(), "HTTP/1.1 400 ", ""),
        ] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = Vec::new();
            // The end of a refused request may be a reset.
            let _ = stream.read_to_end(&mut answer).await;
            let answer = String::from_utf8(answer).unwrap();
            assert!(answer.starts_with(begin) && answer.ends_with(end), "{request:.40} {answer}");
        }
    }
}
