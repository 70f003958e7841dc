//! Runs the command, and looks at how much memory it takes while it does.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::log::Log;

/// How a command went.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    /// What it said on standard error.
    pub(crate) said: String,
    /// The most memory that it had resident, in MB of 1,000,000 bytes.
    pub(crate) megabytes: u64,
    /// What it wrote to files and pipes, in the same unit.
    pub(crate) written: u64,
    pub(crate) seconds: f64,
}

/// Runs the command in a folder, a log as its standard input where there is one.
pub(crate) fn measured(arguments: &[&str], folder: &Path, log: Option<&Log>) -> Run {
    let said = folder.join("said");
    let begun = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_perfpipe"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("PERFPIPE_DATABASE_URL")
        .env("TMPDIR", folder)
        .env("PERFPIPE_ZABBIX_TOKEN", "0123456789abcdef")
        .stdin(if log.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::null())
        .stderr(File::create(&said).unwrap())
        .spawn()
        .unwrap();
    let writer = log.copied().zip(child.stdin.take()).map(|(log, pipe)| {
        std::thread::spawn(move || {
            let mut pipe = BufWriter::with_capacity(1 << 20, pipe);
            // A command that refuses the log reads it no further.
            let _ = log.write(&mut pipe).and_then(|()| pipe.flush());
        })
    });
    let Usage { code, kilobytes, written } = watched(&mut child);
    if let Some(writer) = writer {
        writer.join().unwrap();
    }
    let seconds = begun.elapsed().as_secs_f64();
    let said = std::fs::read_to_string(said).unwrap();
    Run { code, said, megabytes: kilobytes * 1024 / 1_000_000, written: written / 1_000_000, seconds }
}

#[derive(Default)]
struct Usage {
    code: Option<i32>,
    /// The most that was resident.
    kilobytes: u64,
    /// In bytes.
    written: u64,
}

/// Waits for a command, and watches what it uses.
fn watched(child: &mut Child) -> Usage {
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let mut usage = Usage::default();
    loop {
        // The system keeps the most that there was: only what the last milliseconds added could be missed.
        usage.kilobytes = usage.kilobytes.max(field(&process.join("status"), "VmHWM:").unwrap_or_default());
        usage.written = usage.written.max(field(&process.join("io"), "wchar:").unwrap_or_default());
        if let Some(status) = child.try_wait().unwrap() {
            return Usage { code: status.code(), ..usage };
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The number after a name in a file of the system's.
fn field(path: &Path, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.split_whitespace().next()?.parse().ok()
}

/// A folder that goes when it is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A new one in another.
    pub(crate) fn new(within: &Path) -> Self {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = within.join(format!("memory-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
