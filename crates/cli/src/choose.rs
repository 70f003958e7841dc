//! Which runs of a store are meant.

use anyhow::Result;
use perfpipe_ingest::store::Store;
use perfpipe_ingest::{Error, RunInfo, RunKey};

use crate::args::KeyArgs;

/// The runs of a test, all repeats, of the frameworks asked for or of all.
pub(crate) fn runs(runs: &[RunInfo], test: &str, frameworks: &[String]) -> Result<Vec<RunKey>> {
    let of_test: Vec<&RunKey> = runs.iter().map(|run| &run.key).filter(|key| key.test == test).collect();
    if of_test.is_empty() {
        let tests = names(runs.iter().map(|run| &run.key.test));
        return Err(missing(format!("the store has no run of the test {test}"), "tests", &tests));
    }
    let known = names(of_test.iter().map(|key| &key.framework));
    if let Some(unknown) = frameworks.iter().find(|framework| !known.contains(&framework.as_str())) {
        let problem = format!("the store has no run of {unknown} for the test {test}");
        return Err(missing(problem, "frameworks", &known));
    }
    let asked = |key: &&RunKey| frameworks.is_empty() || frameworks.contains(&key.framework);
    Ok(of_test.into_iter().filter(asked).cloned().collect())
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

/// The run that prints under a name, as in `spring_2048` or `spring_2048#2`.
pub(crate) fn named(runs: &[RunInfo], name: &str) -> Result<RunKey> {
    let mut found = runs.iter().map(|run| &run.key).filter(|key| key.to_string() == name);
    match (found.next(), found.next()) {
        (Some(key), None) => Ok(key.clone()),
        (Some(_), Some(_)) => {
            let problem = format!("several runs of the store are called {name}");
            Err(Error::refused(problem, "Ingest one of them under another name.").into())
        }
        (None, _) => {
            let known: Vec<String> = runs.iter().map(|run| run.key.to_string()).collect();
            let known = names(known.iter());
            Err(missing(format!("the store has no run {name}"), "runs", &known))
        }
    }
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
