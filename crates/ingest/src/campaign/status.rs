//! How a run of a folder stands to what the store has: new, changed, or stored before.

use std::collections::HashSet;

use crate::error::Error;
use crate::operations::ingest::IngestOptions;
use crate::run::info::{RunInfo, SourceFile};
use crate::run::key::RunKey;
use crate::run::replace::Replace;
use crate::source::LogSource;
use crate::source::log::last_part;

use super::name::bare;
use super::planned_cpu::PlannedCpu;

/// How a run stands to what is stored.
#[derive(Debug)]
pub enum Stand {
    /// It is not stored yet.
    New,
    /// It is stored, and would be another run now: why, as a clause.
    Changed(String),
    /// It is stored as it is.
    Unchanged(Box<RunInfo>),
    /// It is stored, and nothing tells it from that but what only reading the whole log can tell.
    Unread(Box<RunInfo>),
    /// It can't be ingested.
    Failed(Error),
}

impl Stand {
    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed(_) => "changed",
            Self::Unchanged(_) | Self::Unread(_) => "unchanged",
            Self::Failed(_) => "failed",
        }
    }
}

/// A run as it would be ingested now.
pub(super) struct Candidate<'a> {
    /// The keys that its log may give, the likeliest first.
    pub(super) keys: &'a [RunKey],
    /// The smallest timeStamp of its head, epoch ms.
    pub(super) t0_ms: Option<i64>,
    pub(super) logs: &'a [LogSource],
    pub(super) cpu: Option<&'a PlannedCpu>,
    pub(super) options: &'a IngestOptions,
}

