//! Logs that were followed to their end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::source::growing::{Finished, GrowingLog};

/// Logs that were followed to their end, and the files beside them. Temporary files are removed when it is dropped.
pub struct Followed {
    /// The files of the run. Those that are kept are read elsewhere.
    pub(crate) files: Vec<PathBuf>,
    /// Each as it is called, and where its text is.
    pub(crate) kept: Vec<(PathBuf, PathBuf)>,
    /// The logs of which there is nothing.
    missing: Vec<PathBuf>,
    /// They hold the temporary files.
    _logs: Vec<Arc<GrowingLog>>,
}

impl Followed {
    pub(super) fn new(logs: Vec<Arc<GrowingLog>>, beside: Vec<PathBuf>) -> Result<Self> {
        let (mut files, mut kept, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        for log in &logs {
            let called = log.path();
            let mut keep = |text: &Path| kept.push((called.to_owned(), text.to_owned()));
            let is_there = log.finished(|finished| {
                match finished {
                    Finished::Own => {}
                    Finished::Kept(text) => keep(text),
                    Finished::Nothing => return false,
                }
                true
            });
            let list = if is_there.map_err(|e| Error::io(called, e))? { &mut files } else { &mut missing };
            list.push(called.to_owned());
        }
        if files.is_empty() {
            let names: Vec<String> = missing.iter().map(|log| log.display().to_string()).collect();
            let problem = format!("nothing was written to {}: there is no run to store", names.join(", "));
            return Err(Error::usage(ErrorKind::NoLog, problem, "Check the name, and that the test runs."));
        }
        files.extend(beside);
        Ok(Self { files, kept, missing, _logs: logs })
    }

    /// The logs of which nothing was read: files that never existed, and pipes to which nobody wrote.
    pub fn missing(&self) -> &[PathBuf] {
        &self.missing
    }

    /// Returns true if the run needs no file but those that were named: no log came from a pipe or was rotated.
    pub fn is_in_its_files(&self) -> bool {
        self.kept.is_empty()
    }
}
