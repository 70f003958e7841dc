//! What is still open of a rule while a run goes on.

use super::measure::Measure;
use super::rule::{Operator, Rule};

/// What a run that breaks a rule so far may do, if it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outlook {
    /// It breaks the rule however it goes on.
    ForGood,
    /// It may keep the rule yet.
    MayMend,
    /// It keeps the rule only by going on: only its end decides.
    AtEnd,
}

/// Which way a figure of a run can go while the run goes on.
enum FigureTrend {
    Up,
    Down,
    Any,
}

impl Rule {
    /// Returns what a run that breaks the rule so far may do, if it goes on.
    ///
    /// A rule about single seconds is broken for good by the first row of seconds that is long enough, and one that a count
    /// or an extreme has passed by that. The phases of a run are known only at its end, so a rule about one may be kept
    /// yet.
    ///
    /// ```
    /// use perfpipe_analyze::{Outlook, Rule};
    ///
    /// let outlook = |rule: &str| rule.parse::<Rule>().map(|rule| rule.outlook());
    /// assert_eq!(outlook("throughput >= 100 for 5s")?, Outlook::ForGood);
    /// assert_eq!(outlook("failures < 10")?, Outlook::ForGood);
    /// assert_eq!(outlook("failures < 1%")?, Outlook::MayMend);
    /// assert_eq!(outlook("requests > 1000")?, Outlook::AtEnd);
    /// # Ok::<(), perfpipe_analyze::Error>(())
    /// ```
    pub fn outlook(&self) -> Outlook {
        let passes = match self.operator {
            Operator::Less | Operator::LessOrEqual => FigureTrend::Up,
            Operator::Greater | Operator::GreaterOrEqual => FigureTrend::Down,
            Operator::Equal | Operator::Unequal => FigureTrend::Any,
        };
        if self.lasting.is_some() {
            return if self.phase.is_some() { Outlook::MayMend } else { Outlook::ForGood };
        }
        match (trend(self.measure), passes) {
            (FigureTrend::Any, _) => Outlook::MayMend,
            (_, _) if self.phase.is_some() => Outlook::MayMend,
            (FigureTrend::Up, FigureTrend::Up) | (FigureTrend::Down, FigureTrend::Down) => Outlook::ForGood,
            _ => Outlook::AtEnd,
        }
    }
}

/// Which way a measure of a whole run can go.
fn trend(measure: Measure) -> FigureTrend {
    match measure {
        Measure::Requests
        | Measure::Successes
        | Measure::Failures
        | Measure::Rejects
        | Measure::ElapsedMax
        | Measure::CpuMax
        | Measure::LoadMax
        | Measure::ServerMax => FigureTrend::Up,
        Measure::ElapsedMin => FigureTrend::Down,
        _ => FigureTrend::Any,
    }
}
