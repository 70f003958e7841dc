//! Folders of logs and CPU exports: paired, ingested as by hand, and taken again only where they have changed.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::*;
use crate::zips::{deflated, gzip};

const PORTS: &str = "8181 = \"nio\"\n9000 = \"go\"\n";

/// A store, and a folder with the files of a campaign.
struct Night {
    store: Store,
}

impl Night {
    fn each() -> impl Iterator<Item = Self> {
        Store::each().into_iter().map(Self::of)
    }

    fn embedded() -> Self {
        Self::of(Store::embedded())
    }

    fn of(store: Store) -> Self {
        store.file("ports.toml", PORTS);
        std::fs::create_dir(store.folder.path().join("night")).unwrap();
        Self { store }
    }

    /// Runs of every form: zipped and gzipped and plain, paired by name and by time, two by one export, one by none.
    fn filled(self) -> Self {
        self.write("Results-2048-9000.csv.zip", deflated(&[("Results-2048-9000.csv", &beginning())]));
        self.copy("Results-2048-9000.cpu.csv.zip", "results-2048-9000-CPU.csv.zip");
        self.copy("Results-flaky-8181.csv", "Results-flaky-8181.csv");
        self.copy("Results-flaky-8181.cpu.csv", "Results-flaky-8181.cpu.csv");
        self.write("Results-mix-8181.csv.gz", gzip(&read("Results-mix-8181.datefmt.csv")));
        self.copy("Results-vars-8181.csv.zip", "Results-vars-8181.csv.zip");
        let mut zabbix = read("Results-mix-8181.datefmt.cpu.csv");
        zabbix.extend(read("Results-vars-8181.cpu.csv"));
        self.write("zabbix.csv", zabbix);
        self.copy("Results-2048-8181.killed.csv", "Results-2048-8181.killed.csv");
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.store.folder.path().join("night").join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    fn copy(&self, fixture: &str, name: &str) {
        self.write(name, read(fixture));
    }

    fn remove(&self, name: &str) {
        std::fs::remove_file(self.path(name)).unwrap();
    }

    /// Ingests the folder, and gives what was printed.
    fn ingest(&self, flags: &[&str]) -> Done {
        let run = ["ingest", "night", "--frameworks", "ports.toml", "--format", "json"];
        self.store.run(&[&run, flags].concat())
    }

    /// The rows of the table, once all was well.
    fn rows(&self, flags: &[&str]) -> Vec<Value> {
        self.ingest(flags).rows()
    }

    /// Run and status of each row, sorted.
    fn statuses(&self, flags: &[&str]) -> Vec<String> {
        statuses(&self.rows(flags))
    }

    /// Run and status of each row, and what was said, where some failed.
    fn failing(&self, code: i32, flags: &[&str]) -> (Vec<String>, String) {
        let done = self.ingest(flags);
        assert_eq!(done.code, Some(code), "{}", done.err);
        assert!(!done.err.contains("panicked"), "{}", done.err);
        (statuses(&done.rows_anyway()), done.err)
    }
}

fn read(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).unwrap()
}

/// The only member of a zipped fixture.
fn member_of(zip: &str) -> Vec<u8> {
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(read(zip))).unwrap();
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut zip.by_index(0).unwrap(), &mut text).unwrap();
    text
}

/// The first 8,000 records of the longest log.
fn beginning() -> Vec<u8> {
    let mut text = member_of("Results-2048-9000.csv.zip");
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let end = ends.map(|(at, _)| at).nth(8000).unwrap();
    text.truncate(end + 1);
    text
}

fn statuses(rows: &[Value]) -> Vec<String> {
    let status = |row: &Value| format!("{} {}", row["run"].as_str().unwrap_or("-"), text(row, "status"));
    let mut all: Vec<String> = rows.iter().map(status).collect();
    all.sort();
    all
}

/// A log that begins at this epoch second, of ten requests a second to a port.
fn log(begins: i64, seconds: i64, port: u16) -> String {
    let mut text = "timeStamp,elapsed,label,success,allThreads,URL\n".to_owned();
    for at in 0..seconds * 10 {
        let ms = begins * 1000 + at * 100;
        text.push_str(&format!("{ms},{},Get,true,4,http://127.0.0.1:{port}/2048\n", 10 + at % 7));
    }
    text
}

fn cpu(first: i64, last: i64) -> String {
    let readings = (first..=last).map(|clock| format!("{clock},{}\n", clock % 100));
    std::iter::once("clock,value\n".to_owned()).chain(readings).collect()
}

