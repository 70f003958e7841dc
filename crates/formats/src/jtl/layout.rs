//! The layout of a log: its delimiter and its columns.

use super::records::record::Records;
use crate::number::{parse_bool, parse_i64};
use crate::tools::fields::SAMPLE_COUNT;
use crate::tools::rows::form::Form;
use crate::work_count;
use perfpipe_model::error::{Error, ErrorKind, Place, Result};
use perfpipe_model::sample::resolution::Resolution;

/// JMeter's default columns, which are assumed for a log without a header.
pub const DEFAULT_COLUMNS: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";

/// The most lines of other text before the header: JMeter prints them where the log goes to its output too.
const MOST_LINES_BEFORE: usize = 1000;

/// The delimiters that are tried for a log without a header, in order.
const DELIMITERS: &[u8] = b",;\t|:^~#!$%&*/@ ";

/// The indexes of the columns that perfpipe reads; `None` for absent ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnIndexes {
    /// The index of `timeStamp`.
    pub time_stamp: usize,
    /// The index of `elapsed`.
    pub elapsed: usize,
    /// The index of `success`.
    pub success: usize,
    /// The index of `label`.
    pub label: Option<usize>,
    /// The index of `responseCode`.
    pub response_code: Option<usize>,
    /// The index of `responseMessage`.
    pub response_message: Option<usize>,
    /// The index of `threadName`.
    pub thread_name: Option<usize>,
    /// The index of `dataType`.
    pub data_type: Option<usize>,
    /// The index of `failureMessage`.
    pub failure_message: Option<usize>,
    /// The index of `bytes`.
    pub bytes: Option<usize>,
    /// The index of `sentBytes`.
    pub sent_bytes: Option<usize>,
    /// The index of `allThreads`.
    pub all_threads: Option<usize>,
    /// The index of `URL`.
    pub url: Option<usize>,
    /// The index of `Latency`.
    pub latency: Option<usize>,
    /// The index of `IdleTime`.
    pub idle_time: Option<usize>,
    /// The index of `Connect`.
    pub connect: Option<usize>,
    /// The index of `Hostname`.
    pub hostname: Option<usize>,
    /// Columns of whole numbers that are checked but not kept.
    pub other_numbers: Vec<(&'static str, usize)>,
}

/// The number of records that are examined for more delimiters than the header has.
const LOOKED_AT: usize = 20;

/// The most columns of a log. Records are parsed by columns, each of which has a buffer.
const MOST_COLUMNS: usize = 16_384;

/// The layout of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The delimiter of fields.
    pub delimiter: u8,
    /// The number of columns; of converted lines, including the one with the position in the log.
    pub width: usize,
    /// Which column has which index.
    pub columns: ColumnIndexes,
    /// The header line as logged, without its line end; `None` if the log has none.
    pub header: Option<Vec<u8>>,
    /// The name of the format that the records were converted from; `None` if the log itself is JMeter's CSV.
    pub converted: Option<&'static str>,
    /// The form of the records.
    pub form: Form,
    /// The unit of elapsed, latency and connect.
    pub resolution: Resolution,
    /// Notes on the log for the user, as sentences without their full stops.
    pub notes: Vec<&'static str>,
}

/// The layout as far as the user specifies it. The rest is detected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LayoutOptions {
    /// The delimiter.
    pub delimiter: Option<u8>,
    /// The columns of a log without a header, by JMeter's names, separated by commas.
    pub columns: Option<String>,
    /// The unit in which times are counted, at the finest that of the log. `None` keeps the log's own.
    pub resolution: Option<Resolution>,
}

impl LayoutOptions {
    /// Sets the delimiter.
    #[must_use]
    pub fn with_delimiter(mut self, delimiter: u8) -> Self {
        self.delimiter = Some(delimiter);
        self
    }

    /// Sets the columns of a log without a header, by JMeter's names, separated by commas.
    #[must_use]
    pub fn with_columns(mut self, columns: impl Into<String>) -> Self {
        self.columns = Some(columns.into());
        self
    }

    /// Sets the unit in which times are counted.
    #[must_use]
    pub fn with_resolution(mut self, resolution: Resolution) -> Self {
        self.resolution = Some(resolution);
        self
    }

    /// Returns the unit of a log whose own is `finest`.
    ///
    /// # Errors
    /// If a finer one was asked for.
    pub fn unit(&self, finest: Resolution, tool: &str, place: &Place) -> Result<Resolution> {
        let unit = self.resolution.unwrap_or(finest);
        if unit >= finest {
            return Ok(unit);
        }
        Err(Error::usage(
            ErrorKind::Resolution,
            format!("{place} is {tool}, which has times in units of {finest}, and {unit} were asked for"),
            format!("Leave the resolution out, or give {finest}."),
        ))
    }

