//! A host on loopback that answers as Zabbix or Prometheus do, or as none should.

mod prometheus;
mod zabbix;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;

pub(crate) use self::prometheus::{Prometheus, prometheus};
pub(crate) use self::zabbix::Zabbix;

/// The certificate of `localhost` and its key, by an authority that no system trusts.
const CERTIFICATE: &[u8] = include_bytes!("../../../../../ingest/tests/support/tls/server.pem");
const KEY: &[u8] = include_bytes!("../../../../../ingest/tests/support/tls/server.key");

/// A request, as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The method, path and query.
    pub(crate) line: String,
    pub(crate) authorization: Option<String>,
    pub(crate) body: String,
}

impl Asked {
    /// A number in the query.
    pub(crate) fn number(&self, name: &str) -> i64 {
        let (_, rest) = self.line.split_once(&format!("&{name}=")).unwrap();
        rest.split(['&', ' ']).next().unwrap().parse().unwrap()
    }
}

/// What is answered.
pub(crate) enum Reply {
    /// A status, further header lines and a body.
    Text(u16, String, String),
    /// Nothing, for as long as the client waits.
    Nothing,
    /// A body without an end.
    Endless,
}

impl Reply {
    pub(crate) fn json(body: Value) -> Self {
        Self::Text(200, String::new(), body.to_string())
    }
}

/// A host that runs until the tests end.
pub(crate) struct Monitor {
    /// Its address and port.
    pub(crate) host: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Monitor {
    /// A host that answers by this function.
    pub(crate) fn new(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        Self::through(Some, answer)
    }

    /// A host that answers through TLS.
    pub(crate) fn with_tls(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let certificates = CertificateDer::pem_slice_iter(CERTIFICATE).collect::<Result<_, _>>().unwrap();
        let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(certificates, key)
            .unwrap();
        let config = Arc::new(config);
        let accept =
            move |client| Some(StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), client));
        Self::through(accept, answer)
    }

    /// A host whose connections pass through something.
    fn through<S: Read + Write>(
        accept: impl Fn(TcpStream) -> Option<S> + Send + Sync + 'static,
        answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answer, accept, log) = (Arc::new(answer), Arc::new(accept), Arc::clone(&asked));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (answer, accept, log) = (Arc::clone(&answer), Arc::clone(&accept), Arc::clone(&log));
                std::thread::spawn(move || serve(accept(client.unwrap())?, &*answer, &log));
            }
        });
        Self { host, asked }
    }

    /// All requests so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

/// Answers one request; a client that goes away in between is no fault.
fn serve(client: impl Read + Write, answer: &dyn Fn(&Asked) -> Reply, log: &Mutex<Vec<Asked>>) -> Option<()> {
    let mut reader = BufReader::new(client);
    let (mut line, mut length, mut authorization) = (String::new(), 0, None);
    reader.read_line(&mut line).ok()?;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        match name.to_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => authorization = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let asked =
        Asked { line: line.trim_end().to_owned(), authorization, body: String::from_utf8(body).ok()? };
    log.lock().unwrap().push(asked.clone());
    let reply = answer(&asked);
    if matches!(reply, Reply::Nothing) {
        return reader.read_to_end(&mut Vec::new()).ok().map(drop);
    }
    let client = reader.get_mut();
    match reply {
        Reply::Text(status, headers, body) => {
            let length = body.len();
            write!(
                client,
                "HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            )
            .and_then(|()| client.flush())
            .ok()
        }
        Reply::Nothing => None,
        Reply::Endless => {
            write!(client, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n").ok()?;
            while client.write_all(&[b' '; 4096]).is_ok() {}
            None
        }
    }
}

/// The secret that both systems accept.
pub(crate) const TOKEN: &str = "5e0f3c5b9d6a4e1f8b7c2d1a0f9e8d7c";

/// A secret that both systems accepted until it expired.
pub(crate) const EXPIRED: &str = "00112233445566778899aabbccddeeff";
