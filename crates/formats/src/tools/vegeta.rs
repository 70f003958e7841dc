//! vegeta's results, as `vegeta encode` writes them: CSV without a header, or a line of JSON each.
//!
//! ```text
//! 1795348034787926537,200,6604590,0,12,,aGVsbG8=,alpha,1,GET,http://127.0.0.1:8130/hello,Q29u…
//! {"attack":"alpha","seq":1,"code":200,"timestamp":"2026-11-22T11:47:14.787926537Z","latency":6604590,…}
//! ```
//!
//! The CSV's columns are the start in ns since 1970, the code (0 without an answer), the latency in ns, bytes sent and
//! received, the error, the body, the attack's name, the number in the order of sending, the method, the URL, the headers.
//! Earlier versions end with that number.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;

use super::fields::{LineFields, LogColumn};
use super::format::{Format, TimeBase};
use super::lines::{ConvertLine, LineByLine};
use super::rejects::RejectCause;
use super::rows::{ConvertedRows, MS, RequestRow};
use crate::date::rfc3339_ns;
use crate::number::parse_i64;
use crate::work_count;
use perfpipe_model::sample::resolution::Resolution;

const COLUMNS: &[LogColumn] = &[
    LogColumn::TimeStamp,
    LogColumn::Elapsed,
    LogColumn::Label,
    LogColumn::ResponseCode,
    LogColumn::Success,
    LogColumn::FailureMessage,
    LogColumn::AllThreads,
    LogColumn::Bytes,
    LogColumn::SentBytes,
    LogColumn::Url,
];

/// The results as CSV.
pub(super) const CSV: Format = Format {
    name: "vegeta's CSV",
    tool: Some("vegeta"),
    finest: Resolution::MICROSECOND,
    clock: |_| TimeBase::Epoch,
    columns: COLUMNS,
    recognises: begins_csv,
    note: |_| None,
    by_workers: false,
    converter: || Box::new(LineByLine::new(CsvResults::default())),
};

/// The results as lines of JSON.
pub(super) const JSON: Format = Format {
    name: "vegeta's JSON",
    tool: Some("vegeta"),
    finest: Resolution::MICROSECOND,
    clock: |_| TimeBase::Epoch,
    columns: COLUMNS,
    recognises: |head| head.starts_with(b"{\"attack\":\""),
    note: |_| None,
    by_workers: false,
    converter: || Box::new(LineByLine::new(JsonResults::default())),
};

/// The number of columns, those before vegeta wrote method, URL and headers, and the digits of a present moment in ns.
const FIELDS: usize = 12;
const EARLIER_FIELDS: usize = 9;
const NANOSECONDS: usize = 19;

/// Returns true if a result begins here.
fn begins_csv(text: &[u8]) -> bool {
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut fields = line.split(|byte| *byte == b',');
    let is_start =
        fields.next().is_some_and(|field| field.len() == NANOSECONDS && parse_i64(field).is_some());
    // The error after the numbers may be of several lines.
    is_start
        && fields.by_ref().take(4).filter(|field| parse_i64(field).is_some()).count() == 4
        && fields.next().is_some_and(|error| error.starts_with(b"\"") || fields.next().is_some())
}

/// A result.
#[derive(Debug, Deserialize)]
struct Hit<'a> {
    #[serde(borrow)]
    attack: Cow<'a, str>,
    seq: i64,
    code: i64,
    #[serde(borrow)]
    timestamp: Cow<'a, str>,
    latency: i64,
    bytes_out: i64,
    bytes_in: i64,
    #[serde(borrow)]
    error: Cow<'a, str>,
    #[serde(borrow, default)]
    method: Cow<'a, str>,
    #[serde(borrow, default)]
    url: Cow<'a, str>,
}

/// What all results of a log share.
#[derive(Debug, Default)]
struct Hits {
    attacks: Attacks,
    label: String,
}

