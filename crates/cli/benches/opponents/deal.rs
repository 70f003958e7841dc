//! Deals the records of one log out to several.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// The compression level of the generator's logs.
pub(crate) const LEVEL: i64 = 5;

/// How the records of a log are divided among several.
#[derive(Clone, Copy)]
pub(crate) enum Order {
    /// Each record goes to the next log, as injectors at the same time would have logged them.
    InTurn,
    /// The first records go to the first log, and so on: the same bytes.
    OneAfterAnother,
}

impl Order {
    /// How the files are named.
    fn name(self) -> &'static str {
        match self {
            Self::InTurn => "injector",
            Self::OneAfterAnother => "part",
        }
    }
}

/// Divides the records of the log in a zip among as many zips, below the header.
pub(crate) fn deal(log: &Path, logs: usize, order: Order, folder: &Path) -> Vec<PathBuf> {
    let mut from = ZipArchive::new(File::open(log).expect("the log")).expect("a zip");
    let member = from.by_index(0).expect("a member");
    let all = member.size().max(1);
    let mut lines = BufReader::with_capacity(1 << 20, member);
    let mut line = Vec::new();
    lines.read_until(b'\n', &mut line).expect("a header");
    let options = SimpleFileOptions::default().compression_level(Some(LEVEL));
    let files: Vec<PathBuf> =
        (1..=logs).map(|number| folder.join(format!("{}_{number}.zip", order.name()))).collect();
    let mut zips: Vec<_> = files
        .iter()
        .map(|file| {
            let mut zip = ZipWriter::new(File::create(file).expect("a zip"));
            zip.start_file("log.csv", options).expect("a member");
            zip.write_all(&line).expect("a header");
            BufWriter::with_capacity(1 << 16, zip)
        })
        .collect();
    let (mut records, mut bytes) = (0, 0);
    loop {
        read_record(&mut lines, &mut line);
        if line.is_empty() {
            break;
        }
        let at = match order {
            Order::InTurn => records % logs,
            Order::OneAfterAnother => (bytes * logs as u64 / all) as usize,
        };
        zips[at].write_all(&line).expect("a record");
        (records, bytes) = (records + 1, bytes + line.len() as u64);
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
