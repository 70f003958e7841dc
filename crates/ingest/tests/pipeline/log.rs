//! Logs made up field by field: odd texts, every quoting, line ends of both kinds, and records that are none.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::oracle::DEFAULT_COLUMNS;

/// timeStamps are about this, epoch ms.
pub(crate) const NOON: i64 = 1_795_203_855_304;

/// Columns that JMeter can add to its default ones, and one of a sample variable.
const MORE: &str = "Filename,Encoding,SampleCount,ErrorCount,Hostname,var";

/// A log of one to forty records that begins with one that can be taken.
pub(crate) fn log() -> impl Strategy<Value = Vec<u8>> {
    (shape(), record(true), vec(line(), 0..40), end()).prop_map(|(shape, first, lines, end)| {
        let mut log = Vec::new();
        if shape.mark {
            log.extend_from_slice("\u{feff}".as_bytes());
        }
        log.extend_from_slice("\r\n\n".get(..shape.blank_lines).unwrap_or("\r\n\n").as_bytes());
        if shape.header {
            log.extend(shape.columns());
            log.push(b'\n');
        }
        shape.write(&first, &mut log);
        log.push(b'\n');
        for (line, crlf) in &lines {
            shape.write_line(line, &mut log);
            log.extend_from_slice(if *crlf { b"\r\n" } else { b"\n" });
        }
        end.apply(&shape, &mut log);
        log
    })
}

/// How a log is laid out.
#[derive(Debug, Clone)]
struct Shape {
    delimiter: char,
    header: bool,
    mark: bool,
    blank_lines: usize,
    names: Vec<&'static str>,
}

fn shape() -> impl Strategy<Value = Shape> {
    let all: Vec<&str> = DEFAULT_COLUMNS.split(',').chain(MORE.split(',')).collect();
    let columns = prop_oneof![
        Just(DEFAULT_COLUMNS.split(',').collect::<Vec<_>>()),
        (Just(all).prop_shuffle(), 8..24usize).prop_map(|(mut names, wanted)| {
            // These can't be left out.
            names.sort_by_key(|name| !["timeStamp", "elapsed", "success", "threadName"].contains(name));
            names.truncate(wanted);
            names
        }),
    ];
    let blank_lines = prop_oneof![3 => Just(0usize), 1 => 2..4usize];
    (select(b",;\t|^~#!".to_vec()), any::<bool>(), any::<bool>(), blank_lines, columns.prop_shuffle())
        .prop_map(|(delimiter, header, mark, blank_lines, names)| {
            let delimiter = delimiter.into();
            if header {
                return Shape { delimiter, header, mark, blank_lines, names };
            }
            // Without a header, by what is usual.
            let delimiter = if ",;\t|".contains(delimiter) { delimiter } else { ',' };
            Shape { delimiter, header, mark, blank_lines, names: DEFAULT_COLUMNS.split(',').collect() }
        })
}

/// One record before it is written; texts, numbers as written, and where quotes stand that need not.
#[derive(Debug, Clone)]
struct Record {
    time: String,
    elapsed: String,
    success: String,
    texts: Vec<(Vec<u8>, bool)>,
    numbers: Vec<String>,
    transaction: bool,
}

#[derive(Debug, Clone)]
enum Line {
    Record(Record),
    Blank,
    Header,
    /// A record with more or fewer fields.
    Shape(Record, bool),
    Junk(Vec<u8>),
}

fn line() -> impl Strategy<Value = (Line, bool)> {
    let junk = select(vec![
        &b"x"[..],
        b"timeStamp",
        b"\"a\nb\",1",
        b"\xff\xfe,,",
        b"a\"b\"c,\"d\"\"e\"f",
        b",,,,,,,,,,,,,,,,",
    ]);
    let line = prop_oneof![
        20 => record(true).prop_map(Line::Record),
        2 => record(false).prop_map(Line::Record),
        1 => Just(Line::Blank),
        1 => Just(Line::Header),
        1 => (record(true), any::<bool>()).prop_map(|(record, more)| Line::Shape(record, more)),
        1 => junk.prop_map(|junk| Line::Junk(junk.to_vec())),
    ];
    (line, any::<bool>())
}

fn record(good: bool) -> impl Strategy<Value = Record> {
    let number = prop_oneof![3 => (0..40i64).prop_map(|n| n.to_string()), 1 => Just(String::new())];
    let time = prop_oneof![
        8 => (0..4000i64).prop_map(|ms| NOON + ms),
        2 => (-1500..200_000i64).prop_map(|ms| NOON + ms),
    ];
    let elapsed = prop_oneof![6 => 0..60i32, 1 => 8000..9000i32, 1 => 0..i32::MAX];
    let success = select(vec!["true", "true", "true", "false", "TRUE", "False"]);
    let parts = (time, elapsed, success, vec((text(), any::<bool>()), 20), vec(number, 12));
    let transaction = proptest::bool::weighted(0.1);
    (parts, transaction, any::<Index>()).prop_map(
        move |((time, elapsed, success, texts, numbers), transaction, at)| {
            let (time, elapsed) = (time.to_string(), elapsed.to_string());
            let mut record = Record { time, elapsed, success: success.into(), texts, numbers, transaction };
            if !good {
                record.spoil(at.index(7));
            }
            record
        },
    )
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let odd = select(vec![
        "",
        "Get 2048",
        "200",
        "Größe, \"x\"; y|z\t^~#!",
        "two\nlines",
        "CR\r\nLF",
        "\"",
        "\"\"",
        "10.0.0.1-Group 1-1",
        "load-1:1099-Group 1-2",
        "http://a:1/2048",
        "null",
        "a\u{0}b",
    ]);
    prop_oneof![
        9 => odd.prop_map(|text| text.as_bytes().to_vec()),
        1 => Just(b"\xc3(\xff".to_vec()),
        1 => "[a-c ]{0,6}".prop_map(String::into_bytes),
    ]
}

