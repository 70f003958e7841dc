//! The slow, obvious reader of logs, over the `csv` crate, to test the fast one against.
//!
//! It keeps every sample in memory. It needs the `csv` crate only, so other crates' tests can use it through `#[path]`.

#![allow(dead_code, unreachable_pub, unused_imports, reason = "each test uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test's helper fails by panicking")]

mod seconds;

use std::collections::{BTreeMap, BTreeSet};

pub use seconds::{OracleSecond, OracleSpread, OracleView, percentile, read_cpu};

/// The columns of a log without a header.
pub const DEFAULT_COLUMNS: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,\
failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";

/// Columns that hold a whole number or nothing.
const NUMBERS: &str = "bytes,sentBytes,grpThreads,allThreads,Latency,IdleTime,Connect,SampleCount,ErrorCount";

/// Numbers that must fit into 32 bits.
const SMALL: &str = "elapsed,allThreads,Latency,IdleTime,Connect";

/// A record further than this from the log's first is a reject, ms.
const MAX_SPAN_MS: i64 = 7 * 86_400_000;

/// One accepted record.
#[derive(Debug, Clone, PartialEq)]
pub struct OracleSample {
    /// Index of the log among the run's logs.
    pub log: usize,
    pub timestamp_ms: i64,
    pub elapsed: i64,
    pub label: Option<String>,
    pub response_code: Option<String>,
    pub success: bool,
    pub bytes: Option<i64>,
    pub sent_bytes: Option<i64>,
    pub all_threads: Option<i64>,
    pub latency: Option<i64>,
    pub idle_time: Option<i64>,
    pub connect: Option<i64>,
    pub injector: Option<String>,
    pub transaction: bool,
    /// failureMessage, else responseMessage.
    pub message: String,
}

/// One record that was not accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct OracleReject {
    /// Index of the log among the run's logs.
    pub log: usize,
    /// The byte at which it begins.
    pub byte: usize,
    /// It, as logged, without its line end.
    pub record: String,
}

/// All of a run's logs, or one of them.
#[derive(Debug, Clone, Default)]
pub struct OracleRun {
    /// In the order of the logs.
    pub samples: Vec<OracleSample>,
    /// The line, from 1, on which each reject begins.
    pub rejects: Vec<u64>,
    /// The same rejects, as they stand in the log.
    pub rejected: Vec<OracleReject>,
}

impl OracleRun {
    /// Reads logs, unpacked, as the injectors of one run.
    pub fn read(logs: &[&[u8]]) -> Self {
        let mut run = Self::default();
        for (index, bytes) in logs.iter().enumerate() {
            run.read_log(index, bytes);
        }
        run
    }

    fn read_log(&mut self, log: usize, bytes: &[u8]) {
        let mark = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let bytes = &bytes[mark..];
        let mut columns: Vec<String> = DEFAULT_COLUMNS.split(',').map(String::from).collect();
        let (mut head, mut from) = (None, Some(0));
        while let Some(at) = from {
            from = self.read_from(log, (bytes, mark), at, &mut columns, &mut head);
        }
    }

    /// Reads on from a byte behind the mark; the byte from which to read again, where a quote was never closed and
    /// whole records stand behind its line.
    fn read_from(
        &mut self,
        log: usize,
        (bytes, mark): (&[u8], usize),
        from: usize,
        columns: &mut Vec<String>,
        head: &mut Option<i64>,
    ) -> Option<usize> {
        let delimiter = delimiter(bytes);
        let records = records(bytes, from, delimiter);
        // A quote that is opened and never closed takes the rest of the file, and whatever is put after it,
        // into one last record.
        let broken = match is_open(bytes, from, delimiter, records.len()) {
            true => records.len() - 1,
            false => records.len(),
        };
        for (index, (start, record)) in records.iter().enumerate() {
            let fields: Vec<String> = record.iter().map(text).collect();
            if from == 0 && index == 0 && fields.iter().any(|field| field == "timeStamp") {
                *columns = fields;
            } else if fields == *columns {
                // A header once more: two logs in one file.
            } else {
                let sample = accept(log, columns, &fields).filter(|_| index != broken);
                match sample.filter(|s| near(s.timestamp_ms, head)) {
                    Some(sample) => self.samples.push(sample),
                    None => {
                        let next = records.get(index + 1).map_or(bytes.len(), |(next, _)| *next);
                        let behind = (index == broken).then(|| goes_on(bytes, *start, columns)).flatten();
                        let end = behind.unwrap_or(next);
                        let lines = bytes[..*start].iter().filter(|byte| **byte == b'\n').count();
                        self.rejects.push(1 + lines as u64);
                        let record = without_line_ends(&bytes[*start..end], index == broken);
                        self.rejected.push(OracleReject { log, byte: mark + start, record });
                        if behind.is_some() {
                            return behind;
                        }
                    }
                }
            }
        }
        None
    }

