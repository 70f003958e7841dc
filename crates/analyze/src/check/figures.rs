//! The figures of a run for the labels and phases that rules name.

use perfpipe_ingest::StoredRun;

use crate::error::Result;
use crate::timeline::Timeline;
use crate::view::View;
use crate::view::goal::Goal;
use crate::view::phases::Phase;

use super::measure::Measure;
use super::rule::Rule;

/// The timelines of a run, one for each label and phase named by a rule.
pub(super) struct RuleTimelines {
    made: Vec<(LabelPhase, Timeline)>,
}

/// The label and the phase that a rule names.
type LabelPhase = (Option<String>, Option<Phase>);

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
                let mut view = view.clone();
                view.label = part.0.clone().or(view.label);
                view.phase = part.1.or(view.phase);
                made.push((part, Timeline::new(run, &view)?));
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

fn part(rule: &Rule) -> LabelPhase {
    (rule.label.clone(), rule.phase)
}
