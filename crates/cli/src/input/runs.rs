//! The runs of a store that flags and names select.
//!
//! A name means all repeats of a test, `go_2048#1` the first alone; so do `--framework` and `--test` without and with
//! `--repeat`. A name that fits two tests is refused.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, IsTerminal, Write, stderr, stdin};

use anyhow::{Context, Result};
use perfpipe_analyze::format::counted;
use perfpipe_analyze::is_alike;
use perfpipe_ingest::run::is_numbered;
use perfpipe_ingest::store::Listing;
use perfpipe_ingest::{Error, RunInfo, RunKey, Store};

use super::left_out::LeftOut;
use crate::args::{ConfirmArgs, Tag, TestArgs};
use crate::error::{CliError, print_error};
use crate::output::{note, print_message};

/// Runs of a store.
pub(crate) struct Selection {
    /// The runs, in the order of the names or of the store.
    pub(crate) keys: Vec<RunKey>,
    /// The runs that were looked at and could be read, these and others.
    pub(crate) stored: Vec<RunInfo>,
    /// The errors of those that could not be read, unless they are reported already.
    pub(crate) unread: Vec<Error>,
    /// How runs are printed.
    pub(crate) names: RunNames,
    /// True if each run is named with its number, or chosen by what is stored of it.
    is_exact: bool,
}

impl Selection {
    /// Selects among the runs that can be read, and reports the others as left out. Selects all if nothing is asked for.
    ///
    /// # Errors
    /// If the store has no such run, or if a name fits runs of two tests.
    pub(crate) async fn readable(
        store: &Store,
        names: &[String],
        of: &TestArgs,
        left_out: &mut LeftOut,
    ) -> Result<Self> {
        let stored = left_out.of_test(store, of.test.as_deref()).await?;
        Self::among(stored, names, of)
    }

    /// Selects among all runs: one that is asked for and can't be read is not considered absent, and a reader of it gets
    /// the error. Selects those that can be read if nothing is asked for.
    ///
    /// # Errors
    /// If the store has no such run. Runs that can't be read are reported then, since one of them may be meant.
    pub(crate) async fn any(store: &Store, names: &[String], of: &TestArgs) -> Result<Self> {
        let Listing { runs, unread, .. } = store.look().await?;
        let mut keys: Vec<RunKey> = runs.iter().map(|run| run.key.clone()).collect();
        if !unread.is_empty() && (!names.is_empty() || of.test.is_some()) {
            let others = store.keys().await?.into_iter().filter(|key| !keys.contains(key));
            keys.extend(others.collect::<Vec<_>>());
        }
        match Self::with(runs, keys, names, of) {
            Ok(selection) => Ok(Self { unread, ..selection }),
            Err(error) => {
                unread.iter().for_each(|error| print_error("left out", error));
                Err(error)
            }
        }
    }

    /// Selects among runs that were read.
    ///
    /// # Errors
    /// As [`readable`](Self::readable).
    pub(crate) fn among(stored: Vec<RunInfo>, names: &[String], of: &TestArgs) -> Result<Self> {
        let all = stored.iter().map(|run| run.key.clone()).collect();
        Self::with(stored, all, names, of)
    }

    /// Selects among these runs, of which not all may be readable.
    fn with(stored: Vec<RunInfo>, all: Vec<RunKey>, names: &[String], of: &TestArgs) -> Result<Self> {
        let printed = RunNames::of(&all);
        let tagged: Vec<RunKey> = match of.tag.as_slice() {
            [] => all,
            tags => tagged(&stored, tags, of.test.as_deref())?,
        };
        let keys = match &of.test {
            Some(test) => of_test(&tagged, test, of, &printed)?,
            None if names.is_empty() => tagged,
            None => named(&tagged, names, &printed)?,
        };
        let is_named = names.iter().all(|name| is_numbered(name));
        let is_chosen = !of.repeat.is_empty() || !of.tag.is_empty();
        let is_exact = if names.is_empty() { is_chosen } else { is_named };
        Ok(Self { keys, stored, unread: Vec::new(), names: printed, is_exact })
    }

    /// Returns the names of the runs as they are printed.
    pub(crate) fn printed(&self) -> Vec<String> {
        self.keys.iter().map(|key| self.names.name(key)).collect()
    }

