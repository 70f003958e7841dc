//! Packed files: zips that hold everything, gzip and zstd, and gzip by the name of zip.

use crate::support::*;
use crate::zips::{deflated, gzip, zstd};

fn flaky() -> (Vec<u8>, Vec<u8>) {
    let fixture = Fixture::named("Results-flaky-8181.csv");
    let log = &fixture.logs()[0];
    (std::fs::read(log).unwrap(), std::fs::read(fixture.cpu(log).unwrap()).unwrap())
}

fn assert_is_flaky(store: &Store, cpu_coverage: i64) {
    let summary = store.summary(&store.only_key(), &[]);
    assert_eq!((count(&summary, "successes"), count(&summary, "failures")), (4866, 321));
    assert_eq!(summary["cpu_coverage"], cpu_coverage);
}

#[test]
fn zip_can_hold_the_log_and_the_cpu_export_in_any_order() {
    let (log, cpu) = flaky();
    let (log, cpu) = (("run/log.jtl", log.as_slice()), ("run/zabbix.csv", cpu.as_slice()));
    let companion = ("__MACOSX/run/._log.jtl", b"\0\x05\x16\x07".as_slice());
    for members in [vec![log, cpu], vec![cpu, log], vec![companion, ("run/", b""), log, cpu]] {
        for store in Store::each() {
            let path = store.file("nio_flaky.zip", deflated(&members));
            store.run(&["ingest", &path]).said();
            assert_is_flaky(&store, 1);
            assert_eq!(store.keys(), ["nio flaky"]);
        }
    }
}

#[test]
fn files_are_known_by_content_in_any_order_and_by_any_name() {
    let (log, cpu) = flaky();
    let store = Store::embedded();
    let (log, cpu) = (store.file("cpu.csv", log), store.file("log.txt", cpu));
    store.run(&["ingest", &cpu, &log]).said();
    assert_is_flaky(&store, 1);
}

#[test]
fn gzip_and_zstd_are_unpacked() {
    let (log, cpu) = flaky();
    for (ending, log, cpu) in [("gz", gzip(&log), gzip(&cpu)), ("zst", zstd(&log), zstd(&cpu))] {
        for store in Store::each() {
            let log = store.file(&format!("nio_flaky.csv.{ending}"), &log);
            let cpu = store.file(&format!("cpu.csv.{ending}"), &cpu);
            store.run(&["ingest", &log, &cpu]).said();
            assert_is_flaky(&store, 1);
            assert_eq!(store.keys(), ["nio flaky"]);
        }
        let store = Store::embedded();
        store.pipe(&log, &["ingest", "-"]).said();
        assert_is_flaky(&store, 0);
    }
}

#[test]
fn gzip_by_the_name_of_zip_is_read_with_a_note() {
    let store = Store::embedded();
    let path = store.file("nio_flaky.zip", gzip(&flaky().0));
    let said = store.run(&["ingest", &path]).said();
    let note = said.lines().find(|line| line.contains("nio_flaky.zip") && line.contains("gzip"));
    assert!(note.is_some(), "{said}");
    assert_is_flaky(&store, 0);
}
