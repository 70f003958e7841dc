//! The fields of lines: the columns that formats report, splitting lines into fields, and quoting texts.

use std::ops::Range;

use crate::histogram;

/// The column with the number of samples that a record represents: more than one from JMeter's statistical senders only.
pub const SAMPLE_COUNT: &str = "SampleCount";

/// A column that a format may report of a request, by JMeter's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogColumn {
    /// JMeter's `timeStamp`.
    TimeStamp,
    /// JMeter's `elapsed`.
    Elapsed,
    /// JMeter's `label`.
    Label,
    /// JMeter's `responseCode`.
    ResponseCode,
    /// JMeter's `responseMessage`.
    ResponseMessage,
    /// JMeter's `success`.
    Success,
    /// JMeter's `failureMessage`.
    FailureMessage,
    /// JMeter's `allThreads`.
    AllThreads,
    /// JMeter's `threadName`.
    ThreadName,
    /// JMeter's `dataType`.
    DataType,
    /// JMeter's `bytes`.
    Bytes,
    /// JMeter's `sentBytes`.
    SentBytes,
    /// JMeter's `grpThreads`.
    GrpThreads,
    /// JMeter's `URL`.
    Url,
    /// JMeter's `Latency`.
    Latency,
    /// JMeter's `IdleTime`.
    IdleTime,
    /// JMeter's `Connect`.
    Connect,
    /// JMeter's `Hostname`.
    Hostname,
    /// JMeter's `SampleCount`.
    SampleCount,
    /// A packed histogram, which stands for many samples.
    Histogram,
}

impl LogColumn {
    /// Returns the name of JMeter's column.
    pub fn name(self) -> &'static str {
        match self {
            Self::TimeStamp => "timeStamp",
            Self::Elapsed => "elapsed",
            Self::Label => "label",
            Self::ResponseCode => "responseCode",
            Self::ResponseMessage => "responseMessage",
            Self::Success => "success",
            Self::FailureMessage => "failureMessage",
            Self::AllThreads => "allThreads",
            Self::ThreadName => "threadName",
            Self::DataType => "dataType",
            Self::Bytes => "bytes",
            Self::SentBytes => "sentBytes",
            Self::GrpThreads => "grpThreads",
            Self::Url => "URL",
            Self::Latency => "Latency",
            Self::IdleTime => "IdleTime",
            Self::Connect => "Connect",
            Self::Hostname => "Hostname",
            Self::SampleCount => SAMPLE_COUNT,
            Self::Histogram => histogram::COLUMN,
        }
    }
}

/// Writes a text in quotes.
pub(crate) fn quoted(text: &[u8], into: &mut Vec<u8>) {
    into.push(b'"');
    for part in text.split_inclusive(|byte| *byte == b'"') {
        into.extend_from_slice(part);
        if part.ends_with(b"\"") {
            into.push(b'"');
        }
    }
    into.push(b'"');
}

/// The fields of a line, whose memory is reused from line to line.
#[derive(Debug, Default)]
pub(super) struct LineFields {
    /// The texts of the fields, each followed by its delimiter.
    text: Vec<u8>,
    /// Where each text ends.
    ends: Vec<usize>,
}

impl LineFields {
    /// Splits a line at each delimiter.
    pub(super) fn split(&mut self, line: &[u8], delimiter: u8) {
        self.text.clear();
        self.text.extend_from_slice(line);
        self.ends.clear();
        self.ends.extend(memchr::memchr_iter(delimiter, line));
        self.ends.push(line.len());
    }

    /// Splits a line of CSV at the commas outside quotes, and removes the quotes.
    pub(super) fn split_csv(&mut self, line: &[u8]) {
        if memchr::memchr(b'"', line).is_none() {
            return self.split(line, b',');
        }
        self.text.clear();
        self.ends.clear();
        let mut rest = Some(line);
        while let Some(field) = rest {
            if !self.ends.is_empty() {
                self.text.push(b',');
            }
            rest = match field.strip_prefix(b"\"") {
                Some(quoted) => unquoted(quoted, &mut self.text),
                None => {
                    let end = memchr::memchr(b',', field);
                    self.text.extend_from_slice(field.get(..end.unwrap_or(field.len())).unwrap_or_default());
                    end.and_then(|end| field.get(end + 1..))
                }
            };
            self.ends.push(self.text.len());
        }
    }

    /// The number of fields, which is at least one.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns a field; an empty text if there is none.
    pub(super) fn get(&self, at: usize) -> &[u8] {
        self.joined(at..at.saturating_add(1))
    }

    /// Returns the last field.
    pub(super) fn last(&self) -> &[u8] {
        self.get(self.len().saturating_sub(1))
    }

    /// Returns several fields with the delimiters between them; an empty text if one of them is missing, or if there are
    /// none.
    pub(super) fn joined(&self, fields: Range<usize>) -> &[u8] {
        let begin = match fields.start.checked_sub(1) {
            None => Some(0),
            Some(before) => self.ends.get(before).map(|end| end + 1),
        };
        let end = fields.end.checked_sub(1).and_then(|last| self.ends.get(last));
        begin.zip(end).and_then(|(begin, end)| self.text.get(begin..*end)).unwrap_or_default()
    }
}

