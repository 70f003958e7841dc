//! The status of a run compared with the store: new, changed, or already stored.

use std::collections::HashSet;

use super::file::{PlannedCpu, PlannedExport, same_content};
use super::pairing::bare;
use crate::operations::options::IngestOptions;
use crate::source::LogSource;
use crate::source::log::last_part;
use perfpipe_model::error::Error;
use perfpipe_model::run::info::{RunInfo, SourceFile, SourceKind};
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::options::CpuScale;
use perfpipe_model::run::replace::Replace;

/// The status of a run compared with the store.
#[derive(Debug)]
#[non_exhaustive]
pub enum Stand {
    /// The run is not stored yet.
    New,
    /// The run is stored, but an ingest would give a different result now. The reason is a clause.
    Changed(String),
    /// The run is stored and has not changed.
    Unchanged(Box<RunInfo>),
    /// The run is stored, and only reading the whole log can show whether it has changed.
    Unread(Box<RunInfo>),
    /// The run can't be ingested.
    Failed(Error),
}

impl Stand {
    /// The name of the status: `new`, `changed`, `unchanged` or `failed`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed(_) => "changed",
            Self::Unchanged(_) | Self::Unread(_) => "unchanged",
            Self::Failed(_) => "failed",
        }
    }
}

/// A run of the campaign, compared with stored runs.
pub(super) struct RunCandidate<'a> {
    /// The keys that its log may give, the most likely first.
    pub(super) keys: &'a [RunKey],
    /// The smallest timeStamp in its beginning, epoch ms.
    pub(super) t0_ms: Option<i64>,
    pub(super) logs: &'a [LogSource],
    pub(super) cpu: Option<&'a PlannedCpu>,
    pub(super) options: &'a IngestOptions,
}

