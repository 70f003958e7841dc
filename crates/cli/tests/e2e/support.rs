//! What the tests share: the command, the two kinds of store, the fixtures and what they must hold.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::postgres::{TestServer, psql};

/// The command, with nothing in its environment that could name another store.
pub(crate) fn perfpipe() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfpipe"));
    command.env_remove("PERFPIPE_DATABASE_URL").stdin(Stdio::null());
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

/// A fresh store of either kind, and a folder for the test's files; both go with it.
pub(crate) struct Store {
    /// The flag and its value that name the store.
    pub(crate) flag: [String; 2],
    pub(crate) folder: tempfile::TempDir,
}

impl Store {
    /// A folder of Parquet files.
    pub(crate) fn embedded() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        Self { flag: ["--store".into(), path.to_str().unwrap().into()], folder }
    }

    /// A database; `None` where there is no Postgres.
    pub(crate) fn database() -> Option<Self> {
        let url = TestServer::shared()?.database();
        Some(Self { flag: ["--database".into(), url], folder: tempfile::tempdir().unwrap() })
    }

    /// One of each kind that can be had here.
    pub(crate) fn each() -> Vec<Self> {
        std::iter::once(Self::embedded()).chain(Self::database()).collect()
    }

    /// The database's URL or the folder's path.
    pub(crate) fn place(&self) -> &str {
        &self.flag[1]
    }

    pub(crate) fn is_database(&self) -> bool {
        self.flag[0] == "--database"
    }

    /// The command on this store, run in a folder of the test's own.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = perfpipe();
        command.args(arguments).current_dir(self.folder.path());
        // An inspection opens no store, and takes none.
        if arguments.first() != Some(&"inspect") {
            command.args(&self.flag);
        }
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        done(&mut self.command(arguments))
    }

    /// Runs the command with this on its standard input.
    pub(crate) fn pipe(&self, input: &[u8], arguments: &[&str]) -> Done {
        let mut child = self.spawn(arguments);
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // A command that refuses the input may end before it has read it all.
            scope.spawn(move || _ = stdin.write_all(input));
            finish(child)
        })
    }

    /// Starts the command with pipes at all its ends.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Writes a file into the test's folder.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The runs that are stored, as `list` tells them; none where no store was ever made.
    pub(crate) fn list(&self) -> Vec<Value> {
        if !self.is_database() && !Path::new(self.place()).join("perfpipe.json").exists() {
            return Vec::new();
        }
        self.run(&["list", "--format", "json"]).json().as_array().unwrap().clone()
    }

    /// What there is in the store that belongs to no run: staged folders and old generations, stray tables and rows.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        if self.is_database() {
            if psql(self.place(), "select to_regnamespace('perfpipe')").is_empty() {
                return Vec::new();
            }
            return psql(self.place(), STRAY).lines().map(str::to_owned).collect();
        }
        let entries = |folder: &Path| -> Vec<PathBuf> {
            std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
        };
        let root = Path::new(self.place());
        let new = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(".new-");
        let mut stray = entries(&root.join("staging"));
        stray.extend(entries(root).into_iter().filter(new));
        for run in entries(&root.join("runs")) {
            let parts = entries(&run);
            stray.extend(parts.iter().filter(|path| new(path)).cloned());
            let generations = parts.into_iter().filter(|path| path.is_dir());
            match run.join("manifest.json").is_file() {
                true => stray.extend(generations.skip(1)),
                false => stray.push(run),
            }
        }
        stray.iter().map(|path| path.display().to_string()).collect()
    }

    /// How many writers are at work in the store; where it is a folder, those that were killed count too.
    pub(crate) fn writers(&self) -> usize {
        if self.is_database() {
            let sql = "select count(*) from pg_stat_activity
                       where datname = current_database() and pid <> pg_backend_pid()
                         and backend_type = 'client backend'";
            psql(self.place(), sql).parse().unwrap()
        } else {
            self.leftovers().len()
        }
    }

    /// Waits until the server has seen its killed clients go: until then one may be committing.
    pub(crate) fn wait_for_killed_writers(&self) {
        if self.is_database() {
            wait_for("the server has seen its clients go", || self.writers() == 0);
        }
    }

    /// The keys of the runs that are stored, as `framework test`.
    pub(crate) fn keys(&self) -> Vec<String> {
        let key = |run: &Value| format!("{} {}", text(run, "framework"), text(run, "test"));
        self.list().iter().map(key).collect()
    }

    /// The key of the only run.
    pub(crate) fn only_key(&self) -> Key {
        let runs = self.list();
        assert_eq!(runs.len(), 1, "{runs:?}");
        Key::new(text(&runs[0], "framework"), text(&runs[0], "test"))
    }

    /// An export of a run, by what it is of, its format and further flags.
    pub(crate) fn export(&self, key: &Key, what: &str, format: &str, flags: &[&str]) -> String {
        let run = ["export", "--framework", &key.framework, "--test", &key.test];
        self.run(&[&run[..], &["--what", what, "--format", format], flags].concat()).text()
    }

    /// The samples of a run, in the order of the log.
    pub(crate) fn samples(&self, key: &Key, flags: &[&str]) -> Vec<csv::StringRecord> {
        let csv = self.export(key, "samples", "csv", flags);
        // No field of a sample but the label can hold a line break: records are told apart by a reader.
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(csv.as_bytes());
        reader.records().map(Result::unwrap).collect()
    }

    /// The one row of a run's summary.
    pub(crate) fn summary(&self, key: &Key, flags: &[&str]) -> Value {
        let rows: Value = serde_json::from_str(&self.export(key, "summary", "json", flags)).unwrap();
        assert_eq!(rows.as_array().unwrap().len(), 1);
        rows[0].clone()
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

/// A log that takes hours to read, and little room: its end is a hole.
pub(crate) fn endless_log(store: &Store, name: &str) -> String {
    let mut log = "timeStamp,elapsed,label,success\n".to_owned();
    log.extend((0..1000).map(|at| format!("{},12,Get,true\n", 1_795_203_738_615_i64 + at)));
    let path = store.file(name, log);
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 42).unwrap();
    path
}

