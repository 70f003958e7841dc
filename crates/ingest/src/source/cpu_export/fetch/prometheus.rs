//! Asks Prometheus for the readings of a query, by windows, and finds what a query reads.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::access::Access;
use super::address::several;
use super::answered::{Answered, AnsweredPart, Nearest, SHIFTED, answer, no_readings};
use super::http::{HttpClient, HttpRequest, LARGEST};
use crate::source::cpu_export::monitor::prometheus::{Series, SeriesLabels, each_series, name};
use crate::source::cpu_export::monitor::{FoundReadings, MOST_READINGS, MOST_SERIES, too_many};
use perfpipe_model::error::ErrorKind;
use perfpipe_model::run::damage::Fault;

/// The number of points that are asked for at once. Prometheus answers up to 11,000.
const POINTS: i64 = 10_000;

/// The maximum number of points.
const MOST_POINTS: i64 = MOST_READINGS as i64;

/// The maximum number of times by which the step of a series is found.
const MOST_TIMES: usize = 100_000;

/// The time before the run's end from which the interval of a series is known.
const INTERVAL: &str = "[5m]";

/// The longest step that is found by the readings of a series: a day, in seconds.
const LONGEST_STEP: i64 = 86_400;

/// The step by which readings near a run are looked for, in seconds.
const NEAR: i64 = 15;

/// The maximum number of series that an error lists.
const LISTED: usize = 10;

/// A query of a host.
pub(super) struct Query<'a> {
    pub(super) client: &'a mut HttpClient,
    /// The address of range queries.
    pub(super) url: &'a str,
    pub(super) query: &'a str,
    pub(super) access: &'a Access,
}

/// The seconds at which a query is evaluated: those that leave this rest when they are divided by the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct QueryTimes {
    step: i64,
    rest: i64,
}

