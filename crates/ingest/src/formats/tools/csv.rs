//! The columns that formats report, and the quotes of texts in lines of JMeter's CSV.

use crate::formats::histogram;

/// The column with the number of samples that a record represents: more than one from JMeter's statistical senders only.
pub(crate) const SAMPLE_COUNT: &str = "SampleCount";

/// A column that a format may report of a request, by JMeter's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogColumn {
    TimeStamp,
    Elapsed,
    Label,
    ResponseCode,
    ResponseMessage,
    Success,
    FailureMessage,
    AllThreads,
    ThreadName,
    DataType,
    Bytes,
    SentBytes,
    GrpThreads,
    Url,
    Latency,
    IdleTime,
    Connect,
    Hostname,
    SampleCount,
    Histogram,
}

impl LogColumn {
    /// Returns the name of JMeter's column.
    pub(crate) fn name(self) -> &'static str {
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
pub(in crate::formats::tools) fn quoted(text: &[u8], into: &mut Vec<u8>) {
    into.push(b'"');
    for part in text.split_inclusive(|byte| *byte == b'"') {
        into.extend_from_slice(part);
        if part.ends_with(b"\"") {
            into.push(b'"');
        }
    }
    into.push(b'"');
}
