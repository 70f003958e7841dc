//! The figures of a run for the labels and phases that rules name, and those of other runs that rules compare with.

use perfpipe_model::StoredRun;

use super::gate::RuleFigures;
use super::measure::Measure;
use super::rule::Rule;
use crate::error::Result;
use crate::stats::percentile::median;
use crate::timeline::Timeline;
use crate::view::phases::Phase;
use crate::view::{Goal, View};

/// The figures of the runs that others are compared with.
///
/// Of several runs, a rule compares with the median of their figures, and one about chance with their mean. Takes about 100 KB
/// a run for each label and phase that rules name, however long the runs are.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// The rules that need a baseline, each with its figure in the runs that have it.
    known: Vec<(Rule, Vec<f64>)>,
    /// The figures of each run with their noise.
    runs: Vec<RuleFigures>,
}

impl Baseline {
    /// Starts a baseline for these rules.
    pub fn new(rules: &[Rule]) -> Self {
        let needed = rules.iter().filter(|rule| rule.needs_baseline());
        Self { known: needed.map(|rule| (rule.clone(), Vec::new())).collect(), runs: Vec::new() }
    }

    /// Adds the figures of a run.
    ///
    /// # Errors
    /// The same errors as [`crate::check`].
    pub fn add(&mut self, run: &StoredRun, view: &View) -> Result<()> {
        let rules: Vec<Rule> = self.known.iter().map(|(rule, _)| rule.clone()).collect();
        let figures = RuleTimelines::new(&rules, run, view)?;
        self.runs.push(RuleFigures::new(&rules, run, view)?);
        for (rule, values) in &mut self.known {
            values.extend(figures.of(rule).and_then(|timeline| rule.of_run(timeline)));
        }
        Ok(())
    }

    /// Returns true if there are no runs to compare with.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns the figures of its runs with their noise.
    pub(super) fn runs(&self) -> &[RuleFigures] {
        &self.runs
    }

    /// Returns the reason why a rule has nothing to compare with.
    pub(super) fn lack(&self) -> &'static str {
        if self.is_empty() {
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

/// The timelines of a run, one for each label and phase named by a rule.
pub(super) struct RuleTimelines {
    made: Vec<(LabelPhase, Timeline)>,
}

/// The label and the phase that a rule names.
pub(super) type LabelPhase = (Option<String>, Option<Phase>);

impl RuleTimelines {
    /// Computes the timelines, with the percentiles and the goals of all rules.
    pub(super) fn new(rules: &[Rule], run: &StoredRun, view: &View) -> Result<Self> {
        let percentiles = rules.iter().filter_map(|rule| match rule.measure {
            Measure::Percentile(percent) => Some(percent),
            _ => None,
        });
        let mut goals: Vec<Goal> = Vec::new();
        for rule in rules {
            if let Measure::Goal(goal) = rule.measure
                && !goals.contains(&goal)
            {
                goals.push(goal);
            }
        }
        let view = View { percentiles: percentiles.collect(), goals, ..view.clone() };
        let mut made: Vec<(LabelPhase, Timeline)> = Vec::new();
        for part in rules.iter().map(part) {
            if made.iter().all(|(known, _)| *known != part) {
                let timeline = Timeline::new(run, &view_of(&part, &view))?;
                made.push((part, timeline));
            }
        }
        Ok(Self { made })
    }

    /// Returns the timeline for the label and phase of a rule; each rule passed to [`RuleTimelines::new`] has one.
    pub(super) fn of(&self, rule: &Rule) -> Option<&Timeline> {
        let part = part(rule);
        self.made.iter().find(|(known, _)| *known == part).map(|(_, timeline)| timeline)
    }
}

/// Returns what a label and a phase, if they are named, leave of a view.
pub(super) fn view_of((label, phase): &LabelPhase, view: &View) -> View {
    let mut view = view.clone();
    view.label = label.clone().or(view.label);
    view.phase = phase.or(view.phase);
    view
}

/// Returns the label and the phase that a rule names.
pub(super) fn part(rule: &Rule) -> LabelPhase {
    (rule.label.clone(), rule.phase)
}
