//! A test that writes its log, and the command that watches it.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::support::*;

/// timeStamp of the first record of a log, ms.
pub(super) const T0: i64 = 1_795_203_738_615;

/// The header of a log.
pub(super) const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,grpThreads,allThreads,Latency\n";

/// The records of a second.
const EACH: i64 = 50;

/// The records of some seconds of a test: fifty a second, of which three fail.
pub(super) fn records(seconds: std::ops::Range<i64>, injector: &str) -> String {
    (seconds.start * EACH..seconds.end * EACH).map(|number| record(number, injector)).collect()
}

/// The records of a tenth of a second, counted from the begin of the test.
pub(super) fn tenth(number: i64) -> String {
    let each = EACH / 10;
    (number * each..(number + 1) * each).map(|number| record(number, "")).collect()
}

/// A record, counted from the begin of the test.
fn record(number: i64, injector: &str) -> String {
    let (second, number) = (number / EACH, number % EACH);
    let (at, elapsed) = (T0 + second * 1000 + number * 20, 5 + number * 7 % 40 + second % 3);
    let succeeds = number % 20 != 7;
    let outcome = if succeeds { "200,OK" } else { "503,Busy" };
    let latency = elapsed / 2;
    format!("{at},{elapsed},Get,{outcome},{injector}Group 1-{number},{succeeds},120,{number},10,{latency}\n")
}

/// A log of some seconds.
pub(super) fn log(seconds: std::ops::Range<i64>) -> String {
    HEADER.to_owned() + &records(seconds, "")
}

/// A log in the folder of a test, and its writer.
pub(super) struct Writer {
    pub(super) path: PathBuf,
    file: File,
}

impl Writer {
    /// Creates an empty log.
    pub(super) fn new(store: &Store, name: &str) -> Self {
        let path = store.folder.path().join(name);
        let file = OpenOptions::new().append(true).create(true).open(&path).unwrap();
        Self { path, file }
    }

    pub(super) fn write(&mut self, text: &str) {
        self.file.write_all(text.as_bytes()).unwrap();
    }

    /// Renames the log, and begins it again.
    pub(super) fn rotate(&mut self) {
        std::fs::rename(&self.path, self.path.with_extension("jtl.1")).unwrap();
        self.file = OpenOptions::new().append(true).create_new(true).open(&self.path).unwrap();
    }

    pub(super) fn empty(&mut self) {
        self.file.set_len(0).unwrap();
    }

    /// Copies the log, and empties it.
    pub(super) fn copy_and_empty(&mut self) {
        std::fs::copy(&self.path, self.path.with_extension("jtl.1")).unwrap();
        self.empty();
    }
}

/// The command that watches logs.
pub(super) struct Watching {
    pub(super) child: Child,
    lines: Receiver<String>,
    /// The lines so far.
    pub(super) told: Vec<String>,
}

impl Watching {
    pub(super) fn begin(store: &Store, arguments: &[&str]) -> Self {
        Self::of(store.spawn(&[&["watch"], arguments].concat()))
    }

    /// Begins with variables of the environment.
    pub(super) fn begin_with(store: &Store, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = store.command(&[&["watch"], arguments].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).envs(environment.iter().copied());
        Self::of(command.env_remove("http_proxy").spawn().unwrap())
    }

    fn of(mut child: Child) -> Self {
        let out = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Self { child, lines, told: Vec::new() }
    }

    /// Waits until a second is shown.
    pub(super) fn until(&mut self, second: u32) {
        while !self.shows(second) {
            let line = self.lines.recv_timeout(Duration::from_secs(60));
            self.told.push(line.unwrap_or_else(|_| panic!("second {second} is not in {:?}", self.told)));
        }
    }

    fn shows(&self, second: u32) -> bool {
        let second = second.to_string();
        self.told.iter().any(|line| line.split_whitespace().next() == Some(&second))
    }

    /// Ends it by a signal, and returns what it said.
    pub(super) fn end(self, name: &str) -> (Done, Vec<String>) {
        signal(name, self.child.id());
        self.ended()
    }

    /// Waits for its end, and returns what it said and the lines that it showed.
    pub(super) fn ended(mut self) -> (Done, Vec<String>) {
        let done = finish(self.child);
        self.told.extend(self.lines.iter());
        (done, self.told)
    }
}
