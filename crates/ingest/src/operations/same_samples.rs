//! Leaves out logs that have the samples of another log of the run: the packed copy of a log, the CSV and the XML of one
//! listener, or the log of a listener that writes failures alone beside that of all samples. They are found by their first
//! records.

use std::hash::{BuildHasher, RandomState};
use std::ops::ControlFlow;

use hashbrown::HashMap;

use super::first_records::first_records;
use crate::source::{LogSource, SourceOptions};
use perfpipe_formats::number::parse_i64;
use perfpipe_model::error::{Place, Result};

/// The number of first records that are looked for in another log.
const FIRST: usize = 1000;

/// With fewer records to look for, a log has not the same samples: what they have in common may be chance. Without the names of threads,
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
pub(in crate::operations) fn leave_out_same_samples(
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
            let (same, full) = match (one.is_within(other), other.is_within(one)) {
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
            notes.push(format!("{} has the samples of {} again: left out", same.place, full.place));
            out.push(same.number);
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
