//! What is left of a damaged file, kept as a partial run: by file and by pipe, told wherever the run is shown, and never
//! in the place of a whole run unasked.

use crate::support::*;
use crate::zips::{deflated, gzip};

/// A real log in a zip, whole and cut in its middle.
fn zips() -> (Vec<u8>, Vec<u8>) {
    let zip = std::fs::read(fixture("Results-flaky-8181.csv.zip")).unwrap();
    let half = zip[..zip.len() / 2].to_vec();
    (zip, half)
}

const KEY: [&str; 4] = ["--framework", "nio", "--test", "flaky"];

fn key() -> Key {
    Key::new("nio", "flaky")
}

#[test]
fn cut_zip_is_refused_with_the_flag_that_keeps_what_is_left() {
    for store in Store::each() {
        let path = store.file("run.csv.zip", zips().1);
        for complaint in
            [store.run(&["ingest", &path]).complaint(3), store.pipe(&zips().1, &["ingest", "-"]).complaint(3)]
        {
            assert_told(&complaint, &["--salvage"]);
        }
        assert!(store.list().is_empty());
    }
}

#[test]
fn salvaged_run_is_shown_as_partial_everywhere() {
    for store in Store::each() {
        let path = store.file("run.csv.zip", zips().1);
        for piped in [false, true] {
            let flags = [&KEY[..], &["--salvage", "--out", "charts", "--page-format", "svg"]].concat();
            let said = match piped {
                true => store.pipe(&zips().1, &[&["ingest", "-"], &flags[..]].concat()).said(),
                false => store.run(&[&["ingest", &path], &flags[..]].concat()).said(),
            };
            let line = said
                .lines()
                .find(|line| line.starts_with("warning: partial: "))
                .unwrap_or_else(|| panic!("{said}"));
            let run = &store.list()[0];
            assert_eq!(run["partial"], true);
            let requests = count(run, "requests");
            assert!(requests > 1_500 && requests < 4_000, "{run}");
            let records = format!("{},{:03} records", requests / 1000, requests % 1000);
            assert_told(line, &["member Results-flaky-8181.csv", &records]);
            assert_told(&said, &["nio_flaky (partial)"]);
            assert_eq!(store.summary(&key(), &[])["partial"], true);
            assert_eq!(rows(&store.export(&key(), "summary", "csv", &[]))[0]["partial"], "true");
            let league =
                store.run(&["report", "--test", "flaky", "--table", "json", "--format", "svg"]).rows();
            assert_eq!(league[0]["partial"], true);
            for page in ["charts/nio_flaky.svg", "perfpipe-report/nio_flaky.svg"] {
                let page = std::fs::read_to_string(store.folder.path().join(page)).unwrap();
                assert!(page.contains("nio flaky (partial)") && page.contains("Partial: "), "{page:.300}");
            }
            let list = store.run(&["list"]).text();
            assert!(list.lines().next().unwrap().contains("partial") && list.contains(" yes "), "{list}");
            assert_eq!(store.leftovers(), Vec::<String>::new());
        }
        let other = fixture("crlf.csv");
        store.run(&["ingest", other.to_str().unwrap(), "--framework", "other", "--test", "flaky"]).said();
        store.run(&["report", "--test", "flaky", "--format", "svg"]).text();
        let all = store.folder.path().join("perfpipe-report/all-frameworks_flaky.svg");
        assert!(std::fs::read_to_string(all).unwrap().contains("nio (partial)"));
    }
}

#[test]
fn undamaged_input_gives_the_same_run_with_the_flag() {
    for store in Store::each() {
        let path = store.file("run.csv.zip", zips().0);
        let exports =
            || ["seconds", "samples", "summary", "errors"].map(|what| store.export(&key(), what, "csv", &[]));
        store.run(&[&["ingest", &path], &KEY[..]].concat()).said();
        let whole = exports();
        let said = store.run(&[&["ingest", &path, "--salvage"], &KEY[..]].concat()).said();
        assert!(!said.contains("partial"), "{said}");
        assert!(exports() == whole);
        assert_eq!(store.list()[0]["partial"], false);
        store.pipe(&zips().0, &[&["ingest", "-", "--salvage"], &KEY[..]].concat()).said();
        assert!(exports() == whole);
    }
}