const T0: i64 = 1_795_203_738;

/// The runs of the filled folder.
const RUNS: [&str; 5] = ["go_2048", "nio_2048", "nio_flaky", "nio_mix", "nio_vars"];

fn all(status: &str) -> Vec<String> {
    RUNS.iter().map(|run| format!("{run} {status}")).collect()
}

#[test]
fn folder_gives_the_runs_that_its_files_give_by_hand() {
    for night in Night::each() {
        let night = night.filled();
        let rows = night.rows(&["--jobs", "2"]);
        assert_eq!(statuses(&rows), all("new"));
        let by_hand = Store::embedded();
        let ports = by_hand.file("ports.toml", PORTS);
        for row in &rows {
            let files = ["log", "cpu"].into_iter().filter_map(|name| row[name].as_str());
            let files: Vec<String> =
                files.map(|name| night.path(name).to_str().unwrap().to_owned()).collect();
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            by_hand.run(&[&["ingest", "--frameworks", &ports], &files[..]].concat()).said();
            let key = Key::new(text(row, "framework"), text(row, "test"));
            for what in ["seconds", "errors", "cpu", "labels", "rejects", "samples"] {
                let ours = night.store.export(&key, what, "csv", &[]);
                assert!(ours == by_hand.export(&key, what, "csv", &[]), "{what} of {key:?}");
            }
            let summary = by_hand.summary(&key, &[]);
            assert_eq!(night.store.summary(&key, &[]), summary);
            assert_eq!(count(row, "seconds"), count(&summary, "seconds"));
        }
        assert_eq!(night.store.keys(), by_hand.keys());
        assert_eq!(night.store.leftovers(), Vec::<String>::new());
        let paired: Vec<_> = rows
            .iter()
            .map(|row| (text(row, "test"), row["cpu"].as_str(), row["paired_by"].as_str()))
            .collect();
        let expected = [
            ("2048", Some("results-2048-9000-CPU.csv.zip"), Some("name")),
            ("flaky", Some("Results-flaky-8181.cpu.csv"), Some("name")),
            ("mix", Some("zabbix.csv"), Some("time")),
            ("vars", Some("zabbix.csv"), Some("time")),
            ("2048", None, None),
        ];
        assert_eq!(paired, expected, "in the order of t0");
    }
}

#[test]
fn second_pass_takes_nothing_whatever_the_files_dates_and_packings_are() {
    for night in Night::each() {
        let night = night.filled();
        assert_eq!(night.statuses(&[]), all("new"));
        let before = night.store.list();
        assert_eq!(night.statuses(&[]), all("unchanged"));
        for name in ["Results-flaky-8181.csv", "Results-vars-8181.csv.zip", "zabbix.csv"] {
            night.write(name, std::fs::read(night.path(name)).unwrap());
        }
        // The same logs, packed otherwise.
        night.remove("Results-2048-9000.csv.zip");
        night.write("Results-2048-9000.csv", beginning());
        let killed = read("Results-2048-8181.killed.csv");
        night.remove("Results-2048-8181.killed.csv");
        night.write("Results-2048-8181.killed.csv.zip", deflated(&[("any.csv", &killed)]));
        assert_eq!(night.statuses(&["--dry-run"]), all("unchanged"));
        assert_eq!(night.statuses(&[]), all("unchanged"));
        assert_eq!(night.store.list(), before);
        // What is not in the folder any more stays in the store.
        night.remove("Results-flaky-8181.csv");
        night.remove("Results-flaky-8181.cpu.csv");
        assert_eq!(night.statuses(&[]).len(), 4);
        assert_eq!(night.store.list(), before);
    }
}