    /// Names the run of several that an error is of: what is written of all of them is not complete then.
    pub(crate) fn named<T>(&self, key: &RunKey, read: Result<T>) -> Result<T> {
        match self.keys.len() {
            1 => read,
            several => read.with_context(|| {
                format!("of {several} runs, {} can't be read, and no other is exported", self.names.name(key))
            }),
        }
    }

    /// Prints which names mean several repeats.
    pub(crate) fn say_repeats(&self, names: &[String]) {
        for name in names {
            let repeats = self.keys.iter().filter(|key| key.is_called(name)).count();
            if repeats > 1 {
                note(&format!("{} of {name}", counted(repeats as u64, "repeat")));
            }
        }
    }

    /// Returns true if the runs may be changed: at once if it is the run that the command line names and no other, else
    /// after a confirmation.
    pub(crate) async fn may_be(&self, deed: Deed, args: &ConfirmArgs, store: &Store) -> Result<bool> {
        let is_plain = match self.keys.as_slice() {
            [] => true,
            [only] => self.is_exact || only.repeat == 1,
            _ => false,
        };
        Ok(is_plain || is_confirmed(deed, &self.printed(), "run", args, store).await?)
    }
}

/// Returns the runs with a name: all repeats, or the one with the number.
///
/// # Errors
/// If no run has it, or runs of two tests do.
pub(crate) fn called(runs: &[RunKey], name: &str, printed: &RunNames) -> Result<Vec<RunKey>> {
    let found: Vec<RunKey> = runs.iter().filter(|key| key.is_called(name)).cloned().collect();
    let tests: BTreeSet<(&str, &str)> =
        found.iter().map(|key| (key.framework.as_str(), key.test.as_str())).collect();
    match tests.len() {
        0 => Err(unknown_run(name, &runs.iter().map(|key| printed.name(key)).collect::<Vec<_>>())),
        1 => Ok(found),
        several => {
            let problem = format!("{name} is the name of runs of {several} tests");
            let joined = |by: &str| -> BTreeSet<String> {
                tests.iter().map(|(framework, test)| format!("{framework}{by}{test}")).collect()
            };
            // Names with a slash may be ambiguous too.
            let parts = [joined("/"), joined("_")].into_iter().find(|names| names.len() == several);
            let remedy = match parts.map(Vec::from_iter) {
                Some(names) => {
                    format!("Name one of them: {}; or give --framework and --test.", names.join(", "))
                }
                None => "Give --framework and --test.".to_owned(),
            };
            Err(CliError::usage(problem, remedy).into())
        }
    }
}

/// Returns the runs with these names, each once.
fn named(runs: &[RunKey], names: &[String], printed: &RunNames) -> Result<Vec<RunKey>> {
    let mut keys: Vec<RunKey> = Vec::with_capacity(names.len());
    for name in names {
        let new = called(runs, name, printed)?.into_iter().filter(|key| !keys.contains(key));
        keys.extend(new.collect::<Vec<_>>());
    }
    Ok(keys)
}

/// Returns the runs of a test, limited to the requested frameworks and repeats, if any.
fn of_test(runs: &[RunKey], test: &str, args: &TestArgs, printed: &RunNames) -> Result<Vec<RunKey>> {
    let TestArgs { framework: frameworks, repeat: repeats, .. } = args;
    let of_test: Vec<&RunKey> = runs.iter().filter(|key| key.test == test).collect();
    if of_test.is_empty() {
        let tests = distinct(runs.iter().map(|key| &key.test));
        let problem = match frameworks.as_slice() {
            [only] => format!("the store has no run {only}_{test}: none is of the test {test}"),
            _ => format!("the store has no run of the test {test}"),
        };
        return Err(missing_name(problem, test, "tests", &tests));
    }
    let known = distinct(of_test.iter().map(|key| &key.framework));
    if let Some(unknown) = frameworks.iter().find(|framework| !known.contains(&framework.as_str())) {
        let problem = format!("the store has no run of {unknown} for the test {test}");
        return Err(missing_name(problem, unknown, "frameworks", &known));
    }
    let of_frameworks: Vec<&RunKey> = of_test
        .into_iter()
        .filter(|key| frameworks.is_empty() || frameworks.contains(&key.framework))
        .collect();
    if let Some(unknown) =
        repeats.iter().find(|repeat| of_frameworks.iter().all(|key| key.repeat != **repeat))
    {
        let known: Vec<String> = of_frameworks.iter().map(|key| printed.name(key)).collect();
        let problem = format!("the store has no repeat {unknown} of the test {test}");
        return Err(missing_name(problem, "", "runs", &distinct(known.iter())));
    }
    let asked = |key: &&RunKey| repeats.is_empty() || repeats.contains(&key.repeat);
    Ok(of_frameworks.into_iter().filter(asked).cloned().collect())
}

