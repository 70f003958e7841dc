//! The runs that rules compare with: those that are named, or the latest ones with a tag.

use anyhow::Result;
use perfpipe_analyze::format::counted;
use perfpipe_analyze::{Baseline, PAIR_TAG, Pairing, Rule, SIDE_TAG};
use perfpipe_ingest::{RunInfo, RunKey, Store};

use super::args::{Against, CheckArgs, Fate};
use crate::args::{Tag, TestArgs};
use crate::error::CliError;
use crate::input::runs::Selection;
use crate::input::{store, view};
use crate::output::note;

/// What makes a first run pass.
const FIRST: &str = "--no-baseline pass lets a first run pass";

/// The baselines of the runs that are checked.
pub(super) struct Baselines<'a> {
    args: &'a CheckArgs,
    /// The rules that compare.
    rules: Vec<Rule>,
    /// The store that has the baselines.
    store: Store,
    /// Its runs.
    runs: Vec<RunInfo>,
    /// The runs that the last baseline was made of, and the baseline.
    made: Option<(Vec<RunKey>, Baseline)>,
    /// The notes on runs that are missing, each of which is printed once.
    said: Vec<String>,
}

impl<'a> Baselines<'a> {
    /// Looks for the store of the baselines, which may be missing if a first run passes.
    ///
    /// # Errors
    /// If it can't be read, or if all runs that are checked are their own baseline.
    pub(super) async fn new(
        args: &'a CheckArgs,
        rules: &[Rule],
        store: &Store,
        (runs, checked): (&[RunInfo], &[RunKey]),
    ) -> Result<Self> {
        let path = args.baseline_store.baseline_store.as_deref();
        let is_missing = path.is_some_and(|path| !path.to_string_lossy().contains("://") && !path.exists());
        let is_excused = is_missing && args.no_baseline == Some(Fate::Pass);
        let open = |path| store::existing_folder(path, store::BASELINE_FLAG);
        let other = match path.filter(|_| !is_excused).map(open).transpose() {
            Err(error) if is_missing => return Err(no_earlier_run(&error).into()),
            other => other?,
        };
        // Other runs that are damaged there do not matter.
        let runs = match &other {
            Some(other) => other.look().await?.runs,
            None if is_excused => Vec::new(),
            None => runs.to_vec(),
        };
        let rules = rules.iter().filter(|rule| rule.needs_baseline()).cloned().collect();
        let store = other.unwrap_or_else(|| store.clone());
        let baselines = Self { args, rules, store, runs, made: None, said: Vec::new() };
        baselines.refuse_itself(checked)?;
        Ok(baselines)
    }

    /// Refuses a baseline that is all that is checked.
    fn refuse_itself(&self, checked: &[RunKey]) -> Result<()> {
        for against in &self.args.baseline {
            let Against::Run(name) = against else { continue };
            let is_meant = |run: &&RunInfo| run.key.is_called(name);
            let keys: Vec<&RunKey> = self.runs.iter().filter(is_meant).map(|run| &run.key).collect();
            if self.is_own() && keys.len() == 1 && checked.iter().all(|key| keys.contains(&key)) {
                let problem = format!("{name} is compared with itself");
                let remedy = "Name another run (--baseline), or take the baseline from another store (--baseline-store).";
                return Err(CliError::usage(problem, remedy).into());
            }
        }
        Ok(())
    }

    /// Returns true if the baselines are in the store of the runs that are checked.
    fn is_own(&self) -> bool {
        self.args.baseline_store.baseline_store.is_none()
    }

    /// Returns the runs with a name: all repeats.
    ///
    /// # Errors
    /// If there is none, unless a first run passes; or if a run that is checked is one of several.
    fn named(&self, name: &str, checked: &[RunInfo]) -> Result<Vec<RunKey>> {
        let found = Selection::among(self.runs.clone(), &[name.to_owned()], &TestArgs::default());
        let keys = match found {
            Ok(found) => found.keys,
            Err(_) if self.is_absent(name) && self.args.no_baseline == Some(Fate::Pass) => Vec::new(),
            Err(error) if self.is_absent(name) => return Err(no_earlier_run(&error).into()),
            Err(error) => return Err(error),
        };
        if self.is_own() && keys.len() > 1 && checked.iter().any(|run| keys.contains(&run.key)) {
            let problem =
                format!("the baseline {name} is of {} repeats, one of which is checked", keys.len());
            let remedy = format!("Name one of them with its number, as in --baseline '{name}#1'.");
            return Err(CliError::usage(problem, remedy).into());
        }
        Ok(keys)
    }

    fn is_absent(&self, name: &str) -> bool {
        !self.runs.iter().any(|run| run.key.is_called(name))
    }