    /// The names of the columns of a log without a header.
    fn names(&self) -> Vec<String> {
        let names = self.columns.as_deref().unwrap_or(DEFAULT_COLUMNS);
        names.split(',').map(|name| name.trim().to_owned()).collect()
    }
}

impl Layout {
    /// Detects the layout from a log's first bytes (without a byte order mark).
    ///
    /// # Errors
    /// When there is neither a valid header nor a record with the expected columns.
    pub fn detect(head: &[u8], options: &LayoutOptions, place: &Place) -> Result<Self> {
        let resolution = options.unit(Resolution::MILLISECOND, "JMeter's CSV", place)?;
        Self::of_csv(head, options, place).map(|layout| Self { resolution, ..layout })
    }

    fn of_csv(head: &[u8], options: &LayoutOptions, place: &Place) -> Result<Self> {
        let line = first_line(head);
        if let Some(layout) = Self::from_header(line, options.delimiter) {
            return layout.map(|layout| layout.padded(head)).map_err(|missing| {
                Error::input(ErrorKind::MissingColumn,
                    place.clone().at(1, 0),
                    format!("the header has no column {missing}"),
                    "perfpipe needs timeStamp, elapsed and success; save the log with JMeter's jmeter.save.saveservice.* defaults.",
                )
            });
        }
        let later = || {
            let header =
                |line| Self::from_header(line, options.delimiter)?.ok().map(|layout| layout.padded(head));
            lines(head).take(MOST_LINES_BEFORE).find_map(header)
        };
        Self::without_header(head, options, place).or_else(|error| later().ok_or(error))
    }

    /// The same layout, wider where all of the first records end in more delimiters than the header, as spreadsheets write.
    fn padded(self, head: &[u8]) -> Self {
        let mut records = Records::new(head, self.delimiter);
        let mut widest = self.width;
        let mut looked_at = 0;
        while let Some(record) = records.next_record().filter(|_| looked_at < LOOKED_AT) {
            if self.is_header(record.raw) || record.is_blank() || is_separator_line(record.raw) {
                continue;
            }
            looked_at += 1;
            let is_padded = (self.width..record.width()).all(|field| record.field(field).is_empty());
            if record.width() <= self.width || !is_padded {
                return self;
            }
            widest = record.width();
        }
        Self { width: widest, ..self }
    }

    /// The layout of records that were converted from the format of this name.
    pub fn of_converted(format: &'static str, names: &[&str], form: Form, resolution: Resolution) -> Self {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        // Every format has the three required columns.
        let columns = ColumnIndexes::by_name(&names).unwrap_or_default();
        Self {
            delimiter: b',',
            width: names.len() + usize::from(form == Form::Lines),
            columns,
            header: Some(names.join(",").into_bytes()),
            notes: Vec::new(),
            converted: Some(format),
            form,
            resolution,
        }
    }

