//! Parses and counts a log: compared with a slow reader, and with blocks of any size in any order.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use regex_lite::Regex;

use crate::counting::counter::Counter;
use crate::counting::totals::Totals;
use crate::source::head::text;
use perfpipe_formats::date::DateParser;
use perfpipe_formats::fuzz::dates;
use perfpipe_formats::fuzz::{FoundRecord, ReadSizes, slow};
use perfpipe_formats::injector::Injectors;
use perfpipe_formats::jtl::column_parser::MOST_BYTES;
use perfpipe_formats::jtl::layout::{Layout, LayoutOptions, is_separator_line};
use perfpipe_formats::jtl::parsed::{Clock, Parsed};
use perfpipe_formats::jtl::parser::Parser;
use perfpipe_model::counts::{Cell, ErrorCount, LabelCount};
use perfpipe_model::error::Place;
use perfpipe_model::fuzz::Taker;
use perfpipe_model::run::time_zone::TimeZone;
use perfpipe_model::sample::batch::SampleBatch;
use perfpipe_model::sample::reserved::{OTHER, set_apart};
use perfpipe_model::sample::texts::clean_text;
use perfpipe_model::series::cpu::{CpuJoin, TimeSeries};

const DAY_MS: u64 = 86_400_000;

/// All values of one sample; the failure message is the last.
type SampleRow =
    (i64, Option<String>, i32, Option<String>, [bool; 2], [Option<i64>; 6], Option<String>, Option<String>);

/// A reject: its line, its offset in bytes, and its text.
type Rejected = (u64, u64, Vec<u8>);

/// The content of a log.
#[derive(Debug, Default, PartialEq)]
struct LogContent {
    rows: Vec<SampleRow>,
    rejects: Vec<Rejected>,
    other_header: bool,
    first_ms: Option<i64>,
    earliest_ms: Option<i64>,
    latest_ms: Option<i64>,
}

/// Second, label, success and transaction of a cell.
type CellName = (u32, String, bool, bool);

/// Samples and threads by injector.
type Loads = BTreeMap<String, (u64, i64)>;

/// The counts of a log, by name.
#[derive(Debug, PartialEq)]
struct LogCounts {
    cells: BTreeMap<CellName, (Cell, Loads)>,
    errors: Vec<ErrorCount>,
    labels: Vec<LabelCount>,
    sums: [u64; 3],
}

fn parser() -> Parser {
    let dates = DateParser::new(TimeZone::default());
    Parser::new(dates, Injectors::default(), Arc::new(TimeSeries::default()), CpuJoin::default())
}

/// Parses an integer as JMeter writes it, of at most 19 digits. `i64::MIN` is not accepted.
fn whole(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let zero = |zeros: &str| !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0');
    let text = text.split_once('.').filter(|(_, zeros)| zero(zeros)).map_or(text, |(whole, _)| whole);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = (1..=19).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| plain && *number != i64::MIN)
}

/// Parses an integer that may be empty. `None` if it is invalid.
fn optional(text: &[u8]) -> Option<Option<i64>> {
    if text.is_empty() { Some(None) } else { whole(text).map(Some) }
}

/// Returns the injector in a thread's name: an IPv4 address or `host:port` before a `-`.
fn injector(thread: &[u8]) -> Option<String> {
    static HOST: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^([A-Za-z0-9._\[\]:-]+?:[0-9]+)-").unwrap());
    // A byte that is not ASCII ends a host name.
    let ascii: String = thread.iter().map(|byte| if byte.is_ascii() { *byte as char } else { ' ' }).collect();
    let address = ascii.split_once('-').map(|(host, _)| host.to_owned());
    let address = address.filter(|host| host.parse::<std::net::Ipv4Addr>().is_ok());
    address.or_else(|| HOST.captures(&ascii).map(|found| found[1].to_owned()))
}

