//! The syntax of rules, as in `p95 of "/json" in hold < 100ms for 30s`, and what is still open of one while a run goes on.

use std::fmt;
use std::str::FromStr;

use super::bound::Bound;
use super::measure::Measure;
use super::not_worse::NotWorse;
use super::server::OfServer;
use super::words::{Read, Unread, Words};
use crate::error::{Error, Result};
use crate::view::phases::Phase;

/// A rule that a run must keep.
///
/// ```text
/// MEASURE [of "LABEL"] [in ramp|hold|tail] OPERATOR LIMIT [for DURATION]
/// MEASURE [of "LABEL"] [in ramp|hold|tail] not worse|more|less than baseline [by MARGIN]
/// MEASURE OPERATOR NUMBER at CONCURRENCY
/// ```
/// - MEASURE: `throughput`, `requests`, `successes`, `failures`, `failures_percent`, `rejects`, `mean`, `min`, `max`, a
///   percentile such as `p95`, `latency_mean`, `cpu` (the mean), `cpu_max`, `load` (the maximum), or the name of a
///   summary column such as `bytes_per_second` and `sent_bytes_per_second`. `failures` with a limit in % is their share
///   of all requests. `within 200ms` is the percentage of all requests that succeeded within the time; `apdex 500ms` is
///   the Apdex with that T ([`crate::Goal`]). `series memory` is the mean of the server's series of that name,
///   `series_max memory` its greatest value.
/// - OPERATOR: `<`, `<=`, `>`, `>=`, `==`, `!=`.
/// - LIMIT: a number with `ms`, `s`, `us`, `%`, `/s`, `B/s`, `kB/s` or `MB/s`, where that fits the measure (times
///   without a unit are in ms), for a series of bytes with `B`, `kB`, `MB`, `GB`, `KiB`, `MiB`, `GiB` or `TiB`; or `baseline`, `baseline * 1.1`, `baseline + 20ms`, `baseline - 5`: the same measure of
///   another run. Numbers that differ by no more than rounding explains (8 units in the last place) are equal.
/// - MARGIN: `3%` of the baseline's value, or a difference in the measure's unit, as in `20ms`; of failures, `1%` are
///   percentage points. The rule is about chance ([`crate::Gate`]), and its measure is one that [`crate::compare_sides`]
///   knows: throughput, failures, the mean, a percentile, the CPU or a series. More CPU is neither better nor worse: its
///   rules say `not more` or `not less`.
/// - DURATION: whole seconds or minutes, `30s`, `2m`. The rule then applies to single seconds. It is broken if that
///   many seconds in a row break it. A row continues over a gap of seconds without a value if the gap is shorter than
///   DURATION. The rule holds only if it would hold for any values of the seconds without one: absent readings are no
///   evidence. If such seconds could make a row long enough, the rule can't be judged and fails, with a note.
/// - CONCURRENCY: connections of a load tool. The rule is then about the points of a sweep at that level
///   ([`crate::points::check_points`]), and its measure is one of theirs: `throughput`, `answers`, `requests`,
///   `successes`, `failures`, `timeouts`, `mean`, `max`, `bytes_per_second`, or a percentile that the tool reports.
///
/// ```
/// use perfpipe_analyze::Rule;
///
/// let rule: Rule = r#"p95 of "/json" in hold < 0.1s"#.parse()?;
/// assert_eq!(rule.to_string(), r#"p95 of "/json" in hold < 0.1s"#);
/// let error = "p95 < 5%".parse::<Rule>().unwrap_err();
/// assert_eq!(error.to_string(), "the rule `p95 < 5%` can't be read: p95 is not measured in %");
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    text: String,
    pub(super) measure: Measure,
    /// The series of the server that the measure is of.
    pub(super) series: Option<OfServer>,
    pub(super) label: Option<String>,
    pub(super) phase: Option<Phase>,
    pub(super) operator: Operator,
    pub(super) limit: Limit,
    /// The duration in seconds.
    pub(super) lasting: Option<u32>,
    /// The concurrency of the points that the rule is about.
    pub(super) level: Option<u32>,
    /// What chance is judged by, if the rule is about it. The operator and the limit are then those of its margin.
    pub(super) not_worse: Option<NotWorse>,
}

/// A comparison of a value with its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    Unequal,
}

/// A limit in the measure's unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Limit {
    Number(f64),
    /// Another run's value, multiplied by the first number, plus the second.
    Baseline(f64, f64),
}

impl Rule {
    /// Returns the label that the rule names, if any.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Returns the concurrency of the points that the rule is about; `None` if it is about runs.
    ///
    /// ```
    /// use perfpipe_analyze::Rule;
    ///
    /// let rule: Rule = "throughput > 1500 at 32".parse()?;
    /// assert_eq!(rule.level(), Some(32));
    /// # Ok::<(), perfpipe_analyze::Error>(())
    /// ```
    pub fn level(&self) -> Option<u32> {
        self.level
    }