impl Query<'_> {
    /// Reads what the query gives for each step from `first` to `last`, epoch seconds. Without a step, it is the interval
    /// of the series that the query reads, or 1 s.
    pub(super) fn read(
        &mut self,
        step: Option<u32>,
        (first, last): (i64, i64),
        is_one: bool,
    ) -> Result<Answered, Fault> {
        let QueryTimes { step, rest } = match step {
            Some(step) => QueryTimes { step: step.into(), rest: 0 },
            None => self.steps(last)?.unwrap_or(QueryTimes { step: 1, rest: 0 }),
        };
        // The steps of all windows are those of one.
        let begin = first - (first - rest).rem_euclid(step);
        if last.saturating_sub(begin) / step > MOST_POINTS {
            let problem = "there are more than 4,000,000 points to ask for";
            return Err(Fault::new(ErrorKind::CpuTooLarge, problem, FEWER));
        }
        let (mut found, mut count): (BTreeMap<SeriesLabels, FoundReadings>, usize) = (BTreeMap::new(), 0);
        let (mut start, mut doubt) = (begin, None);
        while start <= last {
            let end = last.min(start + (POINTS - 1) * step);
            let of = self.range((start, end), step, |series| add(&series, &mut found, &mut count))?;
            doubt = doubt.or(of);
            start = end + step;
        }
        found.retain(|_, found| found.len() > 0);
        if found.is_empty() {
            return Err(no_readings((first, last), self.nearest((first, last))?));
        }
        if found.len() > 1 && is_one {
            return Err(several(&format!("answers {} series: {}", found.len(), list(found.keys()))));
        }
        Ok(Answered { parts: parts(found), notes: doubt.into_iter().collect() })
    }

    /// Asks how often the series that the query reads is read itself, and when.
    fn steps(&mut self, last: i64) -> Result<Option<QueryTimes>, Fault> {
        let Some(selector) = selector(self.query) else { return Ok(None) };
        let url = self.url.strip_suffix("_range").unwrap_or(self.url);
        let query = encoded(&format!("{selector}{INTERVAL}"));
        let answered = self.ask(&format!("{url}?query={query}&time={last}"))?;
        let mut most = Vec::new();
        let read = each_series(&answered.body, |series| {
            let mut times = Vec::new();
            series.readings(|(clock, ns, _)| {
                times.push(clock.saturating_mul(1000).saturating_add((ns / 1_000_000).into()));
                if times.len() > MOST_TIMES { Err(too_many("too many readings")) } else { Ok(()) }
            })?;
            if times.len() >= most.len() {
                most = times;
            }
            Ok(())
        });
        // A server that does not answer this may still answer the query.
        Ok(read.ok().and_then(|_| steps(&most)))
    }

    /// Asks for the readings of a window of at most [`POINTS`] steps, and passes on their series. Returns why the answer may not
    /// be whole, as a clause, if it says so.
    fn range(
        &mut self,
        (start, end): (i64, i64),
        step: i64,
        take: impl FnMut(Series<'_>) -> Result<(), Fault>,
    ) -> Result<Option<String>, Fault> {
        let query = encoded(self.query);
        let answered =
            self.ask(&format!("{}?query={query}&start={start}&end={end}&step={step}", self.url))?;
        each_series(&answered.body, take).map_err(|fault| match answered.status.is_success() {
            true => fault,
            false if fault.problem.contains("maximum resolution") => {
                Fault::new(ErrorKind::SourceAnswer, fault.problem, FEWER)
            }
            false if fault.problem.contains("error of Prometheus") => Fault::new(
                ErrorKind::SourceAnswer,
                fault.problem,
                "Check the query in the URL, and try again.",
            ),
            false => answer(format!("answers {}", answered.status)),
        })
    }

    /// Looks for readings up to some hours before and after a time that has none.
    fn nearest(&mut self, (first, last): (i64, i64)) -> Result<Nearest, Fault> {
        let mut nearest = Nearest::default();
        let look = |series: Series<'_>| {
            series.readings(|(clock, _, _)| {
                if clock < first {
                    nearest.before = nearest.before.max(Some(clock));
                } else if clock > last {
                    nearest.after = Some(nearest.after.map_or(clock, |after| after.min(clock)));
                }
                Ok(())
            })?;
            Ok(())
        };
        // It only helps to find out why there are none.
        let asked = self.range((last - SHIFTED, first + SHIFTED), NEAR, look);
        Ok(asked.map_or_else(|_| Nearest::default(), |_| nearest))
    }

    fn ask(&mut self, url: &str) -> Result<super::http::HttpAnswer, Fault> {
        let authorization = authorization(self.access);
        self.client.send(&HttpRequest { url, body: None, authorization, largest: LARGEST })
    }
}

/// What helps against too many points.
const FEWER: &str = "Ask for fewer points: step=60 in the URL.";

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Adds a series of a window to those of the windows before.
fn add(
    series: &Series<'_>,
    found: &mut BTreeMap<SeriesLabels, FoundReadings>,
    count: &mut usize,
) -> Result<(), Fault> {
    let labels = series.labels()?;
    if found.len() >= MOST_SERIES && !found.contains_key(&labels) {
        return Err(too_many("more than 1,000 series"));
    }
    let all = found.entry(labels).or_default();
    all.empty_values += series.readings(|reading| {
        *count += 1;
        if *count > MOST_READINGS { Err(too_many("more than 4,000,000 readings")) } else { all.only(reading) }
    })?;
    Ok(())
}

/// Returns the median time between the times of readings, in ms. Each is known from the next whole second on.
fn steps(times: &[i64]) -> Option<QueryTimes> {
    let mut between: Vec<i64> =
        times.iter().zip(times.iter().skip(1)).map(|(one, next)| next.saturating_sub(*one)).collect();
    between.sort_unstable();
    let step = (between.get(between.len() / 2)?.saturating_add(500) / 1000).max(1);
    if step > LONGEST_STEP {
        return None;
    }
    let known = times.last()?.saturating_add(999).div_euclid(1000);
    Some(QueryTimes { step, rest: known.rem_euclid(step) })
}