/// Returns the runs, of a test if one is given, that have all tags.
///
/// # Errors
/// If no run has them.
fn tagged(stored: &[RunInfo], tags: &[Tag], test: Option<&str>) -> Result<Vec<RunKey>> {
    let of_test = |run: &&RunInfo| test.is_none_or(|test| run.key.test == test);
    let runs: Vec<&RunInfo> = stored.iter().filter(of_test).collect();
    let found: Vec<RunKey> =
        runs.iter().filter(|run| tags.iter().all(|tag| tag.is_of(run))).map(|run| run.key.clone()).collect();
    if !found.is_empty() || runs.is_empty() {
        return Ok(found);
    }
    let has = |tag: &&Tag| runs.iter().any(|run| tag.is_of(run));
    let lacking = tags.iter().find(|tag| !has(tag)).or(tags.first()).map_or("", |tag| tag.key.as_str());
    let values = distinct(runs.iter().filter_map(|run| run.options.tags.get(lacking)));
    let keys = distinct(runs.iter().flat_map(|run| run.options.tags.keys()));
    let remedy = match (values.as_slice(), keys.as_slice()) {
        ([], []) => "Tags are given at ingest, as in --tag branch=main.".to_owned(),
        ([], keys) => format!("The runs have the tags {}.", keys.join(", ")),
        (values, _) => format!("The values of the tag {lacking} are {}.", values.join(", ")),
    };
    let wanted: Vec<String> = tags.iter().map(Tag::to_string).collect();
    Err(CliError::refused(format!("the store has no run with the tag {}", wanted.join(" and ")), remedy)
        .into())
}

