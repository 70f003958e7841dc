//! Reads the first records of a text, by which its format is recognised.

use std::io::{self, Read};

use crate::formats::jtl::blocks::RECORD_LIMIT;
use crate::formats::jtl::records::record::Records;

/// The number of bytes by which a text is recognised.
pub(crate) const HEAD: usize = 64 << 10;

/// The maximum length of a line's first field in [`delimiter_behind`], in bytes.
const FIRST_FIELD: usize = 40;

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
            let record = records.next()?;
            if !record.is_blank() {
                let field = |i| String::from_utf8_lossy(record.field(i)).trim().to_owned();
                return Some((0..record.len()).map(field).collect());
            }
        }
    })
}

/// Returns the delimiter and the column names of the header, if the text begins with one that has both `wanted`
/// columns, in any case.
pub(crate) fn header(text: &[u8], wanted: [&str; 2]) -> Option<(u8, Vec<String>)> {
    let line = first_line(text);
    let delimiter = delimiter_beside(line, wanted[0])?;
    let names = records(line, delimiter).next()?;
    let has = |wanted: &&str| names.iter().any(|name| name.eq_ignore_ascii_case(wanted));
    wanted.iter().all(has).then_some((delimiter, names))
}

/// Returns the first byte after the word `name`, or else the last one before it, that is neither quote nor space.
/// Letters and digits are no delimiters.
fn delimiter_beside(line: &[u8], name: &str) -> Option<u8> {
    let start = line.windows(name.len()).position(|window| window.eq_ignore_ascii_case(name.as_bytes()))?;
    let plain = |byte: &&u8| !matches!(**byte, b'"' | b' ');
    let behind = line.get(start + name.len()..)?.iter().find(plain);
    let before = line.get(..start)?.iter().rev().find(plain);
    behind.or(before).copied().filter(|byte| !byte.is_ascii_alphanumeric())
}

/// Returns the delimiter after the line's first field if `is` accepts that field, which may be quoted.
pub(crate) fn delimiter_behind(line: &[u8], is: impl Fn(&str) -> bool) -> Option<u8> {
    let quote = line.first() == Some(&b'"');
    let line = if quote { line.get(1..)? } else { line };
    let approved = |length: &usize| {
        line.get(..*length).and_then(|field| std::str::from_utf8(field).ok()).is_some_and(&is)
    };
    let length = (1..=line.len().min(FIRST_FIELD)).rev().find(approved)?;
    line.get(length + usize::from(quote)).copied().filter(|byte| !byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_is_found_by_two_of_its_names_in_any_order_and_delimiter() {
        for (line, delimiter) in [
            ("clock,value", b','),
            ("value\tclock", b'\t'),
            ("itemid;\"clock\";\"value\"\r\n1;2;3", b';'),
            ("\"value\"|\"CLOCK\"", b'|'),
        ] {
            let (found, names) = header(line.as_bytes(), ["clock", "value"]).unwrap();
            assert_eq!(found, delimiter);
            assert!(names.iter().any(|name| name == "value"), "{names:?}");
        }
        for line in ["columns: clock, the value", "clock", "", "clockvalue", "clock,values"] {
            assert_eq!(header(line.as_bytes(), ["clock", "value"]), None, "{line}");
        }
    }

    #[test]
    fn longest_first_field_that_is_approved_counts() {
        let number = |field: &str| field.parse::<f64>().is_ok();
        assert_eq!(delimiter_behind(b"1.5;2", number), Some(b';'));
        assert_eq!(delimiter_behind(b"\"15\",2", number), Some(b','));
        assert_eq!(delimiter_behind(b"15", number), None);
        assert_eq!(delimiter_behind(b"x,2", number), None);
        assert_eq!(delimiter_behind("1\u{e9}".as_bytes(), number), Some(0xc3));
    }
}
