//! The address of the database and how to connect: a connection string, completed in the same way as by libpq, with the
//! password from `.pgpass` if the string has none.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_postgres::config::{ChannelBinding, TargetSessionAttrs};

use super::settings::{self, KeepaliveSettings, Settings, bad};
use super::tls::{SslMode, TrustRoots};
use perfpipe_model::error::secrets::Secrets;
use perfpipe_model::error::{Error, ErrorKind, Result};

/// A function that returns the value of an environment variable.
type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

const DEFAULT_PORT: u16 = 5432;

/// Settings with the environment variables that complete them.
const VARIABLES: [(&str, &str); 14] = [
    ("host", "PGHOST"),
    ("hostaddr", "PGHOSTADDR"),
    ("port", "PGPORT"),
    ("user", "PGUSER"),
    ("password", "PGPASSWORD"),
    ("dbname", "PGDATABASE"),
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("passfile", "PGPASSFILE"),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
    ("options", "PGOPTIONS"),
    ("application_name", "PGAPPNAME"),
    ("target_session_attrs", "PGTARGETSESSIONATTRS"),
    ("channel_binding", "PGCHANNELBINDING"),
];

/// Settings without an environment variable.
const OTHER_SETTINGS: [&str; 8] = [
    "fallback_application_name",
    "client_encoding",
    "gssencmode",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_count",
    "tcp_user_timeout",
];

/// The resolved connection settings. Neither `Debug` nor any error shows a password.
#[derive(Clone)]
pub struct PostgresConfig {
    pub(crate) servers: Vec<ServerAddress>,
    pub(crate) user: String,
    pub(crate) database: String,
    pub(crate) application: String,
    pub(crate) options: Option<String>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) ssl: SslMode,
    pub(crate) roots: TrustRoots,
    pub(crate) attributes: TargetSessionAttrs,
    pub(crate) binding: ChannelBinding,
    pub(crate) alive: KeepaliveSettings,
    pub(crate) spread: CopySpread,
    /// Where samples lie on a cluster, if that was given.
    pub(crate) placement: Option<Placement>,
    notes: Vec<String>,
}

/// How a run's samples are spread over several connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CopySpread {
    /// The maximum number of connections.
    pub(crate) connections: usize,
    /// The number of samples that are sent on one before it is the next one's turn.
    pub(crate) stripe: u64,
}

impl CopySpread {
    /// A single connection, so that all samples are in one table.
    fn none() -> Self {
        Self { connections: 1, stripe: 4096 }
    }
}

/// A server to try, with its password.
#[derive(Clone)]
pub(crate) struct ServerAddress {
    /// A name, an address, or the folder of a socket.
    pub(crate) host: String,
    pub(crate) address: Option<std::net::IpAddr>,
    pub(crate) port: u16,
    pub(crate) password: Option<String>,
}

impl PostgresConfig {
    /// Resolves a connection string in the same way as libpq. It is a URL or `key=value` pairs; any part may be
    /// omitted, and it may be empty. Missing settings are taken from `PG*` variables, which `environment` returns, and
    /// from `.pgpass`, or else are libpq's defaults.
    ///
    /// ```
    /// # mod perfpipe_ingest { pub use perfpipe_model::{Error, Result}; pub mod store { pub use perfpipe_store::postgres; } }
    /// use perfpipe_ingest::store::postgres::PostgresConfig;
    /// let environment = |name: &str| (name == "PGUSER").then(|| "ann".to_owned());
    /// let config = PostgresConfig::resolve("postgres://db.example/load", &environment)?;
    /// assert_eq!(config.to_string(), "postgres://ann@db.example:5432/load");
    /// # Ok::<(), perfpipe_ingest::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a setting is unknown or invalid.
    pub fn resolve(dsn: &str, environment: Environment<'_>) -> Result<Self> {
        let mut settings = settings::parse(dsn)?;
        complete(&mut settings, environment);
        check_known(&settings)?;
        let home = environment("HOME").map(PathBuf::from);
        let user = match settings.remove("user") {
            Some(user) => user,
            None => os_user(environment)?,
        };
        let database = settings.remove("dbname").unwrap_or_else(|| user.clone());
        let (passfile, note) = passfile(&settings, home.as_deref());
        let (ssl, roots) = super::tls::resolve(&settings, home.as_deref())?;
        let mut servers = servers(&settings)?;
        for server in &mut servers {
            server.password = password(&settings, &passfile, server, &database, &user);
        }
        Ok(Self {
            servers,
            user,
            database,
            application: application(&settings),
            options: settings.get("options").cloned(),
            timeout: timeout(&settings)?,
            ssl,
            roots,
            attributes: attributes(&settings)?,
            binding: binding(&settings)?,
            alive: KeepaliveSettings::resolve(&settings)?,
            spread: CopySpread::none(),
            placement: None,
            notes: note.into_iter().collect(),
        })
    }

