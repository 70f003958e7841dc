//! The figures that rules compare with: those of one run, or the medians over several.

use perfpipe_ingest::StoredRun;

use crate::error::Result;
use crate::stats::median::median;
use crate::view::View;

use super::figures::RuleTimelines;
use super::rule::Rule;

/// The figures of the runs that others are compared with.
///
/// Of several runs, a rule compares with the median of their figures. Takes a few bytes a rule and run, however long the
/// runs are.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// The rules that need a baseline, each with its figure in the runs that have it.
    known: Vec<(Rule, Vec<f64>)>,
    /// The number of runs.
    runs: usize,
}

impl Baseline {
    /// Starts a baseline for these rules.
    pub fn new(rules: &[Rule]) -> Self {
        let needed = rules.iter().filter(|rule| rule.needs_baseline());
        Self { known: needed.map(|rule| (rule.clone(), Vec::new())).collect(), runs: 0 }
    }

    /// Adds the figures of a run.
    ///
    /// # Errors
    /// The same errors as [`crate::check`].
    pub fn add(&mut self, run: &StoredRun, view: &View) -> Result<()> {
        let rules: Vec<Rule> = self.known.iter().map(|(rule, _)| rule.clone()).collect();
        let figures = RuleTimelines::new(&rules, run, view)?;
        self.runs += 1;
        for (rule, values) in &mut self.known {
            values.extend(figures.of(rule).and_then(|timeline| rule.of_run(timeline)));
        }
        Ok(())
    }

    /// Returns the reason why a rule has nothing to compare with.
    pub(super) fn lack(&self) -> &'static str {
        if self.runs == 0 {
            "there is no earlier run to compare with"
        } else {
            "the baseline has no such figure"
        }
    }

    /// Returns the figure that a rule compares with; `None` if no run has it.
    pub(super) fn value(&self, rule: &Rule) -> Option<f64> {
        let (_, values) = self.known.iter().find(|(known, _)| known == rule)?;
        median(values.iter().copied())
    }
}
