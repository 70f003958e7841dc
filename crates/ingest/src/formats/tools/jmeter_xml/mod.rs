//! JMeter's XML log: an element for each sample, with those of its parts within it.
//!
//! JMeter's CSV has the same samples one after another, each before its parts; so has what this converts them to. The parts of
//! a request, such as its redirects, are named after it (`X-0`, `X-1`), as JMeter names them itself since 5.0: in the CSV
//! nothing else says that they are parts.

mod tokens;

use std::collections::VecDeque;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use self::tokens::{Input, Place, Token, Tokens};
use super::convert::{Convert, Follows};
use super::csv::Column;
use super::format::{Clock, Format};
use super::rows::Rows;
use super::rows::lines::Original;
use super::told::Wrong;
use crate::formats::jtl::blocks::KEPT;
use crate::formats::number::{parse_bool, parse_i64};
use crate::formats::steps;
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
        Column::SampleCount,
    ],
    recognises: is_log,
    note: |_| None,
    by_workers: false,
    converter: || Box::new(JmeterXml::default()),
};

/// The attributes of a sample in the order of the columns; empty where another element has it.
const ATTRIBUTES: [&str; 19] = [
    "ts", "t", "lb", "rc", "rm", "tn", "dt", "s", "", "by", "sby", "ng", "na", "", "lt", "it", "ct", "hn",
    "sc",
];

/// The places of the values that each sample needs.
const TIME_STAMP: usize = 0;
const ELAPSED: usize = 1;
const LABEL: usize = 2;
const SUCCESS: usize = 7;

/// The place of the number of samples that a sample stands for.
const SAMPLES: usize = 18;

/// The columns of values that elements within a sample contain.
const FAILURE_MESSAGE: usize = 8;
const URL: usize = 13;

/// The longest label of a request after which its parts are named, in bytes: each of them has it.
const LONGEST_NAME: usize = 256;

/// The most bytes that a sample with all its parts may have: a longer one was probably never ended.
const MOST_SAMPLE: usize = 16 << 20;

/// The most samples within each other, and the most that a sample has at all: where there are more, their ends were lost.
const MOST_NESTED: usize = 100;
const MOST_PARTS: usize = 50_000;

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
///
/// A sample is written when the outermost one around it has ended. If that never ends, it is rejected, and its parts are
/// samples of their own. So each byte is gone through once, whatever is missing.
#[derive(Debug, Default)]
struct JmeterXml {
    /// The first start, epoch ms.
    first_ms: Option<i64>,
    tokens: Tokens,
    /// The samples that are not written yet, of which the first one is open.
    samples: VecDeque<Sample>,
    /// The number of samples before them.
    written: usize,
    /// Those that have not ended, from the outermost on.
    open: VecDeque<Open>,
    /// The place of what the text of the element that is read tells.
    field: Option<usize>,
    /// How deep in each other the elements are that are no samples, beside the samples of the log.
    others: usize,
}

/// A sample that has not ended.
#[derive(Debug)]
struct Open {
    /// Its number among all samples.
    number: usize,
    /// How deep in each other the elements in it are that have not ended.
    depth: usize,
    /// True if it is a request, not a transaction.
    is_request: bool,
    /// The number of its parts so far.
    parts: u64,
}

/// A sample.
#[derive(Debug)]
struct Sample {
    place: Place,
    /// The number of bytes of the element without what is in it.
    length: usize,
    /// What it tells, in the order of the columns.
    fields: Vec<Vec<u8>>,
}

impl Convert for JmeterXml {
    fn convert(&mut self, input: &[u8], follows: Follows, rows: &mut Rows) -> Result<usize, Fault> {
        let log = Input { bytes: input, begin: rows.place.1 };
        while !rows.are_enough() {
            match self.tokens.next(&log, self.field.is_some()) {
                Some(token) => self.take(&token, &log, rows),
                None if follows == Follows::Unwanted => return Ok(input.len()),
                None if !self.go_on(&log, follows, rows) => break,
                None => {}
            }
        }
        let place = match self.samples.front() {
            Some(first) => first.place,
            None => self.tokens.place(&log),
        };
        rows.place = (place.line, place.byte);
        Ok(log.index(place.byte))
    }
}

