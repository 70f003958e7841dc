//! The server: few connections, small requests, one answer each.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::answer::answer;
use super::latest_page::LatestPage;

/// The most connections at a time; others wait.
const CONNECTIONS: usize = 32;

/// The most bytes of a request.
const REQUEST: usize = 16 << 10;

/// How long a request may take to arrive.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a connection lasts. One that nobody reads keeps no page for longer; an open page connects again.
const LIFE: Duration = Duration::from_secs(60);

/// Serves the page of a test.
pub(super) async fn serve(listener: TcpListener, latest: Arc<LatestPage>) {
    let free = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(place) = Arc::clone(&free).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let latest = Arc::clone(&latest);
                tokio::spawn(async move {
                    // A client that ends its connection early, or never reads, gets no page.
                    let _ = timeout(LIFE, talk(stream, latest)).await;
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
    latest: Arc<LatestPage>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let local = stream.local_addr()?.ip();
    let service = service_fn(move |request| {
        let answer = answer(&request, local, &latest);
        async move { Ok::<_, Infallible>(answer) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(REQUEST).keep_alive(false);
    server.serve_connection(TokioIo::new(stream), service).await?;
    Ok(())
}
