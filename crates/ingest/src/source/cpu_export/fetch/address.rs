//! Reads the URL of a source of readings.

use std::fmt;
use std::str::FromStr;

use percent_encoding::percent_decode_str;

use crate::error::{Error, ErrorKind};

/// How a URL has to be.
const REMEDY: &str = "Write zabbix+https://HOST/zabbix/api_jsonrpc.php?host=HOSTNAME&item=KEY, or \
                      prometheus+http://HOST:9090?query=PROMQL.";

/// A host, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// The URL as it was given.
    given: String,
    /// The URL of the API.
    pub(super) url: String,
    /// The host and its port.
    pub(super) host: String,
    pub(super) system: System,
}

/// A system, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum System {
    Zabbix { asked: Asked },
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
        let (scheme, rest) = rest.split_once("://").unwrap_or_default();
        if !matches!(scheme, "http" | "https") {
            return Err(refuse("the URL is neither of http nor of https".to_owned()));
        }
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, path) = place.split_at(place.find('/').unwrap_or(place.len()));
        if host.contains('@') {
            let remedy = "Give secrets by the environment or a file, where no list of commands keeps them.";
            return Err(Error::usage(ErrorKind::SourceUrl, "the URL holds a user or a password", remedy));
        }
        if host.is_empty() || place.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
            return Err(refuse("the URL names no host".to_owned()));
        }
        let mut asked = Parameters::of(query)?;
        let system = match system {
            "zabbix" => System::Zabbix { asked: asked.item()? },
            "prometheus" => {
                let query = asked.take("query").ok_or_else(|| refuse("the URL has no query".to_owned()))?;
                System::Prometheus { query, step: asked.step()? }
            }
            _ => return Err(refuse(format!("perfpipe does not know the system {system}"))),
        };
        asked.end()?;
        let path = path.trim_end_matches('/');
        let url = match system {
            System::Zabbix { .. } => format!("{scheme}://{host}{path}"),
            System::Prometheus { .. } => format!("{scheme}://{host}{path}/api/v1/query_range"),
        };
        Ok(Self { given: given.to_owned(), url, host: host.to_owned(), system })
    }
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
        ] {
            let error = url.parse::<Address>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::SourceUrl, "{url}");
            assert!(!error.to_string().contains("hunter2"));
        }
    }
}
