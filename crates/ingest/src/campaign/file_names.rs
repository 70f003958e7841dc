//! Parses keys from the names of logs: by a given pattern, or where the requests give several logs one key.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

use crate::operations::options::IngestOptions;
use crate::source::log::{last_part, stem};
use perfpipe_formats::summaries::keys::{NamePattern, NamedParts};
use perfpipe_model::run::key::Repeat;

/// Patterns that a message may propose, the most likely first, without the ending.
const PROPOSED: [&str; 8] = [
    "{framework}_{test}_r{repeat}",
    "{framework}_{test}_{repeat}",
    "{framework}-{test}-r{repeat}",
    "{framework}-{test}-{repeat}",
    "{framework}_r{repeat}",
    "{framework}-{repeat}",
    "{framework}_{test}",
    "{framework}-{test}",
];

/// The parts of a run's key that the name of its log contains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FileName {
    pub(super) framework: Option<String>,
    pub(super) test: Option<String>,
    pub(super) repeat: Option<u32>,
}

impl FileName {
    /// The options for the run of this log.
    pub(super) fn options<'a>(&self, options: &'a IngestOptions) -> Cow<'a, IngestOptions> {
        if *self == Self::default() {
            return Cow::Borrowed(options);
        }
        let mut own = options.clone();
        own.framework = self.framework.clone().or(own.framework);
        own.test = self.test.clone().or(own.test);
        own.repeat = self.repeat.map_or(own.repeat, Repeat::Number);
        Cow::Owned(own)
    }

    pub(super) fn new(parts: NamedParts, options: &IngestOptions) -> Self {
        let on_port = || options.frameworks.on_port(parts.port?).map(str::to_owned);
        Self { framework: parts.framework.clone().or_else(on_port), test: parts.test, repeat: parts.repeat }
    }

    /// Reads a name like `framework_test_r2` or `framework_test`, in which neither has a `_` itself.
    fn plain(path: &Path) -> Option<Self> {
        let name = path.to_string_lossy();
        let name = stem(last_part(&name));
        let (bare, repeat) = match name.rsplit_once("_r") {
            Some((bare, number)) if is_number(number) => (bare, Some(number.parse().ok()?)),
            _ => (name, None),
        };
        let (framework, test) = bare.split_once('_')?;
        let is_plain = !framework.is_empty() && !test.is_empty() && !test.contains('_') && repeat != Some(0);
        is_plain.then(|| Self { framework: Some(framework.to_owned()), test: Some(test.to_owned()), repeat })
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The names of logs, if they are plain and all different.
pub(super) fn distinct(paths: &[&Path]) -> Option<Vec<FileName>> {
    let names = paths.iter().map(|path| FileName::plain(path)).collect::<Option<Vec<_>>>()?;
    let frameworks: BTreeSet<_> = names.iter().map(|name| &name.framework).collect();
    let keys: BTreeSet<_> = names.iter().map(|name| (&name.framework, &name.test, name.repeat)).collect();
    let is_sure = frameworks.len() > 1 || names.iter().all(|name| name.repeat.is_some());
    (is_sure && keys.len() == names.len()).then_some(names)
}

/// A pattern of file names that gives each of these logs a key of its own, if there is a likely one.
pub(super) fn proposal(logs: &[&Path]) -> Option<String> {
    let names: Vec<String> = logs.iter().map(|log| last_part(&log.to_string_lossy()).to_owned()).collect();
    let endings: BTreeSet<&str> =
        names.iter().map(|name| name.get(stem(name).len()..).unwrap_or_default()).collect();
    let ending = match Vec::from_iter(endings).as_slice() {
        [one] => (*one).to_owned(),
        _ => ".{*}".to_owned(),
    };
    PROPOSED.into_iter().map(|pattern| format!("{pattern}{ending}")).find(|pattern| {
        let Ok(read) = NamePattern::new(pattern) else { return false };
        let parts: Option<Vec<NamedParts>> = names.iter().map(|name| read.read(name)).collect();
        let keys = parts.into_iter().flatten().map(|parts| (parts.framework, parts.test, parts.repeat));
        keys.collect::<BTreeSet<_>>().len() == names.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths<'a>(names: &[&'a str]) -> Vec<&'a Path> {
        names.iter().map(|name| Path::new(*name)).collect()
    }

    /// The runs that the names give, or nothing.
    fn named(names: &[&str]) -> Option<Vec<String>> {
        let names = distinct(&paths(names))?;
        let text = |name: FileName| format!("{}/{}/{:?}", name.framework?, name.test?, name.repeat).into();
        names.into_iter().map(text).collect()
    }

    #[test]
    fn plain_names_tell_runs_apart_and_doubtful_ones_do_not() {
        assert_eq!(
            named(&["night/go_mix_r1.csv.gz", "night/node_mix_r2.csv.gz"]).unwrap(),
            ["go/mix/Some(1)", "node/mix/Some(2)"]
        );
        assert_eq!(named(&["go_mix.csv", "node_mix.csv"]).unwrap(), ["go/mix/None", "node/mix/None"]);
        assert!(named(&["go_mix_r1.csv", "go_mix_r2.csv"]).is_some());
        for doubtful in [
            ["run_1.csv", "run_2.csv"],
            ["spring_boot_mix_r1.csv", "go_mix_r1.csv"],
            ["a.csv", "b.csv"],
            ["go_mix_r1.csv", "go_mix_r1.csv.zip"],
            ["go_mix_r0.csv", "node_mix_r1.csv"],
        ] {
            assert_eq!(named(&doubtful), None, "{doubtful:?}");
        }
    }

    #[test]
    fn proposed_pattern_fits_all_names() {
        let of = |names: &[&str]| proposal(&paths(names));
        assert_eq!(
            of(&["x/a_b_c_r1.csv.gz", "x/a_b_c_r2.csv.gz"]).unwrap(),
            "{framework}_{test}_r{repeat}.csv.gz"
        );
        assert_eq!(of(&["run_1.csv", "run_2.jtl"]).unwrap(), "{framework}_{test}.{*}");
        assert_eq!(of(&["go-1.csv", "go-2.csv"]).unwrap(), "{framework}-{repeat}.csv");
        assert_eq!(of(&["a.csv", "b.csv"]), None);
    }
}