    /// Returns true if the rule says `not worse`, `not more` or `not less`: it is about what chance explains, so that a
    /// [`Gate`](crate::Gate) decides it together with all others of its kind.
    ///
    /// ```
    /// use perfpipe_analyze::Rule;
    ///
    /// assert!("p95 not worse than baseline by 3%".parse::<Rule>()?.knows_chance());
    /// assert!(!"p95 < baseline * 1.03".parse::<Rule>()?.knows_chance());
    /// # Ok::<(), perfpipe_analyze::Error>(())
    /// ```
    pub fn knows_chance(&self) -> bool {
        self.not_worse.is_some()
    }

    /// Returns true if the rule has an upper limit, and false if it has a lower one; `None` if it has neither.
    pub(super) fn is_upper(&self) -> Option<bool> {
        match self.operator {
            Operator::Less | Operator::LessOrEqual => Some(true),
            Operator::Greater | Operator::GreaterOrEqual => Some(false),
            Operator::Equal | Operator::Unequal => None,
        }
    }

    /// Returns true if the rule compares with another run.
    pub fn needs_baseline(&self) -> bool {
        matches!(self.limit, Limit::Baseline(..))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Operator {
    pub(super) const ALL: [(&str, Self); 6] = [
        ("<=", Self::LessOrEqual),
        (">=", Self::GreaterOrEqual),
        ("==", Self::Equal),
        ("!=", Self::Unequal),
        ("<", Self::Less),
        (">", Self::Greater),
    ];

    /// Returns true if a value keeps to a bound.
    pub(super) fn holds(self, value: f64, bound: Bound) -> bool {
        let order = value.total_cmp(&bound.against(value));
        match self {
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
        }
    }
}

impl FromStr for Rule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        read(text).map_err(|Unread { problem, remedy }| Error::Rule { rule: text.into(), problem, remedy })
    }
}

fn read(text: &str) -> Read<Rule> {
    let mut words = Words::new(text);
    let name = words.word();
    let mut measure = match Measure::goal(name) {
        Some(goal) => words.goal(name, goal)?,
        None => {
            let known = Measure::of_server(name).or_else(|| Measure::named(name));
            known.ok_or_else(|| unknown_measure(name))?
        }
    };
    let series = measure.is_of_server().then(|| words.series(name)).transpose()?;
    let label = words.take("of").then(|| words.label()).transpose()?;
    let phase = words.take("in").then(|| words.phase()).transpose()?;
    let not_worse = words.take("not").then(|| NotWorse::read(&mut words, &mut measure, name)).transpose()?;
    let (operator, limit) = match not_worse {
        Some(not_worse) => not_worse.limit(),
        None => (words.operator()?, limit(&mut words, &mut measure, name)?),
    };
    let lasting = words.take("for").then(|| words.duration()).transpose()?;
    let level = words.take("at").then(|| words.level()).transpose()?;
    words.end()?;
    if not_worse.is_some() && (lasting.is_some() || level.is_some()) {
        let problem = "chance is judged of whole runs, and neither of seconds nor of points";
        return Err(Unread::new(problem, "Leave out `for` and `at`"));
    }
    let is_plain = label.is_none() && phase.is_none() && lasting.is_none();
    check_level(measure, level, is_plain && matches!(limit, Limit::Number(_)), name)?;
    check_part(measure, label.is_some(), phase.is_some(), lasting.is_some(), name)?;
    let series = series.map(|name| OfServer { name, unit: words.last_unit().to_owned() });
    Ok(Rule { text: text.into(), measure, series, label, phase, operator, limit, lasting, level, not_worse })
}

/// Refuses a part of the run that the measure is not known of.
fn check_part(measure: Measure, label: bool, phase: bool, lasting: bool, name: &str) -> Read<()> {
    let (problem, out) = if measure.is_of_run() && (label || phase || lasting) {
        (format!("{name} are counted for the whole run only"), "`of`, `in` and `for`")
    } else if lasting && !measure.is_of_seconds() {
        (format!("{name} is not known of single seconds"), "`for`")
    } else if measure.is_of_server() && label {
        ("a series of the server has no labels".to_owned(), "`of`")
    } else {
        return Ok(());
    };
    Err(Unread::new(problem, format!("Leave out {out} after `{name}`")))
}

