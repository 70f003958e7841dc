//! The words of a rule, read one by one, each with the error that says how to write it.

use super::measure::Measure;
use super::rule::Operator;
use crate::error::Result;
use crate::format::{Unit, parse_time};
use crate::view::Goal;
use crate::view::phases::Phase;

/// A syntax error in a rule, with its remedy.
pub(super) struct Unread {
    pub(super) problem: String,
    pub(super) remedy: String,
}

impl Unread {
    pub(super) fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into() }
    }
}

pub(super) type Read<T> = std::result::Result<T, Unread>;

/// Remedy that shows the form of a rule.
const FORM: &str = "Write a rule as in `p95 < 200ms`, `failures < 1%`, `p95 of \"/json\" in hold < baseline * 1.1`, `p95 not worse than baseline by 3%`, `cpu < 6500 for 30s`";

/// The unread rest of a rule.
#[derive(Clone)]
pub(super) struct Words<'a> {
    rest: &'a str,
    /// The unit that was read last.
    unit: &'a str,
}

impl<'a> Words<'a> {
    pub(super) fn new(rule: &'a str) -> Self {
        Self { rest: rule, unit: "" }
    }

    /// Returns the unit that was read last, "" without any.
    pub(super) fn last_unit(&self) -> &'a str {
        self.unit
    }

    /// Reads the longest run of characters that satisfy a predicate, after white space.
    fn run(&mut self, such: impl Fn(char) -> bool) -> &'a str {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c| !such(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Reads a word of letters, digits, `_` and `.`.
    pub(super) fn word(&mut self) -> &'a str {
        self.run(|c| c.is_alphanumeric() || c == '_' || c == '.')
    }

    /// Parses the time after the name of a goal.
    pub(super) fn goal(&mut self, name: &str, goal: fn(&str) -> Result<Goal>) -> Read<Measure> {
        let time = self.word();
        let unread = |_| {
            let problem = format!("`{name}` needs a time of whole milliseconds after it");
            Unread::new(problem, "Write it as in `within 200ms > 95%` or `apdex 0.5s >= 0.9`")
        };
        goal(time).map(Measure::Goal).map_err(unread)
    }

    /// Reads the name of a series after a measure of the server.
    pub(super) fn series(&mut self, measure: &str) -> Read<String> {
        match self.run(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')) {
            "" => {
                let problem = format!("`{measure}` needs the name of a series of the server after it");
                Err(Unread::new(problem, "Write it as in `series memory < 2GiB`"))
            }
            name => Ok(name.to_owned()),
        }
    }

    /// Reads a word if it is the given one.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let before = self.rest;
        let found = self.word() == word;
        if !found {
            self.rest = before;
        }
        found
    }

    pub(super) fn label(&mut self) -> Read<String> {
        let quoted = || {
            Unread::new("the label after `of` is not in quotes", "Write it as in: p95 of \"/json\" < 100ms")
        };
        let mut characters = self.rest.trim_start().chars();
        let quote = characters.next().filter(|c| matches!(c, '"' | '\'')).ok_or_else(quoted)?;
        let mut label = String::new();
        loop {
            match characters.next() {
                Some('\\') => label.extend(characters.next()),
                Some(c) if c == quote => break,
                Some(c) => label.push(c),
                None => return Err(Unread::new("the label's closing quote is missing", "Close the quote")),
            }
        }
        self.rest = characters.as_str();
        Ok(label)
    }

    pub(super) fn phase(&mut self) -> Read<Phase> {
        let word = self.word();
        let unknown = || {
            let remedy = "After `in` comes ramp, hold or tail; a label comes after `of`, in quotes";
            Unread::new(format!("there is no phase \"{word}\""), remedy)
        };
        [Phase::Ramp, Phase::Hold, Phase::Tail]
            .into_iter()
            .find(|phase| phase.name() == word)
            .ok_or_else(unknown)
    }

    pub(super) fn operator(&mut self) -> Read<Operator> {
        let rest = self.rest.trim_start();
        let found = Operator::ALL.iter().find(|(sign, _)| rest.starts_with(sign));
        let (sign, operator) = found.ok_or_else(|| match rest {
            "" => Unread::new("it has no limit", FORM),
            rest => Unread::new(
                format!("there is no operator before `{rest}`"),
                "Operators: <, <=, >, >=, ==, !=",
            ),
        })?;
        self.rest = rest.get(sign.len()..).unwrap_or_default();
        Ok(*operator)
    }

    /// Reads the sign after `baseline`, if there is one.
    pub(super) fn sign(&mut self) -> Option<char> {
        let rest = self.rest.trim_start();
        let sign = rest.chars().next().filter(|c| matches!(c, '*' | '+' | '-'))?;
        self.rest = rest.get(1..).unwrap_or_default();
        Some(sign)
    }

    /// Reads a number.
    pub(super) fn number(&mut self) -> Read<f64> {
        let before = self.rest.trim_start();
        let digits = self.run(|c| c.is_ascii_digit() || matches!(c, '.' | '_'));
        digits
            .replace('_', "")
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| Unread::new(format!("there is no number at `{before}`"), FORM))
    }

    /// Reads a number and a percent sign, as a share; reads nothing of other amounts.
    pub(super) fn share(&mut self) -> Option<f64> {
        let mut words = self.clone();
        let share = words.number().ok()? / 100.0;
        (words.run(|c| c.is_alphabetic() || matches!(c, '%' | '/')) == "%").then(|| *self = words)?;
        Some(share)
    }

    /// Reads a number and converts it to the measure's unit.
    pub(super) fn amount(&mut self, measure: &mut Measure, name: &str) -> Read<f64> {
        let rest = self.rest.trim_start();
        let end = [" for ", " at "].iter().filter_map(|word| rest.find(word)).min().unwrap_or(rest.len());
        // A time is read in every form in which one is printed, as in `1:00` and `1 min 3 s`.
        if !measure.is_of_server()
            && measure.unit() == Unit::Milliseconds
            && let Some(ms) = rest.get(..end).and_then(parse_time)
        {
            self.rest = rest.get(end..).unwrap_or_default();
            return Ok(ms);
        }
        let number = self.number()?;
        let unit = if ["for", "at"].iter().any(|word| self.rest.trim_start().starts_with(word)) {
            ""
        } else {
            self.run(|c| c.is_alphabetic() || matches!(c, '%' | '/' | '°'))
        };
        self.unit = unit;
        if measure.is_of_server() {
            return Ok(number);
        }
        if *measure == Measure::Failures && unit == "%" {
            *measure = Measure::FailuresPercent;
        }
        if unit.is_empty() && matches!(measure, Measure::Goal(Goal::Within(_))) {
            // 0.95 would be meant as a share; read as 0.95 % it would hold for almost any run.
            let problem = format!("the limit of `{name}` has no unit");
            return Err(Unread::new(problem, "Give it in %, as in `within 200ms > 95%`"));
        }
        match measure.factor(unit) {
            Some(factor) => Ok(number * factor),
            None => {
                let remedy = match measure.unit() {
                    Unit::None => "Leave the unit out".into(),
                    unit => {
                        format!("Its unit is {unit}; a share of the baseline is written `baseline * 1.1`")
                    }
                };
                Err(Unread::new(format!("{name} is not measured in {unit}"), remedy))
            }
        }
    }

    pub(super) fn duration(&mut self) -> Read<u32> {
        let end = self.rest.find(" at ").unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        let Some(ms) = parse_time(text) else {
            let text = text.trim();
            let problem = match text.parse::<f64>() {
                Ok(_) => "the duration after `for` has no unit".to_owned(),
                Err(_) => format!("the duration after `for` can't be read: \"{text}\""),
            };
            return Err(Unread::new(problem, "Write it as in `for 30s`, `for 2m` or `for 1:30`"));
        };
        let seconds = ms / 1000.0;
        if seconds < 1.0 || seconds > f64::from(u32::MAX) || seconds.fract() != 0.0 {
            return Err(Unread::new(
                "the duration after `for` is not a number of whole seconds",
                "Write it as in `for 30s`",
            ));
        }
        Ok(seconds as u32)
    }

    /// Reads the concurrency after `at`, as in `32` or `c32`.
    pub(super) fn level(&mut self) -> Read<u32> {
        let word = self.word();
        let number = word.strip_prefix('c').unwrap_or(word).parse().ok().filter(|level| *level > 0);
        number.ok_or_else(|| {
            let problem = format!("the concurrency after `at` is not a whole number: \"{word}\"");
            Unread::new(problem, "Write it as in `throughput > 1500 at 32`")
        })
    }

    pub(super) fn end(&self) -> Read<()> {
        match self.rest.trim() {
            "" => Ok(()),
            rest => Err(Unread::new(format!("there is something after its end: `{rest}`"), FORM)),
        }
    }
}