/// Parses a record into its timeStamp and sample; `None` for a reject.
fn sample(found: &FoundRecord, layout: &Layout) -> Option<(i64, SampleRow)> {
    if found.fields.len() != layout.width || found.open {
        return None;
    }
    let columns = &layout.columns;
    let of = |column: Option<usize>| column.map(|column| found.fields[column].as_slice());
    let number = |column: Option<usize>| of(column).map_or(Some(None), optional);
    let small = |column| number(column).filter(|n| n.is_none_or(|n| i32::try_from(n).is_ok()));
    let wait = |column| small(column).filter(|n| n.is_none_or(|n| n >= 0));
    let time = &found.fields[columns.time_stamp];
    let time_ms = whole(time).or_else(|| dates::slow(time, "UTC"))?;
    let success = match found.fields[columns.success].to_ascii_lowercase().as_slice() {
        b"true" => true,
        b"false" => false,
        _ => return None,
    };
    for (name, other) in &columns.other_numbers {
        number(Some(*other)).filter(|n| *name != "SampleCount" || n.is_none_or(|n| n < 2))?;
    }
    let message = [columns.failure_message, columns.response_message].into_iter().filter_map(of);
    let message = message.into_iter().find(|text| !text.is_empty()).map_or(String::new(), clean_text);
    let controller = of(columns.response_message)
        .is_some_and(|message| message.starts_with(b"Number of samples in transaction : "))
        && of(columns.data_type).unwrap_or_default().is_empty()
        && [&b""[..], b"null"].contains(&of(columns.url).unwrap_or_default());
    let name = |text: &[u8]| set_apart(&clean_text(text), OTHER).into_owned();
    let size = |column| number(column).filter(|n| n.is_none_or(|n| n.unsigned_abs() < MOST_BYTES));
    let host = of(columns.hostname).filter(|host| !host.is_empty()).map(name);
    let row = (
        time_ms,
        of(columns.label).map(name),
        whole(&found.fields[columns.elapsed]).filter(|elapsed| *elapsed >= 0)?.try_into().ok()?,
        of(columns.response_code).map(name),
        [success, controller],
        [
            size(columns.bytes)?,
            size(columns.sent_bytes)?,
            small(columns.all_threads)?,
            wait(columns.latency)?,
            small(columns.idle_time)?,
            wait(columns.connect)?,
        ],
        host.or_else(|| injector(of(columns.thread_name).unwrap_or_default())),
        (!success).then(|| set_apart(&message, OTHER).into_owned()),
    );
    Some((time_ms, row))
}

/// Returns the records of a log. An unclosed quote costs only its own line if a complete record follows.
fn resumed(log: &[u8], layout: &Layout) -> Vec<FoundRecord> {
    let mut records = slow(log, layout.delimiter);
    let Some(last) = records.last_mut().filter(|last| last.open) else { return records };
    let Some(feed) = last.raw.iter().position(|byte| *byte == b'\n') else { return records };
    let behind = last.start + feed + 1;
    let whole = |found: &FoundRecord| sample(found, layout).is_some();
    if slow(&log[behind..], layout.delimiter).iter().any(whole) {
        last.raw.truncate(feed);
        if last.raw.ends_with(b"\r") {
            last.raw.pop();
        }
        let lines = last.line + 1;
        let rest = resumed(&log[behind..], layout).into_iter();
        records.extend(rest.map(|found| FoundRecord {
            start: found.start + behind,
            line: found.line + lines,
            ..found
        }));
    }
    records
}

/// Reads the whole log by the slow reader. Its clock begins at the earliest sample.
fn slow_content(log: &[u8], layout: &Layout, max_span_ms: u64) -> (LogContent, Clock) {
    let records = resumed(log, layout);
    let mut content = LogContent::default();
    let mut samples = Vec::new();
    for found in &records {
        let near = |time: i64| content.first_ms.is_none_or(|head| head.abs_diff(time) <= max_span_ms);
        match sample(found, layout).filter(|(time, _)| near(*time)) {
            Some((time, row)) => {
                content.first_ms.get_or_insert(time);
                samples.push((time, row));
            }
            None if layout.is_header(&found.raw) || layout.is_same_header(&found.raw) => {}
            None if layout.is_other_header(&found.raw) => content.other_header = true,
            None if is_separator_line(&found.raw) => {}
            None => content.rejects.push((found.line, found.start as u64, found.raw.clone())),
        }
    }
    content.earliest_ms = samples.iter().map(|(time, _)| *time).min();
    content.latest_ms = samples.iter().map(|(time, _)| *time).max();
    let origin = content.earliest_ms.unwrap_or_default();
    for (_, row) in &mut samples {
        row.0 -= origin;
    }
    content.rows = samples.into_iter().map(|(_, row)| row).collect();
    let clock = Clock { origin, head: content.first_ms, max_span_ms };
    (content, clock)
}

fn row(batch: &SampleBatch, at: usize, message: Option<&str>) -> SampleRow {
    let text = |text: Option<&str>| text.map(str::to_owned);
    let large = |number: Option<i32>| number.map(i64::from);
    (
        batch.t_ms[at],
        text(batch.label.get(at)),
        batch.elapsed[at],
        text(batch.response_code.get(at)),
        [batch.success[at], batch.transaction[at]],
        [
            batch.bytes.get(at),
            batch.sent_bytes.get(at),
            large(batch.all_threads.get(at)),
            large(batch.latency.get(at)),
            large(batch.idle_time.get(at)),
            large(batch.connect.get(at)),
        ],
        text(batch.injector.get(at)),
        text(message),
    )
}