/// Returns the series, each named by the labels in which they differ.
fn parts(found: BTreeMap<SeriesLabels, FoundReadings>) -> Vec<AnsweredPart> {
    // The value of each label where it was first seen, and in how many series it is the same.
    let mut same: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
    for (label, value) in found.keys().flatten() {
        let (first, series) = same.entry(label).or_insert((value, 0));
        *series += usize::from(first == value);
    }
    let differing: BTreeSet<String> = same
        .into_iter()
        .filter(|(_, (_, series))| *series < found.len())
        .map(|(label, _)| label.to_owned())
        .collect();
    let named = |labels: &SeriesLabels| {
        let values = labels.iter().filter(|(label, _)| differing.contains(*label)).map(|(_, value)| value);
        values.cloned().collect::<Vec<_>>().join("-")
    };
    found
        .into_iter()
        .map(|(labels, found)| AnsweredPart { name: named(&labels), found, scale: None })
        .collect()
}

/// Names some series.
fn list<'a>(series: impl Iterator<Item = &'a SeriesLabels>) -> String {
    let names: Vec<String> = series.map(|labels| name(labels).unwrap_or_else(|| "{}".to_owned())).collect();
    let more = names.len().saturating_sub(LISTED);
    let listed = names.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{listed} and {more} more") } else { listed }
}

fn authorization(access: &Access) -> Option<String> {
    use base64::Engine as _;

    if let Some(token) = &access.token {
        return Some(format!("Bearer {}", token.text()));
    }
    let (user, password) = access.login.as_ref()?;
    let both = format!("{user}:{}", password.text());
    Some(format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(both)))
}

/// The words that stand for no series, wherever they are.
const WORDS: [&str; 26] = [
    "sum",
    "min",
    "max",
    "avg",
    "group",
    "stddev",
    "stdvar",
    "count",
    "count_values",
    "bottomk",
    "topk",
    "quantile",
    "limitk",
    "limit_ratio",
    "and",
    "or",
    "unless",
    "bool",
    "offset",
    "inf",
    "nan",
    "atan2",
    "start",
    "end",
    "Inf",
    "NaN",
];

/// The words after which labels are listed.
const LISTS: [&str; 6] = ["by", "without", "on", "ignoring", "group_left", "group_right"];

/// Returns the first selector of a query: the name of a series and its matchers, without a range.
fn selector(query: &str) -> Option<&str> {
    let mut rest = query;
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '"' | '\'' | '`' => after(rest, text_end(rest)),
            '[' => after(rest, through(rest, ']')),
            '#' => after(rest, through(rest, '\n')),
            '{' => return rest.get(..matchers_end(rest)),
            letter if letter.is_ascii_digit() => {
                rest.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '.')
            }
            letter if is_of_name(letter) => {
                let name = rest.find(|letter: char| !is_of_name(letter)).unwrap_or(rest.len());
                match after_name(rest, name) {
                    Some(rest) => rest,
                    None => return Some(selected(rest, name)),
                }
            }
            letter => after(rest, letter.len_utf8()),
        };
    }
    None
}

/// Returns what comes after a word that is no series, with the list of labels that belongs to it; `None` if it is a series.
fn after_name(text: &str, length: usize) -> Option<&str> {
    let (name, rest) = text.split_at_checked(length)?;
    let next = rest.trim_start();
    if LISTS.contains(&name) && next.starts_with('(') {
        return Some(after(next, through(next, ')')));
    }
    (WORDS.contains(&name) || LISTS.contains(&name) || next.starts_with('(')).then_some(rest)
}

/// Returns a name with its matchers.
fn selected(text: &str, name: usize) -> &str {
    let rest = after(text, name);
    let space = rest.len() - rest.trim_start().len();
    let length = match after(rest, space) {
        next if next.starts_with('{') => name + space + matchers_end(next),
        _ => name,
    };
    text.get(..length).unwrap_or(text)
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | ':')
}

fn after(text: &str, length: usize) -> &str {
    text.get(length..).unwrap_or_default()
}

