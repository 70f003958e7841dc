//! Parses connection strings of libpq: `postgres://…` URLs and lists of `key=value`, and the settings by which unresponsive
//! servers are detected (`keepalives`, `tcp_user_timeout`).

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;
use std::time::Duration;

use tokio_postgres::Config;

use perfpipe_model::error::{Error, ErrorKind, Result};

/// Settings by their names in libpq.
pub(crate) type Settings = BTreeMap<String, String>;

/// Parses a connection string. Its text never appears in an error, since it may contain a password.
pub(crate) fn parse(dsn: &str) -> Result<Settings> {
    let dsn = dsn.trim();
    match dsn.strip_prefix("postgres://").or_else(|| dsn.strip_prefix("postgresql://")) {
        Some(rest) => parse_url(rest),
        None => parse_pairs(dsn),
    }
}

/// Returns the error for an invalid setting. `problem` must not contain secret text.
pub(crate) fn bad(name: &str, problem: impl std::fmt::Display, remedy: &str) -> Error {
    Error::usage(ErrorKind::DatabaseSetting, format!("the database setting {name} {problem}"), remedy)
}

fn unreadable(problem: impl Into<String>) -> Error {
    Error::usage(
        ErrorKind::DatabaseUrl,
        problem,
        "Write it as postgres://USER@HOST:PORT/DATABASE?sslmode=require or as host=HOST dbname=DATABASE.",
    )
}

fn parse_url(rest: &str) -> Result<Settings> {
    let mut settings = Settings::new();
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (login, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let (hosts, ports) = split_hosts(hosts)?;
    for (name, text) in
        [("user", user), ("password", password), ("host", &hosts), ("port", &ports), ("dbname", database)]
    {
        if !text.is_empty() {
            settings.insert(name.into(), decoded(text)?);
        }
    }
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, text) = pair
            .split_once('=')
            .ok_or_else(|| unreadable("the database URL has a parameter without a value"))?;
        insert_parameter(&mut settings, &decoded(name)?, decoded(text)?);
    }
    Ok(settings)
}

/// Adds a parameter. `ssl=true`, which other drivers use, requires TLS unless `sslmode` is set.
fn insert_parameter(settings: &mut Settings, name: &str, text: String) {
    if (name, text.as_str()) == ("ssl", "true") {
        settings.entry("sslmode".into()).or_insert_with(|| "require".into());
    } else {
        settings.insert(name.to_owned(), text);
    }
}

/// Splits `host:port,[::1]:port` into a list of hosts and a list of ports, both separated by commas.
fn split_hosts(text: &str) -> Result<(String, String)> {
    let mut hosts = Vec::new();
    let mut ports = Vec::new();
    for one in text.split(',') {
        let (host, port) = match one.strip_prefix('[') {
            Some(address) => {
                let (host, after) = address
                    .split_once(']')
                    .ok_or_else(|| unreadable("the database URL has an IPv6 address without its ]"))?;
                (host, after.strip_prefix(':').unwrap_or(after))
            }
            None => one.split_once(':').unwrap_or((one, "")),
        };
        hosts.push(host);
        ports.push(port);
    }
    let ports = if ports.iter().all(|port| port.is_empty()) { String::new() } else { ports.join(",") };
    Ok((hosts.join(","), ports))
}

/// Decodes the percent-encoding of a part of a URL.
fn decoded(text: &str) -> Result<String> {
    let broken = || unreadable("the database URL has a % that does not begin a character's code");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|d| char::from(d).to_digit(16)).ok_or_else(broken);
        let code = digit()? * 16 + digit()?;
        bytes.push(u8::try_from(code).map_err(|_| broken())?);
    }
    String::from_utf8(bytes).map_err(|_| unreadable("the database URL is not UTF-8"))
}

fn parse_pairs(dsn: &str) -> Result<Settings> {
    let mut settings = Settings::new();
    let mut rest = dsn.chars().peekable();
    loop {
        skip_spaces(&mut rest);
        if rest.peek().is_none() {
            return Ok(settings);
        }
        let name = parse_name(&mut rest);
        skip_spaces(&mut rest);
        if name.is_empty() || rest.next_if_eq(&'=').is_none() {
            return Err(unreadable("the database is named neither by a URL nor by key=value"));
        }
        skip_spaces(&mut rest);
        let text =
            if rest.next_if_eq(&'\'').is_some() { parse_quoted(&mut rest)? } else { parse_plain(&mut rest) };
        settings.insert(name, text);
    }
}

fn skip_spaces(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|c| c.is_whitespace()).is_some() {}
}

fn parse_name(rest: &mut Peekable<Chars<'_>>) -> String {
    std::iter::from_fn(|| rest.next_if(|c| *c != '=' && !c.is_whitespace())).collect()
}

fn parse_plain(rest: &mut Peekable<Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(c) = rest.next_if(|c| !c.is_whitespace()) {
        text.extend(if c == '\\' { rest.next() } else { Some(c) });
    }
    text
}

fn parse_quoted(rest: &mut Peekable<Chars<'_>>) -> Result<String> {
    let mut text = String::new();
    loop {
        match rest.next() {
            Some('\'') => return Ok(text),
            Some('\\') => text.extend(rest.next()),
            Some(c) => text.push(c),
            None => return Err(unreadable("the database's settings have a quote that is not closed")),
        }
    }
}