    /// Sets the number of connections on which samples are sent, by default one. With more, a run's samples lie in as
    /// many tables, which its own one is read with. If the server has fewer to give, fewer are used.
    #[must_use]
    pub fn with_connections(mut self, connections: u16) -> Self {
        self.spread = CopySpread { connections: connections.into(), ..self.spread };
        self
    }

    /// Sets the number of samples that are sent on one connection before it is the next one's turn.
    #[doc(hidden)]
    #[must_use]
    pub fn with_stripe(mut self, samples: u64) -> Self {
        self.spread.stripe = samples.max(1);
        self
    }

    /// Sets where the samples of new runs lie on the nodes of a Citus cluster, by default where those of the run are that
    /// is replaced. On a server that is no cluster, storing a run is an error then.
    #[must_use]
    pub fn with_placement(mut self, placement: Placement) -> Self {
        self.placement = Some(placement);
        self
    }

    /// The passwords of all servers, which no text may show.
    pub fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        self.servers.iter().filter_map(|server| server.password.as_ref()).for_each(|one| secrets.add(one));
        secrets
    }

    /// Notes for the user on how the settings were found, as sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl fmt::Display for PostgresConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers: Vec<String> = self.servers.iter().map(ServerAddress::to_string).collect();
        write!(f, "postgres://{}@{}/{}", self.user, servers.join(","), self.database)
    }
}

impl fmt::Debug for PostgresConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresConfig({self}, {:?}, {:?})", self.ssl, self.roots)
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl ServerAddress {
    /// Returns true if the server is reached by a socket in a folder.
    pub(crate) fn is_socket(&self) -> bool {
        self.address.is_none() && self.host.starts_with('/')
    }
}

fn complete(settings: &mut Settings, environment: Environment<'_>) {
    for (name, variable) in VARIABLES {
        if settings.get(name).is_some_and(|text| !text.is_empty()) {
            continue;
        }
        settings.remove(name);
        if let Some(text) = environment(variable).filter(|text| !text.is_empty()) {
            settings.insert(name.to_owned(), text);
        }
    }
}

fn check_known(settings: &Settings) -> Result<()> {
    let known =
        |name: &str| VARIABLES.iter().any(|(known, _)| *known == name) || OTHER_SETTINGS.contains(&name);
    if let Some(name) = settings.keys().find(|name| !known(name)) {
        return Err(bad(name, "is not known to perfpipe", "Leave it out, or check its spelling."));
    }
    if settings.get("gssencmode").is_some_and(|mode| mode == "require") {
        return Err(bad(
            "gssencmode",
            "asks for GSSAPI, which perfpipe lacks",
            "Encrypt with sslmode=verify-full.",
        ));
    }
    Ok(())
}

fn os_user(environment: Environment<'_>) -> Result<String> {
    ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| environment(name)).ok_or_else(|| {
        Error::usage(
            ErrorKind::DatabaseUser,
            "the database URL names no user, and the environment has none",
            "Put it into the URL, as in postgres://USER@HOST/DATABASE, or set PGUSER.",
        )
    })
}

fn passfile(settings: &Settings, home: Option<&Path>) -> (Passfile, Option<String>) {
    let given = settings.get("passfile").map(PathBuf::from);
    match given.or_else(|| home.map(|home| home.join(".pgpass"))) {
        Some(path) => Passfile::load(&path),
        None => Default::default(),
    }
}

