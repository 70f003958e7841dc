//! The groups of commands that are raced.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Parser;

use crate::measure::Contender;
use crate::{WRITE, generate, output, postgres};

/// A day's seconds, in which the heavy run's requests start.
const DAY: u64 = 86_400;

/// The threads of the heavy run: enough that each second has hundreds of different times.
const THREADS: u64 = 400;

const HEADER: &str = "timeStamp,elapsed,label,responseCode,success,bytes,allThreads,Latency,Connect\n";

/// What all groups share.
pub(crate) struct Bench {
    pub(crate) folder: tempfile::TempDir,
    /// The server of databases, if there is one.
    pub(crate) server: Option<postgres::TestServer>,
    /// Another build of perfpipe.
    pub(crate) against: Option<String>,
    /// The requests of the heavy run.
    pub(crate) requests: u64,
    /// The number of runs to list.
    pub(crate) many: u64,
}

/// Commands that are compared. The first one is the reference.
pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) is_heavy: bool,
    pub(crate) make: fn(&Bench) -> Vec<Contender>,
}

/// All groups, of which those that need a server are left out if there is none.
pub(crate) fn all(bench: &Bench) -> Vec<Group> {
    let light = |name, make| Group { name, is_heavy: false, make };
    let heavy = |name, make| Group { name, is_heavy: true, make };
    let mut groups = vec![
        light("ingest of a small log", small_log as fn(&Bench) -> Vec<Contender>),
        light("ingest of one request", one_request),
        light("report of a small log", |bench| report(bench, &bench.small_store())),
        light("list in a folder", |bench| list(bench, |name| bench.store(name))),
        heavy("report of a day in a folder", |bench| report(bench, &bench.heavy_store())),
    ];
    if bench.server.is_some() {
        groups.push(light("list in a database", |bench| list(bench, |_| bench.new_database())));
        groups.push(heavy("report of a day in a database", |bench| report(bench, &bench.heavy_database())));
    }
    groups
}

/// A small log of a real test against `unzip -p` of it.
fn small_log(bench: &Bench) -> Vec<Contender> {
    let mut unzip = Command::new("unzip");
    unzip.arg("-p").arg(fixture());
    let store = bench.store("small-log");
    let ingest = |program: &str| command(program, "ingest", &store).argument(fixture()).argument("--replace");
    bench.raced(Contender::new("unzip -p", unzip), |program| ingest(program).0)
}

/// The fixed part: a log of one request, against a program that only starts, writes the same files and syncs them.
fn one_request(bench: &Bench) -> Vec<Contender> {
    let store = bench.store("one-request");
    let log = bench.folder.path().join("one_request.csv");
    fs::write(&log, [HEADER, &record(0)].concat()).expect("a log");
    let ingest = |program: &str| command(program, "ingest", &store).argument(&log).argument("--replace");
    run(ingest(PERFPIPE).0);
    let flat = bench.folder.path().join("flat");
    fs::create_dir(&flat).expect("a folder");
    flatten(Path::new(&store.1), &flat);
    let mut only = Command::new(std::env::current_exe().expect("this program"));
    only.arg(WRITE).args([&flat, &bench.folder.path().join("written")]);
    bench.raced(Contender::new("writing and syncing the same files", only), |program| ingest(program).0)
}

/// A report by the other build, if there is one, and by this one.
fn report(bench: &Bench, store: &Store) -> Vec<Contender> {
    let out = bench.folder.path().join("report");
    let report = |program| {
        let words = command(program, "report", store).argument("--test").argument("t").argument("--out");
        words.argument(&out).0
    };
    let other = bench.against.iter().map(|other| Contender::new("the other perfpipe", report(other)));
    other.chain([Contender::new("perfpipe", report(PERFPIPE))]).collect()
}

