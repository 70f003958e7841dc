//! The packed form of a request or a reject, in which the reading thread passes it to the workers.
//!
//! A frame is its length (u32), what it has (u32, a bit each), the lines of the log before it that have no record (u32),
//! its byte in the log (u64), the start and the elapsed time (i64 each), a short response code (4 bytes), then what it
//! has of other numbers (i64 each) and texts (a length, u32, and bytes). All numbers are little-endian.
//!
//! A frame of lines that are not converted yet has them after the header. In place of the start it has how far the log's
//! first start is beyond a whole ms, in ns.

use crate::tools::rejects::RejectedRecord;

/// The number of bytes before the first part that may be absent.
const HEADER: usize = 40;

// What a frame has.
const SUCCESS: u32 = 1;
const TRANSACTION: u32 = 1 << 1;
const REJECT: u32 = 1 << 2;
const LATENCY: u32 = 1 << 3;
const CONNECT: u32 = 1 << 4;
const THREADS: u32 = 1 << 5;
const BYTES: u32 = 1 << 6;
const SENT_BYTES: u32 = 1 << 7;
const LABEL: u32 = 1 << 8;
const RESPONSE_CODE: u32 = 1 << 9;
const MESSAGE: u32 = 1 << 10;
const URL: u32 = 1 << 11;
const HISTOGRAM: u32 = 1 << 12;
const LINES: u32 = 1 << 13;

/// The bit from which on what a frame has is the length of a short response code.
const CODE_LENGTH: u32 = 16;

/// The place of a short response code, and the most bytes that it has.
const CODE_AT: usize = 36;
const CODE: usize = 4;

/// The most numbers that may be absent.
const NUMBERS: usize = 5;

/// The most bytes before the texts.
const FIXED: usize = HEADER + NUMBERS * 8;

/// A request, with times in the unit of the run. What its format does not report is empty or `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PackedRequest<'a> {
    /// The start, epoch ms.
    pub(super) start_ms: i64,
    pub(super) elapsed: i64,
    pub(super) latency: Option<i64>,
    pub(super) connect: Option<i64>,
    pub(super) threads: Option<i64>,
    pub(super) bytes: Option<i64>,
    pub(super) sent_bytes: Option<i64>,
    pub(super) label: &'a [u8],
    pub(super) response_code: &'a [u8],
    pub(super) failure_message: &'a [u8],
    pub(super) url: &'a [u8],
    /// The requests of an interval, as a histogram writes itself.
    pub(super) histogram: &'a [u8],
    pub(super) success: bool,
    pub(super) is_transaction: bool,
}

impl PackedRequest<'_> {
    /// Appends the request, which begins at `byte` of the log, after `skipped` lines without a record.
    #[inline(always)]
    pub(super) fn write(&self, skipped: u32, byte: u64, into: &mut Vec<u8>) {
        let mut has = if self.success { SUCCESS } else { 0 };
        has |= if self.is_transaction { TRANSACTION } else { 0 };
        // Written where it belongs: a copy of what was just written by pieces would wait for them.
        let begin = into.len();
        into.extend_from_slice(&[0; FIXED]);
        let Some(fixed) = into.get_mut(begin..).and_then(<[u8]>::first_chunk_mut::<FIXED>) else { return };
        let mut end = HEADER;
        let numbers = [
            (LATENCY, self.latency),
            (CONNECT, self.connect),
            (THREADS, self.threads),
            (BYTES, self.bytes),
            (SENT_BYTES, self.sent_bytes),
        ];
        for (bit, number) in numbers {
            if let Some(number) = number {
                has |= bit;
                put(fixed, end, number.to_le_bytes());
                end += 8;
            }
        }
        let is_short = self.response_code.len() <= CODE;
        let long_code = if is_short { b"" } else { self.response_code };
        put(fixed, CODE_AT, short(self.response_code));
        has |= if is_short { (self.response_code.len() as u32) << CODE_LENGTH } else { 0 };
        let texts = [
            (LABEL, self.label),
            (RESPONSE_CODE, long_code),
            (MESSAGE, self.failure_message),
            (URL, self.url),
            (HISTOGRAM, self.histogram),
        ];
        let mut length = end;
        for (bit, text) in texts {
            if !text.is_empty() {
                has |= bit;
                length += 4 + text.len();
            }
        }
        put_header(fixed, (length as u32, has, skipped), byte, (self.start_ms, self.elapsed));
        into.truncate(begin + end);
        if length > end {
            texts.iter().filter(|(_, text)| !text.is_empty()).for_each(|(_, text)| write_text(text, into));
        }
    }
}

