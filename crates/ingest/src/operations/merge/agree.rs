//! Checks that the parts of a run are all there and fit together.

use std::collections::{BTreeMap, BTreeSet};

use crate::counts::stored_run::StoredRun;
use crate::error::{Error, ErrorKind, Result};
use crate::run::info::{RunInfo, SourceFile, SourceKind};
use crate::run::key::RunKey;
use crate::run::options::RunOptions;
use crate::run::options::part::PartNumber;
use crate::store::parts::{self, StoredPart};

/// The maximum number of missing parts that are named.
const NAMED: usize = 10;

/// Checks that there are as many parts as there are said to be, all of them of one origin, options and version.
pub(super) fn check(key: &RunKey, parts: &[StoredPart], of: u32) -> Result<()> {
    let Some(first) = parts.first() else { return Err(parts::no_parts(key)) };
    if let Some(part) = parts.iter().find(|part| part.row.number.of() != of) {
        let number = part.row.number;
        let problem = format!("{key} has a part {number}, and {of} parts are to be merged");
        let remedy = "Merge as many parts as the run was divided into; drop a part that is not one of them.";
        return Err(Error::refused(ErrorKind::PartsDiffer, problem, remedy));
    }
    check_complete(key, parts, of)?;
    for part in parts {
        check_alike(key, first, part)?;
    }
    check_logs(key, parts)
}

fn check_complete(key: &RunKey, parts: &[StoredPart], of: u32) -> Result<()> {
    let stored: BTreeSet<u32> = parts.iter().map(|part| part.row.number.number()).collect();
    let missing: Vec<String> =
        (1..=of).filter(|number| !stored.contains(number)).map(|n| n.to_string()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let named = missing.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = if missing.len() > NAMED { ", …" } else { "" };
    let problem = match missing.len() {
        1 => format!("part {named} of {of} of {key} is missing"),
        _ => format!("parts {named}{more} of {of} of {key} are missing"),
    };
    let remedy = "Ingest them, each with its number. If the run has fewer parts, ingest all again with the right number.";
    Err(Error::refused(ErrorKind::PartsMissing, problem, remedy))
}

/// Checks that a part was read as the first one was.
fn check_alike(key: &RunKey, first: &StoredPart, part: &StoredPart) -> Result<()> {
    let (one, other) = (facts(first), facts(part));
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let Some(name) = names.into_iter().find(|name| one.get(*name) != other.get(*name)) else { return Ok(()) };
    let told = |facts: &BTreeMap<String, String>| match facts.get(name) {
        Some(value) => format!("the {name} {value}"),
        None => format!("no {name}"),
    };
    let (number, first) = (part.row.number, first.row.number);
    let problem = format!("part {number} of {key} has {}, and part {first} has {}", told(&other), told(&one));
    Err(Error::refused(ErrorKind::PartsDiffer, problem, ALIKE))
}

/// The remedy for parts that differ.
const ALIKE: &str =
    "Ingest all parts with the same origin, options and CPU export, by the same version of perfpipe.";

/// All that must be the same of each part, by name.
fn facts(part: &StoredPart) -> BTreeMap<String, String> {
    let info = &part.info;
    let options = RunOptions { intervals: None, measures: None, ..info.options.clone() };
    let mut facts = BTreeMap::from(options);
    let readings = info.sources.iter().filter(|source| source.kind != SourceKind::Log);
    facts.extend(readings.map(|source| (format!("{} export", source.kind), content(source))));
    let told = [
        ("origin", info.t0_ms.to_string()),
        ("maximum span", format!("{} ms", part.row.max_span_ms)),
        ("resolution", info.resolution.to_string()),
        ("samples", if info.samples_stored { "stored" } else { "left out" }.to_owned()),
        ("CPU offset", info.cpu_offset.to_string()),
        ("CPU look-back", info.cpu_lookback.to_string()),
        ("version of perfpipe", info.tool_version.clone()),
    ];
    facts.extend(told.map(|(name, value)| (name.to_owned(), value)));
    facts
}

/// A file by its content, whatever its name is on each machine.
fn content(source: &SourceFile) -> String {
    format!("of {} bytes with CRC-32 {:08x}", source.bytes, source.crc32)
}

/// Checks that no log is in two parts.
fn check_logs(key: &RunKey, parts: &[StoredPart]) -> Result<()> {
    let mut seen: BTreeMap<(&str, Option<&str>, u64, u32), PartNumber> = BTreeMap::new();
    for part in parts {
        for log in logs(&part.info) {
            let known = (log.file.as_str(), log.member.as_deref(), log.bytes, log.crc32);
            let Some(other) = seen.insert(known, part.row.number).filter(|other| *other != part.row.number)
            else {
                continue;
            };
            let number = part.row.number;
            let problem = format!("part {number} of {key} has the same log as part {other}: {}", log.file);
            let remedy = "Ingest each log as one part, and drop or replace the other.";
            return Err(Error::refused(ErrorKind::PartsDoubled, problem, remedy));
        }
    }
    Ok(())
}

fn logs(info: &RunInfo) -> impl Iterator<Item = &SourceFile> {
    info.sources.iter().filter(|source| source.kind == SourceKind::Log)
}

/// Checks that a part has the readings of the server that the first one has.
pub(super) fn check_readings(
    key: &RunKey,
    first: &StoredRun,
    other: &StoredRun,
    number: PartNumber,
) -> Result<()> {
    if first.cpu == other.cpu && first.series == other.series {
        return Ok(());
    }
    let problem = format!("part {number} of {key} has other readings of the server than the first part");
    Err(Error::refused(ErrorKind::PartsDiffer, problem, ALIKE))
}
