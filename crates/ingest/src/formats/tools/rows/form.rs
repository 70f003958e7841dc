//! The form in which the records of a log reach the workers.

use std::io::Write;

use super::frame::{Frame, FrameContent, LineFrame, PackedRequest};
use super::lines::{Original, origin, text};
use crate::formats::jtl::blocks::KEPT;
use crate::formats::tools::csv::LogColumn;
use crate::formats::tools::rejects::RejectedRecord;

/// The beginning of the message by which JMeter's log marks a transaction.
pub(super) const TRANSACTION: &[u8] = b"Number of samples in transaction : ";

/// The form of a log's records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Form {
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
    pub(crate) fn has_requests(self) -> bool {
        !matches!(self, Self::Packed(columns) if columns.contains(&LogColumn::Histogram))
    }

    /// Returns the record that was converted to this one, which was rejected and is on this line of the log. `None` if
    /// it is unchanged.
    pub(crate) fn original(self, converted: &[u8], line: u64) -> Option<Original> {
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
                let frame = Frame::read(converted)?;
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
