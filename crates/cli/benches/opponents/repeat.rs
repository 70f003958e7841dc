//! Repeats a real log end to end, its times shifted, until it has as many records as asked for.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufReader, BufWriter, Cursor, Read, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::deal::{LEVEL, read_record};

/// A log whose records begin with their epoch ms, below a header.
struct Log {
    header: Vec<u8>,
    /// The time of each record, and what follows it.
    records: Vec<(u64, Vec<u8>)>,
}

/// Writes a zip of `rows` records of the log in a file, which is a zip or plain, and a CPU export of their time.
pub(crate) fn repeat(from: &Path, rows: u64, log: &Path, cpu: &Path) {
    let real = Log::read(from);
    let times = || real.records.iter().map(|(time, _)| *time);
    let (first, last) = (times().min().expect("records"), times().max().expect("records"));
    let span = (last - first) / 1000 * 1000 + 1000;
    let mut zip = ZipWriter::new(File::create(log).expect("a zip"));
    let options = SimpleFileOptions::default().compression_level(Some(LEVEL));
    zip.start_file("log.csv", options).expect("a member");
    let mut into = BufWriter::with_capacity(1 << 16, zip);
    into.write_all(&real.header).expect("a header");
    let rounds = (0..).flat_map(|round| real.records.iter().map(move |record| (round * span, record)));
    for (shift, (time, rest)) in rounds.take(rows as usize) {
        write!(into, "{}", time + shift).expect("a time");
        into.write_all(rest).expect("a record");
    }
    let zip = into.into_inner().map_err(|error| error.to_string()).expect("all written");
    zip.finish().expect("a zip");
    let end = first + span * rows.div_ceil(real.records.len() as u64);
    let mut readings = String::from("clock,value\n");
    for clock in first / 1000..=end / 1000 {
        writeln!(readings, "{clock},{}", clock % 100).expect("a reading");
    }
    std::fs::write(cpu, readings).expect("a CPU export");
}

impl Log {
    fn read(from: &Path) -> Self {
        let mut bytes = std::fs::read(from).expect("the log");
        if bytes.starts_with(b"PK") {
            let mut zip = ZipArchive::new(Cursor::new(std::mem::take(&mut bytes))).expect("a zip");
            zip.by_index(0).expect("a member").read_to_end(&mut bytes).expect("a log");
        }
        let (mut lines, mut record) = (BufReader::new(&bytes[..]), Vec::new());
        read_record(&mut lines, &mut record);
        let header = std::mem::take(&mut record);
        let mut records = Vec::new();
        loop {
            read_record(&mut lines, &mut record);
            let digits = record.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if !record.ends_with(b"\n") || digits == 0 {
                // The end, or a record that was cut off.
                return Self { header, records };
            }
            assert!(digits > 9, "{}: its times are dates, and only epoch ms can be shifted", from.display());
            let rest = record.split_off(digits);
            let time = String::from_utf8_lossy(&record).parse().expect("epoch ms");
            records.push((time, rest));
        }
    }
}
