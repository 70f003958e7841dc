//! The form in which the records of a log reach the workers. The records of JMeter's XML become lines of its CSV, which has
//! the same fields, with the position of the record in the log as a further field.

use std::io::Write;

use super::ConvertedRows;
use super::frame::{FrameContent, LineFrame, PackedFrame, PackedRequest};
use crate::jtl::blocks::KEPT;
use crate::tools::fields::{LineFields, LogColumn, quoted};
use crate::tools::rejects::{RejectCause, RejectedRecord};

/// The beginning of the message by which JMeter's log marks a transaction.
pub(super) const TRANSACTION: &[u8] = b"Number of samples in transaction : ";

/// The form of a log's records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Form {
    /// Lines of JMeter's CSV, as they are in the log.
    #[default]
    Own,
    /// Lines of JMeter's CSV, which another format was converted to, each with a further field for its position in the log.
    Lines,
    /// Packed requests, which another format was converted to, and the columns that it reports.
    Packed(&'static [LogColumn]),
}

impl Form {
    /// Returns false if the records are intervals, with histograms of their requests.
    pub fn has_requests(self) -> bool {
        !matches!(self, Self::Packed(columns) if columns.contains(&LogColumn::Histogram))
    }

    /// Returns the record that was converted to this one, which was rejected and is on this line of the log. `None` if
    /// it is unchanged.
    pub fn original(self, converted: &[u8], line: u64) -> Option<Original> {
        let original_of =
            |reject: RejectedRecord| Original { line: reject.line, byte: reject.byte, record: reject.record };
        match self {
            Self::Own => None,
            Self::Lines => RejectedRecord::read(converted).map(original_of).or_else(|| origin(converted)),
            Self::Packed(columns) => {
                if let Some((byte, line_of_log)) = LineFrame::last(converted) {
                    let record = line_of_log.get(..KEPT).unwrap_or(line_of_log).to_vec();
                    return Some(Original { line, byte, record });
                }
                let frame = PackedFrame::read(converted)?;
                match frame.content {
                    FrameContent::Reject(reject) => RejectedRecord::read(reject).map(original_of),
                    FrameContent::Request(request) => {
                        Some(Original { line, byte: frame.byte, record: request.line(columns) })
                    }
                    FrameContent::Lines(_) => None,
                }
            }
        }
    }
}

impl PackedRequest<'_> {
    /// Returns the request as a line of JMeter's CSV with these columns, without its line end.
    pub(super) fn line(&self, columns: &[LogColumn]) -> Vec<u8> {
        let mut line = Vec::new();
        let number = |number: Option<i64>, line: &mut Vec<u8>| {
            // Writing to a vector can't fail.
            let _ = number.map_or(Ok(()), |number| write!(line, "{number}"));
        };
        for (at, column) in columns.iter().enumerate() {
            if at > 0 {
                line.push(b',');
            }
            match column {
                LogColumn::TimeStamp => number(Some(self.start_ms), &mut line),
                LogColumn::Elapsed => number(Some(self.elapsed), &mut line),
                LogColumn::Latency => number(self.latency, &mut line),
                LogColumn::Connect => number(self.connect, &mut line),
                LogColumn::Bytes => number(self.bytes, &mut line),
                LogColumn::SentBytes => number(self.sent_bytes, &mut line),
                LogColumn::AllThreads => number(self.threads, &mut line),
                LogColumn::Url => drop(text(self.url, &mut line)),
                LogColumn::Label => drop(text(self.label, &mut line)),
                LogColumn::ResponseCode => drop(text(self.response_code, &mut line)),
                LogColumn::ResponseMessage if self.is_transaction => line.extend_from_slice(TRANSACTION),
                LogColumn::Success => line.extend_from_slice(if self.success { b"true" } else { b"false" }),
                LogColumn::FailureMessage => drop(text(self.failure_message, &mut line)),
                LogColumn::Histogram => line.extend_from_slice(self.histogram),
                // Only JMeter's own formats have the others.
                _ => {}
            }
        }
        line
    }
}

/// Separates the line, the byte and the record in the last field.
const BETWEEN: u8 = b':';

/// A record as it is in the log, and its position.
#[derive(Debug, PartialEq, Eq)]
pub struct Original {
    /// The line, from 1, and the byte, from 0.
    pub line: u64,
    /// The byte of the log at which it begins.
    pub byte: u64,
    /// Its bytes.
    pub record: Vec<u8>,
}

impl ConvertedRows {
    /// Writes a request by the texts of all columns, and its position in the log. The record may be empty where its values
    /// can't be rejected.
    pub(crate) fn fields(&mut self, fields: &[Vec<u8>], origin: &Original) {
        for field in fields {
            self.line += text(field, &mut self.bytes);
            self.bytes.push(b',');
        }
        if origin.record.is_empty() {
            place(origin, &mut self.bytes);
        } else {
            let mut last = Vec::new();
            place(origin, &mut last);
            last.push(BETWEEN);
            last.extend_from_slice(&origin.record);
            quoted(&last, &mut self.bytes);
            self.line += memchr::memchr_iter(b'\n', &origin.record).count() as u64;
        }
        self.end_line();
    }

    /// Writes empty lines until the next line has this number, if it is not past it already.
    pub(crate) fn catch_up(&mut self, line: u64) {
        while self.line < line {
            self.end_line();
        }
    }

    /// Writes a line that encodes a reject.
    #[cold]
    pub(crate) fn reject_line(&mut self, cause: RejectCause, record: &[u8]) {
        let before = self.bytes.len();
        self.rejected(cause, None, record).write(&mut self.bytes);
        let written = self.bytes.get(before..).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', written).count() as u64;
    }

    fn end_line(&mut self) {
        self.bytes.push(b'\n');
        self.line += 1;
    }
}

/// Writes the line and the byte of a record.
fn place(origin: &Original, into: &mut Vec<u8>) {
    let mut number = itoa::Buffer::new();
    into.extend_from_slice(number.format(origin.line).as_bytes());
    into.push(BETWEEN);
    into.extend_from_slice(number.format(origin.byte).as_bytes());
}

/// Parses the last field of a line.
pub(super) fn origin(line: &[u8]) -> Option<Original> {
    let mut fields = LineFields::default();
    fields.split_csv(line);
    let mut parts = fields.last().splitn(3, |byte| *byte == BETWEEN);
    let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse::<u64>().ok();
    let (line_number, byte) = (number()?, number()?);
    let converted = || line.get(..memchr::memrchr(b',', line)?);
    let record = parts.next().or_else(converted)?.to_vec();
    Some(Original { line: line_number, byte, record })
}

/// Writes a text, in quotes where it needs them. Returns the number of line ends in it.
pub(super) fn text(text: &[u8], into: &mut Vec<u8>) -> u64 {
    if !text.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
        into.extend_from_slice(text);
        return 0;
    }
    quoted(text, into);
    memchr::memchr_iter(b'\n', text).count() as u64
}