    /// The smallest timeStamp, epoch ms.
    pub fn t0_ms(&self) -> i64 {
        self.samples.iter().map(|sample| sample.timestamp_ms).min().unwrap()
    }

    /// The largest timeStamp, epoch ms.
    pub fn last_ms(&self) -> i64 {
        self.samples.iter().map(|sample| sample.timestamp_ms).max().unwrap()
    }

    /// The injectors that are told apart by name.
    pub fn injectors(&self) -> BTreeSet<&str> {
        self.samples.iter().filter_map(|sample| sample.injector.as_deref()).collect()
    }
}

/// Whether the last of `count` records has a quote that is never closed.
fn is_open(bytes: &[u8], from: usize, delimiter: u8, count: usize) -> bool {
    count > 0 && records(&[bytes, b"\nx"].concat(), from, delimiter).len() == count
}

/// The byte behind the line at `start`, if a record behind it can be taken.
fn goes_on(bytes: &[u8], start: usize, columns: &[String]) -> Option<usize> {
    let behind = start + 1 + bytes[start..].iter().position(|byte| *byte == b'\n')?;
    let delimiter = delimiter(bytes);
    let mut records = records(bytes, behind, delimiter);
    if is_open(bytes, behind, delimiter, records.len()) {
        records.pop();
    }
    let fields = |record: &csv::ByteRecord| record.iter().map(text).collect::<Vec<_>>();
    records.iter().any(|(_, record)| accept(0, columns, &fields(record)).is_some()).then_some(behind)
}

/// Every record from a byte on that is not a blank line, with the byte at which it begins.
fn records(bytes: &[u8], from: usize, delimiter: u8) -> Vec<(usize, csv::ByteRecord)> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(&bytes[from..]);
    let records = reader.byte_records().map(Result::unwrap);
    // The crate has a record begin with the blank lines before it.
    let start = |record: &csv::ByteRecord| {
        let from = from + record.position().unwrap().byte() as usize;
        from + bytes[from..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
    };
    records.map(|record| (start(&record), record)).collect()
}

/// A field as the stores can hold it.
fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(field).replace('\0', "\u{fffd}")
}

/// A record without what ends it: one line end where an open quote took all others into the record.
fn without_line_ends(record: &[u8], open: bool) -> String {
    let text = String::from_utf8_lossy(record);
    let one = text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text));
    if open { one.unwrap_or(&text).to_owned() } else { text.trim_end_matches(['\r', '\n']).to_owned() }
}

/// What stands beside `timeStamp` in the header, else the most frequent of the usual delimiters.
fn delimiter(bytes: &[u8]) -> u8 {
    let line = bytes.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap();
    let line: Vec<u8> = line.iter().copied().filter(|byte| !matches!(byte, b'"' | b'\r')).collect();
    if let Some(at) = line.windows(9).position(|window| window == b"timeStamp") {
        return *line.get(at + 9).unwrap_or_else(|| &line[at - 1]);
    }
    let count = |delimiter: u8| line.iter().filter(|byte| **byte == delimiter).count();
    *[b'|', b'\t', b';', b','].iter().max_by_key(|delimiter| count(**delimiter)).unwrap()
}

