//! JMeter's XML log: an element for each sample, with those of its parts within it.
//!
//! JMeter's CSV has the same samples one after another, each before its parts; so has what this converts them to. The parts of
//! a request, such as its redirects, are named after it (`X-0`, `X-1`), as JMeter names them itself since 5.0: in the CSV
//! nothing else says that they are parts.

mod tokens;

use std::collections::VecDeque;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use self::tokens::{LogInput, LogOffset, XmlToken, XmlTokens};
use super::fields::LogColumn;
use super::format::{Convert, NextBytes};
use super::format::{Format, TimeBase};
use super::rejects::RejectCause;
use super::rows::ConvertedRows;
use super::rows::form::Original;
use crate::jtl::blocks::KEPT;
use crate::number::{parse_bool, parse_i64};
use crate::work_count;
use perfpipe_model::run::damage::Fault;
use perfpipe_model::sample::resolution::Resolution;

/// JMeter's log.
pub(super) const FORMAT: Format = Format {
    name: "JMeter's XML log",
    tool: None,
    finest: Resolution::MILLISECOND,
    clock: |_| TimeBase::Epoch,
    columns: &[
        LogColumn::TimeStamp,
        LogColumn::Elapsed,
        LogColumn::Label,
        LogColumn::ResponseCode,
        LogColumn::ResponseMessage,
        LogColumn::ThreadName,
        LogColumn::DataType,
        LogColumn::Success,
        LogColumn::FailureMessage,
        LogColumn::Bytes,
        LogColumn::SentBytes,
        LogColumn::GrpThreads,
        LogColumn::AllThreads,
        LogColumn::Url,
        LogColumn::Latency,
        LogColumn::IdleTime,
        LogColumn::Connect,
        LogColumn::Hostname,
        LogColumn::SampleCount,
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

/// The indexes of the values that each sample needs.
const TIME_STAMP: usize = 0;
const ELAPSED: usize = 1;
const LABEL: usize = 2;
const SUCCESS: usize = 7;

/// The index of the number of samples that a sample represents.
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

/// The columns of numbers, which may be absent, and the most digits that are never rejected.
const NUMBERS: [usize; 8] = [1, 9, 10, 11, 12, 14, 15, 16];
const DIGITS: usize = 9;

/// Starts this far from the log's first one, in ms, may be rejected.
const FAR: u64 = 24 * 3_600_000;

/// Converts the samples of one log.
///
/// A sample is written when the outermost one around it has ended. If that never ends, it is rejected, and its parts are
/// samples of their own. So each byte is read once, whatever is missing.
#[derive(Debug, Default)]
struct JmeterXml {
    /// The first start, epoch ms.
    first_ms: Option<i64>,
    tokens: XmlTokens,
    /// The samples that are not written yet, of which the first one is open.
    samples: VecDeque<XmlSample>,
    /// The number of samples before them.
    written: usize,
    /// Those that have not ended, from the outermost on.
    open: VecDeque<OpenSample>,
    /// The index of the field that the text of the current element belongs to.
    field: Option<usize>,
    /// The depth of nested elements that are no samples, outside the samples of the log.
    others: usize,
}

/// A sample that has not ended.
#[derive(Debug)]
struct OpenSample {
    /// Its number among all samples.
    number: usize,
    /// The depth of nested elements in it that have not ended.
    depth: usize,
    /// True if it is a request, not a transaction.
    is_request: bool,
    /// The number of its parts so far.
    parts: u64,
}

/// A sample.
#[derive(Debug)]
struct XmlSample {
    place: LogOffset,
    /// The number of bytes of the element without what is in it.
    length: usize,
    /// Its values, in the order of the columns.
    fields: Vec<Vec<u8>>,
}

impl Convert for JmeterXml {
    fn convert(
        &mut self,
        input: &[u8],
        follows: NextBytes,
        rows: &mut ConvertedRows,
    ) -> Result<usize, Fault> {
        let log = LogInput { bytes: input, begin: rows.place.1 };
        while !rows.are_enough() {
            match self.tokens.next(&log, self.field.is_some()) {
                Some(token) => self.handle_token(&token, &log, rows),
                None if follows == NextBytes::Unwanted => return Ok(input.len()),
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
    /// Processes a token.
    fn handle_token(&mut self, token: &XmlToken<'_>, log: &LogInput<'_>, rows: &mut ConvertedRows) {
        match token {
            XmlToken::Start(tag) => self.begin(tag, log, rows),
            XmlToken::Empty(tag) if is_sample(name(tag)) => self.add(tag, log),
            XmlToken::Empty(tag) if self.is_outside_samples() => self.reject_token(tag, log, rows),
            XmlToken::End => self.end(),
            XmlToken::Text(text) => self.text(text),
            XmlToken::Verbatim(text) => {
                if let Some(field) = self.field_text() {
                    field.extend_from_slice(text);
                }
            }
            // Another log begins after one that was not ended.
            XmlToken::Declaration => self.give_up_all(RejectCause::Unknown, log, rows),
            XmlToken::Broken(tag) if is_sample(name(tag)) => self.reject_token(tag, log, rows),
            XmlToken::Empty(_) | XmlToken::Broken(_) | XmlToken::Other => {}
        }
        if self.open.is_empty() {
            self.write_whole(log, rows);
        }
        while self.open.len() > MOST_NESTED || self.samples.len() > MOST_PARTS {
            self.give_up(RejectCause::Unknown, log, rows);
        }
    }

    /// Continues where the next token is incomplete. Returns false if that needs more bytes, or there are none.
    fn go_on(&mut self, log: &LogInput<'_>, follows: NextBytes, rows: &mut ConvertedRows) -> bool {
        let is_long = |begin: u64| log.end() - begin >= MOST_SAMPLE as u64;
        let never_ends = |begin: u64| follows != NextBytes::More || is_long(begin);
        if self.samples.front().is_some_and(|first| never_ends(first.place.byte)) {
            self.give_up(RejectCause::Cut, log, rows);
            return true;
        }
        let here = self.tokens.place(log);
        if here.byte == log.end() || !never_ends(here.byte) {
            return false;
        }
        let broken = self.tokens.pass_broken(log);
        // What follows damage is reported as damage.
        if follows != NextBytes::Damage && !broken.trim_ascii().is_empty() {
            reject_at(here, broken, rows);
        }
        true
    }

    fn begin(&mut self, tag: &[u8], log: &LogInput<'_>, rows: &mut ConvertedRows) {
        let name = name(tag);
        if is_sample(name) {
            self.add(tag, log);
            let number = self.written + self.samples.len() - 1;
            let is_request = name == b"httpSample";
            return self.open.push_back(OpenSample { number, depth: 0, is_request, parts: 0 });
        }
        if name == b"testResults" {
            self.others = 0;
            return self.give_up_all(RejectCause::Unknown, log, rows);
        }
        // Listeners of plugins write elements of their own; each is one reject.
        if self.is_outside_samples() {
            self.reject_token(tag, log, rows);
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
        match self.field_text() {
            // JMeter's CSV has the message of the first assertion that has one.
            Some(field) if is_message && !field.is_empty() => self.field = None,
            Some(field) => field.clear(),
            None => {}
        }
    }

    /// Adds the sample whose element begins with this tag.
    fn add(&mut self, tag: &[u8], log: &LogInput<'_>) {
        self.field = None;
        let place = self.tokens.token(log);
        let mut sample = XmlSample::new(place, tag);
        if let Some(open) = self.open.back_mut().filter(|open| open.is_request) {
            let parent = open.number.checked_sub(self.written).and_then(|at| self.samples.get(at));
            let name = parent.map(XmlSample::label).unwrap_or_default();
            sample.name_after(name, open.parts);
            open.parts += 1;
        }
        self.samples.push_back(sample);
    }

    fn text(&mut self, text: &[u8]) {
        let Some(field) = self.field_text() else { return };
        let mut rest = text;
        while let Some(at) = memchr::memchr(b'&', rest) {
            let (plain, entity) = rest.split_at(at);
            field.extend_from_slice(plain);
            let after = entity.get(1..).unwrap_or_default();
            let end = memchr::memchr2(b'&', b';', after).filter(|end| after.get(*end) == Some(&b';'));
            let length = end.map_or(1, |end| end + 2);
            let (entity, others) = entity.split_at_checked(length).unwrap_or((entity, b""));
            field.extend_from_slice(&unescaped(entity));
            rest = others;
        }
        field.extend_from_slice(rest);
    }

    /// The field that the text of the current element belongs to.
    fn field_text(&mut self) -> Option<&mut Vec<u8>> {
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
    fn give_up(&mut self, cause: RejectCause, log: &LogInput<'_>, rows: &mut ConvertedRows) {
        let Some(first) = self.samples.pop_front() else { return };
        self.written += 1;
        self.open.pop_front();
        let end = self.samples.front().map_or(self.tokens.byte(), |next| next.place.byte);
        rows.place = (first.place.line, first.place.byte);
        rows.reject_line(cause, log.get(first.place.byte, end));
        if self.open.is_empty() {
            self.field = None;
        }
        self.write_whole(log, rows);
    }

    /// Rejects all samples that have not ended.
    fn give_up_all(&mut self, cause: RejectCause, log: &LogInput<'_>, rows: &mut ConvertedRows) {
        while !self.open.is_empty() {
            self.give_up(cause, log, rows);
        }
    }

    /// Writes the samples before the first one that is open.
    fn write_whole(&mut self, log: &LogInput<'_>, rows: &mut ConvertedRows) {
        let open = self.open.front().map(|open| open.number);
        while open.is_none_or(|open| self.written < open)
            && let Some(sample) = self.samples.pop_front()
        {
            self.written += 1;
            self.write(&sample, log, rows);
        }
    }

    /// Writes a row on the line where the sample begins, or on the next free one.
    fn write(&mut self, sample: &XmlSample, log: &LogInput<'_>, rows: &mut ConvertedRows) {
        let LogOffset { line, byte } = sample.place;
        let element = || log.get(byte, byte + sample.length.min(KEPT) as u64).to_vec();
        let record = if self.is_sound(sample) { Vec::new() } else { element() };
        work_count::count(record.len());
        rows.catch_up(line);
        rows.fields(&sample.fields, &Original { line, byte, record });
    }

    /// Returns true if none of its values can be rejected later.
    fn is_sound(&mut self, sample: &XmlSample) -> bool {
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
    fn is_outside_samples(&self) -> bool {
        self.open.is_empty() && self.others == 0
    }

    /// Rejects the token that was read last.
    fn reject_token(&mut self, broken: &[u8], log: &LogInput<'_>, rows: &mut ConvertedRows) {
        let place = self.tokens.token(log);
        reject_at(place, broken, rows);
    }
}

/// Rejects what is no sample.
fn reject_at(place: LogOffset, broken: &[u8], rows: &mut ConvertedRows) {
    rows.place = (place.line, place.byte);
    rows.reject_line(RejectCause::Unknown, broken);
}

impl XmlSample {
    fn new(place: LogOffset, tag: &[u8]) -> Self {
        let mut fields = vec![Vec::new(); ATTRIBUTES.len()];
        work_count::count(tag.len() + fields.len());
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