/// The TCP settings for idle connections, with the meaning that libpq gives them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeepaliveSettings {
    /// True if keepalive probes are sent.
    asks: bool,
    /// The idle time before the first probe. The system's default of 2 hours is too long for a waiting load.
    idle: Duration,
    interval: Duration,
    count: u32,
    /// The maximum time that sent data may stay unacknowledged or unsent; `None` for the system's limit.
    unanswered: Option<Duration>,
}

impl Default for KeepaliveSettings {
    fn default() -> Self {
        let (idle, interval) = (Duration::from_secs(60), Duration::from_secs(10));
        Self { asks: true, idle, interval, count: 6, unanswered: None }
    }
}

impl KeepaliveSettings {
    /// Reads the settings. As in libpq, 0 and empty values mean the default.
    pub(crate) fn resolve(settings: &Settings) -> Result<Self> {
        let usual = Self::default();
        let seconds = |name: &str| Ok(number(settings, name)?.map(|n| Duration::from_secs(u64::from(n))));
        Ok(Self {
            asks: settings.get("keepalives").is_none_or(|text| text.trim() != "0"),
            idle: seconds("keepalives_idle")?.unwrap_or(usual.idle),
            interval: seconds("keepalives_interval")?.unwrap_or(usual.interval),
            count: number(settings, "keepalives_count")?.unwrap_or(usual.count),
            unanswered: number(settings, "tcp_user_timeout")?.map(|ms| Duration::from_millis(u64::from(ms))),
        })
    }

    /// Applies them to the client's configuration.
    pub(crate) fn apply(&self, config: &mut Config) {
        config.keepalives(self.asks);
        config.keepalives_idle(self.idle).keepalives_interval(self.interval).keepalives_retries(self.count);
        if let Some(limit) = self.unanswered {
            config.tcp_user_timeout(limit);
        }
    }
}

/// Parses an integer setting; `None` if it is missing or not positive.
fn number(settings: &Settings, name: &str) -> Result<Option<u32>> {
    let Some(text) = settings.get(name).map(|text| text.trim()).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let number: i32 =
        text.parse().map_err(|_| bad(name, "is not a whole number", "0 leaves it as it is by default."))?;
    Ok(u32::try_from(number).ok().filter(|number| *number > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(dsn: &str) -> Vec<(String, String)> {
        parse(dsn).unwrap().into_iter().collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect()
    }

    #[test]
    fn urls_may_leave_out_any_part() {
        assert_eq!(parsed(""), []);
        assert_eq!(parsed("postgres://"), []);
        assert_eq!(parsed("postgresql:///load"), pairs(&[("dbname", "load")]));
        assert_eq!(parsed("postgres://db.example"), pairs(&[("host", "db.example")]));
        assert_eq!(
            parsed("postgres://u%40x:p%3Aw%2F@h:5433/d%20b?sslmode=verify-full&ssl=true"),
            pairs(&[
                ("dbname", "d b"),
                ("host", "h"),
                ("password", "p:w/"),
                ("port", "5433"),
                ("sslmode", "verify-full"),
                ("user", "u@x")
            ])
        );
    }

    #[test]
    fn urls_take_lists_of_hosts_addresses_and_sockets() {
        assert_eq!(
            parsed("postgres://a:1,[::1]:2,c/d"),
            pairs(&[("dbname", "d"), ("host", "a,::1,c"), ("port", "1,2,")])
        );
        assert_eq!(parsed("postgres://%2Frun%2Fpg/d"), pairs(&[("dbname", "d"), ("host", "/run/pg")]));
    }

    #[test]
    fn pairs_take_quotes_and_backslashes() {
        assert_eq!(
            parsed(r"host=h  port = 1 password='a \' b\\' user=x\ y options=''"),
            pairs(&[("host", "h"), ("options", ""), ("password", r"a ' b\"), ("port", "1"), ("user", "x y")])
        );
    }

    #[test]
    fn errors_never_hold_the_password() {
        for dsn in [
            "postgres://u:hunter2%zz@h/d",
            "postgres://u:hunter2@[::1/d",
            "postgres://u:hunter2@h/d?x",
            "host=h password='hunter2",
            "hunter2",
        ] {
            let error = parse(dsn).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
        }
    }

    fn resolved(settings: &[(&str, &str)]) -> Result<KeepaliveSettings> {
        KeepaliveSettings::resolve(
            &settings.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect(),
        )
    }

    #[test]
    fn setting_left_out_or_0_is_the_default() {
        assert_eq!(resolved(&[]).unwrap(), KeepaliveSettings::default());
        assert_eq!(
            resolved(&[("keepalives_idle", "0"), ("tcp_user_timeout", "-1")]).unwrap(),
            KeepaliveSettings::default()
        );
        assert!(!resolved(&[("keepalives", "0")]).unwrap().asks);
    }

    #[test]
    fn settings_reach_the_client() {
        let alive = resolved(&[
            ("keepalives_idle", "7"),
            ("keepalives_interval", "2"),
            ("keepalives_count", "3"),
            ("tcp_user_timeout", "1500"),
        ]);
        let mut config = Config::new();
        alive.unwrap().apply(&mut config);
        assert_eq!(config.get_keepalives_idle(), Duration::from_secs(7));
        assert_eq!(config.get_keepalives_interval(), Some(Duration::from_secs(2)));
        assert_eq!(config.get_keepalives_retries(), Some(3));
        assert_eq!(config.get_tcp_user_timeout(), Some(&Duration::from_millis(1500)));
    }

    #[test]
    fn setting_that_is_no_number_is_refused() {
        let error = resolved(&[("keepalives_idle", "soon")]).unwrap_err();
        assert!(error.to_string().contains("keepalives_idle"), "{error}");
    }
}
