//! Runs grouped by version: by a tag, by the day, or each run by itself.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use perfpipe_analyze::{Measured, Trends, Version};
use perfpipe_ingest::run::is_tag_key;
use perfpipe_ingest::{RunInfo, RunKey};

use crate::input::runs::RunNames;

/// What makes runs one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum By {
    /// The value of a tag, given its key.
    Tag(String),
    /// The day of the test, UTC.
    Day,
    /// Each run is a version.
    Run,
}

impl FromStr for By {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("tag", key)) if is_tag_key(key) => Ok(Self::Tag(key.to_owned())),
            None if text == "day" => Ok(Self::Day),
            None if text == "run" => Ok(Self::Run),
            _ => Err("give tag:KEY, as in tag:commit, or day, or run".to_owned()),
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(key) => write!(f, "tag:{key}"),
            Self::Day => f.write_str("day"),
            Self::Run => f.write_str("run"),
        }
    }
}

/// Tags that usually name versions, the most exact one first.
const USUAL: [&str; 4] = ["commit", "version", "release", "build"];

impl By {
    /// Returns what usually makes runs one version: a tag that most of them have, otherwise the day.
    pub(crate) fn usual(runs: &[RunInfo]) -> Self {
        let tagged = |key: &str| runs.iter().filter(|run| run.options.tags.contains_key(key)).count();
        let has = |key: &&str| 2 * tagged(key) > runs.len();
        USUAL.into_iter().find(has).map_or(Self::Day, |key| Self::Tag(key.to_owned()))
    }

    /// Returns the version of a run; `None` if it lacks the tag.
    pub(crate) fn version(&self, run: &RunInfo, names: &RunNames) -> Option<String> {
        match self {
            Self::Tag(key) => run.options.tags.get(key).cloned(),
            Self::Day => {
                perfpipe_analyze::format::instant(run.t0_ms).map(|text| text.chars().take(10).collect())
            }
            Self::Run => Some(names.name(&run.key)),
        }
    }
}

/// The runs of one version.
#[derive(Debug, PartialEq)]
pub(crate) struct VersionRuns {
    pub(crate) name: String,
    /// The start of the first run, in ms since 1970.
    pub(crate) start_ms: i64,
    /// The runs, the earliest first.
    pub(crate) runs: Vec<RunKey>,
}

/// Groups runs by framework and by version, the versions in the order of their first runs. Returns also the runs that have
/// no version.
pub(crate) fn by_framework(
    mut runs: Vec<RunInfo>,
    by: &By,
    names: &RunNames,
) -> (Vec<(String, Vec<VersionRuns>)>, Vec<RunKey>) {
    runs.sort_by(|a, b| (a.t0_ms, &a.key).cmp(&(b.t0_ms, &b.key)));
    let mut frameworks: BTreeMap<String, Vec<VersionRuns>> = BTreeMap::new();
    let mut without = Vec::new();
    for run in runs {
        let Some(name) = by.version(&run, names) else {
            without.push(run.key);
            continue;
        };
        let versions = frameworks.entry(run.key.framework.clone()).or_default();
        match versions.iter_mut().find(|version| version.name == name) {
            Some(version) => version.runs.push(run.key),
            None => versions.push(VersionRuns { name, start_ms: run.t0_ms, runs: vec![run.key] }),
        }
    }
    (frameworks.into_iter().collect(), without)
}

/// Returns what the figures of each framework do from version to version. Runs without a version are in none.
pub(crate) fn trends_of(
    runs: Vec<RunInfo>,
    measured: Vec<Measured>,
    by: &By,
    names: &RunNames,
) -> Vec<Trends> {
    let keyed = measured.into_iter().map(|measured| (measured.info().key.clone(), measured));
    let mut measured: BTreeMap<RunKey, Measured> = keyed.collect();
    let mut version = |version: VersionRuns| {
        let runs = version.runs.iter().filter_map(|key| measured.remove(key)).collect();
        Version::new(version.name, version.start_ms, runs)
    };
    let (frameworks, _) = by_framework(runs, by, names);
    let trends = frameworks.into_iter();
    trends
        .map(|(name, versions)| Trends::new(name, versions.into_iter().map(&mut version).collect(), 0.0))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(framework: &str, repeat: u32, t0_ms: i64, commit: Option<&str>) -> RunInfo {
        let mut run = RunInfo::new(RunKey::new(framework, "t").with_repeat(repeat), t0_ms, t0_ms);
        run.options.tags.extend(commit.map(|commit| ("commit".to_owned(), commit.to_owned())));
        run
    }

    #[test]
    fn versions_are_in_the_order_of_their_first_runs() {
        let runs = vec![
            run("go", 4, 400, Some("a")),
            run("go", 3, 300, Some("b")),
            run("go", 1, 100, Some("b")),
            run("go", 2, 200, Some("a")),
            run("go", 5, 500, None),
            run("nio", 1, 50, Some("b")),
        ];
        let (frameworks, without) =
            by_framework(runs.clone(), &"tag:commit".parse().unwrap(), &RunNames::default());
        let shown: Vec<String> = frameworks
            .iter()
            .flat_map(|(name, versions)| versions.iter().map(move |version| (name, version)))
            .map(|(name, version)| {
                let repeats: Vec<u32> = version.runs.iter().map(|key| key.repeat).collect();
                format!("{name} {} {} {repeats:?}", version.name, version.start_ms)
            })
            .collect();
        assert_eq!(shown, ["go b 100 [1, 3]", "go a 200 [2, 4]", "nio b 50 [1]"]);
        assert_eq!(without, [RunKey::new("go", "t").with_repeat(5)]);
        let (days, without) = by_framework(runs, &By::Day, &RunNames::default());
        assert_eq!((days.len(), days[0].1.len(), without.len()), (2, 1, 0));
        assert_eq!(days[0].1[0].name, "1970-01-01");
    }

    #[test]
    fn by_is_a_tag_or_a_word() {
        assert_eq!("tag:commit".parse(), Ok(By::Tag("commit".to_owned())));
        assert_eq!(("day".parse(), "run".parse()), (Ok(By::Day), Ok(By::Run)));
        for wrong in ["commit", "tag:", "tag", "day:x", "tag:a b", ""] {
            assert!(wrong.parse::<By>().is_err(), "{wrong}");
        }
    }
}
