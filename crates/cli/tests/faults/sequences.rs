//! Random sequences of commands on a store, several at once, held up at their locks and renames, killed, with damage in
//! between: what the store holds is always what the model allows, and every run of it is whole.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use perfpipe_ingest::Store as Opened;
use perfpipe_ingest::store::parquet::ParquetStore;
use perfpipe_ingest::store::postgres::PostgresConfig;
use perfpipe_ingest::{Progress, RunInfo};

use crate::model::{Content, Deed, Ended, Key, Name, Op, Stores, outcomes};
use crate::postgres::psql;
use crate::random::Random;
use crate::support::{Done, Store};
use crate::tracer::{Step, Turn, trace};

/// Commands in a sequence, at least.
const COMMANDS: usize = 30;

/// On a file system that does not tell capital letters apart, these share a name.
const FRAMEWORKS: [&str; 2] = ["go", "Go"];

/// Requests of each log.
const LOGS: [i64; 3] = [40, 60, 60];

/// What a command may say that fails beside others.
const REFUSALS: [&str; 6] = [
    "another perfpipe",
    "has no run",
    "still being read",
    "was replaced or dropped",
    "no run of",
    "there is no store",
];

#[test]
fn few_sequences_of_commands_agree_with_the_model() {
    trial(Store::embedded, 1..3);
    trial(Store::lake, 3..5);
    if Store::database().is_some() {
        trial(|| Store::database().unwrap(), 5..7);
    }
}

#[test]
#[ignore = "takes as long as PERFPIPE_TRIAL_SECONDS says, else an hour: .ci/long store"]
fn many_sequences_in_a_folder_agree_with_the_model() {
    trial(Store::embedded, for_long(1000));
}

#[test]
#[ignore = "takes as long as PERFPIPE_TRIAL_SECONDS says, else an hour: .ci/long store"]
fn many_sequences_in_a_database_agree_with_the_model() {
    assert!(Store::database().is_some(), "PostgreSQL is not installed");
    trial(|| Store::database().unwrap(), for_long(2000));
}

#[test]
#[ignore = "takes as long as PERFPIPE_TRIAL_SECONDS says, else an hour: .ci/long store"]
fn many_sequences_in_a_lake_agree_with_the_model() {
    trial(Store::lake, for_long(3000));
}

#[test]
#[ignore = "takes as long as PERFPIPE_TRIAL_SECONDS says, else an hour: .ci/long store"]
fn many_sequences_in_a_bucket_agree_with_the_model() {
    assert!(Store::bucket().is_some(), "there is no server for a bucket");
    trial(|| Store::bucket().unwrap(), for_long(4000));
}

/// The seeds from this one on, until the time of a trial is over.
fn for_long(first: u64) -> impl Iterator<Item = u64> {
    let seconds = std::env::var("PERFPIPE_TRIAL_SECONDS").map_or(3600, |told| told.parse().unwrap());
    let end = Instant::now() + Duration::from_secs(seconds);
    let first = std::env::var("PERFPIPE_TRIAL_SEED").map_or(first, |told| told.parse().unwrap());
    (first..).take_while(move |_| Instant::now() < end)
}

fn trial(store: impl Fn() -> Store, seeds: impl Iterator<Item = u64>) {
    let (mut tally, mut sequences) = (BTreeMap::new(), 0);
    for seed in seeds {
        sequences += 1;
        eprintln!("sequence of seed {seed}");
        let mut sequence = Sequence::new(store(), seed);
        while sequence.commands < COMMANDS {
            sequence.round();
        }
        sequence.end();
        for (what, times) in sequence.tally {
            *tally.entry(what).or_insert(0) += times;
        }
    }
    eprintln!("{sequences} sequences agree with the model: {tally:?}");
}

struct Sequence {
    store: Store,
    other: Store,
    random: Random,
    logs: Vec<String>,
    cpu: Vec<String>,
    /// What the stores hold.
    now: Stores,
    commands: usize,
    tally: BTreeMap<&'static str, usize>,
    /// What was done, for whoever reads why it failed.
    history: Vec<String>,
}

