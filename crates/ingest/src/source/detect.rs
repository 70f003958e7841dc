//! Classifies a text by its first 64 KiB: a JMeter log, a CPU export, or neither, with the reason.

use super::SourceOptions;
use super::cpu_export::{CpuForm, CsvForm, Monitor, recognise_table};
use super::head::{HEAD, first_line, records, text};
use super::unpack::codec::Container;
use perfpipe_formats::jtl::layout::{Layout, likely_columns};
use perfpipe_formats::summaries::others::other_output;
use perfpipe_formats::summaries::unwrapped::is_utf16;
use perfpipe_formats::tools::format::Format;
use perfpipe_formats::tools::recognise;
use perfpipe_model::error::{Error, ErrorKind, Place, Result};
use perfpipe_model::run::damage::Fault;

/// The kind of the unpacked bytes of a file or member.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FileContent {
    /// A JMeter log with at least one record.
    Log,
    /// A CPU export.
    Cpu(CpuForm),
    /// Neither a log nor a CPU export, with the reason.
    Other(Fault),
}

impl FileContent {
    /// Classifies the text that begins with `head`. A head shorter than `HEAD` bytes is the whole text.
    ///
    /// # Errors
    /// If the columns of logs in `options` make no sense.
    pub(crate) fn of(head: &[u8], options: &SourceOptions) -> Result<Self> {
        let body = text(whole_lines(head));
        if names_a_time(body) && ends_lines_by_returns(body) {
            let remedy = "Convert its line ends to line feeds: tr '\\r' '\\n' < old.csv > new.csv";
            return Ok(Self::Other(Fault::new(
                ErrorKind::CarriageReturns,
                "has lines that end in carriage returns without line feeds",
                remedy,
            )));
        }
        if let Some(monitor) = Monitor::of(body) {
            return Ok(Self::Cpu(CpuForm::Monitor(monitor)));
        }
        if let Some(format) = recognise(body) {
            let is_log = head.len() >= HEAD || format.has_records(body);
            return Ok(if is_log { Self::Log } else { Self::Other(no_requests(format)) });
        }
        match Layout::detect(body, &options.layout, &Place::default()) {
            Ok(layout) => Ok(Self::of_log(body, &layout, options, head.len() < HEAD)),
            Err(Error::Input { kind, problem, remedy, .. }) if lacks_a_column(body, kind, options) => {
                Ok(Self::Other(Fault { line: Some((1, 0)), ..Fault::new(kind, problem, remedy) }))
            }
            Err(Error::Input { kind, problem, remedy, place }) => {
                // What is no log may be an output with lines like those of a table.
                if let Some((name, remedy)) = of_a_tool(head).or_else(|| other_output(body)) {
                    let fault = Fault::new(ErrorKind::UnsupportedFormat, format!("is {name}"), remedy);
                    return Ok(Self::Other(fault));
                }
                Ok(match recognise_table(body, &options.reading_columns()) {
                    Ok(Some(form)) => Self::Cpu(CpuForm::Csv(form)),
                    _ if names_a_time(body) => Self::Other(known(head).unwrap_or_else(|| Fault {
                        line: place.line.zip(place.byte),
                        ..Fault::new(kind, problem, remedy)
                    })),
                    Ok(None) => Self::Other(neither(head)),
                    Err(fault) => Self::Other(known(head).unwrap_or(fault)),
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Classifies a text that has a log's layout: a log, or the readings that JMeter's PerfMon plugin logs.
    ///
    /// `whole` is true if `body` is the whole text. Otherwise it may end within the first record.
    fn of_log(body: &[u8], layout: &Layout, options: &SourceOptions, whole: bool) -> Self {
        match CsvForm::of_perfmon(body, layout, options.series.is_some()) {
            Some(Ok(form)) => return Self::Cpu(CpuForm::Csv(form)),
            Some(Err(label)) => {
                let label: String = label.chars().take(60).collect();
                return Self::Other(Fault::new(
                    ErrorKind::MonitorLog,
                    format!(
                        "is the log of a monitor, not of requests: no record has a thread, a code or a URL ({label:?} …)"
                    ),
                    "Leave it out, or give it as another series of the server (IngestOptions::series).",
                ));
            }
            None => {}
        }
        let header = usize::from(layout.header.is_some());
        if !whole || records(body, layout.delimiter).nth(header).is_some() {
            return Self::Log;
        }
        Self::Other(Fault::new(
            ErrorKind::NoRecords,
            "is a JMeter log that has a header but no records",
            "Leave it out, or give the log of a run that sent requests.",
        ))
    }
}

/// Returns true if the first line is the header of a log that lacks a column, and no table of readings.
fn lacks_a_column(body: &[u8], kind: ErrorKind, options: &SourceOptions) -> bool {
    let is_of_log = memchr::memmem::find(first_line(body), b"elapsed").is_some();
    kind == ErrorKind::MissingColumn && is_of_log && options.cpu_columns.is_none()
}

/// Returns true if the first line contains `timeStamp`, so that it was probably meant as a log's header.
fn names_a_time(body: &[u8]) -> bool {
    memchr::memmem::find(first_line(body), b"timeStamp").is_some()
}

/// Returns true if the lines end in carriage returns alone.
fn ends_lines_by_returns(body: &[u8]) -> bool {
    memchr::memchr(b'\r', body.trim_ascii_end()).is_some() && memchr::memchr(b'\n', body).is_none()
}

/// Returns `head` without its last line if that is cut. A head of a single line is returned as it is.
fn whole_lines(head: &[u8]) -> &[u8] {
    match head.iter().rposition(|byte| *byte == b'\n') {
        Some(end) if head.len() >= HEAD => head.get(..end).unwrap_or(head),
        _ => head,
    }
}

fn no_requests(format: &Format) -> Fault {
    Fault::new(
        ErrorKind::NoRecords,
        format!("is {}, but has no requests", format.name),
        "Leave it out, or give the log of a run that sent requests.",
    )
}

/// Describes a text that is neither a log nor a CPU export.
fn neither(head: &[u8]) -> Fault {
    let body = text(head);
    if let Some(fault) = known(head) {
        return fault;
    }
    let line: String = String::from_utf8_lossy(first_line(body)).chars().take(60).collect();
    Fault::new(
        ErrorKind::Unrecognised,
        format!("is neither a JMeter log nor a CPU export (it begins with {line:?})"),
        "A log of JMeter needs a header with timeStamp and elapsed, or JMeter's default columns; otherwise set its \
         columns, and an unusual delimiter, in LayoutOptions. A CPU export needs a column of times and one of readings, \
         which SourceOptions::cpu_columns names. \
         docs/tools/README.md lists the formats of other load tools.",
    )
}

/// Describes a text that is neither, if it is known what it is.
fn known(head: &[u8]) -> Option<Fault> {
    let body = text(head);
    if body.is_empty() {
        return Some(Fault::new(
            ErrorKind::Empty,
            "is empty",
            "Check where the run wrote its log, and give that file.",
        ));
    }
    if is_utf16(head) {
        let remedy = "Save it as UTF-8: iconv -f UTF-16 -t UTF-8 old.csv > new.csv";
        return Some(Fault::new(ErrorKind::Utf16, "is UTF-16 text", remedy));
    }
    if body.starts_with(b"<?xml") {
        let remedy = "Give the log that JMeter wrote (.jtl), not the plan of the test (.jmx).";
        return Some(Fault::new(ErrorKind::Xml, "is XML, but no log of JMeter", remedy));
    }
    if let Some((prefix, length)) = prefixed_header(body) {
        return Some(Fault::new(
            ErrorKind::UnsupportedFormat,
            format!("is a log of JMeter, but something stands before each line ({prefix:?})"),
            format!("Remove it: cut -c {}- old.log > results.csv", length + 1),
        ));
    }
    if let Some((count, columns)) = likely_columns(body) {
        return Some(Fault::new(
            ErrorKind::UnknownColumns,
            format!("is a log without a header, and its {count} columns are not JMeter's default ones"),
            format!("Name them, if these are right: LayoutOptions::columns {columns}"),
        ));
    }
    if let Some(name) = packed_name(head) {
        return Some(Fault::new(
            ErrorKind::UnsupportedFormat,
            format!("is {name}"),
            "Unpack it, and give the CSV file, or a zip of it.",
        ));
    }
    body.contains(&0).then(|| {
        Fault::new(ErrorKind::Binary, "is binary data, not text", "Give a JMeter log or a CPU export in CSV.")
    })
}

/// Returns what comes before the header of a JMeter log and before the next line as well, and its length in bytes: the name
/// of a container, or the time at which a line was printed.
fn prefixed_header(body: &[u8]) -> Option<(String, usize)> {
    let mut lines = body.split(|byte| *byte == b'\n').take(1000);
    let header = lines.find(|line| memchr::memmem::find(line, b"timeStamp,elapsed,").is_some())?;
    let length = memchr::memmem::find(header, b"timeStamp,elapsed,")?;
    let is_prefixed = |line: &[u8]| line.get(length.checked_sub(1)?..)?.first().map(u8::is_ascii_whitespace);
    let prefix = header.get(..length).filter(|prefix| (1..=120).contains(&prefix.len()))?;
    let next = lines.next().unwrap_or(header);
    (is_prefixed(header)? && is_prefixed(next)?)
        .then(|| (String::from_utf8_lossy(prefix).into_owned(), length))
}

/// Returns what a load tool wrote that is no log of requests, if it is known, and the remedy.
fn of_a_tool(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let body = text(head);
    if is_binary_of_vegeta(head) {
        let remedy = "Convert it: vegeta encode --to csv results.bin > results.csv";
        return Some(("vegeta's binary results", remedy));
    }
    if head.starts_with(b"SQLite format 3\0") {
        let remedy = "Give a log in text. oha, whose --db-url writes such a file, writes its requests by \
                      --output-format csv.";
        return Some(("an SQLite database", remedy));
    }
    let remedy = "It does not say which requests failed, and is sorted by duration. Give ab's output of the same name \
                  as well, for a point of a sweep.";
    body.starts_with(b"starttime\tseconds\tctime\t").then_some(("the file of ab -g", remedy))
}

/// Returns true for results of vegeta in Go's own format, which begins with the name of their type.
fn is_binary_of_vegeta(head: &[u8]) -> bool {
    head.get(..16).is_some_and(|begin| {
        // The length of the definition of the type, which is one byte in earlier versions, comes before its number, -65.
        let is_definition = begin.starts_with(b"\xff") || begin.get(1..3) == Some(b"\xff\x81");
        is_definition && memchr::memmem::find(begin, b"\x06Result").is_some()
    })
}

/// Returns the name of the packed format that `head` begins with, if any.
fn packed_name(head: &[u8]) -> Option<&'static str> {
    match Container::of(head) {
        Container::Zip => Some("a zip within a packed file"),
        Container::Gzip => Some("a gzip file within a packed file"),
        Container::Zstd => Some("a zstd file within a packed file"),
        Container::Plain => [
            (&b"7z\xbc\xaf\x27\x1c"[..], "a 7z archive"),
            (b"\xfd7zXZ\0", "an xz file"),
            (b"BZh", "a bzip2 file"),
            (b"Rar!", "a rar archive"),
            (b"PAR1", "a Parquet file"),
            (b"MZ", "a program, perhaps a self-extracting archive"),
            (b"\x7fELF", "a program, perhaps a self-extracting archive"),
        ]
        .into_iter()
        .find_map(|(magic, name)| head.starts_with(magic).then_some(name))
        .or_else(|| (head.get(257..262) == Some(b"ustar")).then_some("a tar archive")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfpipe_formats::jtl::layout::LayoutOptions;

    fn fault(head: &[u8]) -> Fault {
        match FileContent::of(head, &SourceOptions::default()).unwrap() {
            FileContent::Other(fault) => fault,
            content => panic!("{content:?}"),
        }
    }

    #[test]
    fn content_of_neither_kind_has_a_fault_of_its_own() {
        let mut tar = vec![b'x'; 600];
        tar[257..262].copy_from_slice(b"ustar");
        for (head, kind) in [
            (&b""[..], ErrorKind::Empty),
            (b"\xef\xbb\xbf\r\n", ErrorKind::Empty),
            (b"timeStamp,elapsed,success\n\n", ErrorKind::NoRecords),
            (b"timeStamp,elapsed,label\n1,2,a", ErrorKind::MissingColumn),
            (b"<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">", ErrorKind::NoRecords),
            (b"\xef\xbb\xbf\n <testResults version=\"1.2\">", ErrorKind::NoRecords),
            (b"RUN\tSim\tsim\t1795348622935\t \t3.9.5\n", ErrorKind::NoRecords),
            (b"<?xml version=\"1.0\"?><a/>", ErrorKind::Xml),
            (b"<html>", ErrorKind::Unrecognised),
            (
                b"[OVERALL], RunTime(ms), 10110\n[OVERALL], Throughput(ops/sec), 98.9\n",
                ErrorKind::UnsupportedFormat,
            ),
            (b"\xff\xfet\0i\0", ErrorKind::Utf16),
            (b"PK\x03\x04....", ErrorKind::UnsupportedFormat),
            (b"\x1f\x8b\x08", ErrorKind::UnsupportedFormat),
            (b"pod  | x\npod  | timeStamp,elapsed,success\npod  | 1,2,true\n", ErrorKind::UnsupportedFormat),
            (b"1795203738000,54,home,200,OK,Group 1-1,text,true,1000,36\n", ErrorKind::UnknownColumns),
            (b"timeStamp,elapsed,success\r1,2,true\r", ErrorKind::CarriageReturns),
            (b"7z\xbc\xaf\x27\x1c", ErrorKind::UnsupportedFormat),
            (b"\xff\x9d\xff\x81\x03\x01\x01\x06Result\x01\xff\x82", ErrorKind::UnsupportedFormat),
            (b"w\xff\x81\x03\x01\x01\x06Result\x01\xff\x82\0", ErrorKind::UnsupportedFormat),
            (b"MZ\x90\0\x03\0\0\0", ErrorKind::UnsupportedFormat),
            (b"\0\x01\x02", ErrorKind::Binary),
            (b"hello\nworld", ErrorKind::Unrecognised),
            (b"SQLite format 3\0\x10\0\x01\x01", ErrorKind::UnsupportedFormat),
            (b"#[by x]\n#[Histogram log format version 1.3]\n", ErrorKind::NoRecords),
            (b"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\"", ErrorKind::NoRecords),
            (b"# a comment\nnothing else", ErrorKind::Unrecognised),
            (b"starttime\tseconds\tctime\tdtime\tttime\twait\n", ErrorKind::UnsupportedFormat),
            (&tar, ErrorKind::UnsupportedFormat),
        ] {
            let fault = fault(head);
            assert_eq!(fault.kind, kind, "{}", fault.problem);
        }
        assert!(fault(b"hello\nworld").problem.contains("\"hello\""));
    }

    #[test]
    fn log_is_known_by_its_header_or_by_its_records() {
        let layout = |columns: &str| LayoutOptions::default().with_columns(columns);
        let given = SourceOptions::default().with_layout(layout("success,elapsed,timeStamp"));
        for (head, options) in [
            ("timeStamp,elapsed,success\n1,2,true", SourceOptions::default()),
            ("\u{feff}timeStamp;elapsed;success\n1;2;true", SourceOptions::default()),
            ("\"elapsed\"\t\"timeStamp\"\tsuccess\t\"value\"\r\n1\t2\ttrue", SourceOptions::default()),
            ("1795203855304,71,a,200,OK,G,text,true,,1,2,3,4,u,5,6,7", SourceOptions::default()),
            ("2026/11/20 19:45:08,71,a,200,OK,G,text,true,,1,2,3,4,u,5,6,7", SourceOptions::default()),
            ("true|12|1795203855304", given),
            ("<testResults version=\"1.2\">\n<httpSample t=\"12\"/>", SourceOptions::default()),
            ("RUN\tS\ts\t1\t \t3.9.5\nREQUEST\t\tget\t1\t2\tOK\t ", SourceOptions::default()),
        ] {
            assert_eq!(FileContent::of(head.as_bytes(), &options).unwrap(), FileContent::Log, "{head}");
        }
    }

    #[test]
    fn columns_that_make_no_sense_are_a_wrong_usage() {
        let given = SourceOptions::default().with_layout(LayoutOptions::default().with_columns("a,b"));
        assert!(matches!(FileContent::of(b"1,2", &given), Err(Error::Usage { .. })));
    }
}
