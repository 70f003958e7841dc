//! Rounds in which sixteen writers race for one key, and then for sixteen keys.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use super::readers::Readers;
use crate::support::*;
use crate::tools::answers::Answers;

/// The number of writers.
const WRITERS: usize = 16;

/// Of so many writers one is killed, and of so many answers to requests that write one is lost.
const KILLED: usize = 4;
const LOST: usize = 97;

/// The test whose runs all writers replace.
const RACE: &str = "race";

/// The log of a writer: none has as many requests as another.
fn log(writer: usize) -> String {
    let line = |at: usize| {
        format!("{},{},Get,{}\n", 1_795_203_738_615_usize + 100 * at, 5 + at + writer, !at.is_multiple_of(7))
    };
    format!("timeStamp,elapsed,label,success\n{}", (0..requests(writer)).map(line).collect::<String>())
}

fn requests(writer: usize) -> usize {
    100 + 10 * writer
}

fn run_of(test: &str) -> [&str; 4] {
    ["--framework", "go", "--test", test]
}

/// What is exported of the run of a test.
fn exports(store: &Store, test: &str) -> [String; 3] {
    ["samples", "seconds", "errors"].map(|what| store.export(&Key::new("go", test), what, "csv", &[]))
}

/// What became of the writers.
#[derive(Debug, Default)]
struct Ends {
    stored: usize,
    refused: usize,
    failed: usize,
    killed: usize,
}

/// The bucket, by the way on which answers are lost and by the direct one, with the logs.
struct Trial {
    direct: Store,
    lossy: Store,
    logs: Vec<String>,
    /// What a run of each log exports.
    whole: Vec<[String; 3]>,
    random: u64,
    ends: Ends,
    /// How long a writer takes about.
    takes: Duration,
}

impl Trial {
    fn new(server: &BucketServer, answers: &Answers) -> Self {
        let flag = ["--store".to_owned(), format!("s3://{}/runs", server.new_bucket())];
        let direct = Store { environment: server.environment(), ..Store::at(flag.clone()) };
        let lossy = Store { environment: bucket_environment(&answers.host), ..Store::at(flag) };
        let logs: Vec<String> = (0..WRITERS).map(|n| direct.file(&format!("{n}.csv"), log(n))).collect();
        let mut whole = Vec::new();
        for log in &logs {
            let embedded = Store::embedded();
            embedded.run(&[&["ingest", log][..], &run_of(RACE)].concat()).said();
            whole.push(exports(&embedded, RACE));
        }
        let begun = Instant::now();
        for test in (0..WRITERS).map(|n| format!("t{n}")).chain([RACE.to_owned()]) {
            direct.run(&[&["ingest", &logs[0]][..], &run_of(&test)].concat()).said();
        }
        let takes = begun.elapsed() / 2;
        Self { direct, lossy, logs, whole, random: 7, ends: Ends::default(), takes }
    }