impl Sequence {
    fn new(store: Store, seed: u64) -> Self {
        let log = |(at, requests): (usize, &i64)| {
            let record =
                |row: i64| format!("{},{},Get,true,4\n", 1_795_000_000_250 + row * 50, 10 * (at as i64 + 1));
            let records: String = (0..*requests).map(record).collect();
            store.file(
                &format!("log-{at}.csv"),
                format!("timeStamp,elapsed,label,success,allThreads\n{records}"),
            )
        };
        let cpu = |at: usize| {
            let readings: String =
                (0..10).map(|second| format!("{},{at}\n", 1_794_999_998 + second)).collect();
            store.file(&format!("cpu-{at}.csv"), format!("clock,value\n{readings}"))
        };
        let (logs, cpu) = (LOGS.iter().enumerate().map(log).collect(), (0..2).map(cpu).collect());
        let (now, tally, history) = (Stores::default(), BTreeMap::new(), Vec::new());
        Self {
            store,
            other: Store::embedded(),
            random: Random::new(seed),
            logs,
            cpu,
            now,
            commands: 0,
            tally,
            history,
        }
    }

    fn below(&mut self, end: usize) -> usize {
        self.random.below(end as u64) as usize
    }

    fn round(&mut self) {
        match self.below(10) {
            0..=4 => self.side_by_side(1),
            5 | 6 => self.side_by_side(2),
            7 => self.side_by_side(3),
            8 => self.read_by_name(),
            // What is in a bucket is not damaged here.
            _ if self.store.place().contains("://") && !self.store.is_database() => self.read_by_name(),
            _ if self.below(2) == 0 && !self.store.is_database() => self.move_by_hand(),
            _ => self.damage(),
        }
    }

    fn key(&mut self) -> Key {
        (self.below(2), 1 + self.below(2) as u32)
    }

    fn content(&mut self) -> Content {
        let cpu = self.below(3);
        Content { log: self.below(LOGS.len()), cpu: (cpu < 2).then_some(cpu), samples: self.below(4) > 0 }
    }

    fn op(&mut self) -> Op {
        let deed = match self.below(9) {
            0..=2 => return Op::Ingest(self.key(), self.content()),
            3 | 4 => return Op::Append(self.below(2), self.content()),
            5 => Deed::Attach(self.below(2)),
            6 => Deed::Copy,
            7 => Deed::Rename,
            _ => Deed::Drop,
        };
        Op::Named(deed, self.name(), self.below(2) == 0)
    }

    fn name(&mut self) -> Name {
        if self.below(2) == 0 { Name::All(self.below(2)) } else { Name::One(self.key()) }
    }

    /// Reads runs by a name: all that it means, each printed so that its name means it alone.
    fn read_by_name(&mut self) {
        let name = self.name();
        let meant = name.runs(&self.now);
        self.history.push(format!("{name:?} is read"));
        self.commands += 2;
        self.count("read");
        let export = self.store.run(&["export", &text(name), "--what", "summary"]);
        let check = self.store.run(&["check", "requests > 1", "--format", "csv", &text(name)]);
        if meant.is_empty() {
            for done in [export, check] {
                let is_refused =
                    ["no run", "there is no store"].iter().any(|refusal| done.err.contains(refusal));
                assert!(done.code == Some(1) && is_refused, "{}: {}", self.told(), done.err);
            }
            return;
        }
        let keys = |(framework, repeat): &Key| format!("{},t,{repeat}", FRAMEWORKS[*framework]);
        let exported: Vec<String> = export
            .text()
            .lines()
            .skip(1)
            .map(|row| row.split(',').take(3).collect::<Vec<_>>().join(","))
            .collect();
        assert_eq!(exported, meant.iter().map(keys).collect::<Vec<_>>(), "{}", self.told());
        let printed = |key: &Key| {
            let is_alone = key.1 == 1 && Name::All(key.0).runs(&self.now).len() == 1;
            text(if is_alone { Name::All(key.0) } else { Name::One(*key) })
        };
        let checked: Vec<String> =
            check.text().lines().skip(1).filter_map(|row| Some(row.split_once(',')?.0.to_owned())).collect();
        assert_eq!(checked, meant.iter().map(printed).collect::<Vec<_>>(), "{}", self.told());
    }

