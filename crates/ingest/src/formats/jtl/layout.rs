//! How a log is laid out: its delimiter, which column means what, and how its time is written.

use super::record::Records;
use crate::error::{Error, Place, Result};

/// JMeter's default columns, which a log without a header has.
pub const DEFAULT_COLUMNS: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";

/// Delimiters that are tried on a log without a header.
const DELIMITERS: &[u8] = b",;\t|:^~#!$%&*/@ ";

/// Where the columns stand that perfpipe reads; absent ones are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) time_stamp: usize,
    pub(crate) elapsed: usize,
    pub(crate) success: usize,
    pub(crate) label: Option<usize>,
    pub(crate) response_code: Option<usize>,
    pub(crate) response_message: Option<usize>,
    pub(crate) thread_name: Option<usize>,
    pub(crate) data_type: Option<usize>,
    pub(crate) failure_message: Option<usize>,
    pub(crate) bytes: Option<usize>,
    pub(crate) sent_bytes: Option<usize>,
    pub(crate) all_threads: Option<usize>,
    pub(crate) url: Option<usize>,
    pub(crate) latency: Option<usize>,
    pub(crate) idle_time: Option<usize>,
    pub(crate) connect: Option<usize>,
    pub(crate) hostname: Option<usize>,
    /// Whole numbers that are checked but not kept.
    pub(crate) other_numbers: Vec<(&'static str, usize)>,
}

/// How a log is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) delimiter: u8,
    /// The number of columns.
    pub(crate) width: usize,
    pub(crate) columns: Columns,
    /// The header line as logged, without its line end; `None` where the log has none.
    pub(crate) header: Option<Vec<u8>>,
}

/// What the user says about a log's layout; all else is found out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LayoutOptions {
    /// The delimiter.
    pub delimiter: Option<u8>,
    /// The columns of a log without a header, by JMeter's names, separated by commas.
    pub columns: Option<String>,
}

impl LayoutOptions {
    /// The columns of a log without a header.
    fn names(&self) -> Vec<String> {
        let names = self.columns.as_deref().unwrap_or(DEFAULT_COLUMNS);
        names.split(',').map(|name| name.trim().to_owned()).collect()
    }
}

impl Layout {
    /// Finds out the layout from a log's first bytes (without a byte order mark).
    ///
    /// # Errors
    /// When there is neither a header nor a record of the default columns.
    pub(crate) fn detect(head: &[u8], options: &LayoutOptions, place: &Place) -> Result<Self> {
        let line = first_line(head);
        if let Some(layout) = Self::from_header(line, options.delimiter) {
            return layout.map_err(|missing| {
                Error::input(
                    place.clone().at(1, 0),
                    format!("the header has no column {missing}"),
                    "perfpipe needs timeStamp, elapsed and success; save the log with JMeter's jmeter.save.saveservice.* defaults.",
                )
            });
        }
        Self::without_header(head, options, place)
    }

    /// The layout that a header tells, `None` where the line is no header, an error naming a column it lacks.
    fn from_header(line: &[u8], delimiter: Option<u8>) -> Option<Result<Self, &'static str>> {
        let found = memchr::memmem::find(line, b"timeStamp")?;
        let delimiter = delimiter.or_else(|| header_delimiter(line, found))?;
        let names = fields(line, delimiter);
        if !names.iter().any(|name| name == "timeStamp") {
            return None;
        }
        let header = Some(line.to_vec());
        Some(Columns::by_name(&names).map(|columns| Self { delimiter, width: names.len(), columns, header }))
    }

    fn without_header(head: &[u8], options: &LayoutOptions, place: &Place) -> Result<Self> {
        let names = options.names();
        let columns = Columns::by_name(&names).map_err(|missing| {
            Error::usage(
                format!("--columns has no {missing}"),
                "Name every column of the log, among them timeStamp, elapsed and success.",
            )
        })?;
        let fits = |delimiter: &u8| {
            let mut records = Records::new(head, *delimiter);
            records.next().is_some_and(|record| {
                record.len() == names.len()
                    && crate::formats::number::parse_i64(record.field(columns.elapsed)).is_some()
                    && crate::formats::number::parse_bool(record.field(columns.success)).is_some()
            })
        };
        let candidates: Vec<u8> = options.delimiter.map_or_else(|| DELIMITERS.to_vec(), |d| vec![d]);
        match candidates.into_iter().find(fits) {
            Some(delimiter) => Ok(Self { delimiter, width: names.len(), columns, header: None }),
            None => Err(Error::input(
                place.clone().at(1, 0),
                format!("the first line is neither a JMeter header nor a record of {} columns", names.len()),
                "If the log has no header and other columns than JMeter's default ones, name them with --columns; name an unusual delimiter with --delimiter.",
            )),
        }
    }

    /// The names of the columns, in their order, of a log that was detected by these options.
    pub(crate) fn names(&self, options: &LayoutOptions) -> Vec<String> {
        match &self.header {
            Some(header) => fields(header, self.delimiter),
            None => options.names(),
        }
    }

    /// Whether a record, as logged, is this log's header once more.
    #[inline]
    pub(crate) fn is_header(&self, raw: &[u8]) -> bool {
        self.header.as_deref().is_some_and(|header| header == raw)
    }

    /// Whether a record, as logged, is a header of other columns than this log's.
    pub(crate) fn is_other_header(&self, raw: &[u8]) -> bool {
        match Self::from_header(raw, Some(self.delimiter)) {
            Some(Ok(other)) => other.columns != self.columns || other.width != self.width,
            _ => false,
        }
    }

    /// Whether a record, as logged, names this log's own columns: a header of the same meaning.
    pub(crate) fn is_same_header(&self, raw: &[u8]) -> bool {
        matches!(Self::from_header(raw, Some(self.delimiter)), Some(Ok(_))) && !self.is_other_header(raw)
    }
}

