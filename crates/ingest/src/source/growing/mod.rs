//! Logs that are still being written: files that grow or are rotated, and pipes.

mod file;

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use self::file::{GrowingFile, GrowingPipe, Grown, TemporaryFile};
use super::head::HEAD;

/// A log that is still being written, as one text, in however many files.
pub(crate) struct GrowingLog {
    path: PathBuf,
    body: Mutex<GrowingBody>,
}

enum GrowingBody {
    File(GrowingFile),
    Pipe(GrowingPipe),
}

/// Where the text of a log is once nobody follows it any more.
pub(crate) enum Finished<'a> {
    /// In its own file, and nowhere else.
    Own,
    /// In this temporary file, since it came from a pipe or from several files.
    Kept(&'a Path),
    /// There is none.
    Nothing,
}

impl<'a> Finished<'a> {
    fn of(kept: Option<&'a TemporaryFile>) -> Self {
        match kept {
            Some(kept) if kept.is_empty() => Self::Nothing,
            Some(kept) => Self::Kept(kept.path()),
            None => Self::Own,
        }
    }
}

impl GrowingLog {
    /// Follows a file, which need not exist yet.
    pub(crate) fn file(path: &Path) -> Self {
        Self { path: path.to_owned(), body: Mutex::new(GrowingBody::File(GrowingFile::new(path))) }
    }

    /// Follows a pipe, which is opened by a thread of its own, since that waits for its writer.
    ///
    /// # Errors
    /// When no thread can be started, or no temporary file be written.
    pub(crate) fn pipe<R: Read + Send + 'static>(
        path: &Path,
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
    ) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), body: Mutex::new(GrowingBody::Pipe(GrowingPipe::begin(open)?)) })
    }

    /// The name that was given: of its file, or `-`.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads from a byte of the text on.
    ///
    /// # Errors
    /// When a file can't be read, or a temporary one not written.
    pub(crate) fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<Grown> {
        match &mut *self.body.lock().unwrap_or_else(PoisonError::into_inner) {
            GrowingBody::File(file) => file.read_at(at, out),
            GrowingBody::Pipe(pipe) => pipe.read_at(at, out),
        }
    }

    /// Shows where the text is.
    ///
    /// # Errors
    /// When the text of a file that is no longer in its place can't be kept.
    pub(crate) fn finished<T>(&self, show: impl FnOnce(Finished<'_>) -> T) -> io::Result<T> {
        match &mut *self.body.lock().unwrap_or_else(PoisonError::into_inner) {
            GrowingBody::File(file) if file.is_missing() => Ok(show(Finished::Nothing)),
            GrowingBody::File(file) => {
                file.settle()?;
                Ok(show(Finished::of(file.kept())))
            }
            GrowingBody::Pipe(pipe) => Ok(pipe.with_kept(|kept| show(Finished::of(Some(kept))))),
        }
    }
}

/// What was read is handed on this often, however little it is.
const HAND_ON: Duration = Duration::from_millis(200);

/// The time between two looks at a log that had nothing.
const BEAT: Duration = Duration::from_millis(20);

/// The number of lines by which a log is recognised: its header, if it has one, and a record.
const LINES: usize = 2;

/// Signals to all readers of a run.
#[derive(Debug, Default)]
pub(crate) struct Control {
    /// Set to end reading once nothing more is there.
    pub(crate) stop: AtomicBool,
    /// Raised when everything is read again from its first byte.
    pub(crate) pass: AtomicU64,
}

/// Reads a log from its first byte, and waits at its end for more. It ends when the log does, when it is to stop, and
/// when everything is read again.
///
/// Every 200 ms it gives an error of the kind `WouldBlock`, so that what was read is handed on. Before the log is
/// recognised, it gives the end instead, once there are enough lines to recognise it by.
pub(crate) struct Following {
    log: Arc<GrowingLog>,
    control: Arc<Control>,
    pass: u64,
    at: u64,
    lines: usize,
    /// True once the log's first bytes were read.
    recognised: bool,
    handed_on: Instant,
}

impl Following {
    /// Begins a pass over a log.
    pub(crate) fn new(log: Arc<GrowingLog>, control: Arc<Control>, pass: u64) -> Self {
        Self { log, control, pass, at: 0, lines: 0, recognised: false, handed_on: Instant::now() }
    }

    /// Waits for the first byte. Returns false if reading ends before there is any.
    pub(crate) fn begins(&mut self) -> io::Result<bool> {
        loop {
            match self.log.read_at(0, &mut [0])? {
                Grown::Bytes(_) => return Ok(true),
                Grown::Ended => return Ok(false),
                Grown::Nothing if self.ends() => return Ok(false),
                Grown::Nothing | Grown::Soon | Grown::Restarted => std::thread::sleep(BEAT),
            }
        }
    }

    /// Returns true if reading ends where nothing more is there.
    fn ends(&self) -> bool {
        self.control.stop.load(Ordering::Acquire) || self.control.pass.load(Ordering::Acquire) != self.pass
    }

    /// Notes what was read.
    fn took(&mut self, bytes: &[u8]) {
        self.at += bytes.len() as u64;
        if !self.recognised {
            self.lines += memchr::memchr_iter(b'\n', bytes).count();
            self.recognised = self.at >= HEAD as u64;
        }
    }
}

impl Read for Following {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.handed_on.elapsed() >= HAND_ON {
                self.handed_on = Instant::now();
                if self.recognised {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                self.recognised = self.lines >= LINES;
                if self.recognised {
                    return Ok(0);
                }
            }
            match self.log.read_at(self.at, out)? {
                Grown::Bytes(read) => {
                    self.took(out.get(..read).unwrap_or_default());
                    return Ok(read);
                }
                Grown::Ended => return Ok(0),
                Grown::Restarted => _ = self.control.pass.fetch_add(1, Ordering::AcqRel),
                Grown::Nothing if self.ends() => return Ok(0),
                Grown::Nothing | Grown::Soon => std::thread::sleep(BEAT),
            }
        }
    }
}
