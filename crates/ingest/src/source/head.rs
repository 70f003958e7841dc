//! Reads the first records of a text, by which its format is recognised.

use std::io::{self, Read};

use perfpipe_formats::jtl::blocks::RECORD_LIMIT;
use perfpipe_formats::jtl::records::record::Records;

/// The number of bytes by which a text is recognised.
pub(crate) const HEAD: usize = 64 << 10;

/// The byte-order mark that some editors put before UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads the first `HEAD` bytes of a text, and more until its first line is complete or as long as a record may be.
pub(crate) fn read_head(reader: &mut (impl Read + ?Sized)) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    loop {
        head.reserve(HEAD);
        let read = Read::take(&mut *reader, HEAD as u64).read_to_end(&mut head)?;
        if read < HEAD || text(&head).contains(&b'\n') || head.len() >= RECORD_LIMIT {
            return Ok(head);
        }
    }
}

/// Returns the text without its byte-order mark and leading whitespace.
pub(crate) fn text(head: &[u8]) -> &[u8] {
    head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start()
}

/// Returns the first line of a text, without its line end.
pub(crate) fn first_line(text: &[u8]) -> &[u8] {
    text.split(|b| *b == b'\n').next().unwrap_or_default().trim_ascii_end()
}

/// Returns the fields of each record of a text as strings. Blank records are skipped.
pub(crate) fn records(text: &[u8], delimiter: u8) -> impl Iterator<Item = Vec<String>> + '_ {
    let mut records = Records::new(text, delimiter);
    std::iter::from_fn(move || {
        loop {
            let record = records.next_record()?;
            if !record.is_blank() {
                let field = |i| String::from_utf8_lossy(record.field(i)).trim().to_owned();
                return Some((0..record.width()).map(field).collect());
            }
        }
    })
}
