//! Looks at the first records of JMeter's logs: which of several have the same samples, and which remote engines one of
//! them names.
//!
//! Logs with the same samples are a log and its packed copy, the CSV and the XML of one listener, or the log of a listener that
//! writes failures alone beside that of all samples.
//!
//! Remote engines are found by the names of their threads, where these name no port or address. A controller that was
//! started with `-R one,two` has each engine put its own name before those of its thread groups: `one-Thread Group 1-1`.
//! Any name may be there. But a thread group of one engine has a single name, so the same group and thread under several
//! names at the same time are of several engines.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::ops::ControlFlow;

use hashbrown::HashMap;

use crate::pipeline::plan::open_log;
use crate::source::{LogSource, SourceOptions};
use perfpipe_formats::injector::names_host;
use perfpipe_formats::jtl::layout::Layout;
use perfpipe_formats::jtl::records::record::{Record, Records};
use perfpipe_formats::number::parse_i64;
use perfpipe_formats::tools::rows::form::Form;
use perfpipe_model::error::{Place, Result};
use perfpipe_model::sample::pool::NewBuffers;

/// The size of the blocks in which logs are read.
const BLOCK: usize = 1 << 20;

/// Calls `take` with each of the first records of a log, about as many as are in so many bytes. Returns true if these are
/// all of its records. `None` if it is not of JMeter, or does not name its threads where `of_threads` asks for them.
///
/// # Errors
/// If the log can't be read. It says so again when it is ingested.
fn first_records(
    log: &mut LogSource,
    bytes: usize,
    of_threads: bool,
    options: &SourceOptions,
    mut take: impl FnMut(&Record<'_>, &Layout) -> ControlFlow<()>,
) -> Result<Option<bool>> {
    let mut stream = log.open()?;
    let Some(reader) = stream.next_log()? else { return Ok(None) };
    let (layout, mut cutter) = open_log(reader, &options.layout, None, BLOCK)?;
    let lacks_threads = of_threads && layout.columns.thread_name.is_none();
    if matches!(layout.form, Form::Packed(_)) || lacks_threads {
        return Ok(None);
    }
    let mut read = 0;
    while read < bytes {
        let block = match cutter.next(&mut NewBuffers) {
            Ok(Some(block)) => block,
            Ok(None) => return Ok(Some(true)),
            Err(error) => return Err(cutter.into_reader().explain(error)),
        };
        read += block.bytes.len();
        let mut records = Records::new(&block.bytes, layout.delimiter);
        while let Some(record) = records.next_record() {
            if record.width() == layout.width && !record.open && take(&record, &layout).is_break() {
                return Ok(Some(false));
            }
        }
    }
    Ok(Some(false))
}

/// The number of first records that are looked for in another log.
const FIRST: usize = 1000;

/// With fewer records to look for, a log is no twin: what they have in common may be chance. Without the names of threads,
/// records of several machines are equal more often, so that they have to follow each other in the same order too.
const LEAST: usize = 3;
const LEAST_WITHOUT_THREADS: usize = 100;

/// The total bytes that are looked at of all logs, and the least of each one.
const BYTES_OF_ALL: usize = 64 << 20;
const LEAST_BYTES: usize = 1 << 20;

/// Records are written in the order of their ends: those that are later than this before the last one that was looked at,
/// in ms, may come after what was looked at.
const SLACK_MS: i64 = 10_000;

/// The beginning of a log.
struct LogBeginning {
    /// The number of the log.
    number: usize,
    place: Place,
    /// Time (epoch ms) and hash of each record, in the order of the log.
    records: Vec<(i64, u64)>,
    /// True if these are all of its records.
    whole: bool,
    /// True if it names the threads.
    has_threads: bool,
    /// The latest of their times.
    latest: i64,
}

/// Leaves out logs whose samples are in another log, and returns notes on them. Logs that can be read only once are taken
/// as they are.
pub(in crate::operations) fn leave_out_twins(
    logs: &mut Vec<LogSource>,
    options: &SourceOptions,
) -> Vec<String> {
    let files = logs.iter().filter(|log| log.can_restart()).count();
    if files < 2 {
        return Vec::new();
    }
    let bytes = (BYTES_OF_ALL / files).max(LEAST_BYTES);
    let hasher = RandomState::new();
    let begin = |(number, log): (usize, &mut LogSource)| {
        // What can't be read is reported when the log is ingested.
        LogBeginning::of(number, log, bytes, &hasher, options).ok().flatten()
    };
    let beginnings: Vec<LogBeginning> =
        logs.iter_mut().enumerate().filter(|(_, log)| log.can_restart()).filter_map(begin).collect();
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    for (at, one) in beginnings.iter().enumerate() {
        for other in beginnings.iter().skip(at + 1) {
            if out.contains(&one.number) || out.contains(&other.number) {
                continue;
            }
            let (twin, full) = match (one.is_within(other), other.is_within(one)) {
                // The first one of equals is taken.
                (_, SharedRecords::All) if other.records.len() <= one.records.len() => (other, one),
                (SharedRecords::All, _) => (one, other),
                (_, SharedRecords::All) => (other, one),
                (SharedRecords::Some, _) | (_, SharedRecords::Some) => {
                    notes.push(format!(
                        "{} and {} have many samples in common: both are counted. If one of them is a copy of a part \
                         of the other, leave it out",
                        one.place, other.place
                    ));
                    continue;
                }
                _ => continue,
            };
            notes.push(format!("{} has the samples of {} again: left out", twin.place, full.place));
            out.push(twin.number);
        }
    }
    let mut number = 0;
    logs.retain(|_| {
        number += 1;
        !out.contains(&(number - 1))
    });
    notes
}

/// How many of a log's first records are in another one.
enum SharedRecords {
    /// At least 99 of 100.
    All,
    /// At least half.
    Some,
    Few,
}

impl LogBeginning {
    /// Looks at the beginning of a log. `None` if it is not of JMeter.
    fn of(
        number: usize,
        log: &mut LogSource,
        bytes: usize,
        hasher: &RandomState,
        options: &SourceOptions,
    ) -> Result<Option<Self>> {
        let place = log.place().clone();
        let mut found =
            Self { number, place, records: Vec::new(), whole: false, has_threads: true, latest: i64::MIN };
        let mut dates = options.dates();
        let whole = first_records(log, bytes, false, options, |record, layout| {
            let columns = &layout.columns;
            let time = record.field(columns.time_stamp);
            if let Some(ms) = parse_i64(time).or_else(|| dates.parse(time)) {
                let of = |column: Option<usize>| column.map_or(&[][..], |column| record.field(column));
                found.has_threads = columns.thread_name.is_some();
                let thread = match columns.thread_name {
                    Some(thread) => [of(columns.label), record.field(thread), &[], &[]],
                    None => [columns.label, columns.response_code, columns.bytes, columns.latency].map(of),
                };
                let hash = hasher.hash_one((ms, record.field(columns.elapsed), thread));
                found.latest = found.latest.max(ms);
                found.records.push((ms, hash));
            }
            ControlFlow::Continue(())
        })?;
        Ok(whole.map(|whole| Self { whole, ..found }))
    }

    /// Returns how many of the first records are in what was looked at of another log.
    fn is_within(&self, other: &Self) -> SharedRecords {
        let until = if other.whole { i64::MAX } else { other.latest.saturating_sub(SLACK_MS) };
        let first: Vec<u64> =
            self.records.iter().filter(|(ms, _)| *ms <= until).map(|(_, hash)| *hash).take(FIRST).collect();
        let least = if self.has_threads { LEAST } else { LEAST_WITHOUT_THREADS };
        if first.len() < least || self.has_threads != other.has_threads {
            return SharedRecords::Few;
        }
        if !self.has_threads {
            let same = first.iter().zip(&other.records).filter(|(one, (_, other))| *one == other).count();
            return if 100 * same >= 99 * first.len() { SharedRecords::All } else { SharedRecords::Few };
        }
        let mut there: HashMap<u64, u32> = HashMap::new();
        other.records.iter().for_each(|(_, hash)| *there.entry(*hash).or_default() += 1);
        let mut is_there = |hash: &&u64| match there.get_mut(*hash) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        };
        let shared = first.iter().filter(|hash| is_there(hash)).count();
        match (100 * shared, first.len()) {
            (shared, all) if shared >= 99 * all => SharedRecords::All,
            (shared, all) if shared >= 50 * all => SharedRecords::Some,
            _ => SharedRecords::Few,
        }
    }
}

