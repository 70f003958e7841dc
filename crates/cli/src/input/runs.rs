//! The runs of a store that flags and names select.

use std::cmp::Reverse;

use anyhow::Result;
use perfpipe_analyze::is_alike;
use perfpipe_ingest::Store;
use perfpipe_ingest::{RunInfo, RunKey};

use crate::args::{RunArgs, Tag, TestArgs};
use crate::error::{CliError, print_error};

const NAME_IT: &str = "Name it, as in go_2048, or by --framework and --test.";

/// The largest number of known names listed in the error on an unknown run.
const LISTED: usize = 10;

/// Returns the runs that are named or those of the test; all runs if neither is given.
pub(crate) fn several(runs: &[RunInfo], names: &[String], of: &TestArgs) -> Result<Vec<RunKey>> {
    match (&of.test, of.tag.is_empty()) {
        (Some(_), _) => of_test(runs, of),
        (None, true) => named_or_all(runs, names),
        (None, false) => Ok(tagged(runs, &of.tag)?.into_iter().map(|run| run.key.clone()).collect()),
    }
}

/// Returns the runs of a test, limited to the requested frameworks and repeats, if any.
pub(crate) fn of_test(runs: &[RunInfo], args: &TestArgs) -> Result<Vec<RunKey>> {
    let TestArgs { test, framework: frameworks, repeat: repeats, tag } = args;
    let test = test.as_deref().unwrap_or_default();
    let of_test: Vec<RunInfo> = runs.iter().filter(|run| run.key.test == test).cloned().collect();
    if !of_test.is_empty() && !tag.is_empty() {
        let tagged: Vec<RunInfo> = tagged(&of_test, tag)?.into_iter().cloned().collect();
        return self::of_test(&tagged, &TestArgs { tag: Vec::new(), ..args.clone() });
    }
    let of_test: Vec<&RunKey> = of_test.iter().map(|run| &run.key).collect();
    if of_test.is_empty() {
        let tests = distinct(runs.iter().map(|run| &run.key.test));
        return Err(missing(format!("the store has no run of the test {test}"), test, "tests", &tests));
    }
    let known = distinct(of_test.iter().map(|key| &key.framework));
    if let Some(unknown) = frameworks.iter().find(|framework| !known.contains(&framework.as_str())) {
        let problem = format!("the store has no run of {unknown} for the test {test}");
        return Err(missing(problem, unknown, "frameworks", &known));
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
        return Err(missing(problem, "", "runs", &distinct(known.iter())));
    }
    let asked = |key: &&RunKey| repeats.is_empty() || repeats.contains(&key.repeat);
    Ok(of_frameworks.into_iter().filter(asked).cloned().collect())
}

/// Returns the runs that have all tags; all runs if there are none.
///
/// # Errors
/// If no run has them.
pub(crate) fn tagged<'a>(runs: &'a [RunInfo], tags: &[Tag]) -> Result<Vec<&'a RunInfo>> {
    let found: Vec<&RunInfo> = runs.iter().filter(|run| tags.iter().all(|tag| tag.is_of(run))).collect();
    if !found.is_empty() || tags.is_empty() {
        return Ok(found);
    }
    let has = |tag: &&Tag| runs.iter().any(|run| tag.is_of(run));
    let lacking = tags.iter().find(|tag| !has(tag)).or(tags.first()).map_or("", |tag| tag.key.as_str());
    let values = distinct(runs.iter().filter_map(|run| run.options.tags.get(lacking)));
    let keys = distinct(runs.iter().flat_map(|run| run.options.tags.keys()));
    let remedy = match (values.as_slice(), keys.as_slice()) {
        ([], []) => "Tags are given at ingest, as in --tag branch=main.".to_owned(),
        ([], keys) => format!("The runs have the tags {}.", keys.join(", ")),
        (values, _) => format!("The runs have the {lacking} {}.", values.join(", ")),
    };
    let told: Vec<String> = tags.iter().map(Tag::to_string).collect();
    Err(CliError::refused(format!("the store has no run with the tag {}", told.join(" and ")), remedy).into())
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

/// Returns the runs with these names.
///
/// # Errors
/// If a name matches no run, or several. Runs that can't be read are told then, since one of them may be meant.
pub(crate) async fn all_named(names: &[String], store: &Store) -> Result<(Vec<RunKey>, Vec<RunInfo>)> {
    let found = store.look().await?;
    let unread = |_: &anyhow::Error| found.unread.iter().for_each(|error| print_error("left out", error));
    let keys = named_or_all(&found.runs, names).inspect_err(unread)?;
    Ok((keys, found.runs))
}

/// Returns the key of the selected run, given by its name or by its parts.
pub(crate) async fn one(args: &RunArgs, store: &Store) -> Result<RunKey> {
    match args {
        RunArgs { run: Some(name), .. } => {
            let (keys, _) = all_named(std::slice::from_ref(name), store).await?;
            keys.into_iter().next().ok_or_else(|| CliError::usage("no run is named", NAME_IT).into())
        }
        RunArgs { framework: Some(framework), test: Some(test), repeat, .. } => {
            of_parts(RunKey::new(framework, test), *repeat, store).await
        }
        _ => Err(CliError::usage("no run is named", NAME_IT).into()),
    }
}

/// Refuses a test without its framework, before any work.
///
/// # Errors
/// If the flags name no run.
pub(crate) fn check(args: &RunArgs) -> Result<()> {
    match args {
        RunArgs { framework: None, test: Some(test), .. } => {
            Err(CliError::usage(format!("--test {test} without --framework names no run"), NAME_IT).into())
        }
        _ => Ok(()),
    }
}