impl Record {
    /// Makes it one that can't be taken.
    fn spoil(&mut self, how: usize) {
        match how {
            0 => self.time = "noon".into(),
            1 => self.time = (NOON + 8 * 86_400_000).to_string(),
            2 => self.elapsed = "1.5".into(),
            3 => self.elapsed = (i64::from(i32::MAX) + 1).to_string(),
            4 => self.success = "yes".into(),
            5 => self.elapsed = "-3".into(),
            _ => self.elapsed.clear(),
        }
    }

    /// The field of a column, and whether it is quoted though it need not be.
    fn field(&self, at: usize, name: &str) -> (Vec<u8>, bool) {
        let (text, quoted) = &self.texts[at % self.texts.len()];
        let number = || self.numbers[at % self.numbers.len()].clone().into_bytes();
        match name {
            "timeStamp" => (self.time.clone().into_bytes(), false),
            "elapsed" => (self.elapsed.clone().into_bytes(), *quoted),
            "success" => (self.success.clone().into_bytes(), *quoted),
            "dataType" if self.transaction => (Vec::new(), false),
            "responseMessage" if self.transaction => {
                (b"Number of samples in transaction : 3, number of failing samples : 0".to_vec(), false)
            }
            "URL" if self.transaction => (b"null".to_vec(), false),
            "bytes" | "sentBytes" | "grpThreads" | "allThreads" | "Latency" | "IdleTime" | "Connect"
            | "ErrorCount" => (number(), *quoted),
            // More than one would be refused.
            "SampleCount" => (b"1".to_vec(), *quoted),
            // A log of records without threads would be that of a monitor.
            "threadName" if text.is_empty() => (b"Thread Group 1-1".to_vec(), *quoted),
            _ => (text.clone(), *quoted),
        }
    }
}

impl Shape {
    fn columns(&self) -> Vec<u8> {
        self.names.join(&self.delimiter.to_string()).into_bytes()
    }

    fn write(&self, record: &Record, log: &mut Vec<u8>) {
        for (at, name) in self.names.iter().enumerate() {
            if at > 0 {
                log.push(self.delimiter as u8);
            }
            let (text, quoted) = record.field(at, name);
            let special = |byte: &u8| matches!(byte, b'"' | b'\n' | b'\r') || *byte == self.delimiter as u8;
            if !quoted && !text.iter().any(special) {
                log.extend(text);
                continue;
            }
            log.push(b'"');
            for byte in text {
                log.extend(std::iter::repeat_n(byte, if byte == b'"' { 2 } else { 1 }));
            }
            log.push(b'"');
        }
    }

    fn write_line(&self, line: &Line, log: &mut Vec<u8>) {
        match line {
            Line::Record(record) => self.write(record, log),
            Line::Blank => {}
            Line::Header => log.extend(self.columns()),
            Line::Shape(record, true) => {
                self.write(record, log);
                log.push(self.delimiter as u8);
            }
            Line::Shape(record, false) => {
                let mut shape = self.clone();
                shape.names.pop();
                shape.write(record, log);
            }
            Line::Junk(junk) => log.extend(junk),
        }
    }
}

/// How a log ends.
#[derive(Debug, Clone)]
enum End {
    Whole,
    Unended,
    BlankLines,
    /// In the middle of a record.
    Cut(Record, Index),
    /// In an open quote.
    Open(Record, Vec<u8>),
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        Just(End::Whole),
        Just(End::Unended),
        Just(End::BlankLines),
        (record(true), any::<Index>()).prop_map(|(record, at)| End::Cut(record, at)),
        (record(true), select(vec![&b""[..], b"a", b"\n", b"a\r\n1,2\n"]))
            .prop_map(|(r, t)| End::Open(r, t.to_vec())),
    ]
}

impl End {
    fn apply(&self, shape: &Shape, log: &mut Vec<u8>) {
        match self {
            Self::Whole => {}
            Self::Unended => {
                log.pop();
            }
            Self::BlankLines => log.extend_from_slice(b"\n\r\n\n"),
            Self::Cut(record, at) => {
                let mut last = Vec::new();
                shape.write(record, &mut last);
                last.truncate(at.index(last.len()));
                // A cut between a carriage return and its line feed is no line end, nor a field's end.
                while last.last() == Some(&b'\r') {
                    last.pop();
                }
                log.extend(last);
            }
            Self::Open(record, text) => {
                shape.write(record, log);
                log.push(shape.delimiter as u8);
                log.push(b'"');
                log.extend(text);
            }
        }
    }
}
