//! Locust's `_stats.csv` and `_stats_history.csv`, whose row of all requests is read, and its `--json`: one object for each
//! name of requests, with counts by second and by rounded response time.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::summaries::json::{JsonValue, sum};
use crate::summaries::section::{Section, TextLine};
use crate::summaries::tool::{JsonTool, ParsedSummary, TextTool};
use crate::summaries::units;
use perfpipe_model::points::{Bounds, Figures, Latencies, LatencySource, PointSecond};

/// The table at the end of a run.
pub(super) struct LocustStats;

/// The table by time, whose last row of all requests has the totals.
pub(super) struct LocustHistory;

/// How their headers begin, the second time as Locust 1.0 writes them.
const STATS: [&str; 2] = ["Type,Name,Request Count", "\"Type\",\"Name\",\"Request Count\""];
const HISTORY: [&str; 2] =
    ["Timestamp,User Count,Type,Name", "\"Timestamp\",\"User Count\",\"Type\",\"Name\""];

/// Locust writes the files at intervals.
const EARLY: &str = "Locust writes this file at intervals, and may have left out the end of the run";

impl TextTool for LocustStats {
    fn name(&self) -> &'static str {
        "locust"
    }

    fn begins(&self, line: TextLine<'_>) -> bool {
        STATS.iter().any(|header| line.rest().starts_with(header))
    }

    fn read(&self, section: &Section<'_>) -> Result<ParsedSummary, String> {
        let table = StatsTable::of(section);
        let row = table.all().ok_or("the file ends before the row Aggregated")?;
        let requests = row.needed_count("Request Count")?;
        let failures = row.needed_count("Failure Count")?;
        let rate = row.number("Requests/s");
        let mut figures = figures(requests, failures);
        figures.duration = rate.filter(|rate| *rate > 0.0).map(|rate| requests as f64 / rate);
        figures.answers_per_second = rate;
        figures.latencies = Latencies::printed(
            row.number("Average Response Time"),
            row.number("Max Response Time"),
            row.percentiles(),
        );
        Ok(ParsedSummary { figures, ..ParsedSummary::default() })
    }

    fn is_closed_loop(&self) -> bool {
        false
    }
}

impl TextTool for LocustHistory {
    fn name(&self) -> &'static str {
        "locust"
    }

    fn begins(&self, line: TextLine<'_>) -> bool {
        HISTORY.iter().any(|header| line.rest().starts_with(header))
    }

    fn read(&self, section: &Section<'_>) -> Result<ParsedSummary, String> {
        let table = StatsTable::of(section);
        let row = table.all().ok_or("the file has no row Aggregated")?;
        let seconds = row.number("Timestamp").zip(table.first).map(|(last, first)| last - first);
        let users = table.users;
        let requests = row.needed_count("Total Request Count")?;
        let mut figures = figures(requests, row.needed_count("Total Failure Count")?);
        figures.duration = seconds.filter(|seconds| *seconds > 0.0);
        figures.answers_per_second = figures.duration.map(|seconds| requests as f64 / seconds);
        // The percentiles of this file are of the last ten seconds only.
        figures.latencies = Latencies::printed(
            row.number("Total Average Response Time"),
            row.number("Total Max Response Time"),
            Vec::new(),
        );
        Ok(ParsedSummary {
            concurrency: users.and_then(|users| u32::try_from(users).ok()),
            url: None,
            figures,
        })
    }

    fn is_closed_loop(&self) -> bool {
        false
    }
}

fn figures(requests: u64, failures: u64) -> Figures {
    Figures {
        requests: Some(requests),
        successes: Some(requests.saturating_sub(failures)),
        failures: Some(Bounds::exactly(failures)),
        notes: vec![EARLY.to_owned(), "the latencies include those of failures".to_owned()],
        ..Figures::default()
    }
}

/// A table with named columns, and what is read of its rows.
#[derive(Default)]
struct StatsTable {
    names: Vec<String>,
    /// The last row of the totals.
    all: Option<Vec<String>>,
    /// The first time, and the most users.
    first: Option<f64>,
    users: Option<u64>,
}

impl StatsTable {
    fn of(section: &Section<'_>) -> Self {
        let mut table = Self::default();
        section.all(|line| {
            let cells = cells(line);
            let is_row = cells.len() > 1;
            match is_row {
                true if table.names.is_empty() => table.names = cells,
                true => table.add(cells),
                false => {}
            }
            is_row
        });
        table
    }

    fn add(&mut self, cells: Vec<String>) {
        let row = StatsRow { names: &self.names, cells: &cells };
        let (time, users) = (row.number("Timestamp"), row.count("User Count"));
        let is_all = row.cell("Name") == Some("Aggregated");
        self.first = self.first.or(time);
        self.users = self.users.max(users);
        if is_all {
            self.all = Some(cells);
        }
    }