/// The bytes that are looked at of a log.
const BYTES_OF_LOG: usize = 1 << 20;

/// The most names of groups, and the most threads of each, that are looked at.
const MOST: usize = 1000;

/// The number of engines that a note names.
const NAMED: usize = 8;

/// The longest name of a group that is looked at, in bytes, and the most dashes in it.
const LONGEST: usize = 200;
const DASHES: usize = 16;

/// The threads of one group, by its full name.
#[derive(Default)]
struct ThreadGroup {
    /// The numbers of the first and the last record.
    span: (usize, usize),
    threads: BTreeSet<u32>,
}

/// Returns the names of the engines that the first records of a log show; none if there are fewer than two.
pub(in crate::operations) fn engines_of_log(log: &mut LogSource, options: &SourceOptions) -> Vec<String> {
    if !log.can_restart() {
        return Vec::new();
    }
    let (mut groups, mut number): (BTreeMap<(u32, String), ThreadGroup>, usize) = Default::default();
    let read = first_records(log, BYTES_OF_LOG, true, options, |record, layout| {
        let columns = &layout.columns;
        let thread = columns.thread_name.map_or(&[][..], |thread| record.field(thread));
        // Then they are known by that.
        if names_host(thread) || columns.hostname.is_some_and(|host| !record.field(host).is_empty()) {
            groups.clear();
            return ControlFlow::Break(());
        }
        if let Some((name, group, thread)) = std::str::from_utf8(thread).ok().and_then(parts) {
            let key = (group, name.to_owned());
            if groups.len() < MOST || groups.contains_key(&key) {
                let found = groups
                    .entry(key)
                    .or_insert_with(|| ThreadGroup { span: (number, number), ..ThreadGroup::default() });
                found.span.1 = number;
                if found.threads.len() < MOST {
                    found.threads.insert(thread);
                }
            }
        }
        number += 1;
        ControlFlow::Continue(())
    });
    if read.is_err() { Vec::new() } else { engines(&groups) }
}