impl JmeterXml {
    /// Takes a token.
    fn take(&mut self, token: &Token<'_>, log: &Input<'_>, rows: &mut Rows) {
        match token {
            Token::Start(tag) => self.begin(tag, log, rows),
            Token::Empty(tag) if is_sample(name(tag)) => self.add(tag, log),
            Token::Empty(tag) if self.is_beside_samples() => self.refuse(tag, log, rows),
            Token::End => self.end(),
            Token::Text(text) => self.text(text),
            Token::Verbatim(text) => {
                if let Some(told) = self.told() {
                    told.extend_from_slice(text);
                }
            }
            // Another log begins behind one that was not ended.
            Token::Declaration => self.give_up_all(Wrong::Unknown, log, rows),
            Token::Broken(tag) if is_sample(name(tag)) => self.refuse(tag, log, rows),
            Token::Empty(_) | Token::Broken(_) | Token::Other => {}
        }
        if self.open.is_empty() {
            self.write_whole(log, rows);
        }
        while self.open.len() > MOST_NESTED || self.samples.len() > MOST_PARTS {
            self.give_up(Wrong::Unknown, log, rows);
        }
    }

    /// Goes on where the next token is not there to its end. Returns false if that needs more bytes, or there are none.
    fn go_on(&mut self, log: &Input<'_>, follows: Follows, rows: &mut Rows) -> bool {
        let is_long = |begin: u64| log.end() - begin >= MOST_SAMPLE as u64;
        let never_ends = |begin: u64| follows != Follows::More || is_long(begin);
        if self.samples.front().is_some_and(|first| never_ends(first.place.byte)) {
            self.give_up(Wrong::Cut, log, rows);
            return true;
        }
        let here = self.tokens.place(log);
        if here.byte == log.end() || !never_ends(here.byte) {
            return false;
        }
        let broken = self.tokens.pass_broken(log);
        // What is behind damage is told as that.
        if follows != Follows::Damage && !broken.trim_ascii().is_empty() {
            refuse_at(here, broken, rows);
        }
        true
    }

    fn begin(&mut self, tag: &[u8], log: &Input<'_>, rows: &mut Rows) {
        let name = name(tag);
        if is_sample(name) {
            self.add(tag, log);
            let number = self.written + self.samples.len() - 1;
            let is_request = name == b"httpSample";
            return self.open.push_back(Open { number, depth: 0, is_request, parts: 0 });
        }
        if name == b"testResults" {
            self.others = 0;
            return self.give_up_all(Wrong::Unknown, log, rows);
        }
        // Listeners of plugins write elements of their own; each is one reject.
        if self.is_beside_samples() {
            self.refuse(tag, log, rows);
        }
        let Some(open) = self.open.back_mut() else {
            self.others += 1;
            return;
        };
        open.depth += 1;
        self.field = match name {
            b"java.net.URL" if open.depth == 1 => Some(URL),
            b"failureMessage" if open.depth == 2 => Some(FAILURE_MESSAGE),
            _ => None,
        };
        let is_message = self.field == Some(FAILURE_MESSAGE);
        match self.told() {
            // JMeter's CSV has the message of the first assertion that has one.
            Some(told) if is_message && !told.is_empty() => self.field = None,
            Some(told) => told.clear(),
            None => {}
        }
    }

    /// Adds the sample whose element begins with this tag.
    fn add(&mut self, tag: &[u8], log: &Input<'_>) {
        self.field = None;
        let place = self.tokens.token(log);
        let mut sample = Sample::new(place, tag);
        if let Some(open) = self.open.back_mut().filter(|open| open.is_request) {
            let parent = open.number.checked_sub(self.written).and_then(|at| self.samples.get(at));
            let name = parent.map(Sample::label).unwrap_or_default();
            sample.name_after(name, open.parts);
            open.parts += 1;
        }
        self.samples.push_back(sample);
    }

    fn text(&mut self, text: &[u8]) {
        let Some(told) = self.told() else { return };
        let mut rest = text;
        while let Some(at) = memchr::memchr(b'&', rest) {
            let (plain, entity) = rest.split_at(at);
            told.extend_from_slice(plain);
            let behind = entity.get(1..).unwrap_or_default();
            let end = memchr::memchr2(b'&', b';', behind).filter(|end| behind.get(*end) == Some(&b';'));
            let length = end.map_or(1, |end| end + 2);
            let (entity, others) = entity.split_at_checked(length).unwrap_or((entity, b""));
            told.extend_from_slice(&unescaped(entity));
            rest = others;
        }
        told.extend_from_slice(rest);
    }

    /// What is told by the text of the element that is read.
    fn told(&mut self) -> Option<&mut Vec<u8>> {
        let number = self.open.back()?.number;
        self.samples.get_mut(number.checked_sub(self.written)?)?.fields.get_mut(self.field?)
    }

    fn end(&mut self) {
        self.field = None;
        match self.open.back_mut() {
            Some(open) if open.depth > 0 => open.depth -= 1,
            Some(_) => drop(self.open.pop_back()),
            None => self.others = self.others.saturating_sub(1),
        }
    }

