//! A private throw-away Postgres server for tests, also for root, gone with the test's process however that ends.
//!
//! Needs nothing but the standard library and `tempfile`. Set `PERFPIPE_TEST_DATABASE_URL` to use a server of your own,
//! `PERFPIPE_TEST_CITUS_URL` to use the coordinator of a Citus cluster (`.ci/citus` starts one), `PERFPIPE_PG_BIN` to say
//! where `initdb` and `postgres` are, and `PERFPIPE_REQUIRE_POSTGRES` to fail where they are missing.

#![allow(dead_code, unreachable_pub, reason = "shared by test programs, each of which uses a part")]

use std::cell::RefCell;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

#[path = "required.rs"]
pub mod required;

use required::skip;

/// A certificate and its key for a server that is to speak TLS on 127.0.0.1.
pub struct Tls {
    pub certificate: &'static str,
    pub key: &'static str,
}

/// Settings of a server whose data nobody needs after a power failure.
const NOTHING_TO_LOSE: &[&str] = &["-F", "-c", "autovacuum=off"];

/// Lets a database be made and dropped on all nodes of a cluster; elsewhere it is a setting that nothing reads.
const EVERYWHERE: &str = "set citus.enable_create_database_propagation = on";

/// How often the nodes of a new database are joined: others, who make theirs meanwhile, may write to the same catalogue.
const JOINED: u32 = 5;

/// The databases that a test has made on somebody's own server. They are dropped when its thread ends, since each keeps
/// processes of a cluster busy.
#[derive(Default)]
struct Made(Vec<(String, String)>);

thread_local! {
    static MADE: RefCell<Made> = RefCell::default();
}

impl Drop for Made {
    fn drop(&mut self) {
        for (base, name) in &self.0 {
            let drop = format!("drop database if exists {name} with (force)");
            // What is left of a database whose server has ended is its folder's.
            let _ = psql_command(base).args(["-c", EVERYWHERE, "-c", &drop]).output();
        }
    }
}

/// A server, or the way to somebody's own.
pub struct TestServer {
    own: Option<Own>,
    /// True for the coordinator of a Citus cluster.
    citus: bool,
    /// The URL of a database that is always there.
    base: String,
    databases: AtomicU32,
}

/// What there is of a server that was started here.
struct Own {
    programs: Programs,
    settings: &'static [&'static str],
    folder: tempfile::TempDir,
    process: Mutex<Option<Child>>,
    /// KiB of a file system that the server alone sees.
    small: Option<u32>,
    /// Its input is closed with this process, which tells it to stop the server.
    _guard: Child,
    port: u16,
}

#[derive(Clone)]
struct Programs {
    folder: PathBuf,
    /// Whom to run as: (uid, gid); none when this process is not root.
    user: Option<(u32, u32)>,
}

