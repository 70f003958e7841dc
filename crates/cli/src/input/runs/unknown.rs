//! Errors on names that no run has.

use std::cmp::Reverse;

use perfpipe_analyze::is_alike;

use crate::error::CliError;

/// The largest number of known names listed in the error on an unknown run.
const LISTED: usize = 10;

/// Returns the error for a name that no run has.
pub(super) fn run(name: &str, known: &[String]) -> anyhow::Error {
    let reserved = if is_reserved(name) {
        "; names with @c64, @w4 or :tool after the test are reserved for points, which `compare` takes with --test"
    } else {
        ""
    };
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    missing(format!("the store has no run {name}{reserved}"), name, "runs", &known)
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
pub(super) fn missing(problem: String, name: &str, what: &str, known: &[&str]) -> anyhow::Error {
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
