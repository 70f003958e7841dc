//! Commands between whose steps a run is replaced: what they store and tell is of one run, never of two.

use crate::postgres::required::skip;
use crate::support::*;
use crate::tools::tracer::{Step, Traced, Turn, trace};

const KEY: [&str; 4] = ["--framework", "nio", "--test", "2048"];

/// A log of as many requests as any other of these, each of which took so many ms.
fn log(store: &Store, elapsed: u32) -> String {
    let record = |at: i64| format!("{},{elapsed},Get,true,4\n", 1_795_000_000_250 + at * 20);
    let log: String = (0..500).map(record).collect();
    store.file("log.csv", format!("timeStamp,elapsed,label,success,allThreads\n{log}"))
}

fn ingest(store: &Store, elapsed: u32, more: &[&str]) {
    store.run(&[&["ingest", &log(store, elapsed)], &KEY[..], more].concat()).said();
}

fn cpu(store: &Store) -> String {
    let readings: String = (0..15).map(|at| format!("{},{at}\n", 1_794_999_998 + at)).collect();
    store.file("cpu.csv", format!("clock,value\n{readings}"))
}

/// All that there is of the run; its samples only where they were kept.
fn all_of(store: &Store, samples: bool) -> Vec<String> {
    let key = Key::new("nio", "2048");
    let mut all: Vec<String> = ["seconds", "errors", "cpu", "labels", "rejects", "summary"]
        .map(|what| store.export(&key, what, "csv", &[]))
        .into();
    if samples {
        all.extend(store.samples(&key, &[]).iter().map(|row| row.iter().collect::<Vec<_>>().join(",")));
    }
    all
}

/// Runs a command that is held up at one of its steps while something else is done; `None`, with a note, where none can
/// be traced.
fn held_up(
    store: &Store,
    arguments: &[&str],
    at: impl Fn(&Step) -> bool,
    meanwhile: impl FnOnce(),
) -> Option<Traced> {
    let mut meanwhile = Some(meanwhile);
    let traced = trace(&store.command(arguments), |step| {
        if meanwhile.is_some() && at(step) {
            meanwhile.take().unwrap()();
        }
        Turn::GoOn
    });
    match traced {
        Ok(traced) => {
            assert!(meanwhile.is_none(), "it never came to that step: {}", traced.err);
            Some(traced)
        }
        Err(error) => {
            skip("PTRACE", format!("no process can be traced here ({error})"));
            None
        }
    }
}

/// The step in which a writer, having read what is stored, claims its key.
fn claims(store: &Store) -> impl Fn(&Step) -> bool {
    let connections = std::cell::Cell::new(0);
    let database = store.is_database();
    move |step: &Step| match step.call {
        "connect" if database => connections.replace(connections.get() + 1) == 1,
        call => !database && (call == "flock" || call == "openat"),
    }
}

#[test]
fn readings_are_attached_to_the_run_that_is_stored_and_no_other() {
    for more in [&[][..], &["--no-samples"]] {
        for (store, expected) in Store::each().into_iter().zip(Store::each()) {
            let all = |store: &Store| all_of(store, more.is_empty());
            ingest(&expected, 20, more);
            let without = all(&expected);
            expected.run(&["attach-cpu", "nio_2048", &cpu(&expected)]).said();
            let with = all(&expected);
            ingest(&store, 10, more);
            let attach = ["attach-cpu", "nio_2048", &cpu(&store)];
            let replace = || ingest(&store, 20, more);
            let Some(traced) = held_up(&store, &attach, claims(&store), replace) else { return };
            let wanted = if traced.status.success() { with } else { without };
            assert!(all(&store) == wanted, "{}", traced.err);
            assert_eq!(store.leftovers(), [""; 0]);
        }
    }
}

#[test]
fn copy_of_a_run_that_is_replaced_meanwhile_is_of_one_of_the_two() {
    for from in Store::each() {
        ingest(&from, 10, &[&cpu(&from)]);
        let old = all_of(&from, true);
        let to = Store::embedded();
        let copy = ["copy", "nio_2048", "--to", to.place()];
        // The first thing that is made is the other store: by then the run's counts have been read.
        let made = |step: &Step| step.is_of(to.place());
        let Some(traced) = held_up(&from, &copy, made, || ingest(&from, 20, &[])) else { return };
        assert!(traced.status.success(), "{}", traced.err);
        let (new, copied) = (all_of(&from, true), all_of(&to, true));
        assert!(new != old && (copied == old || copied == new), "{}", traced.err);
    }
}
