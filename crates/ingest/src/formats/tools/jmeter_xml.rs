//! JMeter's XML log: an element for each sample, with those of its parts within it.
//!
//! JMeter's CSV has the same samples one after another, each before its parts; so has what this converts them to.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::convert::{Convert, Follows};
use super::csv::Column;
use super::format::{Clock, Format};
use super::rows::Rows;
use super::rows::lines::Original;
use super::told::Wrong;
use crate::formats::number::{parse_bool, parse_i64};
use crate::run::fault::Fault;
use crate::sample::resolution::Resolution;

/// JMeter's log.
pub(super) const FORMAT: Format = Format {
    name: "JMeter's XML log",
    tool: None,
    finest: Resolution::MILLISECOND,
    clock: |_| Clock::Epoch,
    columns: &[
        Column::TimeStamp,
        Column::Elapsed,
        Column::Label,
        Column::ResponseCode,
        Column::ResponseMessage,
        Column::ThreadName,
        Column::DataType,
        Column::Success,
        Column::FailureMessage,
        Column::Bytes,
        Column::SentBytes,
        Column::GrpThreads,
        Column::AllThreads,
        Column::Url,
        Column::Latency,
        Column::IdleTime,
        Column::Connect,
        Column::Hostname,
    ],
    recognises: is_log,
    note: |_| None,
    by_workers: false,
    converter: || Box::new(JmeterXml::default()),
};

/// The attributes of a sample in the order of the columns; empty where another element has it.
const ATTRIBUTES: [&str; 18] =
    ["ts", "t", "lb", "rc", "rm", "tn", "dt", "s", "", "by", "sby", "ng", "na", "", "lt", "it", "ct", "hn"];

/// The places of the values that each sample needs.
const TIME_STAMP: usize = 0;
const ELAPSED: usize = 1;
const SUCCESS: usize = 7;

/// The places of what elements within a sample tell.
const FAILURE_MESSAGE: usize = 8;
const URL: usize = 13;

/// The most bytes that a sample with all its parts may have: a longer one was probably never ended.
const MOST_SAMPLE: usize = 16 << 20;

/// The most samples within each other: where there are more, their ends were lost.
const MOST_NESTED: usize = 100;

fn is_log(head: &[u8]) -> bool {
    let begin = head.get(..1024).unwrap_or(head);
    head.starts_with(b"<testResults")
        || (head.starts_with(b"<?xml") && memchr::memmem::find(begin, b"<testResults").is_some())
}

/// The columns of numbers, which may be absent, and the most digits that no reader refuses.
const NUMBERS: [usize; 8] = [1, 9, 10, 11, 12, 14, 15, 16];
const DIGITS: usize = 9;

/// Starts so far from the log's first one, in ms, may be refused.
const FAR: u64 = 24 * 3_600_000;

/// Converts the samples of one log.
#[derive(Debug, Default)]
struct JmeterXml {
    /// The first start, epoch ms.
    first_ms: Option<i64>,
}

impl JmeterXml {
    /// Writes a row on the line where the sample begins, or on the next free one.
    fn write(&mut self, sample: &Sample, text: &[u8], rows: &mut Rows) {
        let (line, byte) = (rows.place.0 + lines(text, sample.start), rows.place.1 + sample.start as u64);
        let record = if self.is_sound(sample) { &[] } else { element(text, sample.start) };
        rows.catch_up(line);
        rows.fields(&sample.fields, &Original { line, byte, record: record.to_vec() });
    }

    /// Returns true if no reader of the row can refuse one of its values.
    fn is_sound(&mut self, sample: &Sample) -> bool {
        let field = |at: usize| sample.fields.get(at).map(Vec::as_slice).unwrap_or_default();
        let Some(start_ms) = parse_i64(field(TIME_STAMP)) else { return false };
        let first_ms = *self.first_ms.get_or_insert(start_ms);
        let is_short = |at: &usize| field(*at).len() <= DIGITS && field(*at).iter().all(u8::is_ascii_digit);
        start_ms.abs_diff(first_ms) < FAR
            && parse_bool(field(SUCCESS)).is_some()
            && !field(ELAPSED).is_empty()
            && NUMBERS.iter().all(is_short)
    }
}

/// Returns the element that begins at a byte, without what is in it.
fn element(text: &[u8], start: usize) -> &[u8] {
    let text = text.get(start..).unwrap_or_default();
    let mut quote = None;
    let end = text.iter().position(|byte| {
        match (quote, byte) {
            (None, b'>') => return true,
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(open), byte) if open == *byte => quote = None,
            _ => {}
        }
        false
    });
    text.get(..end.map_or(text.len(), |end| end + 1)).unwrap_or(text)
}