/// Collects what the parser finds in consecutive blocks, each given with its offset in bytes.
fn content(log: &[u8], parsed: &[(u64, Parsed)]) -> LogContent {
    let mut all = LogContent::default();
    let mut lines = 0;
    for (first_byte, parsed) in parsed {
        let mut failures = parsed.failures.iter().peekable();
        for at in 0..parsed.batch.len() {
            let failure = failures.next_if(|(failed, _)| *failed as usize == at);
            let message = failure.and_then(|(_, code)| parsed.messages.value(*code));
            all.rows.push(row(&parsed.batch, at, message));
        }
        let rejects = parsed.rejects.iter(log.get(*first_byte as usize..).unwrap_or_default());
        all.rejects.extend(rejects.map(|r| (lines + r.line, first_byte + r.byte, r.record.to_vec())));
        all.other_header |= parsed.other_header.is_some();
        all.first_ms = all.first_ms.or(parsed.first_ms);
        all.earliest_ms = [all.earliest_ms, parsed.earliest_ms].into_iter().flatten().min();
        all.latest_ms = all.latest_ms.max(parsed.latest_ms);
        lines += parsed.lines;
    }
    all
}

fn gathered<'a>(parsed: impl Iterator<Item = &'a (u64, Parsed)>, clock: &Clock) -> LogCounts {
    let (mut totals, mut counter) = (Totals::default(), Counter::default());
    for (_, parsed) in parsed {
        let mut parsed = Parsed {
            batch: parsed.batch.clone(),
            failures: parsed.failures.clone(),
            messages: parsed.messages.clone(),
            ..Parsed::default()
        };
        totals.add(&counter.tally(&mut parsed, clock)).unwrap();
    }
    let (labels, injectors) = (totals.labels(), totals.injectors());
    let mut cells = BTreeMap::new();
    for (key, cell) in totals.cells().map(Result::unwrap) {
        let mut cell = cell.open().unwrap();
        let loads = std::mem::take(&mut cell.injectors);
        let load = |load: perfpipe_model::counts::InjectorLoad| {
            (injectors[load.injector as usize].clone(), (load.samples, load.threads))
        };
        let loads = loads.into_iter().map(load).collect();
        let key = (key.second, labels[key.label as usize].clone(), key.success, key.transaction);
        assert_eq!(cells.insert(key, (cell, loads)), None, "each key once");
    }
    let sums = [totals.successes, totals.failures, totals.transactions];
    LogCounts {
        cells,
        errors: totals.errors().collect::<crate::Result<_>>().unwrap(),
        labels: totals.label_counts(),
        sums,
    }
}

/// Checks that the elapsed times in the cells are those of the rows.
fn check_counts(gathered: &LogCounts, rows: &[SampleRow]) {
    let mut expected: BTreeMap<CellName, BTreeMap<i32, u64>> = BTreeMap::new();
    for (t_ms, label, elapsed, _, [success, transaction], ..) in rows {
        let key = ((t_ms / 1000) as u32, label.clone().unwrap_or_default(), *success, *transaction);
        *expected.entry(key).or_default().entry(*elapsed).or_default() += 1;
    }
    let found = gathered.cells.iter();
    let found = found.map(|(key, (cell, _))| (key.clone(), cell.elapsed.iter().copied().collect()));
    assert_eq!(found.collect::<BTreeMap<_, BTreeMap<i32, u64>>>(), expected);
    assert_eq!(gathered.sums.iter().sum::<u64>(), rows.len() as u64);
    let failed = gathered.errors.iter().map(|error| error.count).sum::<u64>();
    assert_eq!(failed, rows.iter().filter(|(.., [success, _], _, _, _)| !success).count() as u64);
}

/// Parses any log. Its samples and rejects must be those of a slow reader for any block size, and the order of blocks
/// must not change the counts.
pub fn parse(data: &[u8]) {
    let mut taker = Taker::new(data);
    let sizes = ReadSizes::take(&mut taker).unlimited();
    let max_span_ms = [7 * DAY_MS, 12 * DAY_MS, 1000, 0][usize::from(taker.byte() % 4)];
    let log = text(taker.rest());
    let Ok(layout) = Layout::detect(log, &LayoutOptions::default(), &Place::default()) else { return };
    assert!(
        !b"\"\n\r".contains(&layout.delimiter),
        "no such delimiter can be distinguished from what it separates"
    );
    if log.starts_with(b"\xef\xbb\xbf") {
        return;
    }
    let (expected, clock) = slow_content(log, &layout, max_span_ms);
    let parse = |bytes: &[u8]| {
        let mut parsed = Parsed::default();
        parser().parse(bytes, None, &layout, &clock, &mut parsed);
        parsed
    };
    let whole = [(0, parse(log))];
    assert_eq!(content(log, &whole), expected);
    let blocks = sizes.blocks(log, layout.delimiter);
    let blocks: Vec<_> = blocks.iter().map(|block| (block.first_byte, parse(&block.bytes))).collect();
    assert_eq!(content(log, &blocks), expected);
    let counts = gathered(whole.iter(), &clock);
    check_counts(&counts, &expected.rows);
    assert_eq!(gathered(blocks.iter(), &clock), counts);
    assert_eq!(gathered(blocks.iter().rev(), &clock), counts);
}
