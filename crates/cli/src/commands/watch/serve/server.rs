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
use super::told::Told;

/// The most connections at a time; others wait.
const CONNECTIONS: usize = 32;

/// The most bytes of a request.
const REQUEST: usize = 16 << 10;

/// How long a request may take to come.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a connection lasts. One that nobody reads holds no page for longer; a page that is open makes another.
const LIFE: Duration = Duration::from_secs(60);

/// Serves the page of a test.
pub(super) async fn serve(listener: TcpListener, told: Arc<Told>) {
    let free = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(place) = Arc::clone(&free).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let told = Arc::clone(&told);
                tokio::spawn(async move {
                    // Whoever ends a connection early, or never reads, has no page.
                    let _ = timeout(LIFE, talk(stream, told)).await;
                    drop(place);
                });
            }
            // Too many files are open: some will be closed.
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}

/// Answers the request of a connection.
async fn talk(stream: TcpStream, told: Arc<Told>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let local = stream.local_addr()?.ip();
    let service = service_fn(move |request| {
        let answer = answer(&request, local, &told);
        async move { Ok::<_, Infallible>(answer) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(REQUEST).keep_alive(false);
    server.serve_connection(TokioIo::new(stream), service).await?;
    Ok(())
}