/// The length up to a character and with it.
fn through(text: &str, last: char) -> usize {
    text.find(last).map_or(text.len(), |at| at + last.len_utf8())
}

/// The length of the text in quotes with which this begins.
fn text_end(text: &str) -> usize {
    let mut letters = text.char_indices();
    let quote = letters.next().map_or('"', |(_, quote)| quote);
    let mut escaped = false;
    for (at, letter) in letters {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quote != '`' => escaped = true,
            letter if letter == quote => return at + letter.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// The length of the matchers in braces with which this begins.
fn matchers_end(text: &str) -> usize {
    let mut at = 0;
    while let Some(letter) = after(text, at).chars().next() {
        at += match letter {
            '"' | '\'' | '`' => text_end(after(text, at)),
            '}' => return at + 1,
            letter => letter.len_utf8(),
        };
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn steps_are_those_of_the_readings() {
        let of = |times: &[i64]| steps(times).map(|QueryTimes { step, rest }| (step, rest));
        assert_eq!(of(&[7_300, 22_301, 37_299, 97_300, 112_300]), Some((15, 8)));
        assert_eq!(of(&[1_000, 2_000]), Some((1, 0)));
        assert_eq!(of(&[1_000, 1_250, 1_500]), Some((1, 0)), "finer than seconds");
        assert_eq!((of(&[1_000]), of(&[])), (None, None));
        assert_eq!((of(&[i64::MIN, i64::MAX]), of(&[0, 90_000_000])), (None, None), "rarer than daily");
    }

    #[test]
    fn series_are_named_by_the_labels_in_which_they_differ() {
        let labels = |pairs: &[(&str, &str)]| -> SeriesLabels {
            pairs.iter().map(|(label, value)| ((*label).to_owned(), (*value).to_owned())).collect()
        };
        let of = |all: &[&[(&str, &str)]]| -> Vec<String> {
            let found = all.iter().map(|pairs| (labels(pairs), FoundReadings::default())).collect();
            parts(found).into_iter().map(|part| part.name).collect()
        };
        assert_eq!(
            of(&[&[("instance", "a:9100"), ("job", "x")], &[("instance", "b:9100"), ("job", "x")]]),
            ["a:9100", "b:9100"]
        );
        assert_eq!(of(&[&[("a", "1"), ("b", "2")], &[("a", "1")], &[("a", "3")]]), ["1", "1-2", "3"]);
        assert_eq!(of(&[&[("a", "1")]]), [""]);
    }

    proptest! {
        #[test]
        fn selector_of_any_text_is_a_part_of_it(query in "[ab{}()\\[\\]\"'`#,=\\\\ 1ß\n]{0,40}|sum by \\(a\\) .{0,20}") {
            if let Some(found) = selector(&query) {
                prop_assert!(!found.is_empty() && query.contains(found));
            }
        }
    }

    #[test]
    fn first_selector_of_a_query_is_found() {
        for (query, found) in [
            ("up", Some("up")),
            (
                "100*sum(rate(node_cpu_seconds_total{mode!=\"idle\"}[3s]))",
                Some("node_cpu_seconds_total{mode!=\"idle\"}"),
            ),
            ("sum by (instance, job) (a:b_total {x=\"}\\\"\"}[1m])", Some("a:b_total {x=\"}\\\"\"}")),
            ("100 - avg without(cpu)(x_1) * 2e3", Some("x_1")),
            ("sum(x) / on (instance) group_left count(y)", Some("x")),
            ("{__name__=~\"cpu.*\"}", Some("{__name__=~\"cpu.*\"}")),
            ("label_replace(up offset 5m, \"a\", \"$1\", \"b\", \".*\")", Some("up")),
            ("label_join(rate(`not`), vector(1))", None),
            ("time() # up", None),
            ("\"Größe", None),
            ("a{b=\"", Some("a{b=\"")),
            ("", None),
        ] {
            assert_eq!(selector(query), found, "{query}");
        }
    }
}
