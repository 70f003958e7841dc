//! Objectives of service: rules that a share of the requests must keep, so that each level of a load meets them or not.

use std::fmt;
use std::str::FromStr;

use perfpipe_model::run::Resolution;

use super::measure::Measure;
use super::rule::{Limit, Operator, Rule};
use crate::error::{Error, Result};
use crate::view::Goal;

/// A share that differs from the required one by less than this is equal to it.
const ROUNDING: f64 = 1e-12;

/// An objective of service: the share of all requests that must be served well.
///
/// It is written as a rule of [`crate::check()`], one of these:
/// - `within 200ms >= 99%`: so many percent of all requests succeed within the time.
/// - `p95 < 200ms`: 95 percent of all requests succeed in less than the time.
/// - `failures < 1%`: less than so many percent fail.
/// - `apdex 500ms >= 0.9`: the Apdex ([`Goal::Apdex`]), as a share.
///
/// A failed request is outside of every objective, however fast it failed: it counts among all requests, and never among
/// those that are served well. So `p95 < 200ms` is stricter here than in a check, whose percentiles are those of the
/// successes.
///
/// ```
/// use perfpipe_analyze::Objective;
///
/// let objective: Objective = "p95 < 0.2s".parse()?;
/// assert_eq!((objective.to_string().as_str(), objective.required()), ("p95 < 0.2s", 0.95));
/// let error = "throughput > 100".parse::<Objective>().unwrap_err();
/// assert!(error.to_string().contains("is not about a share of the requests"), "{error}");
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Objective {
    text: String,
    served: Served,
    required: f64,
    /// True if a share that equals the required one is too small.
    is_strict: bool,
}

/// Which requests are served well.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Served {
    /// Those that succeed in this many ms, or in less if `up_to` is false.
    Within { ms: f64, up_to: bool },
    /// Those that succeed.
    Success,
    /// By the Apdex of this T, in ms: those that are tolerated count by half.
    Apdex(u32),
}

impl Objective {
    /// Makes an objective of a rule.
    ///
    /// # Errors
    /// [`Error::Rule`] if the rule is not about a share of the requests, or says more than a level of a load can meet: a
    /// label, a phase, single seconds, a concurrency, a baseline, or chance.
    pub fn of_rule(rule: &Rule) -> Result<Self> {
        let refused = |problem: &str, remedy: &str| Error::Rule {
            rule: rule.to_string(),
            problem: problem.to_owned(),
            remedy: remedy.to_owned(),
        };
        let parts = [
            (
                rule.knows_chance(),
                "an objective is not about a baseline",
                "Leave out `not worse than baseline`",
            ),
            (rule.needs_baseline(), "an objective is not about a baseline", "Write a number for its limit"),
            (rule.level.is_some(), "each level is judged by itself", "Leave out `at`"),
            (
                rule.label.is_some(),
                "an objective is about all requests",
                "Leave out `of`, and choose the label for the whole question",
            ),
            (rule.phase.is_some(), "the levels of the load are its phases", "Leave out `in`"),
            (rule.lasting.is_some(), "a level is judged as a whole", "Leave out `for`"),
        ];
        if let Some((_, problem, remedy)) = parts.into_iter().find(|(is_there, ..)| *is_there) {
            return Err(refused(problem, remedy));
        }
        let (Limit::Number(limit), is_most) = (rule.limit, rule.is_upper()) else {
            return Err(refused("an objective is not about a baseline", "Write a number for its limit"));
        };
        let (served, required, is_bounded_right) = match rule.measure {
            Measure::Goal(Goal::Within(ms)) => {
                (Served::Within { ms: f64::from(ms), up_to: true }, limit / 100.0, is_most == Some(false))
            }
            Measure::Goal(Goal::Apdex(ms)) => (Served::Apdex(ms), limit, is_most == Some(false)),
            Measure::Percentile(percent) => {
                let up_to = rule.operator == Operator::LessOrEqual;
                (Served::Within { ms: limit, up_to }, percent / 100.0, is_most == Some(true))
            }
            Measure::FailuresPercent => (Served::Success, 1.0 - limit / 100.0, is_most == Some(true)),
            _ => {
                let remedy = "Write it as in `within 200ms >= 99%`, `p95 < 200ms`, `failures < 1%` or `apdex 500ms >= 0.9`";
                return Err(refused("it is not about a share of the requests", remedy));
            }
        };
        if !is_bounded_right {
            let remedy = "Write it as in `within 200ms >= 99%`, or `p95 < 200ms`";
            return Err(refused("its operator does not say what is good enough", remedy));
        }
        let is_strict = match served {
            Served::Within { .. } if matches!(rule.measure, Measure::Percentile(_)) => false,
            _ => matches!(rule.operator, Operator::Less | Operator::Greater),
        };
        let is_possible = required > 0.0 && if is_strict { required < 1.0 } else { required <= 1.0 };
        if !is_possible {
            let remedy = "Give a limit that some requests, and not more than all, can meet";
            return Err(refused("all requests meet it, or none can", remedy));
        }
        Ok(Self { text: rule.to_string(), served, required, is_strict })
    }