#[test]
fn partial_run_takes_the_place_of_a_whole_one_only_if_that_is_asked_for() {
    let (whole, half) = zips();
    for store in Store::each() {
        let path = store.file("run.csv.zip", &whole);
        let ingest = |flags: &[&str]| store.run(&[&["ingest", &path, "--salvage"], flags].concat());
        ingest(&KEY).said();
        store.file("run.csv.zip", &half);
        let complaint = ingest(&KEY).complaint(1);
        assert_told(&complaint, &["nio_flaky", "partial", "--replace"]);
        assert_eq!(store.list()[0]["partial"], false);
        assert_eq!(store.leftovers(), Vec::<String>::new());
        ingest(&[&KEY[..], &["--replace"]].concat()).said();
        assert_eq!(store.list()[0]["partial"], true);
        // From here on, partial runs and whole ones may follow.
        ingest(&KEY).said();
        store.file("run.csv.zip", &whole);
        ingest(&KEY).said();
        assert_eq!(store.list()[0]["partial"], false);
    }
}

#[test]
fn inferred_key_does_not_replace_a_whole_run_by_a_partial_one_either() {
    let (whole, half) = zips();
    let store = Store::embedded();
    let path = store.file("nio_flaky.csv.zip", whole);
    store.run(&["ingest", &path]).said();
    store.file("nio_flaky.csv.zip", half);
    let complaint = store.run(&["ingest", &path, "--salvage"]).complaint(1);
    assert!(complaint.contains("partial") && complaint.contains("--replace"), "{complaint}");
}

#[test]
fn whole_logs_and_cpu_exports_are_kept_beside_damaged_ones() {
    let fixture = Fixture::named("Results-flaky-8181.csv");
    let log = &fixture.logs()[0];
    let (text, cpu) = (std::fs::read(log).unwrap(), std::fs::read(fixture.cpu(log).unwrap()).unwrap());
    for store in Store::each() {
        // Of the second log's packed data, the last tenth is missing, and so is the directory.
        // The same samples again would be left out.
        let other = String::from_utf8(text.clone()).unwrap().replace("Thread Group", "Group");
        assert_ne!(other.as_bytes(), text);
        let two = deflated(&[("a.csv", &text), ("b.csv", other.as_bytes())]);
        let two = store.file("two.zip", &two[..two.len() - two.len() / 20]);
        let cut_cpu = gzip(&cpu);
        let cut_cpu = store.file("cpu.csv.gz", &cut_cpu[..cut_cpu.len() * 3 / 4]);
        let said = store.run(&[&["ingest", &two, &cut_cpu, "--salvage"], &KEY[..]].concat()).said();
        let partial: Vec<&str> = said.lines().filter(|line| line.starts_with("warning: partial: ")).collect();
        assert_eq!(partial.len(), 2, "{said}");
        assert!(partial.iter().any(|line| line.contains("two.zip, member b.csv")), "{said}");
        assert!(partial.iter().any(|line| line.contains("cpu.csv.gz")), "{said}");
        let requests = count(&store.list()[0], "requests");
        assert!(requests > 5_187 * 3 / 2 && requests < 5_187 * 2, "{requests}");
        let coverage = store.summary(&key(), &[])["cpu_coverage"].as_f64().unwrap();
        assert!(coverage > 0.1, "{coverage}");
    }
}

#[test]
fn zip_without_a_whole_record_stores_nothing() {
    for store in Store::each() {
        let path = store.file("run.csv.zip", &zips().0[..90]);
        let complaint = store.run(&[&["ingest", &path, "--salvage"], &KEY[..]].concat()).complaint(3);
        assert!(complaint.contains("run.csv.zip") && !complaint.contains("--salvage"), "{complaint}");
        assert!(store.list().is_empty());
        assert_eq!(store.leftovers(), Vec::<String>::new());
    }
}
