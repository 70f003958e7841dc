//! The form in which the records of a log reach the workers.

use std::io::Write;

use super::frame::{Content, Frame, Lines, Request};
use super::lines::{Original, origin, text};
use crate::formats::jtl::blocks::KEPT;
use crate::formats::tools::csv::Column;
use crate::formats::tools::told::Told;

/// The beginning of the message by which JMeter's log tells a transaction.
pub(super) const TRANSACTION: &[u8] = b"Number of samples in transaction : ";

/// The form of a log's records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// Lines of JMeter's CSV, as they are in the log.
    #[default]
    Own,
    /// Lines of JMeter's CSV, which another format was converted to, each with a further field that tells its place.
    Lines,
    /// Packed requests, which another format was converted to, and what it tells of one.
    Packed(&'static [Column]),
}

impl Form {
    /// Returns false if the records are intervals, with histograms of their requests.
    pub(crate) fn has_requests(self) -> bool {
        !matches!(self, Self::Packed(told) if told.contains(&Column::Histogram))
    }

    /// Returns the record that was converted to this one, which was rejected and is on this line of the log. `None` if
    /// it is as it is in the log.
    pub(crate) fn original(self, converted: &[u8], line: u64) -> Option<Original> {
        let of_told = |told: Told| Original { line: told.line, byte: told.byte, record: told.record };
        match self {
            Self::Own => None,
            Self::Lines => Told::read(converted).map(of_told).or_else(|| origin(converted)),
            Self::Packed(columns) => {
                if let Some((byte, line_of_log)) = Lines::last(converted) {
                    let record = line_of_log.get(..KEPT).unwrap_or(line_of_log).to_vec();
                    return Some(Original { line, byte, record });
                }
                let frame = Frame::read(converted)?;
                match frame.content {
                    Content::Reject(told) => Told::read(told).map(of_told),
                    Content::Request(request) => {
                        Some(Original { line, byte: frame.byte, record: request.line(columns) })
                    }
                    Content::Lines(_) => None,
                }
            }
        }
    }
}

impl Request<'_> {
    /// Returns the request as a line of JMeter's CSV with these columns, without its line end.
    pub(super) fn line(&self, columns: &[Column]) -> Vec<u8> {
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
                Column::TimeStamp => number(Some(self.start_ms), &mut line),
                Column::Elapsed => number(Some(self.elapsed), &mut line),
                Column::Latency => number(self.latency, &mut line),
                Column::Connect => number(self.connect, &mut line),
                Column::Bytes => number(self.bytes, &mut line),
                Column::SentBytes => number(self.sent_bytes, &mut line),
                Column::AllThreads => number(self.threads, &mut line),
                Column::Url => drop(text(self.url, &mut line)),
                Column::Label => drop(text(self.label, &mut line)),
                Column::ResponseCode => drop(text(self.response_code, &mut line)),
                Column::ResponseMessage if self.is_transaction => line.extend_from_slice(TRANSACTION),
                Column::Success => line.extend_from_slice(if self.success { b"true" } else { b"false" }),
                Column::FailureMessage => drop(text(self.failure_message, &mut line)),
                Column::Histogram => line.extend_from_slice(self.histogram),
                // Only JMeter's own formats have the others.
                _ => {}
            }
        }
        line
    }
}
