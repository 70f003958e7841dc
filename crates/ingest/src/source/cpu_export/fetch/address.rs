//! Reads the URL of a source of readings.

use std::fmt;
use std::str::FromStr;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use perfpipe_model::error::{Error, ErrorKind};
use perfpipe_model::run::damage::Fault;

/// How a URL has to be.
const REMEDY: &str = "Write zabbix+https://HOST/zabbix/api_jsonrpc.php?host=HOSTNAME&item=KEY, \
                      zabbix-db+postgres://USER@HOST/DATABASE?itemid=NUMBER, or \
                      prometheus+http://HOST:9090?query=PROMQL.";

/// A host, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceAddress {
    /// The URL as it was given.
    given: String,
    /// The URL of the API, or of the database.
    pub(super) url: String,
    /// The host and its port.
    pub(super) host: String,
    pub(super) system: System,
    /// What is made of the readings of several hosts; `None` if it was not given.
    pub(super) several: Option<Several>,
}

/// What is made of the readings of several hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Several {
    /// Their sum.
    Sum,
    /// A series for each host.
    Separate,
}

/// A system, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum System {
    Zabbix {
        asked: AskedItems,
    },
    ZabbixDatabase {
        asked: AskedItems,
    },
    /// Without a step, the interval of the series is used.
    Prometheus {
        query: String,
        step: Option<u32>,
    },
}

/// Items of Zabbix, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AskedItems {
    /// By their numbers.
    Ids(Vec<u64>),
    /// By hosts, and the key or the name that the item has on each.
    Named { hosts: Vec<String>, item: String },
}

/// One item of Zabbix.
#[derive(Debug, Clone, Copy)]
pub(super) enum One<'a> {
    Id(u64),
    Named { host: &'a str, item: &'a str },
}

impl AskedItems {
    /// The items one by one.
    pub(super) fn each(&self) -> Vec<One<'_>> {
        match self {
            Self::Ids(ids) => ids.iter().map(|id| One::Id(*id)).collect(),
            Self::Named { hosts, item } => hosts.iter().map(|host| One::Named { host, item }).collect(),
        }
    }
}

impl fmt::Display for SourceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.given)
    }
}

fn refuse(problem: String) -> Error {
    Error::usage(ErrorKind::SourceUrl, problem, REMEDY)
}

impl FromStr for SourceAddress {
    type Err = Error;

    fn from_str(given: &str) -> Result<Self, Error> {
        // A URL that contains a password is not repeated.
        let (system, rest) =
            given.split_once('+').ok_or_else(|| refuse("the URL names no system".to_owned()))?;
        let is_database = system == "zabbix-db";
        let Located { base, host, query } = Located::of(rest, is_database)?;
        let mut asked = Parameters::of(query, is_database)?;
        let system = match system {
            "zabbix" => System::Zabbix { asked: asked.item()? },
            "zabbix-db" => System::ZabbixDatabase { asked: asked.item()? },
            "prometheus" => {
                let query = asked.remove("query").ok_or_else(|| refuse("the URL has no query".to_owned()))?;
                System::Prometheus { query, step: asked.step()? }
            }
            _ => return Err(refuse(format!("perfpipe does not know the system {system}"))),
        };
        let several = asked.several()?;
        if let System::Zabbix { asked } | System::ZabbixDatabase { asked } = &system
            && asked.each().len() > 1
            && several.is_none()
        {
            return Err(undecided(&format!("the URL names {} items", asked.each().len())));
        }
        let url = match system {
            System::Zabbix { .. } => base,
            // Whatever else is given are settings of the connection.
            System::ZabbixDatabase { .. } => format!("{base}{}", asked.rest()),
            System::Prometheus { .. } => format!("{base}/api/v1/query_range"),
        };
        if !is_database {
            asked.end()?;
        }
        Ok(Self { given: given.to_owned(), url, host: host.to_owned(), system, several })
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
        let user = user.map(decoded).transpose()?;
        if user.is_some_and(|user| !is_database || user.contains(':')) {
            return Err(holds_secret(is_database));
        }
        if host.is_empty() || place.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
            return Err(refuse("the URL names no host".to_owned()));
        }
        Ok(Self { base: format!("{scheme}://{}", place.trim_end_matches('/')), host, query })
    }
}

