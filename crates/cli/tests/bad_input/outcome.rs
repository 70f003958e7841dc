//! What happens when the command is given an input: what it says, and what the store holds afterwards.

use std::collections::HashMap;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::inputs::input;
use crate::support::*;

/// The most memory that any run of the command may have, in KiB.
const MOST_KIB: u64 = 300 << 10;

/// Gives the command a row's input in one of the ways, and tells what happened.
pub(crate) fn happens(store: &Store, row: &Value, way: &str) -> Value {
    let name = text(row, "input");
    outcome(store, row, way, &input(name))
}

/// The same with these bytes for the row's input.
pub(crate) fn outcome(store: &Store, row: &Value, way: &str, bytes: &[u8]) -> Value {
    let done = given(store, row, way, bytes, &["ingest"]);
    told(store, done, &format!("{}, {way}", text(row, "input")))
}

/// Gives a row's input, with these bytes, to a command in one of the ways.
pub(crate) fn given(store: &Store, row: &Value, way: &str, bytes: &[u8], command: &[&str]) -> Done {
    let arguments = |row: &Value, own: &str| {
        command.iter().map(|word| (*word).to_owned()).chain(arguments(row, own)).collect::<Vec<_>>()
    };
    let name = text(row, "input");
    for other in files(row).iter().filter(|file| *file != name) {
        store.file(other, input(other));
    }
    let path = store.folder.path().join(name);
    let by_name = arguments(row, name);
    let done = match way {
        "pipe" => watched(store, bytes, &arguments(row, "-")),
        "FIFO" => through_fifo(store, &path, bytes, &by_name),
        "folder" => {
            std::fs::create_dir_all(&path).unwrap();
            watched(store, b"", &by_name)
        }
        "file that is not there" => watched(store, b"", &by_name),
        _ => {
            store.file(name, bytes);
            if way == "unreadable file" {
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o0)).unwrap();
            }
            watched(store, b"", &by_name)
        }
    };
    remove(&path);
    done
}

/// The texts of a row's list; none where it has no such list.
fn strings(row: &Value, list: &str) -> Vec<String> {
    row[list].as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// The files that the command is given, the row's input among them.
pub(crate) fn files(row: &Value) -> Vec<String> {
    let files = strings(row, "files");
    if files.is_empty() { vec![text(row, "input").to_owned()] } else { files }
}

/// The words behind the command, with `own` in the place of the row's input.
fn arguments(row: &Value, own: &str) -> Vec<String> {
    let name = text(row, "input");
    let files = files(row).into_iter().map(|file| if file == name { own.to_owned() } else { file });
    files.chain(strings(row, "flags")).collect()
}

fn remove(path: &Path) {
    if path.is_dir() {
        std::fs::remove_dir_all(path).unwrap();
    } else if path.exists() {
        std::fs::remove_file(path).unwrap();
    }
}

/// Runs the command on a named pipe into which these bytes are written.
fn through_fifo(store: &Store, path: &Path, bytes: &[u8], arguments: &[String]) -> Done {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    std::thread::scope(|scope| {
        // A command that refuses the input may end before it has read it all.
        scope.spawn(|| _ = std::fs::write(path, bytes));
        watched(store, b"", arguments)
    })
}

/// Runs a command with this on its standard input, and sees to it that it takes no more memory than it may.
fn watched(store: &Store, input: &[u8], arguments: &[String]) -> Done {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut child = store.spawn(&arguments);
    let (pid, mut stdin) = (child.id(), child.stdin.take().unwrap());
    let ended = AtomicBool::new(false);
    let (done, peak) = std::thread::scope(|scope| {
        // A command that refuses the input may end before it has read it all.
        scope.spawn(move || _ = stdin.write_all(input));
        let watcher = scope.spawn(|| {
            let mut peak = 0;
            while !ended.load(Ordering::Relaxed) {
                peak = peak.max(peak_kib(pid));
                std::thread::sleep(Duration::from_millis(2));
            }
            peak
        });
        let done = finish(child);
        ended.store(true, Ordering::Relaxed);
        (done, watcher.join().unwrap())
    });
    assert!(peak < MOST_KIB, "{peak} KiB for {arguments:?}");
    done
}

/// The most memory that a process had so far, in KiB; 0 where it has ended.
fn peak_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0)
}

/// What a command came to; the store is looked at, and emptied.
fn told(store: &Store, done: Done, what: &str) -> Value {
    assert!(!done.err.contains("panicked"), "{what}: {}", done.err);
    assert!(done.out.is_empty(), "{what}: data on standard output");
    check_safe(&done.err);
    let outcome = match done.code {
        Some(0) => accepted(store, &done.err),
        code => refused(code, &done.err),
    };
    assert_eq!(store.keys(), Vec::<String>::new(), "{what}");
    assert_eq!(store.leftovers(), Vec::<String>::new(), "{what}");
    outcome
}

/// Nothing but whole lines of printable characters, none of them endless.
pub(crate) fn check_safe(said: &str) {
    for line in said.lines() {
        assert!(!line.contains(char::is_control), "{line:?}");
        assert!(line.chars().count() < 2_000, "a line of {} characters: {:.200}", line.chars().count(), line);
    }
}

fn refused(code: Option<i32>, said: &str) -> Value {
    let (message, remedy) = said.split_once('\n').unwrap_or((said, ""));
    let message = message.strip_prefix("perfpipe: ").unwrap_or(message);
    let message =
        message.strip_prefix('[').and_then(|rest| rest.split_once("] ")).map_or(message, |(_, rest)| rest);
    let remedy: Vec<&str> = remedy.lines().map(str::trim).collect();
    assert!(!remedy.is_empty(), "no remedy: {said}");
    json!({ "exit": code, "message": message, "remedy": remedy.join(" ") })
}

/// What of a run is stored, counted in what the store gives back; the run is dropped.
fn accepted(store: &Store, said: &str) -> Value {
    let summary = |line: &&str| line.trim_start().starts_with("run  ");
    let notes: Vec<&str> = said.lines().take_while(|line| !summary(line)).collect();
    let cpu = said.lines().find_map(|line| line.trim_start().strip_prefix("CPU  "));
    let cpu = cpu.filter(|cpu| *cpu != "no CPU export was given");
    let run = store.list().remove(0);
    let key = Key::new(text(&run, "framework"), text(&run, "test"));
    let samples = rows(&store.export(&key, "samples", "csv", &[]));
    let rejects = rows(&store.export(&key, "rejects", "csv", &[]));
    let [requests, transactions] = ["requests", "transactions"].map(|name| count(&run, name) as usize);
    assert_eq!(samples.len(), requests + transactions, "{run}");
    assert_eq!(rejects.len(), count(&run, "rejects") as usize, "{run}");
    store.run(&["drop", "--framework", &key.framework, "--test", &key.test]).said();
    let reject = |row: &HashMap<String, String>| {
        format!("line {}, byte {}: {}: {}", row["line"], row["byte"], row["code"], row["reason"])
    };
    let mut outcome = json!({
        "exit": 0, "notes": notes, "requests": requests, "transactions": transactions,
        "records": requests + transactions + rejects.len(),
        "rejects": rejects.iter().map(reject).collect::<Vec<_>>(),
    });
    if let Some(cpu) = cpu {
        outcome["cpu"] = cpu.into();
    }
    outcome
}