impl Candidate<'_> {
    /// The stored run that has its logs, by their content, and whether that is sure. Those that are `taken` are others'.
    pub(super) fn same_logs<'a>(
        &self,
        stored: &'a [RunInfo],
        taken: &HashSet<RunKey>,
    ) -> Option<(&'a RunInfo, bool)> {
        let mut unsure = None;
        for info in stored.iter().filter(|info| self.may_be(info) && !taken.contains(&info.key)) {
            match self.has_logs_of(info) {
                Some(true) => return Some((info, true)),
                None if unsure.is_none() && self.begins_in(info) && self.has_stem_of(info) => {
                    unsure = Some((info, false));
                }
                _ => {}
            }
        }
        unsure
    }

    /// The stored run of which it is a later state: made from logs of the same names, and, where it may be beside it
    /// as another repeat, of the same time.
    pub(super) fn earlier_state<'a>(
        &self,
        stored: &'a [RunInfo],
        taken: &HashSet<RunKey>,
    ) -> Option<&'a RunInfo> {
        let key = self.keys.first()?;
        stored.iter().find(|info| {
            let same = info.key.framework == key.framework && info.key.test == key.test;
            same && self.begins_in(info) && !taken.contains(&info.key) && self.is_named_as(info)
        })
    }

    /// Why it would be another run than the stored one of the same logs.
    pub(super) fn change(&self, stored: &RunInfo) -> Option<String> {
        let options = self.options;
        let cpu = stored.sources.iter().find(|source| source.kind == "cpu");
        let cpu = match (self.cpu, cpu) {
            // One that was attached, or is not here any more, is kept.
            (None, _) => None,
            (Some(now), Some(then)) if same_content(&now.source, then) => None,
            (Some(_), Some(_)) => Some("its CPU export has changed"),
            (Some(_), None) => Some("it has a CPU export now"),
        };
        // Of readings that are kept, the interval is not known here.
        let lookback = self.cpu.map(|cpu| cpu.join.lookback).or(options.cpu.lookback);
        let join = stored.cpu_offset != options.cpu.offset
            || lookback.is_some_and(|lookback| lookback != stored.cpu_lookback);
        let samples = match (stored.samples_stored, options.keep_samples) {
            (false, true) => Some("it was stored without samples"),
            (true, false) => Some("it was stored with samples"),
            _ => None,
        };
        let other = [
            join.then_some("it was joined by another --cpu-offset or --cpu-lookback"),
            (stored.options != options.noted).then_some("it was read by other options"),
            (stored.rejects > options.max_rejects).then_some("it has more rejects than are allowed now"),
            (stored.is_partial() && !options.source.salvage).then_some("it was stored in part"),
        ];
        cpu.or(samples).or_else(|| other.into_iter().flatten().next()).map(str::to_owned)
    }

    /// The refusal to put it in the place of a stored run, if there is one.
    pub(super) fn refusal(&self, stored: &RunInfo) -> Option<Error> {
        let told = self.options.framework.is_some() && self.options.test.is_some();
        let replace = match told {
            _ if self.options.replace => Replace::Any,
            true => Replace::SameKey,
            false => Replace::SameFile,
        };
        let mut new = RunInfo::new(stored.key.clone(), 0, 0);
        new.sources = self.logs.iter().map(named_source).collect();
        (!replace.allows(stored, &new)).then(|| Replace::refusal(stored, &new))
    }

    /// Whether a stored run was surely made from its logs, whatever its key is.
    pub(super) fn is_of(&self, stored: &RunInfo) -> bool {
        self.has_logs_of(stored) == Some(true)
    }

    fn may_be(&self, stored: &RunInfo) -> bool {
        let key = &stored.key;
        self.keys.iter().any(|may| may.framework == key.framework && may.test == key.test)
    }

    /// Whether a stored run was made from logs of this content.
    fn has_logs_of(&self, stored: &RunInfo) -> Option<bool> {
        let mut left: Vec<&SourceFile> = logs_of(stored).collect();
        if left.len() != self.logs.len() {
            return Some(false);
        }
        let mut sure = true;
        for log in self.logs {
            // The logs of several injectors are known by their names.
            let named = |then: &SourceFile| self.logs.len() == 1 || own_name(then) == log.file_name();
            let held = |then: &SourceFile| log.holds(then.bytes, then.crc32);
            let at = left
                .iter()
                .position(|then| named(then) && held(then) == Some(true))
                .or_else(|| left.iter().position(|then| named(then) && held(then).is_none()));
            let Some(at) = at else { return Some(false) };
            sure &= held(left.swap_remove(at)) == Some(true);
        }
        sure.then_some(true)
    }

    /// Whether its head is of a stored run's time.
    fn begins_in(&self, stored: &RunInfo) -> bool {
        self.t0_ms.is_some_and(|t0_ms| (stored.t0_ms..=stored.last_ms).contains(&t0_ms))
    }

    /// Whether a stored run was made from a file of this name, however that was packed.
    fn has_stem_of(&self, stored: &RunInfo) -> bool {
        let ours = self.logs.first().map(|log| bare(&log.place().file));
        ours == logs_of(stored).next().map(|log| bare(log.file.as_ref()))
    }

    /// Whether a stored run was made from logs of these names.
    fn is_named_as(&self, stored: &RunInfo) -> bool {
        let names = |sources: Vec<SourceFile>| {
            let mut names: Vec<_> = sources.into_iter().map(|source| (source.file, source.member)).collect();
            names.sort_unstable();
            names
        };
        let ours = self.logs.iter().map(named_source).collect();
        names(ours) == names(logs_of(stored).cloned().collect())
    }
}

fn logs_of(stored: &RunInfo) -> impl Iterator<Item = &SourceFile> {
    stored.sources.iter().filter(|source| source.kind == "log")
}

/// Whether two sources hold the same bytes.
pub(super) fn same_content(one: &SourceFile, other: &SourceFile) -> bool {
    (one.bytes, one.crc32) == (other.bytes, other.crc32)
}

/// Whether these are the logs of a stored run, in whatever files they are.
pub(super) fn are_logs_of(logs: &[SourceFile], stored: &RunInfo) -> bool {
    let mut left: Vec<&SourceFile> = logs_of(stored).collect();
    let is_there = |log: &SourceFile| {
        let named = |then: &SourceFile| logs.len() == 1 || own_name(then) == own_name(log);
        let at = left.iter().position(|then| same_content(log, then) && named(then));
        at.map(|at| left.swap_remove(at)).is_some()
    };
    logs.iter().all(is_there) && left.is_empty()
}

/// A log's name without folders, as `LogSource::file_name` gives it.
fn own_name(source: &SourceFile) -> &str {
    match source.member.as_deref().map(last_part) {
        Some(member) if !member.is_empty() && member != "-" => member,
        _ => &source.file,
    }
}

/// The source that a log will be, as far as it is known by its name.
fn named_source(log: &LogSource) -> SourceFile {
    let place = log.place();
    SourceFile {
        file: last_part(&place.file.to_string_lossy()).to_owned(),
        member: place.member.clone(),
        kind: "log".into(),
        ..SourceFile::default()
    }
}
