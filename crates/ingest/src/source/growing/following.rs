//! Reads a log as it grows.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{GrowingLog, Grown};
use crate::source::head::HEAD;

/// What was read is handed on this often, however little it is.
const HAND_ON: Duration = Duration::from_millis(200);

/// The time between two looks at a log that had nothing.
const BEAT: Duration = Duration::from_millis(20);

/// The number of lines by which a log is recognised: its header, if it has one, and a record.
const LINES: usize = 2;

/// What all readers of a run are told.
#[derive(Debug, Default)]
pub(crate) struct Control {
    /// Set to end reading once nothing more is there.
    pub(crate) stop: AtomicBool,
    /// Raised when everything is read again from its first byte.
    pub(crate) pass: AtomicU64,
}

/// Reads a log from its first byte, and waits at its end for more. It ends when the log does, when it is told to stop, and
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
                Grown::Nothing | Grown::Soon | Grown::Anew => std::thread::sleep(BEAT),
            }
        }
    }

    /// Returns true if reading ends where nothing more is there.
    fn ends(&self) -> bool {
        self.control.stop.load(Ordering::Acquire) || self.control.pass.load(Ordering::Acquire) != self.pass
    }

    /// Takes note of what was read.
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
                Grown::Anew => _ = self.control.pass.fetch_add(1, Ordering::AcqRel),
                Grown::Nothing if self.ends() => return Ok(0),
                Grown::Nothing | Grown::Soon => std::thread::sleep(BEAT),
            }
        }
    }
}