    /// Commands at once, each held up at random, and one or none of them killed; now and then everything is verified
    /// meanwhile.
    fn side_by_side(&mut self, count: usize) {
        let ops: Vec<(Op, u64)> = (0..count).map(|_| (self.op(), self.random.bits())).collect();
        let killed = if self.below(3) == 0 { Some(self.below(count)) } else { None };
        let verifies = count > 1 && self.below(3) == 0;
        self.history.push(format!("{ops:?}, killed: {killed:?}"));
        let this = &*self;
        let ended: Vec<(Op, Ended)> = std::thread::scope(|scope| {
            let verified = verifies.then(|| scope.spawn(|| this.store.run(&["verify"])));
            let run = |(at, (op, seed)): (usize, &(Op, u64))| {
                let (op, seed) = (*op, *seed);
                scope.spawn(move || (op, this.run(op, seed, killed == Some(at))))
            };
            let running: Vec<_> = ops.iter().enumerate().map(run).collect();
            let ended = running.into_iter().map(|one| one.join().unwrap()).collect();
            if let Some(done) = verified.map(|verified| verified.join().unwrap()) {
                this.assert_whole_or_gone(&done);
            }
            ended
        });
        for (op, ended) in &ended {
            self.count(match op {
                Op::Ingest(..) => "ingest",
                Op::Append(..) => "append",
                Op::Named(Deed::Attach(_), ..) => "attach",
                Op::Named(Deed::Copy, ..) => "copy",
                Op::Named(Deed::Drop, ..) => "drop",
                Op::Named(Deed::Rename, ..) => "rename",
            });
            if *ended == Ended::Asked {
                self.count("asked");
            }
            if *ended == Ended::Killed {
                self.count("kill");
            }
        }
        self.commands += count;
        let allowed = outcomes(&self.now, &ended);
        let found = self.observe();
        assert!(allowed.contains(&found), "{}: {ended:?}: {found:?}, not one of {allowed:?}", self.told());
        self.now = found;
    }

    fn count(&mut self, what: &'static str) {
        *self.tally.entry(what).or_insert(0) += 1;
    }

    /// What was done so far.
    fn told(&self) -> String {
        format!("{} in {}", self.history.join("\n"), self.store.place())
    }

    fn assert_whole_or_gone(&self, done: &Done) {
        let gone = REFUSALS.iter().any(|refusal| done.err.contains(refusal));
        assert!(done.code == Some(0) || (done.code == Some(1) && gone), "{}: {}", self.told(), done.err);
    }

    /// The words of a command.
    fn arguments(&self, op: Op) -> Vec<String> {
        let ingest = |framework: usize, content: Content| {
            let mut words = vec!["ingest".to_owned(), self.logs[content.log].clone()];
            words.extend(content.cpu.map(|cpu| self.cpu[cpu].clone()));
            words.extend(["--framework", FRAMEWORKS[framework], "--test", "t"].map(str::to_owned));
            words.extend((!content.samples).then(|| "--no-samples".to_owned()));
            words
        };
        let more = |mut words: Vec<String>, more: &[&str]| {
            words.extend(more.iter().map(|word| (*word).to_owned()));
            words
        };
        match op {
            Op::Ingest((framework, repeat), content) => {
                more(ingest(framework, content), &["--repeat", &repeat.to_string()])
            }
            Op::Append(framework, content) => more(ingest(framework, content), &["--append-repeat"]),
            Op::Named(deed, name, confirmed) => {
                let words = match deed {
                    Deed::Attach(cpu) => vec!["attach-cpu".into(), text(name), self.cpu[cpu].clone()],
                    Deed::Copy => {
                        let to = ["--to", self.other.place(), "--replace"];
                        more(vec!["copy".into(), text(name)], &to)
                    }
                    Deed::Drop => vec!["drop".into(), text(name)],
                    Deed::Rename => {
                        let (Name::All(framework) | Name::One((framework, _))) = name;
                        let new = ["--framework", FRAMEWORKS[1 - framework], "--replace"];
                        more(vec!["rename".into(), text(name)], &new)
                    }
                };
                if confirmed { more(words, &["--yes"]) } else { words }
            }
        }
    }

    /// Runs a command, held up at random before its locks, renames and connections, and kills it at a random step if it is
    /// to be killed.
    fn run(&self, op: Op, seed: u64, kill: bool) -> Ended {
        let words = self.arguments(op);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (status, err) = self.held_up(&words, seed, kill);
        match status {
            Some(0) => Ended::Done,
            None => {
                self.store.wait_for_killed_writers();
                Ended::Killed
            }
            Some(2) if err.contains(" would be ") => Ended::Asked,
            Some(code) => {
                let refused = code == 1 && REFUSALS.iter().any(|refusal| err.contains(refusal));
                assert!(refused, "{}: {op:?}: {code}: {err}", self.told());
                Ended::Failed
            }
        }
    }

