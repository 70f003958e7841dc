//! No password is printed or stored, wherever it comes from and whatever becomes of the command.

use std::path::Path;
use std::process::Command;

use crate::postgres::{TestServer, Tls, psql};
use crate::support::*;

const SECRET: &str = "hunter2-geheim";

const TLS: Tls = Tls {
    certificate: include_str!("../../../../ingest/tests/support/tls/server.pem"),
    key: include_str!("../../../../ingest/tests/support/tls/server.key"),
};

/// How a command may come to know a password.
enum Way {
    Flag(String),
    Variables(Vec<(&'static str, String)>),
}

impl Way {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = perfpipe();
        match self {
            Self::Flag(url) => command.args(arguments).args(["--database", url]),
            Self::Variables(variables) => command.args(arguments).envs(variables.iter().map(|(k, v)| (k, v))),
        };
        command
    }

    fn run(&self, arguments: &[&str]) -> Done {
        done(&mut self.command(arguments))
    }
}

/// What a command said, in which there must be no password.
fn said(done: &Done) -> String {
    let all = format!("{}{}", String::from_utf8_lossy(&done.out), done.err);
    assert!(!all.contains("hunter") && !all.contains("geheim"), "{all}");
    all
}

/// The ways to give a password, the folder for its file, the port of a server that asks for one.
fn ways(folder: &Path, port: u16, password: &str) -> Vec<Way> {
    let bare = format!("postgres://guarded@127.0.0.1:{port}/guarded?sslmode=require");
    let url = bare.replace("guarded@", &format!("guarded:{password}@"));
    let pairs = format!("host=127.0.0.1 port={port} user=guarded dbname=guarded password={password}");
    let file = folder.join("pgpass");
    std::fs::write(&file, format!("*:*:*:guarded:{password}\n")).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let file = file.to_str().unwrap().to_owned();
    vec![
        Way::Flag(url.clone()),
        Way::Flag(pairs),
        Way::Variables(vec![("PERFPIPE_DATABASE_URL", url)]),
        Way::Variables(vec![("PERFPIPE_DATABASE_URL", bare.clone()), ("PGPASSWORD", password.to_owned())]),
        Way::Variables(vec![("PERFPIPE_DATABASE_URL", bare), ("PGPASSFILE", file)]),
    ]
}

#[test]
fn password_is_neither_printed_nor_stored() {
    let Some(server) = TestServer::start(Some(TLS)) else { return };
    server.psql(&format!("create role guarded login password '{SECRET}'"));
    server.psql("create database guarded owner guarded");
    let folder = tempfile::tempdir().unwrap();
    let log = fixture("crlf.csv");
    let log = log.to_str().unwrap();
    for way in ways(folder.path(), server.port(), SECRET) {
        let key = ["--framework", "nio", "--test", "2048"];
        for arguments in [&["ingest", log][..], &["export"], &["drop"], &["ingest", log]] {
            let done = way.run(&[arguments, &key].concat());
            assert_eq!(done.code, Some(0), "{}", said(&done));
            said(&done);
        }
        let failing: [(&[&str], i32); 5] = [
            (&["ingest", "nowhere.zip"], 1),
            (&["export", "--framework", "none", "--test", "none"], 1),
            (&["ingest", log, "--framework", ""], 2),
            (&["list", "--nonsense"], 2),
            (&["nonsense"], 2),
        ];
        for (arguments, code) in failing {
            let done = way.run(arguments);
            assert_eq!(done.code, Some(code), "{}", said(&done));
            said(&done);
        }
        for arguments in [&["list"][..], &["--help"], &["ingest", "--help"], &["list", "--help"]] {
            assert_eq!(way.run(arguments).code, Some(0));
            said(&way.run(arguments));
        }
    }
    let stored = "select string_agg(r::text, '') from perfpipe.runs r";
    let stored = psql(&server.url().replace("/postgres", "/guarded"), stored);
    assert!(stored.contains("crlf.csv") && !stored.contains("hunter"), "{stored}");
}

#[test]
fn wrong_password_is_told_without_showing_it() {
    let Some(server) = TestServer::start(Some(TLS)) else { return };
    server.psql("create role guarded login password 'another'");
    let folder = tempfile::tempdir().unwrap();
    for way in ways(folder.path(), server.port(), SECRET) {
        let told = said(&way.run(&["list"]));
        assert!(told.contains("password authentication failed") && told.contains("127.0.0.1"), "{told}");
    }
    for (url, code) in [
        (format!("postgres://u:{SECRET}%zz@h/d"), 2),
        (format!("postgres://u:{SECRET}@h/d?nonsense=1"), 2),
        (format!("postgres://u:{SECRET}@h/d?sslmode=nonsense"), 2),
        (format!("host=/nowhere user=u password='{SECRET}"), 2),
        (format!("host=/nowhere user=u dbname=d password={SECRET}"), 1),
    ] {
        let done = Way::Flag(url).run(&["list"]);
        assert_eq!(done.code, Some(code), "{}", said(&done));
        said(&done);
    }
}

#[test]
fn password_in_the_environment_does_not_reach_a_folder() {
    let store = Store::embedded();
    let log = fixture("crlf.csv");
    let mut command =
        store.command(&["ingest", log.to_str().unwrap(), "--framework", "nio", "--test", "2048"]);
    let url = format!("postgres://u:{SECRET}@127.0.0.1:1/d");
    command.envs([("PGPASSWORD", SECRET), ("PERFPIPE_DATABASE_URL", &url)]);
    let done = done(&mut command);
    assert_eq!(done.code, Some(0), "{}", said(&done));
    said(&done);
    let mut folders = vec![Path::new(store.place()).to_owned()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(6).any(|bytes| bytes == b"hunter"), "{}", path.display());
        }
    }
    assert!(files >= 6);
}
