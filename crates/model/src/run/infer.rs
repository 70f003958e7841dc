//! Infers the framework and the test of a run from URLs, ports, labels and file names.

use std::collections::BTreeMap;

use super::key::RunKey;

/// The name of a run from a pipe of which nothing else is known.
const NAMELESS: &str = "stdin";

/// The facts about a run from which its key is inferred, collected while its log is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clues {
    /// The framework, if given.
    pub framework: Option<String>,
    /// The test, if given.
    pub test: Option<String>,
    /// The URL path, if all requests share one.
    pub path: Option<String>,
    /// The host and port, if all requests share them.
    pub host: Option<String>,
    /// The label, if there is only one.
    pub label: Option<String>,
    /// The names of the log file and of the member in it, without their extensions; empty for a pipe.
    pub stems: Vec<String>,
    /// The frameworks by port, as far as given.
    pub frameworks: Frameworks,
}

/// A run's key, and how it was inferred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inferred {
    /// The key that was found.
    pub key: RunKey,
    /// The inferred names and their sources, as clauses; empty if both names were given.
    pub notes: Vec<String>,
}

impl Clues {
    /// Infers the key.
    pub fn infer(&self) -> Inferred {
        let mut notes = Vec::new();
        let test = self.test.clone().unwrap_or_else(|| {
            let (test, source) = self.infer_test();
            notes.push(format!("test `{test}`, from {source}"));
            test
        });
        let framework = self.framework.clone().unwrap_or_else(|| {
            let (framework, source) = self.infer_framework(&test);
            notes.push(format!("framework `{framework}`, from {source}"));
            framework
        });
        Inferred { key: RunKey::new(framework, test), notes }
    }

    /// The keys that the whole log may have if these clues come from its beginning: the rest may not agree on them. The
    /// key of the beginning comes first.
    pub fn possible(&self) -> Vec<RunKey> {
        let mut keys: Vec<RunKey> = Vec::new();
        for lost in 0..8 {
            let kept = |clue: &Option<String>, bit: u8| clue.clone().filter(|_| lost & bit == 0);
            let clues = Self {
                path: kept(&self.path, 1),
                host: kept(&self.host, 2),
                label: kept(&self.label, 4),
                ..self.clone()
            };
            let key = clues.infer().key;
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }

    fn infer_test(&self) -> (String, &'static str) {
        let segment = self.path.as_deref().and_then(last_segment);
        if let Some(segment) = segment {
            return (segment.to_owned(), "the URL path that all requests share");
        }
        if let Some(test) = self.stems.iter().find_map(|stem| test_in_name(stem)) {
            return (test.to_owned(), "the file's name");
        }
        match &self.label {
            Some(label) => (label.clone(), "the only label"),
            None => self.first_stem(),
        }
    }

    fn infer_framework(&self, test: &str) -> (String, &'static str) {
        if let Some(framework) = self.stems.iter().find_map(|stem| framework_in_name(stem, test)) {
            return (framework.to_owned(), "the file's name");
        }
        if let Some((framework, source)) = self.framework_on_port() {
            return (framework.to_owned(), source);
        }
        let is_known = !self.frameworks.is_empty();
        match &self.host {
            Some(host) if is_known => {
                (host.clone(), "the host that all requests share, since no framework is named for its port")
            }
            Some(host) => (host.clone(), "the host that all requests share"),
            None => self.first_stem(),
        }
    }

    /// The framework on the port of the requests, otherwise on the port in the file's name.
    fn framework_on_port(&self) -> Option<(&str, &'static str)> {
        let of_host = self.host.as_deref().and_then(|host| host.rsplit_once(':')).map(|(_, port)| port);
        let named = |port: &str| self.frameworks.on_port(port.parse().ok()?);
        if let Some(framework) = of_host.and_then(named) {
            return Some((framework, "the port that all requests share"));
        }
        let of_names = self.stems.iter().filter_map(|stem| test_and_port(stem));
        let framework = of_names.filter_map(|(_, port)| named(port)).next()?;
        Some((framework, "the port in the file's name"))
    }

    fn first_stem(&self) -> (String, &'static str) {
        match self.stems.first() {
            Some(stem) => (stem.clone(), "the file's name"),
            None => (NAMELESS.to_owned(), "standard input"),
        }
    }
}

fn last_segment(path: &str) -> Option<&str> {
    path.trim_end_matches('/').rsplit('/').next().filter(|segment| !segment.is_empty())
}

/// The prefix of log names written by the scripts of the original project.
const RESULTS: &str = "Results-";

/// The test and the port in a name like `Results-test-port`. A dot ends the port.
fn test_and_port(stem: &str) -> Option<(&str, &str)> {
    let (test, port) = stem.strip_prefix(RESULTS)?.rsplit_once('-')?;
    let port = port.split('.').next().unwrap_or_default();
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    (is_port && !test.is_empty()).then_some((test, port))
}

/// The test in a name like `Results-test-port` or `framework_test`. A dot ends the test.
fn test_in_name(stem: &str) -> Option<&str> {
    if stem.starts_with(RESULTS) {
        return test_and_port(stem).map(|(test, _)| test);
    }
    let (framework, test) = stem.split_once('_')?;
    let test = test.split('.').next().unwrap_or_default();
    (!framework.is_empty() && !test.is_empty()).then_some(test)
}

/// The framework in a name `framework_test`, if it ends in the given test.
fn framework_in_name<'a>(stem: &'a str, test: &str) -> Option<&'a str> {
    stem.match_indices('_')
        .find(|(at, _)| {
            let named = stem.get(at + 1..).unwrap_or_default();
            *at > 0 && (named == test || named.strip_prefix(test).is_some_and(|rest| rest.starts_with('.')))
        })
        .and_then(|(at, _)| stem.get(..at))
}