/// The first line, without its end.
fn first_line(head: &[u8]) -> &[u8] {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The delimiter of a header: what stands after (or, at the end, before) the name `timeStamp`.
fn header_delimiter(line: &[u8], found: usize) -> Option<u8> {
    let after = line.get(found + b"timeStamp".len()..).unwrap_or_default();
    let before = line.get(..found).unwrap_or_default();
    let after = after.strip_prefix(b"\"").unwrap_or(after);
    let before = before.strip_suffix(b"\"").unwrap_or(before);
    // What ends or quotes a field can't part it from the next one.
    after.first().or(before.last()).copied().filter(|byte| !b"\"\r\n".contains(byte))
}

/// The fields of one line as text.
fn fields(line: &[u8], delimiter: u8) -> Vec<String> {
    let mut records = Records::new(line, delimiter);
    records.next().map_or_else(Vec::new, |record| {
        (0..record.len()).map(|i| String::from_utf8_lossy(record.field(i)).into_owned()).collect()
    })
}

impl Columns {
    /// Columns found by JMeter's names. Of a name that stands twice, the first counts.
    fn by_name(names: &[String]) -> Result<Self, &'static str> {
        let at = |wanted: &str| names.iter().position(|name| name == wanted);
        let other = |name: &'static str| Some((name, at(name)?));
        let others = ["grpThreads", "SampleCount", "ErrorCount"].into_iter().filter_map(other).collect();
        Ok(Self {
            time_stamp: at("timeStamp").ok_or("timeStamp")?,
            elapsed: at("elapsed").ok_or("elapsed")?,
            success: at("success").ok_or("success")?,
            label: at("label"),
            response_code: at("responseCode"),
            response_message: at("responseMessage"),
            thread_name: at("threadName"),
            data_type: at("dataType"),
            failure_message: at("failureMessage"),
            bytes: at("bytes"),
            sent_bytes: at("sentBytes"),
            all_threads: at("allThreads"),
            url: at("URL"),
            latency: at("Latency"),
            idle_time: at("IdleTime"),
            connect: at("Connect"),
            hostname: at("Hostname"),
            other_numbers: others,
        })
    }

    /// Where the columns stand that are kept, or looked at for what they say of a record.
    pub(crate) fn read(&self) -> Vec<usize> {
        let Self {
            time_stamp,
            elapsed,
            success,
            label,
            response_code,
            response_message,
            thread_name,
            data_type,
            failure_message,
            bytes,
            sent_bytes,
            all_threads,
            url,
            latency,
            idle_time,
            connect,
            hostname,
            other_numbers: _,
        } = self;
        let optional = [
            label,
            response_code,
            response_message,
            thread_name,
            data_type,
            failure_message,
            bytes,
            sent_bytes,
            all_threads,
            url,
            latency,
            idle_time,
            connect,
            hostname,
        ];
        let all = [time_stamp, elapsed, success].into_iter().chain(optional.into_iter().flatten());
        all.copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(head: &str) -> Result<Layout> {
        Layout::detect(head.as_bytes(), &LayoutOptions::default(), &Place::file("log.csv"))
    }

    #[test]
    fn finds_columns_by_name_whatever_their_order_and_delimiter() {
        let layout = detect("elapsed\ttimeStamp\t\"success\"\r\n").unwrap();
        let columns = &layout.columns;
        assert_eq!((layout.delimiter, layout.width), (b'\t', 3));
        assert_eq!((columns.elapsed, columns.time_stamp, columns.success), (0, 1, 2));
        assert_eq!(columns.label, None);
    }

    #[test]
    fn a_log_without_a_header_has_the_default_columns() {
        let line = "1795203855304;44;Get 2048;200;OK;Thread 1-1;text;true;;118;132;2;2;http://a/;40;0;14\n";
        let layout = detect(line).unwrap();
        assert_eq!((layout.delimiter, layout.width, layout.header), (b';', 17, None));
    }

    #[test]
    fn what_is_no_log_is_told_with_a_remedy() {
        let error = detect("hello world\n").unwrap_err();
        assert!(error.to_string().contains("log.csv, line 1"), "{error}");
        assert!(error.remedy().unwrap().contains("--columns"));
        assert!(detect("timeStamp,elapsed\n").unwrap_err().to_string().contains("success"));
    }

    #[test]
    fn headers_that_come_again_are_told_from_other_headers() {
        let layout = detect("timeStamp,elapsed,success\n1,2,true\n").unwrap();
        assert!(layout.is_header(b"timeStamp,elapsed,success"));
        assert!(layout.is_same_header(b"\"timeStamp\",elapsed,success"));
        assert!(layout.is_other_header(b"timeStamp,success,elapsed"));
        assert!(!layout.is_other_header(b"17,timeStamp,x"));
    }
}
