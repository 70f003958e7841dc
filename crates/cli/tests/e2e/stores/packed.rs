//! A run travels as one file, without its samples, and gives the same figures in another store.

use std::io::{Read, Write};

use serde_json::Value;

use crate::support::*;

const TABLES: [&str; 7] = ["seconds", "errors", "cpu", "labels", "rejects", "summary", "phases"];

fn all_of(store: &Store, key: &Key) -> Vec<String> {
    TABLES.map(|what| store.export(key, what, "json", &[])).into()
}

/// A store of a run with samples, CPU readings and a reject, and the file that it is packed into.
fn packed(store: Store) -> (Store, Key, String) {
    let files = ["Results-2048-8181.killed.csv.zip", "Results-2048-8181.killed.cpu.csv"];
    let files = files.map(|file| fixture(file).to_str().unwrap().to_owned());
    let ingest = ["ingest", &files[0], &files[1], "--framework", "go", "--test", "t", "--tag", "branch=main"];
    store.run(&ingest).said();
    store.run(&["export", "go_t", "--what", "counts", "-o", "go.run"]).said();
    let path = store.folder.path().join("go.run").to_str().unwrap().to_owned();
    (store, Key::new("go", "t"), path)
}

#[test]
fn packed_run_gives_equal_exports_in_another_store() {
    for (here, key, file) in Store::each().into_iter().map(packed) {
        let piped = here.run(&["export", "go_t", "--what", "counts"]);
        assert_eq!(piped.code, Some(0), "{}", piped.err);
        // What is piped is as good as the file.
        let from_pipe = here.file("piped.run", &piped.out);
        let third = Store::embedded();
        third.run(&["ingest", &from_pipe]).said();
        assert_eq!(all_of(&third, &key), all_of(&here, &key));
        for there in Store::each() {
            assert_told(&there.run(&["ingest", &file]).said(), &["stored go_t", "counts only"]);
            assert_eq!(all_of(&there, &key), all_of(&here, &key));
            let (mut own, mut other) = (here.list().remove(0), there.list().remove(0));
            assert_eq!(
                (own["samples_stored"].take(), other["samples_stored"].take()),
                (true.into(), false.into())
            );
            assert_eq!(own, other);
            assert_told(&there.run(&["ingest", &file]).said(), &["is already in"]);
            assert_eq!(there.run(&["verify"]).code, Some(0));
            assert_eq!(there.leftovers(), [""; 0]);
            // And on from there.
            there.run(&["export", "go_t", "--what", "counts", "-o", "again.run"]).said();
            let again = Store::embedded();
            again.run(&["ingest", there.folder.path().join("again.run").to_str().unwrap()]).said();
            assert_eq!(all_of(&again, &key), all_of(&here, &key));
        }
        // The samples of the run are not given up for its counts.
        let complaint = here.run(&["ingest", &file]).complaint(1);
        assert_told(&complaint, &["go_t", "--replace"]);
        assert_eq!(here.list()[0]["samples_stored"], true);
        here.run(&["ingest", &file, "--replace"]).said();
        assert_eq!(here.list()[0]["samples_stored"], false);
    }
}

#[test]
fn packed_run_takes_no_flags_and_a_damaged_one_is_refused() {
    let (here, _, file) = packed(Store::embedded());
    let there = Store::embedded();
    for flags in [&["--framework", "x"][..], &["--no-samples"], &["--cpu-offset", "1"], &["--tag", "a=b"]] {
        let complaint = there.run(&[&["ingest", &file], flags].concat()).complaint(2);
        assert_told(&complaint, &["go.run", "--replace", "perfpipe rename"]);
    }
    // An inspection says the same.
    let inspected = here.run(&["inspect", &file]);
    assert_told(&inspected.text(), &["a run of another store", "go_t", "with counts only"]);
    let complaint = here.run(&["inspect", &file, "--framework", "x"]).complaint(2);
    assert_told(&complaint, &["go.run", "--replace", "perfpipe rename"]);
    here.run(&["export", "go_t", "--what", "counts", "--format", "csv"]).complaint(2);
    here.run(&["export", "go_t", "--what", "counts", "--from", "3"]).complaint(2);
    let whole = std::fs::read(&file).unwrap();
    for cut in [60, whole.len() / 2, whole.len() - 1] {
        let path = there.file("cut.run", &whole[..cut]);
        for command in ["inspect", "ingest"] {
            assert_told(&there.run(&[command, &path]).complaint(3), &["cut.run", "damaged"]);
        }
    }
    for at in (100..whole.len()).step_by(whole.len() / 60) {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        let path = there.file("flipped.run", &bytes);
        let done = there.run(&["ingest", &path]);
        assert!(!done.err.contains("panicked"), "{at}: {}", done.err);
        match done.code {
            // A byte that says nothing, such as a date in the zip's directory.
            Some(0) => {
                assert_eq!(all_of(&there, &Key::new("go", "t")), all_of(&here, &Key::new("go", "t")), "{at}")
            }
            _ => assert!(there.list().is_empty(), "{at}: {}", done.err),
        }
        if done.code == Some(0) {
            there.run(&["drop", "go_t"]).said();
        }
    }
}