/// Ten runs and many.
fn list(bench: &Bench, store: impl Fn(&str) -> Store) -> Vec<Contender> {
    let few = store("few");
    let many = store("many");
    for (store, runs) in [(&few, 10), (&many, bench.many)] {
        let logs = bench.folder.path().join(format!("logs-{runs}"));
        fs::create_dir_all(&logs).expect("a folder");
        for number in 0..runs {
            fs::write(logs.join(format!("f{number}_t.csv")), [HEADER, &record(number)].concat())
                .expect("a log");
        }
        run(command(PERFPIPE, "ingest", store).argument(&logs).0);
    }
    let mut contenders = vec![Contender::new("ten runs", command(PERFPIPE, "list", &few).0)];
    let others = bench.against.iter().map(|other| ("many runs, the other perfpipe", other.as_str()));
    for (name, program) in [("many runs", PERFPIPE)].into_iter().chain(others) {
        contenders.push(Contender::new(name, command(program, "list", &many).0));
    }
    contenders
}

const PERFPIPE: &str = env!("CARGO_BIN_EXE_perfpipe");

/// The flag that names a store, and its value.
pub(crate) struct Store(&'static str, String);

/// A command that arguments are added to.
struct Words(Command);

impl Words {
    fn argument(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.0.arg(argument);
        self
    }
}

fn command(program: &str, name: &str, store: &Store) -> Words {
    Words(Command::new(program)).argument(name).argument(store.0).argument(&store.1)
}

impl Bench {
    /// The reference, perfpipe, and the other build.
    fn raced(&self, reference: Contender, command: impl Fn(&str) -> Command) -> Vec<Contender> {
        let other = self.against.iter().map(|other| Contender::new("the other perfpipe", command(other)));
        [reference, Contender::new("perfpipe", command(PERFPIPE))].into_iter().chain(other).collect()
    }

    fn store(&self, name: &str) -> Store {
        Store("--store", self.folder.path().join(name).display().to_string())
    }

    /// A new database.
    fn new_database(&self) -> Store {
        let server = self.server.as_ref().expect("a server");
        Store("--database", server.database())
    }

    fn small_store(&self) -> Store {
        let store = self.store("small");
        run(self.made_by(&store).argument(fixture()).argument("--test").argument("t").0);
        store
    }

    /// A store with a day's run without samples, made by the other build, so that it can read it.
    fn heavy_store(&self) -> Store {
        let (store, log) = (self.store("heavy"), self.folder.path().join("heavy.zip"));
        if !Path::new(&store.1).exists() {
            let (rows, threads) = (self.requests, THREADS);
            let words = format!("generate x --rows {rows} --seconds {DAY} --threads {threads}");
            let options =
                generate::Options::try_parse_from(words.split(' ')).expect("the generator's options");
            output::write(&options.plan().expect("a plan"), &log).expect("a generated log");
            let ingest = self.made_by(&store).argument(&log).argument("--no-samples");
            run(ingest.argument("--framework").argument("f").argument("--test").argument("t").0);
            fs::remove_file(&log).expect("a log");
        }
        store
    }

    fn heavy_database(&self) -> Store {
        let database = self.new_database();
        let program = self.against.as_deref().unwrap_or(PERFPIPE);
        let copy = command(program, "copy", &self.heavy_store()).argument("f_t");
        run(copy.argument("--to-database").argument(&database.1).0);
        database
    }

    fn made_by(&self, store: &Store) -> Words {
        command(self.against.as_deref().unwrap_or(PERFPIPE), "ingest", store)
    }
}

/// The log of a real test: 123,695 requests.
fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/Results-2048-9000.csv.zip")
}

fn record(number: u64) -> String {
    format!("{},12,Get,200,true,2152,10,11,1\n", 1_795_203_738_615 + number)
}

/// Copies all files below a folder into another one, except locks.
fn flatten(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        match entry.is_dir() {
            true => flatten(&entry, to),
            false if entry.ends_with(".lock") => {}
            false => _ = fs::copy(&entry, to.join(entry.file_name().expect("a name"))).expect("a copy"),
        }
    }
}

fn run(mut command: Command) {
    let done = command.output().expect("a command");
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
}