    /// The exit code of a command, none if it was killed, and what it said.
    fn held_up(&self, words: &[&str], seed: u64, kill: bool) -> (Option<i32>, String) {
        let random = RefCell::new(Random::new(seed));
        let last = kill.then(|| random.borrow_mut().below(60) as usize);
        let turn = |step: &Step| {
            let waits = step.renames() || matches!(step.call, "flock" | "connect");
            if waits && random.borrow_mut().below(3) == 0 {
                let wait = random.borrow_mut().below(40);
                std::thread::sleep(Duration::from_millis(wait));
            }
            if Some(step.nth) == last { Turn::Kill } else { Turn::GoOn }
        };
        let command = self.store.command(words);
        match trace(&command, turn) {
            Ok(traced) => (traced.status.code(), traced.err),
            // Where none can be traced, it is neither held up nor killed.
            Err(_) => {
                let done = self.store.run(words);
                (done.code, done.err)
            }
        }
    }

    /// What the stores hold; every run is whole, and as its log and CPU export say.
    fn observe(&self) -> Stores {
        let hold = |store: &Store| self.hold(store);
        Stores { main: hold(&self.store), other: hold(&self.other) }
    }

    fn hold(&self, store: &Store) -> BTreeMap<Key, Content> {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let held = runtime.block_on(async {
            let opened = match store.is_database() {
                true => Opened::database(PostgresConfig::resolve(store.place(), &|_| None).unwrap())
                    .await
                    .unwrap(),
                false if store.place().contains("://") => {
                    ParquetStore::open_bucket(store.place(), &store.settings()).unwrap().into()
                }
                false => Opened::folder(store.place().into()).unwrap(),
            };
            let found = opened.look().await.unwrap();
            assert!(found.unread.is_empty(), "{}: {:?}", self.told(), found.unread);
            let mut held = BTreeMap::new();
            for info in found.runs {
                let faults = opened.verify(&info.key, &Progress::default()).await.unwrap();
                assert!(faults.is_empty(), "{}: {}: {faults:?}", self.told(), info.key);
                let run = opened.read(&info.key).await.unwrap();
                let content = content(&info);
                let elapsed: Vec<i32> = run
                    .cells
                    .iter()
                    .flat_map(|cell| cell.unwrap().1.elapsed)
                    .map(|(value, _)| value)
                    .collect();
                assert!(
                    elapsed.iter().all(|value| *value == 10 * (content.log as i32 + 1)),
                    "{}",
                    self.told()
                );
                assert_eq!(info.successes as i64, LOGS[content.log], "{}", self.told());
                let value = run.cpu.readings().first().map(|(_, value)| *value as usize);
                assert_eq!(value, content.cpu, "{}", self.told());
                let framework = FRAMEWORKS.iter().position(|name| *name == info.key.framework).unwrap();
                held.insert((framework, info.key.repeat), content);
            }
            held
        });
        runtime.shutdown_background();
        held
    }

    /// Any run that is stored.
    fn any(&mut self) -> Option<(Key, Content)> {
        let runs: Vec<(Key, Content)> = self.now.main.iter().map(|(key, content)| (*key, *content)).collect();
        if runs.is_empty() { None } else { Some(runs[self.below(runs.len())]) }
    }

    /// Runs the repair, which may be killed and is then begun again.
    fn repair(&mut self) -> Done {
        self.commands += 1;
        self.count("repair");
        if self.below(2) == 0 {
            let seed = self.random.bits();
            self.history.push("repair, killed".into());
            self.held_up(&["repair"], seed, true);
            self.store.wait_for_killed_writers();
        }
        self.store.run(&["repair"])
    }

    /// Damages a run, finds the damage, and repairs it.
    fn damage(&mut self) {
        let Some((key, content)) = self.any() else { return };
        let recounted = match self.store.is_database() {
            true => self.damage_database(key),
            false => self.damage_folder(key),
        };
        self.commands += 2;
        self.count("damage");
        self.count("verify");
        let done = self.store.run(&["verify", "--format", "json"]);
        assert_eq!(done.code, Some(3), "{}: {}", self.told(), done.err);
        let rows = done.rows_anyway();
        let damaged: Vec<_> = rows.iter().filter(|row| row["whole"] == false).collect();
        assert_eq!(damaged.len(), 1, "{}: {rows:?}", self.told());
        let done = self.repair();
        if !(recounted && content.samples) {
            self.now.main.remove(&key);
            if self.store.is_database() {
                assert!(done.code == Some(1) && done.err.contains("left as it is"), "{}", done.err);
                let drop = self.arguments(Op::Named(Deed::Drop, Name::One(key), false));
                self.store.run(&drop.iter().map(String::as_str).collect::<Vec<_>>()).said();
            }
        }
        assert!(self.store.is_database() || done.code == Some(0), "{}: {}", self.told(), done.err);
        assert_eq!(self.observe(), self.now, "{}", self.told());
    }

