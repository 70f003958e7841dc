//! Outputs of load tools that come packed, by standard input, or are looked at without a store.

use std::io::Write;
use std::process::Stdio;

use super::output;
use crate::support::*;

/// What a command does with these bytes on its standard input.
fn piped(store: &Store, arguments: &[&str], bytes: &[u8]) -> Done {
    let mut command = store.command(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let bytes = bytes.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&bytes));
    let done = finish(child);
    writer.join().unwrap().unwrap();
    done
}

#[test]
fn outputs_are_swept_without_a_store() {
    let store = Store::embedded();
    let ports = store.file("ports.toml", "8100 = \"alpha\"\n8101 = \"beta\"\n");
    let folder = output("ab/jempower");
    let of_files = |format: &str| {
        store.run(&["sweep", &folder, "--frameworks", &ports, "--framework", "beta", "--format", format])
    };
    let from_files = of_files("csv").text();
    assert!(!std::path::Path::new(store.place()).exists(), "nothing is stored");
    store.run(&["ingest", &folder, "--frameworks", &ports]).said();
    let stored = store.run(&["sweep", "--test", "/hello", "--framework", "beta", "--format", "csv"]).text();
    assert_eq!(from_files, stored);
    let missing = store.run(&["sweep", &folder, "--test", "/helo"]).complaint(1);
    assert!(missing.contains("Did you mean /hello?"), "{missing}");
    let log = fixture("crlf.csv");
    let none = store.run(&["sweep", log.to_str().unwrap()]).complaint(1);
    assert!(none.contains("no file is the summary of a load tool"), "{none}");
    let idle = store.run(&["sweep", "--test", "/hello", "--name", "{framework}"]).complaint(2);
    assert!(idle.contains("no FILE is given"), "{idle}");
}

#[test]
fn all_tests_of_files_are_swept_where_there_is_room() {
    let store = Store::embedded();
    let folder = output("wrk/workers");
    let named = ["--name", "result_w{workers}_{repeat}.log", "--framework", "tiny"];
    let out = format!("{}-charts", store.file("x", ""));
    let sweep = |more: &[&str]| store.run(&[&["sweep", &folder], &named[..], more].concat());
    let done = sweep(&["--by", "workers", "--out", &out]);
    assert!(done.err.contains("wrote 6 files"), "{}", done.err);
    let text = done.text();
    assert!(text.contains("/hello\n") && text.contains("/json\n") && text.contains("4.173"), "{text}");
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 12);
    let complaint = sweep(&["--format", "csv"]).complaint(2);
    assert!(complaint.contains("Choose one by --test: /hello, /json"), "{complaint}");
    assert!(sweep(&["--test", "/json", "--format", "csv"]).text().contains("4.17"));
}

#[test]
fn packed_outputs_are_read_as_their_contents() {
    let text = std::fs::read(output("wrk/http500.txt")).unwrap();
    let (json, ab) = (output("oha/failures-json.out"), output("ab/http500.txt"));
    let exact = std::fs::read(output("ab/http500.tsv")).unwrap();
    let mut exports = Vec::new();
    for packed in [false, true] {
        let store = Store::embedded();
        let keyed = ["--framework", "go", "--test", "t", "--concurrency", "16"];
        let mut files = vec![json.clone()];
        if packed {
            let gz = store.file("wrk.txt.gz", gzipped(&text));
            let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
            let options = zip::write::SimpleFileOptions::default();
            for (name, bytes) in
                [("r/http500.txt", std::fs::read(&ab).unwrap()), ("r/http500.tsv", exact.clone())]
            {
                zip.start_file(name, options).unwrap();
                zip.write_all(&bytes).unwrap();
            }
            files.extend([gz, store.file("ab.zip", zip.finish().unwrap().into_inner())]);
        } else {
            files.extend([output("wrk/http500.txt"), ab.clone(), output("ab/http500.tsv")]);
        }
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        store.run(&[&["ingest"], &files[..], &keyed[..]].concat()).said();
        exports.push(super::points(&store, "t"));
    }
    assert_eq!(rows(&exports[0]).len(), 3);
    assert_eq!(exports[0], exports[1]);
}

#[test]
fn standard_input_may_be_an_output_or_a_log() {
    let store = Store::embedded();
    let text = std::fs::read(output("wrk/http500.txt")).unwrap();
    let said = piped(&store, &["ingest", "-", "--framework", "go", "--test", "t"], &text).said();
    assert!(said.contains("go t by wrk at c16: 2578.21 successes/s"), "{said}");
    let swept = piped(&store, &["sweep", "-", "--framework", "go", "--format", "csv"], &text).text();
    assert_eq!(rows(&swept)[0]["concurrency"], "16");
    let log = std::fs::read(fixture("crlf.csv")).unwrap();
    piped(&store, &["ingest", "-", "--framework", "go", "--test", "log"], &log).said();
    store.run(&["ingest", fixture("crlf.csv").to_str().unwrap(), "--framework", "f", "--test", "log"]).said();
    let seconds = |run: &str| store.run(&["export", run, "--what", "seconds"]).text();
    assert_eq!(rows(&seconds("go_log")).len(), rows(&seconds("f_log")).len());
    let empty = piped(&store, &["ingest", "-", "--framework", "go", "--test", "no"], b"").complaint(3);
    assert!(empty.contains("is empty"), "{empty}");
}

#[test]
fn what_can_not_be_read_or_named_is_refused() {
    let store = Store::embedded();
    let text = std::fs::read(output("wrk/http500.txt")).unwrap();
    let mut cut = gzipped(&text);
    cut.truncate(cut.len() / 2);
    let (good, cut) = (store.file("r/a.txt", &text), store.file("r/b.txt.gz", cut));
    let folder = store.folder.path().join("r").to_str().unwrap().to_owned();
    for files in [&[cut.as_str()][..], &[&good, &cut], &[&folder]] {
        let said =
            store.run(&[&["ingest"], files, &["--framework", "f", "--test", "t"]].concat()).complaint(3);
        assert_told(&said, &["b.txt.gz", "cut short"]);
    }
    // One test for all would make repeats of different tests.
    let several = [&output("wrk/workers/result_w1_1.log"), &output("hey/clean-summary.out")];
    let files = [several[0].as_str(), several[1], "--test", "/json", "--framework", "f"];
    let said = store.run(&[&["sweep"], &files[..]].concat()).complaint(2);
    assert_told(&said, &["some outputs have a URL and some have none"]);
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(bytes).unwrap();
    gz.finish().unwrap()
}