    /// Returns the baseline of a run for rules with fixed limits; `None` if no baseline is asked for.
    ///
    /// # Errors
    /// As [`Self::keys`].
    pub(super) async fn of_run(&mut self, run: &RunInfo) -> Result<Option<Baseline>> {
        if self.args.baseline.is_empty() {
            return Ok(None);
        }
        let keys = self.keys(std::slice::from_ref(run))?;
        self.made_of(keys).await.map(Some)
    }

    /// Returns the baseline of repeats for rules about chance; `None` if one of them is in it.
    ///
    /// # Errors
    /// If a baseline is of another test, whose figures have nothing to do with theirs; otherwise as [`Self::keys`].
    pub(super) async fn of_repeats(&mut self, checked: &[RunInfo]) -> Result<Option<Baseline>> {
        let keys = self.keys(checked)?;
        let other_test = |key: &&RunKey| checked.iter().any(|run| run.key.test != key.test);
        if let (Some(key), Some(run)) = (keys.iter().find(other_test), checked.first()) {
            let (own, test) = (&run.key.test, &key.test);
            let problem =
                format!("the baseline {key} is of the test {test}, and {} of the test {own}", run.key);
            return Err(
                CliError::usage(problem, format!("Name a run of the test {own} (--baseline).")).into()
            );
        }
        if self.is_own() && checked.iter().any(|run| keys.contains(&run.key)) {
            return Ok(None);
        }
        let of_baseline: Vec<&RunInfo> = self.runs.iter().filter(|run| keys.contains(&run.key)).collect();
        let unpaired = Pairing::of(&of_baseline, &checked.iter().collect::<Vec<_>>()).left_out()?;
        unpaired.iter().for_each(|sentence| note(sentence));
        self.made_of(keys).await.map(Some)
    }

    /// Measures the runs of a baseline, unless the last one was made of them.
    async fn made_of(&mut self, keys: Vec<RunKey>) -> Result<Baseline> {
        if let Some((made_of, baseline)) = &self.made
            && *made_of == keys
        {
            return Ok(baseline.clone());
        }
        let mut baseline = Baseline::new(&self.rules);
        for key in &keys {
            let run = view::read_by_rules(&self.store, key, &self.rules, &self.args.scope).await?;
            baseline.add(&run, &view::scope(&self.args.scope, &run.info))?;
        }
        self.made = Some((keys, baseline.clone()));
        Ok(baseline)
    }

    /// Returns the runs that others are compared with, each once.
    ///
    /// # Errors
    /// Those of [`Self::named`].
    fn keys(&mut self, checked: &[RunInfo]) -> Result<Vec<RunKey>> {
        let mut keys: Vec<RunKey> = Vec::new();
        let args = self.args;
        for against in &args.baseline {
            let found = match against {
                Against::Run(name) => self.named(name, checked)?,
                Against::Pair => partners(&self.runs, checked)?,
                Against::Last(number, tag) => {
                    let found = last(&self.runs, checked, *number, tag);
                    let lacks = checked.first().filter(|_| found.len() < *number);
                    let lacks = lacks.map(|run| fewer(run, found.len(), tag));
                    if let Some(lacks) = lacks.filter(|lacks| !self.said.contains(lacks)) {
                        note(&lacks);
                        self.said.push(lacks);
                    }
                    found
                }
            };
            keys.extend(found.into_iter().filter(|key| !keys.contains(key)).collect::<Vec<_>>());
        }
        Ok(keys)
    }
}

/// Returns the error of a check that has no run to compare with, made of the one that says what is missing.
fn no_earlier_run(error: &anyhow::Error) -> CliError {
    let remedy =
        error.downcast_ref::<CliError>().map_or_else(String::new, |error| format!("{} ", error.remedy));
    CliError::no_earlier_run(format!("there is no run to compare with: {error}"), format!("{remedy}{FIRST}."))
}

/// Returns the error of rules that have no run to compare with.
pub(super) fn no_earlier_run_of(rules: usize, all: usize) -> CliError {
    let problem = format!("{rules} of {} have no run to compare with", counted(all as u64, "rule"));
    let remedy = format!("Store runs with the tag of --baseline first, or name a run; {FIRST}.");
    CliError::no_earlier_run(problem, remedy)
}

/// Says that a run has fewer earlier runs with a tag than were asked for.
fn fewer(run: &RunInfo, found: usize, tag: &Tag) -> String {
    let RunKey { framework, test, .. } = &run.key;
    match found {
        0 => format!(
            "no earlier run of {framework} and {test} has the tag {tag}: {} can't be compared",
            run.key
        ),
        _ => format!(
            "{}: compared with {} only, all that have the tag {tag}",
            run.key,
            counted(found as u64, "earlier run")
        ),
    }
}

