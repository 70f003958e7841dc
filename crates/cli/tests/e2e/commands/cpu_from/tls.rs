//! Hosts that are asked through TLS, and through a proxy.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::{SECRET, T0, around, ingest, readings};
use crate::support::*;

const AUTHORITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../ingest/tests/support/tls/ca.pem");
const OTHER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../ingest/tests/support/tls/other-ca.pem");

fn zabbix() -> Monitor {
    Monitor::with_tls(|asked| Zabbix { readings: around(), ..Zabbix::default() }.answer(asked))
}

fn url(monitor: &Monitor, host: &str) -> String {
    let host = monitor.host.replace("127.0.0.1", host);
    format!("zabbix+https://{host}/api_jsonrpc.php?host=sut&item=system.cpu.util")
}

/// Compares the stored readings with those of the host.
fn compare(store: &Store) {
    let own = around().into_iter().filter(|(clock, _)| (T0 - 60..=T0 + 60).contains(clock));
    let own: Vec<_> = own.map(|(clock, value)| (clock, value * 4.0)).collect();
    assert_eq!(readings(store), own);
}

#[test]
fn private_authority_is_named_by_a_file_and_nothing_is_told_to_a_host_that_is_not_trusted() {
    let (store, monitor) = (Store::embedded(), zabbix());
    for (host, flags) in [
        ("localhost", &[][..]),
        ("localhost", &["--ca-file", OTHER]),
        // Its certificate is for another name.
        ("127.0.0.1", &["--ca-file", AUTHORITY]),
    ] {
        let refused = done(ingest(&store, &url(&monitor, host), flags).env(SECRET.0, SECRET.1));
        let told = refused.complaint(3);
        assert!(told.contains("its certificate is not trusted"), "{told}");
        assert!(told.contains("--ca-file FILE"), "{told}");
    }
    assert_eq!((monitor.asked().len(), store.list().len()), (0, 0));
    let flags = ["--ca-file", AUTHORITY];
    done(ingest(&store, &url(&monitor, "localhost"), &flags).env(SECRET.0, SECRET.1)).said();
    compare(&store);
}

/// A proxy that connects as it is told, and what it was told.
fn proxy() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let told = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&told);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let log = Arc::clone(&log);
            std::thread::spawn(move || connect(client.unwrap(), &log));
        }
    });
    (host, told)
}

/// Passes on what both sides say, until one of them ends.
fn connect(client: TcpStream, log: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(client.try_clone().ok()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).ok().filter(|read| *read > 0)?;
    }
    let first = head.lines().next()?.to_owned();
    let host = first.strip_prefix("CONNECT ")?.split(' ').next()?.to_owned();
    log.lock().unwrap().push(head);
    let mut server = TcpStream::connect(host).ok()?;
    (&client).write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").ok()?;
    let (mut back, mut to_client) = (server.try_clone().ok()?, client);
    std::thread::spawn(move || std::io::copy(&mut back, &mut to_client));
    std::io::copy(&mut reader, &mut server).ok().map(drop)
}

#[test]
fn host_is_asked_through_a_proxy_that_learns_no_secret() {
    let (store, monitor) = (Store::embedded(), zabbix());
    let (proxy, told) = proxy();
    let mut command = ingest(&store, &url(&monitor, "localhost"), &["--ca-file", AUTHORITY]);
    command.env(SECRET.0, SECRET.1).env("HTTPS_PROXY", format!("http://{proxy}"));
    done(&mut command).said();
    compare(&store);
    let told = told.lock().unwrap();
    assert!(
        !told.is_empty() && told.iter().all(|head| head.contains("localhost:") && !head.contains(TOKEN)),
        "{told:?}"
    );
    let mut command = ingest(&store, &url(&monitor, "localhost"), &["--ca-file", AUTHORITY]);
    command.env(SECRET.0, SECRET.1).env("HTTPS_PROXY", "http://user:geheim@127.0.0.1:1");
    let told = done(&mut command).complaint(3);
    assert!(
        told.contains("it can't be asked through the proxy 127.0.0.1:1") && told.contains("NO_PROXY"),
        "{told}"
    );
    assert!(!told.contains("geheim"), "{told}");
}

#[test]
fn proxy_that_refuses_is_named() {
    let refusing = Monitor::new(|_| Reply::Text(407, String::new(), String::new()));
    let (store, monitor) = (Store::embedded(), zabbix());
    let mut command = ingest(&store, &url(&monitor, "localhost"), &["--ca-file", AUTHORITY]);
    let proxy = format!("http://user:geheim@{}", refusing.host);
    let told = done(command.env(SECRET.0, SECRET.1).env("HTTPS_PROXY", &proxy)).complaint(3);
    assert!(told.contains(&format!("the proxy {} refuses to connect to it", refusing.host)), "{told}");
    assert!(told.contains("407") && told.contains("HTTPS_PROXY") && !told.contains("geheim"), "{told}");
    assert_eq!(monitor.asked().len(), 0);
}
