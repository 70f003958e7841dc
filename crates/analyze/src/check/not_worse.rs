//! Rules about chance: `not worse than baseline by 3%`.

use super::measure::Measure;
use super::rule::{Limit, Operator};
use super::words::{Read, Unread, Words};
use crate::compare::margin::Null;

/// A margin must be below this share of a figure that must not be less.
const ALL: f64 = 1.0;

/// What a rule about chance excludes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NotWorse {
    /// True if more of the figure is the harm, false if less of it is.
    pub(super) harm_is_more: bool,
    /// The harm that is allowed.
    pub(super) margin: Option<Margin>,
}

/// The harm that a rule allows, above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Margin {
    /// A share of the baseline's value.
    Share(f64),
    /// A difference in the measure's unit; of a series, in the unit of the rule.
    Amount(f64),
}

impl NotWorse {
    /// Reads what follows `not` in a rule.
    pub(super) fn read(words: &mut Words<'_>, measure: &mut Measure, name: &str) -> Read<Self> {
        // What is compared of failures is their share.
        if *measure == Measure::Failures {
            *measure = Measure::FailuresPercent;
        }
        let harm_is_more = harm(words.word(), *measure, name)?;
        if !(words.take("than") && words.take("baseline")) {
            let remedy = format!("Write it as in `{name} not worse than baseline by 3%`");
            return Err(Unread::new("`than baseline` is missing after `not`", remedy));
        }
        let margin = words.take("by").then(|| margin(words, measure, name)).transpose()?;
        match margin {
            Some(Margin::Share(amount) | Margin::Amount(amount)) if amount <= 0.0 => Err(Unread::new(
                "the margin after `by` is not above 0",
                "Leave out `by` if no harm is allowed",
            )),
            Some(Margin::Share(share)) if share >= ALL && !harm_is_more => {
                let problem =
                    "the margin after `by` is not below 100 %, so that nothing would break the rule";
                Err(Unread::new(problem, "Give a smaller margin"))
            }
            margin => Ok(Self { harm_is_more, margin }),
        }
    }

    /// Returns the operator and the limit by which the figure keeps to the margin, chance left aside.
    pub(super) fn limit(self) -> (Operator, Limit) {
        let operator = if self.harm_is_more { Operator::LessOrEqual } else { Operator::GreaterOrEqual };
        let Null { times, plus } = self.null(1.0);
        (operator, Limit::Baseline(times, plus))
    }

    /// Returns what the figure is tested against; `unit` is that of the margin in units of the figure.
    pub(super) fn null(self, unit: f64) -> Null {
        let sign = if self.harm_is_more { 1.0 } else { -1.0 };
        match self.margin {
            None => Null { times: 1.0, plus: 0.0 },
            Some(Margin::Share(share)) => Null { times: 1.0 + sign * share, plus: 0.0 },
            Some(Margin::Amount(amount)) => Null { times: 1.0, plus: sign * amount * unit },
        }
    }
}

/// Returns true if more of a measure is what the word after `not` excludes.
fn harm(word: &str, measure: Measure, name: &str) -> Read<bool> {
    let is_good = match measure {
        Measure::Throughput => Some(true),
        Measure::FailuresPercent | Measure::ElapsedMean | Measure::Percentile(_) => Some(false),
        Measure::CpuMean | Measure::Server | Measure::ServerMax => None,
        _ => {
            let problem = format!("{name} is not compared by chance");
            let known = "Such rules are about throughput, failures, mean, a percentile such as p95, cpu, \
                         series NAME or series_max NAME";
            return Err(Unread::new(problem, known));
        }
    };
    match (word, is_good) {
        ("more", _) => Ok(true),
        ("less", _) => Ok(false),
        ("worse", Some(is_good)) => Ok(!is_good),
        ("worse", None) => {
            let problem = format!("more of {name} is neither better nor worse by itself");
            Err(Unread::new(problem, format!("Write `{name} not more than baseline by 10%`, or `not less`")))
        }
        (word, _) => {
            let problem = format!("there is no \"{word}\" after `not`");
            Err(Unread::new(problem, format!("Write it as in `{name} not worse than baseline by 3%`")))
        }
    }
}

fn margin(words: &mut Words<'_>, measure: &mut Measure, name: &str) -> Read<Margin> {
    // Failures are in %, so their margin is too.
    let share = if *measure == Measure::FailuresPercent { None } else { words.share() };
    match share {
        Some(share) => Ok(Margin::Share(share)),
        None => Ok(Margin::Amount(words.amount(measure, name)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rule;

    fn read(text: &str) -> (NotWorse, Measure) {
        let rule: Rule = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        (rule.not_worse.unwrap(), rule.measure)
    }

    #[test]
    fn margins_are_shares_of_the_baseline_or_amounts() {
        for (text, harm_is_more, margin) in [
            ("p95 not worse than baseline", true, None),
            ("p95 not worse than baseline by 3%", true, Some(Margin::Share(0.03))),
            ("p95 of \"Get\" in hold not worse than baseline by 0.02s", true, Some(Margin::Amount(20.0))),
            ("mean not worse than baseline by 5", true, Some(Margin::Amount(5.0))),
            ("throughput not worse than baseline by 3 %", false, Some(Margin::Share(0.03))),
            ("throughput not worse than baseline by 20/s", false, Some(Margin::Amount(20.0))),
            ("throughput not more than baseline by 200%", true, Some(Margin::Share(2.0))),
            ("failures not worse than baseline by 0.5%", true, Some(Margin::Amount(0.5))),
            ("cpu not more than baseline by 10%", true, Some(Margin::Share(0.1))),
            ("series memory not more than baseline by 100 MiB", true, Some(Margin::Amount(100.0))),
            ("series_max memory not less than baseline by 1%", false, Some(Margin::Share(0.01))),
        ] {
            assert_eq!(read(text).0, NotWorse { harm_is_more, margin }, "{text}");
        }
        assert_eq!(read("failures not worse than baseline").1, Measure::FailuresPercent);
    }

    #[test]
    fn limit_is_the_end_of_the_margin() {
        let of = |text: &str| read(text).0.limit();
        assert_eq!(of("p95 not worse than baseline"), (Operator::LessOrEqual, Limit::Baseline(1.0, 0.0)));
        assert_eq!(
            of("throughput not worse than baseline by 3%"),
            (Operator::GreaterOrEqual, Limit::Baseline(0.97, 0.0))
        );
        assert_eq!(
            of("p95 not worse than baseline by 2ms"),
            (Operator::LessOrEqual, Limit::Baseline(1.0, 2.0))
        );
        let memory = read("series memory not less than baseline by 2KiB").0.null(1024.0);
        assert_eq!(memory, Null { times: 1.0, plus: -2048.0 });
    }
}
