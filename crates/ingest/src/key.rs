//! What a run is called where nobody said: its test and framework, inferred from URLs, labels and file names.

use crate::store::RunKey;

/// What a run is called that came by a pipe, and of which nothing else is known.
const NAMELESS: &str = "stdin";

/// What is known of a run when its log has been read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Clues {
    /// The framework, where it was told.
    pub(crate) framework: Option<String>,
    /// The test, where it was told.
    pub(crate) test: Option<String>,
    /// The URL path that all requests share.
    pub(crate) path: Option<String>,
    /// The host and port that all requests share.
    pub(crate) host: Option<String>,
    /// The only label.
    pub(crate) label: Option<String>,
    /// The names of the log's file and of the member in it, without their endings; none where a pipe has none.
    pub(crate) stems: Vec<String>,
}

/// A run's key, and how it was come by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inferred {
    pub(crate) key: RunKey,
    /// What was inferred, and from what, as sentences; empty where both were told.
    pub(crate) notes: Vec<String>,
}

impl Clues {
    /// The key.
    pub(crate) fn infer(&self) -> Inferred {
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
        match &self.host {
            Some(host) => (host.clone(), "the host that all requests share"),
            None => self.first_stem(),
        }
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

/// The test in a name like `Results-test-port` or `framework_test`, whatever follows after a dot.
fn test_in_name(stem: &str) -> Option<&str> {
    if let Some(rest) = stem.strip_prefix("Results-") {
        let (test, port) = rest.rsplit_once('-')?;
        let port = port.split('.').next().unwrap_or_default();
        let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        return (is_port && !test.is_empty()).then_some(test);
    }
    let (framework, test) = stem.split_once('_')?;
    let test = test.split('.').next().unwrap_or_default();
    (!framework.is_empty() && !test.is_empty()).then_some(test)
}

/// The framework in a name `framework_test`, if that is the test.
fn framework_in_name<'a>(stem: &'a str, test: &str) -> Option<&'a str> {
    stem.match_indices('_')
        .find(|(at, _)| {
            let named = stem.get(at + 1..).unwrap_or_default();
            *at > 0 && (named == test || named.strip_prefix(test).is_some_and(|rest| rest.starts_with('.')))
        })
        .and_then(|(at, _)| stem.get(..at))
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
    fn a_shared_path_names_the_test() {
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
    fn the_file_speaks_before_its_member() {
        assert_eq!(key("/2048", "a:1", "Get", "perfectnio_2048 results"), "perfectnio 2048");
        assert_eq!(key("/2048", "a:1", "Get", "monday perfectnio_2048"), "perfectnio 2048");
        assert_eq!(key("", "a:1", "Get", "spring_heavy Results-mix-8181"), "spring heavy");
        assert_eq!(key("", "a:1", "Get", "monday Results-mix-8181"), "a:1 mix");
        assert_eq!(key("", "", "", "monday results"), "monday monday");
        assert_eq!(key("", "", "", ""), "stdin stdin");
    }
}
