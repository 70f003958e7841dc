//! A way to a server of HTTP on which some answers are lost, after the server has done what was asked.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A port on 127.0.0.1 that leads to a server.
pub(crate) struct Answers {
    pub(crate) host: String,
    shared: Arc<Shared>,
}

struct Shared {
    server: String,
    /// Of so many answers to requests that write, one is lost.
    every: usize,
    written: AtomicUsize,
    lost: AtomicUsize,
    closed: AtomicBool,
}

impl Answers {
    pub(crate) fn new(server: &str, every: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(Shared {
            server: server.to_owned(),
            every,
            written: AtomicUsize::new(0),
            lost: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if serving.closed.load(Ordering::SeqCst) {
                    return;
                }
                serve(&serving, client.unwrap());
            }
        });
        Self { host, shared }
    }

    /// The number of answers that were lost.
    pub(crate) fn lost(&self) -> usize {
        self.shared.lost.load(Ordering::SeqCst)
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::SeqCst);
        // Wakes the one that waits for clients.
        let _ = TcpStream::connect(&self.host);
    }
}

/// Joins a client to the server. A client sends no request before it has the answer to the one before.
fn serve(shared: &Arc<Shared>, client: TcpStream) {
    let Ok(server) = TcpStream::connect(&shared.server) else { return };
    let writes = Arc::new(AtomicBool::new(false));
    let (mut from_client, mut to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let noted = Arc::clone(&writes);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from_client.read(&mut buffer) {
            if [&b"PUT "[..], b"POST "].iter().any(|method| buffer[..length].starts_with(method)) {
                noted.store(true, Ordering::SeqCst);
            }
            if to_server.write_all(&buffer[..length]).is_err() {
                break;
            }
        }
        cut([&from_client, &to_server]);
    });
    let (shared, mut from_server, mut to_client) = (Arc::clone(shared), server, client);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from_server.read(&mut buffer) {
            let is_written = writes.swap(false, Ordering::SeqCst);
            if is_written && shared.written.fetch_add(1, Ordering::SeqCst) % shared.every == 0 {
                shared.lost.fetch_add(1, Ordering::SeqCst);
                break;
            }
            if to_client.write_all(&buffer[..length]).is_err() {
                break;
            }
        }
        cut([&from_server, &to_client]);
    });
}

fn cut(streams: [&TcpStream; 2]) {
    streams.into_iter().for_each(|stream| _ = stream.shutdown(Shutdown::Both));
}
