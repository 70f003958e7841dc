//! Which runs of a store are meant.

use anyhow::Result;
use perfpipe_ingest::Store;
use perfpipe_ingest::{Error, RunInfo, RunKey};

use crate::args::{KeyArgs, TestArgs};

/// The runs of a test, of the frameworks and repeats asked for or of all.
pub(crate) fn runs(runs: &[RunInfo], args: &TestArgs) -> Result<Vec<RunKey>> {
    let TestArgs { test, framework: frameworks, repeat: repeats } = args;
    let of_test: Vec<&RunKey> = runs.iter().map(|run| &run.key).filter(|key| key.test == *test).collect();
    if of_test.is_empty() {
        let tests = names(runs.iter().map(|run| &run.key.test));
        return Err(missing(format!("the store has no run of the test {test}"), "tests", &tests));
    }
    let known = names(of_test.iter().map(|key| &key.framework));
    if let Some(unknown) = frameworks.iter().find(|framework| !known.contains(&framework.as_str())) {
        let problem = format!("the store has no run of {unknown} for the test {test}");
        return Err(missing(problem, "frameworks", &known));
    }
    let of_frameworks: Vec<&RunKey> = of_test
        .into_iter()
        .filter(|key| frameworks.is_empty() || frameworks.contains(&key.framework))
        .collect();
    if let Some(unknown) =
        repeats.iter().find(|repeat| of_frameworks.iter().all(|key| key.repeat != **repeat))
    {
        let known: Vec<String> = of_frameworks.iter().map(|key| key.to_string()).collect();
        let problem = format!("the store has no repeat {unknown} of the test {test}");
        return Err(missing(problem, "runs", &names(known.iter())));
    }
    let asked = |key: &&RunKey| repeats.is_empty() || repeats.contains(&key.repeat);
    Ok(of_frameworks.into_iter().filter(asked).cloned().collect())
}

/// The key of the run that is meant: the repeat that was told, else the only one. Where there are several, none of them
/// stands for all.
pub(crate) async fn one(args: &KeyArgs, store: &Store) -> Result<RunKey> {
    let key = RunKey::new(&args.framework, &args.test);
    if let Some(repeat) = args.repeat {
        return Ok(key.with_repeat(repeat));
    }
    match store.repeats(&key.framework, &key.test).await?.as_slice() {
        [] => Ok(key),
        [only] => Ok(key.with_repeat(*only)),
        several => {
            let keys: Vec<String> =
                several.iter().map(|repeat| key.clone().with_repeat(*repeat).to_string()).collect();
            let last = several.last().copied().unwrap_or_default();
            Err(Error::usage(
                format!("the store has several repeats of this run: {}", keys.join(", ")),
                format!("Name one of them, as in --repeat {last}."),
            )
            .into())
        }
    }
}

/// The run that is called so: `spring_2048#2` is the second repeat, `spring_2048` the first, or the only one that there
/// is; `spring/2048` is the same where several read alike.
pub(crate) fn named(runs: &[RunInfo], name: &str) -> Result<RunKey> {
    let called = |is_called: &dyn Fn(&RunKey, &str) -> bool| -> Vec<&RunKey> {
        let any = |key: &&RunKey| spellings(key).iter().any(|own| is_called(key, own));
        runs.iter().map(|run| &run.key).filter(any).collect()
    };
    let exactly =
        called(&|key, own| name == format!("{own}#{}", key.repeat) || (key.repeat == 1 && name == own));
    let found = if exactly.is_empty() { called(&|_, own| name == own) } else { exactly };
    match found.as_slice() {
        [only] => Ok((*only).clone()),
        [] => {
            let known: Vec<String> = runs.iter().map(|run| run.key.to_string()).collect();
            let known = names(known.iter());
            Err(missing(format!("the store has no run {name}"), "runs", &known))
        }
        several => {
            let problem = format!("several runs of the store are called {name}");
            let keys: Vec<String> = several.iter().map(|key| spelt_out(key)).collect();
            Err(Error::refused(problem, format!("Name one of them: {}.", keys.join(", "))).into())
        }
    }
}

/// The run that is called so with all its repeats, where none is told by its number; but as [`named`], where one of
/// them is called by its number among `others`.
pub(crate) fn with_repeats(runs: &[RunInfo], name: &str, others: &[&str]) -> Result<Vec<RunKey>> {
    let repeats: Vec<RunKey> = runs
        .iter()
        .map(|run| &run.key)
        .filter(|key| spellings(key).iter().any(|own| name == own))
        .cloned()
        .collect();
    let numbered = |other: &&str| {
        repeats.iter().any(|key| spellings(key).iter().any(|own| **other == format!("{own}#{}", key.repeat)))
    };
    let is_of_one = |keys: &[RunKey]| {
        keys.windows(2).all(|two| match two {
            [one, other] => (&one.framework, &one.test) == (&other.framework, &other.test),
            _ => true,
        })
    };
    if repeats.len() > 1 && is_of_one(&repeats) && !others.iter().any(numbered) {
        return Ok(repeats);
    }
    Ok(vec![named(runs, name)?])
}

/// The runs that are called so; all, where none is named.
pub(crate) fn named_or_all(runs: &[RunInfo], names: &[String]) -> Result<Vec<RunKey>> {
    if names.is_empty() {
        return Ok(runs.iter().map(|run| run.key.clone()).collect());
    }
    names.iter().map(|name| named(runs, name)).collect()
}

/// The names of a framework's test, of which the second tells the two apart.
fn spellings(key: &RunKey) -> [String; 2] {
    [RunKey::new(&key.framework, &key.test).to_string(), format!("{}/{}", key.framework, key.test)]
}

/// The name of a run that tells all of its parts apart.
fn spelt_out(key: &RunKey) -> String {
    let [_, parts] = spellings(key);
    if key.repeat == 1 { parts } else { format!("{parts}#{}", key.repeat) }
}

fn names<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn missing(problem: String, what: &str, known: &[&str]) -> anyhow::Error {
    let remedy = match known {
        [] => "Bring a run in with `perfpipe ingest run.zip cpu.csv`.".to_owned(),
        known => format!("The {what} that it has: {}.", known.join(", ")),
    };
    Error::refused(problem, remedy).into()
}
