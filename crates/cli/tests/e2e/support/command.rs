//! The command, and what it leaves behind.

use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The command, with nothing in its environment that could name another store, and without the fonts of this machine.
pub(crate) fn perfpipe() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfpipe"));
    command.env_remove("PERFPIPE_DATABASE_URL").env_remove("PERFPIPE_STORE").stdin(Stdio::null());
    command.env("PERFPIPE_FONTS", "none");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PG") {
            command.env_remove(name);
        }
    }
    command
}

/// What a command left behind.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let err = String::from_utf8(output.stderr).unwrap();
        Self { code: output.status.code(), out: output.stdout, err }
    }
}

impl Done {
    /// Its standard output, once it has succeeded.
    pub(crate) fn text(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.err);
        String::from_utf8(self.out).unwrap()
    }

    /// Its standard output as JSON, once it has succeeded.
    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.text()).unwrap()
    }

    /// The rows of the JSON on its standard output, once it has succeeded.
    pub(crate) fn rows(self) -> Vec<Value> {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self.rows_anyway()
    }

    /// The rows of the JSON on its standard output, whatever its exit code is.
    pub(crate) fn rows_anyway(&self) -> Vec<Value> {
        let document: Value = serde_json::from_slice(&self.out).unwrap();
        document["rows"].as_array().unwrap_or_else(|| panic!("no rows in {document}")).clone()
    }

    /// What it said to the person, once it has succeeded and written no data.
    pub(crate) fn said(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.err);
        assert!(self.out.is_empty(), "data on standard output: {}", String::from_utf8_lossy(&self.out));
        self.err
    }

    /// What it complained of, once it has failed with this code and written no data.
    pub(crate) fn complaint(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}", self.err);
        assert!(self.out.is_empty(), "data on standard output: {}", String::from_utf8_lossy(&self.out));
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self.err
    }
}

/// That each of these facts is told: a name, a value, a flag. How they are worded is free.
#[track_caller]
pub(crate) fn assert_told(said: &str, facts: &[&str]) {
    for fact in facts {
        assert!(said.contains(fact), "{fact} is not in: {said}");
    }
}

/// Runs a command to its end.
pub(crate) fn done(command: &mut Command) -> Done {
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(command.spawn().unwrap())
}

/// Waits for a command, and gives what it left behind.
pub(crate) fn finish(child: Child) -> Done {
    let _watch = Watch::over(&child);
    child.wait_with_output().unwrap().into()
}

/// Kills a command that hangs: its test is to fail, and not to hang with it.
pub(crate) struct Watch {
    /// Its end tells the watcher that there is nothing left to watch.
    _over: Sender<()>,
}

impl Watch {
    /// Watches a command for as long as this lives; it must not be waited for after that.
    pub(crate) fn over(child: &Child) -> Self {
        let (over, is_over) = channel();
        let process = child.id();
        std::thread::spawn(move || {
            if is_over.recv_timeout(Duration::from_secs(240)) == Err(RecvTimeoutError::Timeout) {
                eprintln!("process {process} hangs, and is killed");
                signal("KILL", process);
            }
        });
        Self { _over: over }
    }
}

/// Waits for what happens in another process.
pub(crate) fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !happened() {
        assert!(Instant::now() < until, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// How many bytes a process has read; without end once it has ended.
pub(crate) fn read_by(process: u32) -> u64 {
    let counts = std::fs::read_to_string(format!("/proc/{process}/io")).unwrap_or_default();
    let read = counts.lines().find_map(|line| line.strip_prefix("rchar: "));
    read.map_or(u64::MAX, |read| read.parse().unwrap())
}

/// Sends a signal to a process.
pub(crate) fn signal(name: &str, process: u32) {
    let status = Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status().unwrap();
    assert!(status.success());
}