/// The status of the only run after a change.
fn status(night: &Night, flags: &[&str]) -> (String, String) {
    let rows = night.rows(flags);
    assert_eq!(rows.len(), 1, "{rows:?}");
    (text(&rows[0], "status").to_owned(), rows[0]["why"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn change_of_log_cpu_export_or_options_is_taken() {
    for night in Night::each() {
        let told = |status: &str, why: &str| (status.to_owned(), why.to_owned());
        let requests = || count(&night.store.list()[0], "requests");
        let unchanged = told("unchanged", "");
        night.write("run.csv", log(T0, 20, 8181));
        assert_eq!(status(&night, &[]), told("new", ""));
        assert_eq!(status(&night, &[]), unchanged);

        night.write("run.csv", log(T0, 21, 8181));
        assert_eq!(status(&night, &["--dry-run"]), told("changed", "its log has changed"));
        assert_eq!(requests(), 200);
        assert_eq!(status(&night, &[]), told("changed", "its log has changed"));
        assert_eq!((requests(), status(&night, &[])), (210, unchanged.clone()));

        // As many bytes as before: only reading the log tells.
        night.write("run.csv", log(T0, 21, 8181).replacen(",true,", ",TRUE,", 1));
        let (_, why) = status(&night, &["--dry-run"]);
        assert!(why.contains("without reading all of it"), "{why}");
        assert_eq!(status(&night, &[]), told("changed", "its log has changed"));
        assert_eq!(status(&night, &[]), unchanged);

        night.write("run.cpu.csv", cpu(T0 - 5, T0 + 5));
        assert_eq!(status(&night, &[]), told("changed", "it has a CPU export now"));
        night.write("run.cpu.csv", cpu(T0 - 5, T0 + 30));
        assert_eq!(status(&night, &[]), told("changed", "its CPU export has changed"));
        assert_eq!(status(&night, &[]), unchanged);
        night.remove("run.cpu.csv");
        assert_eq!(status(&night, &[]), unchanged, "what was joined once is kept");

        let joined = "its CPU readings were joined with another offset or look-back";
        assert_eq!(status(&night, &["--cpu-offset", "1"]), told("changed", joined));
        assert_eq!(status(&night, &["--cpu-offset", "1"]), unchanged);
        assert_eq!(status(&night, &["--no-samples", "--cpu-offset", "1"]).1, "it was stored with samples");
        assert_eq!(status(&night, &["--cpu-offset", "1"]).1, "it was stored without samples");
        assert_eq!(
            status(&night, &["--cpu-offset", "1", "--injectors", "3"]).1,
            "it was read with other options"
        );
        assert_eq!(night.store.list().len(), 1);
        assert_eq!(night.store.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn logs_of_one_key_are_refused_before_anything_is_stored_or_become_repeats() {
    for night in Night::each() {
        night.write("late.csv", log(T0 + 100, 3, 8181));
        night.write("early.csv", log(T0, 2, 8181));
        night.write("middle.csv.zip", deflated(&[("x.csv", log(T0 + 50, 4, 8181).as_bytes())]));
        night.write("other.csv", log(T0, 5, 9000));
        let complaint = night.ingest(&[]).complaint(2);
        for part in ["early.csv", "night/middle.csv.zip", "night/late.csv", "nio_2048", "--append-repeat"] {
            assert!(complaint.contains(part), "{part} is not in: {complaint}");
        }
        assert!(night.store.list().is_empty());

        let repeats = |status: &str| {
            ["go_2048", "nio_2048#1", "nio_2048#2", "nio_2048#3"].map(|run| format!("{run} {status}"))
        };
        let flags = ["--append-repeat", "--jobs", "3"];
        assert_eq!(night.statuses(&["--append-repeat", "--dry-run"]), repeats("new"));
        assert!(night.store.list().is_empty());
        assert_eq!(night.statuses(&flags), repeats("new"));
        let stored = || -> Vec<(i64, i64)> {
            night.store.list().iter().map(|run| (count(run, "repeat"), count(run, "requests"))).collect()
        };
        assert_eq!(stored(), [(1, 50), (1, 20), (2, 40), (3, 30)], "by t0");
        for flags in [&flags[..], &[]] {
            assert_eq!(night.statuses(flags), repeats("unchanged"), "the repeats are known again");
        }
        // One that was not finished is taken again, one of another time comes beside it.
        night.write("late.csv", log(T0 + 100, 6, 8181));
        night.write("early.csv", log(T0 + 900, 7, 8181));
        let (new, old) = ("nio_2048#4 new", "unchanged");
        let expected = [&format!("go_2048 {old}"), &format!("nio_2048#2 {old}"), "nio_2048#3 changed", new];
        assert_eq!(night.statuses(&flags), expected);
        assert_eq!(stored(), [(1, 50), (1, 20), (2, 40), (3, 60), (4, 70)]);
        assert_eq!(night.store.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn run_that_fails_stops_no_other_and_leaves_nothing() {
    for night in Night::each() {
        let night = night.filled();
        let zip = read("outage.csv.zip");
        night.write("cut.csv.zip", &zip[..zip.len() / 2]);
        night.write("rejects.csv", format!("{}1,2\n", log(T0, 3, 9001)));
        let mut expected = all("new");
        expected.extend(["- failed".into(), "127.0.0.1:9001_2048 failed".into()]);
        expected.sort();
        let (statuses, said) = night.failing(3, &["--strict"]);
        let killed = |text: &str| text.replace("nio_2048 new", "nio_2048 failed");
        let strict: Vec<String> = expected.iter().map(|text| killed(text)).collect();
        assert_eq!(statuses, strict, "{said}");
        for part in ["cut.csv.zip: failed", "--salvage", "2 fields", "3 of 7 runs"] {
            assert!(said.contains(part), "{part} is not in: {said}");
        }
        assert_eq!(night.store.list().len(), 4);
        assert_eq!(night.store.leftovers(), Vec::<String>::new());
        night.remove("rejects.csv");
        night.remove("cut.csv.zip");
        assert_eq!(
            night.statuses(&[]),
            ["go_2048 unchanged", "nio_2048 new"]
                .into_iter()
                .map(str::to_owned)
                .chain(RUNS[2..].iter().map(|run| format!("{run} unchanged")))
                .collect::<Vec<_>>()
        );
    }
}

#[test]
fn run_of_other_files_is_not_replaced_but_by_replace() {
    for night in Night::each() {
        let old = night.store.file("old.csv", log(T0 - 1000, 9, 8181));
        night.store.run(&["ingest", &old, "--frameworks", "ports.toml"]).said();
        night.write("run.csv", log(T0, 3, 8181));
        night.write("other.csv", log(T0, 3, 9000));
        let (statuses, said) = night.failing(1, &[]);
        assert_eq!(statuses, ["go_2048 new", "nio_2048 failed"]);
        assert_told(&said, &["old.csv", "--replace"]);
        assert_eq!(night.statuses(&["--replace"]), ["go_2048 unchanged", "nio_2048 changed"]);
        assert_eq!(count(&night.store.list()[1], "requests"), 30);
    }
}

#[test]
fn planned_campaign_stores_nothing() {
    let night = Night::embedded().filled();
    assert_eq!(night.statuses(&["--dry-run"]), all("new"));
    assert!(!Path::new(night.store.place()).exists());
    let done = night.store.run(&["ingest", "night", "--frameworks", "ports.toml", "--dry-run"]);
    let table = done.text();
    assert!(table.contains("zabbix.csv") && table.contains("time") && !table.contains("requests"), "{table}");
}

#[test]
fn cpu_exports_are_chosen_or_it_is_said_why_not() {
    let night = Night::embedded();
    night.write("a.csv", log(T0, 30, 8181));
    night.write("a.cpu.csv", cpu(T0 - 500, T0 - 100));
    night.write("web.csv", cpu(T0 - 50, T0 + 500));
    night.write("b.csv", log(T0 + 1000, 30, 9000));
    night.write("early.csv", cpu(T0 + 900, T0 + 1003));
    night.write("idle.csv", cpu(T0 + 990, T0 + 1090));
    let done = night.ingest(&["--dry-run"]);
    for part in ["a.cpu.csv", "early.csv"] {
        assert!(done.err.contains(part), "{part} is not in: {}", done.err);
    }
    let rows = done.rows();
    let paired = |row: usize| (text(&rows[row], "cpu").to_owned(), text(&rows[row], "paired_by").to_owned());
    assert_eq!(paired(0), ("web.csv".into(), "time".into()));
    assert_eq!(paired(1), ("idle.csv".into(), "time".into()), "it covers clearly more");

    night.write("database.csv", cpu(T0 + 980, T0 + 1095));
    let (statuses, said) = night.failing(2, &[]);
    assert_eq!(statuses, ["go_2048 failed", "nio_2048 new"]);
    for part in ["database.csv", "idle.csv", "b.cpu.csv"] {
        assert!(said.contains(part), "{part} is not in: {said}");
    }
    std::fs::rename(night.path("idle.csv"), night.path("b.cpu.csv")).unwrap();
    assert_eq!(night.statuses(&[]), ["go_2048 new", "nio_2048 unchanged"]);

    // A clock of another zone: the export is kept with its run.
    night.remove("web.csv");
    let done = night.ingest(&["--replace", "--cpu-offset", "-3600"]);
    assert_told(&done.err, &["a.cpu.csv"]);
    let rows = done.rows();
    assert_eq!((text(&rows[0], "paired_by"), rows[0]["cpu_seconds_percent"].as_f64()), ("name", Some(0.0)));
}

#[test]
fn cpu_export_that_can_not_be_read_fails_its_run_alone() {
    let night = Night::embedded();
    night.write("a.csv", log(T0, 3, 8181));
    night.write("a.cpu.csv", format!("{}x,1\n", cpu(T0, T0 + 3)));
    night.write("b.csv", log(T0, 3, 9000));
    let (statuses, said) = night.failing(3, &[]);
    assert_eq!(statuses, ["go_2048 new", "nio_2048 failed"]);
    assert!(said.contains("a.cpu.csv, line 6"), "{said}");
    night.write("alone.cpu.csv", format!("{}x,1\n", cpu(T0, T0 + 3)));
    assert_eq!(night.failing(3, &[]).0, ["- failed", "go_2048 unchanged", "nio_2048 failed"]);
}

#[test]
fn files_left_out_are_named() {
    let night = Night::embedded();
    night.write("a.csv", log(T0, 3, 8181));
    night.write(".hidden", "x");
    night.write("plan.jmx", "<?xml version=\"1.0\"?><jmeterTestPlan/>");
    night.write("empty.csv", "");
    std::fs::create_dir(night.path("sub")).unwrap();
    std::fs::write(night.path("sub/notes.txt"), "hello").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(night.path("sub"), night.path("link")).unwrap();
    #[cfg(unix)]
    assert!(std::process::Command::new("mkfifo").arg(night.path("pipe")).status().unwrap().success());
    let done = night.ingest(&[]);
    for part in [
        ".hidden is hidden",
        "plan.jmx: is XML",
        "empty.csv: is empty",
        "sub/notes.txt: is neither",
        "link is a link",
    ] {
        assert!(done.err.contains(&format!("left out: night/{part}")), "{part} is not in: {}", done.err);
    }
    #[cfg(unix)]
    assert!(done.err.contains("left out: night/pipe is a pipe"), "{}", done.err);
    assert_eq!(statuses(&done.rows()), ["nio_2048 new"]);
}

#[test]
fn several_folders_are_one_campaign() {
    let night = Night::embedded();
    night.write("a.csv", log(T0, 3, 8181));
    night.store.file("cpu/a.csv", cpu(T0, T0 + 3));
    let run = ["ingest", "night", "cpu", "--frameworks", "ports.toml", "--format", "csv", "--out", "charts"];
    let table = rows(&night.store.run(&run).text());
    assert_eq!((table.len(), table[0]["paired_by"].as_str()), (1, "name"));
    for ending in ["svg", "pdf"] {
        let page = night.store.folder.path().join(format!("charts/nio_2048.{ending}"));
        assert!(page.is_file(), "{}", page.display());
    }
}

#[test]
fn options_that_do_not_fit_folders_are_wrong_usage() {
    let night = Night::embedded();
    let file = night.store.file("run.csv", log(T0, 3, 8181));
    night.store.file("bad.toml", "8181 = \"nio\"\nhttp = \"go\"\n");
    let empty = night.store.run(&["ingest", "night"]).complaint(2);
    assert_told(&empty, &["night"]);
    night.write("cpu.csv", cpu(T0, T0 + 3));
    assert_told(&night.store.run(&["ingest", "night"]).complaint(2), &["cpu.csv"]);
    night.write("a.csv", log(T0, 3, 8181));
    for (arguments, part) in [
        (&["night", &file][..], "night"),
        (&["night", "-"], "- is not"),
        (&["night", "night/"], "named twice"),
        (&["night", "--repeat", "2"], "--repeat"),
        (&["night", "--origin", "1"], "--origin"),
        (&["night", "--jobs", "0"], "--jobs"),
        (&["night", "--framework", " "], "--framework"),
        (&["night", "--frameworks", "bad.toml"], "bad.toml, line 2: \"http\""),
        (&[&file, "--dry-run"], "--dry-run"),
        (&[&file, "--jobs", "2"], "--jobs"),
        (&[&file, "--frameworks", "bad.toml"], "bad.toml, line 2"),
    ] {
        let complaint = night.store.run(&[&["ingest"], arguments].concat()).complaint(2);
        assert!(complaint.contains(part), "{arguments:?}: {complaint}");
        assert!(!Path::new(night.store.place()).exists(), "{arguments:?} made a store");
    }
}

#[test]
fn ports_name_the_framework_of_a_single_run_too() {
    for store in Store::each() {
        let ports = store.file("ports.toml", PORTS);
        let file = store.file("run.csv", log(T0, 3, 9000));
        let said = store.run(&["ingest", &file, "--frameworks", &ports]).said();
        assert_told(&said, &["framework `go`", "port"]);
        let other = store.file("other.csv", log(T0, 3, 9001));
        let said = store.run(&["ingest", &other, "--frameworks", &ports]).said();
        assert_told(&said, &["port"]);
        assert_eq!(store.keys(), ["127.0.0.1:9001 2048", "go 2048"]);
    }
}

#[test]
fn log_that_turns_out_to_be_another_run_takes_the_place_of_none() {
    for night in Night::each() {
        // By its head it is of the path 2048; as a whole, of none, so that its name says `mix`.
        let mut long = log(T0, 3000, 8181);
        long.push_str(&format!("{},9,Get,true,4,http://127.0.0.1:8181/other\n", (T0 + 3000) * 1000));
        night.write("Results-mix-8181.csv", &long);
        let urls = log(T0 + 9000, 5, 8181).replace("/2048", "/mix");
        night.write("run.csv", urls);
        let (statuses, said) = night.failing(1, &["--replace"]);
        assert_eq!(statuses, ["nio_2048 failed", "nio_mix new"]);
        assert!(said.contains("nio_mix") && said.contains("run.csv"), "{said}");
        night.remove("run.csv");
        night.store.run(&["drop", "--framework", "nio", "--test", "mix"]).said();
        assert_eq!(night.statuses(&[]), ["nio_mix new"]);
        assert_eq!(night.statuses(&[]), ["nio_mix unchanged"], "it is known again by its whole key");
    }
}

#[test]
fn signal_leaves_the_runs_that_are_stored_and_no_half_one() {
    for night in Night::each() {
        night.write("first.csv", log(T0 - 100, 3, 9000));
        endless_log(&night.store, "night/second.csv");
        let child = night.store.spawn(&["ingest", "night", "--frameworks", "ports.toml", "--jobs", "2"]);
        let process = child.id();
        wait_for("a run is stored", || night.store.list().len() == 1);
        wait_for("the other is being read", || read_by(process) > 50_000_000);
        signal("INT", process);
        let done = finish(child);
        let complaint = done.complaint(130);
        assert!(
            complaint.contains("nothing was stored of the work in progress; 1 run was already stored"),
            "{complaint}"
        );
        assert_told(&complaint, &["run the same command again", "the run that is not stored yet"]);
        assert_eq!(night.store.keys(), ["go 2048"]);
        night.store.wait_for_killed_writers();
        assert_eq!(night.store.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn log_beside_its_packed_copy_is_left_out_as_a_cpu_export_is() {
    let night = Night::embedded();
    let text = log(1_795_000_000, 20, 9000);
    night.write("Results-2048-9000.csv", &text);
    night.write("Results-2048-9000.csv.zip", deflated(&[("Results-2048-9000.csv", text.as_bytes())]));
    night.write("Results-2048-9000.csv.gz", gzip(text.as_bytes()));
    let (found, said) = night.failing(0, &[]);
    assert_eq!(found, ["go_2048 new"]);
    let copies = ["Results-2048-9000.csv.gz", "Results-2048-9000.csv.zip"];
    for copy in copies {
        assert_told(&said, &[&format!("{copy} holds the same as"), "left out"]);
    }
    // A log that is as long and begins alike is another.
    night.write("Results-2048-9000.csv.gz", gzip(text.replace(",16,Get", ",15,Get").as_bytes()));
    night.remove("Results-2048-9000.csv.zip");
    let done = night.ingest(&["--dry-run"]);
    assert_eq!(done.code, Some(2));
    assert_told(&done.err, &["would both be stored as go_2048", "--append-repeat"]);
}

#[test]
fn every_key_of_several_logs_has_a_line() {
    let night = Night::embedded();
    for test in 0..6 {
        for name in ["a", "b"] {
            let text = log(1_795_000_000 + test * 100, 5, 9000).replace("/2048", &format!("/test{test}"));
            night.write(
                &format!("{name}{test}.csv"),
                text.replace(",10,Get", if name == "a" { ",10,Get" } else { ",9,Get" }),
            );
        }
    }
    let complaint = night.ingest(&[]).complaint(2);
    for test in 0..6 {
        let line =
            complaint.lines().find(|line| line.ends_with(&format!("would both be stored as go_test{test}")));
        assert!(line.is_some_and(|line| line.contains(&format!("a{test}.csv and"))), "{complaint}");
    }
}