fn password(
    settings: &Settings,
    passfile: &Passfile,
    server: &ServerAddress,
    database: &str,
    user: &str,
) -> Option<String> {
    let login = PassfileLogin { host: &server.host, port: server.port, database, user };
    settings.get("password").cloned().or_else(|| passfile.password(login).map(str::to_owned))
}

fn application(settings: &Settings) -> String {
    let given = settings.get("application_name").or_else(|| settings.get("fallback_application_name"));
    given.cloned().unwrap_or_else(|| "perfpipe".into())
}

/// Returns the servers to try in order, one for each host or address.
fn servers(settings: &Settings) -> Result<Vec<ServerAddress>> {
    let list = |name: &str| settings.get(name).map(|text| text.split(',').collect::<Vec<_>>());
    let addresses = list("hostaddr").unwrap_or_default();
    let hosts = list("host").unwrap_or_else(|| vec![""; addresses.len().max(1)]);
    if !addresses.is_empty() && addresses.len() != hosts.len() {
        return Err(bad(
            "hostaddr",
            "has another number of entries than host",
            "Give one address for each host.",
        ));
    }
    let ports = ports(list("port").unwrap_or_default(), hosts.len())?;
    let one = |(at, (host, port)): (usize, (&str, u16))| {
        let address = addresses.get(at).filter(|text| !text.is_empty()).map(|text| {
            text.parse().map_err(|_| bad("hostaddr", "is not an IP address", "Give names in host."))
        });
        let address: Option<std::net::IpAddr> = address.transpose()?;
        let host = match (host, address) {
            ("", Some(address)) => address.to_string(),
            ("", None) => default_host(port),
            (host, _) => host.to_owned(),
        };
        Ok(ServerAddress { host, address, port, password: None })
    };
    hosts.into_iter().zip(ports).enumerate().map(one).collect()
}

/// Returns the port of each host. One port may be given for all hosts, or one for each; an empty one is the default.
fn ports(texts: Vec<&str>, hosts: usize) -> Result<Vec<u16>> {
    let number = |text: &&str| match *text {
        "" => Ok(DEFAULT_PORT),
        text => text
            .trim()
            .parse()
            .map_err(|_| bad("port", "is not a number from 0 to 65535", "The usual one is 5432.")),
    };
    let ports = texts.iter().map(number).collect::<Result<Vec<u16>>>()?;
    match ports.as_slice() {
        [] => Ok(vec![DEFAULT_PORT; hosts]),
        [one] => Ok(vec![*one; hosts]),
        _ if ports.len() == hosts => Ok(ports),
        _ => Err(bad(
            "port",
            "has another number of entries than host",
            "Give one port, or one for each host.",
        )),
    }
}

/// Returns the folder of the local server's socket if there is one, otherwise `localhost`.
fn default_host(port: u16) -> String {
    let socket = |folder: &&&str| Path::new(folder).join(format!(".s.PGSQL.{port}")).exists();
    SOCKET_FOLDERS.iter().find(socket).map_or_else(|| "localhost".into(), |folder| (*folder).to_owned())
}

fn timeout(settings: &Settings) -> Result<Option<Duration>> {
    let Some(text) = settings.get("connect_timeout") else { return Ok(None) };
    let seconds: i64 = text
        .trim()
        .parse()
        .map_err(|_| bad("connect_timeout", "is not a whole number of seconds", "0 waits for ever."))?;
    Ok(u64::try_from(seconds).ok().filter(|seconds| *seconds > 0).map(Duration::from_secs))
}

fn attributes(settings: &Settings) -> Result<TargetSessionAttrs> {
    match settings.get("target_session_attrs").map_or("any", String::as_str) {
        "any" => Ok(TargetSessionAttrs::Any),
        "read-write" | "primary" => Ok(TargetSessionAttrs::ReadWrite),
        "read-only" | "standby" => Ok(TargetSessionAttrs::ReadOnly),
        _ => Err(bad(
            "target_session_attrs",
            "is not known to perfpipe",
            "It can be any, read-write, read-only, primary or standby.",
        )),
    }
}

fn binding(settings: &Settings) -> Result<ChannelBinding> {
    match settings.get("channel_binding").map_or("prefer", String::as_str) {
        "disable" => Ok(ChannelBinding::Disable),
        "prefer" => Ok(ChannelBinding::Prefer),
        "require" => Ok(ChannelBinding::Require),
        _ => Err(bad("channel_binding", "is unknown", "It can be disable, prefer or require.")),
    }
}

