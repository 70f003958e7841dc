//! The run that is ingested, and the names of those made from it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Store;

/// The length of the run in seconds, and its requests in each.
const SECONDS: u64 = 100;
const RATE: u64 = 10;

/// When it starts, epoch ms.
const START: u64 = 1_795_203_738_000;

/// The log of a run and its CPU export, and the program that ingests them.
pub(crate) struct Seed {
    program: String,
    pub(crate) folder: PathBuf,
}

impl Seed {
    pub(crate) fn write(program: &str, folder: &Path) -> Self {
        let mut log =
            "timeStamp,elapsed,label,responseCode,success,bytes,allThreads,Latency,Connect\n".to_owned();
        for request in 0..SECONDS * RATE {
            let (at, elapsed) = (START + request * 1000 / RATE, 10 + request * 7919 % 91);
            log.push_str(&format!("{at},{elapsed},Get,200,true,2152,10,{elapsed},1\n"));
        }
        let reading = |second| format!("{},{}\n", START / 1000 + second, 40 + second % 17);
        let readings: String = (0..=SECONDS).map(reading).collect();
        std::fs::write(folder.join("log.csv"), log).expect("a log");
        std::fs::write(folder.join("cpu.csv"), format!("clock,value\n{readings}")).expect("an export");
        Self { program: program.to_owned(), folder: folder.to_owned() }
    }

    /// Ingests a run into a store.
    pub(crate) fn ingest(&self, store: &Store, number: u64, more: &[&str]) {
        let words = self.words(number);
        let words: Vec<&str> = words.iter().map(String::as_str).chain(more.iter().copied()).collect();
        run(self.command("ingest", store, &words));
    }

    /// What is said to ingest a run.
    pub(crate) fn words(&self, number: u64) -> Vec<String> {
        let file = |name| self.folder.join(name).display().to_string();
        let (framework, test) = (Names.framework(number), Names.test(number));
        let flags = ["--framework".to_owned(), framework, "--test".to_owned(), test];
        [file("log.csv"), file("cpu.csv")].into_iter().chain(flags).collect()
    }

    /// A command on a store.
    pub(crate) fn command(&self, name: &str, store: &Store, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(name).arg(store.0).arg(&store.1).args(words);
        command
    }
}

/// The names of the runs. Ten consecutive ones are of one test.
pub(crate) struct Names;

impl Names {
    pub(crate) fn framework(&self, run: u64) -> String {
        format!("f{}", run % 10)
    }

    pub(crate) fn test(&self, run: u64) -> String {
        format!("t{}", run / 10)
    }

    /// Returns a text that names the first run, naming another one: in JSON, and in paths of partitions.
    pub(crate) fn renamed(&self, text: &str, run: u64) -> String {
        let (framework, test) = (self.framework(run), self.test(run));
        text.replace(r#""framework":"f0""#, &format!(r#""framework":"{framework}""#))
            .replace(r#""test":"t0""#, &format!(r#""test":"{test}""#))
            .replace("framework=f0/test=t0/", &format!("framework={framework}/test={test}/"))
    }
}

/// Runs a command to its end.
pub(crate) fn run(mut command: Command) {
    let done = command.output().expect("a command");
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
}
