//! Whether a text is a JMeter log: by the names in its header, or by the shape of its records.

use super::head::{delimiter_behind, first_line, header, records};
use crate::date::{DateParser, TimeZone};

/// JMeter's columns in its default order, which a log without a header has.
pub(crate) const DEFAULT_COLUMNS: [&str; 17] = [
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "threadName",
    "dataType",
    "success",
    "failureMessage",
    "bytes",
    "sentBytes",
    "grpThreads",
    "allThreads",
    "URL",
    "Latency",
    "IdleTime",
    "Connect",
];

/// How many lines from the head a log without a header has to show itself.
const TRIED_LINES: usize = 10;

/// How a log is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogShape {
    pub(crate) delimiter: u8,
    pub(crate) has_header: bool,
    /// The columns' names, in order.
    pub(crate) columns: Vec<String>,
}

impl LogShape {
    /// The shape of a log that begins with `text`; `delimiter` is the one told, if any.
    pub(crate) fn of(text: &[u8], delimiter: Option<u8>) -> Option<Self> {
        if let Some((delimiter, columns)) = header(text, ["timeStamp", "elapsed"]) {
            return Some(Self { delimiter, has_header: true, columns });
        }
        let delimiter = line_starts(text).take(TRIED_LINES).find_map(|text| headless(text, delimiter))?;
        let columns = DEFAULT_COLUMNS.map(String::from).to_vec();
        Some(Self { delimiter, has_header: false, columns })
    }

    /// The place of a column, by its name.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.eq_ignore_ascii_case(name))
    }

    /// The records of a log of this shape, without the header.
    pub(crate) fn records<'a>(&self, text: &'a [u8]) -> impl Iterator<Item = Vec<Vec<u8>>> + 'a {
        records(text, self.delimiter).skip(usize::from(self.has_header))
    }
}

/// The text from each of its lines on.
fn line_starts(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(Some(text), |text| {
        let end = text.iter().position(|byte| *byte == b'\n')?;
        text.get(end + 1..)
    })
}

/// The delimiter of a text that begins with what looks like a record in JMeter's default order: a
/// time, the elapsed milliseconds, and enough fields for the verdict.
fn headless(text: &[u8], told: Option<u8>) -> Option<u8> {
    let delimiter = told.or_else(|| delimiter_behind(first_line(text), is_time))?;
    let fields = records(text, delimiter).next()?;
    let elapsed = fields.get(1)?;
    let numbered = !elapsed.is_empty() && elapsed.iter().all(u8::is_ascii_digit);
    (is_time(fields.first()?) && numbered && fields.len() >= 8).then_some(delimiter)
}

/// Whether a field is epoch milliseconds or a date.
fn is_time(field: &[u8]) -> bool {
    let epoch_ms = (12..=14).contains(&field.len()) && field.iter().all(u8::is_ascii_digit);
    epoch_ms || DateParser::new(TimeZone::default()).parse(field).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_without_header_shows_itself_by_its_records() {
        for (text, delimiter) in [
            ("1795203855304,71,Get 2048,200,OK,Group 1-2,text,true,,2152", b','),
            ("1795203855304;71;\"a;\nb\";200;OK;Group 1-2;text;true;;2152", b';'),
            ("2026/11/20 19:45:08.046\t50\tGet\t200\tOK\tG\ttext\ttrue", b'\t'),
            ("2026/11/20 19:45:08,125,Get,200,OK,G,text,true,,1", b','),
            ("\"2026-11-20 19:45:08,046\",125,Get,200,OK,G,text,true,,1", b','),
            ("4,Get,200,OK\n1795203855304,71,Get,200,OK,G,text,true,,2", b','),
        ] {
            let shape = LogShape::of(text.as_bytes(), None).unwrap();
            assert_eq!((shape.delimiter, shape.has_header), (delimiter, false), "{text}");
        }
    }

    #[test]
    fn other_numbers_are_no_log() {
        for text in ["1795203855304,71", "1795203855,1,2,3,4,5,6,7,8,9", "", "\n\n", "1795203855304"] {
            assert_eq!(LogShape::of(text.as_bytes(), None), None, "{text}");
        }
    }
}
