//! The programs that read a run while it is replaced.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::support::*;

const SCRIPT: &str = concat!(include_str!("../spark.py"), include_str!("readers.py"));

/// The readers, which end with this.
pub(super) struct Readers {
    process: Child,
    orders: ChildStdin,
    told: BufReader<ChildStdout>,
}

impl Readers {
    /// Starts readers, by their names in the script, of the run of a test. `figures` are what the run may be: the number of
    /// its samples and the sum of their elapsed times.
    pub(super) fn start(
        engines: &[&str],
        host: &str,
        store: &Store,
        test: &str,
        figures: &[(usize, usize)],
    ) -> Self {
        let secret = |name: &str| &store.environment.iter().find(|(known, _)| *known == name).unwrap().1;
        let mut command = Command::new("python3");
        command.args(["-c", SCRIPT, host, secret("AWS_ACCESS_KEY_ID"), secret("AWS_SECRET_ACCESS_KEY")]);
        command.args([store.place().strip_prefix("s3://").unwrap(), test, &engines.join(",")]);
        command.args(figures.iter().map(|(count, sum)| format!("{count}:{sum}")));
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (orders, told) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        Self { process, orders, told: BufReader::new(told) }
    }

    pub(super) fn begin(&mut self) {
        // What ended the readers is told when they are asked.
        let _ = writeln!(self.orders, "begin");
    }

    /// Makes the readers pause, and returns how often they have read so far.
    ///
    /// # Panics
    /// If one of them found another figure, or failed.
    pub(super) fn end(&mut self) -> String {
        let _ = writeln!(self.orders, "end");
        let mut line = String::new();
        self.told.read_line(&mut line).unwrap();
        line.strip_prefix("ok ").unwrap_or_else(|| panic!("{line}")).trim().to_owned()
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