/// The names of frameworks by the port on which each was tested.
///
/// ```
/// # extern crate perfpipe_model as perfpipe_ingest;
/// use perfpipe_ingest::run::Frameworks;
///
/// let frameworks: Frameworks = [(8181, "perfectnio".to_owned())].into_iter().collect();
/// assert_eq!(frameworks.on_port(8181), Some("perfectnio"));
/// assert_eq!(frameworks.on_port(9000), None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frameworks(BTreeMap<u16, String>);

impl Frameworks {
    /// The framework that was tested on a port.
    pub fn on_port(&self, port: u16) -> Option<&str> {
        self.0.get(&port).map(String::as_str)
    }

    /// Returns true if no port has a name.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(u16, String)> for Frameworks {
    fn from_iter<I: IntoIterator<Item = (u16, String)>>(ports: I) -> Self {
        Self(ports.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(path: &str, host: &str, label: &str, stems: &str) -> String {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let clues = Clues {
            path: some(path),
            host: some(host),
            label: some(label),
            stems: stems.split_whitespace().map(str::to_owned).collect(),
            ..Clues::default()
        };
        let key = clues.infer().key;
        format!("{} {}", key.framework, key.test)
    }

    #[test]
    fn shared_path_names_the_test() {
        assert_eq!(key("/2048", "a:9000", "Get", "Results-x-9000"), "a:9000 2048");
        assert_eq!(key("/api/heavy_2048/", "a:1", "Get", "perfectnio_heavy_2048"), "perfectnio heavy_2048");
        assert_eq!(key("/2048", "a:1", "Get", "perfectnio_4096"), "a:1 2048");
    }

    #[test]
    fn else_the_name_then_the_label_then_the_stem() {
        assert_eq!(key("", "a:8181", "Get", "Results-mix-8181.noheader"), "a:8181 mix");
        assert_eq!(key("/", "a:8181", "Get", "spring_2048"), "spring 2048");
        assert_eq!(key("", "", "Get", "spring_heavy_2048.try2"), "spring heavy_2048");
        assert_eq!(key("", "a:1", "Get", "monday"), "a:1 Get");
        assert_eq!(key("", "", "", "monday"), "monday monday");
        assert_eq!(key("", "a:1", "", "Results-monday"), "a:1 Results-monday");
    }

    #[test]
    fn file_speaks_before_its_member() {
        assert_eq!(key("/2048", "a:1", "Get", "perfectnio_2048 results"), "perfectnio 2048");
        assert_eq!(key("/2048", "a:1", "Get", "monday perfectnio_2048"), "perfectnio 2048");
        assert_eq!(key("", "a:1", "Get", "spring_heavy Results-mix-8181"), "spring heavy");
        assert_eq!(key("", "a:1", "Get", "monday Results-mix-8181"), "a:1 mix");
        assert_eq!(key("", "", "", "monday results"), "monday monday");
        assert_eq!(key("", "", "", ""), "stdin stdin");
    }

    /// The inferred framework, with ports 8181 and 80 named.
    fn framework(host: &str, stem: &str) -> String {
        let clues = Clues {
            host: (!host.is_empty()).then(|| host.to_owned()),
            path: Some("/2048".into()),
            stems: vec![stem.into()],
            frameworks: [(8181, "nio".to_owned()), (80, "web".to_owned())].into_iter().collect(),
            ..Clues::default()
        };
        clues.infer().key.framework
    }

    #[test]
    fn port_names_the_framework_where_that_was_told() {
        assert_eq!(framework("a:8181", "monday"), "nio");
        assert_eq!(framework("[::1]:80", "Results-2048-8181"), "web", "requests speak before names");
        assert_eq!(framework("", "Results-2048-8181.killed"), "nio");
        assert_eq!(framework("a:9", "Results-2048-8181"), "nio");
        assert_eq!(
            framework("a:8181", "spring_2048"),
            "spring",
            "a framework in the name is more than a port"
        );
        assert_eq!(framework("a:9000", "Results-2048-9000"), "a:9000");
        assert_eq!(framework("a", "monday"), "a");
    }

    #[test]
    fn key_of_the_head_may_differ_from_that_of_the_whole_log() {
        let clues = Clues {
            path: Some("/2048".into()),
            host: Some("a:1".into()),
            label: Some("Get".into()),
            stems: vec!["Results-mix-1".into()],
            ..Clues::default()
        };
        let possible: Vec<String> = clues.possible().iter().map(RunKey::to_string).collect();
        assert_eq!(possible, ["a:1_2048", "a:1_mix", "Results-mix-1_2048", "Results-mix-1_mix"]);
        let given = Clues { framework: Some("go".into()), test: Some("x".into()), ..clues };
        assert_eq!(given.possible(), [RunKey::new("go", "x")]);
    }
}
