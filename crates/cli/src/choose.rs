//! Which runs of a store are meant.

use anyhow::Result;
use perfpipe_ingest::{Error, RunInfo, RunKey};

/// The runs of a test, of the frameworks asked for or of all.
pub(crate) fn runs(runs: &[RunInfo], test: &str, frameworks: &[String]) -> Result<Vec<RunKey>> {
    let of_test: Vec<&RunKey> = runs.iter().map(|run| &run.key).filter(|key| key.test == test).collect();
    if of_test.is_empty() {
        let tests = names(runs.iter().map(|run| &run.key.test));
        return Err(missing(format!("the store has no run of the test {test}"), "tests", &tests));
    }
    let mut keys = Vec::new();
    for framework in frameworks {
        match of_test.iter().find(|key| key.framework == *framework) {
            Some(key) => keys.push((*key).clone()),
            None => {
                let known = names(of_test.iter().map(|key| &key.framework));
                let problem = format!("the store has no run of {framework} for the test {test}");
                return Err(missing(problem, "frameworks", &known));
            }
        }
    }
    keys.dedup();
    Ok(if frameworks.is_empty() { of_test.into_iter().cloned().collect() } else { keys })
}

/// The run that prints under a name, as in `spring_2048`.
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
