//! Names the logs of a run, so that their injectors can be told apart.

use std::collections::HashSet;
use std::sync::Arc;

use super::LogSource;
use super::log::own_name;
use crate::error::Place;

/// Gives each log a name that no other log of the run has.
pub(crate) struct LogNames {
    /// True if the next log is known to be one of several. The only log of a run needs no name.
    several: bool,
    /// File names that more than one log has.
    shared: HashSet<String>,
    given: HashSet<String>,
    /// The injector of all these logs.
    injector: Option<Arc<str>>,
}

impl LogNames {
    /// Prepares names for the logs of these sources. A pipe may turn out to hold more than one log.
    pub(crate) fn new(sources: &[LogSource], injector: Option<&str>) -> Self {
        let mut seen = HashSet::new();
        let shared =
            sources.iter().map(LogSource::file_name).filter(|name| !seen.insert(name.clone())).collect();
        let injector = injector.map(Arc::from);
        Self { several: sources.len() > 1, shared, given: HashSet::new(), injector }
    }

    /// Returns the name of the log that is read next: that of its injector, and if it is one of several, its own.
    pub(crate) fn next(&mut self, log: &Place) -> Option<Arc<str>> {
        let own = self.next_own(log);
        match (&self.injector, own) {
            (Some(injector), Some(own)) => Some(format!("{injector}/{own}").into()),
            (injector, own) => own.or_else(|| injector.clone()),
        }
    }

    /// Returns the log's own name: its file name, with its folders if another log has the same one.
    ///
    /// The first log of a single pipe has none, since it may be the only log.
    fn next_own(&mut self, log: &Place) -> Option<Arc<str>> {
        let short = own_name(log);
        if !std::mem::replace(&mut self.several, true) {
            self.given.insert(short);
            return None;
        }
        let known = self.shared.contains(&short) || self.given.contains(&short);
        let base = if known { long_name(log) } else { short };
        let numbered = (2..).map(|number| format!("{base} ({number})"));
        let name = std::iter::once(base.clone()).chain(numbered).find(|name| !self.given.contains(name))?;
        self.given.insert(name.clone());
        Some(name.into())
    }
}

/// Returns a log's name with its folders.
fn long_name(place: &Place) -> String {
    let file = place.file.display();
    place.member.as_ref().map_or_else(|| file.to_string(), |member| format!("{file}/{member}"))
}
