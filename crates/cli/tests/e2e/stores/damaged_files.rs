//! Stores that are not what they should be: one clear message, never a wrong figure.

use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::*;

const KEY: [&str; 4] = ["--framework", "nio", "--test", "2048"];

fn stored() -> Store {
    let store = Store::embedded();
    let log = fixture("distributed.csv");
    let cpu = fixture("distributed.cpu.csv");
    store.run(&[&["ingest", log.to_str().unwrap(), cpu.to_str().unwrap()], &KEY[..]].concat()).said();
    store
}

fn run_folder(store: &Store) -> PathBuf {
    Path::new(store.place()).join("runs/nio+2048")
}

/// The files of the one run.
fn files(store: &Store) -> Vec<PathBuf> {
    let generation = std::fs::read_dir(run_folder(store)).unwrap().map(|entry| entry.unwrap().path());
    let generation = generation.into_iter().find(|path| path.is_dir()).unwrap();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(generation).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// What shows the contents of a file of the run.
fn what(file: &Path) -> &str {
    match file.file_stem().unwrap().to_str().unwrap() {
        "errors" | "labels" | "cpu" | "samples" | "rejects" => file.file_stem().unwrap().to_str().unwrap(),
        _ => "seconds",
    }
}

#[test]
fn damaged_file_of_a_run_gives_one_message_and_no_figure() {
    let store = stored();
    let files = files(&store);
    assert_eq!(files.len(), 6);
    for file in files.iter().filter(|file| file.metadata().unwrap().len() > 0) {
        let whole = std::fs::read(file).unwrap();
        for at in [0, 5, whole.len() / 3, whole.len() / 2, whole.len() - 6] {
            let mut damaged = whole.clone();
            damaged[at] ^= 4;
            std::fs::write(file, damaged).unwrap();
            let done = store.run(&[&["export", "--what", what(file)], &KEY[..]].concat());
            let complaint = done.complaint(1);
            assert_told(&complaint, &[file.to_str().unwrap(), "checksum"]);
            assert_eq!(complaint.trim_end().lines().count(), 1, "{complaint}");
        }
        std::fs::write(file, whole).unwrap();
    }
    assert_eq!(store.summary(&store.only_key(), &[])["successes"], 600);
}

#[test]
fn damaged_manifest_is_named_and_the_run_can_be_ingested_again_or_dropped() {
    let store = stored();
    let manifest = run_folder(&store).join("manifest.json");
    let whole = std::fs::read_to_string(&manifest).unwrap();
    let log = fixture("distributed.csv");
    let changed = whole.replace("\"successes\":600", "\"successes\":900");
    assert_ne!(changed, whole);
    for damaged in [&changed, "", "null", &whole[..whole.len() / 2]] {
        std::fs::write(&manifest, damaged).unwrap();
        for arguments in [&["list"][..], &[&["export"], &KEY[..]].concat()] {
            let complaint = store.run(arguments).complaint(1);
            assert_told(&complaint, &["manifest.json"]);
        }
        store.run(&[&["ingest", log.to_str().unwrap()], &KEY[..]].concat()).said();
        assert_eq!(store.summary(&store.only_key(), &[])["successes"], 600);
        assert_eq!(store.leftovers(), Vec::<String>::new());
    }
    std::fs::write(&manifest, "").unwrap();
    store.run(&[&["drop"], &KEY[..]].concat()).said();
    assert!(store.list().is_empty());
}

#[test]
fn another_layout_is_refused_by_its_version() {
    let log = fixture("distributed.csv");
    let ingest = [&["ingest", log.to_str().unwrap()], &KEY[..]].concat();
    let files_of = [("perfpipe.json", 3, "layout 3"), ("runs/nio+2048/manifest.json", 5, "layouts 3 to 5")];
    for (name, from, known) in files_of {
        for to in [2, from + 1, 99] {
            let store = stored();
            let path = Path::new(store.place()).join(name);
            let text = std::fs::read_to_string(&path).unwrap();
            // The manifest has no blanks, and the store's own file has them.
            let told = |blank: &str, layout: u32| format!("\"layout\":{blank}{layout}");
            let other =
                text.replace(&told("", from), &told("", to)).replace(&told(" ", from), &told(" ", to));
            assert_ne!(other, text);
            std::fs::write(&path, &other).unwrap();
            let commands = [vec!["list"], [&["export"], &KEY[..]].concat(), ingest.clone()];
            for arguments in commands {
                let complaint = store.run(&arguments).complaint(1);
                for part in [store.place(), &format!("layout {to}"), known, "--store"] {
                    assert!(complaint.contains(part), "{part} is not in: {complaint}");
                }
            }
            assert_eq!(std::fs::read_to_string(&path).unwrap(), other);
            assert_eq!(files(&store).len(), 6);
        }
    }
}

#[test]
fn file_in_the_place_of_a_store_is_named_and_left_alone() {
    let store = Store::embedded();
    std::fs::write(store.place(), "my thesis").unwrap();
    let log = fixture("crlf.csv");
    for arguments in [&["list"][..], &[&["ingest", log.to_str().unwrap()], &KEY[..]].concat()] {
        let complaint = store.run(arguments).complaint(1);
        assert!(complaint.contains(store.place()) && complaint.contains("folder"), "{complaint}");
        assert!(complaint.contains("--store"), "{complaint}");
    }
    assert_eq!(std::fs::read_to_string(store.place()).unwrap(), "my thesis");
}

#[test]
fn link_to_a_store_is_the_store_and_a_dangling_one_is_named() {
    let store = Store::embedded();
    let real = store.folder.path().join("elsewhere");
    std::os::unix::fs::symlink(&real, store.place()).unwrap();
    let log = fixture("crlf.csv");
    let ingest = [&["ingest", log.to_str().unwrap()], &KEY[..]].concat();
    let complaint = store.run(&ingest).complaint(1);
    assert!(complaint.contains(store.place()), "{complaint}");
    std::fs::create_dir(&real).unwrap();
    store.run(&ingest).said();
    assert_eq!(store.keys(), ["nio 2048"]);
    assert!(real.join("runs/nio+2048/manifest.json").is_file());
    assert_eq!(store.leftovers(), Vec::<String>::new());
}

/// Runs a command, which may take a minute.
fn within_a_minute(store: &Store, arguments: &[&str]) -> Done {
    let own = store.command(arguments);
    let mut command = Command::new("timeout");
    command.arg("60").arg(own.get_program()).args(own.get_args()).stdin(Stdio::null());
    for (name, value) in own.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let done = done(&mut command);
    assert!(![Some(124), Some(101)].contains(&done.code), "{arguments:?}: {}", done.err);
    done
}

#[test]
fn what_somebody_else_put_beside_a_run_stays() {
    let store = stored();
    let run = Path::new(store.place()).join("runs/nio+2048");
    let staging = Path::new(store.place()).join("staging");
    let own =
        [run.join("run-backup"), staging.join("run-EEEEEE"), staging.join("run-FFFFFF/runs/nio+2048/run-a")];
    for folder in &own {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("thesis.txt"), "mine").unwrap();
    }
    std::os::unix::fs::symlink(store.folder.path(), run.join("run-CCCCCC")).unwrap();
    let log = fixture("crlf.csv");
    for flags in
        [&["--framework", "go", "--test", "t"][..], &["--framework", "nio", "--test", "2048", "--replace"]]
    {
        store.run(&[&["ingest", log.to_str().unwrap()], flags].concat()).said();
    }
    let repair = store.run(&["repair"]).err;
    assert!(!repair.contains("run-EEEEEE") && !repair.contains("run-FFFFFF"), "{repair}");
    for folder in &own {
        assert_eq!(
            std::fs::read_to_string(folder.join("thesis.txt")).unwrap(),
            "mine",
            "{}",
            folder.display()
        );
    }
    assert!(run.join("run-CCCCCC").is_symlink());
    assert_eq!(store.keys(), ["nio 2048", "go t"]);
}

