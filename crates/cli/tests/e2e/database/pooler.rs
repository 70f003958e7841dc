//! PgBouncer between perfpipe and the server, in transaction mode: sessions of the server are shared with whoever else
//! comes, so nothing may be left on them, and nothing that others left may matter.

use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use crate::postgres::{TestServer, psql};
use crate::support::*;

/// PgBouncer, stopped once it goes out of scope.
struct Pooler(Child);

impl Drop for Pooler {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Starts one whose socket is in this folder.
fn start(folder: &std::path::Path, server: &TestServer) -> Pooler {
    let socket = server.socket().expect("a server of one's own");
    let owner = std::fs::metadata(&socket).unwrap();
    let (path, to) = (folder.display(), socket.parent().unwrap().display());
    let settings = format!(
        "[databases]\n* = host={to} port=5432\n[pgbouncer]\nunix_socket_dir = {path}\nlisten_port = 6432\n\
         auth_type = trust\nauth_file = {path}/users\npool_mode = transaction\ndefault_pool_size = 4\n"
    );
    std::fs::write(folder.join("users"), "\"postgres\" \"\"\n").unwrap();
    std::fs::write(folder.join("settings"), settings).unwrap();
    chown(folder, Some(owner.uid()), Some(owner.gid())).unwrap();
    let mut command = Command::new("pgbouncer");
    command.arg(folder.join("settings")).uid(owner.uid()).gid(owner.gid()).current_dir("/");
    let child = command.stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::null()).spawn();
    let pooler = Pooler(child.expect("pgbouncer is installed"));
    wait_for("the pooler listens", || folder.join(".s.PGSQL.6432").exists());
    pooler
}

/// One of several users: each has a run of his own, and reads it again and again.
fn use_it(store: &Store, framework: &str) {
    let (log, cpu) = (fixture("Results-flaky-8181.csv"), fixture("Results-flaky-8181.cpu.csv"));
    let (log, cpu) = (log.to_str().unwrap(), cpu.to_str().unwrap());
    let key = Key::new(framework, "2048");
    for _ in 0..10 {
        store
            .run(&[
                "ingest",
                log,
                "--framework",
                framework,
                "--test",
                "2048",
                "--replace",
                "--connections",
                "3",
            ])
            .said();
        store.run(&["attach-cpu", &format!("{framework}_2048"), cpu]).said();
        for what in ["samples", "seconds", "errors", "rejects"] {
            store.export(&key, what, "csv", &[]);
        }
        assert!(store.keys().contains(&format!("{framework} 2048")));
    }
    store.run(&["drop", "--framework", framework, "--test", "2048"]).said();
}

#[test]
#[ignore = "it needs pgbouncer, and some minutes: .ci/long pgbouncer"]
fn pooler_in_transaction_mode_changes_nothing_and_keeps_nothing() {
    let server = TestServer::start(None).unwrap();
    let direct = server.database();
    let name = psql(&direct, "select current_database()");
    for limit in ["lock_timeout = '77s'", "statement_timeout = '78s'", "search_path = public"] {
        psql(&direct, &format!("alter database {name} set {limit}"));
    }
    let folder = tempfile::Builder::new().prefix("pooler").tempdir_in("/tmp").unwrap();
    let _pooler = start(folder.path(), &server);
    let url = format!("host={} port=6432 user=postgres dbname={name}", folder.path().display());
    // What clients leave that were killed.
    for number in 0..8 {
        psql(&url, &format!("prepare s{number} as select 1"));
    }
    std::thread::scope(|scope| {
        for framework in ["go", "nio", "spring"] {
            let flag = ["--database".into(), url.clone()];
            let store = Store::at(flag);
            scope.spawn(move || use_it(&store, framework));
        }
    });
    for _ in 0..20 {
        for (setting, value) in
            [("lock_timeout", "77s"), ("statement_timeout", "78s"), ("search_path", "public")]
        {
            assert_eq!(psql(&url, &format!("show {setting}")), value);
        }
        assert_eq!(psql(&url, "show row_security"), "on");
    }
}
