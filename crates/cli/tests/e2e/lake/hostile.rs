//! What others put into a store's folder: nothing outside of it is read, written or deleted, no run is lost by it, and what
//! is damaged is named.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::replace::files_of;
use super::tables::{TABLES, folder, generations};
use crate::support::*;

const LOG: &str = "timeStamp,elapsed,label,success\n1795203738615,12,Get,true\n1795203739000,7,Get,false\n";

/// Runs are older than this after so many days.
const OLD: &str = "10 days ago";

fn ingest(store: &Store, test: &str, flags: &[&str]) -> Done {
    let log = store.file("log.csv", LOG);
    store.run(&[&["ingest", &log, "--framework", "go", "--test", test], flags].concat())
}

/// Gives a file or folder, and all that is in it, another age.
fn age(path: &Path) {
    let script = "find \"$0\" -exec touch -h -d \"$1\" {} +";
    let done = Command::new("sh").args(["-c", script, path.to_str().unwrap(), OLD]).status();
    assert!(done.unwrap().success());
}

fn manifest(store: &Store, generation: &str) -> PathBuf {
    folder(store).join("manifests").join(format!("{generation}.json"))
}

fn entry(store: &Store, table: &str, version: u64) -> PathBuf {
    folder(store).join(table).join("_delta_log").join(format!("{version:020}.json"))
}

/// All that is below a folder: of each file its content, of each link where it leads.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.symlink_metadata().unwrap().file_type();
        if kind.is_dir() {
            found.extend(tree(&path));
            found.insert(path, Vec::new());
        } else {
            let content = if kind.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            found.insert(path, content);
        }
    }
    found
}

#[test]
fn copy_of_a_manifest_does_not_cost_its_run() {
    let store = Store::lake();
    ingest(&store, "flaky", &[]).said();
    let live = generations(&store, "runs").remove(0);
    let text = fs::read(manifest(&store, &live)).unwrap();
    let copies =
        [".bak", " (1)", ".sync-conflict-20261128-101112-ABCDEFG"].map(|ending| live.clone() + ending);
    // One that was renamed by hand to what could be a generation, and one that is no manifest.
    for name in copies.iter().map(String::as_str).chain(["run-0123456789abcdef0123456789abcdef"]) {
        fs::write(manifest(&store, name), &text).unwrap();
        age(&manifest(&store, name));
    }
    fs::write(manifest(&store, "run-00000000000000000000000000000000"), "notes").unwrap();
    age(&manifest(&store, "run-00000000000000000000000000000000"));
    let before = tree(&folder(&store));
    ingest(&store, "other", &[]).said();
    store.run(&["verify"]).text();
    // What nobody needs does not keep a repair from its end.
    let said = store.run(&["repair", "--keep-for", "0s", "--force"]).said();
    let told =
        ["run-0123456789abcdef0123456789abcdef.json is the manifest of", "passed over", "nothing is damaged"];
    assert_told(&said, &told);
    let after = tree(&folder(&store));
    for (path, content) in before {
        assert!(path.ends_with("clock") || after.get(&path) == Some(&content), "{}", path.display());
    }
    store.run(&["verify"]).text();
    assert_eq!(store.keys(), ["go flaky", "go other"]);
}

#[test]
fn what_perfpipe_does_not_know_stays_where_old_files_are_removed() {
    let store = Store::lake();
    ingest(&store, "a", &[]).said();
    let old = generations(&store, "runs").remove(0);
    ingest(&store, "a", &[]).said();
    let notes = [
        format!("samples/generation={old}/notes.txt"),
        format!("samples/generation={old}/more/samples.parquet"),
        format!("samples/mine/generation={old}/samples.parquet"),
        format!("manifests/old/{old}.json"),
    ];
    for note in &notes {
        let path = folder(&store).join(note);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "mine").unwrap();
    }
    age(&folder(&store));
    store.run(&["repair", "--keep-for", "0s", "--force"]).said();
    assert_eq!(files_of(&folder(&store), &old).len(), notes.len());
    store.run(&["verify"]).text();
}

