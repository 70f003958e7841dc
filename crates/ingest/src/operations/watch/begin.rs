//! Sorts the files of a run that is followed into logs and others.

use std::fs::{self, File};
use std::io::ErrorKind as Io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::operations::options::IngestOptions;
use crate::source::Inputs;
use crate::source::growing::GrowingLog;
use crate::source::refuse_twins;

/// The files of a run.
pub(super) struct Sorted {
    pub(super) logs: Vec<Arc<GrowingLog>>,
    /// Files that are no logs.
    pub(super) beside: Vec<PathBuf>,
}

/// Sorts files. Pipes come first, as in an ingest.
pub(super) fn sort(files: &[PathBuf], options: &IngestOptions) -> Result<Sorted> {
    refuse_twins(files)?;
    let (mut pipes, mut texts, mut beside) = (Vec::new(), Vec::new(), Vec::new());
    for file in files {
        let failed = |error| Error::io(file, error);
        if file.as_os_str() == "-" {
            pipes.push(GrowingLog::pipe(file, || Ok(std::io::stdin())).map_err(failed)?);
            continue;
        }
        match fs::metadata(file) {
            Err(error) if error.kind() == Io::NotFound => texts.push(GrowingLog::file(file)),
            Err(error) => return Err(failed(error)),
            Ok(kind) if kind.is_dir() => {
                return Err(Error::input(ErrorKind::Folder, file, "is a folder", "Name the logs in it."));
            }
            Ok(kind) if kind.is_file() => match is_log(file, options)? {
                true => texts.push(GrowingLog::file(file)),
                false => beside.push(file.clone()),
            },
            Ok(_) => {
                let path = file.clone();
                pipes.push(GrowingLog::pipe(file, || File::open(path)).map_err(failed)?);
            }
        }
    }
    let logs: Vec<_> = pipes.into_iter().chain(texts).map(Arc::new).collect();
    if logs.is_empty() {
        let problem = "none of the files is a JMeter log";
        return Err(Error::usage(ErrorKind::NoLog, problem, "Name the log that the test writes."));
    }
    Ok(Sorted { logs, beside })
}

/// Returns false for a file that is a CPU export. What can't be recognised may be a log of which too little is there yet.
///
/// # Errors
/// If it is a packed log.
fn is_log(file: &Path, options: &IngestOptions) -> Result<bool> {
    let Ok(Ok(found)) = Inputs::of_file(file, &options.source) else { return Ok(true) };
    match found.logs.first() {
        Some(log) if log.packing() != "plain" => {
            let problem = format!("is packed ({}), so no test still writes it", log.packing());
            Err(Error::input(ErrorKind::UnsupportedFormat, file, problem, "Ingest it instead."))
        }
        log => Ok(log.is_some()),
    }
}