/// Appends a field after its first quote to a text. Returns what is after its comma.
fn unquoted<'a>(mut field: &'a [u8], text: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        let quote = memchr::memchr(b'"', field).unwrap_or(field.len());
        text.extend_from_slice(field.get(..quote).unwrap_or_default());
        field = field.get(quote + 1..).unwrap_or_default();
        match field.split_first() {
            Some((b'"', rest)) => {
                text.push(b'"');
                field = rest;
            }
            Some((b',', rest)) => return Some(rest),
            None => return None,
            // What follows a closing quote belongs to the field, as Go's reader of CSV has it where it is lenient.
            Some(_) => {}
        }
    }
}

/// Returns true if a quote of CSV is open after a line, given whether one is open before it.
pub(super) fn is_quoted_after(line: &[u8], mut is_quoted: bool) -> bool {
    if !is_quoted && memchr::memchr(b'"', line).is_none() {
        return false;
    }
    let mut field = line.strip_suffix(b"\r").unwrap_or(line);
    loop {
        let quoted = if is_quoted { Some(field) } else { field.strip_prefix(b"\"") };
        let after = match quoted {
            Some(quoted) => match after_quotes(quoted) {
                None => return true,
                after => after,
            },
            None => memchr::memchr(b',', field).and_then(|comma| field.get(comma..)),
        };
        match after.and_then(<[u8]>::split_first) {
            Some((_, next)) => (field, is_quoted) = (next, false),
            None => return false,
        }
    }
}

/// Returns what is after the closing quote of a field, which is empty or begins with a comma; `None` if it is not closed.
fn after_quotes(mut field: &[u8]) -> Option<&[u8]> {
    loop {
        let quote = memchr::memchr(b'"', field)?;
        field = field.get(quote + 1..)?;
        match field.first() {
            Some(b'"') => field = field.get(1..)?,
            Some(b',') | None => return Some(field),
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(fields: &LineFields) -> Vec<String> {
        (0..fields.len()).map(|at| String::from_utf8(fields.get(at).to_vec()).unwrap()).collect()
    }

    #[test]
    fn fields_are_split_at_commas_outside_quotes() {
        let of = |line: &str| {
            let mut fields = LineFields::default();
            fields.split_csv(line.as_bytes());
            all(&fields)
        };
        assert_eq!(of("a,,\"b \"\"c\"\", d\",e"), ["a", "", "b \"c\", d", "e"]);
        assert_eq!(
            (of(""), of("a,"), of("\"open, and")),
            (vec![String::new()], vec!["a".into(), String::new()], vec!["open, and".into()])
        );
        assert_eq!((of("\""), of("a\"b,\"c\"")), (vec![String::new()], vec!["a\"b".into(), "c".into()]));
    }

    #[test]
    fn quote_is_open_until_it_is_closed() {
        for (line, before, after) in [
            ("a,b", false, false),
            ("a,b", true, true),
            ("a,\"b", false, true),
            ("a,\"b\"\"", false, true),
            ("a,\"b\"\"\"", false, false),
            ("a,\"b\"\r", false, false),
            ("b\",\"c", true, true),
            ("b\",c", true, false),
            ("", true, true),
            ("\"", true, false),
            ("a\"b,c", false, false),
            ("\"a\"b,c", false, true),
        ] {
            assert_eq!(is_quoted_after(line.as_bytes(), before), after, "{line:?} {before}");
        }
    }

    #[test]
    fn fields_that_are_missing_are_empty() {
        let mut fields = LineFields::default();
        fields.split(b"a\tbc\t\td", b'\t');
        assert_eq!((fields.len(), fields.last()), (4, &b"d"[..]));
        assert_eq!((fields.joined(0..2), fields.joined(1..4)), (&b"a\tbc"[..], &b"bc\t\td"[..]));
        for nothing in [fields.joined(1..1), fields.joined(0..0), fields.joined(2..9), fields.get(7)] {
            assert_eq!(nothing, b"");
        }
        assert_eq!(fields.get(usize::MAX), b"");
    }

    proptest! {
        /// Go's writer of CSV, by which vegeta and k6 write, closes each quote at the end of its record and nowhere before.
        #[test]
        fn records_end_where_no_quote_is_open(texts in prop::collection::vec("[ab,\"\r\n]{0,6}", 1..5)) {
            let is_plain = |text: &String| !text.contains([',', '"', '\r', '\n']);
            let quoted = |text: &String| format!("\"{}\"", text.replace('"', "\"\""));
            let fields: Vec<String> = texts.iter().map(|text| if is_plain(text) { text.clone() } else { quoted(text) }).collect();
            let record = fields.join(",");
            let lines: Vec<&str> = record.split('\n').collect();
            let mut is_quoted = false;
            for (at, line) in lines.iter().enumerate() {
                is_quoted = is_quoted_after(line.as_bytes(), is_quoted);
                prop_assert_eq!(is_quoted, at + 1 < lines.len());
            }
            let mut split = LineFields::default();
            split.split_csv(record.as_bytes());
            prop_assert_eq!(all(&split), texts);
        }

        #[test]
        fn fields_are_those_of_a_simple_split(lines in prop::collection::vec("[ab,]{0,12}", 1..5)) {
            let mut fields = LineFields::default();
            for line in lines {
                fields.split_csv(line.as_bytes());
                let expected: Vec<String> = line.split(',').map(str::to_owned).collect();
                prop_assert_eq!(all(&fields), expected);
            }
        }
    }
}