/// The usual folders of server sockets. The password file lists them as `localhost`.
pub(crate) const SOCKET_FOLDERS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// The entries of the password file `.pgpass`: passwords by host, port, database and user.
#[derive(Default, Clone)]
pub(crate) struct Passfile {
    entries: Vec<[String; 5]>,
}

/// The connection that a password is looked up for.
#[derive(Clone, Copy)]
pub(crate) struct PassfileLogin<'a> {
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    pub(crate) database: &'a str,
    pub(crate) user: &'a str,
}

/// The maximum size of a password file, in bytes.
const LARGEST: u64 = 1 << 20;

impl Passfile {
    /// Reads a password file. A missing file is empty. An unusable one is skipped, with a note.
    fn load(path: &Path) -> (Self, Option<String>) {
        let Ok(about) = std::fs::metadata(path) else { return Default::default() };
        let text = if !about.is_file() {
            Err("it is not a plain file".to_owned())
        } else if open_to_others(&about) {
            Err("others than its owner may read it (chmod 0600 helps)".to_owned())
        } else if about.len() > LARGEST {
            Err(format!("it is larger than {} MiB", LARGEST >> 20))
        } else {
            std::fs::read(path).map_err(|e| e.to_string())
        };
        match text {
            Ok(text) => (Self::parse(&String::from_utf8_lossy(&text)), None),
            Err(why) => {
                (Self::default(), Some(format!("the password file {} was ignored: {why}", path.display())))
            }
        }
    }

    /// Parses entries of the form `host:port:database:user:password`, in which `:` and `\` are escaped by `\`.
    pub(crate) fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        Self { entries: lines.filter_map(|line| split_line(line).try_into().ok()).collect() }
    }

    /// Returns the password of the first matching line.
    pub(crate) fn password(&self, login: PassfileLogin<'_>) -> Option<&str> {
        let port = login.port.to_string();
        let wanted = [passfile_host(login.host), &port, login.database, login.user];
        self.entries.iter().find_map(|[h, p, d, u, password]| {
            let fits = [h, p, d, u].into_iter().zip(wanted).all(|(has, wanted)| has == "*" || has == wanted);
            fits.then_some(password.as_str())
        })
    }
}

/// Returns `localhost` for sockets in a usual folder, as libpq does.
fn passfile_host(host: &str) -> &str {
    if SOCKET_FOLDERS.contains(&host) { "localhost" } else { host }
}

/// Splits a line into its fields. The password is everything after the fourth colon.
fn split_line(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        let c = match c {
            ':' if fields.len() < 5 => {
                fields.push(String::new());
                continue;
            }
            '\\' => rest.next().unwrap_or('\\'),
            c => c,
        };
        fields.last_mut().into_iter().for_each(|field| field.push(c));
    }
    fields
}

#[cfg(unix)]
fn open_to_others(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    about.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn open_to_others(_: &std::fs::Metadata) -> bool {
    false
}

/// The place of a run's samples on a Citus cluster. By default they are whole on one node, in rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placement {
    /// True if they are dealt out over all nodes by their second, for a run that is beyond one node.
    pub by_second: bool,
    /// True if they are stored in columns, which takes less space. The cluster needs the extension `citus_columnar`.
    pub columnar: bool,
}

impl Placement {
    /// Deals samples out over all nodes by their second.
    #[must_use]
    pub fn with_seconds_apart(mut self) -> Self {
        self.by_second = true;
        self
    }