/// Puts something else in the place of each file of a store: no command waits for it, or follows it out of the store.
#[test]
fn pipe_or_socket_in_the_place_of_a_file_is_named_and_not_waited_for() {
    let store = stored();
    let log = fixture("crlf.csv");
    let ingest = ["ingest", log.to_str().unwrap(), "--framework", "nio", "--test", "2048", "--replace"];
    let place = Path::new(store.place());
    let names = ["perfpipe.json", ".lock", "runs/nio+2048/.lock", "runs/nio+2048/manifest.json"];
    let own = names.map(|name| place.join(name));
    for file in own.into_iter().chain(files(&store)) {
        let kept = store.folder.path().join("kept");
        for kind in ["pipe", "socket"] {
            std::fs::rename(&file, &kept).unwrap();
            match kind {
                "pipe" => assert!(Command::new("mkfifo").arg(&file).status().unwrap().success()),
                _ => drop(UnixListener::bind(&file).unwrap()),
            }
            let export = [&["export", "--what", what(&file)], &KEY[..]].concat();
            // A lock matters to writers alone.
            let writes = file.file_name().unwrap() == ".lock";
            let commands: Vec<&[&str]> = if writes {
                vec![&ingest]
            } else {
                vec![&["list"], &export, &["verify"], &["diagnose", "nio_2048"]]
            };
            let all: Vec<Done> =
                commands.into_iter().map(|arguments| within_a_minute(&store, arguments)).collect();
            let told =
                all.iter().any(|done| done.err.contains(file.to_str().unwrap()) && done.code != Some(0));
            assert!(told, "{kind} {}: {all:?}", file.display());
            std::fs::remove_file(&file).unwrap();
            std::fs::rename(&kept, &file).unwrap();
        }
    }
    assert_eq!(store.summary(&store.only_key(), &[])["successes"], 600);
}
