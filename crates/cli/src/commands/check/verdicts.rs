//! The verdicts on all runs. A run that lacks what a rule is about does not stop the others.

use anyhow::Result;
use perfpipe_analyze::{Baseline, Error, Rule, Verdict, View, check};
use perfpipe_ingest::StoredRun;

/// The verdicts so far.
#[derive(Default)]
pub(super) struct Verdicts {
    all: Vec<Verdict>,
    /// The rules that could be checked in no run so far, each with the reason.
    unchecked: Vec<(Rule, Error)>,
    /// The rules that could be checked.
    checked: Vec<Rule>,
}

impl Verdicts {
    /// Checks a run, which is printed by this name, against all rules.
    ///
    /// # Errors
    /// Those of [`check`], but for a label or a phase that the run lacks, by which the rule is broken.
    pub(super) fn add(
        &mut self,
        rules: &[Rule],
        (run, name): (&StoredRun, &str),
        view: &View,
        baseline: Option<&Baseline>,
    ) -> Result<()> {
        let before = self.all.len();
        self.judge(rules, run, view, baseline)?;
        for verdict in self.all.iter_mut().skip(before) {
            name.clone_into(&mut verdict.run);
            if let (Some(_), Some(note)) = (verdict.long_failures, &mut verdict.note) {
                note.push_str("; --include-failures counts them");
            }
        }
        Ok(())
    }

    fn judge(
        &mut self,
        rules: &[Rule],
        run: &StoredRun,
        view: &View,
        baseline: Option<&Baseline>,
    ) -> Result<()> {
        match check(rules, run, view, baseline) {
            Ok(verdicts) => {
                self.all.extend(verdicts);
                self.checked.extend(rules.iter().cloned());
                return Ok(());
            }
            Err(error) if !is_lack(&error) => return Err(error.into()),
            Err(_) => {}
        }
        for rule in rules {
            match check(std::slice::from_ref(rule), run, view, baseline) {
                Ok(verdicts) => {
                    self.all.extend(verdicts);
                    self.checked.push(rule.clone());
                }
                Err(error) if is_lack(&error) => {
                    self.all.push(Verdict::unchecked(rule, &run.info.key, error.to_string()));
                    self.unchecked.push((rule.clone(), error));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Returns all verdicts.
    ///
    /// # Errors
    /// If a rule could be checked in no run: it is rather misspelt than broken.
    pub(super) fn end(self) -> Result<Vec<Verdict>> {
        let Self { all, unchecked, checked } = self;
        match unchecked.into_iter().find(|(rule, _)| !checked.contains(rule)) {
            Some((_, error)) => Err(error.into()),
            None => Ok(all),
        }
    }
}

/// Returns true if an error says that a run lacks a label or a phase.
pub(crate) fn is_lack(error: &Error) -> bool {
    matches!(error, Error::UnknownLabel { .. } | Error::NoPhase { .. })
}