/// Returns the latest runs with a tag that are of the same framework and test as some runs, which are judged together, and
/// started before the first of them.
fn last(runs: &[RunInfo], checked: &[RunInfo], number: usize, tag: &Tag) -> Vec<RunKey> {
    let Some(run) = checked.iter().min_by_key(|run| run.t0_ms) else { return Vec::new() };
    let is_alike = |other: &&RunInfo| {
        let same = (&other.key.framework, &other.key.test) == (&run.key.framework, &run.key.test);
        same && other.t0_ms < run.t0_ms && tag.is_of(other)
    };
    let mut earlier: Vec<&RunInfo> = runs.iter().filter(is_alike).collect();
    earlier.sort_by_key(|other| std::cmp::Reverse((other.t0_ms, other.key.repeat)));
    earlier.into_iter().take(number).map(|other| other.key.clone()).collect()
}

/// Returns the other runs of the pairs that some runs are in.
///
/// # Errors
/// If one of them is in no pair, or if both runs of a pair are to be checked.
fn partners(runs: &[RunInfo], checked: &[RunInfo]) -> Result<Vec<RunKey>> {
    let tag = |run: &RunInfo, key: &str| run.options.tags.get(key).cloned();
    let mut found = Vec::new();
    for run in checked {
        let (Some(pair), Some(side)) = (tag(run, PAIR_TAG), tag(run, SIDE_TAG)) else {
            let problem = format!("--baseline pair: {} has no tags {PAIR_TAG} and {SIDE_TAG}", run.key);
            let remedy = "Give both runs of a pair the same tag `pair` and different tags `side` at ingest.";
            return Err(CliError::usage(problem, remedy).into());
        };
        let is_partner = |other: &&RunInfo| {
            other.key.test == run.key.test
                && tag(other, PAIR_TAG).as_ref() == Some(&pair)
                && tag(other, SIDE_TAG).is_some_and(|own| own != side)
        };
        if let Some(other) = checked.iter().find(is_partner) {
            let problem = format!(
                "--baseline pair: both {} and {}, of one pair, are to be checked",
                run.key, other.key
            );
            let remedy = format!("Choose one side: --tag {SIDE_TAG}={side}.");
            return Err(CliError::usage(problem, remedy).into());
        }
        found.extend(runs.iter().filter(is_partner).map(|other| other.key.clone()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_side_of_pairs_is_checked() {
        let run = |repeat: u32, pair: &str, side: &str| {
            let mut run = RunInfo::new(RunKey::new("go", "t").with_repeat(repeat), 0, 0);
            let tags = [(PAIR_TAG, pair), (SIDE_TAG, side)];
            run.options.tags.extend(tags.map(|(key, value)| (key.to_owned(), value.to_owned())));
            run
        };
        let runs = [run(1, "1", "old"), run(2, "1", "new"), run(3, "2", "new"), run(4, "2", "old")];
        let new = [runs[1].clone(), runs[2].clone()];
        let repeats: Vec<u32> = partners(&runs, &new).unwrap().iter().map(|key| key.repeat).collect();
        assert_eq!(repeats, [1, 4]);
        let error = format!("{:#}", partners(&runs, &runs).unwrap_err());
        assert!(error.contains("both go_t and go_t#2, of one pair, are to be checked"), "{error}");
    }

    #[test]
    fn latest_runs_before_a_run_are_its_baseline() {
        let tag: Tag = "branch=main".parse().unwrap();
        let run = |framework: &str, repeat: u32, t0_ms: i64, is_tagged: bool| {
            let mut run = RunInfo::new(RunKey::new(framework, "t").with_repeat(repeat), t0_ms, t0_ms);
            run.options.tags.extend(is_tagged.then(|| (tag.key.clone(), tag.value.clone())));
            run
        };
        let runs = [
            run("go", 1, 100, true),
            run("go", 2, 200, true),
            run("go", 3, 300, false),
            run("go", 4, 400, true),
            run("go", 5, 500, true),
            run("nio", 6, 450, true),
        ];
        let repeats = |at: usize, number| -> Vec<u32> {
            last(&runs, &runs[at..=at], number, &tag).iter().map(|key| key.repeat).collect()
        };
        assert_eq!(repeats(4, 2), [4, 2]);
        assert_eq!(repeats(4, 9), [4, 2, 1]);
        assert_eq!(repeats(0, 5), [0_u32; 0]);
        let before_both = last(&runs, &runs[3..=4], 9, &tag);
        assert_eq!(before_both.iter().map(|key| key.repeat).collect::<Vec<u32>>(), [2, 1]);
    }
}