/// The entries of a packed run, by name.
fn entries(file: &str) -> Vec<(String, Vec<u8>)> {
    let mut zip = zip::ZipArchive::new(std::fs::File::open(file).unwrap()).unwrap();
    let count = zip.len();
    let entry = |number| {
        let mut entry = zip.by_index(number).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (entry.name().unwrap().into_owned(), bytes)
    };
    (0..count).map(entry).collect()
}

/// Writes entries as a packed run.
fn zipped(entries: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let plain = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in entries {
        zip.start_file(name.as_str(), plain).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The same manifest with another row, and the checksum of that.
fn resealed(manifest: &[u8], lie: &dyn Fn(&mut Value)) -> Vec<u8> {
    let mut manifest: Value = serde_json::from_slice(manifest).unwrap();
    lie(&mut manifest["run"]);
    let run = manifest["run"].to_string();
    let (layout, crc32) = (&manifest["layout"], crc32fast::hash(run.as_bytes()));
    format!("{{\"layout\":{layout},\"crc32\":{crc32},\"run\":{run}}}").into_bytes()
}

/// A way in which the row of a packed run lies: the field, and its value.
const LIES: [(&str, &str); 20] = [
    ("seconds", "4294967295"),
    ("seconds", "0"),
    ("t0_ms", "-9223372036854775808"),
    ("t0_ms", "9223372036854775807"),
    ("last_ms", "9223372036854775807"),
    ("last_end_ms", "9223372036854775807"),
    ("successes", "18446744073709551615"),
    ("rejects", "18446744073709551615"),
    ("repeat", "0"),
    ("repeat", "4294967295"),
    ("framework", "\"\""),
    ("framework", "\"a\\u0000b\""),
    ("test", "\" \""),
    ("cpu_offset", "-9223372036854775808"),
    ("ingested_at", "\"yesterday\""),
    ("tool_version", "\"0.1\\u001b[2J\""),
    ("tool_version", "\"0.1\\u0000\""),
    ("tool_version", "\"0123456789012345678901234567890123456789012345678901234567890123456789\""),
    ("options", "{\"tag:a b\":\"c\"}"),
    ("resolution", "7"),
];

#[test]
fn packed_run_whose_row_lies_is_refused() {
    let (_here, _, file) = packed(Store::embedded());
    let whole = entries(&file);
    for (field, value) in LIES {
        let lie = |run: &mut Value| run[field] = serde_json::from_str(value).unwrap();
        let lies: Vec<(String, Vec<u8>)> = whole
            .iter()
            .map(|(name, bytes)| match name.as_str() {
                "manifest.json" => (name.clone(), resealed(bytes, &lie)),
                _ => (name.clone(), bytes.clone()),
            })
            .collect();
        let there = Store::embedded();
        let path = there.file("lies.run", zipped(&lies));
        assert_told(&there.run(&["ingest", &path]).complaint(3), &["lies.run", "damaged"]);
        assert!(there.list().is_empty(), "{field} {value}");
    }
}

/// One run with a row that lies is named by every command, and the other runs of its test still show.
#[test]
fn stored_run_whose_row_lies_is_named_and_the_others_show() {
    let store = Store::embedded();
    let log = fixture("crlf.csv");
    for framework in ["go", "rust"] {
        store.run(&["ingest", log.to_str().unwrap(), "--framework", framework, "--test", "t"]).said();
    }
    let manifest = std::path::Path::new(store.place()).join("runs/go+t/manifest.json");
    let sealed = std::fs::read(&manifest).unwrap();
    std::fs::write(&manifest, resealed(&sealed, &|run| run["seconds"] = 4_294_967_295_u32.into())).unwrap();
    for arguments in [&["list"][..], &["verify"]] {
        let done = store.run(arguments);
        assert!(![Some(101), Some(134)].contains(&done.code), "{arguments:?}: {}", done.err);
        let shown = String::from_utf8_lossy(&done.out).into_owned() + &done.err;
        assert_told(&shown, &["4294967295 seconds", "rust"]);
    }
    assert_eq!(store.run(&["verify"]).code, Some(3));
    for arguments in [&["export", "go_t"][..], &["diagnose", "go_t"], &["report", "go_t"]] {
        assert_told(&store.run(arguments).complaint(1), &["4294967295 seconds"]);
    }
    store.run(&["export", "rust_t"]).text();
}
