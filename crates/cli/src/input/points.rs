//! The points of a store that flags and names select: `go@c64`, `go@w4`, `go@c64@w4`, `go@c64:wrk` with all repeats,
//! `go@c64#2` for the second alone.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::Result;
use perfpipe_analyze::is_alike;
use perfpipe_analyze::points::point_of_run;
use perfpipe_ingest::Store;
use perfpipe_ingest::points::{Point, PointKey};
use perfpipe_ingest::run::is_numbered;

use super::left_out::LeftOut;
use crate::args::TestArgs;
use crate::error::CliError;
use crate::output::note;

/// Returns the points of summaries, and with them the stored runs of a test: the hold of each is a point.
///
/// A run without a hold is left out, and said to be. A point of a summary that a run has the key of is the same
/// measurement, less exactly: it is left out too.
pub(crate) async fn with_runs(store: &Store, test: &str, left_out: &mut LeftOut) -> Result<Vec<Point>> {
    let runs = left_out.of_test(store, Some(test)).await?;
    let mut held = Vec::new();
    for info in runs.iter().filter(|info| info.key.test == test) {
        let read = store.read(&info.key).await.map_err(Into::into);
        let Some(run) = left_out.or_leave_out(&info.key, read)? else { continue };
        match point_of_run(&run)? {
            Some(point) => held.push(point),
            None => note(&format!("{} has no hold, so it is not a point of the sweep", info.key)),
        }
    }
    let keys: BTreeSet<&PointKey> = held.iter().map(|point| &point.key).collect();
    let mut points = store.points().await?;
    points.retain(|point| {
        let is_new = !keys.contains(&point.key);
        if !is_new {
            note(&format!("{} is taken from the stored run, not from the summary", point.key));
        }
        is_new
    });
    points.extend(held);
    points.sort_by(|one, other| one.key.cmp(&other.key));
    Ok(points)
}

/// Returns the points of summaries of a test, limited to frameworks and tools, if any are given.
///
/// # Errors
/// If there is none.
pub(crate) async fn of_test(
    store: &Store,
    test: &str,
    frameworks: &[String],
    tools: &[String],
) -> Result<Vec<Point>> {
    among(&store.points().await?, test, frameworks, tools)
}

/// Returns the points that flags for runs select: those of the test, frameworks and repeats. Points have no tags.
///
/// # Errors
/// If there is none.
pub(crate) fn selected(all: Vec<Point>, of: &TestArgs) -> Result<Vec<Point>> {
    let Some(test) = &of.test else { return Ok(all) };
    let mut chosen = among(&all, test, &of.framework, &[])?;
    if let Some(repeat) =
        of.repeat.iter().find(|repeat| chosen.iter().all(|point| point.key.repeat != **repeat))
    {
        let problem = format!("the store has no points of the repeat {repeat} of the test {test}");
        return Err(CliError::refused(problem, "See `perfpipe list --points`.").into());
    }
    chosen.retain(|point| of.repeat.is_empty() || of.repeat.contains(&point.key.repeat));
    Ok(chosen)
}

/// Returns the points of a test among others, limited to frameworks and tools, if any are given.
///
/// # Errors
/// If there is none.
pub(crate) fn among(
    all: &[Point],
    test: &str,
    frameworks: &[String],
    tools: &[String],
) -> Result<Vec<Point>> {
    known(all, "test", test, |key| &key.test)?;
    let mut chosen: Vec<Point> = all.iter().filter(|point| point.key.test == test).cloned().collect();
    for framework in frameworks {
        known(&chosen, "framework", framework, |key| &key.framework)?;
    }
    for tool in tools {
        known(&chosen, "tool", tool, |key| &key.tool)?;
    }
    let is_of = |wanted: &[String], name: &String| wanted.is_empty() || wanted.contains(name);
    chosen.retain(|point| is_of(frameworks, &point.key.framework) && is_of(tools, &point.key.tool));
    Ok(chosen)
}

/// Fails if no point has a part of the key, with the names that there are.
fn known(points: &[Point], what: &str, wanted: &str, part: impl Fn(&PointKey) -> &String) -> Result<()> {
    let names: BTreeSet<&String> = points.iter().map(|point| part(&point.key)).collect();
    if names.iter().any(|name| *name == wanted) {
        return Ok(());
    }
    let list = names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let remedy = match names.iter().find(|name| is_alike(wanted, name)) {
        _ if names.is_empty() => "Store some: perfpipe ingest results/*.log --framework go.".to_owned(),
        Some(similar) => format!("Did you mean {similar}?"),
        None => format!("Choose one of these: {list}."),
    };
    Err(CliError::refused(format!("there are no points of the {what} {wanted}"), remedy).into())
}

/// A framework at a level; the test is given separately.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PointName {
    /// As it was written.
    text: String,
    framework: String,
    concurrency: Option<u32>,
    workers: Option<u32>,
    tool: Option<String>,
    /// The only repeat; all if there is none.
    repeat: Option<u32>,
}