/// Returns the run with these parts: the given repeat, or the only one. Fails if there are several, since none of them
/// stands for all.
async fn of_parts(key: RunKey, repeat: Option<u32>, store: &Store) -> Result<RunKey> {
    if let Some(repeat) = repeat {
        return Ok(key.with_repeat(repeat));
    }
    match store.repeats(&key.framework, &key.test).await?.as_slice() {
        [] => Ok(key),
        [only] => Ok(key.with_repeat(*only)),
        several => {
            let keys: Vec<String> =
                several.iter().map(|repeat| key.clone().with_repeat(*repeat).to_string()).collect();
            let last = several.last().copied().unwrap_or_default();
            Err(CliError::usage(
                format!("the store has several repeats of this run: {}", keys.join(", ")),
                format!("Name one of them, as in --repeat {last}."),
            )
            .into())
        }
    }
}

/// Returns the run with a name: `spring_2048#2` is the second repeat, `spring_2048` the first or the only one. The form
/// `spring/2048` distinguishes runs whose names are equal.
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
        [] => Err(unknown(runs, name)),
        several => {
            let problem = format!("several runs of the store are called {name}");
            let keys: Vec<String> = several.iter().map(|key| spelt_out(key)).collect();
            Err(CliError::usage(problem, format!("Name one of them: {}.", keys.join(", "))).into())
        }
    }
}

/// Returns all repeats of the run with this name. Returns a single run, as [`named`] does, if the name has a repeat
/// number, or if one of the repeats is named by its number in `others`.
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

/// Returns the runs with these names; all runs if there are none.
fn named_or_all(runs: &[RunInfo], names: &[String]) -> Result<Vec<RunKey>> {
    if names.is_empty() {
        return Ok(runs.iter().map(|run| run.key.clone()).collect());
    }
    let mut keys: Vec<RunKey> = Vec::with_capacity(names.len());
    for name in names {
        let key = named(runs, name)?;
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    Ok(keys)
}

/// Returns the names of a framework's test; the second shows where the framework ends.
fn spellings(key: &RunKey) -> [String; 2] {
    [RunKey::new(&key.framework, &key.test).to_string(), format!("{}/{}", key.framework, key.test)]
}

/// Returns the name of a run that shows all its parts.
fn spelt_out(key: &RunKey) -> String {
    let [_, parts] = spellings(key);
    if key.repeat == 1 { parts } else { format!("{parts}#{}", key.repeat) }
}

fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the error for a name that no run has.
fn unknown(runs: &[RunInfo], name: &str) -> anyhow::Error {
    let known: Vec<String> = runs.iter().map(|run| run.key.to_string()).collect();
    let known = distinct(known.iter());
    let reserved = if is_reserved(name) {
        "; names with @c64, @w4 or :tool after the test are reserved for points, which `compare` takes with --test"
    } else {
        ""
    };
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
fn missing(problem: String, name: &str, what: &str, known: &[&str]) -> anyhow::Error {
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

    fn runs(keys: &[(&str, &str, u32)]) -> Vec<RunInfo> {
        let key = |(framework, test, repeat): &(&str, &str, u32)| {
            RunKey::new(*framework, *test).with_repeat(*repeat)
        };
        keys.iter().map(|parts| RunInfo::new(key(parts), 0, 0)).collect()
    }

    fn found(runs: &[RunInfo], name: &str) -> Result<String, String> {
        let parts = |key: RunKey| format!("{} {} {}", key.framework, key.test, key.repeat);
        named(runs, name).map(parts).map_err(|error| {
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
            ("go_2048", "go 2048 1"),
            ("go_2048#1", "go 2048 1"),
            ("go_2048#2", "go 2048 2"),
            ("go/2048#2", "go 2048 2"),
            ("a_b_c", "a_b c 1"),
            ("127.0.0.1:9000_x_y", "127.0.0.1:9000 x_y 3"),
            ("127.0.0.1:9000_x_y#3", "127.0.0.1:9000 x_y 3"),
        ] {
            assert_eq!(found(&runs, name).unwrap(), key, "{name}");
        }
        assert!(found(&runs, "go_2048#3").unwrap_err().contains("go_2048#2"));
        assert!(found(&runs, "a_b").unwrap_err().contains("the store has no run a_b"));
    }

    #[test]
    fn names_of_two_runs_are_refused_and_both_are_listed() {
        let alike = runs(&[("a_b", "c", 1), ("a", "b_c", 1)]);
        let told = found(&alike, "a_b_c").unwrap_err();
        assert!(told.contains("a_b/c") && told.contains("a/b_c"), "{told}");
        assert_eq!(found(&alike, "a/b_c").unwrap(), "a b_c 1");
        let repeats = runs(&[("go", "t", 2), ("go", "t", 3)]);
        let told = found(&repeats, "go_t").unwrap_err();
        assert!(told.contains("go/t#2") && told.contains("go/t#3"), "{told}");
    }

    #[test]
    fn reserved_names_are_told_and_the_nearest_listed() {
        let many: Vec<(String, u32)> = (0..40).map(|at| (format!("framework{at}"), 1)).collect();
        let many: Vec<(&str, &str, u32)> =
            many.iter().map(|(name, repeat)| (&**name, "t", *repeat)).collect();
        let told = found(&runs(&many), "framwork7_t").unwrap_err();
        assert!(
            told.contains("Did you mean framework7_t? The most similar runs: framework7_t,")
                && !told.contains("framework33"),
            "{told}"
        );
        for name in ["go_2048@c64", "go_2048@w4", "go_2048:wrk", "go_2048@c64:wrk"] {
            assert!(found(&runs(&[("go", "2048", 1)]), name).unwrap_err().contains("are reserved"), "{name}");
        }
        for name in ["127.0.0.1:9000_2048", "go_2048@home", "go_2048"] {
            assert!(!found(&[], name).unwrap_err().contains("are reserved"), "{name}");
        }
    }
}
