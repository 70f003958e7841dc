//! The logs of other load tools, of any bytes.

use crate::formats::tools::{FORMATS, convert::Follows, format::Format};

/// Converts any bytes as a log of each format, whole and in pieces of the size that the first byte tells.
///
/// The pieces give the same lines as the whole; each is a line of as many fields as the format has columns, an empty one,
/// or a reject that is read as it was written.
pub fn tools(data: &[u8]) {
    let (size, log) = data.split_first().map_or((1, data), |(size, log)| (usize::from(*size) + 1, log));
    for format in FORMATS {
        let whole = converted(format, log, log.len().max(1));
        assert!(whole == converted(format, log, size), "{} in pieces of {size}", format.name);
        if let Some(lines) = whole {
            check(format, &lines);
        }
    }
}

/// Returns the lines of a log that is given in pieces, or `None` if it is refused.
fn converted(format: &Format, log: &[u8], size: usize) -> Option<Vec<u8>> {
    let (mut convert, mut rows) = format.parts(format.finest);
    let (mut given, mut taken) = (0, 0);
    while given < log.len() {
        given = (given + size).min(log.len());
        let follows = if given == log.len() { Follows::Nothing } else { Follows::More };
        let found = convert.convert(&log[taken..given], follows, &mut rows).ok()?;
        assert!(found <= given - taken && (follows == Follows::More || taken + found == given));
        taken += found;
    }
    Some(rows.bytes)
}

fn check(format: &Format, lines: &[u8]) {
    let mut records = crate::formats::jtl::record::Records::new(lines, b',');
    while let Some(record) = records.next() {
        let is_told = crate::formats::tools::told::Told::read(record.raw).is_some();
        assert!(!record.open && (record.is_blank() || is_told || record.len() == format.columns.len()));
    }
}