impl Hits {
    fn push(&mut self, hit: &Hit<'_>, start: i64, rows: &mut ConvertedRows) {
        let end = start.saturating_add(hit.latency);
        let threads = self.attacks.add(&hit.attack, hit.seq, start, end);
        self.label.clear();
        if hit.url.is_empty() {
            self.label.push_str(&hit.attack);
        } else {
            self.label.push_str(&hit.method);
            self.label.push(' ');
            self.label.push_str(path(&hit.url));
        }
        let mut code = itoa::Buffer::new();
        rows.push(&RequestRow {
            start_ms: start.div_euclid(MS),
            beyond_ns: start.rem_euclid(MS),
            elapsed_ns: hit.latency,
            label: self.label.trim().as_bytes(),
            response_code: if hit.code > 0 { code.format(hit.code).as_bytes() } else { b"" },
            success: (200..400).contains(&hit.code),
            failure_message: hit.error.as_bytes(),
            threads,
            bytes: Some(hit.bytes_in),
            sent_bytes: Some(hit.bytes_out),
            url: hit.url.as_bytes(),
            ..RequestRow::default()
        });
    }
}

/// Returns the path of a URL, without the query.
fn path(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/");
    path.split(['?', '#']).next().unwrap_or(path)
}

#[derive(Debug, Default)]
struct CsvResults {
    hits: Hits,
    fields: LineFields,
    /// The number of columns, by the first line.
    columns: Option<usize>,
}

impl ConvertLine for CsvResults {
    const BEGINS: Option<fn(&[u8]) -> bool> = Some(begins_csv);

    fn line(&mut self, line: &[u8], rows: &mut ConvertedRows) {
        if line.is_empty() {
            return;
        }
        self.fields.split_csv(line);
        let found = self.fields.len();
        let expected =
            *self.columns.get_or_insert(if found == EARLIER_FIELDS { EARLIER_FIELDS } else { FIELDS });
        if found < expected {
            let cause = RejectCause::Fields { found: found as u64, expected: expected as u64 };
            return rows.reject(cause, None, line);
        }
        let field = |at: usize| self.fields.get(at);
        let text = |at: usize| String::from_utf8_lossy(field(at));
        let Some(start) = parse_i64(field(0)) else {
            return rows.reject(RejectCause::Time(LogColumn::TimeStamp), Some(field(0)), line);
        };
        let numbers = [1, 2, 3, 4, 8].map(|at| parse_i64(field(at)));
        let [Some(code), Some(latency), Some(bytes_out), Some(bytes_in), Some(seq)] = numbers else {
            return rows.reject(RejectCause::Number(LogColumn::Elapsed), Some(field(2)), line);
        };
        let hit = Hit {
            attack: text(7),
            seq,
            code,
            timestamp: Cow::Borrowed(""),
            latency,
            bytes_out,
            bytes_in,
            error: text(5),
            method: text(9),
            url: text(10),
        };
        self.hits.push(&hit, start, rows);
    }
}

#[derive(Debug, Default)]
struct JsonResults {
    hits: Hits,
}

impl ConvertLine for JsonResults {
    fn line(&mut self, line: &[u8], rows: &mut ConvertedRows) {
        if line.is_empty() {
            return;
        }
        let Ok(hit) = serde_json::from_slice::<Hit<'_>>(line) else {
            return rows.reject(RejectCause::Unknown, None, line);
        };
        match rfc3339_ns(&hit.timestamp) {
            Some(start) => self.hits.push(&hit, start, rows),
            None => {
                rows.reject(RejectCause::Time(LogColumn::TimeStamp), Some(hit.timestamp.as_bytes()), line)
            }
        }
    }
}

/// The most ends that are remembered once some are forgotten, over all attacks: all requests before
/// those are regarded as ended.
const REMEMBERED: usize = 1 << 20;

/// The most attacks of a log whose requests are counted. No real log has more; for the others, the number in flight is unknown.
const MOST_ATTACKS: usize = 1000;

/// The longest name of an attack, in bytes, whose requests are counted.
const LONGEST_NAME: usize = 4 << 10;

