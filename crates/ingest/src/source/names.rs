//! The names of a run's logs, by which their injectors are told apart.

use std::collections::HashSet;
use std::sync::Arc;

use super::{LogReader, LogSource};
use crate::error::Place;

/// The logs' names, by which injectors are told apart.
pub(crate) struct LogNames {
    /// Whether the next log is known to be one of several: the only one of a run needs no name.
    several: bool,
    /// Names that more than one log has.
    shared: HashSet<String>,
    given: HashSet<String>,
}

impl LogNames {
    /// Names for the logs of these sources; a pipe may turn out to hold more than one.
    pub(crate) fn new(sources: &[LogSource]) -> Self {
        let mut seen = HashSet::new();
        let shared =
            sources.iter().map(LogSource::file_name).filter(|name| !seen.insert(name.clone())).collect();
        Self { several: sources.len() > 1, shared, given: HashSet::new() }
    }

    /// The name of the log that is read next: that of its file, with its folders where others have the same.
    ///
    /// Of a pipe's logs the first has none, as there may be no other.
    pub(crate) fn next(&mut self, log: &LogReader<'_>) -> Option<Arc<str>> {
        if !std::mem::replace(&mut self.several, true) {
            self.given.insert(log.file_name());
            return None;
        }
        let short = log.file_name();
        let known = self.shared.contains(&short) || self.given.contains(&short);
        let base = if known { long_name(log.place()) } else { short };
        let numbered = (2..).map(|number| format!("{base} ({number})"));
        let name = std::iter::once(base.clone()).chain(numbered).find(|name| !self.given.contains(name))?;
        self.given.insert(name.clone());
        Some(name.into())
    }
}

/// A log's name with its folders.
fn long_name(place: &Place) -> String {
    let file = place.file.display();
    place.member.as_ref().map_or_else(|| file.to_string(), |member| format!("{file}/{member}"))
}