impl TestServer {
    /// The server of this test program, started by whoever asks first; `None`, with a note, where there is none.
    pub fn shared() -> Option<&'static TestServer> {
        static SERVER: OnceLock<Option<TestServer>> = OnceLock::new();
        SERVER
            .get_or_init(|| {
                let told = |name: &str| std::env::var(name).ok();
                match (told("PERFPIPE_TEST_CITUS_URL"), told("PERFPIPE_TEST_DATABASE_URL")) {
                    (Some(coordinator), _) => Some(TestServer::at(coordinator, true)),
                    (None, Some(base)) => Some(TestServer::at(base, false)),
                    (None, None) => TestServer::start(None),
                }
            })
            .as_ref()
    }

    /// A server that is no cluster: the shared one, or one beside it.
    pub fn single() -> Option<&'static TestServer> {
        static SERVER: OnceLock<Option<TestServer>> = OnceLock::new();
        match Self::shared()? {
            cluster if cluster.citus => SERVER.get_or_init(|| Self::start(None)).as_ref(),
            server => Some(server),
        }
    }

    /// A server of somebody's, or the coordinator of a Citus cluster.
    pub fn at(base: String, citus: bool) -> TestServer {
        TestServer { own: None, citus, base, databases: AtomicU32::new(0) }
    }

    /// A server of one's own, to be stopped at will; `None`, with a note, where PostgreSQL is not installed.
    pub fn start(tls: Option<Tls>) -> Option<TestServer> {
        Self::start_with(tls, NOTHING_TO_LOSE, None)
    }

    /// A server with the tablespace `small` of so many KiB; `None`, with a note, where nothing can be mounted.
    pub fn with_small_space(kib: u32) -> Option<TestServer> {
        if other_user().is_none() || !Command::new("unshare").args(["-m", "true"]).status().ok()?.success() {
            skip("MOUNT", "only root can mount a file system for a server that runs as another user");
            return None;
        }
        let server = Self::start_with(None, NOTHING_TO_LOSE, Some(kib))?;
        let path = server.own.as_ref()?.folder.path().join("small");
        server.psql(&format!("create tablespace small location '{}'", path.display()));
        Some(server)
    }

    /// A server with all settings as they are when it is installed: what it has committed is on the disk.
    pub fn durable() -> Option<TestServer> {
        Self::start_with(None, &[], None)
    }

    fn start_with(
        tls: Option<Tls>,
        settings: &'static [&'static str],
        small: Option<u32>,
    ) -> Option<TestServer> {
        let Some(programs) = Programs::find() else {
            let note = "PostgreSQL is not installed (initdb and postgres were looked for in PERFPIPE_PG_BIN, PATH and \
                        /usr/lib/postgresql/*/bin)";
            skip("POSTGRES", note);
            return None;
        };
        let folder = tempfile::Builder::new().prefix("pgtest").tempdir_in("/tmp").unwrap();
        programs.give(folder.path());
        programs.initdb(folder.path());
        let port = if tls.is_some() { free_port() } else { 5432 };
        if let Some(tls) = &tls {
            programs.configure_tls(folder.path(), tls, port);
        }
        let base = format!("postgres://postgres@{}:{port}/postgres", encoded(folder.path()));
        let guard = guard(folder.path());
        let own = Own { programs, settings, folder, process: Mutex::new(None), small, _guard: guard, port };
        own.run();
        Some(TestServer { own: Some(own), ..Self::at(base, false) })
    }

    /// The URL of a fresh database, made by `psql`.
    pub fn database(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("perfpipe_{}_{number}", std::process::id());
        if self.own.is_none() {
            MADE.with_borrow_mut(|made| made.0.push((self.base.clone(), name.clone())));
        }
        if self.citus {
            self.make_in_cluster(&name);
        } else {
            self.psql(&format!("create database {name} encoding 'UTF8' template template0"));
        }
        self.url_of(&name)
    }

    fn url_of(&self, database: &str) -> String {
        match self.base.split_once('?') {
            Some((base, query)) => format!("{}/{database}?{query}", cut_database(base)),
            None => format!("{}/{database}", cut_database(&self.base)),
        }
    }

    /// Makes a database on every node of the cluster, and lets the coordinator know the same nodes in it.
    fn make_in_cluster(&self, name: &str) {
        let output = psql_command(&self.base)
            .args(["-c", EVERYWHERE, "-c", &format!("create database {name}")])
            .output();
        assert!(output.expect("psql can be run").status.success(), "{name} can't be made in the cluster");
        let nodes = "select nodename || ':' || nodeport from pg_dist_node where groupid <> 0 order by 1";
        let nodes = self.psql(nodes);
        let coordinator = self.psql("select nodename || ':' || nodeport from pg_dist_node where groupid = 0");
        for node in nodes.lines().chain([coordinator.as_str()]) {
            let url = format!("postgres://postgres@{node}/{name}");
            psql(&url, "create extension citus");
        }
        let [host, port] = coordinator.split(':').collect::<Vec<_>>()[..] else { panic!("{coordinator}") };
        let mut sql = format!("select citus_set_coordinator_host('{host}', {port})");
        for node in nodes.lines() {
            let (host, port) = node.split_once(':').unwrap();
            sql += &format!("; select citus_add_node('{host}', {port})");
        }
        let mut join = psql_command(&self.url_of(name));
        let join = join.args(["-c", &sql]);
        let joined = (0..JOINED).any(|_| join.output().expect("psql can be run").status.success());
        assert!(joined, "the nodes of {name} can't be joined");
    }

    /// The URL of the database that is always there.
    pub fn url(&self) -> String {
        self.base.clone()
    }

    /// Runs SQL in the database that is always there, and returns what it prints, unaligned.
    pub fn psql(&self, sql: &str) -> String {
        psql(&self.base, sql)
    }

    /// The port on 127.0.0.1 of a server with TLS.
    pub fn port(&self) -> u16 {
        self.own.as_ref().expect("a server of one's own").port
    }

    /// True for the coordinator of a Citus cluster.
    pub fn is_cluster(&self) -> bool {
        self.citus
    }

    /// The socket of a server that was started here, or of a cluster's coordinator on this machine.
    pub fn socket(&self) -> Option<PathBuf> {
        if let Some(own) = &self.own {
            return Some(own.folder.path().join(format!(".s.PGSQL.{}", own.port)));
        }
        let at =
            "select current_setting('unix_socket_directories') || '/.s.PGSQL.' || current_setting('port')";
        let socket = self.citus.then(|| PathBuf::from(self.psql(at)))?;
        socket.exists().then_some(socket)
    }

    /// From its next start on, the server only follows another one, and can only be read.
    pub fn make_standby(&self) {
        let own = self.own.as_ref().expect("a server of one's own");
        let path = own.data().join("standby.signal");
        std::fs::write(&path, "").unwrap();
        own.programs.give(&path);
    }

    /// Stops the server as a power failure would.
    pub fn crash(&self) {
        let own = self.own.as_ref().expect("a server of one's own");
        let mut process = own.process.lock().unwrap().take().expect("a running server");
        signal("QUIT", process.id());
        process.wait().unwrap();
    }

    /// Starts the server again.
    pub fn restart(&self) {
        self.own.as_ref().expect("a server of one's own").run();
    }
}

