//! Deals the records of one log out to several, as that many injectors would have logged them.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// The compression level of the generator's logs.
pub(crate) const LEVEL: i64 = 5;

/// Writes each record of the log in a zip to one of `logs` zips in turn, below the header.
pub(crate) fn deal(log: &Path, logs: usize, folder: &Path) -> Vec<PathBuf> {
    let mut from = ZipArchive::new(File::open(log).expect("the log")).expect("a zip");
    let mut lines = BufReader::with_capacity(1 << 20, from.by_index(0).expect("a member"));
    let mut line = Vec::new();
    lines.read_until(b'\n', &mut line).expect("a header");
    let options = SimpleFileOptions::default().compression_level(Some(LEVEL));
    let files: Vec<PathBuf> =
        (1..=logs).map(|number| folder.join(format!("injector_{number}.zip"))).collect();
    let mut zips: Vec<_> = files
        .iter()
        .map(|file| {
            let mut zip = ZipWriter::new(File::create(file).expect("a zip"));
            zip.start_file("log.csv", options).expect("a member");
            zip.write_all(&line).expect("a header");
            BufWriter::with_capacity(1 << 16, zip)
        })
        .collect();
    for at in (0..logs).cycle() {
        read_record(&mut lines, &mut line);
        if line.is_empty() {
            break;
        }
        zips[at].write_all(&line).expect("a record");
    }
    for zip in zips {
        let zip = zip.into_inner().map_err(|error| error.to_string()).expect("all written");
        zip.finish().expect("a zip");
    }
    files
}

/// Reads a record, with its line end: its lines up to the first behind which no quote is open. Nothing at the end.
pub(crate) fn read_record(lines: &mut impl BufRead, record: &mut Vec<u8>) {
    record.clear();
    while lines.read_until(b'\n', record).expect("a record") > 0
        && record.iter().filter(|byte| **byte == b'"').count() % 2 == 1
    {}
}
