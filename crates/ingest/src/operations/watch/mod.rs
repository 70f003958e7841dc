//! Follows the logs of a running test: exact counts of its seconds so far, and at the end the run.
//!
//! Each log is read by a thread of its own, which cuts, parses and counts as an ingest does, but stores nothing. At the
//! end the run is stored by an ordinary ingest of what was followed. So it does not depend on when which bytes came, in
//! how many files they were, and whether an earlier record came late.

mod begin;
mod count;
mod cpu;
mod followed;
mod heard;
mod live;
mod look;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use self::begin::{Sorted, sort};
use self::count::{Reading, follow};
use self::live::Live;
use super::options::{IngestOptions, check};
use crate::counts::stored_run::StoredRun;
use crate::error::{Error, Result};
use crate::source::growing::{Control, GrowingLog};

pub use self::cpu::WatchedCpu;
pub use self::followed::Followed;
pub use self::look::Look;

/// A running test, followed by its logs.
///
/// ```
/// use perfpipe_ingest::IngestOptions;
/// use perfpipe_ingest::watch::Watch;
/// # let dir = tempfile::tempdir()?;
/// # let log = dir.path().join("log.csv");
/// # std::fs::write(&log, "timeStamp,elapsed,success\n1795203738615,12,true\n1795203741000,9,true\n")?;
/// let mut watch = Watch::begin(&[log], &IngestOptions::default())?;
/// // Whoever shows the test looks at it now and then: watch.look(), watch.run(0).
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
            let reading = Reading::new(number, &logs, options)?;
            let (live, log) = (Arc::clone(&live), Arc::clone(log));
            let thread = std::thread::Builder::new().name("perfpipe-follow".to_owned());
            let spawned = thread.spawn(move || follow(reading, &live, &log));
            threads.push(spawned.map_err(Error::no_thread)?);
        }
        Ok(Self { logs, beside, options: options.clone(), live, control, threads })
    }

    /// Tells how far the test has come, and forgets which seconds changed.
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
    /// they were [refreshed](WatchedCpu::refresh); at the end all of them are read anew.
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
