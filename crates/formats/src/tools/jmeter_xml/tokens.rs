//! Cuts XML into tags and the texts between them.
//!
//! No XML library does what is needed here: to find the next sample after broken text, without reading any byte again. A
//! tag ends at the next `<` at the latest, which no value has unescaped, even if its quotes are never closed. A comment or a section that is never closed is searched for once, not again for each one after it.

use memchr::memmem;

use crate::work_count;

/// The available bytes of the log, and where they begin in it.
pub(super) struct LogInput<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) begin: u64,
}

impl<'a> LogInput<'a> {
    /// The index of a byte of the log.
    pub(super) fn index(&self, byte: u64) -> usize {
        usize::try_from(byte.saturating_sub(self.begin)).unwrap_or(usize::MAX).min(self.bytes.len())
    }

    /// The byte of the log after them.
    pub(super) fn end(&self) -> u64 {
        self.begin + self.bytes.len() as u64
    }

    pub(super) fn get(&self, from: u64, to: u64) -> &'a [u8] {
        self.bytes.get(self.index(from)..self.index(to)).unwrap_or_default()
    }
}
/// A position in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LogOffset {
    /// The line, from 1.
    pub(super) line: u64,
    /// The byte, from 0.
    pub(super) byte: u64,
}

/// A tag, or what is between two. Tags have their brackets.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum XmlToken<'a> {
    Start(&'a [u8]),
    Empty(&'a [u8]),
    End,
    /// Text with entities.
    Text(&'a [u8]),
    /// Text without.
    Verbatim(&'a [u8]),
    /// What a log begins with.
    Declaration,
    /// A comment, an instruction, or a type.
    Other,
    /// A tag that does not end before the next one begins.
    Broken(&'a [u8]),
}

/// Where the next token begins.
#[derive(Debug)]
pub(super) struct XmlTokens {
    at: u64,
    /// Where the latest one began.
    token: u64,
    /// A byte up to which lines are counted.
    counted: LogOffset,
    /// Ranges without the ends of comments, sections and instructions.
    missing: [SearchedRange; 3],
}

/// A range that was searched in vain.
#[derive(Debug, Clone, Copy, Default)]
struct SearchedRange {
    from: u64,
    to: u64,
}

/// What comments, sections and instructions begin and end with.
const CLOSED: [(&[u8], &[u8]); 3] = [(b"<!--", b"-->"), (SECTION, b"]]>"), (b"<?", b"?>")];
const SECTION: &[u8] = b"<![CDATA[";

/// The length of the longest of their beginnings.
const BEGIN: usize = SECTION.len();

impl Default for XmlTokens {
    fn default() -> Self {
        let counted = LogOffset { line: 1, byte: 0 };
        Self { at: 0, token: 0, counted, missing: [SearchedRange::default(); 3] }
    }
}

impl XmlTokens {
    /// Returns the next token, or `None` if it is incomplete. A text that is not needed may be cut.
    pub(super) fn next<'a>(&mut self, log: &LogInput<'a>, is_text_wanted: bool) -> Option<XmlToken<'a>> {
        let rest = log.get(self.at, log.end());
        let (token, length) = match rest.first()? {
            b'<' => self.tag(rest)?,
            _ => {
                let end = memchr::memchr(b'<', rest);
                work_count::count(end.unwrap_or(rest.len()));
                let length = end.or(Some(rest.len()).filter(|_| !is_text_wanted))?;
                (XmlToken::Text(rest.get(..length)?), length)
            }
        };
        self.token = self.at;
        self.at += length as u64;
        Some(token)
    }

    /// The byte at which the next token begins.
    pub(super) fn byte(&self) -> u64 {
        self.at
    }

    /// Where the next token begins.
    pub(super) fn place(&mut self, log: &LogInput<'_>) -> LogOffset {
        self.place_of(self.at, log)
    }

    /// Where the latest token began.
    pub(super) fn token(&mut self, log: &LogInput<'_>) -> LogOffset {
        self.place_of(self.token, log)
    }

    /// Passes over the beginning of a token that never ends, up to the next tag, and returns it.
    pub(super) fn pass_broken<'a>(&mut self, log: &LogInput<'a>) -> &'a [u8] {
        let rest = log.get(self.at, log.end());
        let next =
            rest.get(1..).and_then(|after| memchr::memchr(b'<', after)).map_or(rest.len(), |at| at + 1);
        work_count::count(next);
        self.at += next as u64;
        rest.get(..next).unwrap_or_default()
    }

    /// The position of a byte. Bytes must be requested in ascending order.
    fn place_of(&mut self, byte: u64, log: &LogInput<'_>) -> LogOffset {
        let text = log.get(self.counted.byte, byte);
        work_count::count(text.len());
        let line = self.counted.line + memchr::memchr_iter(b'\n', text).count() as u64;
        self.counted = LogOffset { line, byte: byte.max(self.counted.byte) };
        LogOffset { line, byte }
    }

    /// Reads the tag, comment, section or instruction at the beginning of a text, and its length.
    fn tag<'a>(&mut self, rest: &'a [u8]) -> Option<(XmlToken<'a>, usize)> {
        if let Some(kind) = CLOSED.iter().position(|(begin, _)| rest.starts_with(begin)) {
            return self.closed(kind, rest);
        }
        if rest.len() < BEGIN && CLOSED.iter().any(|(begin, _)| begin.starts_with(rest)) {
            return None;
        }
        let length = tag_length(rest);
        work_count::count(length.unwrap_or(rest.len()));
        let length = length?;
        let tag = rest.get(..length)?;
        let token = match tag {
            [b'<', b'/', .., b'>'] => XmlToken::End,
            [b'<', b'!', .., b'>'] => XmlToken::Other,
            [.., b'/', b'>'] => XmlToken::Empty(tag),
            [.., b'>'] => XmlToken::Start(tag),
            _ => XmlToken::Broken(tag),
        };
        Some((token, length))
    }

    /// Reads what ends where something closes it.
    fn closed<'a>(&mut self, kind: usize, rest: &'a [u8]) -> Option<(XmlToken<'a>, usize)> {
        let (begin, end) = CLOSED.get(kind)?;
        let missing = self.missing.get_mut(kind)?;
        let is_known = (missing.from..missing.to).contains(&self.at);
        // Its last bytes may be the first ones of what closes it.
        let known = if is_known { (missing.to - self.at) as usize } else { 0 };
        let from = known.saturating_sub(end.len() - 1).max(begin.len());
        let after = rest.get(from..)?;
        let found = memmem::find(after, end);
        work_count::count(found.unwrap_or(after.len()));
        let Some(found) = found else {
            *missing = SearchedRange {
                from: if is_known { missing.from } else { self.at },
                to: self.at + rest.len() as u64,
            };
            return None;
        };
        let length = from + found + end.len();
        let text = rest.get(begin.len()..from + found)?;
        let token = match *begin {
            SECTION => XmlToken::Verbatim(text),
            _ if is_declaration(rest) => XmlToken::Declaration,
            _ => XmlToken::Other,
        };
        Some((token, length))
    }
}