/// Returns the note on engines that were found, which may be groups of threads with such names instead.
pub(in crate::operations) fn engines_note(engines: &[String]) -> Option<String> {
    let first: Vec<&str> = engines.iter().take(NAMED).map(String::as_str).collect();
    let more = engines.len() - first.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!engines.is_empty()).then(|| {
        format!(
            "injectors found by the names of threads: {}{more}; give a pattern of injectors if these are groups of threads \
             of one of them",
            first.join(", ")
        )
    })
}

/// Returns the regular expression of threads of these engines.
pub(in crate::operations) fn engines_pattern(engines: &[String]) -> String {
    let mut engines: Vec<String> = engines.iter().map(|engine| regex_lite::escape(engine)).collect();
    // One name may begin with another.
    engines.sort_by_key(|engine| std::cmp::Reverse(engine.len()));
    format!("^({})-", engines.join("|"))
}

/// Returns the name of the group of a thread, its number, and the number of the thread: `NAME g-t`.
fn parts(thread: &str) -> Option<(&str, u32, u32)> {
    let (name, numbers) = thread.rsplit_once(' ')?;
    let (group, thread) = numbers.split_once('-')?;
    let (group, thread) = (group.parse().ok()?, thread.parse().ok()?);
    (name.len() <= LONGEST).then_some((name, group, thread))
}

