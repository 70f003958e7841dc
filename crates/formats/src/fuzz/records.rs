//! Cuts a log into blocks and records: compared with the `csv` crate, and with reads of any size.

use std::io::Read;

use crate::jtl::blocks::{Block, Cutter, LogBytes};
use crate::jtl::records::record::Records;
use perfpipe_model::fuzz::Taker;
use perfpipe_model::run::reject_reason::RejectReason;
use perfpipe_model::sample::pool::NewBuffers;

/// A reader that returns at most the given number of bytes per read.
pub struct Trickle<'a>(pub &'a [u8], pub usize);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.1.min(buffer.len()).min(self.0.len());
        let (now, later) = self.0.split_at(length);
        buffer[..length].copy_from_slice(now);
        self.0 = later;
        Ok(length)
    }
}

impl LogBytes for Trickle<'_> {}

/// The sizes by which a log is read and cut into blocks, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct ReadSizes {
    /// The number of bytes that were read before the cutter was created.
    head: usize,
    /// The maximum number of bytes per read.
    step: usize,
    block: usize,
    limit: usize,
}

impl ReadSizes {
    pub fn take(taker: &mut Taker<'_>) -> Self {
        let mut size = || usize::from(taker.byte());
        Self { head: size(), step: size() + 1, block: size() + 1, limit: size() + 2 }
    }

    /// Returns the same sizes with an unlimited record length.
    pub fn unlimited(self) -> Self {
        Self { limit: usize::MAX / 4, ..self }
    }

    pub fn blocks(self, log: &[u8], delimiter: u8) -> Vec<Block> {
        let (head, rest) = log.split_at(self.head.min(log.len()));
        let reader = Trickle(rest, self.step);
        let mut cutter = Cutter::limited(reader, head.to_vec(), 0, delimiter, self.block, self.limit);
        let blocks = std::iter::from_fn(|| cutter.next(&mut NewBuffers).unwrap()).collect();
        assert!(cutter.has_ended());
        blocks
    }
}

/// A record with its place and content. Blank lines are no records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundRecord {
    pub start: usize,
    pub line: u64,
    pub open: bool,
    /// The bytes as logged, without the line end.
    pub raw: Vec<u8>,
    pub fields: Vec<Vec<u8>>,
}

/// Returns the records of a block and the number of its line feeds.
fn read(bytes: &[u8], delimiter: u8) -> (Vec<FoundRecord>, u64) {
    let mut records = Records::new(bytes, delimiter);
    let mut all = Vec::new();
    let mut end = 0;
    while let Some(record) = records.next_record() {
        assert_eq!(record.start, end, "no byte is left out");
        let after = &bytes[end + record.raw.len()..];
        let line_end = [&b"\r\n"[..], b"\n"].into_iter().find(|line_end| after.starts_with(line_end));
        end += record.raw.len() + line_end.map_or(after.len(), <[u8]>::len);
        assert!(line_end.is_some() || matches!(after, b"" | b"\r"), "{after:?}");
        if !record.is_blank() {
            all.push(FoundRecord {
                start: record.start,
                line: record.line,
                open: record.open,
                raw: record.raw.to_vec(),
                fields: (0..record.width()).map(|i| record.field(i).to_vec()).collect(),
            });
        }
    }
    (all, records.lines())
}

/// Returns the records as the `csv` crate reads them. Their fields keep the carriage return of a CR LF.
pub fn slow(log: &[u8], delimiter: u8) -> Vec<FoundRecord> {
    let whole = csv_records(log, delimiter);
    // An unclosed quote swallows whatever is appended.
    let open = csv_records(&[log, b"\nx"].concat(), delimiter).len() == whole.len();
    let last = whole.len();
    let mut found = Vec::new();
    for (number, (start, end, mut fields)) in (1..).zip(whole) {
        let record = &log[start..end];
        let record = record.strip_suffix(b"\n").unwrap_or(record);
        if record == b"\r" {
            continue;
        }
        let open = open && number == last;
        if !open && record.ends_with(b"\r") {
            fields.last_mut().and_then(Vec::pop);
        }
        let line = log[..start].iter().filter(|byte| **byte == b'\n').count() as u64;
        let raw = record.strip_suffix(b"\r").unwrap_or(record).to_vec();
        found.push(FoundRecord { start, line, open, raw, fields });
    }
    found
}

/// Returns the start and end of each record, and its fields.
fn csv_records(log: &[u8], delimiter: u8) -> Vec<(usize, usize, Vec<Vec<u8>>)> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .terminator(csv::Terminator::Any(b'\n'))
        .from_reader(log);
    let mut record = csv::ByteRecord::new();
    let mut all = Vec::new();
    while reader.read_byte_record(&mut record).unwrap() {
        // The crate counts blank lines as part of the record after them.
        let from = record.position().unwrap().byte() as usize;
        let start = from + log[from..].iter().take_while(|byte| **byte == b'\n').count();
        let end = reader.position().byte() as usize;
        all.push((start, end, record.iter().map(<[u8]>::to_vec).collect()));
    }
    all
}

/// Returns the records of blocks with their places in the log.
fn of_blocks(blocks: &[Block], delimiter: u8) -> Vec<FoundRecord> {
    let mut lines = 0;
    let mut all = Vec::new();
    for block in blocks {
        let (records, lines_here) = read(&block.bytes, delimiter);
        all.extend(records.into_iter().map(|record| FoundRecord {
            start: record.start + block.first_byte as usize,
            line: record.line + lines,
            ..record
        }));
        lines += lines_here;
    }
    all
}

/// Applies a limit to the length of records. Returns the place and bytes of each, and the reason if it is rejected.
fn limited(blocks: &[Block], delimiter: u8) -> Vec<(u64, u64, Vec<u8>, Option<RejectReason>)> {
    let mut lines = 0;
    let mut all = Vec::new();
    for block in blocks {
        let first = block.first_byte;
        if block.oversized.is_some() {
            all.push((first, lines, block.bytes.to_vec(), block.oversized));
            lines += block.skipped_lines;
            continue;
        }
        let mut records = Records::new(&block.bytes, delimiter);
        while let Some(record) = records.next_record() {
            all.push((first + record.start as u64, lines + record.line, record.raw.to_vec(), None));
        }
        lines += records.lines();
    }
    all
}

/// Cuts any log with any delimiter. Its records must be those of the `csv` crate for any block size, and a limit to
/// their length must reject the same ones.
pub fn records(data: &[u8]) {
    let mut taker = Taker::new(data);
    let delimiter = match taker.byte() {
        b'"' | b'\n' | b'\r' => b',',
        byte => byte,
    };
    let (sizes, others) = (ReadSizes::take(&mut taker), ReadSizes::take(&mut taker));
    let log = taker.rest();
    // The crate skips a byte-order mark.
    let log = log.strip_prefix(b"\xef\xbb\xbf").unwrap_or(log);
    if log.starts_with(b"\xef\xbb\xbf") {
        return;
    }
    let (whole, _) = read(log, delimiter);
    assert_eq!(whole, slow(log, delimiter));
    let blocks = sizes.unlimited().blocks(log, delimiter);
    assert!(blocks.iter().all(|block| block.oversized.is_none()));
    let bytes: Vec<u8> = blocks.iter().flat_map(|block| block.bytes.to_vec()).collect();
    assert_eq!(bytes, log);
    assert_eq!(of_blocks(&blocks, delimiter), whole);
    let others = ReadSizes { limit: sizes.limit, ..others };
    let cut = |sizes: ReadSizes| limited(&sizes.blocks(log, delimiter), delimiter);
    assert_eq!(cut(sizes), cut(others));
}