/// Refuses a URL that contains a secret, without repeating it. In that of a database a user is allowed.
fn holds_secret(is_database: bool) -> Error {
    let (problem, remedy) = match is_database {
        true => (
            "the URL of the database contains a password, which is not allowed there",
            "Leave it out, and give it by the environment (PGPASSWORD) or a file (.pgpass), where no list of commands keeps it.",
        ),
        false => (
            "the URL contains a user or a password",
            "Give secrets by the environment or a file, where no list of commands keeps them.",
        ),
    };
    Error::usage(ErrorKind::SourceUrl, problem, remedy)
}

/// The fault of several series without the choice of what to make of them.
pub(super) fn several(found: &str) -> Fault {
    let problem = format!("{found}, and it is not given whether to add them up or to store them separately");
    let remedy = "Add several=sum to the URL for their sum, or several=separate for a series of each.";
    Fault::new(ErrorKind::SourceSeveral, problem, remedy)
}

fn undecided(found: &str) -> Error {
    let Fault { kind, problem, remedy, .. } = several(found);
    Error::usage(kind, problem, remedy)
}

/// The words in names of parameters that hold secrets.
const SECRETS: [&str; 4] = ["password", "passwd", "token", "secret"];

/// Decodes the percent-encoding of a part of a URL.
fn decoded(text: &str) -> Result<String, Error> {
    let decoded = percent_decode_str(text).decode_utf8();
    Ok(decoded.map_err(|_| refuse("the URL is not UTF-8".to_owned()))?.into_owned())
}