    /// The next random number below a limit.
    fn below(&mut self, limit: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33) % limit
    }

    /// Lets the writers race, each for the test that `test` names, and kills some of them. Returns the logs of those that
    /// may have stored a run.
    fn race(&mut self, round: usize, test: impl Fn(usize) -> String) {
        let begin = |writer: usize| {
            let log = &self.logs[(writer + round) % WRITERS];
            let test = test(writer);
            self.lossy.spawn(&[&["ingest", log][..], &run_of(&test)].concat())
        };
        let writers: Vec<_> = (0..WRITERS).map(begin).collect();
        let mut kills: Vec<_> = (0..WRITERS / KILLED).map(|n| (self.moment(), n * KILLED)).collect();
        kills.sort_unstable();
        let begun = Instant::now();
        for (moment, writer) in kills {
            std::thread::sleep(moment.saturating_sub(begun.elapsed()));
            signal("KILL", writers[writer].id());
        }
        for done in writers.into_iter().map(finish) {
            match (done.code, done.err.contains("another perfpipe")) {
                (Some(0), _) => self.ends.stored += 1,
                (Some(1), true) => self.ends.refused += 1,
                (Some(1), false) => {
                    assert_told(&done.err, &["bucket"]);
                    self.ends.failed += 1;
                }
                (None, _) => self.ends.killed += 1,
                _ => panic!("{done:?}"),
            }
        }
        self.takes = (self.takes + begun.elapsed()) / 2;
    }

    /// A moment at which a writer may be anywhere.
    fn moment(&mut self) -> Duration {
        let most = u64::try_from(self.takes.as_millis()).unwrap();
        Duration::from_millis(self.below(most + 1))
    }

    /// Each key has one whole run, and nothing else is left once it is swept.
    fn check(&self, bucket: &Path) {
        let tests: Vec<String> = (0..WRITERS).map(|n| format!("t{n}")).chain([RACE.to_owned()]).collect();
        let keys: BTreeSet<String> = self.direct.keys().into_iter().collect();
        assert_eq!(keys, tests.iter().map(|test| format!("go {test}")).collect());
        assert_eq!(self.direct.list().len(), tests.len());
        let race = exports(&self.direct, RACE);
        assert!(self.whole.contains(&race), "{race:?}");
        for test in &tests {
            let samples = self.direct.export(&Key::new("go", test), "samples", "csv", &[]);
            assert!(self.whole.iter().any(|[whole, ..]| *whole == samples), "{test}: {samples}");
        }
        self.direct.run(&["repair", "--keep-for", "0s", "--force"]).said();
        assert_told(
            &self.direct.run(&["repair", "--keep-for", "0s", "--force"]).said(),
            &["nothing is damaged"],
        );
        self.direct.run(&["verify"]).text();
        let generations: BTreeSet<String> = generations(bucket);
        assert_eq!(generations.len(), tests.len(), "{generations:?}");
    }
}

/// The generations of which there is any object in a bucket, but for uploads that were never completed.
fn generations(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !name.starts_with(".sgwtmp") {
            found.extend(generations(&path));
        } else if let Some(generation) =
            path.to_str().unwrap().split(['/', '=', '.']).find(|part| part.starts_with("run-"))
        {
            found.insert(generation.to_owned());
        }
    }
    found
}

/// Runs rounds while these programs read.
fn run_rounds(rounds: usize, engines: &[&str]) {
    let server = BucketServer::versitygw();
    let answers = Answers::new(&server.host, LOST);
    let mut trial = Trial::new(&server, &answers);
    let figures: Vec<(usize, usize)> = (0..WRITERS)
        .map(|writer| (requests(writer), (0..requests(writer)).map(|at| 5 + at + writer).sum()))
        .collect();
    let mut readers = Readers::start(engines, &server.host, &trial.direct, RACE, &figures);
    let begun = Instant::now();
    let mut read = String::new();
    for round in 1..=rounds {
        readers.begin();
        trial.race(round, |_| RACE.to_owned());
        trial.race(round, |writer| format!("t{writer}"));
        read = readers.end();
        let raced = begun.elapsed();
        trial.check(server.folder());
        eprintln!(
            "round {round} of {rounds}, {} s, {} of them to check: {:?}, answers lost: {}; reads: {read}",
            begun.elapsed().as_secs(),
            (begun.elapsed() - raced).as_secs(),
            trial.ends,
            answers.lost(),
        );
    }
    assert!(!read.contains(" 0 ("), "a program has read nothing: {read}");
}

/// The number of rounds that are wanted.
fn wanted() -> usize {
    std::env::var("PERFPIPE_TRIAL_ROUNDS").map_or(100, |told| told.parse().unwrap())
}

#[test]
#[ignore = "takes as long as PERFPIPE_TRIAL_ROUNDS says, else 100 rounds: .ci/long bucket"]
fn writers_race_for_a_bucket_whose_answers_are_lost_while_others_read() {
    run_rounds(wanted(), &["DuckDB", "delta-rs", "ClickHouse"]);
}

/// A cluster of two workers takes most of a small machine: a tenth of the rounds, and those that it begins in.
#[test]
#[ignore = "takes as long as PERFPIPE_TRIAL_ROUNDS says, else 100 rounds: .ci/long bucket"]
fn writers_race_for_a_bucket_whose_answers_are_lost_while_spark_reads() {
    run_rounds(wanted() / 10 + 2, &["Spark"]);
}