#[test]
fn links_in_a_store_are_not_followed() {
    for place in [
        "samples/generation=run-2024",
        "samples",
        "runs/framework=go/test=a/repeat=1/generation=run-2024",
        "manifests/old",
        "manifests",
        "manifests/packs",
        "manifests/packs/00000000000000000100-000000.jsonl.zst",
        "points",
        "points/points-01234567-89ab-4def-a123-0123456789ab.parquet",
        "runs/_delta_log",
        "runs/_delta_log/_last_checkpoint",
        "runs/_delta_log/00000000000000000000.checkpoint.parquet",
        "cpu/_delta_log/00000000000000000002.json",
        "parts/generation=run-2024",
    ] {
        let store = Store::lake();
        ingest(&store, "a", &[]).said();
        let outside = store.folder.path().join("outside");
        fs::create_dir_all(outside.join("generation=run-2024/more")).unwrap();
        for name in ["samples.parquet", "run-2024.json", "generation=run-2024/more/cpu.parquet", "clock"] {
            fs::write(outside.join(name), "kept").unwrap();
        }
        let path = folder(&store).join(place);
        let is_file = [".parquet", ".zst", ".json", "_checkpoint"].iter().any(|end| place.ends_with(end));
        match path.is_dir() {
            // What is there already is what the link leads to.
            true => fs::rename(&path, outside.join("moved")).unwrap(),
            false => fs::create_dir_all(path.parent().unwrap()).unwrap(),
        }
        let target = if is_file { outside.join("samples.parquet") } else { outside.clone() };
        let moved = outside.join("moved");
        symlink(if moved.is_dir() { &moved } else { &target }, &path).unwrap();
        age(&outside);
        let before = tree(&outside);
        let log = store.file("log.csv", LOG);
        let output = fixture("other/ab/jempower/1.8101");
        for command in [
            &["list"][..],
            &["verify"],
            &["repair"],
            &["repair", "--keep-for", "0s", "--force"],
            &["ingest", &log, "--framework", "go", "--test", "b"],
            &["ingest", &log, "--framework", "go", "--test", "a"],
            &["ingest", output.to_str().unwrap(), "--framework", "beta"],
            &["rename", "go_a", "--test", "c"],
            &["drop", "--framework", "go", "--test", "c"],
        ] {
            let done = store.run(command);
            assert!(done.code.is_some_and(|code| code < 5), "{place} {command:?}: {done:?}");
            assert_eq!(tree(&outside), before, "{place} {command:?}: {done:?}");
        }
        let repair = store.run(&["repair", "--keep-for", "0s", "--force"]);
        if place.contains("_delta_log") || TABLES.contains(&place) || ["manifests", "points"].contains(&place)
        {
            assert_told(&repair.complaint(1), &["is a link"]);
        } else {
            // It stands for nothing that is looked for.
            assert_told(&repair.said(), &["passed over", "is a link"]);
            let verify = store.run(&["verify"]);
            assert_eq!(verify.code, Some(0), "{place}: {verify:?}");
            assert_told(&verify.err, &["is a link"]);
        }
    }
}

#[test]
fn link_in_place_of_a_file_is_damage_of_its_run_alone() {
    let store = Store::lake();
    ingest(&store, "a", &[]).said();
    let linked = generations(&store, "runs").remove(0);
    ingest(&store, "b", &[]).said();
    let file = folder(&store).join(format!("samples/generation={linked}/samples.parquet"));
    let outside = store.folder.path().join("outside.parquet");
    fs::rename(&file, &outside).unwrap();
    symlink(&outside, &file).unwrap();
    let verify = store.run(&["verify", "--format", "csv"]);
    assert_eq!(verify.code, Some(3), "{verify:?}");
    let table = String::from_utf8(verify.out).unwrap();
    assert_told(&table, &["go_a,go,a,1,false,", "is a link", "go_b,go,b,1,true,"]);
    assert_told(&store.run(&["repair"]).complaint(1), &["left as it is: go_a", "is a link"]);
}