    /// Whether counts alone are damaged.
    fn damage_database(&mut self, (framework, repeat): Key) -> bool {
        let run = format!(
            "(select run from perfpipe.runs where framework = '{}' and repeat = {repeat})",
            FRAMEWORKS[framework]
        );
        let counts = self.below(3) > 0;
        let sql = match counts {
            true => format!("delete from perfpipe.seconds where second = 1 and run = {run}"),
            false => format!("update perfpipe.runs set successes = successes + 1 where run = {run}"),
        };
        self.history.push(sql.clone());
        psql(self.store.place(), &sql);
        counts
    }

    /// Whether counts alone are damaged.
    fn damage_folder(&mut self, key: Key) -> bool {
        let run = self.folder(key);
        let manifest: serde_json::Value =
            serde_json::from_slice(&std::fs::read(run.join("manifest.json")).unwrap()).unwrap();
        // Where a writer was killed, beside those of the run before.
        let name = manifest["run"]["generation"].as_str().unwrap();
        let staged = Path::new(self.store.place()).join("staging").join(name);
        let generation = if staged.is_dir() { staged } else { run.join(name) };
        let mut files = entries(&generation);
        files.push(run.join("manifest.json"));
        files.retain(|path| path.metadata().unwrap().len() > 0 && !path.ends_with(".lock"));
        let path = files[self.below(files.len())].clone();
        let mut bytes = std::fs::read(&path).unwrap();
        let at = self.below(bytes.len());
        self.history.push(format!("byte {at} of {} is damaged", path.display()));
        if path.ends_with("manifest.json") {
            // Spaces between the fields of a manifest may be changed without harm.
            bytes.truncate(at);
        } else {
            bytes[at] ^= 1 << self.below(8);
        }
        std::fs::write(&path, bytes).unwrap();
        path.ends_with("seconds.parquet") || path.ends_with("labels.parquet")
    }

    fn folder(&self, (framework, repeat): Key) -> PathBuf {
        let name = ["go+t", "%47o+t"][framework];
        let name = if repeat == 1 { name.to_owned() } else { format!("{name}+{repeat}") };
        Path::new(self.store.place()).join("runs").join(name)
    }

    /// Renames the folder of a run, as somebody might by hand; another run may take its place before the repair.
    fn move_by_hand(&mut self) {
        let Some((key, _)) = self.any() else { return };
        let run = self.folder(key);
        let to = run.with_file_name(["go+t.bak", "go+other"][self.below(2)]);
        self.history.push(format!("{} is moved to {}", run.display(), to.display()));
        std::fs::rename(&run, &to).unwrap();
        self.count("move");
        let done = self.store.run(&["list"]);
        assert!(
            done.code == Some(1) && done.err.contains(to.to_str().unwrap()),
            "{}: {}",
            self.told(),
            done.err
        );
        if self.below(2) == 0 {
            let content = self.content();
            let ingest = self.arguments(Op::Ingest(key, content));
            self.store.run(&ingest.iter().map(String::as_str).collect::<Vec<_>>()).said();
            self.now.main.insert(key, content);
        }
        self.commands += 2;
        let done = self.repair();
        assert_eq!(done.code, Some(0), "{}: {}", self.told(), done.err);
        assert_eq!(self.observe(), self.now, "{}", self.told());
    }

    /// After one more command, nothing is left of those that were killed.
    fn end(&mut self) {
        let content = self.content();
        let ingest = self.arguments(Op::Ingest((0, 1), content));
        self.store.run(&ingest.iter().map(String::as_str).collect::<Vec<_>>()).said();
        self.now.main.insert((0, 1), content);
        assert_eq!(self.observe(), self.now, "{}", self.told());
        assert_eq!(self.store.leftovers(), [""; 0], "{}", self.told());
    }
}

/// A name as it is written.
fn text(name: Name) -> String {
    match name {
        Name::All(framework) => format!("{}_t", FRAMEWORKS[framework]),
        Name::One((framework, repeat)) => format!("{}_t#{repeat}", FRAMEWORKS[framework]),
    }
}

/// What is in a folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// What a run says that it was made from.
fn content(info: &RunInfo) -> Content {
    let number = |kind: &str| {
        let source = info.sources.iter().find(|source| source.kind.name() == kind)?;
        source.file.split(['-', '.']).nth(1)?.parse::<usize>().ok()
    };
    Content { log: number("log").unwrap(), cpu: number("cpu"), samples: info.samples_stored }
}