/// Returns a response code that fits into the header, or none.
#[inline]
fn short(code: &[u8]) -> [u8; CODE] {
    match *code {
        [a, b, c] => [a, b, c, 0],
        [a] => [a, 0, 0, 0],
        [a, b] => [a, b, 0, 0],
        [a, b, c, d] => [a, b, c, d],
        _ => [0; CODE],
    }
}

#[inline]
fn put_header(
    into: &mut [u8],
    (length, has, skipped): (u32, u32, u32),
    byte: u64,
    (start_ms, elapsed): (i64, i64),
) {
    put(into, 0, length.to_le_bytes());
    put(into, 4, has.to_le_bytes());
    put(into, 8, skipped.to_le_bytes());
    put(into, 12, byte.to_le_bytes());
    put(into, 20, start_ms.to_le_bytes());
    put(into, 28, elapsed.to_le_bytes());
}

#[inline]
fn put<const N: usize>(into: &mut [u8], at: usize, bytes: [u8; N]) {
    if let Some(place) = into.get_mut(at..at.saturating_add(N)) {
        place.copy_from_slice(&bytes);
    }
}

fn write_text(text: &[u8], into: &mut Vec<u8>) {
    into.extend_from_slice(&(text.len() as u32).to_le_bytes());
    into.extend_from_slice(text);
}

/// The content of a frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FrameContent<'a> {
    Request(PackedRequest<'a>),
    /// A reject, as [`RejectedRecord`] writes it.
    Reject(&'a [u8]),
    Lines(LineFrame<'a>),
}

/// Whole lines of a log that are not converted yet. Only the last one of the log may lack its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineFrame<'a> {
    pub(super) lines: &'a [u8],
    /// The byte of the log at which they begin.
    pub(super) byte: u64,
    /// How far the log's first start is beyond a whole ms, in ns.
    pub(super) early_ns: i64,
}

impl<'a> LineFrame<'a> {
    /// The number of bytes before them in their frame.
    pub(super) const AT: usize = HEADER;

    /// Appends a frame of lines, after `skipped` lines without a record.
    pub(super) fn write(&self, skipped: u32, into: &mut Vec<u8>) {
        let mut header = [0; HEADER];
        let length = (HEADER + self.lines.len()) as u32;
        put_header(&mut header, (length, LINES, skipped), self.byte, (self.early_ns, 0));
        into.extend_from_slice(&header);
        into.extend_from_slice(self.lines);
    }

    /// Returns the last line of a frame of lines of which the end is left out, and its byte in the log. `None` if that is
    /// no frame of lines.
    pub(super) fn last(frame: &'a [u8]) -> Option<(u64, &'a [u8])> {
        let Self { lines, byte, .. } = FrameHeader::of(frame)?.lines()?;
        let begin = memchr::memrchr(b'\n', lines).map_or(0, |end| end + 1);
        Some((byte.saturating_add(begin as u64), lines.get(begin..)?))
    }
}

/// A request or a reject, and its position.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PackedFrame<'a> {
    pub(super) content: FrameContent<'a>,
    /// The number of lines of the log before it that have no record.
    pub(super) skipped: u32,
    /// The byte of the log at which it begins.
    pub(super) byte: u64,
    /// Its number of bytes.
    pub(super) length: usize,
}

impl<'a> PackedFrame<'a> {
    /// Appends a reject.
    pub(super) fn write_reject(reject: &RejectedRecord, skipped: u32, byte: u64, into: &mut Vec<u8>) {
        let begin = into.len();
        into.resize(begin + HEADER, 0);
        reject.write(into);
        // That is a line; its end is not part of the reject.
        into.pop();
        let length = into.len() - begin;
        if let Some(frame) = into.get_mut(begin..) {
            put_header(frame, (length as u32, REJECT, skipped), byte, (0, 0));
        }
    }

    /// Reads the frame at the beginning of a text; `None` if there is none.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let header = FrameHeader::read(bytes)?;
        let FrameHeader { skipped, byte, length, .. } = header;
        Some(Self { content: header.content()?, skipped, byte, length })
    }
}

/// The header of a frame.
pub(super) struct FrameHeader<'a> {
    has: u32,
    /// As in [`PackedFrame`].
    pub(super) skipped: u32,
    pub(super) byte: u64,
    start_ms: i64,
    elapsed: i64,
    /// The response code, if it is a short one.
    code: &'a [u8],
    /// The parts after it.
    parts: &'a [u8],
    /// The number of bytes of the frame.
    pub(super) length: usize,
}