    /// Returns the share of all requests that must be served well, 0 to 1.
    pub fn required(&self) -> f64 {
        self.required
    }

    /// Returns true if a share, 0 to 1, meets the objective.
    pub(crate) fn is_met_by(&self, share: f64) -> bool {
        if self.is_strict { share > self.required + ROUNDING } else { share >= self.required - ROUNDING }
    }

    /// Returns true if it is about response times, which a growing queue makes ever longer.
    pub(crate) fn is_of_times(&self) -> bool {
        !matches!(self.served, Served::Success)
    }

    /// Returns the time within which requests are to be served, in ms; `None` if the objective is not one of time alone.
    pub(crate) fn within_ms(&self) -> Option<f64> {
        match self.served {
            Served::Within { ms, .. } => Some(ms),
            Served::Success | Served::Apdex(_) => None,
        }
    }

    /// Returns true if it is about failures alone.
    pub(crate) fn is_of_failures(&self) -> bool {
        self.served == Served::Success
    }

    /// Counts the successes of these elapsed times, in a unit, that are served well.
    pub(crate) fn served(&self, unit: Resolution, elapsed: &[(i32, u64)]) -> f64 {
        let up_to = |limit: f64, is_in: bool| {
            let is_within = |time: i32| {
                let ms = unit.ms(f64::from(time));
                if is_in { ms <= limit } else { ms < limit }
            };
            let within = elapsed.iter().filter(|(time, _)| is_within(*time));
            within.map(|(_, samples)| *samples as f64).sum::<f64>()
        };
        match self.served {
            Served::Within { ms, up_to: is_in } => up_to(ms, is_in),
            Served::Success => elapsed.iter().map(|(_, samples)| *samples as f64).sum(),
            Served::Apdex(ms) => f64::midpoint(up_to(f64::from(ms), true), up_to(4.0 * f64::from(ms), true)),
        }
    }

    /// Returns the time, in ms, beyond which requests count as slow.
    pub(crate) fn slow_ms(&self) -> Option<f64> {
        match self.served {
            Served::Within { ms, .. } => Some(ms),
            Served::Apdex(ms) => Some(f64::from(ms)),
            Served::Success => None,
        }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Objective {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::of_rule(&text.parse()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objective(text: &str) -> Objective {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn rules_about_a_share_are_objectives() {
        let times = [(100, 90), (200, 5), (201, 3), (800, 2)];
        let unit = Resolution::MILLISECOND;
        for (text, required, served, met) in [
            ("within 200ms >= 95%", 0.95, 95.0, true),
            ("within 200ms > 95%", 0.95, 95.0, false),
            ("p95 <= 200ms", 0.95, 95.0, true),
            ("p95 < 200ms", 0.95, 90.0, false),
            ("p99.9 < 2s", 0.999, 100.0, true),
            ("failures < 1%", 0.99, 100.0, true),
            ("failures_percent <= 0", 1.0, 100.0, true),
            ("apdex 200ms >= 0.97", 0.97, 97.5, true),
        ] {
            let found = objective(text);
            assert!((found.required() - required).abs() < 1e-12, "{text}");
            assert_eq!(found.served(unit, &times), served, "{text}");
            assert_eq!(found.is_met_by(served / 100.0), met, "{text}");
        }
    }

    #[test]
    fn other_rules_are_refused_with_what_to_write() {
        for (text, problem) in [
            ("throughput > 100", "not about a share"),
            ("mean < 100ms", "not about a share"),
            ("failures < 10", "not about a share"),
            ("max < 1s", "not about a share"),
            ("p95 < baseline * 1.1", "not about a baseline"),
            ("p95 not worse than baseline by 3%", "not about a baseline"),
            ("p95 < 200ms in hold", "after its end"),
            ("p95 in hold < 200ms", "its phases"),
            ("p95 of \"Get\" < 200ms", "about all requests"),
            ("p95 < 200ms for 5s", "as a whole"),
            ("p95 < 200ms at 32", "by itself"),
            ("p95 > 200ms", "operator"),
            ("p95 == 200ms", "operator"),
            ("within 200ms < 99%", "operator"),
            ("within 200ms >= 101%", "or none can"),
            ("within 200ms > 100%", "or none can"),
            ("failures < 0%", "or none can"),
            ("p0 < 200ms", "or none can"),
            ("within 200ms >= NaN%", "no number"),
            ("nonsense", "there is no measure"),
        ] {
            let error = text.parse::<Objective>().unwrap_err();
            assert!(error.to_string().contains(problem), "{text}: {error}");
            assert!(error.remedy().is_some(), "{text}");
        }
    }
}
