//! The runs that rules compare with: one that is named, or the latest ones with a tag.

use anyhow::Result;
use perfpipe_analyze::format::counted;
use perfpipe_analyze::{Baseline, Rule};
use perfpipe_ingest::{RunInfo, RunKey, Store};

use super::args::{Against, CheckArgs};
use crate::args::{Tag, TestArgs};
use crate::error::CliError;
use crate::input::runs::Selection;
use crate::input::{store, view};
use crate::output::note;

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
}

impl<'a> Baselines<'a> {
    pub(super) async fn new(
        args: &'a CheckArgs,
        rules: &[Rule],
        store: &Store,
        runs: &[RunInfo],
    ) -> Result<Self> {
        let open = |path| store::existing_folder(path, store::BASELINE_FLAG);
        let other = args.baseline_store.baseline_store.as_deref().map(open).transpose()?;
        // Other runs that are damaged there do not matter.
        let runs = match &other {
            Some(other) => other.look().await?.runs,
            None => runs.to_vec(),
        };
        let rules = rules.iter().filter(|rule| rule.needs_baseline()).cloned().collect();
        Ok(Self { args, rules, store: other.unwrap_or_else(|| store.clone()), runs, made: None })
    }

    /// Returns the runs with a name: the baseline is the median of all repeats.
    ///
    /// # Errors
    /// If there is none, or if the run that is checked is one of several.
    fn named(&self, name: &str, checked: &RunKey) -> Result<Vec<RunKey>> {
        let keys = Selection::among(self.runs.clone(), &[name.to_owned()], &TestArgs::default())?.keys;
        let is_own = self.args.baseline_store.baseline_store.is_none();
        if is_own && keys.len() > 1 && keys.contains(checked) {
            let problem =
                format!("the baseline {name} is of {} repeats, one of which is checked", keys.len());
            let remedy = format!("Name one of them with its number, as in --baseline '{name}#1'.");
            return Err(CliError::usage(problem, remedy).into());
        }
        Ok(keys)
    }

    /// Returns the baseline of a run; `None` if no baseline is asked for.
    pub(super) async fn of(&mut self, run: &RunInfo) -> Result<Option<Baseline>> {
        let keys = match &self.args.baseline {
            None => return Ok(None),
            Some(Against::Run(name)) => self.named(name, &run.key)?,
            Some(Against::Last(number, tag)) => {
                let keys = last(&self.runs, run, *number, tag);
                if keys.len() < *number {
                    note(&fewer(run, keys.len(), tag));
                }
                keys
            }
        };
        if let Some((made_of, baseline)) = &self.made
            && *made_of == keys
        {
            return Ok(Some(baseline.clone()));
        }
        let mut baseline = Baseline::new(&self.rules);
        for key in &keys {
            let run = view::read_by_rules(&self.store, key, &self.rules, &self.args.scope).await?;
            baseline.add(&run, &view::scope(&self.args.scope, &run.info))?;
        }
        self.made = Some((keys, baseline.clone()));
        Ok(Some(baseline))
    }
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

/// Returns the latest runs with a tag that are of the same framework and test as a run, and started before it.
fn last(runs: &[RunInfo], run: &RunInfo, number: usize, tag: &Tag) -> Vec<RunKey> {
    let is_alike = |other: &&RunInfo| {
        let same = (&other.key.framework, &other.key.test) == (&run.key.framework, &run.key.test);
        same && other.t0_ms < run.t0_ms && tag.is_of(other)
    };
    let mut earlier: Vec<&RunInfo> = runs.iter().filter(is_alike).collect();
    earlier.sort_by_key(|other| std::cmp::Reverse((other.t0_ms, other.key.repeat)));
    earlier.into_iter().take(number).map(|other| other.key.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            last(&runs, &runs[at], number, &tag).iter().map(|key| key.repeat).collect()
        };
        assert_eq!(repeats(4, 2), [4, 2]);
        assert_eq!(repeats(4, 9), [4, 2, 1]);
        assert_eq!(repeats(0, 5), [0_u32; 0]);
    }
}
