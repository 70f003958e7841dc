//! Asks Prometheus for the readings of a query, by windows.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::access::Access;
use super::address::several;
use super::answered::{Answered, Nearest, Part, SHIFTED, answer, no_readings};
use super::http::{Client, LARGEST, Request};
use super::promql::selector;
use crate::error::ErrorKind;
use crate::run::fault::Fault;
use crate::source::cpu_export::monitor::prometheus::{Labels, Series, each_series, name};
use crate::source::cpu_export::monitor::{Found, MOST_READINGS, MOST_SERIES, too_many};

/// The number of points that are asked for at once. Prometheus answers up to 11,000.
const POINTS: i64 = 10_000;

/// The maximum number of points.
const MOST_POINTS: i64 = MOST_READINGS as i64;

/// The maximum number of times by which the step of a series is found.
const MOST_TIMES: usize = 100_000;

/// The time before the run's end in which a series tells how often it is read.
const INTERVAL: &str = "[5m]";

/// The longest step that is found by the readings of a series: a day, in seconds.
const LONGEST_STEP: i64 = 86_400;

/// The step by which readings near a run are looked for, in seconds.
const NEAR: i64 = 15;

/// The maximum number of series that an error lists.
const LISTED: usize = 10;

/// A query of a host.
pub(super) struct Query<'a> {
    pub(super) client: &'a mut Client,
    /// The address of range queries.
    pub(super) url: &'a str,
    pub(super) query: &'a str,
    pub(super) access: &'a Access,
}

/// The seconds at which a query is evaluated: those that leave this rest when they are divided by the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Steps {
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
        let Steps { step, rest } = match step {
            Some(step) => Steps { step: step.into(), rest: 0 },
            None => self.steps(last)?.unwrap_or(Steps { step: 1, rest: 0 }),
        };
        // The steps of all windows are those of one.
        let begin = first - (first - rest).rem_euclid(step);
        if last.saturating_sub(begin) / step > MOST_POINTS {
            let problem = "there are more than 4,000,000 points to ask for";
            return Err(Fault::new(ErrorKind::CpuTooLarge, problem, FEWER));
        }
        let (mut found, mut count): (BTreeMap<Labels, Found>, usize) = (BTreeMap::new(), 0);
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
    fn steps(&mut self, last: i64) -> Result<Option<Steps>, Fault> {
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
        // Whoever does not answer this may still answer the query.
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

    fn ask(&mut self, url: &str) -> Result<super::http::Answer, Fault> {
        let authorization = authorization(self.access);
        self.client.send(&Request { url, body: None, authorization, largest: LARGEST })
    }
}

/// What helps against too many points.
const FEWER: &str = "Ask for fewer points: step=60 in the URL.";

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Adds a series of a window to those of the windows before.
fn add(series: &Series<'_>, found: &mut BTreeMap<Labels, Found>, count: &mut usize) -> Result<(), Fault> {
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
fn steps(times: &[i64]) -> Option<Steps> {
    let mut between: Vec<i64> =
        times.iter().zip(times.iter().skip(1)).map(|(one, next)| next.saturating_sub(*one)).collect();
    between.sort_unstable();
    let step = (between.get(between.len() / 2)?.saturating_add(500) / 1000).max(1);
    if step > LONGEST_STEP {
        return None;
    }
    let known = times.last()?.saturating_add(999).div_euclid(1000);
    Some(Steps { step, rest: known.rem_euclid(step) })
}

/// Returns the series, each named by the labels in which they differ.
fn parts(found: BTreeMap<Labels, Found>) -> Vec<Part> {
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
    let named = |labels: &Labels| {
        let values = labels.iter().filter(|(label, _)| differing.contains(*label)).map(|(_, value)| value);
        values.cloned().collect::<Vec<_>>().join("-")
    };
    found.into_iter().map(|(labels, found)| Part { name: named(&labels), found, scale: None }).collect()
}

/// Names some series.
fn list<'a>(series: impl Iterator<Item = &'a Labels>) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_the_readings() {
        let of = |times: &[i64]| steps(times).map(|Steps { step, rest }| (step, rest));
        assert_eq!(of(&[7_300, 22_301, 37_299, 97_300, 112_300]), Some((15, 8)));
        assert_eq!(of(&[1_000, 2_000]), Some((1, 0)));
        assert_eq!(of(&[1_000, 1_250, 1_500]), Some((1, 0)), "finer than seconds");
        assert_eq!((of(&[1_000]), of(&[])), (None, None));
        assert_eq!((of(&[i64::MIN, i64::MAX]), of(&[0, 90_000_000])), (None, None), "rarer than daily");
    }

    #[test]
    fn series_are_named_by_the_labels_in_which_they_differ() {
        let labels = |pairs: &[(&str, &str)]| -> Labels {
            pairs.iter().map(|(label, value)| ((*label).to_owned(), (*value).to_owned())).collect()
        };
        let of = |all: &[&[(&str, &str)]]| -> Vec<String> {
            let found = all.iter().map(|pairs| (labels(pairs), Found::default())).collect();
            parts(found).into_iter().map(|part| part.name).collect()
        };
        assert_eq!(
            of(&[&[("instance", "a:9100"), ("job", "x")], &[("instance", "b:9100"), ("job", "x")]]),
            ["a:9100", "b:9100"]
        );
        assert_eq!(of(&[&[("a", "1"), ("b", "2")], &[("a", "1")], &[("a", "3")]]), ["1", "1-2", "3"]);
        assert_eq!(of(&[&[("a", "1")]]), [""]);
    }
}
