//! Several commands on one store at once, and kills at any moment: whoever reads, reads a whole run.

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use crate::support::*;

/// The exports that a reader can't take for another run's.
fn exports(store: &Store) -> [String; 2] {
    let key = Key::new("nio", "2048");
    ["seconds", "summary"].map(|what| store.export(&key, what, "csv", &[]))
}

fn ingest<'a>(log: &'a str, framework: &'a str) -> [&'a str; 6] {
    ["ingest", log, "--framework", framework, "--test", "2048"]
}

/// Two logs that can take each other's place.
fn two_logs() -> [String; 2] {
    ["Results-flaky-8181.csv", "crlf.csv"].map(|name| fixture(name).to_str().unwrap().to_owned())
}

/// The exports that the two logs give.
fn two_runs(store: &Store) -> [[String; 2]; 2] {
    two_logs().map(|log| {
        store.run(&ingest(&log, "nio")).said();
        exports(store)
    })
}

#[test]
fn fresh_store_takes_several_runs_at_once() {
    let [_, log] = two_logs();
    let frameworks = ["a", "b", "c", "d"];
    for store in Store::each() {
        let children = frameworks.map(|framework| store.spawn(&ingest(&log, framework)));
        for child in children {
            finish(child).said();
        }
        assert_eq!(store.keys(), frameworks.map(|framework| format!("{framework} 2048")));
        assert!(store.list().iter().all(|run| count(run, "requests") == 200));
        assert_eq!(store.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn reader_sees_the_old_run_or_the_new_one_never_a_mixture() {
    for store in Store::each() {
        let runs = two_runs(&store);
        let logs = two_logs();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for log in logs.iter().cycle().take(8) {
                    store.run(&ingest(log, "nio")).said();
                }
            });
            while !writer.is_finished() {
                let [seconds, summary] = exports(&store);
                assert!(runs.iter().any(|run| run[0] == seconds), "{seconds}");
                assert!(runs.iter().any(|run| run[1] == summary), "{summary}");
            }
        });
    }
}

#[test]
fn kill_at_any_moment_leaves_one_run_whole() {
    for store in Store::each() {
        let runs = two_runs(&store);
        let logs = two_logs();
        for (log, wait) in logs.iter().cycle().zip((0..24).map(|step| Duration::from_millis(step * 5))) {
            let mut command = store.command(&ingest(log, "nio"));
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(wait);
            // It may have ended already.
            child.kill().unwrap();
            child.wait().unwrap();
            store.wait_for_killed_writers();
            let now = exports(&store);
            assert!(runs.contains(&now), "after {wait:?}: {now:?}");
        }
        store.run(&ingest(&logs[0], "nio")).said();
        assert_eq!(exports(&store), runs[0]);
        assert_eq!(store.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn two_ingests_of_one_file_at_once_leave_one_run_whole() {
    for store in Store::each() {
        let [log, _] = two_logs();
        for _ in 0..3 {
            // The key is inferred at the end: whoever comes second replaces the first, or is told.
            let children = [0, 1].map(|_| store.spawn(&["ingest", &log, "--framework", "nio"]));
            let ended = children.map(finish);
            for done in &ended {
                let told = done.err.contains("another perfpipe") && done.code == Some(1);
                assert!(done.code == Some(0) || told, "{}", done.err);
            }
            assert!(ended.iter().any(|done| done.code == Some(0)));
            assert_eq!(store.list().len(), 1);
            assert_eq!(count(&store.list()[0], "requests"), 5187);
            store.wait_for_killed_writers();
            assert_eq!(store.leftovers(), Vec::<String>::new());
        }
    }
}

#[test]
fn report_during_a_re_ingest_is_of_one_run() {
    for store in Store::each() {
        let logs = two_logs();
        let report = |folder: &str| {
            let flags = ["--framework", "nio", "--test", "2048", "--format", "svg", "--out", folder];
            store.run(&[&["report"], &flags[..]].concat()).text();
            let folder = store.folder.path().join(folder);
            let mut pages: Vec<_> =
                std::fs::read_dir(folder).unwrap().map(|page| page.unwrap().path()).collect();
            pages.sort();
            pages.iter().map(|page| std::fs::read_to_string(page).unwrap()).collect::<Vec<_>>()
        };
        let whole = [0, 1].map(|at| {
            store.run(&ingest(&logs[at], "nio")).said();
            report(&format!("page-{at}"))
        });
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for log in logs.iter().cycle().take(4) {
                    store.run(&ingest(log, "nio")).said();
                }
            });
            let mut number = 0;
            while !writer.is_finished() {
                number += 1;
                assert!(whole.contains(&report(&format!("during-{number}"))));
            }
        });
    }
}

#[test]
fn run_that_is_being_written_is_not_dropped() {
    for store in Store::each() {
        let [log, _] = two_logs();
        store.run(&ingest(&log, "nio")).said();
        let before = exports(&store);
        let mut child = store.spawn(&ingest("-", "nio"));
        child.stdin.as_mut().unwrap().write_all(&std::fs::read(&log).unwrap()).unwrap();
        wait_for("a writer is at work", || store.writers() > 0);
        if !store.is_database() {
            let complaint = store.run(&["drop", "--framework", "nio", "--test", "2048"]).complaint(1);
            assert!(complaint.contains("nio_2048") && complaint.contains("another perfpipe"), "{complaint}");
        }
        assert_eq!(exports(&store), before);
        child.kill().unwrap();
        child.wait().unwrap();
        store.wait_for_killed_writers();
        store.run(&["drop", "--framework", "nio", "--test", "2048"]).said();
        assert!(store.list().is_empty());
        store.run(&ingest(&log, "nio")).said();
        assert_eq!(store.leftovers(), Vec::<String>::new());
    }
}