fn near(timestamp_ms: i64, head: &mut Option<i64>) -> bool {
    (timestamp_ms - *head.get_or_insert(timestamp_ms)).abs() <= MAX_SPAN_MS
}

/// The record as a sample, or `None` for a reject.
fn accept(log: usize, columns: &[String], fields: &[String]) -> Option<OracleSample> {
    if fields.len() != columns.len() {
        return None;
    }
    let field = |name: &str| columns.iter().position(|column| column == name).map(|at| fields[at].as_str());
    let text = |name: &str| field(name).map(String::from);
    let numbers: BTreeMap<&str, Option<i64>> =
        NUMBERS.split(',').map(|name| Some((name, optional(name, field(name))?))).collect::<Option<_>>()?;
    let success = match field("success")?.to_lowercase().as_str() {
        "true" => true,
        "false" => false,
        _ => return None,
    };
    let is_transaction = field("responseMessage")
        .is_some_and(|m| m.starts_with("Number of samples in transaction : "))
        && field("dataType").unwrap_or_default().is_empty()
        && matches!(field("URL").unwrap_or_default(), "" | "null");
    Some(OracleSample {
        log,
        timestamp_ms: timestamp(field("timeStamp")?)?,
        elapsed: whole("elapsed", field("elapsed")?)?,
        label: text("label"),
        response_code: text("responseCode"),
        success,
        bytes: numbers["bytes"],
        sent_bytes: numbers["sentBytes"],
        all_threads: numbers["allThreads"],
        latency: numbers["Latency"],
        idle_time: numbers["IdleTime"],
        connect: numbers["Connect"],
        injector: text("Hostname").filter(|h| !h.is_empty()).or_else(|| injector(field("threadName")?)),
        transaction: is_transaction,
        message: ["failureMessage", "responseMessage"]
            .into_iter()
            .filter_map(text)
            .find(|message| !message.is_empty())
            .unwrap_or_default(),
    })
}

/// A number that may be absent; `None` is a field that is no number.
fn optional(name: &str, field: Option<&str>) -> Option<Option<i64>> {
    match field {
        None | Some("") => Some(None),
        Some(text) => whole(name, text).map(Some),
    }
}

/// Digits with or without a minus.
fn whole(name: &str, text: &str) -> Option<i64> {
    let value: i64 = text.parse().ok().filter(|_| !text.starts_with('+'))?;
    let fits = i32::try_from(value).is_ok() || !SMALL.split(',').any(|small| small == name);
    let is_time = ["elapsed", "Latency", "IdleTime", "Connect"].contains(&name);
    (fits && !(is_time && value < 0)).then_some(value)
}

/// Epoch ms, or a date `yyyy/MM/dd HH:mm:ss` with or without ms, in UTC.
fn timestamp(text: &str) -> Option<i64> {
    if let Some(ms) = whole("timeStamp", text) {
        return Some(ms);
    }
    let parts: Vec<i64> =
        text.split(['/', '-', ' ', ':', '.']).map(|p| p.parse().ok()).collect::<Option<_>>()?;
    let [year, month, day, hour, minute, second] = *parts.get(..6)? else { return None };
    // Years that begin in March, so that the leap day is a year's last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    Some(seconds * 1000 + parts.get(6).copied().unwrap_or(0))
}

/// `host:port-` or an IPv4 address and `-` at the head of a thread's name.
fn injector(thread: &str) -> Option<String> {
    let dashes = thread.match_indices('-').map(|(at, _)| &thread[..at]);
    let mut names = dashes.filter(|name| {
        let (host, port) = name.split_once(':').map_or((*name, None), |(host, port)| (host, Some(port)));
        let is_ip = host.split('.').count() == 4 && host.split('.').all(|part| part.parse::<u8>().is_ok());
        let is_host =
            !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c));
        match port {
            Some(port) => is_host && port.parse::<u16>().is_ok(),
            None => is_ip,
        }
    });
    names.next().map(String::from)
}