impl<'a> FrameHeader<'a> {
    /// Reads the header at the beginning of a text; `None` if there is none.
    #[inline(always)]
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        Self::of(bytes.get(..length(bytes)?)?)
    }

    /// Reads the header of a frame.
    #[inline(always)]
    fn of(frame: &'a [u8]) -> Option<Self> {
        let (header, parts) = frame.split_first_chunk::<HEADER>()?;
        let mut fields = header.as_slice();
        let (_, has, skipped) = (u32_of(&mut fields)?, u32_of(&mut fields)?, u32_of(&mut fields)?);
        let byte = u64::from_le_bytes(number(&mut fields)?);
        let [start_ms, elapsed] = [i64_of(&mut fields)?, i64_of(&mut fields)?];
        let code = header.get(CODE_AT..)?.get(..(has >> CODE_LENGTH) as usize)?;
        Some(Self { has, skipped, byte, start_ms, elapsed, code, parts, length: frame.len() })
    }

    /// Returns the request if it has no parts after the header.
    #[inline(always)]
    pub(super) fn bare(&self) -> Option<PackedRequest<'a>> {
        (self.parts.is_empty() && self.has & (REJECT | LINES) == 0).then(|| PackedRequest {
            start_ms: self.start_ms,
            elapsed: self.elapsed,
            response_code: self.code,
            success: self.has & SUCCESS != 0,
            is_transaction: self.has & TRANSACTION != 0,
            ..PackedRequest::default()
        })
    }

    /// Returns the lines if it is a frame of lines.
    #[inline]
    pub(super) fn lines(&self) -> Option<LineFrame<'a>> {
        let is_lines = self.has & (REJECT | LINES) == LINES;
        is_lines.then_some(LineFrame { lines: self.parts, byte: self.byte, early_ns: self.start_ms })
    }

    /// Reads the rest; `None` if it is no frame's.
    #[inline]
    pub(super) fn content(&self) -> Option<FrameContent<'a>> {
        if self.has & REJECT != 0 {
            return Some(FrameContent::Reject(self.parts));
        }
        if let Some(lines) = self.lines() {
            return Some(FrameContent::Lines(lines));
        }
        let bare = Self { parts: &[], ..*self };
        let mut request = bare.bare()?;
        request.read_parts(self.has, self.parts)?;
        Some(FrameContent::Request(request))
    }
}

impl<'a> PackedRequest<'a> {
    /// Reads the parts after the header.
    #[inline]
    fn read_parts(&mut self, has: u32, mut rest: &'a [u8]) -> Option<()> {
        let mut maybe = |bit: u32| if has & bit != 0 { i64_of(&mut rest) } else { None };
        (self.latency, self.connect) = (maybe(LATENCY), maybe(CONNECT));
        (self.threads, self.bytes, self.sent_bytes) = (maybe(THREADS), maybe(BYTES), maybe(SENT_BYTES));
        let mut text = |bit: u32| if has & bit != 0 { text(&mut rest) } else { Some(&b""[..]) };
        self.label = text(LABEL)?;
        if has & RESPONSE_CODE != 0 {
            self.response_code = text(RESPONSE_CODE)?;
        }
        (self.failure_message, self.url, self.histogram) = (text(MESSAGE)?, text(URL)?, text(HISTOGRAM)?);
        Some(())
    }
}

/// Returns the length of the frame at the beginning of a text.
#[inline]
fn length(mut bytes: &[u8]) -> Option<usize> {
    // No frame is shorter than its header.
    u32_of(&mut bytes).map(|length| (length as usize).max(HEADER))
}

#[inline]
fn number<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*number)
}

#[inline]
fn u32_of(bytes: &mut &[u8]) -> Option<u32> {
    number(bytes).map(u32::from_le_bytes)
}

#[inline]
fn i64_of(bytes: &mut &[u8]) -> Option<i64> {
    number(bytes).map(i64::from_le_bytes)
}

#[inline]
fn text<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = u32_of(bytes)? as usize;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(text)
}

/// The end of the last whole frame in bytes that begin with a frame. `None` if no frame ends in them.
pub fn last_end(bytes: &[u8]) -> Option<usize> {
    let mut end = 0;
    while let Some(length) = bytes.get(end..).and_then(length) {
        match end.checked_add(length) {
            Some(next) if next <= bytes.len() => end = next,
            _ => break,
        }
    }
    (end > 0).then_some(end)
}
