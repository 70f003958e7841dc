//! Finds the remote engines that a log of JMeter names by the names of their threads, where these name no port or address.
//!
//! A controller that was started with `-R one,two` has each engine put its own name before those of its thread groups:
//! `one-Thread Group 1-1`. Any name may be there. But a thread group of one engine has a single name, so the same group and
//! thread under several names at the same time are of several engines.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::first_records::first_records;
use crate::source::{LogSource, SourceOptions};
use perfpipe_formats::injector::names_host;

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