impl Convert for JmeterXml {
    fn convert(&mut self, input: &[u8], follows: Follows, rows: &mut Rows) -> Result<usize, Fault> {
        let mut at = 0;
        loop {
            let rest = input.get(at..).unwrap_or_default();
            match tree(rest, follows) {
                Tree::Whole { samples, end } => {
                    samples.iter().for_each(|sample| self.write(sample, rest, rows));
                    pass(rest, end, rows);
                    at += end;
                }
                Tree::Broken { start, end } => {
                    pass(rest, start, rows);
                    rows.reject_line(Wrong::Unknown, rest.get(start..end).unwrap_or_default());
                    pass(rest.get(start..).unwrap_or_default(), end - start, rows);
                    at += end;
                }
                Tree::Open { start } => {
                    if follows == Follows::More && rest.len() - start < MOST_SAMPLE {
                        pass(rest, start, rows);
                        return Ok(at + start);
                    }
                    pass(rest, start, rows);
                    if follows == Follows::Unwanted {
                        return Ok(input.len());
                    }
                    let open = rest.get(start..).unwrap_or_default();
                    // What is behind a sample that never ends may be others.
                    let end = next_sample(open).unwrap_or(open.len());
                    rows.reject_line(Wrong::Cut, open.get(..end).unwrap_or(open));
                    pass(open, end, rows);
                    at += start + end;
                }
                Tree::Nothing { end } => {
                    pass(rest, end, rows);
                    let behind = rest.get(end..).unwrap_or_default();
                    if follows == Follows::Nothing && !behind.trim_ascii().is_empty() {
                        rows.reject_line(Wrong::Unknown, behind);
                    }
                    return Ok(if follows == Follows::More { at + end } else { input.len() });
                }
            }
        }
    }
}

/// The first sample in a text, with its parts.
enum Tree {
    /// It is there to its end.
    Whole { samples: Vec<Sample>, end: usize },
    /// It begins at `start`, and its end is not there.
    Open { start: usize },
    /// It begins at `start` and is no XML, or no sample, before `end`, where others may begin.
    Broken { start: usize, end: usize },
    /// There is none before `end`.
    Nothing { end: usize },
}

impl Tree {
    /// The same behind so many other bytes.
    fn behind(mut self, bytes: usize) -> Self {
        match &mut self {
            Self::Whole { samples, end } => {
                samples.iter_mut().for_each(|sample| sample.start += bytes);
                *end += bytes;
            }
            Self::Open { start } => *start += bytes,
            Self::Broken { start, end } => {
                *start += bytes;
                *end += bytes;
            }
            Self::Nothing { end } => *end += bytes,
        }
        self
    }
}

/// A sample.
#[derive(Debug)]
struct Sample {
    /// The byte at which it begins.
    start: usize,
    /// What it tells, in the order of the columns.
    fields: Vec<Vec<u8>>,
}

impl Sample {
    fn new(start: usize, element: &BytesStart<'_>) -> Self {
        let mut fields = vec![Vec::new(); ATTRIBUTES.len()];
        for attribute in element.attributes().with_checks(false).flatten() {
            let name = attribute.key.as_ref();
            let place = ATTRIBUTES.iter().position(|known| known.as_bytes() == name);
            if let Some(field) = place.and_then(|place| fields.get_mut(place)) {
                *field = unescaped(&attribute.value);
            }
        }
        if let Some(url) = fields.get_mut(URL) {
            // So JMeter's CSV has it of a sample that has no URL.
            url.extend_from_slice(b"null");
        }
        Self { start, fields }
    }
}

/// Returns a text without its entities.
fn unescaped(text: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(text).ok().and_then(|text| quick_xml::escape::unescape(text).ok()) {
        Some(text) => text.into_owned().into_bytes(),
        None => text.to_vec(),
    }
}

/// Returns the number of line ends before a byte.
fn lines(text: &[u8], at: usize) -> u64 {
    memchr::memchr_iter(b'\n', text.get(..at).unwrap_or(text)).count() as u64
}

/// Goes on in the log, by as many bytes of `text`.
fn pass(text: &[u8], bytes: usize, rows: &mut Rows) {
    rows.place = (rows.place.0 + lines(text, bytes), rows.place.1 + bytes as u64);
}

/// Returns the byte at which the next sample begins behind the first byte.
fn next_sample(text: &[u8]) -> Option<usize> {
    let behind = text.get(1..)?;
    let found = |name: &[u8]| memchr::memmem::find(behind, name);
    let next = [found(b"<httpSample "), found(b"<sample ")].into_iter().flatten().min();
    next.map(|at| at + 1)
}

/// The byte-order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Finds the first sample in a text.
fn tree(text: &[u8], follows: Follows) -> Tree {
    // The reader passes over a mark at its beginning, and does not count its bytes.
    let marks = text.chunks_exact(MARK.len()).take_while(|bytes| *bytes == MARK).count() * MARK.len();
    unmarked(text.get(marks..).unwrap_or_default(), follows).behind(marks)
}