    /// Rejects the outermost sample, which never ends. Its parts that have ended are written; those that have not are the
    /// outermost ones now.
    fn give_up(&mut self, wrong: Wrong, log: &Input<'_>, rows: &mut Rows) {
        let Some(first) = self.samples.pop_front() else { return };
        self.written += 1;
        self.open.pop_front();
        let end = self.samples.front().map_or(self.tokens.byte(), |next| next.place.byte);
        rows.place = (first.place.line, first.place.byte);
        rows.reject_line(wrong, log.get(first.place.byte, end));
        if self.open.is_empty() {
            self.field = None;
        }
        self.write_whole(log, rows);
    }

    /// Rejects all samples that have not ended.
    fn give_up_all(&mut self, wrong: Wrong, log: &Input<'_>, rows: &mut Rows) {
        while !self.open.is_empty() {
            self.give_up(wrong, log, rows);
        }
    }

    /// Writes the samples before the first one that is open.
    fn write_whole(&mut self, log: &Input<'_>, rows: &mut Rows) {
        let open = self.open.front().map(|open| open.number);
        while open.is_none_or(|open| self.written < open)
            && let Some(sample) = self.samples.pop_front()
        {
            self.written += 1;
            self.write(&sample, log, rows);
        }
    }

    /// Writes a row on the line where the sample begins, or on the next free one.
    fn write(&mut self, sample: &Sample, log: &Input<'_>, rows: &mut Rows) {
        let Place { line, byte } = sample.place;
        let element = || log.get(byte, byte + sample.length.min(KEPT) as u64).to_vec();
        let record = if self.is_sound(sample) { Vec::new() } else { element() };
        steps::count(record.len());
        rows.catch_up(line);
        rows.fields(&sample.fields, &Original { line, byte, record });
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
            && matches!(field(SAMPLES), b"" | b"1")
            && NUMBERS.iter().all(is_short)
    }

    /// Returns true if an element that begins here is in none other than that of the log.
    fn is_beside_samples(&self) -> bool {
        self.open.is_empty() && self.others == 0
    }

    /// Rejects the token that was read last.
    fn refuse(&mut self, broken: &[u8], log: &Input<'_>, rows: &mut Rows) {
        let place = self.tokens.token(log);
        refuse_at(place, broken, rows);
    }
}

/// Rejects what is no sample.
fn refuse_at(place: Place, broken: &[u8], rows: &mut Rows) {
    rows.place = (place.line, place.byte);
    rows.reject_line(Wrong::Unknown, broken);
}

impl Sample {
    fn new(place: Place, tag: &[u8]) -> Self {
        let mut fields = vec![Vec::new(); ATTRIBUTES.len()];
        steps::count(tag.len() + fields.len());
        let mut reader = Reader::from_reader(tag);
        if let Ok(Event::Start(element) | Event::Empty(element)) = reader.read_event() {
            Self::read(&element, &mut fields);
        }
        if let Some(url) = fields.get_mut(URL) {
            // So JMeter's CSV has it of a sample that has no URL.
            url.extend_from_slice(b"null");
        }
        Self { place, length: tag.len(), fields }
    }

    fn label(&self) -> &[u8] {
        self.fields.get(LABEL).map(Vec::as_slice).unwrap_or_default()
    }

    /// Names a part of a request after it, if it is not named so already.
    fn name_after(&mut self, request: &[u8], number: u64) {
        let own = self.label().strip_prefix(request).and_then(|rest| rest.strip_prefix(b"-"));
        let is_named = own.is_some_and(|rest| !rest.is_empty() && rest.iter().all(u8::is_ascii_digit));
        if !is_named
            && request.len() <= LONGEST_NAME
            && let Some(label) = self.fields.get_mut(LABEL)
        {
            *label = [request, b"-", number.to_string().as_bytes()].concat();
        }
    }

    fn read(element: &BytesStart<'_>, fields: &mut [Vec<u8>]) {
        for attribute in element.attributes().with_checks(false).flatten() {
            let name = attribute.key.as_ref();
            let place = ATTRIBUTES.iter().position(|known| known.as_bytes() == name);
            if let Some(field) = place.and_then(|place| fields.get_mut(place)) {
                *field = unescaped(&attribute.value);
            }
        }
    }
}

/// Returns a text without its entities.
fn unescaped(text: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(text).ok().and_then(|text| quick_xml::escape::unescape(text).ok()) {
        Some(text) => text.into_owned().into_bytes(),
        None => text.to_vec(),
    }
}

/// Returns the name of an element by its tag.
fn name(tag: &[u8]) -> &[u8] {
    let tag = tag.strip_prefix(b"<").unwrap_or(tag);
    let end = tag.iter().position(|byte| byte.is_ascii_whitespace() || b"/>".contains(byte));
    tag.get(..end.unwrap_or(tag.len())).unwrap_or_default()
}

fn is_sample(name: &[u8]) -> bool {
    matches!(name, b"httpSample" | b"sample")
}