/// Runs SQL in a database and returns what it prints, unaligned, without headers.
pub fn psql(url: &str, sql: &str) -> String {
    let output = psql_command(url).args(["-c", sql]).output().expect("psql can be run");
    assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// `psql` on a database, to be given SQL.
pub fn psql_command(url: &str) -> Command {
    let program = Programs::find().map_or_else(|| "psql".into(), |found| found.folder.join("psql"));
    let program = if program.exists() { program } else { "psql".into() };
    let mut command = Command::new(program);
    command.args(["-XAtqv", "ON_ERROR_STOP=1", "-d", url]);
    command
}

impl Own {
    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn run(&self) {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.folder.path().join("log"));
        let log = log.unwrap();
        let process = self
            .server()
            .arg("-D")
            .arg(self.data())
            .args(self.settings)
            .arg("-k")
            .arg(self.folder.path())
            .args(["-p", &self.port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .process_group(0)
            .spawn()
            .unwrap();
        *self.process.lock().unwrap() = Some(process);
        self.wait();
    }

    /// The server, in a namespace of mounts with a small file system where one is wanted.
    fn server(&self) -> Command {
        let (Some(kib), Some((uid, gid))) = (self.small, self.programs.user) else {
            return self.programs.command("postgres");
        };
        let folder = self.folder.path().join("small");
        std::fs::create_dir_all(&folder).unwrap();
        let script = "mount -t tmpfs -o \"$1\" perfpipe \"$2\" && shift 2 && exec setpriv \"$@\"";
        let options = format!("size={kib}k,mode=0700,uid={uid},gid={gid}");
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", script, "sh", &options]).arg(folder);
        command.args([format!("--reuid={uid}"), format!("--regid={gid}"), "--clear-groups".into()]);
        command.arg(self.programs.folder.join("postgres")).env("LC_ALL", "C").current_dir("/");
        command
    }

    /// Waits until line 8 of the server's own file says that it is ready.
    fn wait(&self) {
        let until = Instant::now() + Duration::from_secs(60);
        let ready = || {
            let text = std::fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
            text.lines().nth(7).is_some_and(|line| ["ready", "standby"].contains(&line.trim()))
        };
        while !ready() {
            let log = || std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < until, "the server did not start: {}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.lock().unwrap().take() {
            signal("QUIT", process.id());
            let _ = process.wait();
        }
    }
}

impl Programs {
    fn find() -> Option<Programs> {
        let told = std::env::var_os("PERFPIPE_PG_BIN").map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut installed: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
            .collect();
        installed.sort();
        let all = told.into_iter().chain(std::env::split_paths(&path)).chain(installed.into_iter().rev());
        let mut complete =
            all.filter(|dir| ["initdb", "postgres"].iter().all(|name| dir.join(name).is_file()));
        complete.next().map(|folder| Programs { folder, user: other_user() })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.folder.join(program));
        if let Some((uid, gid)) = self.user {
            command.uid(uid).gid(gid);
        }
        command.env("LC_ALL", "C").current_dir("/");
        command
    }

    /// Gives a file or folder to the server's user.
    fn give(&self, path: &Path) {
        if let Some((uid, gid)) = self.user {
            chown(path, Some(uid), Some(gid)).unwrap();
        }
    }

    fn initdb(&self, folder: &Path) {
        let output = self
            .command("initdb")
            .args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(folder.join("data"))
            .output()
            .unwrap();
        assert!(output.status.success(), "initdb: {}", String::from_utf8_lossy(&output.stderr));
        self.configure(folder, "listen_addresses = ''\n");
    }

    fn configure(&self, folder: &Path, lines: &str) {
        let path = folder.join("data/postgresql.conf");
        let text = std::fs::read_to_string(&path).unwrap() + "\n" + lines;
        std::fs::write(&path, text).unwrap();
    }

    /// Sockets as before, and on 127.0.0.1 TLS alone, with a password for the role `guarded`.
    fn configure_tls(&self, folder: &Path, tls: &Tls, port: u16) {
        for (name, text) in [("server.pem", tls.certificate), ("server.key", tls.key)] {
            let path = folder.join("data").join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
            self.give(&path);
        }
        self.configure(
            folder,
            &format!(
                "listen_addresses = '127.0.0.1'\nport = {port}\nssl = on\nssl_cert_file = 'server.pem'\n\
                 ssl_key_file = 'server.key'\n"
            ),
        );
        let hosts = "local all all trust\nhostssl all guarded 127.0.0.1/32 scram-sha-256\n\
                     hostssl all all 127.0.0.1/32 trust\n";
        std::fs::write(folder.join("data/pg_hba.conf"), hosts).unwrap();
    }
}

/// Of root: the user and group of `postgres`, else of `nobody`, who run what must not run as root.
pub fn other_user() -> Option<(u32, u32)> {
    let me = std::fs::metadata("/proc/self").map(|about| std::os::unix::fs::MetadataExt::uid(&about));
    if me.ok()? != 0 {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let ids = |wanted: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(wanted))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    ids("postgres").or_else(|| ids("nobody"))
}

/// A process that stops the server and removes its folder once this one has ended, even by `kill -9`.
fn guard(folder: &Path) -> Child {
    let script = "trap '' INT TERM HUP; read -r line; kill -QUIT $(head -n 1 \"$1/data/postmaster.pid\") 2>/dev/null; \
                  sleep 1; rm -rf \"$1\"";
    Command::new("sh")
        .args(["-c", script, "guard"])
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap()
}

fn signal(name: &str, process: u32) {
    let status = Command::new("sh")
        .args(["-c", "kill -\"$1\" \"$2\"", "kill", name])
        .arg(process.to_string())
        .status();
    assert!(status.unwrap().success());
}

/// A port that nobody listens on at this moment.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A folder as a URL's host.
fn encoded(folder: &Path) -> String {
    folder.to_str().unwrap().replace('/', "%2F")
}

fn cut_database(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    url[host..].find('/').map_or(url, |at| &url[..host + at])
}
