//! Decides which earlier run a new one may replace.

use super::info::{RunInfo, SourceKind};
use crate::error::{Error, ErrorKind};

/// The file name of standard input.
const PIPE: &str = "-";

/// The remedy: how to name the run differently, replace the old one, or keep both.
const REPLACE: &str = "Give this run another framework or test, replace the old run \
                       (IngestOptions::replace), or keep both (Repeat::Next).";

/// Which earlier runs a new run may replace. Except with [`Replace::Any`], a partial run never replaces a whole one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Replace {
    /// Any run of the same key, because replacing was asked for.
    Any,
    /// Any run of the same key, because the key was given by the user.
    SameKey,
    /// Only a run made from log files of the same names, or from a pipe of the same content, because the key was
    /// inferred.
    SameFile,
    /// None at all.
    Nothing,
}

impl Replace {
    /// Returns true if `new` may replace `old`.
    pub fn allows(self, old: &RunInfo, new: &RunInfo) -> bool {
        fn logs(info: &RunInfo) -> Vec<(&str, Option<u32>)> {
            let logs = info.sources.iter().filter(|source| source.kind == SourceKind::Log);
            // A pipe has no name, so it is recognised by its checksum.
            let mut names: Vec<_> =
                logs.map(|log| (log.file.as_str(), (log.file == PIPE).then_some(log.crc32))).collect();
            names.sort_unstable();
            names.dedup();
            names
        }
        match self {
            Self::Any => true,
            Self::Nothing => false,
            _ if new.is_partial() && !old.is_partial() => false,
            Self::SameKey => true,
            Self::SameFile => logs(old) == logs(new),
        }
    }

    /// Returns true if `new` may replace an earlier run that can't be read.
    pub fn allows_unread(self, new: &RunInfo) -> bool {
        self == Self::Any || (self == Self::SameKey && !new.is_partial())
    }

    /// The error that says why `new` may not replace `old`, and what helps.
    pub fn refusal(old: &RunInfo, new: &RunInfo) -> Error {
        if let Some(damage) = new.damage.first()
            && !old.is_partial()
        {
            let problem =
                format!("the store has the whole run {}, and this one is partial: {damage}", old.key);
            return Error::refused(ErrorKind::KeyTaken, problem, REPLACE);
        }
        let logs = old.sources.iter().filter(|source| source.kind == SourceKind::Log);
        let mut names: Vec<&str> =
            logs.map(|log| if log.file == PIPE { "standard input" } else { log.file.as_str() }).collect();
        names.dedup();
        let problem = format!("the store already has a run {}, made from {}", old.key, names.join(", "));
        Error::refused(ErrorKind::KeyTaken, problem, REPLACE)
    }

    /// The refusal for an earlier run that can't be read. `what` names the step that failed.
    pub fn refusal_unread(what: &str) -> Error {
        let problem = format!("the store has a run of this key that can't be read: {what} failed");
        Error::refused(ErrorKind::KeyTaken, problem, REPLACE)
    }
}
