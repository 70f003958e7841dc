//! What lines of JMeter's CSV are made of: columns, and texts in quotes.

/// What a format tells of a request, in the names of JMeter's columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
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
}

impl Column {
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

/// Splits a line of CSV into its fields, without their quotes.
pub(in crate::formats::tools) fn split(line: &[u8], fields: &mut Vec<Vec<u8>>) {
    fields.clear();
    let mut rest = Some(line);
    while let Some(text) = rest {
        let mut field = Vec::new();
        rest = match text.strip_prefix(b"\"") {
            Some(text) => unquoted(text, &mut field),
            None => {
                let end = memchr::memchr(b',', text);
                field.extend_from_slice(text.get(..end.unwrap_or(text.len())).unwrap_or_default());
                end.and_then(|end| text.get(end + 1..))
            }
        };
        fields.push(field);
    }
}

/// Takes a field behind its first quote. Returns what is behind its comma.
fn unquoted<'a>(mut text: &'a [u8], field: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        let quote = memchr::memchr(b'"', text).unwrap_or(text.len());
        field.extend_from_slice(text.get(..quote).unwrap_or_default());
        text = text.get(quote + 1..).unwrap_or_default();
        match text.split_first() {
            Some((b'"', rest)) => {
                field.push(b'"');
                text = rest;
            }
            Some((b',', rest)) => return Some(rest),
            None => return None,
            // What follows a closing quote belongs to the field, as Go's reader of CSV has it where it is lenient.
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_split_at_commas_outside_quotes() {
        let of = |line: &str| {
            let mut fields = Vec::new();
            split(line.as_bytes(), &mut fields);
            fields.into_iter().map(|field| String::from_utf8(field).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(of("a,,\"b \"\"c\"\", d\",e"), ["a", "", "b \"c\", d", "e"]);
        assert_eq!(
            (of(""), of("a,"), of("\"open, and")),
            (vec![String::new()], vec!["a".into(), String::new()], vec!["open, and".into()])
        );
    }
}
