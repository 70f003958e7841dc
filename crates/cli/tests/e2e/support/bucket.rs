//! A server of buckets for the tests: moto, which answers as S3 does.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::command::wait_for;
use crate::postgres::required::skip;

/// A server that runs until the tests end.
pub(crate) struct BucketServer {
    host: String,
    buckets: AtomicU32,
    /// The end of its standard input ends the server.
    _process: Child,
}

impl BucketServer {
    /// The server of this test program; `None`, with a note, where there is none.
    pub(crate) fn shared() -> Option<&'static Self> {
        static SERVER: OnceLock<Option<BucketServer>> = OnceLock::new();
        SERVER.get_or_init(Self::start).as_ref()
    }

    fn start() -> Option<Self> {
        let is_there =
            Command::new("moto_server").arg("--help").output().is_ok_and(|done| done.status.success());
        if !is_there {
            skip("BUCKET", "moto is not installed (pip install 'moto[server]')");
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let script = "moto_server -H 127.0.0.1 -p $0 >/dev/null 2>&1 & read -r _; kill $!";
        let mut command = Command::new("sh");
        command.args(["-c", script, &port.to_string()]).stdin(Stdio::piped());
        let process = command.spawn().unwrap();
        let host = format!("127.0.0.1:{port}");
        wait_for("the server of buckets answers", || TcpStream::connect(&host).is_ok());
        Some(Self { host, buckets: AtomicU32::new(0), _process: process })
    }

    /// Makes a bucket, and returns its name.
    pub(crate) fn new_bucket(&self) -> String {
        let name = format!("bucket-{}", self.buckets.fetch_add(1, Ordering::Relaxed));
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let host = &self.host;
        write!(
            stream,
            "PUT /{name} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        name
    }

    /// What a client needs to know.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        bucket_environment(&self.host)
    }
}

/// What a client of a server on this machine needs to know.
pub(crate) fn bucket_environment(host: &str) -> Vec<(&'static str, String)> {
    vec![
        ("AWS_ENDPOINT", format!("http://{host}")),
        ("AWS_ALLOW_HTTP", "true".to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
        ("AWS_ACCESS_KEY_ID", "key-of-the-tests".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "secret-of-the-tests".to_owned()),
    ]
}