/// Refuses a rule about points that says what only runs have, and one about runs that only points can keep.
fn check_level(measure: Measure, level: Option<u32>, is_plain: bool, name: &str) -> Read<()> {
    match level {
        None if measure.is_of_points_only() => Err(Unread::new(
            format!("{name} are known of points only"),
            format!("Name a concurrency, as in `{name} > 100 at 32`"),
        )),
        Some(_) if !measure.is_of_points() => Err(Unread::new(
            format!("{name} is not known of points"),
            "Before `at` come throughput, answers, requests, successes, failures, timeouts, mean, max, \
             bytes_per_second, or a percentile such as p99",
        )),
        Some(_) if !is_plain => Err(Unread::new(
            "points have no labels, phases, seconds or baseline",
            "Leave out `of`, `in`, `for` and `baseline` in a rule with `at`",
        )),
        _ => Ok(()),
    }
}

fn unknown_measure(name: &str) -> Unread {
    let known = Measure::names_like(name).join(", ");
    let problem = if name.is_empty() {
        "it does not begin with a measure".into()
    } else {
        format!("there is no measure \"{name}\"")
    };
    let meant = match name.to_lowercase().as_str() {
        "rps" | "rate" | "tps" => "Did you mean throughput? ",
        "avg" | "average" => "Did you mean mean? ",
        "median" => "Did you mean p50? ",
        "errors" | "error" | "fails" => "Did you mean failures? ",
        "time" | "elapsed" | "latency" => "Did you mean p95, mean or max? ",
        _ => "",
    };
    Unread::new(problem, format!("{meant}Measures: {known}"))
}