    /// The last row of the totals.
    fn all(&self) -> Option<StatsRow<'_>> {
        self.all.as_deref().map(|cells| StatsRow { names: &self.names, cells })
    }
}

struct StatsRow<'a> {
    names: &'a [String],
    cells: &'a [String],
}

impl StatsRow<'_> {
    fn cell(&self, name: &str) -> Option<&str> {
        let at = self.names.iter().position(|found| found == name)?;
        self.cells.get(at).map(String::as_str)
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.cell(name).and_then(units::number)
    }

    fn count(&self, name: &str) -> Option<u64> {
        self.cell(name).and_then(units::count)
    }

    fn needed_count(&self, name: &str) -> Result<u64, String> {
        self.count(name).ok_or_else(|| format!("the row Aggregated has no count in the column {name}"))
    }

    fn percentiles(&self) -> Vec<(f64, f64)> {
        let percents = [50.0, 66.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.9];
        percents
            .into_iter()
            .filter_map(|percent| Some((percent, self.number(&format!("{percent}%"))?)))
            .collect()
    }
}

/// The most cells of a row that are read.
const MOST_CELLS: usize = 1000;

/// The cells of a row.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut rest = line.trim_end_matches(['\r', '\n']).chars().peekable();
    while let Some(next) = rest.next().filter(|_| cells.len() < MOST_CELLS) {
        match next {
            '"' if quoted && rest.peek() == Some(&'"') => cell.extend(rest.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    cells.push(cell);
    cells
}

/// The list of all names.
pub(super) struct LocustList;

/// One of its objects by itself.
pub(super) struct LocustEntry;

/// Requests by epoch second, and by response time.
const SECONDS: &str = "/num_reqs_per_sec";
const TIMES: &str = "/response_times";

/// Failed requests by epoch second.
const FAILURES: &str = "/num_fail_per_sec";

/// The largest plausible count.
const MANY: u64 = u32::MAX as u64;

impl JsonTool for LocustList {
    fn name(&self) -> &'static str {
        "locust"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["/0/num_reqs_per_sec", "/0/num_fail_per_sec", "/0/response_times"]
    }

    fn read(&self, value: &Value) -> Result<ParsedSummary, String> {
        let names: Vec<JsonValue<'_>> = value.as_array().into_iter().flatten().map(JsonValue).collect();
        summary_of(&names)
    }

    fn is_closed_loop(&self) -> bool {
        false
    }
}

impl JsonTool for LocustEntry {
    fn name(&self) -> &'static str {
        "locust"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["/num_reqs_per_sec", "/num_fail_per_sec", "/response_times"]
    }

    fn read(&self, value: &Value) -> Result<ParsedSummary, String> {
        summary_of(&[JsonValue(value)])
    }

    fn is_closed_loop(&self) -> bool {
        false
    }
}

