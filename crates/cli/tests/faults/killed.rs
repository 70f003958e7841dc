//! SIGKILL at random moments of an ingest, by file and by pipe, over an earlier run and into an empty store.

use std::time::{Duration, Instant};

use crate::random::Random;
use crate::support::*;
use crate::trial::{TOLD, exports, ingested, samples, start};

/// Kills a store.
const KILLS: usize = 60;

/// What became of the ingests.
#[derive(Debug, Default)]
struct Tally {
    killed: usize,
    ended_before: usize,
    /// What was stored then: the run before, the new run, or none where there was none.
    earlier: usize,
    new: usize,
    none: usize,
}

#[test]
#[ignore = "takes minutes"]
fn kills_in_a_folder() {
    trial(&Store::embedded(), 1);
}

#[test]
#[ignore = "takes minutes"]
fn kills_in_a_database() {
    if let Some(store) = Store::database() {
        trial(&store, 2);
    }
}

fn trial(store: &Store, seed: u64) {
    let logs =
        ["Results-2048-9000.csv.zip", "outage.csv.zip"].map(|name| fixture(name).display().to_string());
    let runs = [0, 1].map(|at| (ingested(store, &logs[at]), samples(store)));
    let begun = Instant::now();
    ingested(store, &logs[0]);
    let usual = begun.elapsed();
    let (mut random, mut tally) = (Random::new(seed), Tally::default());
    while tally.killed < KILLS {
        if random.below(4) == 0 && !store.list().is_empty() {
            store.run(&[&["drop"], &TOLD[..]].concat()).said();
        }
        let before = stored(store, &runs);
        let wait = usual.mul_f64(random.share() * 1.1);
        kill(store, &logs[random.below(2) as usize], random.below(2) == 0, wait, &mut tally);
        let now = stored(store, &runs);
        match (now == before, now) {
            (true, Some(_)) => tally.earlier += 1,
            (true, None) => tally.none += 1,
            (false, now) => {
                assert!(now.is_some(), "after {wait:?} the earlier run is lost");
                tally.new += 1;
            }
        }
    }
    ingested(store, &logs[0]);
    assert_eq!(stored(store, &runs), Some(0));
    assert_eq!(store.leftovers(), Vec::<String>::new());
    eprintln!("kills in {}: {tally:?}; no run was lost or half there, nothing was left over", store.flag[0]);
}

/// Which of the runs is stored, whole.
fn stored(store: &Store, runs: &[(Vec<String>, usize)]) -> Option<usize> {
    if store.list().is_empty() {
        return None;
    }
    let now = (exports(store), samples(store));
    Some(runs.iter().position(|run| *run == now).expect("the run is one of those that were ingested"))
}

fn kill(store: &Store, log: &str, piped: bool, wait: Duration, tally: &mut Tally) {
    let mut child = start(store, log, piped);
    std::thread::sleep(wait);
    // It may have ended already.
    child.kill().unwrap();
    let done = finish(child);
    match done.code {
        None => tally.killed += 1,
        Some(code) => {
            assert_eq!(code, 0, "{}", done.err);
            tally.ended_before += 1;
        }
    }
    store.wait_for_killed_writers();
}