/// Finds the first sample in a text that begins with no byte-order mark.
fn unmarked(text: &[u8], follows: Follows) -> Tree {
    let mut reader = Reader::from_reader(text);
    reader.config_mut().check_end_names = false;
    reader.config_mut().allow_unmatched_ends = true;
    let mut open = Open::default();
    let mut end = 0;
    loop {
        let start = usize::try_from(reader.buffer_position()).unwrap_or(text.len());
        let event = reader.read_event();
        let is_open = open.start().is_some();
        match event {
            Ok(Event::Eof) if !is_open => return Tree::Nothing { end: end.min(start) },
            Err(_) if !is_open => return nothing(text, (start, end), follows),
            Ok(Event::Eof) => return Tree::Open { start: open.start().unwrap_or(start) },
            // Another log begins behind one that was not ended.
            Ok(Event::Decl(_)) if is_open => return open.broken(start),
            Ok(Event::Start(element)) if is_open && element.name().as_ref() == b"testResults" => {
                return open.broken(start);
            }
            Ok(event) => open.add(start, &event),
            // A text or an element that goes on behind the text, or none.
            Err(_) => return Tree::Open { start: open.start().unwrap_or(start) },
        }
        end = usize::try_from(reader.buffer_position()).unwrap_or(text.len());
        if open.is_whole() {
            return Tree::Whole { samples: open.samples, end };
        }
        if open.stack.len() > MOST_NESTED {
            return open.broken(start);
        }
    }
}

/// Tells that there is no sample before `start`, where something begins that is no XML, or goes on behind the text.
fn nothing(text: &[u8], (start, end): (usize, usize), follows: Follows) -> Tree {
    let rest = text.get(start..).unwrap_or_default();
    let may_go_on = follows == Follows::More && rest.len() < MOST_SAMPLE;
    match next_sample(rest).filter(|_| !may_go_on) {
        Some(next) => Tree::Broken { start, end: start + next },
        None => Tree::Nothing { end: end.min(start) },
    }
}

/// The samples that have begun.
#[derive(Default)]
struct Open {
    samples: Vec<Sample>,
    /// The places of those that have not ended, from the outermost on, and how deep in each other elements are.
    stack: Vec<(usize, usize)>,
    /// The place of what the text of the element that is read tells.
    field: Option<usize>,
}

impl Open {
    fn start(&self) -> Option<usize> {
        self.samples.first().map(|first| first.start)
    }

    /// Tells that the outermost sample is not ended: the next one, or what begins at `end`, is no part of it.
    fn broken(&self, end: usize) -> Tree {
        let next = self.samples.get(1).map(|next| next.start);
        Tree::Broken { start: self.start().unwrap_or_default(), end: next.unwrap_or(end) }
    }

    fn is_whole(&self) -> bool {
        !self.samples.is_empty() && self.stack.is_empty()
    }

    fn add(&mut self, start: usize, event: &Event<'_>) {
        match event {
            Event::Start(element) => self.begin(start, element),
            Event::Empty(element) if is_sample(element) => self.samples.push(Sample::new(start, element)),
            Event::Text(text) => self.text(&unescaped(text)),
            Event::GeneralRef(entity) => {
                let text = [b"&", &**entity, b";"].concat();
                self.text(&unescaped(&text));
            }
            Event::CData(text) => self.text(text),
            Event::End(_) => self.end(),
            _ => {}
        }
    }

    fn begin(&mut self, start: usize, element: &BytesStart<'_>) {
        if is_sample(element) {
            self.stack.push((self.samples.len(), 0));
            self.samples.push(Sample::new(start, element));
            return;
        }
        let Some((sample, depth)) = self.stack.last_mut() else { return };
        *depth += 1;
        self.field = match element.name().as_ref() {
            b"java.net.URL" if *depth == 1 => Some(URL),
            b"failureMessage" if *depth == 2 => Some(FAILURE_MESSAGE),
            _ => None,
        };
        let told = self.field.and_then(|field| self.samples.get_mut(*sample)?.fields.get_mut(field));
        match told {
            // JMeter's CSV has the message of the first assertion that has one.
            Some(told) if self.field == Some(FAILURE_MESSAGE) && !told.is_empty() => self.field = None,
            Some(told) => told.clear(),
            None => {}
        }
    }

    fn text(&mut self, text: &[u8]) {
        let told = self.field.zip(self.stack.last());
        if let Some(told) = told.and_then(|(field, (at, _))| self.samples.get_mut(*at)?.fields.get_mut(field))
        {
            told.extend_from_slice(text);
        }
    }

    fn end(&mut self) {
        self.field = None;
        match self.stack.last_mut() {
            Some((_, depth)) if *depth > 0 => *depth -= 1,
            _ => drop(self.stack.pop()),
        }
    }
}

fn is_sample(element: &BytesStart<'_>) -> bool {
    matches!(element.name().as_ref(), b"httpSample" | b"sample")
}