/// Adds up all names.
fn summary_of(names: &[JsonValue<'_>]) -> Result<ParsedSummary, String> {
    let total = |key: &str| -> Result<u64, String> {
        let counts = names.iter().map(|name| name.needed_count(key)).collect::<Result<Vec<_>, _>>()?;
        Ok(sum(counts))
    };
    let (requests, failures) = (total("/num_requests")?, total("/num_failures")?);
    let seconds = duration(names);
    let untimed = names.iter().map(|name| name.count_or_zero("/num_none_requests"));
    let timed = requests.saturating_sub(sum(untimed.collect::<Result<Vec<_>, _>>()?));
    let mut figures = Figures {
        duration: seconds,
        requests: Some(requests),
        successes: Some(requests.saturating_sub(failures)),
        failures: Some(Bounds::exactly(failures)),
        answers_per_second: seconds.map(|seconds| requests as f64 / seconds),
        bytes_per_second: seconds.and_then(|seconds| Some(all(names, "/total_content_length")? / seconds)),
        latencies: latencies(names, timed)?,
        by_second: by_second(names)?,
        ..Figures::default()
    };
    let counted = sum(figures.by_second.iter().map(|second| second.requests));
    if counted != requests {
        figures.notes.push(format!("the counts by second add up to {counted} of {requests} requests"));
    }
    figures.notes.push("the latencies include those of failures".to_owned());
    if figures.latencies.source.is_some() {
        figures.notes.push(
            "the percentiles are of times that Locust rounds: to whole ms below 100, to two digits from there on"
                .to_owned(),
        );
    }
    Ok(ParsedSummary { figures, ..ParsedSummary::default() })
}

/// The sum of a number over all names; `None` unless all have it.
fn all(names: &[JsonValue<'_>], key: &str) -> Option<f64> {
    names.iter().map(|name| name.number(key)).sum()
}

/// Adds up the requests of each second.
fn by_second(names: &[JsonValue<'_>]) -> Result<Vec<PointSecond>, String> {
    let mut seconds = BTreeMap::<i64, PointSecond>::new();
    for (key, is_failed) in [(SECONDS, false), (FAILURES, true)] {
        for name in names {
            for (at, count) in name.counts(key)? {
                let clock = at.parse().map_err(|_| format!("its JSON has no second at {key}/{at}"))?;
                let second = seconds.entry(clock).or_insert(PointSecond::new(clock, 0, 0));
                let sum = if is_failed { &mut second.failures } else { &mut second.requests };
                *sum = sum.saturating_add(count);
            }
        }
    }
    Ok(seconds.into_values().collect())
}

/// From the first start to the last request, in seconds; without these, the seconds that have a request.
fn duration(names: &[JsonValue<'_>]) -> Option<f64> {
    let bound =
        |key, fold: fn(f64, f64) -> f64| names.iter().filter_map(|name| name.number(key)).reduce(fold);
    let span = bound("/last_request_timestamp", f64::max).zip(bound("/start_time", f64::min));
    let span = span.map(|(last, first)| last - first).filter(|seconds| *seconds > 0.0);
    span.or_else(|| {
        let counts = names.iter().flat_map(|name| name.counts(SECONDS).unwrap_or_default());
        let seconds: Vec<u64> = counts.filter_map(|(at, _)| number(at)).collect();
        Some((seconds.iter().max()? - seconds.iter().min()?) as f64 + 1.0)
    })
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// The exact mean and greatest, and the percentiles of the rounded times.
fn latencies(names: &[JsonValue<'_>], timed: u64) -> Result<Latencies, String> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for name in names {
        for (time, count) in name.counts(TIMES)? {
            let ms = number(time).filter(|ms| *ms <= MANY && count <= MANY);
            let ms = ms.ok_or_else(|| format!("its JSON has no count of requests at {TIMES}/{time}"))?;
            let sum_at = counts.entry(ms).or_default();
            *sum_at = sum_at.saturating_add(count);
        }
    }
    let counts: Vec<(u64, u64)> = counts.into_iter().collect();
    let times = sum(counts.iter().map(|(_, count)| *count));
    if times != timed {
        return Err(format!("its JSON has {times} response times for {timed} requests"));
    }
    let mean = all(names, "/total_response_time").filter(|_| timed > 0).map(|ms| ms / timed as f64);
    let max = names.iter().filter_map(|name| name.number("/max_response_time")).reduce(f64::max);
    let counted = Latencies::counted(&counts, 1.0);
    Ok(Latencies {
        source: counted.source.map(|_| LatencySource::Printed),
        mean_ms: mean.or(counted.mean_ms),
        max_ms: max.or(counted.max_ms),
        ..counted
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summaries::fixtures::{only, path};
    use crate::summaries::sections;
    use perfpipe_model::points::LatencySource;

    #[test]
    fn row_of_all_requests_is_read() {
        let figures = only("locust/run_stats.csv").figures;
        assert_eq!((figures.requests, figures.successes), (Some(1467), Some(1304)));
        assert_eq!((figures.failures.unwrap().least, figures.latencies.percentile(99.0)), (163, Some(120.0)));
        assert!(figures.notes[0].contains("left out the end"), "the run had 1501");
    }

    #[test]
    fn history_has_the_users() {
        let found = only("locust/run_stats_history.csv");
        assert_eq!(
            (found.concurrency, found.figures.requests, found.figures.successes),
            (Some(12), Some(1467), Some(1304))
        );
        assert_eq!(found.figures.duration, Some(12.0));
    }

    /// Locust 1.0 quotes the names of columns, and texts.
    #[test]
    fn quoted_tables_are_read() {
        let stats = "\"Type\",\"Name\",\"Request Count\",\"Failure Count\",\"Median Response Time\",\"Average Response Time\",\
                     \"Min Response Time\",\"Max Response Time\",\"Average Content Size\",\"Requests/s\",\"Failures/s\",\"50%\",\"99%\"\n\
                     \"GET\",\"/a\",40,3,17,32,8,203,171,8.0,0.6,17,180\n\"None\",\"Aggregated\",40,3,17,32,8,203,171,8.0,0.6,17,180\n";
        let history = "\"Timestamp\",\"User Count\",\"Type\",\"Name\",\"Requests/s\",\"Failures/s\",\"50%\",\"Total Request Count\",\
                       \"Total Failure Count\",\"Total Average Response Time\",\"Total Max Response Time\"\n\
                       \"1579600000\",\"6\",\"None\",\"Aggregated\",0,0,\"N/A\",0,0,0,0\n\
                       \"1579600005\",\"6\",\"None\",\"Aggregated\",8,1,17,40,3,32,203\n";
        for (text, users) in [(stats, None), (history, Some(6))] {
            let found = crate::summaries::sections(text.as_bytes());
            let figures = &found.sections[0].figures;
            assert_eq!((found.sections[0].tool, found.sections[0].concurrency), ("locust", users));
            assert_eq!((figures.requests, figures.successes), (Some(40), Some(37)));
            assert_eq!((figures.duration, figures.latencies.max_ms), (Some(5.0), Some(203.0)));
        }
    }

    #[test]
    fn quotes_hold_commas() {
        assert_eq!(cells("GET,\"/json, quoted \"\"x\"\"\",404\r\n"), ["GET", "/json, quoted \"x\"", "404"]);
        assert_eq!(
            (cells(""), cells("a,,")),
            (vec![String::new()], vec!["a".into(), String::new(), String::new()])
        );
    }

    #[test]
    fn names_are_added_up() {
        let figures = only("locust/run.json").figures;
        assert_eq!((figures.requests, figures.successes), (Some(1501), Some(1335)));
        assert_eq!((figures.failures.unwrap().least, figures.failures.unwrap().greatest), (166, 166));
        assert!((figures.duration.unwrap() - 12.077_38).abs() < 1e-5, "{:?}", figures.duration);
        let latencies = &figures.latencies;
        assert_eq!(latencies.source, Some(LatencySource::Printed));
        assert!((latencies.mean_ms.unwrap() - 34_389.785_887_986_36 / 1501.0).abs() < 1e-9);
        assert!((latencies.max_ms.unwrap() - 1_017.565_968_999_861).abs() < 1e-9);
        for (percent, ms) in PERCENTILES {
            assert!((latencies.percentile(percent).unwrap() - ms).abs() < 1e-9, "{percent}: {latencies:?}");
        }
        assert!(figures.notes.iter().any(|note| note.contains("two digits")), "{:?}", figures.notes);
    }

    /// By another program: numpy's linear percentiles of the rounded times.
    const PERCENTILES: [(f64, f64); 3] = [(50.0, 9.0), (95.0, 44.0), (99.0, 74.0)];

    #[test]
    fn one_name_is_read_by_itself() {
        let text = std::fs::read_to_string(path("locust/run.json")).unwrap();
        let list: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        let found = sections(format!("locust -u 12 -t 14s\n{:#}\n", list[1]).as_bytes());
        let figures = &found.sections[0].figures;
        assert_eq!((found.sections.len(), found.sections[0].concurrency), (1, Some(12)));
        assert_eq!((figures.requests, figures.successes, figures.in_flight), (Some(416), Some(376), None));
    }

    #[test]
    fn list_stands_behind_lines_of_the_log() {
        let text = std::fs::read_to_string(path("locust/run.json")).unwrap();
        let log = "[2026-11-22 11:47:36,085] vm/INFO/locust.main: Starting Locust 2.47.0\n";
        let found = sections([log, &text, log].concat().as_bytes());
        assert_eq!((found.sections.len(), found.sections[0].line, found.ignored), (1, 2, 2));
        assert_eq!(found.sections[0].figures.requests, Some(1501));
    }

    #[test]
    fn cut_and_contradicting_lists_have_no_figures_and_say_why() {
        let text = std::fs::read_to_string(path("locust/run.json")).unwrap();
        let cut = sections(&text.as_bytes()[..text.len() - 100]);
        let aborted = |found: &crate::summaries::walk::FoundSections| {
            found.sections[0].figures.aborted.clone().unwrap()
        };
        assert_eq!(cut.sections[0].tool, "locust");
        assert!(aborted(&cut).contains("ends early"), "{cut:?}");
        let fewer = sections(text.replace("\"num_requests\": 1085", "\"num_requests\": 1084").as_bytes());
        assert!(aborted(&fewer).contains("1501 response times for 1500 requests"), "{fewer:?}");
        let later = sections(text.replacen("\"1795348056\": 19", "\"1795348056\": 18", 1).as_bytes());
        assert!(
            later.sections[0].figures.notes.iter().any(|note| note.contains("add up to 1500 of 1501")),
            "{later:?}"
        );
        let wrong = sections(text.replacen("\"1795348056\": 19", "\"soon\": 19", 1).as_bytes());
        assert!(aborted(&wrong).contains("no second at /num_reqs_per_sec/soon"), "{wrong:?}");
        for (from, to) in [("\"160\": 1,", "\"soon\": 1,"), ("\"160\": 1,", "\"160\": 18446744073709551615,")]
        {
            assert!(text.contains(from));
            let wrong = sections(text.replacen(from, to, 1).as_bytes());
            assert!(aborted(&wrong).contains("no count of requests"), "{wrong:?}");
        }
    }
}
