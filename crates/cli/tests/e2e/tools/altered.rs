//! A way to a server of HTTP that changes requests and answers.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;

/// What becomes of a request and its answer.
pub(crate) enum Change {
    /// Both are passed on.
    Nothing,
    /// The server is not told that the object must not exist yet.
    Unconditional,
    /// The server does what it is asked, and the answer is lost.
    Lost,
    /// The server is not asked, and access is denied.
    Denied,
    /// The answer has no body.
    Empty,
}

/// A port on 127.0.0.1 that leads to a server, until the tests end.
pub(crate) struct Altered {
    pub(crate) host: String,
}

impl Altered {
    /// A way on which `change` decides by the first line of a request.
    pub(crate) fn new(server: &str, change: impl Fn(&str) -> Change + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let (server, change) = (server.to_owned(), Arc::new(change));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (server, change) = (server.clone(), Arc::clone(&change));
                std::thread::spawn(move || serve(client.ok()?, &server, &*change));
            }
        });
        Self { host }
    }
}

/// Passes one request on, after which the client begins another connection.
fn serve(mut client: TcpStream, server: &str, change: &dyn Fn(&str) -> Change) -> Option<()> {
    let (head, mut body) = head_of(&mut client)?;
    let mut lines: Vec<&str> = head.split("\r\n").filter(|line| !line.is_empty()).collect();
    let change = change(lines.first()?);
    let is_header = |line: &str, name: &str| line.to_lowercase().starts_with(name);
    let length = lines.iter().find(|line| is_header(line, "content-length:"));
    let length: usize = length.map_or(Some(0), |line| line.split_once(':')?.1.trim().parse().ok())?;
    let mut rest = vec![0; length - body.len()];
    client.read_exact(&mut rest).ok()?;
    body.append(&mut rest);
    lines.retain(|line| !is_header(line, "connection:"));
    if matches!(change, Change::Unconditional) {
        lines.retain(|line| !is_header(line, "if-none-match:"));
    }
    let answer = match change {
        Change::Denied => {
            let body = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>";
            format!("HTTP/1.1 403 X\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
        }
        _ => asked(server, &lines, &body)?,
    };
    match change {
        Change::Lost => {}
        Change::Empty => client.write_all(b"HTTP/1.1 200 X\r\nETag: \"x\"\r\nLast-Modified: Sat, 28 Nov 2026 10:00:00 GMT\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").ok()?,
        _ => client.write_all(&answer).ok()?,
    }
    client.shutdown(Shutdown::Both).ok()
}

/// Returns the head of a request, and what came of its body with it.
fn head_of(client: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut read = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            let body = read.split_off(end + 4);
            return Some((String::from_utf8(read).ok()?, body));
        }
        let length = client.read(&mut buffer).ok().filter(|length| *length > 0)?;
        read.extend_from_slice(&buffer[..length]);
    }
}

/// Asks the server, and returns its whole answer.
fn asked(server: &str, lines: &[&str], body: &[u8]) -> Option<Vec<u8>> {
    let mut server = TcpStream::connect(server).ok()?;
    let head = format!("{}\r\nConnection: close\r\n\r\n", lines.join("\r\n"));
    server.write_all(&[head.as_bytes(), body].concat()).ok()?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).ok()?;
    Some(answer)
}
