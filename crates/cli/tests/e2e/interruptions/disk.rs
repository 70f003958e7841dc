//! Disks that are full or read-only, and limits on files: the place and the remedy, and the run before unharmed.

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;

use crate::postgres::other_user;
use crate::support::*;
use crate::tools::mount::Mount;

const TOLD: [&str; 4] = ["--framework", "nio", "--test", "2048"];

fn ingest<'a>(log: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["ingest", log], &TOLD[..], more].concat()
}

fn exports(store: &Store) -> [String; 3] {
    let key = Key::new("nio", "2048");
    ["seconds", "samples", "summary"].map(|what| store.export(&key, what, "csv", &[]))
}

/// A log of many samples that don't pack well: a few MB as Parquet.
fn large_log(store: &Store) -> String {
    let mut log = "timeStamp,elapsed,label,success,bytes,Latency,Connect\n".to_owned();
    let mut random = 1_u64;
    for at in 0..300_000_u64 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (elapsed, bytes, latency) = (random >> 44, random >> 34, random >> 50);
        log.push_str(&format!("{},{elapsed},Get,true,{bytes},{latency},5\n", 1_795_203_738_615 + at / 4));
    }
    store.file("large.csv", log)
}

/// A store on a file system of so many KiB.
fn store_on(kib: usize) -> Option<(Mount, Store)> {
    let mount = Mount::new(kib)?;
    let mut store = Store::embedded();
    store.flag[1] = mount.path().join("store").to_str().unwrap().to_owned();
    Some((mount, store))
}

#[test]
fn full_disk_is_named_with_a_remedy_and_the_earlier_run_stays() {
    let Some((_mount, store)) = store_on(2048) else { return };
    store.run(&ingest(fixture("crlf.csv").to_str().unwrap(), &[])).said();
    let before = exports(&store);
    let log = large_log(&store);
    for _ in 0..2 {
        let complaint = store.run(&ingest(&log, &[])).complaint(1);
        assert_told(&complaint, &[store.place(), "samples.parquet", "No space left"]);
        assert_eq!(store.leftovers(), Vec::<String>::new());
        assert_eq!(exports(&store), before);
    }
    // What is left is enough for the counts.
    store.run(&ingest(&log, &["--no-samples"])).said();
    assert_eq!(count(&store.list()[0], "requests"), 300_000);
}

#[test]
fn disk_that_is_full_from_the_start_or_in_any_later_step_is_named() {
    let Some((mount, store)) = store_on(1024) else { return };
    let log = fixture("distributed.csv");
    let log = log.to_str().unwrap();
    store.run(&ingest(fixture("crlf.csv").to_str().unwrap(), &[])).said();
    let before = exports(&store);
    let filler = mount.path().join("filler");
    let mut stored = 0;
    for left in (0..200).step_by(8) {
        fill(&filler, left);
        let done = store.run(&ingest(log, &[]));
        std::fs::remove_file(&filler).unwrap();
        assert_eq!(store.leftovers(), Vec::<String>::new(), "{left} KiB left: {}", done.err);
        if done.code == Some(0) {
            stored += 1;
            store.run(&ingest(fixture("crlf.csv").to_str().unwrap(), &[])).said();
        } else {
            let complaint = done.complaint(1);
            assert!(complaint.contains(store.place()) && complaint.contains("Make room"), "{complaint}");
        }
        let now = exports(&store);
        assert!(now == before, "{left} KiB left");
    }
    assert!((1..25).contains(&stored), "{stored}");
}

/// Fills the file system but for so many KiB.
fn fill(filler: &Path, left: u64) {
    use std::io::Write;
    let mut file = std::fs::File::create(filler).unwrap();
    let block = vec![1; 4096];
    while file.write_all(&block).is_ok() {}
    let length = file.metadata().unwrap().len();
    file.set_len(length.saturating_sub(left << 10)).unwrap();
}

#[test]
fn full_folder_for_temporary_files_is_named() {
    let Some(mount) = Mount::new(64) else { return };
    let store = Store::embedded();
    let record = format!("soon,12,Get,true,{}\n", "x".repeat(50_000));
    let log = format!(
        "timeStamp,elapsed,label,success,failureMessage\n{}{}",
        "1795203738615,12,Get,true,\n".repeat(100),
        record.repeat(200)
    );
    let log = store.file("nio_rejects.csv", log);
    let folder = mount.path();
    let done = done(store.command(&ingest(&log, &[])).env("TMPDIR", &folder));
    let complaint = done.complaint(1);
    assert_told(&complaint, &[folder.to_str().unwrap(), "TMPDIR", "No space left"]);
    assert!(store.list().is_empty() && store.leftovers().is_empty());
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
    store.run(&ingest(&log, &[])).said();
}