/// Returns the common test of runs that are shown together.
pub(crate) fn only_test(keys: &[RunKey]) -> Result<&str> {
    let tests = distinct(keys.iter().map(|key| &key.test));
    match tests.as_slice() {
        [only] => Ok(only),
        several => Err(CliError::usage(
            format!("expected runs of one test, found runs of {}: {}", several.len(), several.join(", ")),
            "Name runs of one test.",
        )
        .into()),
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// What a command does to runs, as in *drop* and *dropped*.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deed(pub(crate) &'static str, pub(crate) &'static str);

/// Asks on the terminal whether these runs or points are to be changed, unless that is confirmed on the command line.
///
/// # Errors
/// If there is no terminal to ask on.
pub(crate) async fn is_confirmed(
    Deed(verb, done): Deed,
    names: &[String],
    what: &str,
    args: &ConfirmArgs,
    store: &Store,
) -> Result<bool> {
    if args.yes {
        return Ok(true);
    }
    let all = counted(names.len() as u64, what);
    if !stdin().is_terminal() || !stderr().is_terminal() {
        let problem = format!("{all} would be {done}: {}", names.join(", "));
        let remedy = match what {
            "run" => "Give --yes if that is meant, or name one run with its number, as in go_2048#1.",
            _ => "Give --yes if that is meant.",
        };
        return Err(CliError::usage(problem, remedy).into());
    }
    print_message(&names.join(", "));
    // The question has no end of line.
    let _ = write!(stderr(), "{verb} {all} in {store}? [y/N] ");
    // On a thread of its own, so that a signal ends the command while it waits for the answer.
    let answer = tokio::task::spawn_blocking(|| {
        let mut answer = String::new();
        stdin().lock().read_line(&mut answer).map(|_| answer)
    });
    Ok(matches!(answer.await??.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// The names of the runs of a store.
///
/// A run is printed as `go_2048#2`, and as `go_2048` if it is the first and the only repeat: that name means all of them.
/// Where the names of two tests would be the same, each is printed as `go/2048`.
#[derive(Debug, Default)]
pub(crate) struct RunNames {
    /// The framework and the test of each name without a repeat, with their repeats.
    tests: BTreeMap<String, BTreeMap<(String, String), BTreeSet<u32>>>,
}

impl RunNames {
    /// Names these runs.
    pub(crate) fn of<'a>(keys: impl IntoIterator<Item = &'a RunKey>) -> Self {
        let mut names = Self::default();
        for key in keys {
            let test = (key.framework.clone(), key.test.clone());
            names.tests.entry(text(key)).or_default().entry(test).or_default().insert(key.repeat);
        }
        names
    }

    /// Names a run that a command has just stored, as the other runs of the store require.
    pub(crate) async fn in_store(store: &Store, key: &RunKey) -> String {
        // That they can't be read is no failure of a command that has done its work.
        let stored = store.keys().await.unwrap_or_default();
        Self::of(stored.iter().chain([key])).name(key)
    }

    /// Returns the name of a run.
    pub(crate) fn name(&self, key: &RunKey) -> String {
        let test = self.test(key);
        let is_only = self.repeats(key).is_none_or(|repeats| repeats.iter().all(|repeat| *repeat == 1));
        let is_bare = key.repeat == 1 && is_only && !is_numbered(&test);
        if is_bare { test } else { format!("{test}#{}", key.repeat) }
    }

    /// Returns the name of all repeats of a run's test.
    pub(crate) fn test(&self, key: &RunKey) -> String {
        let text = text(key);
        let is_shared = self.tests.get(&text).is_some_and(|tests| tests.len() > 1);
        if is_shared { format!("{}/{}", key.framework, key.test) } else { text }
    }

    fn repeats(&self, key: &RunKey) -> Option<&BTreeSet<u32>> {
        self.tests.get(&text(key))?.get(&(key.framework.clone(), key.test.clone()))
    }
}

fn text(key: &RunKey) -> String {
    key.clone().with_repeat(1).to_string()
}

/// The largest number of known names listed in the error on an unknown run.
const LISTED: usize = 10;

/// Returns the error for a name that no run has.
fn unknown_run(name: &str, known: &[String]) -> anyhow::Error {
    let reserved = if is_reserved(name) {
        "; names with @c64, @w4 or :tool after the test are reserved for points, which `compare` takes with --test"
    } else {
        ""
    };
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    missing_name(format!("the store has no run {name}{reserved}"), name, "runs", &known)
}

/// Returns true if a name ends in a form that is reserved for the points of a run: `@c64`, `@w4`, `:tool`.
fn is_reserved(name: &str) -> bool {
    let is_point = |point: &str| {
        let number = point.strip_prefix(['c', 'w']).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let (run, tool) = name.rsplit_once(':').unwrap_or((name, ""));
    let is_tool = !tool.is_empty() && !tool.contains('_') && run.contains('_');
    is_tool || run.rsplit_once('@').is_some_and(|(_, point)| is_point(point))
}

/// Returns the error for a name that is not among the known ones, with the one that was probably meant.
fn missing_name(problem: String, name: &str, what: &str, known: &[&str]) -> anyhow::Error {
    let mut nearest = known.to_vec();
    let likeness = |known: &str| (strsim::normalized_damerau_levenshtein(known, name) * 1e6) as u64;
    nearest.sort_by_cached_key(|known| Reverse(likeness(known)));
    let meant = nearest.first().filter(|nearest| is_alike(nearest, name));
    let meant = meant.map(|meant| format!("Did you mean {meant}? ")).unwrap_or_default();
    let remedy = match known {
        [] => "Store a run with `perfpipe ingest run.zip cpu.csv`.".to_owned(),
        known if known.len() <= LISTED => format!("{meant}The store has the {what} {}.", known.join(", ")),
        _ => {
            nearest.truncate(LISTED);
            format!("{meant}The most similar {what}: {}.", nearest.join(", "))
        }
    };
    CliError::refused(problem, remedy).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(keys: &[(&str, &str, u32)]) -> Vec<RunKey> {
        let key = |(framework, test, repeat): &(&str, &str, u32)| {
            RunKey::new(*framework, *test).with_repeat(*repeat)
        };
        keys.iter().map(key).collect()
    }

    fn found(runs: &[RunKey], name: &str) -> Result<String, String> {
        let parts = |key: &RunKey| format!("{} {} {}", key.framework, key.test, key.repeat);
        let all = |keys: Vec<RunKey>| keys.iter().map(parts).collect::<Vec<_>>().join(", ");
        called(runs, name, &RunNames::of(runs)).map(all).map_err(|error| {
            let remedy =
                error.downcast_ref::<CliError>().map(|error| error.remedy.as_str()).unwrap_or_default();
            format!("{error}. {remedy}")
        })
    }

    #[test]
    fn names_are_matched_whole_and_never_split() {
        let runs =
            runs(&[("go", "2048", 1), ("go", "2048", 2), ("a_b", "c", 1), ("127.0.0.1:9000", "x_y", 3)]);
        for (name, key) in [
            ("go_2048", "go 2048 1, go 2048 2"),
            ("go/2048", "go 2048 1, go 2048 2"),
            ("go_2048#1", "go 2048 1"),
            ("go_2048#2", "go 2048 2"),
            ("go/2048#2", "go 2048 2"),
            ("a_b_c", "a_b c 1"),
            ("127.0.0.1:9000_x_y", "127.0.0.1:9000 x_y 3"),
            ("127.0.0.1:9000_x_y#3", "127.0.0.1:9000 x_y 3"),
        ] {
            assert_eq!(found(&runs, name).unwrap(), key, "{name}");
        }
        assert!(found(&runs, "go_2048#3").unwrap_err().contains("go_2048#1, go_2048#2"));
        assert!(found(&runs, "127.0.0.1:9000_x_y#1").is_err(), "no name falls through to another run");
        assert!(found(&runs, "a_b").unwrap_err().contains("the store has no run a_b"));
    }

    #[test]
    fn names_of_two_runs_are_refused_and_both_are_listed() {
        let ambiguous = runs(&[("a_b", "c", 1), ("a", "b_c", 1)]);
        let problem = found(&ambiguous, "a_b_c").unwrap_err();
        assert!(problem.contains("a_b/c") && problem.contains("a/b_c"), "{problem}");
        assert_eq!(found(&ambiguous, "a/b_c").unwrap(), "a b_c 1");
        assert_eq!(found(&runs(&[("go", "t", 2), ("go", "t", 3)]), "go_t").unwrap(), "go t 2, go t 3");
    }

    #[test]
    fn reserved_names_are_told_and_the_nearest_listed() {
        let many: Vec<(String, u32)> = (0..40).map(|at| (format!("framework{at}"), 1)).collect();
        let many: Vec<(&str, &str, u32)> =
            many.iter().map(|(name, repeat)| (&**name, "t", *repeat)).collect();
        let problem = found(&runs(&many), "framwork7_t").unwrap_err();
        assert!(
            problem.contains("Did you mean framework7_t? The most similar runs: framework7_t,")
                && !problem.contains("framework33"),
            "{problem}"
        );
        for name in ["go_2048@c64", "go_2048@w4", "go_2048:wrk", "go_2048@c64:wrk"] {
            assert!(found(&runs(&[("go", "2048", 1)]), name).unwrap_err().contains("are reserved"), "{name}");
        }
        for name in ["127.0.0.1:9000_2048", "go_2048@home", "go_2048"] {
            assert!(!found(&[], name).unwrap_err().contains("are reserved"), "{name}");
        }
    }

    #[test]
    fn printed_name_means_the_run_and_no_other() {
        let key = |framework: &str, test: &str, repeat| RunKey::new(framework, test).with_repeat(repeat);
        for (keys, names) in [
            (vec![key("go", "t", 1)], vec!["go_t"]),
            (vec![key("go", "t", 1), key("go", "t", 2)], vec!["go_t#1", "go_t#2"]),
            (vec![key("go", "t", 3)], vec!["go_t#3"]),
            (vec![key("a_b", "c", 1), key("a", "b_c", 1)], vec!["a_b/c", "a/b_c"]),
            (vec![key("a_b", "c", 1), key("a", "b_c", 2)], vec!["a_b/c", "a/b_c#2"]),
            (vec![key("go", "t#1", 1), key("go", "t", 1)], vec!["go_t#1#1", "go_t"]),
        ] {
            let printed = RunNames::of(&keys);
            let printed: Vec<String> = keys.iter().map(|key| printed.name(key)).collect();
            assert_eq!(printed, names);
            for (name, key) in printed.iter().zip(&keys) {
                let called: Vec<&RunKey> = keys.iter().filter(|key| key.is_called(name)).collect();
                assert_eq!(called, [key], "{name}");
            }
        }
        assert_eq!(RunNames::default().name(&key("go", "t", 1)), "go_t");
    }
}