    /// Stores samples in columns.
    #[must_use]
    pub fn with_columns(mut self) -> Self {
        self.columnar = true;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(dsn: &str, variables: &[(&str, &str)]) -> Result<PostgresConfig> {
        let look_up = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, text)| (*text).to_owned())
        };
        PostgresConfig::resolve(dsn, &look_up)
    }

    #[test]
    fn url_comes_before_the_environment_and_that_before_the_defaults() {
        let all =
            [("PGHOST", "env"), ("PGPORT", "1"), ("PGUSER", "eve"), ("PGDATABASE", "edb"), ("USER", "os")];
        assert_eq!(resolve("postgres://u@h:2/d", &all).unwrap().to_string(), "postgres://u@h:2/d");
        assert_eq!(resolve("", &all).unwrap().to_string(), "postgres://eve@env:1/edb");
        let config = resolve("host=h", &[("USER", "os"), ("PGPORT", "")]).unwrap();
        assert_eq!(config.to_string(), "postgres://os@h:5432/os");
    }

    #[test]
    fn several_hosts_share_a_port_or_have_one_each() {
        let shown = |dsn| resolve(dsn, &[("USER", "u")]).unwrap().to_string();
        assert_eq!(shown("host=a,b port=7"), "postgres://u@a:7,b:7/u");
        assert_eq!(shown("postgres://a:7,[::1]"), "postgres://u@a:7,[::1]:5432/u");
        assert!(resolve("host=a,b,c port=1,2", &[("USER", "u")]).is_err());
    }

    #[test]
    fn each_server_has_the_password_of_its_own_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "a:1:d:u:one\nb:*:*:*:two\n").unwrap();
        let path = file.path().to_str().unwrap();
        let config = resolve("postgres://u@a:1,b:2,c/d", &[("PGPASSFILE", path)]).unwrap();
        let found: Vec<Option<&str>> = config.servers.iter().map(|s| s.password.as_deref()).collect();
        assert_eq!(found, [Some("one"), Some("two"), None]);
        let given = resolve("postgres://u@a:1/d", &[("PGPASSFILE", path), ("PGPASSWORD", "env")]).unwrap();
        assert_eq!(given.servers[0].password.as_deref(), Some("env"));
    }

    #[test]
    fn unknown_settings_are_named_and_passwords_never_shown() {
        let error = resolve("postgres://u:hunter2@h/d?sslcert=x", &[]).unwrap_err();
        assert!(error.to_string().contains("sslcert"), "{error}");
        let config = resolve("postgres://u:hunter2@h/d", &[]).unwrap();
        assert!(!format!("{config} {config:?} {error:?}").contains("hunter2"));
    }

    #[test]
    fn numbers_that_are_none_are_told() {
        for dsn in ["host=h port=x", "host=h port=70000", "host=h connect_timeout=soon", "hostaddr=name"] {
            assert!(resolve(dsn, &[("USER", "u")]).is_err(), "{dsn}");
        }
        assert!(resolve("host=h", &[]).unwrap_err().remedy().unwrap().contains("PGUSER"));
    }

    fn find<'a>(file: &'a Passfile, host: &str, port: u16, database: &str, user: &str) -> Option<&'a str> {
        file.password(PassfileLogin { host, port, database, user })
    }

    #[test]
    fn first_line_that_fits_wins() {
        let file = Passfile::parse(
            "# h:1:d:u:comment\nh:1:d:u:one\nh:*:d:u:two\n\nlocalhost:5432:*:u:socket\nshort:1\n*:*:*:u:any\n",
        );
        assert_eq!(find(&file, "h", 1, "d", "u"), Some("one"));
        assert_eq!(find(&file, "h", 2, "d", "u"), Some("two"));
        assert_eq!(find(&file, "/tmp", 5432, "x", "u"), Some("socket"));
        assert_eq!(find(&file, "else", 9, "x", "u"), Some("any"));
        assert_eq!(find(&file, "h", 1, "d", "other"), None);
    }

    #[test]
    fn backslashes_take_the_meaning_from_colons_and_backslashes() {
        let file = Passfile::parse(r"\:\:1:1:d\\b:u:a\:b:c\\d");
        assert_eq!(find(&file, "::1", 1, r"d\b", "u"), Some(r"a:b:c\d"));
    }

    #[cfg(unix)]
    #[test]
    fn file_that_others_may_read_is_ignored_with_a_note() {
        use std::os::unix::fs::PermissionsExt;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "*:*:*:*:secret").unwrap();
        let load = |mode| {
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            Passfile::load(file.path())
        };
        assert_eq!(find(&load(0o600).0, "h", 1, "d", "u"), Some("secret"));
        let (ignored, note) = load(0o640);
        assert_eq!(find(&ignored, "h", 1, "d", "u"), None);
        assert!(note.unwrap().contains("chmod 0600"));
    }
}