/// What comes after the question mark.
struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// # Errors
    /// If one is a password, or one is named twice.
    fn of(query: &str, is_database: bool) -> Result<Self, Error> {
        let mut all: Vec<(String, String)> = Vec::new();
        for text in query.split('&').filter(|text| !text.is_empty()) {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            let (name, value) = (decoded(name)?, decoded(value)?);
            if SECRETS.iter().any(|secret| name.to_ascii_lowercase().contains(secret)) {
                return Err(holds_secret(is_database));
            }
            if all.iter().any(|(other, _)| *other == name) {
                return Err(refuse(format!("the URL has the parameter {name:?} twice")));
            }
            all.push((name, value));
        }
        Ok(Self(all))
    }

    /// Removes and returns the one of a name, unless it is empty.
    fn remove(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(other, _)| other == name)?;
        Some(self.0.remove(at).1).filter(|value| !value.trim().is_empty())
    }

    fn item(&mut self) -> Result<AskedItems, Error> {
        // No host of Zabbix has a comma in its name.
        let list =
            |text: String| -> Vec<String> { text.split(',').map(|one| one.trim().to_owned()).collect() };
        let item = match (self.remove("itemid").map(list), self.remove("host").map(list), self.remove("item"))
        {
            (Some(ids), None, None) => {
                ids.iter().map(|id| id.parse()).collect::<Result<_, _>>().ok().map(AskedItems::Ids)
            }
            (None, Some(hosts), Some(item)) => Some(AskedItems::Named { hosts, item }),
            _ => None,
        };
        let item = item.ok_or_else(|| {
            refuse("the URL names no item: a host and an item, or the number of one".to_owned())
        })?;
        check_hosts(&item)?;
        Ok(item)
    }

    fn step(&mut self) -> Result<Option<u32>, Error> {
        match self.remove("step").map(|step| step.parse()) {
            None => Ok(None),
            Some(Ok(step)) if step > 0 => Ok(Some(step)),
            Some(_) => Err(refuse("the step in the URL is not a number of seconds".to_owned())),
        }
    }

    fn several(&mut self) -> Result<Option<Several>, Error> {
        match self.remove("several").as_deref() {
            None => Ok(None),
            Some("sum") => Ok(Some(Several::Sum)),
            Some("separate") => Ok(Some(Several::Separate)),
            Some(other) => Err(refuse(format!("several={other} in the URL is neither sum nor separate"))),
        }
    }

    /// Returns what is left, as a query.
    fn rest(&self) -> String {
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let one = |(name, value): &(String, String)| format!("{}={}", encoded(name), encoded(value));
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

/// Refuses hosts or numbers that are empty or named twice.
fn check_hosts(asked: &AskedItems) -> Result<(), Error> {
    let names: Vec<String> = match asked {
        AskedItems::Ids(ids) => ids.iter().map(u64::to_string).collect(),
        AskedItems::Named { hosts, .. } => hosts.clone(),
    };
    let twice =
        names.iter().enumerate().find(|(at, name)| names.iter().take(*at).any(|other| other == *name));
    match twice {
        _ if names.iter().any(String::is_empty) => Err(refuse("a host in the URL has no name".to_owned())),
        Some((_, name)) => Err(refuse(format!("the URL names {name} twice"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_tells_the_system_and_what_is_asked_of_it() {
        let of = |url: &str| url.parse::<SourceAddress>().unwrap();
        let zabbix = of("zabbix+https://mon/zabbix/api_jsonrpc.php?host=sut%201&item=system.cpu.util[,user]");
        let (host, item) = ("sut 1".to_owned(), "system.cpu.util[,user]".to_owned());
        assert_eq!(zabbix.url, "https://mon/zabbix/api_jsonrpc.php");
        assert_eq!(zabbix.system, System::Zabbix { asked: AskedItems::Named { hosts: vec![host], item } });
        assert_eq!(
            of("zabbix+http://mon/?itemid=7").system,
            System::Zabbix { asked: AskedItems::Ids(vec![7]) }
        );
        let database = of("zabbix-db+postgres://zabbix@mon:5433/zabbix?itemid=7&sslmode=verify-full");
        assert_eq!(database.url, "postgres://zabbix@mon:5433/zabbix?sslmode=verify%2Dfull");
        assert_eq!(
            (database.host.as_str(), database.system),
            ("mon:5433", System::ZabbixDatabase { asked: AskedItems::Ids(vec![7]) })
        );
        let prometheus =
            of("prometheus+http://mon:9090/prom/?query=sum(rate(cpu{mode!=\"idle\"}[3s]))&step=15");
        assert_eq!(
            (prometheus.host.as_str(), prometheus.url.as_str()),
            ("mon:9090", "http://mon:9090/prom/api/v1/query_range")
        );
        let query = "sum(rate(cpu{mode!=\"idle\"}[3s]))".to_owned();
        assert_eq!(prometheus.system, System::Prometheus { query, step: Some(15) });
    }

    #[test]
    fn several_hosts_need_to_be_told_what_is_made_of_them() {
        let of = |url: &str| url.parse::<SourceAddress>();
        let url = "zabbix+http://mon/?host=a,%20b&item=k";
        let sum = of(&format!("{url}&several=sum")).unwrap();
        let hosts = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(sum.system, System::Zabbix { asked: AskedItems::Named { hosts, item: "k".to_owned() } });
        assert_eq!(sum.several, Some(Several::Sum));
        let separate = of("zabbix-db+postgres://u@mon/z?itemid=7,8&several=separate").unwrap();
        assert_eq!(separate.system, System::ZabbixDatabase { asked: AskedItems::Ids(vec![7, 8]) });
        assert_eq!(
            (separate.several, separate.url.as_str()),
            (Some(Several::Separate), "postgres://u@mon/z")
        );
        assert_eq!(of(url).unwrap_err().kind(), ErrorKind::SourceSeveral);
        for other in ["host=a,a&several=sum", "host=a,&several=sum", "host=a,b&several=mean"] {
            assert_eq!(
                of(&format!("zabbix+http://mon/?item=k&{other}")).unwrap_err().kind(),
                ErrorKind::SourceUrl
            );
        }
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
            "zabbix-db+postgres://u@mon/zabbix?itemid=7&p%61ssword=hunter2",
            "zabbix-db+postgres://u@mon/zabbix?itemid=7&password=&password=hunter2",
            "zabbix-db+postgres://u@mon/zabbix?itemid=7&PassWord=hunter2",
            "zabbix-db+postgres://u@mon/zabbix?itemid=7&sslpassword=hunter2",
            "zabbix-db+postgres://u%3Ahunter2@mon/zabbix?itemid=7",
            "zabbix-db+postgres://u@mon/zabbix?host=a&item=b&host=hunter2",
            "zabbix+http://mon?itemid=7&tok%65n=hunter2",
            "prometheus+http://mon?query=a&access_token=hunter2",
            "prometheus+http://mon?query=%ff&b=hunter2",
        ] {
            let error = url.parse::<SourceAddress>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::SourceUrl, "{url}");
            assert!(!error.to_string().contains("hunter2"));
        }
    }
}
