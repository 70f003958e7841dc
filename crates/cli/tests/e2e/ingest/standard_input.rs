//! Standard input: plain, zipped, and zipped by a pipe.

use zip::CompressionMethod;

use crate::support::*;
use crate::zips::{Descriptor, deflated, described, options, streamed};

/// A run through a pipe, and the same by file, both named alike: what they store must be the same.
fn assert_same_as_by_file(fixture: &Fixture, input: &[u8]) {
    for store in Store::each() {
        let log = &fixture.logs()[0];
        let cpu = fixture.cpu(log).unwrap();
        store.run(&["ingest", log, &cpu, "--framework", "by", "--test", "file"]).said();
        let said = store.pipe(input, &["ingest", "-", &cpu, "--framework", "by", "--test", "pipe"]).said();
        assert!(said.contains("by_pipe"), "{said}");
        for what in ["seconds", "errors", "cpu", "labels"] {
            let by = |test| store.export(&Key::new("by", test), what, "csv", &[]);
            assert!(by("file") == by("pipe"), "{what} of {}", fixture.name());
        }
        let (file, pipe) = (store.list()[0].clone(), store.list()[1].clone());
        for what in ["t0_ms", "seconds", "requests", "failures", "rejects"] {
            assert_eq!(file[what], pipe[what], "{what} of {}", fixture.name());
        }
    }
}

#[test]
fn zip_through_a_pipe_is_the_zip() {
    for name in ["Results-2048-9000.csv", "Results-flaky-8181.csv", "outage.csv"] {
        let zip = std::fs::read(fixture(&format!("{name}.zip"))).unwrap();
        assert_same_as_by_file(&Fixture::named(name), &zip);
    }
}

#[test]
fn plain_log_through_a_pipe_is_the_log() {
    for name in ["Results-flaky-8181.csv", "Results-mix-8181.noheader.csv", "Results-2048-8181.killed.csv"] {
        assert_same_as_by_file(&Fixture::named(name), &std::fs::read(fixture(name)).unwrap());
    }
}

#[test]
fn zip_made_by_a_pipe_is_read_through_one_and_from_a_file() {
    let fixture = Fixture::named("Results-flaky-8181.csv");
    let log = std::fs::read(&fixture.logs()[0]).unwrap();
    let nameless = ("-", log.as_slice());
    let forms = [
        streamed(&[nameless], options(CompressionMethod::Deflated)),
        described(nameless, Descriptor { signed: false, wide: false }),
        described(nameless, Descriptor { signed: true, wide: true }),
    ];
    for zip in forms {
        assert_same_as_by_file(&fixture, &zip);
    }
    let store = Store::embedded();
    let path = store.file("nio_flaky.zip", streamed(&[nameless], options(CompressionMethod::Deflated)));
    store.run(&["ingest", &path]).said();
    assert_eq!(count(&store.list()[0], "requests"), 5187);
    assert_eq!(store.keys(), ["nio flaky"]);
}

#[test]
fn piped_zip_may_hold_the_cpu_export_before_the_log_but_not_behind_it() {
    let fixture = Fixture::named("Results-flaky-8181.csv");
    let log = std::fs::read(&fixture.logs()[0]).unwrap();
    let cpu_path = fixture.cpu(&fixture.logs()[0]).unwrap();
    let cpu = std::fs::read(&cpu_path).unwrap();
    let (log, cpu) = (("run.csv", log.as_slice()), ("cpu.csv", cpu.as_slice()));
    for store in Store::each() {
        let told = ["ingest", "-", "--framework", "nio", "--test", "flaky"];
        let complaint = store.pipe(&deflated(&[log, cpu]), &told).complaint(3);
        assert!(complaint.contains("standard input, member cpu.csv"), "{complaint}");
        assert!(complaint.contains("beside -"), "{complaint}");
        assert!(store.list().is_empty());

        for zip in [deflated(&[cpu, log]), streamed(&[cpu, log], options(CompressionMethod::Deflated))] {
            store.pipe(&zip, &told).said();
            let summary = store.summary(&store.only_key(), &[]);
            assert_eq!((count(&summary, "successes"), count(&summary, "failures")), (4866, 321));
            assert_eq!(summary["cpu_coverage"], 1);
        }

        // The remedy helps: with the CPU file named, the one in the zip is passed over.
        let said = store.pipe(&deflated(&[log, cpu]), &[&told[..], &[&cpu_path]].concat()).said();
        assert!(said.contains("100.0 % of the seconds have a reading"), "{said}");
    }
}

#[test]
fn cpu_export_can_come_through_the_pipe() {
    let fixture = Fixture::named("Results-flaky-8181.csv");
    let log = &fixture.logs()[0];
    let cpu = std::fs::read(fixture.cpu(log).unwrap()).unwrap();
    let store = Store::embedded();
    store.pipe(&cpu, &["ingest", log, "-"]).said();
    assert_eq!(store.summary(&store.only_key(), &[])["cpu_coverage"], 1);
}

#[test]
fn empty_pipe_is_refused() {
    for store in Store::each() {
        let complaint = store.pipe(b"", &["ingest", "-"]).complaint(3);
        assert_told(&complaint, &["standard input", "empty"]);
        assert!(store.list().is_empty());
    }
}

#[test]
fn named_pipe_is_opened_once() {
    let store = Store::embedded();
    let path = store.folder.path().join("run.csv");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let bytes = std::fs::read(fixture("crlf.csv")).unwrap();
    let arguments = ["ingest", path.to_str().unwrap(), "--framework", "by", "--test", "fifo"];
    // Who opens it only to look at it loses what is written then, if the writer is quick.
    for _ in 0..40 {
        let (fifo, bytes) = (path.clone(), bytes.clone());
        let writer = std::thread::spawn(move || std::fs::write(fifo, bytes));
        store.run(&arguments).said();
        writer.join().unwrap().unwrap();
    }
}