/// Counts the requests in flight of each attack, since each numbers its own.
#[derive(Debug, Default)]
struct Attacks {
    by_name: HashMap<String, InFlight>,
    /// The number of ends that are remembered.
    ends: usize,
}

impl Attacks {
    /// Adds a request, given its number from 0, and returns how many were in flight when it began, itself included.
    fn add(&mut self, attack: &str, number: i64, start: i64, end: i64) -> Option<i64> {
        if !self.by_name.contains_key(attack) {
            if self.by_name.len() == MOST_ATTACKS || attack.len() > LONGEST_NAME {
                return None;
            }
            self.by_name.insert(attack.to_owned(), InFlight::default());
        }
        let in_flight = self.by_name.get_mut(attack)?.add(number, start, end);
        self.ends += 1;
        if self.ends > 2 * REMEMBERED {
            let each = REMEMBERED / self.by_name.len().max(1);
            self.by_name.values_mut().for_each(|attack| attack.forget(each));
            self.ends = self.by_name.values().map(InFlight::remembered).sum();
        }
        Some(in_flight)
    }
}

/// Counts requests that have begun and not ended.
///
/// Requests come in the order of their ends, each with its number in the order of the starts. So when one comes, all that
/// ended before it began have come: it is exact without looking ahead.
#[derive(Debug, Default)]
struct InFlight {
    /// The ends, in runs that are each ascending, and of which each is more than twice as long as the next. There is one,
    /// unless requests come in another order.
    runs: Vec<Vec<i64>>,
    /// The number of earlier ends, which are forgotten.
    forgotten: usize,
}

impl InFlight {
    fn add(&mut self, number: i64, start: i64, end: i64) -> i64 {
        work_count::count(self.runs.len());
        let ended: usize = self.runs.iter().map(|run| run.partition_point(|other| *other <= start)).sum();
        let ended = i64::try_from(self.forgotten + ended).unwrap_or(i64::MAX);
        match self.runs.last_mut().filter(|run| run.last().is_some_and(|last| *last <= end)) {
            Some(run) => run.push(end),
            None => self.runs.push(vec![end]),
        }
        self.merge();
        number.saturating_add(1).saturating_sub(ended).max(1)
    }

    /// Merges the last runs, until each is short compared with the one before it.
    fn merge(&mut self) {
        while let [.., before, last] = self.runs.as_slice()
            && before.len() <= last.len() * 2
        {
            self.merge_last();
        }
    }

    fn merge_last(&mut self) {
        let (Some(last), Some(before)) = (self.runs.pop(), self.runs.last_mut()) else { return };
        work_count::count(before.len() + last.len());
        before.extend(last);
        // Sorting two ascending runs takes linear time.
        before.sort();
    }

    /// The number of ends that are remembered.
    fn remembered(&self) -> usize {
        self.runs.iter().map(Vec::len).sum()
    }

    /// Forgets all but the latest ends, of which it keeps this many.
    fn forget(&mut self, all_but: usize) {
        while self.runs.len() > 1 {
            self.merge_last();
        }
        if let Some(run) = self.runs.first_mut() {
            let early = run.len().saturating_sub(all_but);
            run.drain(..early);
            run.shrink_to(all_but);
            self.forgotten += early;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn number_in_flight_is_that_of_a_count(gaps in prop::collection::vec((1..50_i64, 1..400_i64), 1..80)) {
            let mut start = 0;
            let requests: Vec<(i64, i64, i64)> = (0..).zip(&gaps).map(|(number, (gap, took))| {
                start += gap;
                (number, start, start + took)
            }).collect();
            let mut ended = requests.clone();
            ended.sort_by_key(|(_, _, end)| *end);
            let mut in_flight = InFlight::default();
            for (number, start, end) in ended {
                let expected = requests.iter().filter(|(_, s, e)| *s <= start && *e > start).count();
                prop_assert_eq!(in_flight.add(number, start, end), expected as i64);
            }
        }
    }
}