/// Sends a signal to a process.
pub(crate) fn signal(name: &str, process: u32) {
    let status = Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status().unwrap();
    assert!(status.success());
}

/// Relations of the schema that are neither the layout's nor a run's, and rows that belong to no run.
const STRAY: &str = "
  select relname from pg_class
  where relnamespace = 'perfpipe'::regnamespace and relkind in ('r', 'v', 'm', 'p')
    and relname not in ('layout', 'runs', 'seconds', 'cpu', 'errors', 'labels', 'rejects', 'elapsed_counts',
                        'per_second')
    and relname not in (select table_name from perfpipe.runs)
  union all
  -- The first column, by any name, tells the run in each layout.
  select 'seconds of run ' || run from perfpipe.seconds as s (run)
  where run not in (select run from perfpipe.runs as r (run))";

/// A run's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) framework: String,
    pub(crate) test: String,
}

impl Key {
    pub(crate) fn new(framework: &str, test: &str) -> Self {
        Self { framework: framework.into(), test: test.into() }
    }
}

/// A text of a JSON object.
pub(crate) fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object[name].as_str().unwrap_or_else(|| panic!("no text {name} in {object}"))
}

/// A whole number of a JSON object.
pub(crate) fn count(object: &Value, name: &str) -> i64 {
    object[name].as_i64().unwrap_or_else(|| panic!("no whole number {name} in {object}"))
}

/// The rows of a CSV with a header, each as its fields by name.
pub(crate) fn rows(csv_text: &str) -> Vec<std::collections::HashMap<String, String>> {
    csv::Reader::from_reader(csv_text.as_bytes()).deserialize().map(Result::unwrap).collect()
}

/// The fields of a CSV's first line.
pub(crate) fn header(csv_text: &str) -> &str {
    csv_text.lines().next().unwrap()
}

/// The path of a file of `fixtures/`.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name).canonicalize().unwrap()
}

/// A fixture and what it must hold.
pub(crate) struct Fixture {
    pub(crate) facts: Value,
}

impl Fixture {
    /// All of them.
    pub(crate) fn all() -> Vec<Self> {
        let facts = std::fs::read(fixture("facts.json")).unwrap();
        let facts: Vec<Value> = serde_json::from_slice(&facts).unwrap();
        assert!(facts.len() >= 13, "a fixture was lost");
        facts.into_iter().map(|facts| Self { facts }).collect()
    }

    pub(crate) fn named(name: &str) -> Self {
        Self::all().into_iter().find(|fixture| fixture.name() == name).unwrap()
    }

    pub(crate) fn name(&self) -> &str {
        text(&self.facts, "file")
    }

    /// Its log, plain and zipped, as far as these are there.
    pub(crate) fn logs(&self) -> Vec<String> {
        let names = [self.name().to_owned(), format!("{}.zip", self.name())];
        let path = |name: &String| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name);
        let there = names.iter().map(path).filter(|path| path.is_file());
        there.map(|path| path.canonicalize().unwrap().to_str().unwrap().to_owned()).collect()
    }

    /// Its CPU export, where there is one; zipped beside a zipped log.
    pub(crate) fn cpu(&self, log: &str) -> Option<String> {
        let name = self.facts["cpu"]["file"].as_str()?;
        let zipped = fixture("").join(format!("{name}.zip"));
        let path = if log.ends_with(".zip") && zipped.is_file() { zipped } else { fixture(name) };
        Some(path.to_str().unwrap().to_owned())
    }

    /// The log in one of its forms, and the CPU export.
    pub(crate) fn files(&self, log: &str) -> Vec<String> {
        std::iter::once(log.to_owned()).chain(self.cpu(log)).collect()
    }

    /// Ingests it without a flag.
    pub(crate) fn ingest_into(&self, store: &Store) -> Key {
        let files = self.files(&self.logs()[0]);
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        store.run(&[&["ingest"], &files[..]].concat()).said();
        store.only_key()
    }
}