#[test]
fn pipes_in_a_store_are_named_and_not_waited_for() {
    for place in
        ["runs/_delta_log/_last_checkpoint", "runs/_delta_log/00000000000000000002.json", "manifests"]
    {
        let store = Store::lake();
        ingest(&store, "a", &[]).said();
        let path = match place {
            "manifests" => manifest(&store, &generations(&store, "runs")[0]),
            place => folder(&store).join(place),
        };
        let _ = fs::remove_file(&path);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        for command in [&["list"][..], &["repair"]] {
            assert_told(&store.run(command).complaint(1), &["neither a file nor a folder"]);
        }
    }
}

#[test]
fn emptied_and_changed_entries_are_damage() {
    let spoil = |table: &str, version: u64, spoil: &dyn Fn(&str) -> String| {
        let store = Store::lake();
        ingest(&store, "a", &[]).said();
        ingest(&store, "b", &[]).said();
        let path = entry(&store, table, version);
        fs::write(&path, spoil(&fs::read_to_string(&path).unwrap())).unwrap();
        (store, path.file_name().unwrap().to_str().unwrap().to_owned())
    };
    let added = |text: &str| text.lines().find(|line| line.starts_with("{\"add\"")).unwrap().to_owned();
    for table in TABLES.into_iter().filter(|table| !["series", "tags"].contains(table)) {
        for (change, fact) in [
            (&(|_: &str| String::new()) as &dyn Fn(&str) -> String, "it is empty"),
            (&|text| added(text).replace("{\"add\":", "{\"adt\":"), "adt"),
            (&|text| text.replacen("\"size\":", "\"size\":1", 1), "checksum"),
            (&|text| added(text).replace("\"repeat\":\"1\"", "\"repeat\":\"0\""), "of no run"),
            (
                &|text| added(text).replace("\"generation\":\"run-", "\"generation\":\"run-0"),
                "another generation",
            ),
            (&|text| added(text).replace("{\"add\"", "{\"remove\""), "does not have"),
        ] {
            let (store, name) = spoil(table, 2, change);
            let done = store.run(&["verify"]);
            assert_eq!(done.code, Some(3), "{table} {fact}: {done:?}");
            assert_told(&String::from_utf8_lossy(&done.out), &[table, &name, fact]);
            // What can't be known is not taken for nothing.
            if table == "runs" {
                assert_told(&store.run(&["list"]).complaint(1), &[&name, fact]);
                let before = tree(&folder(&store));
                assert_told(&ingest(&store, "c", &[]).complaint(1), &[&name, fact]);
                assert_eq!(tree(&folder(&store)), before);
            }
        }
    }
}

#[test]
fn two_rows_of_one_run_are_damage() {
    let store = Store::lake();
    ingest(&store, "a", &[]).said();
    ingest(&store, "b", &[]).said();
    let first = fs::read_to_string(entry(&store, "runs", 1)).unwrap();
    let second = fs::read_to_string(entry(&store, "runs", 2)).unwrap();
    let added = |text: &str| text.lines().find(|line| line.starts_with("{\"add\"")).unwrap().to_owned();
    // The second run under the name of the first, as by another program.
    let row = added(&second).replace("\"test\":\"b\"", "\"test\":\"a\"");
    fs::write(entry(&store, "runs", 2), format!("{}\n{row}\n", added(&second))).unwrap();
    let done = store.run(&["verify"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert_told(&String::from_utf8_lossy(&done.out), &["runs", "go_a"]);
    assert!(first.contains("\"test\":\"a\""));
}

#[test]
fn run_whose_entry_is_lost_is_told() {
    let store = Store::lake();
    ingest(&store, "a", &[]).said();
    ingest(&store, "b", &[]).said();
    fs::remove_file(entry(&store, "runs", 2)).unwrap();
    let done = store.run(&["verify"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_told(&done.err, &["in no table", "go_b"]);
}

#[test]
fn numbers_of_others_are_not_trusted() {
    let store = Store::lake();
    ingest(&store, "a", &[]).said();
    let log = folder(&store).join("runs/_delta_log");
    for version in [u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1] {
        fs::write(log.join("_last_checkpoint"), format!("{{\"version\":{version},\"size\":1}}")).unwrap();
        fs::write(log.join(format!("{version:020}.checkpoint.parquet")), "PAR1").unwrap();
        store.run(&["list"]).text();
        ingest(&store, "b", &[]).said();
        store.run(&["verify"]).text();
    }
}
