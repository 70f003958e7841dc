//! Reads the URL of a source of readings.

use std::fmt;
use std::str::FromStr;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::error::{Error, ErrorKind};

/// How a URL has to be.
const REMEDY: &str = "Write zabbix+https://HOST/zabbix/api_jsonrpc.php?host=HOSTNAME&item=KEY, \
                      zabbix-db+postgres://USER@HOST/DATABASE?itemid=NUMBER, or \
                      prometheus+http://HOST:9090?query=PROMQL.";

/// A host, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// The URL as it was given.
    given: String,
    /// The URL of the API, or of the database.
    pub(super) url: String,
    /// The host and its port.
    pub(super) host: String,
    pub(super) system: System,
}

/// A system, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum System {
    Zabbix { asked: Asked },
    ZabbixDatabase { asked: Asked },
    Prometheus { query: String, step: u32 },
}

/// An item of Zabbix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asked {
    /// By its number.
    Id(u64),
    /// By host, and key or name.
    Named { host: String, item: String },
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.given)
    }
}

fn refuse(problem: String) -> Error {
    Error::usage(ErrorKind::SourceUrl, problem, REMEDY)
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(given: &str) -> Result<Self, Error> {
        // A URL that holds a password is not repeated.
        let (system, rest) =
            given.split_once('+').ok_or_else(|| refuse("the URL names no system".to_owned()))?;
        let is_database = system == "zabbix-db";
        let Located { base, host, query } = Located::of(rest, is_database)?;
        let mut asked = Parameters::of(query)?;
        if is_database && asked.take("password").is_some() {
            return Err(holds_secret());
        }
        let system = match system {
            "zabbix" => System::Zabbix { asked: asked.item()? },
            "zabbix-db" => System::ZabbixDatabase { asked: asked.item()? },
            "prometheus" => {
                let query = asked.take("query").ok_or_else(|| refuse("the URL has no query".to_owned()))?;
                System::Prometheus { query, step: asked.step()? }
            }
            _ => return Err(refuse(format!("perfpipe does not know the system {system}"))),
        };
        let url = match system {
            System::Zabbix { .. } => base,
            // What else is told are settings of the connection.
            System::ZabbixDatabase { .. } => format!("{base}{}", asked.rest()),
            System::Prometheus { .. } => format!("{base}/api/v1/query_range"),
        };
        if !is_database {
            asked.end()?;
        }
        Ok(Self { given: given.to_owned(), url, host: host.to_owned(), system })
    }
}

/// A URL without its system, in parts.
struct Located<'a> {
    /// What is before the question mark.
    base: String,
    host: &'a str,
    query: &'a str,
}

impl<'a> Located<'a> {
    fn of(url: &'a str, is_database: bool) -> Result<Self, Error> {
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        match (is_database, scheme) {
            (false, "http" | "https") | (true, "postgres" | "postgresql") => {}
            (false, _) => return Err(refuse("the URL is neither of http nor of https".to_owned())),
            (true, _) => return Err(refuse("the URL of the database is not of postgres".to_owned())),
        }
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let authority = place.split('/').next().unwrap_or_default();
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        // Of a database the name of its user is no secret.
        if user.is_some_and(|user| !is_database || user.contains(':')) {
            return Err(holds_secret());
        }
        if host.is_empty() || place.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
            return Err(refuse("the URL names no host".to_owned()));
        }
        Ok(Self { base: format!("{scheme}://{}", place.trim_end_matches('/')), host, query })
    }
}

/// Refuses a URL that holds a secret, without repeating it.
fn holds_secret() -> Error {
    let remedy = "Give secrets by the environment or a file, where no list of commands keeps them.";
    Error::usage(ErrorKind::SourceUrl, "the URL holds a user or a password", remedy)
}

/// What is behind the question mark.
struct Parameters(Vec<(String, String)>);

impl Parameters {
    fn of(query: &str) -> Result<Self, Error> {
        let one = |text: &str| {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            let value = percent_decode_str(value).decode_utf8();
            let value = value.map_err(|_| refuse(format!("{name} in the URL is not UTF-8")))?;
            Ok((name.to_owned(), value.into_owned()))
        };
        query.split('&').filter(|text| !text.is_empty()).map(one).collect::<Result<_, _>>().map(Self)
    }

