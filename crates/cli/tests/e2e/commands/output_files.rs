//! What `-o`, `--junit` and the folders of pages lead to: files are replaced whole where they are, and all else is
//! written straight through and stays what it is.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::*;

const EXPORT: [&str; 5] = ["export", "--framework", "nio", "--test", "2048"];

fn store_with_run() -> Store {
    let store = Store::embedded();
    let log = fixture("crlf.csv");
    store.run(&["ingest", log.to_str().unwrap(), "--framework", "nio", "--test", "2048"]).said();
    store
}

/// The path of a file of the test, and the same as a text.
fn path(store: &Store, name: &str) -> (PathBuf, String) {
    let path = store.folder.path().join(name);
    let text = path.to_str().unwrap().to_owned();
    (path, text)
}

/// Every command that writes a file that is named, with the path in its place.
fn writers(path: &str) -> Vec<Vec<&str>> {
    let mut all: Vec<Vec<&str>> = ["seconds", "samples", "run", "hgrm"]
        .map(|what| [&EXPORT[..], &["--what", what, "-o", path]].concat())
        .into();
    all.push([&EXPORT[..], &["--what", "samples", "--format", "parquet", "-o", path]].concat());
    all.push(vec!["check", "--test", "2048", "requests > 0", "--junit", path]);
    all
}

#[test]
fn file_that_can_not_be_written_is_named_with_a_code_and_a_remedy() {
    let store = store_with_run();
    for name in ["nowhere/x.csv", "."] {
        let complaint = store.run(&[&EXPORT[..], &["-o", name]].concat()).complaint(1);
        assert_told(&complaint, &["[io] ", name, "Check the name, its folder"]);
        assert!(!complaint.contains(".perfpipe-"), "{complaint}");
    }
}

#[test]
fn error_behind_the_commit_of_an_ingest_says_that_the_run_is_stored() {
    let store = store_with_run();
    let log = fixture("crlf.csv");
    let (page, _) = path(&store, "pages/go_t.svg");
    fs::create_dir_all(page).unwrap();
    let ingest = ["ingest", log.to_str().unwrap(), "--framework", "go", "--test", "t", "--replace", "-q"];
    for flags in [&["--format", "json", "-o", "/dev/full"][..], &["--out", "pages"]] {
        let complaint = store.run(&[&ingest[..], flags].concat()).complaint(1);
        assert_told(&complaint, &["the run go_t is stored in", "because: "]);
    }
    assert_eq!(store.keys(), ["nio 2048", "go t"]);
}

#[test]
fn ending_of_a_file_names_its_format_unless_a_flag_does() {
    let store = store_with_run();
    let of_all: &[(&str, &str)] =
        &[("csv", "csv"), ("json", "json"), ("md", "md"), ("txt", "text"), ("JSON", "json")];
    for command in [&EXPORT[..], &["list"], &["verify"], &["diagnose", "nio_2048"]] {
        for (ending, format) in of_all {
            let (file, name) = path(&store, &format!("x.{ending}"));
            let _ = store.run(&[command, &["-o", &name]].concat());
            let _ = store.run(&[command, &["--format", format, "-o", "x"]].concat());
            assert_eq!(
                fs::read(file).unwrap(),
                fs::read(path(&store, "x").0).unwrap(),
                "{command:?} {ending}"
            );
        }
    }
    let (table, name) = path(&store, "x.json");
    store.run(&[&EXPORT[..], &["--format", "md", "-o", &name]].concat()).said();
    assert!(fs::read_to_string(&table).unwrap().starts_with("| "), "a flag goes before the ending");
    let (table, name) = path(&store, "x.parquet");
    store.run(&[&EXPORT[..], &["-o", &name]].concat()).said();
    assert!(fs::read(table).unwrap().starts_with(b"PAR1"));
    let (page, name) = path(&store, "x.html");
    store.run(&["compare", "nio_2048", "nio_2048", "-o", &name]).said();
    assert!(fs::read_to_string(page).unwrap().starts_with("<!DOCTYPE html>"));
    for (what, ending) in [("run", "csv"), ("hgrm", "json"), ("counts", "parquet")] {
        let complaint =
            store.run(&[&EXPORT[..], &["--what", what, "-o", &format!("y.{ending}")]].concat()).complaint(2);
        assert_told(&complaint, &["ending"]);
    }
}

/// What a command leaves in an ordinary file.
fn expected(store: &Store, arguments: &[&str], named: &str) -> Vec<u8> {
    let (file, name) = path(store, "expected");
    let arguments: Vec<&str> =
        arguments.iter().map(|argument| if *argument == named { &*name } else { argument }).collect();
    assert_eq!(store.run(&arguments).code, Some(0));
    let bytes = fs::read(&file).unwrap();
    fs::remove_file(file).unwrap();
    bytes
}

#[test]
fn a_dash_is_standard_output() {
    let store = store_with_run();
    let mut command = store.command(&[&EXPORT[..], &["-o", "-"]].concat());
    let done = done(command.current_dir(store.folder.path()));
    assert_eq!((done.code, done.out), (Some(0), store.run(&EXPORT).out));
    assert!(!path(&store, "-").0.exists());
}

fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A device of the test's own, or, where none may be made, a link of its own to the system's: what replaces it does no
/// harm elsewhere.
fn make_device(path: &Path, minor: &str, of_system: &str) {
    let made =
        Command::new("mknod").arg(path).args(["c", "1", minor]).stderr(Stdio::null()).status().unwrap();
    if !made.success() || fs::OpenOptions::new().write(true).open(path).is_err() {
        let _ = fs::remove_file(path);
        symlink(of_system, path).unwrap();
    }
}

/// No file of the test's folder is a leftover.
fn assert_nothing_left(store: &Store) {
    let names = fs::read_dir(store.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with(".perfpipe-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn named_pipe_is_written_through_and_stays() {
    let store = store_with_run();
    let (fifo, name) = path(&store, "fifo");
    make_fifo(&fifo);
    for arguments in writers(&name) {
        let expected = expected(&store, &arguments, &name);
        let reader = Command::new("cat").arg(&fifo).stdout(Stdio::piped()).spawn().unwrap();
        assert_eq!(store.run(&arguments).code, Some(0), "{arguments:?}");
        assert!(fs::metadata(&fifo).unwrap().file_type().is_fifo(), "{arguments:?}");
        let read = finish(reader);
        assert!(read.out == expected, "{arguments:?}: {} bytes of {}", read.out.len(), expected.len());
    }
    assert_nothing_left(&store);
}

#[test]
fn page_that_is_a_named_pipe_is_written_through_and_stays() {
    for format in ["svg", "pdf", "png", "html"] {
        let store = store_with_run();
        let folder = store.folder.path().join("pages");
        fs::create_dir(&folder).unwrap();
        let page = match format {
            "html" => folder.join("report_2048.html"),
            ending => folder.join(format!("nio_2048.{ending}")),
        };
        make_fifo(&page);
        let reader = Command::new("cat").arg(&page).stdout(Stdio::piped()).spawn().unwrap();
        // A page is more than a pipe holds.
        let reader = std::thread::spawn(|| finish(reader));
        store
            .run(&["report", "--test", "2048", "--format", format, "--out", folder.to_str().unwrap()])
            .text();
        assert!(fs::metadata(&page).unwrap().file_type().is_fifo(), "{format}");
        assert!(reader.join().unwrap().out.len() > 1000, "{format}");
    }
}

#[test]
fn device_is_written_through_and_stays_and_a_full_one_is_an_error() {
    let store = store_with_run();
    let ((null, null_name), (full, full_name)) = (path(&store, "null"), path(&store, "full"));
    make_device(&null, "3", "/dev/null");
    make_device(&full, "7", "/dev/full");
    let is_device = |path: &Path| fs::metadata(path).unwrap().file_type().is_char_device();
    for arguments in writers(&null_name) {
        assert_eq!(store.run(&arguments).code, Some(0), "{arguments:?}");
        assert!(is_device(&null), "{arguments:?}");
    }
    for arguments in writers(&full_name) {
        let done = store.run(&arguments);
        assert!(is_device(&full), "{arguments:?}");
        assert_eq!(done.code, Some(1), "{arguments:?}: {}", done.err);
        for part in [full_name.as_str(), "No space left on device"] {
            assert!(done.err.contains(part), "{part} is not in: {}", done.err);
        }
    }
    assert_nothing_left(&store);
}

#[test]
fn link_is_followed_to_its_file_which_is_replaced_whole() {
    let store = store_with_run();
    let elsewhere = store.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let file = elsewhere.join("file");
    let (link, name) = path(&store, "link");
    symlink("second", &link).unwrap();
    symlink("elsewhere/file", store.folder.path().join("second")).unwrap();
    for arguments in writers(&name) {
        let expected = expected(&store, &arguments, &name);
        // First the link leads to nothing: its file is made then.
        for before in [None, Some("old")] {
            let _ = fs::remove_file(&file);
            if let Some(text) = before {
                fs::write(&file, text).unwrap();
            }
            let inode = fs::metadata(&file).map(|found| found.ino()).ok();
            assert_eq!(store.run(&arguments).code, Some(0), "{arguments:?}");
            assert!(link.is_symlink(), "{arguments:?}");
            assert!(fs::read(&file).unwrap() == expected, "{arguments:?}");
            assert_ne!(Some(fs::metadata(&file).unwrap().ino()), inode, "written in place: {arguments:?}");
        }
    }
    // A failure leaves what was there.
    store.run(&[&EXPORT[..], &["--label", "no such label", "-o", &name]].concat()).complaint(2);
    assert!(fs::read(&file).unwrap().starts_with(b"<?xml"));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
    assert_nothing_left(&store);
}

#[test]
fn file_that_is_replaced_keeps_its_rights() {
    let store = store_with_run();
    let (file, name) = path(&store, "file.csv");
    for mode in [0o600, 0o640, 0o666] {
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        store.run(&[&EXPORT[..], &["-o", &name]].concat()).said();
        let found = fs::metadata(&file).unwrap();
        assert_eq!(found.permissions().mode() & 0o777, mode);
        assert!(found.len() > 3);
    }
}

#[test]
fn unwritable_output_is_named_and_stays() {
    let store = store_with_run();
    let (folder, folder_name) = path(&store, "folder");
    fs::create_dir(&folder).unwrap();
    let (socket, socket_name) = path(&store, "socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    let (link, link_name) = path(&store, "loop");
    symlink("loop", &link).unwrap();
    for (name, reason) in
        [(&folder_name, "is a directory"), (&socket_name, "is a socket"), (&link_name, "leads to itself")]
    {
        let complaint = store.run(&[&EXPORT[..], &["-o", name]].concat()).complaint(1);
        for part in [name.as_str(), reason] {
            assert!(complaint.contains(part), "{part} is not in: {complaint}");
        }
    }
    let complaint = store.run(&[&EXPORT[..], &["-o", "nowhere/file"]].concat()).complaint(1);
    assert_told(&complaint, &["nowhere/file", "No such file"]);
    assert!(fs::metadata(&socket).unwrap().file_type().is_socket() && link.is_symlink());
}

#[test]
fn standard_output_has_names_too() {
    let store = store_with_run();
    let expected = store.run(&EXPORT).text();
    let (link, link_name) = path(&store, "stdout");
    symlink("/proc/self/fd/1", &link).unwrap();
    for name in [link_name.as_str(), "/dev/fd/1", "/proc/self/fd/1"] {
        // A pipe, and a file to which others have written before.
        assert_eq!(store.run(&[&EXPORT[..], &["-o", name]].concat()).text(), expected, "{name}");
        let (file, _) = path(&store, "appended");
        fs::write(&file, "before\n").unwrap();
        let end = fs::OpenOptions::new().append(true).open(&file).unwrap();
        let arguments = [&EXPORT[..], &["-o", name]].concat();
        assert!(store.command(&arguments).stdout(end).status().unwrap().success());
        assert_eq!(fs::read_to_string(&file).unwrap(), format!("before\n{expected}"), "{name}");
    }
}

#[test]
fn bytes_that_are_no_text_are_not_written_to_a_terminal() {
    let store = Store::embedded();
    let key = Fixture::named("crlf.csv").ingest_into(&store);
    let binary = env!("CARGO_BIN_EXE_perfpipe");
    for what in ["seconds", "samples"] {
        let line = format!(
            "{binary} export --framework {} --test {} --what {what} --format parquet --store {}",
            key.framework,
            key.test,
            store.place()
        );
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).stdin(std::process::Stdio::null());
        let Ok(told) = script.output() else { return };
        let shown = String::from_utf8_lossy(&told.stdout);
        assert_told(&shown, &["parquet", "terminal", "-o FILE"]);
        assert_eq!(told.status.code(), Some(2), "{shown}");
        let done = store.run(&[
            "export",
            "--framework",
            &key.framework,
            "--test",
            &key.test,
            "--what",
            what,
            "--format",
            "parquet",
        ]);
        assert!(done.out.starts_with(b"PAR1"), "a pipe takes it");
    }
}

/// In a folder where everyone may put files, what another user put there is refused, and nothing of it is changed. Only
/// root can make such files.
#[test]
fn link_of_another_user_in_a_shared_folder_is_not_followed() {
    use std::os::unix::fs::{chown, lchown};

    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return;
    }
    let store = store_with_run();
    let nobody = Some(65_534);
    let (shared, _) = path(&store, "shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let (mine, _) = path(&store, "mine");
    fs::write(&mine, "mine").unwrap();
    let (folder, _) = path(&store, "folder");
    fs::create_dir(&folder).unwrap();
    let place = |name: &str| shared.join(name).to_str().unwrap().to_owned();
    let [link, dangling, pipe, file, charts] = ["link", "dangling", "pipe", "file", "charts"].map(place);
    symlink(&mine, &link).unwrap();
    symlink(store.folder.path().join("nothing"), &dangling).unwrap();
    symlink(&folder, &charts).unwrap();
    make_fifo(Path::new(&pipe));
    fs::write(&file, "theirs").unwrap();
    [&link, &dangling, &charts].iter().for_each(|path| lchown(path, nobody, nobody).unwrap());
    [&pipe, &file].iter().for_each(|path| chown(path, nobody, nobody).unwrap());
    for place in [&link, &dangling, &pipe, &file] {
        for arguments in writers(place) {
            let complaint = store.run(&arguments).complaint(1);
            assert_told(&complaint, &[place, "another user put it there"]);
        }
    }
    let complaint = store.run(&["report", "--test", "2048", "--out", &charts]).complaint(1);
    assert_told(&complaint, &[&charts, "another user put it there"]);
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
    assert!(!path(&store, "nothing").0.exists() && fs::read_dir(&folder).unwrap().next().is_none());
    // One's own are followed and replaced, and so is what others put in a folder of theirs alone.
    let own = place("own");
    symlink(&mine, &own).unwrap();
    assert_eq!(store.run(&[&EXPORT[..], &["-o", &own]].concat()).code, Some(0));
    assert_ne!(fs::read_to_string(&mine).unwrap(), "mine");
}