    /// The layout from a header. `None` if the line is no header; an error with the name of a missing column.
    fn from_header(line: &[u8], delimiter: Option<u8>) -> Option<Result<Self, &'static str>> {
        let found = find_time_stamp(line)?;
        let delimiter = delimiter.or_else(|| header_delimiter(line, found))?;
        work_count::count(line.len());
        if memchr::memchr_iter(delimiter, line).count() >= MOST_COLUMNS {
            return None;
        }
        let names = fields(line, delimiter);
        if !names.iter().any(|name| name.eq_ignore_ascii_case("timeStamp")) {
            return None;
        }
        let header = Some(line.to_vec());
        let columns = ColumnIndexes::by_name(&names);
        // Other tables have such a column too, and no other one of these.
        if columns == Err("elapsed") && !names.iter().any(|name| name == "timeStamp") {
            return None;
        }
        Some(columns.map(|columns| Self {
            delimiter,
            width: names.len(),
            columns,
            header,
            notes: Vec::new(),
            converted: None,
            form: Form::Own,
            resolution: Resolution::MILLISECOND,
        }))
    }

    fn without_header(head: &[u8], options: &LayoutOptions, place: &Place) -> Result<Self> {
        let names = options.names();
        let columns = ColumnIndexes::by_name(&names).map_err(|missing| {
            Error::usage(
                ErrorKind::ColumnsIncomplete,
                format!("the given columns have no {missing}"),
                "Name every column of the log, among them timeStamp, elapsed and success.",
            )
        })?;
        let fits = |delimiter: &u8| {
            let mut records = Records::new(head, *delimiter);
            records.next_record().is_some_and(|record| {
                record.width() == names.len()
                    && parse_i64(record.field(columns.elapsed)).is_some()
                    && parse_bool(record.field(columns.success)).is_some()
            })
        };
        let candidates: Vec<u8> = options.delimiter.map_or_else(|| DELIMITERS.to_vec(), |d| vec![d]);
        match candidates.into_iter().find(fits) {
            Some(delimiter) => {
                let resolution = Resolution::MILLISECOND;
                Ok(Self {
                    delimiter,
                    width: names.len(),
                    columns,
                    header: None,
                    converted: None,
                    form: Form::Own,
                    resolution,
                    notes: Vec::new(),
                })
            }
            None => Err(Error::input(
                ErrorKind::UnknownColumns,
                place.clone().at(1, 0),
                format!("the first line is neither a JMeter header nor a record of {} columns", names.len()),
                "If the log has no header and other columns than JMeter's default ones, name them (LayoutOptions::columns), \
                 and an unusual delimiter (LayoutOptions::delimiter).",
            )),
        }
    }

    /// The names of the columns in order, for a log that was detected with these options.
    pub fn names(&self, options: &LayoutOptions) -> Vec<String> {
        match &self.header {
            Some(header) => fields(header, self.delimiter),
            None => options.names(),
        }
    }

    /// Returns true if a record, as logged, repeats this log's header.
    #[inline]
    pub fn is_header(&self, raw: &[u8]) -> bool {
        self.header.as_deref().is_some_and(|header| header == raw)
    }

    /// Returns true if a record, as logged, is a header with other columns than this log's.
    pub fn is_other_header(&self, raw: &[u8]) -> bool {
        match Self::from_header(raw, Some(self.delimiter)) {
            Some(Ok(other)) => other.columns != self.columns || other.width != self.width,
            _ => false,
        }
    }

    /// Returns true if a record, as logged, is a header with the same columns as this log's.
    pub fn is_same_header(&self, raw: &[u8]) -> bool {
        matches!(Self::from_header(raw, Some(self.delimiter)), Some(Ok(_))) && !self.is_other_header(raw)
    }
}

/// The columns that logs without a header are known to have, other than JMeter's default ones: of JMeter before 3.3, and
/// before 2.13 (JENKINS-16627), of flood.io and of ruby-jmeter.
const KNOWN_COLUMNS: [&str; 6] = [
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect",
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,bytes,Latency",
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,bytes,grpThreads,allThreads,Latency",
    "timeStamp,elapsed,label,responseCode,threadName,success,bytes,sentBytes,grpThreads,allThreads,Latency,IdleTime,Connect",
    "timeStamp,elapsed,label,responseCode,threadName,success,bytes,grpThreads,allThreads,Latency,SampleCount,ErrorCount,URL",
    "timeStamp,elapsed,label,responseCode,threadName,success,bytes,grpThreads,allThreads,Latency,Hostname,URL",
];

/// Returns the number and the likely names of the columns of a log without a header, if its first record fits them.
pub fn likely_columns(head: &[u8]) -> Option<(usize, &'static str)> {
    let fits = |names: &&&str| {
        let split: Vec<String> = names.split(',').map(str::to_owned).collect();
        let Ok(columns) = ColumnIndexes::by_name(&split) else { return false };
        DELIMITERS.iter().any(|delimiter| {
            let mut records = Records::new(head, *delimiter);
            records.next_record().is_some_and(|record| {
                let number = |column: Option<usize>| {
                    column.is_some_and(|column| {
                        parse_i64(record.field(column)).is_some_and(|number| number >= 0)
                    })
                };
                record.width() == split.len()
                    && (9..=14).contains(&record.field(columns.time_stamp).len())
                    && [Some(columns.time_stamp), Some(columns.elapsed), columns.bytes]
                        .into_iter()
                        .all(number)
                    && [columns.latency, columns.connect, columns.all_threads]
                        .into_iter()
                        .all(|column| column.is_none() || number(column))
                    && parse_bool(record.field(columns.success)).is_some()
            })
        })
    };
    let names = KNOWN_COLUMNS.iter().find(fits)?;
    Some((names.split(',').count(), names))
}

/// Returns true for a line that specifies the delimiter to spreadsheets: `sep=;`.
pub fn is_separator_line(raw: &[u8]) -> bool {
    raw.len() <= 6 && raw.trim_ascii_end().strip_prefix(b"sep=").is_some_and(|rest| rest.len() <= 1)
}