/// Parses a limit. A limit of `failures` in % turns the measure into their share.
fn limit(words: &mut Words<'_>, measure: &mut Measure, name: &str) -> Read<Limit> {
    if !words.take("baseline") {
        return Ok(Limit::Number(words.amount(measure, name)?));
    }
    match words.sign() {
        Some('*') => Ok(Limit::Baseline(words.number()?, 0.0)),
        Some('+') => Ok(Limit::Baseline(1.0, words.amount(measure, name)?)),
        Some('-') => Ok(Limit::Baseline(1.0, -words.amount(measure, name)?)),
        _ => Ok(Limit::Baseline(1.0, 0.0)),
    }
}

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::view::Goal;

    fn rule(text: &str) -> Rule {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn rules_are_read_as_they_are_meant() {
        let all = rule(r#" p99.9 of "a \"b\" <c>" in hold >= baseline*1.1 for 2m "#);
        assert_eq!((all.measure, all.label()), (Measure::Percentile(99.9), Some("a \"b\" <c>")));
        assert_eq!((all.phase, all.operator), (Some(Phase::Hold), Operator::GreaterOrEqual));
        assert_eq!((all.limit, all.lasting), (Limit::Baseline(1.1, 0.0), Some(120)));
        assert_eq!(rule("mean<0.2s").limit, Limit::Number(200.0));
        assert_eq!(rule("throughput > 20_000 /s for 30s").lasting, Some(30));
        assert_eq!(rule("failures < 1%").measure, Measure::FailuresPercent);
        assert_eq!(rule("failures == 0").measure, Measure::Failures);
        assert_eq!(rule("failures < baseline + 1 %").limit, Limit::Baseline(1.0, 1.0));
        assert_eq!(rule("failures < baseline + 1 %").measure, Measure::FailuresPercent);
        assert_eq!(rule("cpu < 6500 for 30s").limit, Limit::Number(6500.0));
        let within = rule("within 1.5s of \"Get\" in hold > 95% for 3s");
        assert_eq!((within.measure, within.label()), (Measure::Goal(Goal::Within(1500)), Some("Get")));
        assert_eq!((within.limit, within.lasting), (Limit::Number(95.0), Some(3)));
        assert_eq!(rule("apdex 500ms >= 0.9").measure, Measure::Goal(Goal::Apdex(500)));
        assert_eq!(rule("apdex 500ms >= baseline - 0.05").limit, Limit::Baseline(1.0, -0.05));
        assert_eq!(rule("bytes_per_second > 1.5 MB/s").limit, Limit::Number(1.5e6));
        assert_eq!(rule("p50 < baseline - 5 for 3s").limit, Limit::Baseline(1.0, -5.0));
        let memory = rule("series disk-io_2 in hold < 1.5 GiB for 10s");
        let of = OfServer { name: "disk-io_2".to_owned(), unit: "GiB".to_owned() };
        assert_eq!((memory.measure, memory.series, memory.lasting), (Measure::Server, Some(of), Some(10)));
        assert_eq!((memory.limit, memory.phase), (Limit::Number(1.5), Some(Phase::Hold)));
        let level = rule("throughput > 1_500 at 32");
        assert_eq!((level.limit, level.level()), (Limit::Number(1500.0), Some(32)));
        let level = rule("failures<1% at c64");
        assert_eq!((level.measure, level.level()), (Measure::FailuresPercent, Some(64)));
        assert_eq!(rule("p99 < 0.2s at 8").limit, Limit::Number(200.0));
        assert_eq!(rule("p99 < 0.2s").level(), None);
        for (text, ms) in [("1:00", 60_000.0), ("1m", 60_000.0), ("1 min 3 s", 63_000.0), ("1.5 s", 1500.0)] {
            assert_eq!(rule(&format!("p99 < {text}")).limit, Limit::Number(ms), "{text}");
            let lasting = rule(&format!("p99 < {text} for 1:30"));
            assert_eq!((lasting.limit, lasting.lasting), (Limit::Number(ms), Some(90)), "{text}");
        }
    }

    #[test]
    fn misspelt_rule_is_refused_with_what_was_meant() {
        for (text, problem) in [
            ("", "does not begin with a measure"),
            ("p96x < 2", "no measure \"p96x\""),
            ("p101 < 2", "no measure \"p101\""),
            ("p1e1 < 2", "no measure \"p1e1\""),
            ("througput > 5", "no measure \"througput\""),
            ("p95 of json < 5", "not in quotes"),
            ("p95 of \"json < 5", "closing quote"),
            ("p95 in steady < 5", "no phase \"steady\""),
            ("p95 200ms", "no operator before `200ms`"),
            ("p95", "has no limit"),
            ("p95 < fast", "no number at `fast`"),
            ("p95 < 5%", "p95 is not measured in %"),
            ("requests < 5ms", "requests is not measured in ms"),
            ("p95 < baseline + 10%", "p95 is not measured in %"),
            ("p95 < 5 for 30", "has no unit"),
            ("p95 < 5 for 0.5s", "whole seconds"),
            ("p95 < 5ms please", "after its end: `please`"),
            ("rejects in hold < 5", "whole run only"),
            ("within > 95%", "needs a time"),
            ("within 200 > 95%", "needs a time"),
            ("within 200ms > 0.95", "has no unit"),
            ("apdex 500ms > 90%", "apdex is not measured in %"),
            ("bytes_per_second > 5 for 3s", "not known of single seconds"),
            ("throughput > 5 at", "not a whole number: \"\""),
            ("throughput > 5 at 0", "not a whole number: \"0\""),
            ("throughput > 5 at c1.5", "not a whole number: \"c1.5\""),
            ("cpu < 5 at 32", "cpu is not known of points"),
            ("p95 in hold < 5 at 32", "points have no labels, phases"),
            ("p95 < 5 for 3s at 32", "points have no labels, phases"),
            ("p95 < baseline at 32", "points have no labels, phases"),
            ("p95 < 5 at 32 for 3s", "after its end: `for 3s`"),
            ("answers > 5", "known of points only"),
            ("timeouts == 0", "known of points only"),
            ("series < 5", "needs the name of a series"),
            ("series_max", "needs the name of a series"),
            ("series memory of \"Get\" < 5", "has no labels"),
            ("series memory < 5 at 32", "series is not known of points"),
            ("p95 not worse", "`than baseline` is missing"),
            ("p95 not wrose than baseline", "no \"wrose\" after `not`"),
            ("p95 not worse than basis", "`than baseline` is missing"),
            ("p95 not worse than baseline by", "no number"),
            ("p95 not worse than baseline by 0%", "not above 0"),
            ("p95 not worse than baseline by 5 /s", "p95 is not measured in /s"),
            ("p95 not worse than baseline * 1.1", "after its end: `* 1.1`"),
            ("p95 not worse than baseline for 3s", "neither of seconds nor of points"),
            ("p95 not worse than baseline at 32", "neither of seconds nor of points"),
            ("throughput not worse than baseline by 100%", "below 100 %"),
            ("cpu not worse than baseline", "neither better nor worse"),
            ("series memory not worse than baseline", "neither better nor worse"),
            ("max not worse than baseline", "max is not compared"),
            ("within 200ms not worse than baseline", "within is not compared"),
            ("p95 worse than baseline", "no operator before `worse than baseline`"),
        ] {
            let error = text.parse::<Rule>().unwrap_err();
            assert!(error.to_string().contains(problem), "{text}: {error}");
            assert!(error.remedy().is_some());
        }
        let remedy = "througput > 5".parse::<Rule>().unwrap_err().remedy();
        assert!(remedy.is_some_and(|text| text.starts_with("Measures: throughput, ")));
    }

    proptest! {
        #[test]
        fn no_text_is_a_panic(text in "(p9|mean|series|of|in|at|hold|<|>=|not worse than|by|\"|\\\\|baseline|[*+-]|[0-9.]|ms|%|for|s| |\\PC){0,20}") {
            if let Ok(rule) = text.parse::<Rule>() {
                prop_assert_eq!(rule.to_string().parse::<Rule>()?, rule);
            }
        }
    }
}
