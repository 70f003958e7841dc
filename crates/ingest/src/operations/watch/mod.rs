//! Follows the logs of a running test: exact counts of its seconds so far, and at the end the run.
//!
//! Each log is read by a thread of its own, which cuts, parses and counts as an ingest does, but stores nothing. At the
//! end the run is stored by an ordinary ingest of what was followed. So it does not depend on when which bytes came, in
//! how many files they were, and whether an earlier record came late.

mod count;
mod cpu;
mod live;

use std::fs::{self, File};
use std::io::ErrorKind as Io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use self::count::{LogReading, follow};
pub use self::cpu::WatchedCpu;
use self::live::Live;
pub use self::live::Look;
use super::options::{IngestOptions, check};
use crate::source::growing::{Control, Finished, GrowingLog};
use crate::source::{Inputs, refuse_named_twice};
use perfpipe_model::counts::stored_run::StoredRun;
use perfpipe_model::error::{Error, ErrorKind, Result};

/// A running test, followed by its logs.
///
/// ```
/// use perfpipe_ingest::IngestOptions;
/// use perfpipe_ingest::watch::Watch;
/// # let dir = tempfile::tempdir()?;
/// # let log = dir.path().join("log.csv");
/// # std::fs::write(&log, "timeStamp,elapsed,success\n1795203738615,12,true\n1795203741000,9,true\n")?;
/// let mut watch = Watch::begin(&[log], &IngestOptions::default())?;
/// // A program that shows the test looks at it now and then: watch.look(), watch.run(0).
/// watch.stop();
/// watch.join()?;
/// let run = watch.run(0)?.expect("a run");
/// assert_eq!((run.info.seconds, run.info.successes), (3, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Watch {
    logs: Vec<Arc<GrowingLog>>,
    /// Files that are no logs, such as a CPU export: they are read at the end.
    beside: Vec<PathBuf>,
    options: IngestOptions,
    live: Arc<Live>,
    control: Arc<Control>,
    threads: Vec<JoinHandle<()>>,
}

impl Watch {
    /// Begins to follow the logs of a run. A log is a file, which need not exist yet, a named pipe, or `-` for standard
    /// input. A file that is a CPU export is left to [`Store::ingest_followed`](crate::Store::ingest_followed).
    ///
    /// # Errors
    /// If an option is out of range, a file is a folder, packed or named twice, or no log is among the files.
    pub fn begin(files: &[PathBuf], options: &IngestOptions) -> Result<Self> {
        check(options)?;
        let Sorted { logs, beside } = sort(files, options)?;
        let control = Arc::new(Control::default());
        let live = Arc::new(Live::new(logs.len(), options, Arc::clone(&control)));
        let mut threads = Vec::new();
        for (number, log) in logs.iter().enumerate() {
            let reading = LogReading::new(number, &logs, options)?;
            let (live, log) = (Arc::clone(&live), Arc::clone(log));
            let thread = std::thread::Builder::new().name("perfpipe-follow".to_owned());
            let spawned = thread.spawn(move || follow(reading, &live, &log));
            threads.push(spawned.map_err(Error::no_thread)?);
        }
        Ok(Self { logs, beside, options: options.clone(), live, control, threads })
    }

    /// Returns how far the test has come, and forgets which seconds changed.
    ///
    /// # Errors
    /// If a log can't be followed: it can't be read, or is none.
    pub fn look(&self) -> Result<Look> {
        let mut look = self.live.look()?;
        let unheard = self.live.unheard();
        look.unheard = unheard.filter_map(|log| Some(self.logs.get(log)?.path().to_owned())).collect();
        Ok(look)
    }

    /// Returns the complete seconds from `first` on as a run, without its other seconds; `None` if no second is complete.
    /// What it has cost depends on the number of these seconds alone.
    ///
    /// # Errors
    /// When a temporary file can't be read.
    pub fn run(&self, first: u32) -> Result<Option<StoredRun>> {
        self.live.run(first)
    }

    /// Returns the CPU readings of the test, if an export is among the files or readings are asked for. They are known once
    /// they were [refreshed](WatchedCpu::refresh); at the end all of them are read again.
    pub fn cpu(&self) -> Option<WatchedCpu> {
        WatchedCpu::of(&self.live, &self.options, &self.beside)
    }

    /// Ends the following at what the logs have by now. It takes a moment: see [`Look::ended`].
    pub fn stop(&self) {
        self.control.stop.store(true, Ordering::Release);
    }

    /// Waits until all logs have ended. Without [`Watch::stop`] only pipes do.
    ///
    /// # Errors
    /// If a log can't be followed.
    pub fn join(&mut self) -> Result<()> {
        for thread in std::mem::take(&mut self.threads) {
            thread.join().map_err(|_| Error::stopped("following a log"))?;
        }
        self.live.look().map(drop)
    }

    /// Ends the following, and returns what was followed, ready to be stored.
    ///
    /// # Errors
    /// If a log can't be read or kept, or nothing was ever written to any.
    pub fn finish(mut self) -> Result<Followed> {
        self.stop();
        self.join()?;
        Followed::new(self.logs, self.beside)
    }
}

/// The files of a run.
pub(super) struct Sorted {
    pub(super) logs: Vec<Arc<GrowingLog>>,
    /// Files that are no logs.
    beside: Vec<PathBuf>,
}

/// Sorts files. Pipes come first, as in an ingest.
pub(super) fn sort(files: &[PathBuf], options: &IngestOptions) -> Result<Sorted> {
    refuse_named_twice(files)?;
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

/// Logs that were followed to their end, and the files beside them. Temporary files are removed when it is dropped.
pub struct Followed {
    /// The files of the run. Those that are kept are read elsewhere.
    pub(crate) files: Vec<PathBuf>,
    /// Each as it is called, and where its text is.
    pub(crate) kept: Vec<(PathBuf, PathBuf)>,
    /// The logs of which there is nothing.
    missing: Vec<PathBuf>,
    /// They own the temporary files.
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