/// The lines of a text, without their ends.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// The first line, without its line end.
fn first_line(head: &[u8]) -> &[u8] {
    lines(head).next().unwrap_or_default()
}

/// Returns where the name `timeStamp` begins, in any case.
fn find_time_stamp(line: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"timeStamp";
    memchr::memmem::find(line, NAME).or_else(|| {
        work_count::count(line.len());
        line.windows(NAME.len()).position(|name| name.eq_ignore_ascii_case(NAME))
    })
}

/// The delimiter of a header: the byte after the name `timeStamp` or, if that is last, before it.
fn header_delimiter(line: &[u8], found: usize) -> Option<u8> {
    let after = line.get(found + b"timeStamp".len()..).unwrap_or_default();
    let before = line.get(..found).unwrap_or_default();
    let after = after.strip_prefix(b"\"").unwrap_or(after);
    let before = before.strip_suffix(b"\"").unwrap_or(before);
    // Line ends and quotes can't be delimiters.
    after.first().or(before.last()).copied().filter(|byte| !b"\"\r\n".contains(byte))
}

/// The fields of one line, as text.
fn fields(line: &[u8], delimiter: u8) -> Vec<String> {
    let mut records = Records::new(line, delimiter);
    records.next_record().map_or_else(Vec::new, |record| {
        (0..record.width()).map(|i| String::from_utf8_lossy(record.field(i)).into_owned()).collect()
    })
}

impl ColumnIndexes {
    /// Finds the columns by JMeter's names, in any case, since other programs write `latency` or `timestamp`. If a name
    /// occurs twice, the first one counts, one in JMeter's own case before all others.
    fn by_name(names: &[String]) -> Result<Self, &'static str> {
        let at = |wanted: &str| {
            let exact = names.iter().position(|name| name == wanted);
            exact.or_else(|| names.iter().position(|name| name.eq_ignore_ascii_case(wanted)))
        };
        let other = |name: &'static str| Some((name, at(name)?));
        let others = ["grpThreads", SAMPLE_COUNT, "ErrorCount"].into_iter().filter_map(other).collect();
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

    /// The indexes of the columns that are kept or that classify a record.
    pub fn read(&self) -> Vec<usize> {
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
    fn likely_columns_of_a_log_without_a_header_fit_its_numbers() {
        let record = b"1669803936232,1711,login,200,Thread Group 1-1,true,1227,275,1,1,1710,0,1314\n";
        let (count, names) = likely_columns(record).unwrap();
        assert!(count == 13 && names.contains("sentBytes,grpThreads,allThreads,Latency,IdleTime"), "{names}");
    }

    #[test]
    fn log_without_a_header_has_the_default_columns() {
        let line = "1795203855304;44;Get 2048;200;OK;Thread 1-1;text;true;;118;132;2;2;http://a/;40;0;14\n";
        let layout = detect(line).unwrap();
        assert_eq!((layout.delimiter, layout.width, layout.header), (b';', 17, None));
    }

    #[test]
    fn header_of_other_content_is_refused_with_a_remedy() {
        let error = detect("hello world\n").unwrap_err();
        assert!(error.to_string().contains("log.csv, line 1"), "{error}");
        assert_eq!(error.kind(), ErrorKind::UnknownColumns);
        let lacking = detect("timeStamp,elapsed\n").unwrap_err();
        assert_eq!(lacking.kind(), ErrorKind::MissingColumn);
        assert!(lacking.to_string().contains("success"), "{lacking}");
    }

    #[test]
    fn lines_before_the_header_and_padded_rows_are_known() {
        let console =
            "Creating summariser <summary>\nStarting @ 2026\n\ntimeStamp,elapsed,success\n1,2,true\n";
        assert_eq!(detect(console).unwrap().header.as_deref(), Some(&b"timeStamp,elapsed,success"[..]));
        assert_eq!(detect("sep=;\ntimeStamp;elapsed;success\n1;2;true\n").unwrap().delimiter, b';');
        let width = |text: &str| detect(text).unwrap().width;
        assert_eq!(width("timeStamp,elapsed,success\r\n1,2,true,,\r\n1,2,true,,\r\n"), 5);
        assert_eq!(width("timeStamp,elapsed,success\n1,2,true,x\n"), 3);
        assert_eq!(width("timeStamp,elapsed,success\n1,2,true,\n1,2,true\n"), 3);
        assert!(is_separator_line(b"sep=,") && is_separator_line(b"sep=\t") && !is_separator_line(b"sep=,1"));
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