#[test]
fn limit_on_the_size_of_files_is_an_error_not_a_death() {
    let store = Store::embedded();
    let log = large_log(&store);
    store.run(&ingest(fixture("crlf.csv").to_str().unwrap(), &[])).said();
    let before = exports(&store);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -f 512; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_perfpipe")]);
    command.args(ingest(&log, &[])).args(&store.flag);
    let complaint = done(&mut command).complaint(1);
    assert_told(&complaint, &[store.place(), "samples.parquet", "File too large", "ulimit"]);
    assert_eq!(store.leftovers(), Vec::<String>::new());
    assert_eq!(exports(&store), before);
}

#[test]
fn limit_on_open_files_is_an_error_that_names_it() {
    let store = Store::embedded();
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -n 12; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_perfpipe")]);
    command.args(ingest(fixture("crlf.csv").to_str().unwrap(), &[])).args(&store.flag);
    let complaint = done(&mut command).complaint(1);
    assert_told(&complaint, &["Too many open files", "ulimit -n"]);
    assert!(store.list().is_empty());
    // Not even a folder could be opened to be removed.
    store.run(&ingest(fixture("crlf.csv").to_str().unwrap(), &[])).said();
    assert_eq!(store.leftovers(), Vec::<String>::new());
}

#[test]
fn read_only_store_can_be_read_and_says_why_it_can_not_be_written() {
    let Some((mut mount, store)) = store_on(4096) else { return };
    let log = fixture("crlf.csv");
    let log = log.to_str().unwrap();
    store.run(&ingest(log, &[])).said();
    let before = exports(&store);
    mount.make_read_only();
    let other = ["ingest", log, "--framework", "nio", "--test", "other"];
    let inferred = ["ingest", log];
    let drop = [&["drop"], &TOLD[..]].concat();
    for arguments in [&ingest(log, &[])[..], &other, &inferred, &drop] {
        let complaint = store.run(arguments).complaint(1);
        assert_told(&complaint, &[store.place(), "Read-only file system"]);
        assert_eq!(exports(&store), before);
        assert_eq!(store.keys(), ["nio 2048"]);
    }
}

/// The command on a store as a user who is not root, and so has no rights but those that the files give.
fn run_as_ordinary_user(store: &Store, arguments: &[&str]) -> Done {
    let Some((user, group)) = other_user() else { return store.run(arguments) };
    chown(store.folder.path(), Some(user), Some(group)).unwrap();
    // Another user may not look into the folders that lead to the binary and to the fixtures.
    let program = store.folder.path().join("perfpipe");
    if !program.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_perfpipe"), &program).unwrap();
    }
    let mut command = std::process::Command::new(program);
    command.args(arguments).args(&store.flag).current_dir(store.folder.path()).uid(user).gid(group);
    done(&mut command)
}

#[test]
fn store_that_one_may_not_write_or_read_is_named() {
    let store = Store::embedded();
    let log = store.file("crlf.csv", std::fs::read(fixture("crlf.csv")).unwrap());
    run_as_ordinary_user(&store, &ingest(&log, &[])).said();
    let before = exports(&store);
    let root = Path::new(store.place()).to_owned();
    let folders = [root.join("runs/nio+2048"), root.join("runs"), root.join("staging"), root];
    let set = |mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        folders
            .iter()
            .rev()
            .for_each(|folder| std::fs::set_permissions(folder, permissions.clone()).unwrap());
    };
    set(0o555);
    let complaint = run_as_ordinary_user(&store, &ingest(&log, &[])).complaint(1);
    assert_told(&complaint, &[store.place(), "Permission denied"]);
    assert_eq!(exports(&store), before);
    set(0o755);
    std::fs::set_permissions(store.place(), std::fs::Permissions::from_mode(0o000)).unwrap();
    let complaint = run_as_ordinary_user(&store, &["list"]).complaint(1);
    set(0o755);
    assert_told(&complaint, &[store.place(), "Permission denied"]);
}