impl PointName {
    /// Reads a name; `None` if it is not of this form.
    fn read(text: &str) -> Option<Self> {
        let (point, repeat) = match text.rsplit_once('#') {
            Some((point, number)) if is_numbered(text) => (point, Some(number.parse().ok()?)),
            _ => (text, None),
        };
        let (mut rest, last) = point.rsplit_once('@')?;
        let (last, tool) = last.split_once(':').map_or((last, None), |(last, tool)| (last, Some(tool)));
        let mut name = Self {
            text: text.to_owned(),
            framework: String::new(),
            concurrency: None,
            workers: None,
            tool: tool.map(str::to_owned),
            repeat,
        };
        name.set(last)?;
        while let Some((before, level)) = rest.rsplit_once('@') {
            if name.set(level).is_none() {
                break;
            }
            rest = before;
        }
        name.framework = rest.to_owned();
        let is_whole = !rest.is_empty() && tool.is_none_or(|tool| !tool.is_empty());
        is_whole.then_some(name)
    }

    /// Sets a level, as in `c64`, that is not set yet.
    fn set(&mut self, level: &str) -> Option<()> {
        let (of, number) = level.split_at_checked(1)?;
        let place = match of {
            "c" => &mut self.concurrency,
            "w" => &mut self.workers,
            _ => return None,
        };
        let number = number.parse().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))?;
        place.is_none().then(|| *place = Some(number))
    }

    /// Reads names; `None` if there are none, or one is not of this form.
    pub(crate) fn all_of<'a>(names: impl Iterator<Item = &'a String>) -> Option<Vec<Self>> {
        let names = names.map(|name| Self::read(name)).collect::<Option<Vec<Self>>>()?;
        Some(names).filter(|names| !names.is_empty())
    }

    /// Returns the points of this name: the repeats of one key.
    ///
    /// # Errors
    /// If there is none, or if they differ in more than their repeat.
    pub(crate) fn among(&self, all: &[Point], test: &str) -> Result<Vec<Point>> {
        let tools = self.tool.as_slice();
        let of_framework = among(all, test, std::slice::from_ref(&self.framework), tools)?;
        let is_at = |key: &PointKey| {
            self.concurrency.is_none_or(|level| key.concurrency == Some(level))
                && self.workers.is_none_or(|level| key.workers == Some(level))
                && self.repeat.is_none_or(|repeat| key.repeat == repeat)
        };
        let points: Vec<Point> = of_framework.iter().filter(|point| is_at(&point.key)).cloned().collect();
        let names: BTreeSet<String> = points.iter().map(|point| self.exactly(&point.key)).collect();
        match Vec::from_iter(names).as_slice() {
            [] => {
                let there: BTreeSet<String> =
                    of_framework.iter().map(|point| self.exactly(&point.key)).collect();
                let problem = format!("there is no point {self} of the test {test}");
                let remedy = format!("There are {}.", Vec::from_iter(there).join(", "));
                Err(CliError::refused(problem, remedy).into())
            }
            [_] => Ok(points),
            several => {
                let problem = format!("{self} names several points of the test {test}");
                Err(CliError::usage(problem, format!("Name one: {}.", several.join(", "))).into())
            }
        }
    }

    /// Names a point with all that its key has.
    fn exactly(&self, key: &PointKey) -> String {
        let level = |of, level: Option<u32>| level.map(|level| format!("@{of}{level}")).unwrap_or_default();
        let (concurrency, workers) = (level('c', key.concurrency), level('w', key.workers));
        format!("{}{concurrency}{workers}:{}", self.framework, key.tool)
    }
}

impl fmt::Display for PointName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_tool_are_read_from_the_end() {
        let parts = |text: &str| {
            PointName::read(text).map(|name| (name.framework, name.concurrency, name.workers, name.tool))
        };
        let wrk = Some("wrk".to_owned());
        assert_eq!(parts("go@c64"), Some(("go".into(), Some(64), None, None)));
        assert_eq!(parts("127.0.0.1:80@w4:wrk"), Some(("127.0.0.1:80".into(), None, Some(4), wrk.clone())));
        assert_eq!(parts("a@b@w4@c8:wrk"), Some(("a@b".into(), Some(8), Some(4), wrk)));
        assert_eq!(PointName::read("go@c64:wrk#2").and_then(|name| name.repeat), Some(2));
        assert_eq!(parts("go@c64#2"), parts("go@c64"));
        assert_eq!(parts("c1@c64"), Some(("c1".into(), Some(64), None, None)));
        for other in
            ["go_2048", "go@64", "go@cx", "@c64", "go@c64:", "go@c+4", "go@c99999999999", "go@é4", "go@c4#"]
        {
            assert_eq!(parts(other), None, "{other}");
        }
    }
}