/// Returns the names before those of groups that explain most groups.
fn engines(groups: &BTreeMap<(u32, String), ThreadGroup>) -> Vec<String> {
    // By the number of a group, and the rest of its name: what is before.
    let mut before: BTreeMap<(u32, &str), Vec<(&str, &ThreadGroup)>> = BTreeMap::new();
    for ((number, name), group) in groups {
        for (dash, _) in name.match_indices('-').filter(|(dash, _)| *dash > 0).take(DASHES) {
            let (prefix, rest) = (name.get(..dash), name.get(dash + 1..));
            if let (Some(prefix), Some(rest)) = (prefix, rest.filter(|rest| !rest.is_empty())) {
                before.entry((*number, rest)).or_default().push((prefix, group));
            }
        }
    }
    let sets: BTreeSet<BTreeSet<&str>> = before.into_values().filter_map(|named| together(&named)).collect();
    let explained = |set: &BTreeSet<&str>| {
        let is_of = |name: &str| {
            set.iter().any(|engine| name.strip_prefix(engine).is_some_and(|rest| rest.starts_with('-')))
        };
        let lengths: usize = set.iter().map(|engine| engine.len()).sum();
        (groups.keys().filter(|(_, name)| is_of(name)).count(), lengths)
    };
    let most = sets.iter().max_by_key(|set| explained(set));
    most.into_iter().flatten().map(|engine| (*engine).to_owned()).collect()
}

/// Returns the names of which each has a thread in common with another one at the same time; `None` if there are fewer than
/// two.
fn together<'a>(named: &[(&'a str, &ThreadGroup)]) -> Option<BTreeSet<&'a str>> {
    let overlap = |one: &ThreadGroup, other: &ThreadGroup| {
        one.span.0 <= other.span.1 && other.span.0 <= one.span.1 && !one.threads.is_disjoint(&other.threads)
    };
    let with_another = |(name, group): &&(&'a str, &ThreadGroup)| {
        named.iter().any(|(other, of)| other != name && overlap(group, of))
    };
    let names: BTreeSet<&str> = named.iter().filter(with_another).map(|(name, _)| *name).collect();
    (names.len() > 1).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(threads: &[&str]) -> Vec<String> {
        let mut groups: BTreeMap<(u32, String), ThreadGroup> = BTreeMap::new();
        for (number, thread) in threads.iter().enumerate() {
            let (name, group, thread) = parts(thread).unwrap();
            let found = groups
                .entry((group, name.to_owned()))
                .or_insert_with(|| ThreadGroup { span: (number, number), ..ThreadGroup::default() });
            found.span.1 = number;
            found.threads.insert(thread);
        }
        engines(&groups)
    }

    #[test]
    fn same_thread_under_several_names_is_of_several_engines() {
        let [one, other] = ["jmeter-slave-1-Thread Group", "jmeter-slave-2-Thread Group"];
        let threads =
            [format!("{one} 1-1"), format!("{other} 1-1"), format!("{one} 1-2"), format!("{other} 1-2")];
        let threads: Vec<&str> = threads.iter().map(String::as_str).collect();
        assert_eq!(found(&threads), ["jmeter-slave-1", "jmeter-slave-2"]);
        // Groups with dashes in their names: the names that explain all of them.
        let threads = [
            "a-web-load 1-1",
            "b-web-load 1-1",
            "a-api-load 2-1",
            "b-api-load 2-1",
            "a-web-load 1-1",
            "a-api-load 2-1",
        ];
        assert_eq!(found(&threads), ["a", "b"]);
        let hosts = ["l1.example.com-Shop 1-1", "l2.example.com-Shop 1-1", "l1.example.com-Shop 1-1"];
        assert_eq!(found(&hosts), ["l1.example.com", "l2.example.com"]);
    }

    #[test]
    fn groups_of_one_engine_are_none() {
        // Groups with dashes have numbers of their own.
        assert!(found(&["web-load 1-1", "api-load 2-1", "web-load 1-1"]).is_empty());
        // A group that prepares the test has the same number as the first one, and ends before it begins.
        assert!(
            found(&["prepare-shop 1-1", "prepare-shop 1-1", "load-shop 1-1", "load-shop 1-2"]).is_empty()
        );
        assert!(found(&["Thread Group 1-1", "Thread Group 1-2"]).is_empty());
    }

    #[test]
    fn pattern_finds_the_longest_name() {
        let pattern =
            regex_lite::Regex::new(&engines_pattern(&["a".into(), "a-1".into(), "b.c".into()])).unwrap();
        let name = |thread: &str| pattern.captures(thread).map(|found| found[1].to_owned());
        assert_eq!(name("a-1-Group 1-1").as_deref(), Some("a-1"));
        assert_eq!((name("a-Group 1-1").as_deref(), name("bxc-Group 1-1")), (Some("a"), None));
    }
}
