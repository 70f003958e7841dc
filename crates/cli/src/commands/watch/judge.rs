//! Rules that are judged while a test runs.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use perfpipe_analyze::{Error, Outlook, Rule, Verdict, View, check};
use perfpipe_ingest::StoredRun;
use perfpipe_ingest::watch::{Look, Watch};

use super::lines::Pace;
use crate::commands::check::{is_lack, sentence};
use crate::error::{BrokenForGood, CliError};
use crate::input::view;

/// What a verdict calls the run, which has no name yet.
const SO_FAR: &str = "the test so far";

/// The rules of a test that runs.
pub(super) struct Judge {
    rules: Vec<JudgedRule>,
    /// The time, in seconds of the run, for which a rule that may be kept yet is broken until it counts as broken for good.
    /// `None` if no broken rule ends the command.
    abort_after: Option<u32>,
    /// The number of seconds that were judged.
    judged: u32,
    pace: Pace,
}

/// A rule, and since when it has been broken.
struct JudgedRule {
    rule: Rule,
    since: Option<u32>,
}

impl Judge {
    /// Reads the rules.
    ///
    /// # Errors
    /// If a rule can't be judged while a test runs: it compares with another run, or is about points.
    pub(super) fn of(file: &Path, abort_after: Option<Duration>) -> Result<Self> {
        let rules = view::rules_of_file(file)?;
        let refused = rules.iter().find(|rule| rule.needs_baseline() || rule.level().is_some());
        if let Some(rule) = refused {
            let what = if rule.needs_baseline() { "compares with another run" } else { "is about points" };
            let problem = format!("{}: the rule `{rule}` {what}", file.display());
            let remedy = "Leave it out, and judge it by `perfpipe check` once the run is stored.";
            return Err(CliError::usage(problem, remedy).into());
        }
        let rules = rules.into_iter().map(|rule| JudgedRule { rule, since: None }).collect();
        let abort_after = abort_after.map(|after| u32::try_from(after.as_secs()).unwrap_or(u32::MAX));
        Ok(Self { rules, abort_after, judged: 0, pace: Pace::default() })
    }

    /// The rules.
    pub(super) fn rules(&self) -> Vec<Rule> {
        self.rules.iter().map(|judged| judged.rule.clone()).collect()
    }

    /// Judges all rules by the seconds so far. Those that can't be judged yet are left out.
    pub(super) fn so_far(&self, run: &StoredRun) -> Result<Vec<Verdict>> {
        let all: Result<Vec<Vec<Verdict>>> =
            self.rules.iter().map(|judged| verdicts(&judged.rule, run)).collect();
        Ok(all?.concat())
    }

    /// Judges the seconds so far, if there are more than at the last time.
    ///
    /// # Errors
    /// If a rule is broken for good, and that ends the command.
    pub(super) fn judge(&mut self, watch: &Watch, look: &Look) -> Result<()> {
        let is_due = look.complete != self.judged && self.pace.is_due();
        let Some(abort_after) = self.abort_after.filter(|_| is_due) else { return Ok(()) };
        let begun = Instant::now();
        if let Some(run) = watch.run(0)? {
            for judged in &mut self.rules {
                judged.judge(&run, abort_after)?;
            }
        }
        self.judged = look.complete;
        self.pace.pause_after(begun.elapsed());
        Ok(())
    }
}

impl JudgedRule {
    fn judge(&mut self, run: &StoredRun, abort_after: u32) -> Result<()> {
        let outlook = self.rule.outlook();
        let mut verdict = match verdict(&self.rule, run)? {
            Some(verdict) if outlook != Outlook::AtEnd => verdict,
            _ => {
                self.since = None;
                return Ok(());
            }
        };
        let second = run.info.seconds.saturating_sub(1);
        let since = *self.since.get_or_insert(second);
        if outlook == Outlook::ForGood || second.saturating_sub(since) >= abort_after {
            verdict.run = SO_FAR.to_owned();
            return Err(BrokenForGood { verdict: sentence(&verdict), second }.into());
        }
        Ok(())
    }
}

/// Judges a rule; `None` if it holds so far or is open: a label or a phase may come yet.
fn verdict(rule: &Rule, run: &StoredRun) -> Result<Option<Verdict>> {
    Ok(verdicts(rule, run)?.into_iter().find(|verdict| !verdict.holds))
}

/// Judges a rule by a run that may go on; what is open is left out.
fn verdicts(rule: &Rule, run: &StoredRun) -> Result<Vec<Verdict>> {
    match check(std::slice::from_ref(rule), run, &View::of(&run.info), None) {
        Ok(verdicts) => Ok(verdicts.into_iter().filter(|verdict| !verdict.open).collect()),
        // Only the samples distinguish such a label, once they are stored.
        Err(Error::SharedLabel { .. }) => Ok(Vec::new()),
        Err(error) if is_lack(&error) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}