fn is_declaration(text: &[u8]) -> bool {
    let after = text.strip_prefix(b"<?xml").and_then(<[u8]>::first);
    after.is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'?')
}

/// Returns the length of a tag, to its end or before the next one. `None` if neither is there.
fn tag_length(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    let mut quote = None;
    loop {
        let after = text.get(at..)?;
        let found = match quote {
            None => after.iter().position(|byte| matches!(byte, b'<' | b'>' | b'"' | b'\'')),
            Some(quote) => memchr::memchr2(quote, b'<', after),
        };
        at += found?;
        match (text.get(at)?, quote) {
            (b'<', _) => return Some(at),
            (b'>', _) => return Some(at + 1),
            (_, Some(_)) => quote = None,
            (open, None) => quote = Some(*open),
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        let log = LogInput { bytes: text.as_bytes(), begin: 0 };
        let mut tokens = XmlTokens::default();
        std::iter::from_fn(|| tokens.next(&log, true))
            .map(|token| match token {
                XmlToken::Start(text) => format!("start {}", String::from_utf8_lossy(text)),
                XmlToken::Empty(text) => format!("empty {}", String::from_utf8_lossy(text)),
                XmlToken::Text(text) => format!("text {}", String::from_utf8_lossy(text)),
                XmlToken::Verbatim(text) => format!("verbatim {}", String::from_utf8_lossy(text)),
                XmlToken::Broken(text) => format!("broken {}", String::from_utf8_lossy(text)),
                other => format!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn tags_end_at_their_brackets_or_before_the_next_ones() {
        assert_eq!(
            tokens("<?xml version=\"1.0\"?><!-- <a> --><a b=\"1>2\" c='\"'/>x &lt; y<b><![CDATA[<c>]]></b>"),
            [
                "Declaration",
                "Other",
                "empty <a b=\"1>2\" c='\"'/>",
                "text x &lt; y",
                "start <b>",
                "verbatim <c>",
                "End"
            ]
        );
        assert_eq!(tokens("<a b=\"<c d='<e/><f"), ["broken <a b=\"", "broken <c d='", "empty <e/>"]);
        assert_eq!(
            (tokens("<!DOCTYPE a><?x?>"), tokens("<![CDATA[a]]")),
            (vec!["Other".into(), "Other".into()], vec![])
        );
        assert!(tokens("<!-").is_empty() && tokens("text").is_empty());
    }

    #[test]
    fn sections_that_are_never_closed_are_looked_through_once() {
        let text = b"<![CDATA[ ".repeat(10_000);
        let log = LogInput { bytes: &text, begin: 0 };
        let mut tokens = XmlTokens::default();
        let steps = work_count::of(|| {
            while tokens.next(&log, false).is_some() || !tokens.pass_broken(&log).is_empty() {}
        });
        assert!(steps < 10 * text.len() as u64, "{steps} steps for {} bytes", text.len());
    }
}