impl RunCandidate<'_> {
    /// The stored run with the same logs, and true if their content is known to be the same. Runs in `taken` are
    /// excluded.
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

    /// The stored run that is an earlier state of this one: made from logs of the same names, at the same time. Runs in
    /// `taken` are excluded.
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

    /// The reason why an ingest would differ from the stored run of the same logs, if there is one.
    pub(super) fn change(&self, stored: &RunInfo) -> Option<String> {
        let options = self.options;
        // The interval of readings that are kept is not known here.
        let lookback = self.export().map(|cpu| cpu.join.lookback).or(options.cpu.lookback);
        let join = stored.cpu_offset != options.cpu.offset
            || lookback.is_some_and(|lookback| lookback != stored.cpu_lookback);
        let samples = match (stored.samples_stored, options.keep_samples) {
            // The log may have none.
            (false, true) if stored.options.intervals.is_none() => Some("it was stored without samples"),
            (true, false) => Some("it was stored with samples"),
            _ => None,
        };
        let other = [
            join.then_some("its CPU readings were joined with another offset or look-back"),
            self.is_read_otherwise(stored).then_some("it was read with other options"),
            (stored.rejects > options.max_rejects).then_some("it has more rejects than are allowed now"),
            (stored.is_partial() && !options.source.salvage).then_some("only a part of it was stored"),
            self.lacks_series(stored).then_some("a series that is asked for was not stored with it"),
        ];
        self.other_cpu(stored).or(samples).or_else(|| other.into_iter().flatten().next()).map(str::to_owned)
    }

    /// The CPU export, if it is a file.
    fn export(&self) -> Option<&PlannedExport> {
        self.cpu.and_then(|cpu| cpu.export.as_ref())
    }

    /// The reason why the CPU readings would not be those of the stored run, if they would not. What was asked for is not
    /// asked for again.
    fn other_cpu(&self, stored: &RunInfo) -> Option<&'static str> {
        let then = stored.sources.iter().find(|source| source.kind == SourceKind::Cpu);
        match (self.cpu, self.export(), then) {
            // A CPU export that was attached later, or that is missing now, is kept.
            (None, ..) => None,
            (Some(_), None, None) => Some("it has no CPU readings, and they are asked for now"),
            (Some(_), None, Some(then)) => {
                (!self.is_asked_as(then)).then_some("its CPU readings are from elsewhere")
            }
            (_, Some(now), Some(then)) if same_content(&now.source, then) => None,
            (_, Some(_), Some(_)) => Some("its CPU export has changed"),
            (_, Some(_), None) => Some("it has a CPU export now"),
        }
    }

    /// Returns true if CPU readings were asked for as they would be now.
    fn is_asked_as(&self, then: &SourceFile) -> bool {
        self.options.asked_cpu().is_some_and(|(_, url)| url == then.file)
    }

    /// Returns true if a series would be asked for that the stored run lacks.
    fn lacks_series(&self, stored: &RunInfo) -> bool {
        let is_stored = |url: &str| {
            stored.sources.iter().any(|source| source.kind == SourceKind::Series && source.file == url)
        };
        self.options.asked_series().iter().any(|(_, url)| !is_stored(url))
    }

    /// The unit of the CPU readings, if it is in their file. Readings that are kept keep theirs.
    fn known_scale(&self, stored: &RunInfo) -> Option<CpuScale> {
        match self.export() {
            Some(export) => export.scale,
            None => stored.options.cpu_scale,
        }
    }

    /// Returns true if the stored run has other options. Tags that are not given again are kept.
    fn is_read_otherwise(&self, stored: &RunInfo) -> bool {
        let mut now = self.options.noted.clone();
        now.note_scale(self.known_scale(stored));
        if now.tags.is_empty() {
            now.tags.clone_from(&stored.options.tags);
        }
        // What the log shows is no option.
        (now.intervals, now.measures) = (stored.options.intervals, stored.options.measures);
        stored.options != now
    }

    /// The refusal to replace a stored run, if there is one.
    pub(super) fn refusal(&self, stored: &RunInfo) -> Option<Error> {
        let is_named = self.options.framework.is_some() && self.options.test.is_some();
        let replace = match is_named {
            _ if self.options.replace => Replace::Any,
            true => Replace::SameKey,
            false => Replace::SameFile,
        };
        let mut new = RunInfo::new(stored.key.clone(), 0, 0);
        new.sources = self.logs.iter().map(named_source).collect();
        (!replace.allows(stored, &new)).then(|| Replace::refusal(stored, &new))
    }

    /// Returns true if the stored run is known to be made from the same logs, whatever its key.
    pub(super) fn is_of(&self, stored: &RunInfo) -> bool {
        self.has_logs_of(stored) == Some(true)
    }

    fn may_be(&self, stored: &RunInfo) -> bool {
        let key = &stored.key;
        self.keys.iter().any(|may| may.framework == key.framework && may.test == key.test)
    }

    /// Returns `Some(true)` if the stored run was made from logs of the same content, and `None` if that is not known.
    fn has_logs_of(&self, stored: &RunInfo) -> Option<bool> {
        let mut left: Vec<&SourceFile> = logs_of(stored).collect();
        if left.len() != self.logs.len() {
            return Some(false);
        }
        let mut sure = true;
        for log in self.logs {
            // Several injectors' logs are matched by name too.
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

    /// Returns true if the log begins within the time of the stored run.
    fn begins_in(&self, stored: &RunInfo) -> bool {
        self.t0_ms.is_some_and(|t0_ms| (stored.t0_ms..=stored.last_ms).contains(&t0_ms))
    }

    /// Returns true if the stored run was made from a file of this name, whatever the extensions.
    fn has_stem_of(&self, stored: &RunInfo) -> bool {
        let ours = self.logs.first().map(|log| bare(&log.place().file));
        ours == logs_of(stored).next().map(|log| bare(log.file.as_ref()))
    }

    /// Returns true if the stored run was made from logs of these names.
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
    stored.sources.iter().filter(|source| source.kind == SourceKind::Log)
}

/// Returns true if these are the logs of the stored run, whatever the files are called.
pub(super) fn are_logs_of(logs: &[SourceFile], stored: &RunInfo) -> bool {
    let mut left: Vec<&SourceFile> = logs_of(stored).collect();
    let is_there = |log: &SourceFile| {
        let named = |then: &SourceFile| logs.len() == 1 || own_name(then) == own_name(log);
        let at = left.iter().position(|then| same_content(log, then) && named(then));
        at.map(|at| left.swap_remove(at)).is_some()
    };
    logs.iter().all(is_there) && left.is_empty()
}

/// The log's name without folders, as `LogSource::file_name` returns it.
fn own_name(source: &SourceFile) -> &str {
    match source.member.as_deref().map(last_part) {
        Some(member) if !member.is_empty() && member != "-" => member,
        _ => &source.file,
    }
}

/// The source file of a log, with its names only.
fn named_source(log: &LogSource) -> SourceFile {
    let place = log.place();
    SourceFile {
        file: last_part(&place.file.to_string_lossy()).to_owned(),
        member: place.member.clone(),
        kind: SourceKind::Log,
        ..SourceFile::default()
    }
}