    /// Takes the first one of a name, unless it is empty.
    fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(other, _)| other == name)?;
        Some(self.0.remove(at).1).filter(|value| !value.trim().is_empty())
    }

    fn item(&mut self) -> Result<Asked, Error> {
        let item = match (self.take("itemid"), self.take("host"), self.take("item")) {
            (Some(id), None, None) => id.parse().ok().map(Asked::Id),
            (None, Some(host), Some(item)) => Some(Asked::Named { host, item }),
            _ => None,
        };
        item.ok_or_else(|| {
            refuse("the URL names no item: a host and an item, or the number of one".to_owned())
        })
    }

    fn step(&mut self) -> Result<u32, Error> {
        match self.take("step").map(|step| step.parse()) {
            None => Ok(1),
            Some(Ok(step)) if step > 0 => Ok(step),
            Some(_) => Err(refuse("the step in the URL is not a number of seconds".to_owned())),
        }
    }

    /// Returns what is left, as a query.
    fn rest(&self) -> String {
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let one = |(name, value): &(String, String)| format!("{}={}", name, encoded(value));
        let all: Vec<String> = self.0.iter().map(one).collect();
        if all.is_empty() { String::new() } else { format!("?{}", all.join("&")) }
    }

    /// Refuses what is left, such as the rest of a query whose `&` is not written `%26`.
    fn end(self) -> Result<(), Error> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => {
                Err(refuse(format!("the URL has a parameter {name:?} that perfpipe does not know")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_tells_the_system_and_what_is_asked_of_it() {
        let of = |url: &str| url.parse::<Address>().unwrap();
        let zabbix = of("zabbix+https://mon/zabbix/api_jsonrpc.php?host=sut%201&item=system.cpu.util[,user]");
        let (host, item) = ("sut 1".to_owned(), "system.cpu.util[,user]".to_owned());
        assert_eq!(zabbix.url, "https://mon/zabbix/api_jsonrpc.php");
        assert_eq!(zabbix.system, System::Zabbix { asked: Asked::Named { host, item } });
        assert_eq!(of("zabbix+http://mon/?itemid=7").system, System::Zabbix { asked: Asked::Id(7) });
        let database = of("zabbix-db+postgres://zabbix@mon:5433/zabbix?itemid=7&sslmode=verify-full");
        assert_eq!(database.url, "postgres://zabbix@mon:5433/zabbix?sslmode=verify%2Dfull");
        assert_eq!(
            (database.host.as_str(), database.system),
            ("mon:5433", System::ZabbixDatabase { asked: Asked::Id(7) })
        );
        let prometheus =
            of("prometheus+http://mon:9090/prom/?query=sum(rate(cpu{mode!=\"idle\"}[3s]))&step=15");
        assert_eq!(
            (prometheus.host.as_str(), prometheus.url.as_str()),
            ("mon:9090", "http://mon:9090/prom/api/v1/query_range")
        );
        let query = "sum(rate(cpu{mode!=\"idle\"}[3s]))".to_owned();
        assert_eq!(prometheus.system, System::Prometheus { query, step: 15 });
    }

    #[test]
    fn other_urls_are_refused_without_repeating_a_password() {
        for url in [
            "http://mon",
            "zabbix+ftp://mon?itemid=7",
            "zabbix+http://mon?itemid=x",
            "zabbix+http://mon?host=a",
            "zabbix+http://?itemid=7",
            "prometheus+http://mon",
            "prometheus+http://mon?query=",
            "influx+http://mon?query=a",
            "prometheus+http://mon?query=a&step=0",
            "prometheus+http://mon?query=a&b",
            "prometheus+http://mo n?query=a",
            "zabbix+http://u:hunter2@mon?itemid=7",
            "zabbix+postgres://mon/zabbix?itemid=7",
            "zabbix-db+http://mon/zabbix?itemid=7",
            "zabbix-db+postgres://u@mon/zabbix",
            "zabbix-db+postgres://u:hunter2@mon/zabbix?itemid=7",
            "zabbix-db+postgres://u@mon/zabbix?itemid=7&password=hunter2",
        ] {
            let error = url.parse::<Address>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::SourceUrl, "{url}");
            assert!(!error.to_string().contains("hunter2"));
        }
    }
}
